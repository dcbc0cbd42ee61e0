/* Figures of the roles of a case, and how they grow from case to case. */
#ifndef PITOT_STATISTICS_ROLES_H
#define PITOT_STATISTICS_ROLES_H

#include "statistics/rounds.h"

/* Computes summary->roles (empty before) out of `runs`; the outcomes are those of all runs of the
 * case `of`. 0 or ERROR_MEMORY. */
int summarize_roles(const struct result_engine *engine, size_t of, const struct runs *runs,
                    struct sample *sample, struct result_summary *summary);

/* Fills `scaling` of every role of every summary: in each round, operations a second in relation
 * to those of the same engine and role in the first case of the same scenario, which is the same
 * but for its number of connections. Absent where no other case has the scenario. After
 * summarize_engine() of all engines. 0 or ERROR_MEMORY. */
int summarize_scaling(struct result *result, struct error *error);

#endif
