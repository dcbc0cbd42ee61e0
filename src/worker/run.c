/*
 * The main thread of a run: it starts a thread for every connection, opens one stage after
 * the other, tells of progress, and ends what goes on too long.
 *
 *     threads started -> GATE_OPENING -> all open, set, prepared -> GATE_WARMUP -> all warm
 *     -> ready -> go -> GATE_RUN -> at_ns .. deadline -> (grace, interrupts) -> all gone
 *     -> close -> result
 */
#include "worker/run.h"

#include "base/json.h"
#include "core/clock.h"
#include "measure/limit.h"
#include "worker/tend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* How often an interrupt is repeated (a statement that begins in that moment misses one), and
 * how long threads are waited for after a failure. */
#define CUT_AGAIN_NS (20 * NS_PER_MS)
#define GIVE_UP_NS (2 * NS_PER_S)
/* `go` may name a moment that is this far away, and one that is this far past. */
#define GO_AHEAD_MAX_NS (60 * NS_PER_S)
#define GO_PAST_MAX_NS (1 * NS_PER_S)
/* The snapshot at go is taken this much before it: it takes some 20 us. */
#define SNAPSHOT_AHEAD_NS (500 * NS_PER_US)

/* ---- threads --------------------------------------------------------------- */

static struct run *run_new(struct worker *worker, const struct job *job, struct failure *failure)
{
    struct run *run = calloc(1, sizeof(*run));
    struct connection *connections = calloc(job->connection_count, sizeof(*connections));
    if (run == NULL || connections == NULL) {
        free(run);
        free(connections);
        failure_set(failure, "open", ERROR_MEMORY, "out of memory for %u connections",
                    job->connection_count);
        return NULL;
    }
    run->worker = worker;
    run->connections = connections;
    run->count = job->connection_count;
    run->close_ns = USAGE_ABSENT;
    run->shared.ops = worker->ops;
    run->shared.engine = worker->engine;
    run->shared.job = job;
    if (gate_init(&run->shared.gate, &failure->error) != 0) {
        failure_phase(failure, "open");
        free(connections);
        free(run);
        return NULL;
    }
    run->shared.gate.threads = run->count;
    atomic_init(&run->shared.running, run->count);
    uint32_t number = job->first_connection;
    for (uint32_t role = 0, next = 0; role < job->role_count; role++) {
        for (uint32_t i = 0; i < job->roles[role].connections; i++) {
            struct connection *connection = &connections[next++];
            connection->shared = &run->shared;
            connection->number = number++;
            connection->role = role;
            connection->run_queue_ns = USAGE_ABSENT;
            failure_init(&connection->failure);
        }
    }
    return run;
}

static void run_free(struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        struct connection *connection = &run->connections[i];
        loop_release(&connection->loop);
        settings_free(&run->shared.job->settings, connection->settings);
    }
    gate_release(&run->shared.gate);
    free(run->connections);
    free(run);
}

static int start_threads(struct run *run, struct failure *failure)
{
    char limit[LIMIT_TEXT_SIZE];
    for (uint32_t i = 0; i < run->count; i++) {
        struct connection *connection = &run->connections[i];
        int rc = pthread_create(&connection->thread, NULL, connection_main, connection);
        if (rc != 0) {
            return failure_set(failure, "open", ERROR_UNAVAILABLE,
                               "could start %u of %u threads: %s (ulimit -u: %s)", i, run->count,
                               strerror(rc), limit_text(RLIMIT_NPROC, limit));
        }
        run->started++;
    }
    return 0;
}

static void interrupt_running(struct run *run)
{
    atomic_store(&run->shared.cut, true);
    for (uint32_t i = 0; i < run->started; i++) {
        struct connection *connection = &run->connections[i];
        struct engine_connection *handle = atomic_load(&connection->handle);
        if (handle != NULL && !atomic_load(&connection->ended)) {
            run->shared.ops->interrupt(handle);
        }
    }
}

static void join_threads(struct run *run)
{
    for (uint32_t i = 0; i < run->started; i++) {
        pthread_join(run->connections[i].thread, NULL);
    }
    run->started = 0;
}

/* Ends all threads after a failure. One that does not come back makes the worker abandon it. */
static void end_threads(struct run *run)
{
    atomic_store(&run->shared.stop, true);
    gate_end(&run->shared.gate);
    uint64_t until = clock_now_ns() + GIVE_UP_NS;
    while (gate_look(&run->shared.gate).left < run->started) {
        interrupt_running(run);
        uint64_t now = clock_now_ns();
        if (now >= until) {
            run->worker->abandoned = true;
            return;
        }
        clock_sleep_until_ns(now + NS_PER_MS);
    }
    join_threads(run);
}

static uint64_t executions(const struct run *run)
{
    uint64_t done = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        done += atomic_load_explicit(&run->connections[i].loop.done, memory_order_relaxed);
    }
    return done;
}

/* ---- stages ---------------------------------------------------------------- */

static int gone(struct run *run, const char *phase, struct failure *failure)
{
    run->worker->gone = true;
    return failure_set(failure, phase, ERROR_INTERRUPTED, "the coordinator is gone");
}

/* The failure of the thread that failed first; 0: none has. */
static int thread_failure(struct run *run, struct failure *failure)
{
    const struct failure *first = gate_look(&run->shared.gate).first_failed;
    if (first == NULL) {
        return 0;
    }
    *failure = *first;
    return failure->error.code;
}

/* Executions of all connections together; UINT64_MAX: for a time. */
static uint64_t planned_warmup(const struct run *run)
{
    uint64_t operations = run->shared.job->warmup_operations;
    return operations == JOB_UNLIMITED ? UINT64_MAX : operations * run->count;
}

static uint64_t planned(const struct run *run)
{
    const struct job *job = run->shared.job;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < job->role_count && job->operations != JOB_UNLIMITED; i++) {
        sum += job->roles[i].operations * job->roles[i].connections;
    }
    return job->operations == JOB_UNLIMITED ? UINT64_MAX : sum;
}

/* Waits until every thread is at the gate. *stopped: `stop` came first. */
static int await_all(struct run *run, const char *phase, uint64_t total, bool *stopped,
                     struct failure *failure)
{
    struct worker_progress progress;
    worker_progress_begin(&progress, phase);
    for (;;) {
        enum wire_event event;
        json_t *line = NULL;
        if (wire_wait(&run->worker->wire, run->shared.gate.wake_fd, progress.next_ns, &event, &line,
                      &failure->error) != 0) {
            return failure_phase(failure, "protocol");
        }
        int status = 0;
        switch (event) {
        case WIRE_END:
            return gone(run, phase, failure);
        case WIRE_WAKE:
            status = thread_failure(run, failure);
            if (status == 0 && gate_look(&run->shared.gate).waiting == run->count) {
                return 0;
            }
            break;
        case WIRE_LINE:
            status = worker_take_line(line, stopped, failure);
            break;
        case WIRE_TIME:
            status =
                worker_progress_send(run->worker, &progress, executions(run), total, NULL, failure);
            break;
        }
        if (status != 0 || *stopped) {
            return status;
        }
    }
}

/* Opens all connections and warms them up. */
static int prepare(struct run *run, bool *stopped, struct failure *failure)
{
    const struct job *job = run->shared.job;
    struct gate *gate = &run->shared.gate;
    gate_open(gate, GATE_OPENING);
    int status = await_all(run, "open", UINT64_MAX, stopped, failure);
    if (status != 0 || *stopped) {
        return status;
    }
    uint64_t started_ns = clock_now_ns();
    run->shared.warmup_deadline_ns =
        job->warmup_ns == JOB_UNLIMITED ? UINT64_MAX : started_ns + job->warmup_ns;
    gate_open(gate, GATE_WARMUP);
    status = await_all(run, "warmup", planned_warmup(run), stopped, failure);
    run->warmup_ns = clock_now_ns() - started_ns;
    return status;
}

static int take_go(const json_t *line, uint64_t *at_ns, struct failure *failure)
{
    if (json_get_u64(line, "at_ns", "go", at_ns, &failure->error) != 0) {
        return failure_phase(failure, "protocol");
    }
    uint64_t now = clock_now_ns();
    if (*at_ns > now + GO_AHEAD_MAX_NS || *at_ns + GO_PAST_MAX_NS < now) {
        return failure_set(failure, "protocol", ERROR_PROTOCOL,
                           "go: at_ns is %llu and the monotonic clock %llu: it must lie ahead, "
                           "at most a minute",
                           (unsigned long long)*at_ns, (unsigned long long)now);
    }
    return 0;
}

/* Waits for `go`, however long it takes. */
static int await_go(struct run *run, bool *stopped, struct failure *failure)
{
    for (;;) {
        enum wire_event event;
        json_t *line = NULL;
        if (wire_wait(&run->worker->wire, -1, UINT64_MAX, &event, &line, &failure->error) != 0) {
            return failure_phase(failure, "protocol");
        }
        if (event == WIRE_END) {
            return gone(run, "go", failure);
        }
        if (event != WIRE_LINE) {
            continue;
        }
        if (strcmp(json_string_value(json_object_get(line, "kind")), "go") != 0) {
            return worker_take_line(line, stopped, failure);
        }
        int status = take_go(line, &run->shared.at_ns, failure);
        json_decref(line);
        return status;
    }
}

/* When `cut` is due: grace after the deadline, or after `stop`. */
static uint64_t after_grace(const struct run *run, uint64_t moment_ns)
{
    return moment_ns == UINT64_MAX ? UINT64_MAX : moment_ns + run->shared.job->grace_ns;
}

static void take_stop(struct run *run, uint64_t *cut_ns)
{
    uint64_t now = clock_now_ns();
    atomic_store(&run->shared.stop, true);
    run->stopped_ns = run->stopped_ns == 0 ? now : run->stopped_ns;
    run->partial = run->partial || now < run->shared.deadline_ns;
    uint64_t cut = after_grace(run, now);
    *cut_ns = cut < *cut_ns ? cut : *cut_ns;
}

/* What the process had used when the measured part began. A thread that got a core too late for
 * that would take some of the connections' work away: what was taken before the gate stays. */
static void snapshot_usage(struct run *run)
{
    struct usage usage;
    usage_now(&usage);
    if (clock_now_ns() < run->shared.at_ns) {
        run->usage_start = usage;
    }
}

/* From `go` until every thread has left. */
static int await_end(struct run *run, struct failure *failure)
{
    uint64_t cut_ns = after_grace(run, run->shared.deadline_ns);
    uint64_t snapshot_ns = run->shared.at_ns - SNAPSHOT_AHEAD_NS;
    struct worker_progress progress;
    worker_progress_begin(&progress, "run");
    while (gate_look(&run->shared.gate).left < run->count) {
        uint64_t next_ns = progress.next_ns < cut_ns ? progress.next_ns : cut_ns;
        next_ns = next_ns < snapshot_ns ? next_ns : snapshot_ns;
        enum wire_event event;
        json_t *line = NULL;
        bool stopped = false;
        if (wire_wait(&run->worker->wire, run->shared.gate.wake_fd, next_ns, &event, &line,
                      &failure->error) != 0) {
            return failure_phase(failure, "protocol");
        }
        int status = 0;
        if (event == WIRE_END) {
            return gone(run, "run", failure);
        }
        if (event == WIRE_LINE) {
            status = worker_take_line(line, &stopped, failure);
        } else {
            status = thread_failure(run, failure);
        }
        if (status != 0) {
            return status;
        }
        if (stopped) {
            take_stop(run, &cut_ns);
        }
        uint64_t now = clock_now_ns();
        if (now >= snapshot_ns) {
            snapshot_usage(run);
            snapshot_ns = UINT64_MAX;
        }
        if (now >= cut_ns) {
            interrupt_running(run);
            cut_ns = now + CUT_AGAIN_NS;
        }
        status = worker_progress_send(run->worker, &progress, executions(run), planned(run), NULL,
                                      failure);
        if (status != 0) {
            return status;
        }
    }
    return thread_failure(run, failure);
}

static int measure(struct run *run, struct failure *failure)
{
    const struct job *job = run->shared.job;
    run->shared.deadline_ns =
        job->duration_ns == JOB_UNLIMITED ? UINT64_MAX : run->shared.at_ns + job->duration_ns;
    run->measured = true;
    /* In case that the moment is past before the loop below looks at the clock. */
    usage_now(&run->usage_start);
    gate_open(&run->shared.gate, GATE_RUN);
    int status = await_end(run, failure);
    if (status == 0) {
        join_threads(run);
    }
    return status;
}

/* `stop` came before `go`: a result without a measured part, its window empty. */
static int without_measuring(struct run *run, struct failure *failure)
{
    run->partial = true;
    end_threads(run);
    if (run->worker->abandoned) {
        return failure_set(failure, "open", ERROR_INTERRUPTED,
                           "stopped by the coordinator; a connection does not come back");
    }
    run->shared.at_ns = clock_now_ns();
    usage_now(&run->usage_start);
    run->shared.usage_end = run->usage_start;
    for (uint32_t i = 0; i < run->count; i++) {
        struct loop *loop = &run->connections[i].loop;
        if (loop->seconds.counts != NULL) {
            loop_restart(loop, false);
        }
    }
    return 0;
}

/* ---- closing --------------------------------------------------------------- */

struct closing {
    struct task task; /* first, so that one is the other */
    struct run *run;
};

static int close_all(struct task *task)
{
    struct run *run = ((struct closing *)task)->run;
    uint64_t started_ns = clock_now_ns();
    for (uint32_t i = 0; i < run->count; i++) {
        struct connection *connection = &run->connections[i];
        struct engine_connection *handle = atomic_load(&connection->handle);
        if (handle != NULL) {
            loop_finalize(&connection->loop);
            run->shared.ops->close(handle);
            atomic_store(&connection->handle, NULL);
        }
    }
    run->close_ns = clock_now_ns() - started_ns;
    return 0;
}

static int close_connections(struct run *run, struct failure *failure)
{
    struct closing *closing = calloc(1, sizeof(*closing));
    if (closing == NULL) {
        return failure_set(failure, "close", ERROR_MEMORY, "out of memory for the closing");
    }
    closing->task.work = close_all;
    closing->task.ops = run->shared.ops;
    closing->task.phase = "close";
    closing->task.silent = true;
    closing->task.unstoppable = true;
    closing->run = run;
    int status = tend(run->worker, &closing->task, failure);
    if (!run->worker->abandoned) {
        free(closing);
    }
    return status;
}

/* ---- the job ----------------------------------------------------------------- */

static int check_capabilities(const struct worker *worker, const struct job *job,
                              struct failure *failure)
{
    uint32_t capabilities = worker->capabilities;
    if (job->connection_count > 1 && (capabilities & ENGINE_CAN_THREADS) == 0) {
        return failure_set(failure, "job", ERROR_UNAVAILABLE,
                           "engine %s has one connection a process, the job asks for %u",
                           worker->name, job->connection_count);
    }
    if (job->database == NULL && (capabilities & ENGINE_HAS_NO_DATABASE) == 0) {
        return failure_set(failure, "job", ERROR_PROTOCOL,
                           "job: engine %s needs the path of a database", worker->name);
    }
    return 0;
}

/* All up to the closing. */
static int run_all(struct run *run, struct failure *failure)
{
    bool stopped = false;
    int status = start_threads(run, failure);
    if (status == 0) {
        status = prepare(run, &stopped, failure);
    }
    if (status == 0 && !stopped) {
        status = worker_send(run->worker, run_ready(run, failure), "ready", failure);
    }
    if (status == 0 && !stopped) {
        status = await_go(run, &stopped, failure);
    }
    if (status != 0) {
        return status;
    }
    return stopped ? without_measuring(run, failure) : measure(run, failure);
}

int worker_run(struct worker *worker, const struct job *job, struct failure *failure)
{
    int status = check_capabilities(worker, job, failure);
    if (status != 0) {
        return status;
    }
    struct run *run = run_new(worker, job, failure);
    if (run == NULL) {
        return failure->error.code;
    }
    status = run_all(run, failure);
    if (status != 0 && !worker->gone && !worker->abandoned) {
        end_threads(run);
    }
    if (worker->gone || worker->abandoned) {
        return status;
    }
    /* Connections are closed after a failure too, for the sake of the file; that it may fail
     * in turn does not matter then, the first failure is told. */
    struct failure unheard;
    failure_init(&unheard);
    int closed = close_connections(run, status != 0 ? &unheard : failure);
    if (worker->gone || worker->abandoned) {
        return closed;
    }
    status = status != 0 ? status : closed;
    if (status == 0) {
        run->peak_memory_bytes = usage_peak_memory();
        status = worker_send(worker, run_result(run, failure), "result", failure);
    }
    run_free(run);
    return status;
}
