/* Figures of an engine over its rounds. */
#ifndef PITOT_STATISTICS_SUMMARY_H
#define PITOT_STATISTICS_SUMMARY_H

#include "result/result.h"

/* Computes engine->summary from engine->runs (runs that are "ok"; if there is none, the
 * partial ones): each figure is the median of the rounds' figures with their range; histograms are
 * merged. Outcomes are summed over all runs. 0 or ERROR_MEMORY. */
int summarize_engine(const struct result *result, struct result_engine *engine,
                     struct error *error);

#endif
