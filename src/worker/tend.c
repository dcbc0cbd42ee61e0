#include "worker/tend.h"

#include "core/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How often an end is asked for again, and when it is given up. */
enum { CUT_AGAIN_MS = 20 };
#define GIVE_UP_NS (2 * NS_PER_S)

void task_opened(struct task *task, struct engine_connection *connection)
{
    pthread_mutex_lock(&task->mutex);
    task->connection = connection;
    pthread_mutex_unlock(&task->mutex);
}

struct engine_connection *task_closing(struct task *task)
{
    pthread_mutex_lock(&task->mutex);
    struct engine_connection *connection = task->connection;
    task->connection = NULL;
    pthread_mutex_unlock(&task->mutex);
    return connection;
}

static void task_cut(struct task *task)
{
    atomic_store(&task->cut, true);
    pthread_mutex_lock(&task->mutex);
    if (task->connection != NULL) {
        task->ops->interrupt(task->connection);
    }
    pthread_mutex_unlock(&task->mutex);
}

static void *task_main(void *argument)
{
    struct task *task = argument;
    task->status = task->work(task);
    eventfd_write(task->wake_fd, 1);
    return NULL;
}

/* Asks for the end until it comes. False: it does not come. */
static bool cut_short(struct task *task)
{
    uint64_t until = clock_now_ns() + GIVE_UP_NS;
    while (clock_now_ns() < until) {
        task_cut(task);
        struct pollfd done = {.fd = task->wake_fd, .events = POLLIN};
        if (poll(&done, 1, CUT_AGAIN_MS) == 1) {
            return true;
        }
    }
    return false;
}

/* Waits for the work's end while the protocol is tended. Returns nonzero when the work is to be
 * ended early, for a reason that `failure` holds. */
static int wait_for_end(struct worker *worker, struct task *task, struct failure *failure)
{
    struct worker_progress progress;
    worker_progress_begin(&progress, task->phase);
    for (;;) {
        enum wire_event event;
        json_t *line = NULL;
        bool stopped = false;
        int status =
            wire_wait(&worker->wire, task->wake_fd, task->silent ? UINT64_MAX : progress.next_ns,
                      &event, &line, &failure->error);
        if (status != 0) {
            return failure_phase(failure, "protocol");
        }
        switch (event) {
        case WIRE_WAKE:
            return 0;
        case WIRE_END:
            worker->gone = true;
            return failure_set(failure, task->phase, ERROR_INTERRUPTED, "the coordinator is gone");
        case WIRE_LINE:
            status = worker_take_line(line, &stopped, failure);
            if (status == 0 && stopped && !task->unstoppable) {
                status = failure_set(failure, task->phase, ERROR_INTERRUPTED,
                                     "stopped by the coordinator");
            }
            break;
        case WIRE_TIME: {
            uint64_t total = atomic_load_explicit(&task->total, memory_order_relaxed);
            status = worker_progress_send(
                worker, &progress, atomic_load_explicit(&task->done, memory_order_relaxed),
                total == 0 ? UINT64_MAX : total,
                atomic_load_explicit(&task->table, memory_order_relaxed), failure);
            break;
        }
        }
        if (status != 0) {
            return status;
        }
    }
}

int tend(struct worker *worker, struct task *task, struct failure *failure)
{
    pthread_t thread;
    failure_init(&task->failure);
    pthread_mutex_init(&task->mutex, NULL);
    task->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (task->wake_fd < 0) {
        error_errno(&failure->error, errno, "cannot make an eventfd");
        return failure_phase(failure, task->phase);
    }
    int rc = pthread_create(&thread, NULL, task_main, task);
    if (rc != 0) {
        close(task->wake_fd);
        error_errno(&failure->error, rc, "could not start the thread of phase %s", task->phase);
        return failure_phase(failure, task->phase);
    }
    int status = wait_for_end(worker, task, failure);
    if (status != 0 && (worker->gone || task->unstoppable || !cut_short(task))) {
        worker->abandoned = true;
        return status;
    }
    pthread_join(thread, NULL);
    if (status == 0 && task->status != 0) {
        *failure = task->failure;
        status = task->status;
    }
    close(task->wake_fd);
    return status;
}
