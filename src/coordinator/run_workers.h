/* The workers of one run, on a copy that is there: job, ready, go, result. */
#ifndef PITOT_COORDINATOR_RUN_WORKERS_H
#define PITOT_COORDINATOR_RUN_WORKERS_H

#include "coordinator/measurement.h"

struct run_task {
    struct measurement *m;
    const struct measured_case *measured;
    size_t engine;
    const char *step;     /* for progress */
    uint64_t after_ns;    /* what comes after the run; PROGRESS_UNKNOWN */
    const char *database; /* NULL: the engine has none */
    uint64_t copy_ns;     /* that making the copy took */
    struct result_run *run;
};

/* Starts as many workers as the case wants, releases them together, and puts what they say into
 * the run: one worker with all connections, or one for each. When one of them fails the others are
 * ended, and the error says which it was. After a signal the run is what they have until then. */
int run_workers(const struct run_task *task, struct error *error);

#endif
