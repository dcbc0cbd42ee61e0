/*
 * Work that takes long is done in a thread of its own, while the main thread tends the protocol:
 * it tells of progress, and sees at once when the coordinator says `stop` or is gone.
 */
#ifndef PITOT_WORKER_TEND_H
#define PITOT_WORKER_TEND_H

#include "worker/worker.h"

#include <pthread.h>
#include <stdatomic.h>

/* Zeroed memory with the first members set. When worker->abandoned is set afterwards the thread
 * still uses it, so it must not lie on the stack. */
struct task {
    /* Runs in the thread; 0 or an error_code with the task's failure filled. */
    int (*work)(struct task *task);
    const struct engine_ops *ops;
    const char *phase;
    bool unstoppable; /* `stop` has no effect on it */
    bool silent;      /* no progress lines */

    /* The connection that `stop` interrupts; the work sets and takes it with the functions below
     * and may read it without. */
    struct engine_connection *connection;
    pthread_mutex_t mutex; /* held while it is interrupted, and while it is taken away */
    atomic_bool cut;       /* the work is to end */

    /* Progress, set by the work with relaxed stores. */
    _Atomic uint64_t done;
    _Atomic uint64_t total; /* 0: not known */
    _Atomic(const char *) table;

    struct failure failure; /* of the work */
    int status;             /* what it returned */
    int wake_fd;
};

/* For the work: its connection is open; it is about to be closed (returned; NULL: none). */
void task_opened(struct task *task, struct engine_connection *connection);
struct engine_connection *task_closing(struct task *task);
static inline bool task_is_cut(const struct task *task)
{
    return __builtin_expect(atomic_load_explicit(&task->cut, memory_order_relaxed), 0);
}

/* Runs the work and waits for its end. Nonzero: `failure` is filled. */
int tend(struct worker *worker, struct task *task, struct failure *failure);

#endif
