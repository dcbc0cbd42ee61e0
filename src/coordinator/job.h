/* The lines that the coordinator sends (docs/worker-protocol.md). New references; NULL when
 * out of memory. */
#ifndef PITOT_COORDINATOR_JOB_H
#define PITOT_COORDINATOR_JOB_H

#include "coordinator/measure.h"

#include <jansson.h>
#include <stdint.h>

/* Roles of the scenario with "N" replaced; connections are numbered role after role. */
uint32_t job_connections(const struct plan_case *plan_case);

/* Whether a run of the case is an open loop, and then the executions a second that it asks for. */
bool job_is_paced(const struct plan_case *plan_case);
double job_rate(const struct plan_case *plan_case);

/* Executions of each connection of a role in a case by operations. */
uint64_t job_role_executions(const struct plan_case *plan_case, const struct suite_role *role);

/* What one worker does of a run of a case: all of it, or with connections in processes one of them,
 * as a case of its own. Points into itself and must not be moved. */
struct job_part {
    struct plan_case plan_case;
    struct suite_scenario scenario;
    struct suite_role role;
};
/* Workers of a run, and what the worker `index` of them does. */
size_t job_part_count(const struct plan_case *plan_case);
void job_part_init(struct job_part *part, const struct plan_case *whole, size_t index);

json_t *job_load(const struct plan_case *plan_case, const char *database,
                 const result_pairs *settings);
/* `seed`: of the round (order_seed). */
json_t *job_run(const struct plan_case *plan_case, const char *database,
                const result_pairs *settings, uint32_t seed);
/* A run that stops at `ready`: nothing is warmed up or measured. */
json_t *job_preflight(const struct plan_case *plan_case, const char *database,
                      const result_pairs *settings);
/* One connection with the scripts of the scenario's first role, on the worker's main thread; each
 * part of it lasts `length_ns`, or half of it. */
json_t *job_event_loop(const struct plan_case *plan_case, const char *database,
                       const result_pairs *settings, uint64_t length_ns);
/* Counts the rows of every table; kind: "full", "quick" or "counts" (no integrity). */
json_t *job_check(const struct plan_case *plan_case, const char *database,
                  const result_pairs *settings, const char *kind);
/* A run that stops at `ready`, for which every connection of a role with write scripts has written
 * `writes` times. */
json_t *job_settings(const struct plan_case *plan_case, const char *database,
                     const result_pairs *settings, uint32_t writes);
/* Answers of all scripts of the plan's suite. `detail`: of one operation only, its rows. */
struct job_detail {
    size_t script;
    uint64_t operation;
    uint32_t rows; /* at most, a statement */
};
json_t *job_verify(const struct plan_case *plan_case, const char *database,
                   const result_pairs *settings, uint32_t operations,
                   const struct job_detail *detail);
json_t *job_go(uint64_t at_ns);
json_t *job_stop(void);

#endif
