/* Figures of one run: what a figure over rounds is the median of. Pure functions, any thread; NAN
 * where a run has no such figure. */
#ifndef PITOT_STATISTICS_RUN_FIGURES_H
#define PITOT_STATISTICS_RUN_FIGURES_H

#include "result/result.h"

/* A figure of the whole run, and where it stands in a summary. */
struct run_figure {
    size_t summary; /* offset of a struct result_figure in a struct result_summary */
    double (*value)(const struct result_run *run);
};
extern const struct run_figure run_figures[];
extern const size_t run_figure_count;

/* RESULT_ABSENT becomes NAN. */
double run_measured(uint64_t value);

double run_window_s(const struct result_run *run);
/* The window of a role: from go to the end of the last operation of its connections, one that was
 * still open counting until the deadline: an endless reader must not stretch the writers' window.
 */
double run_role_window_s(const struct result_run *run, const char *role);

/* Operations a second by the scripts of a role (NULL: of all, each role over its own window). */
double run_operations_per_second(const struct result_run *run, const char *role);
/* User and system time of the whole process, the harness's share included, by operation. */
double run_cpu_per_operation_ns(const struct result_run *run);

/* What its connections waited for a core, as a share of connections × window, 0 to 1. */
double run_queue_share(const struct result_run *run);

/* What was due on the connections of a role (NULL: of all) and never began, as a share of all that
 * was due. 0 in a closed loop, and when it is one execution a connection at most: that may wait
 * behind the one that runs and is no queue. */
double run_left_behind(const struct result_run *run, const char *role);

/* NULL: the run has no such script. */
const struct result_script *run_script(const struct result_run *run, const char *role,
                                       const char *script);
/* Operations of ok executions: a script of one batch counts as many as it holds. */
double script_operations(const struct result_script *script);

#endif
