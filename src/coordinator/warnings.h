/*
 * What a reader of the numbers must be told: one function a rule, most of them over the runs of one
 * engine in one case `of` (its index). Internal to the coordinator. All return 0
 * or ERROR_MEMORY.
 */
#ifndef PITOT_COORDINATOR_WARNINGS_H
#define PITOT_COORDINATOR_WARNINGS_H

#include "result/result.h"

/* Marks an engine that ran, but did not do what was asked, and its summary of the case (SIZE_MAX:
 * of all cases); the last warning says why. */
int warnings_differs(const struct result *result, struct result_engine *engine, size_t of);

/* True for a run of the case whose figures count. */
bool warnings_run_counts(const struct result_run *run, size_t of);

/* result_warn() with the case in front of the text where there are several. */
int warnings_tell(struct result *result, const char *subject, size_t of, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- warnings_run.c: do the runs hold together? ----------------------------------------- */

/*
 * Little's law: operations/s × mean latency, which is the sum of latencies through the window, is
 * at most the connections (in an open loop: of service times); and in a closed loop by duration,
 * with executions of over 10 µs that all ended ok, at least 0.9 of them, each counted from its
 * first operation on and without at most 100 ms in which it waited for a core. Above, the window is
 * wrong, and so are its rates: the engine is marked. Below, it may also be a worker that loses time
 * between executions.
 */
int warn_window(struct result *result, struct result_engine *engine, size_t of);
/* Connections that ended no execution, or whose role-mates ended 10 times as many. */
int warn_connections(struct result *result, const struct result_engine *engine, size_t of);
/* The first third of the runs against the rest (trend.h). */
int warn_trend(struct result *result, const struct result_engine *engine, size_t of);
/* Rows or integrity after a run are not what they must be (the engine is marked), or could not be
 * told. */
int warn_check(struct result *result, struct result_engine *engine, size_t of);

/* ---- warnings_host.c: what did the machine do meanwhile? -------------------------------- */

/* At the worst of the runs of all engines: CPU of others or steal over 5 % of the cores, over 10 %
 * of the connections' time spent waiting for a core, over 16 MiB not yet written back, over 1 % of
 * a copy not in the page cache. One warning for all engines it is about. */
int warn_host(struct result *result);
/* Runs of less than 100 ms, of any case. `exempt`: by engine, true for one that is left out. */
int warn_short(struct result *result, const bool *exempt);

/* ---- warnings_rate.c: did it keep up with an open loop? ---------------------------------- */

/* A rate of over 100 % of the slowest engine's closed loop, of any case. */
int warn_rate(struct result *result);
/* A run began less than 99 % of the executions that were due, and more than one on each connection
 * were left. */
int warn_saturated(struct result *result, const struct result_engine *engine, size_t of);

/* ---- warnings_script.c: did the scripts do what they are for? --------------------------- */

/* Scripts that touched no row, or in more than 99 % of their executions none; executions that were
 * busy, in conflict or still open at the end; failed ones, which mark the engine, and a script that
 * did nothing but fail, which makes it a failed one: its other figures are those of another load.
 */
int warn_scripts(struct result *result, struct result_engine *engine, size_t of);
/* One line for all engines and cases: percentiles with fewer than 10 samples above them in a round.
 * `exempt`: by engine, true for one that is left out. */
int warn_thin(struct result *result, const bool *exempt);

#endif
