/*
 * Intervals of ratios. All arithmetic is on logarithms: a ratio and its inverse are then equally
 * far from 1, and the mean over rounds is the geometric mean. The unit is a round: samples within a
 * run depend on each other and never give an interval. docs/statistics.md has formulas and limits.
 *
 * Pure functions, any thread, no allocation.
 */
#ifndef PITOT_STATISTICS_INTERVAL_H
#define PITOT_STATISTICS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

/* All intervals of a table hold together with this probability. */
#define INTERVAL_LEVEL 0.95

/* A number of rounds above this is given as this + 1: more than anyone will run. */
enum { INTERVAL_ROUNDS_MAX = 1000 };

struct moments {
    size_t n;
    double mean;     /* NAN for n = 0 */
    double variance; /* sum of squares / (n - 1); NAN for n < 2 */
};

struct moments moments_of(const double *values, size_t n);

struct interval {
    size_t n;          /* rounds; of two unpaired samples the smaller number */
    double mean;       /* of the log ratio; NAN without rounds */
    double half_width; /* of its interval, in logs; INFINITY for n < 2 */
    double ratio;      /* exp(mean) */
    double low, high;  /* exp(mean ± half_width); NAN for n < 2 */
};

/* log(value / base); NAN unless both are finite and above 0. */
double log_ratio(double value, double base);

/* Variance that a value out of core/histogram.h has by its bucket alone: (bucket width)² / 12, the
 * width as a difference of logarithms. `value_ns` is at least 1. */
double bucket_variance(double value_ns);

/* What a single interval may miss so that `cells` (at least 1) of them hold together with
 * INTERVAL_LEVEL (Šidák): 1 - 0.95^(1 / cells). */
double interval_alpha(size_t cells);

/* Student's interval of the mean of paired log ratios in a table of `cells` intervals. The variance
 * of the mean is taken as at least `least_variance` (0: no such bound). */
struct interval interval_paired(const struct moments *logs, double least_variance, size_t cells);

/* Welch's interval of mean(a) - mean(b), logs of two occasions that have no rounds in common. */
struct interval interval_welch(const struct moments *a, double least_variance_a,
                               const struct moments *b, double least_variance_b, size_t cells);

/* True when the interval lies on one side of the ratio 1. */
bool interval_excludes_one(const struct interval *interval);

/* How many rounds more are needed so that a true ratio of exp(logs->mean) with the variance seen is
 * told from 1, and exceeds `floor` (a log ratio), about four times in five; at least 1, at most
 * INTERVAL_ROUNDS_MAX, or INTERVAL_ROUNDS_MAX + 1 for more than that, also for never. Needs n of 2
 * or more. */
size_t interval_more_rounds(const struct moments *logs, double least_variance, double floor,
                            size_t cells);

#endif
