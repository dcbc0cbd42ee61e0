/* What comparison.c and against.c share. */
#ifndef PITOT_STATISTICS_COMPARISON_INTERNAL_H
#define PITOT_STATISTICS_COMPARISON_INTERNAL_H

#include "statistics/comparison.h"

/* The log ratios of two engines of a row over its valid rounds. */
struct pairs {
    size_t lost;            /* valid rounds without a ratio */
    double bucket_variance; /* of the mean, by the histograms' buckets; 0 for exact figures */
    struct moments moments;
};

/* `logs` has room for table->rounds numbers. */
struct pairs pairs_of(const struct comparison_table *table, const struct comparison_row *row,
                      const struct comparison_series *engine, const struct comparison_series *base,
                      double *logs);

/* VERDICT_NONE when an interval may decide; otherwise the word that stands in its place. */
enum verdict pairs_state(const struct comparison_row *row, size_t engine, size_t baseline,
                         const struct pairs *pairs);

/* The noise floor of a table and the row that it comes from. `logs` as above. */
double comparison_floor(const struct comparison_table *table, double *logs, size_t *row,
                        size_t *rows);

/* The direction and the loop of a row; `row` may be NULL for all rows of the table together. */
struct verdict_terms comparison_terms(const struct comparison_table *table,
                                      const struct comparison_row *row, double floor);

#endif
