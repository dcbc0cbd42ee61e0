/*
 * A comparison against an older one of the same table: for each row and engine the ratio of its
 * ratio to the baseline engine now to that ratio then. The baseline engine was measured on both
 * occasions, so that a host that changed in between cancels. The rounds of two occasions have
 * nothing in common, hence Welch's interval.
 */
#ifndef PITOT_STATISTICS_AGAINST_H
#define PITOT_STATISTICS_AGAINST_H

#include "statistics/comparison.h"

struct against_cell {
    const char *row, *engine; /* names out of the tables given */
    bool before, now;         /* in which of them they are */
    enum verdict verdict;     /* MISSING: not now; NOT_COMPARABLE: not then, or not alike */
    struct interval interval; /* of the ratio of ratios, now / before */
    double smallest;          /* as in struct comparison_cell, the threshold included */
};

struct against {
    double floor;               /* log ratio: the larger of both noise floors and the threshold */
    size_t count;               /* for these the intervals are widened */
    struct against_cell *cells; /* every row and engine of either table but for the baselines */
    size_t slower;              /* how many have that verdict */
};

/* Compares two tables of one suite and metric. Rows and engines are matched by name; rows must also
 * agree in connections and kind of loop, both tables in the name of the baseline engine.
 * `threshold` is a difference (0.05 for 5 %, 0 for none) that a ratio of ratios has to exceed as
 * well. `out` is to be released also after a failure; it points to names in both tables. 0 or
 * ERROR_MEMORY. Any thread. */
int against_compute(const struct comparison_table *now, const struct comparison_table *before,
                    double threshold, struct against *out, struct error *error);
void against_release(struct against *against);

#endif
