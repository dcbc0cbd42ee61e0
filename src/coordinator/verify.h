/* Checks settings, journal and answers of engines; nothing is timed. */
#ifndef PITOT_COORDINATOR_VERIFY_H
#define PITOT_COORDINATOR_VERIFY_H

#include "coordinator/measure.h"

/* A suite in one of its scales. */
struct verify_suite {
    const struct suite *suite;
    const struct suite_scale *scale;
};

/*
 * Every engine opens as many connections as a run would, takes the settings and writes; then it
 * answers `operations` executions of each script that a scenario of the suites runs, on a database
 * for each set of variables that the scenarios ask for. Of `plan` the cases are not looked at, of
 * `like` only what it says besides label, suite, scale and scenario. Fills the result as measure()
 * does, with a case a database, and the engines' `verify` instead of runs; same errors.
 */
int verify(const struct plan *plan, const struct plan_case *like, const struct verify_suite *suites,
           size_t suite_count, uint32_t operations, const struct progress *progress,
           struct result *result, struct error *error);

#endif
