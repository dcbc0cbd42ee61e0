/*
 * Whether an engine was still changing while it was measured: the operations of each second in the
 * first third of a run against those in the rest.
 *
 *     x = operations of a whole second / mean of its run    so that rounds can be pooled
 *     A = the first floor(n/3) of a run's n seconds, B = the others, over all runs with n >= 3
 *     d = mean(A) - mean(B)
 *     s = sqrt((squares of A around mean(A) + of B around mean(B)) / f),  f = |A| + |B| - runs - 1
 *     limit = t(f) * s * sqrt(1/|A| + 1/|B|), t: Student's, two-sided 99 %
 *
 * It is a trend when |d| > limit and |d| > 5 %; with fewer than 6 seconds in all nothing is said.
 */
#ifndef PITOT_COORDINATOR_TREND_H
#define PITOT_COORDINATOR_TREND_H

#include "result/result.h"

#define TREND_SECONDS_MIN 6
#define TREND_LEAST 0.05

struct trend {
    size_t seconds;     /* whole ones, of all runs */
    double first, rest; /* means; 1 is the mean of a run. NAN: too few seconds */
    double limit;       /* what the seconds vary by */
    bool found;
};

/* Over the runs of the case `of` that are ok. */
struct trend trend_of(const struct result_engine *engine, size_t of);

#endif
