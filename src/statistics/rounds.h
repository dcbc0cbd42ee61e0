/* What figures over the rounds of a case are made of. Internal to the layer. */
#ifndef PITOT_STATISTICS_ROUNDS_H
#define PITOT_STATISTICS_ROUNDS_H

#include "result/result.h"

/* The rounds' values of one figure, of which absent ones (NAN) are left out; room for as many as
 * there are runs is the caller's. */
struct sample {
    double *values;
    size_t count;
};
void sample_add(struct sample *sample, double value);
/* Median and range; empties the sample. */
struct result_figure sample_take(struct sample *sample);

/* The runs that figures are made of; room as above. */
struct runs {
    const struct result_run **items;
    size_t count;
};
/* Adds the runs of the case `of` that have a status; returns how many there are then. */
size_t runs_select(const struct result_engine *engine, size_t of, const char *status,
                   struct runs *runs);

/* Outcomes are summed over all runs, failed ones included: nothing that happened is left out. */
#define ROUNDS_ADD_OUTCOMES(into, from)                                                            \
    do {                                                                                           \
        (into)->attempted += (from)->attempted;                                                    \
        (into)->ok += (from)->ok;                                                                  \
        (into)->busy += (from)->busy;                                                              \
        (into)->conflict += (from)->conflict;                                                      \
        (into)->failed += (from)->failed;                                                          \
        (into)->skipped += (from)->skipped;                                                        \
        (into)->open += (from)->open;                                                              \
        (into)->retries += (from)->retries;                                                        \
    } while (0)

#endif
