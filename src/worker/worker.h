/* What the parts of the worker share, and the kinds of job. */
#ifndef PITOT_WORKER_WORKER_H
#define PITOT_WORKER_WORKER_H

#include "engine/engine.h"
#include "worker/failure.h"
#include "worker/job.h"
#include "worker/wire.h"

struct worker {
    const char *name; /* of the engine, as the user calls it */
    const struct engine_ops *ops;
    struct engine *engine;
    uint32_t capabilities; /* of the driver with this library and these options */
    struct wire wire;      /* main thread only */
    /* The coordinator is gone: nothing is to be sent, exit at once. */
    bool gone;
    /* A thread is still inside the engine and does not come back: it uses the job and memory
     * that is therefore never freed. The process must end without clean-up (_exit). */
    bool abandoned;
};

/* Each does a job on the main thread (and threads of its own) and sends its result.
 * Nonzero: `failure` says why there is none; gone and abandoned are to be looked at. */
int worker_load(struct worker *worker, const struct job *job, struct failure *failure);
int worker_check(struct worker *worker, const struct job *job, struct failure *failure);
int worker_verify(struct worker *worker, const struct job *job, struct failure *failure);
int worker_run(struct worker *worker, const struct job *job, struct failure *failure);

/* Sends a line of the phase `phase`; drops the reference. */
int worker_send(struct worker *worker, json_t *line, const char *phase, struct failure *failure);

/* When a line of progress is due next, and what it says: counts of executions, rows or steps. */
struct worker_progress {
    const char *phase;
    uint64_t started_ns;
    uint64_t next_ns;
};
void worker_progress_begin(struct worker_progress *progress, const char *phase);
/* Sends the line if it is due. `total` UINT64_MAX: not known; `table` NULL: none. */
int worker_progress_send(struct worker *worker, struct worker_progress *progress, uint64_t done,
                         uint64_t total, const char *table, struct failure *failure);

/* Takes a line that came while a job runs: `stop` sets *stopped, all else is an error. */
int worker_take_line(json_t *line, bool *stopped, struct failure *failure);

#endif
