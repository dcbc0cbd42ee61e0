/* A difference between two answers in words. */
#ifndef PITOT_RESULT_DIFFERENCE_H
#define PITOT_RESULT_DIFFERENCE_H

#include "base/buffer.h"
#include "result/result.h"

/* Appends "operation 17 (user=17): row 1 is 17, 'x'; with sqlite 17, 'y'". Long values are cut;
 * what an engine said is printable. */
void difference_describe(const struct result_difference *difference, const char *reference,
                         struct buffer *out);

#endif
