/*
 * Whether what a worker says of a run can be true: a worker in any language may be wrong, and a
 * table must not be. All errors are ERROR_PROTOCOL.
 */
#ifndef PITOT_COORDINATOR_RUN_CHECK_H
#define PITOT_COORDINATOR_RUN_CHECK_H

#include "coordinator/measure.h"

#include <jansson.h>

/* After run_read_ready(): all connections are there, in order, and each read back every setting as
 * it was asked (`asked`: the job's). Whether the engine took them is not judged here. */
int run_check_ready(const struct plan_case *plan_case, const result_pairs *asked,
                    const struct result_run *run, struct error *error);

/* After run_read_result(): an entry for each script of each role, in order; the operations of the
 * connections and those of the seconds add up to the ok executions. In an open loop what was
 * offered but for what never began is what was attempted. */
int run_check_result(const struct plan_case *plan_case, const struct result_run *run,
                     struct error *error);

/* The window of a result line begins at the moment that `go` named and ended by now. */
int run_check_window(const json_t *line, uint64_t at_ns, uint64_t now_ns, struct error *error);

#endif
