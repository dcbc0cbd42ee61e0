/* One run out of what its workers said of their connections. */
#ifndef PITOT_COORDINATOR_RUN_MERGE_H
#define PITOT_COORDINATOR_RUN_MERGE_H

#include "result/result.h"

/*
 * Puts the parts of a run (of each worker what run_read_ready() and run_read_result() gave, in the
 * order of the connections) together in `run`, and empties them. Either all parts have a result or
 * none; without one only connections and warm-up are there.
 *
 * All workers began at the same moment, so the window of the run is the longest one, and so are
 * its warm-up and its closing. CPU, faults, switches, bytes and memory are sums, absent when one
 * of them is. Outcomes are summed, histograms merged. run->seconds holds the sizes that were seen
 * (run_watch.h): each second gets those that were seen nearest to it.
 *
 * 0 or ERROR_MEMORY.
 */
int run_merge(struct result_run *parts, size_t count, struct result_run *run, struct error *error);

#endif
