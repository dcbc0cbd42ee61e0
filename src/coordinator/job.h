/* The lines that the coordinator sends (docs/worker-protocol.md). New references; NULL when
 * out of memory. */
#ifndef PITOT_COORDINATOR_JOB_H
#define PITOT_COORDINATOR_JOB_H

#include "coordinator/measure.h"

#include <jansson.h>
#include <stdint.h>

/* Roles of the scenario with "N" replaced; connections are numbered role after role. */
uint32_t job_connections(const struct plan *plan);

json_t *job_load(const struct plan *plan, const char *database, const result_pairs *settings);
json_t *job_run(const struct plan *plan, const char *database, const result_pairs *settings);
/* A run that stops at `ready`: nothing is warmed up or measured. */
json_t *job_preflight(const struct plan *plan, const char *database, const result_pairs *settings);
json_t *job_go(uint64_t at_ns);
json_t *job_stop(void);

#endif
