/* Reads that are due at fixed moments, whether or not the one before has ended. */
#ifndef PITOT_NUMBERS_PACED_H
#define PITOT_NUMBERS_PACED_H

#include "core/error.h"
#include "core/histogram.h"

#include <stdbool.h>
#include <stddef.h>

/* One read of 50 rows from an id on. *busy: it failed since another connection held a lock. */
typedef int paced_read(void *context, int64_t from, bool *busy, struct error *error);

struct paced {
    uint64_t due;
    uint64_t missed; /* never begun: the end came before */
    uint64_t busy;
    struct histogram latency; /* of those that were done: from the moment they were due */
    struct histogram service; /* from their beginning */
};

void paced_reset(struct paced *paced);

/* Reads once a millisecond for so long, by ids spread over [0, ids). A read that has begun when the
 * end comes is waited for. */
int paced_run(struct paced *paced, uint64_t length_ns, int64_t ids, paced_read *read, void *context,
              struct error *error);

#endif
