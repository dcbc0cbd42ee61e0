/* One pass from its opening to its closing event. */
#ifndef PITOT_LIB_PASS_H
#define PITOT_LIB_PASS_H

#include "lib/source.h"

/* Runs pass `number`, whose opening was posted, on the source's thread: calls the function, writes,
 * posts the closing event and the result, and copies the WAL back when that is due. Returns whether
 * it failed. */
bool pass_run(struct pitot_source *source, uint64_t number);

/* The end of a pass whose opening was posted and that cannot begin, as its source was stopped. */
void pass_cancel(struct pitot_source *source, uint64_t number);

#endif
