/*
 * Verdicts: the words that a table uses for a ratio, and the one function that chooses among them
 * from the interval that the table shows.
 */
#ifndef PITOT_STATISTICS_VERDICT_H
#define PITOT_STATISTICS_VERDICT_H

#include "statistics/interval.h"

/* X(NAME, what tables and results say) */
#define VERDICTS(X)                                                                                \
    X(BASELINE, "baseline")                                                                        \
    X(FASTER, "faster")                                                                            \
    X(SLOWER, "slower")                                                                            \
    X(NONE, "no difference shown")                                                                 \
    X(CLOSED_LOOP, "closed loop")                                                                  \
    X(FEW_ROUNDS, "too few rounds")                                                                \
    X(NOT_COMPARABLE, "not comparable") /* what it would be compared with is not there */          \
    X(PARTIAL, "partial")               /* not all of its rounds are there */                      \
    X(FAILED, "failed")                                                                            \
    X(UNABLE, "unable") /* it cannot do what the row asks, and was not run */                      \
    X(MISSING, "missing")

enum verdict {
#define X(name, text) VERDICT_##name,
    VERDICTS(X)
#undef X
};

/* Fewer rounds give no verdict. */
enum { VERDICT_ROUNDS_MIN = 3 };

/* The noise floor is never below a ratio of this. */
#define VERDICT_FLOOR_MIN 1.01

struct verdict_terms {
    double floor;          /* noise floor, a log ratio of 0 or more */
    bool higher_is_better; /* throughput; not latency or CPU time */
    bool closed_loop;      /* a latency of several connections of which each waits for its answer */
};

/* FASTER or SLOWER when the interval excludes 1 and the ratio exceeds the floor in either
 * direction, otherwise NONE; CLOSED_LOOP and FEW_ROUNDS take precedence, in this order. */
enum verdict verdict_of(const struct interval *interval, const struct verdict_terms *terms);

/* A difference is claimed: FASTER or SLOWER. */
bool verdict_claims(enum verdict verdict);

const char *verdict_text(enum verdict verdict);

#endif
