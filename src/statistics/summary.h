/* Figures of an engine over its rounds. */
#ifndef PITOT_STATISTICS_SUMMARY_H
#define PITOT_STATISTICS_SUMMARY_H

#include "result/result.h"

/* Computes the figures of engine->summaries, each out of the runs of its case (those that are "ok";
 * if there is none, the partial ones): a figure is the median of the rounds' figures with their
 * range; histograms are merged. Outcomes are summed over all runs. Status and error of the
 * summaries stay. 0 or ERROR_MEMORY. */
int summarize_engine(struct result_engine *engine, struct error *error);

#endif
