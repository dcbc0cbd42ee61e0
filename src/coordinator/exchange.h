/* Waiting for a line of a worker under the rules for life signs. */
#ifndef PITOT_COORDINATOR_EXCHANGE_H
#define PITOT_COORDINATOR_EXCHANGE_H

#include "coordinator/measure.h"
#include "coordinator/process.h"

struct exchange {
    const struct plan_case *plan_case;
    struct worker_process *worker;
    const char *engine; /* its name, for messages */
    const char *step;   /* for progress: "sqlite: round 1 of 3" */
    const struct progress *progress;
    uint64_t started_ns;  /* of the step */
    uint64_t expected_ns; /* how long the step may last; PROGRESS_UNKNOWN */
    uint64_t after_ns;    /* what comes after the step; PROGRESS_UNKNOWN */
    /* The worker is given up when `done` of its progress lines stands still for so long. Lines
     * alone are no sign of life: they come from a thread that measures nothing. UINT64_MAX: no
     * limit. */
    uint64_t headway_ns;
    uint64_t deadline_ns; /* absolute; UINT64_MAX: none */
    bool loading;         /* errors are about load.sql */
    bool uninterruptible;
    bool until_repeated; /* uninterruptible, but a further signal ends it */
    /* Called at tick_at_ns, then every tick_every_ns. */
    void (*tick)(void *context, uint64_t now_ns);
    void *tick_context;
    uint64_t tick_at_ns;
    uint64_t tick_every_ns;

    bool script_at_fault; /* out: the error line blames a script */
    /* private */
    bool closing;
    uint64_t last_done, last_done_ns, last_line_ns, last_line_done;
};

/* Waits for a line of that kind; progress lines are passed on. A new reference in *line. An `error`
 * line, a wrong line, the worker's end, no headway, the deadline: an error that says so. */
int exchange_await(struct exchange *exchange, const char *kind, json_t **line, struct error *error);

#endif
