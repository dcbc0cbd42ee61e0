/*
 * When the operations of a connection are due in an open loop, and the wait for them.
 *
 * Arrivals are a Poisson process: those of a connection are due at its start plus the running sum
 * of mean_ns × random_gap(), whole nanoseconds of it, drawn from (seed, PACING, connection, 0).
 * They do not depend on what the engine does: one that is slow gets a queue, not a rest.
 *
 * The wait: a sleep ends some tens of microseconds late, and that would stand in every latency. So
 * it is aimed at `early_ns` before the moment, and what is left is spent looking at the clock.
 * early_ns follows the sleeps themselves, so that about nine of ten end in time, and is never above
 * PACE_EARLY_MAX_NS. Where connections share cores, time on a core is what another one's
 * operation may be waiting for: a gap that is too short for such a sleep is then slept as it is,
 * and ends late, instead of being spent looking at the clock. What the wait is late is in the lag.
 */
#ifndef PITOT_WORKER_PACE_H
#define PITOT_WORKER_PACE_H

#include "base/random.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PACE_EARLY_MAX_NS UINT64_C(100000)

struct pace {
    struct random random;
    double mean_ns;     /* between two arrivals */
    double sum_ns;      /* of the gaps until the next arrival */
    uint64_t start_ns;  /* moment that they are counted from */
    uint64_t due_ns;    /* the next arrival: the first operation that has not begun */
    uint64_t early_ns;  /* a sleep ends so much before the moment that is waited for */
    bool sharing_cores; /* there are more connections than cores */
};

/* Draws the first arrival. mean_ns > 0; below 10^17. */
void pace_start(struct pace *pace, uint32_t seed, uint32_t connection, double mean_ns,
                uint64_t start_ns);

/* The operation that was due has begun: draws the next arrival. */
void pace_next(struct pace *pace);

/* Waits until the next arrival is due or the limit is reached, whatever comes first; returns early
 * when *stop is set, after at most 50 ms. */
void pace_wait(struct pace *pace, uint64_t limit_ns, const atomic_bool *stop);

/* How many arrivals are due before a moment and have not begun; afterwards the next arrival is
 * another one. The first `count_max` (at least 1) are counted, and the rest told from the time that
 * is left, which is off by a standard deviation of at most 0.5 % of the whole when count_max is
 * 10,000. */
uint64_t pace_backlog(struct pace *pace, uint64_t until_ns, uint64_t count_max);

/* For the calling thread: a sleep is not to be put off so that it ends together with another.
 * Elsewhere than on Linux, or forbidden: it then ends later. */
void pace_prepare_thread(void);

#endif
