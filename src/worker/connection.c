#include "worker/connection.h"

#include "core/clock.h"
#include "measure/limit.h"

#include <fcntl.h>
#include <unistd.h>

static int connection_open(struct connection *connection)
{
    struct run_shared *shared = connection->shared;
    const struct job *job = shared->job;
    struct failure *failure = &connection->failure;
    struct engine_connection *handle = NULL;
    const char *path = job->database != NULL ? job->database : "";
    if (shared->ops->open(shared->engine, path, job->busy_timeout_ms, false, &handle,
                          &failure->error) != 0) {
        return failure_phase(failure, "open");
    }
    atomic_store(&connection->handle, handle);
    connection->settings = settings_new(&job->settings);
    if (connection->settings == NULL) {
        return failure_set(failure, "open", ERROR_MEMORY, "out of memory for the settings");
    }
    if (settings_apply(shared->ops, handle, &job->settings, connection->settings,
                       &failure->error) != 0 ||
        settings_read(shared->ops, handle, &job->settings, connection->settings, &failure->error) !=
            0) {
        return failure_phase(failure, "settings");
    }
    int status = loop_init(&connection->loop, job, connection->role, connection->number,
                           &shared->stop, &shared->cut, failure);
    return status != 0 ? status : loop_prepare(&connection->loop, shared->ops, handle, failure);
}

/* An engine that is refused a descriptor says that a file cannot be opened, as if it were the
 * file's fault. Those that were opened are still there, so it can be seen. */
static void explain_descriptors(struct connection *connection)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0) {
        close(fd);
        return;
    }
    struct error *error = &connection->failure.error;
    struct error said = *error;
    char limit[LIMIT_TEXT_SIZE];
    error_clear(error);
    error_set(error, said.code,
              "could open %u of %u connections, then no file any more (ulimit -n: %s): %s",
              atomic_load(&connection->shared->opened), connection->shared->job->connection_count,
              limit_text(RLIMIT_NOFILE, limit), said.message);
}

/* Afterwards the account is empty again, but warm. In a closed loop even before an open one: at a
 * low rate a few seconds would fill no cache. */
static int warm_up(struct connection *connection)
{
    struct loop *loop = &connection->loop;
    struct loop_span span = {.phase = "warmup",
                             .start_ns = clock_now_ns(),
                             .deadline_ns = connection->shared->warmup_deadline_ns,
                             .operations = connection->shared->job->warmup_operations};
    loop_restart(loop, true);
    int status = loop_run(loop, &span, &connection->failure);
    connection->warmup_operations = atomic_load_explicit(&loop->done, memory_order_relaxed);
    loop_restart(loop, false);
    return status;
}

/* The differences over the measured part are taken before the sleep and after the last operation,
 * so that they take nothing from the window. What a thread uses while it sleeps is its waking. */
static int measure(struct connection *connection, int run_queue_fd)
{
    struct run_shared *shared = connection->shared;
    struct loop *loop = &connection->loop;
    struct engine_connection *handle = atomic_load(&connection->handle);
    struct loop_span span = {.phase = "run",
                             .start_ns = shared->at_ns,
                             .deadline_ns = shared->deadline_ns,
                             .operations = shared->job->roles[connection->role].operations,
                             .paced = shared->job->rate > 0};
    struct engine_waits waits = shared->ops->waits(handle);
    uint64_t run_queue_ns = usage_run_queue_ns(run_queue_fd);
    uint64_t cpu_ns = clock_thread_cpu_ns();
    clock_sleep_until_ns(shared->at_ns);
    int status = loop_run(loop, &span, &connection->failure);
    connection->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
    uint64_t run_queue_end_ns = usage_run_queue_ns(run_queue_fd);
    if (run_queue_ns != USAGE_ABSENT && run_queue_end_ns != USAGE_ABSENT) {
        connection->run_queue_ns = run_queue_end_ns - run_queue_ns;
    }
    struct engine_waits waits_end = shared->ops->waits(handle);
    connection->waits.count = waits_end.count - waits.count;
    connection->waits.slept_ns = waits_end.slept_ns - waits.slept_ns;
    connection->waits.incomplete = waits_end.incomplete;
    if (atomic_fetch_sub(&shared->running, 1) == 1) {
        usage_now(&shared->usage_end);
    }
    return status;
}

void *connection_main(void *argument)
{
    struct connection *connection = argument;
    struct gate *gate = &connection->shared->gate;
    int run_queue_fd = -1;
    int status = 0;
    if (!gate_wait(gate, GATE_OPENING)) {
        goto out;
    }
    status = connection_open(connection);
    if (status == 0) {
        atomic_fetch_add(&connection->shared->opened, 1);
    } else {
        explain_descriptors(connection);
    }
    if (status != 0 || !gate_wait(gate, GATE_WARMUP)) {
        goto out;
    }
    run_queue_fd = usage_run_queue_open();
    if (connection->shared->job->rate > 0) {
        pace_prepare_thread();
    }
    status = warm_up(connection);
    if (status != 0 || !gate_wait(gate, GATE_RUN)) {
        goto out;
    }
    status = measure(connection, run_queue_fd);
out:
    atomic_store(&connection->ended, true);
    if (run_queue_fd >= 0) {
        close(run_queue_fd);
    }
    gate_leave(gate, status != 0 ? &connection->failure : NULL);
    return NULL;
}
