#include "coordinator/run_workers.h"

#include "coordinator/exchange.h"
#include "coordinator/job.h"
#include "coordinator/order.h"
#include "coordinator/run_check.h"
#include "coordinator/run_merge.h"
#include "coordinator/run_result.h"
#include "coordinator/run_watch.h"
#include "coordinator/settings.h"

#include "core/clock.h"

#include <stdlib.h>

/* `go` lies this far ahead: time for the line to arrive and for all threads to hear of it; and for
 * each further worker to be told. */
#define GO_AHEAD_NS (100 * NS_PER_MS)
#define GO_EACH_NS (1 * NS_PER_MS)
/* An interrupted worker may take this long beyond its grace to hand over what it has. */
#define STOP_WAIT_NS (3 * NS_PER_S)

struct running {
    const struct run_task *task;
    struct exchange exchange;
    size_t count; /* of workers; the arrays hold one entry for each */
    struct job_part *parts;
    struct result_run *said; /* what each says of its part */
    json_t **lines;
    int *pids;
    struct run_watch watch;
    bool broken; /* something that was said cannot be believed: all of it is forgotten */
};

static void clear_lines(struct running *running)
{
    for (size_t i = 0; i < running->count; i++) {
        json_decref(running->lines[i]);
        running->lines[i] = NULL;
    }
}

/* Something is wrong with what the worker `index` said. */
static void blame(struct running *running, size_t index, struct error *error)
{
    running->exchange.at_fault = index;
    if (running->count > 1) {
        error_prefix(error, "connection %zu", index);
    }
}

/* ---- up to ready --------------------------------------------------------------------------- */

static int send_jobs(struct running *running, struct error *error)
{
    const struct run_task *task = running->task;
    const struct plan_case *whole = &task->measured->plan_case;
    uint32_t seed =
        order_seed(whole->plan->seed, (size_t)task->run->round - 1, (size_t)task->run->case_index);
    int status = 0;
    for (size_t i = 0; i < running->count && status == 0; i++) {
        json_t *job = job_run(&running->parts[i].plan_case,
                              task->database != NULL ? task->database : NO_DATABASE,
                              &running->exchange.settings, seed);
        status = exchange_send(&running->exchange, i, job, error);
    }
    return status;
}

static int read_ready(struct running *running, size_t index, struct error *error)
{
    const struct plan_case *part = &running->parts[index].plan_case;
    struct result_run *said = &running->said[index];
    int status = run_read_ready(part, running->lines[index], said, error);
    running->broken = running->broken || status != 0;
    if (status == 0) {
        status = run_check_ready(part, &running->exchange.settings, said, error);
    }
    if (status != 0) {
        blame(running, index, error);
    }
    return status;
}

static int await_ready(struct running *running, struct error *error)
{
    const struct plan_case *whole = &running->task->measured->plan_case;
    running->exchange.headway_ns = measurement_headway_ns(whole->plan);
    if (whole->warmup_ns != RESULT_ABSENT) {
        /* The warm-up counts operations, but one of them may last as long as all of it. */
        running->exchange.headway_ns += whole->warmup_ns;
    }
    int status = exchange_await(&running->exchange, "ready", running->lines, error);
    for (size_t i = 0; i < running->count && status == 0; i++) {
        status = read_ready(running, i, error);
    }
    clear_lines(running);
    return status;
}

/* The workers were started at `started_ns` and are ready. */
static void note_setup(struct running *running, uint64_t started_ns)
{
    const struct run_task *task = running->task;
    uint64_t spent_ns = task->copy_ns + (clock_now_ns() - started_ns);
    uint64_t warmup_ns = 0;
    for (size_t i = 0; i < running->count; i++) {
        uint64_t own_ns = running->said[i].warmup_ns;
        warmup_ns = own_ns != RESULT_ABSENT && own_ns > warmup_ns ? own_ns : warmup_ns;
    }
    task->run->setup_ns = spent_ns > warmup_ns ? spent_ns - warmup_ns : 0;
    if (task->database != NULL) {
        task->run->resident = usage_resident_share(task->database);
    }
}

/* ---- from go to the results -------------------------------------------------------------------
 */

static int send_go(struct running *running, struct error *error)
{
    int status = 0;
    running->watch.at_ns = clock_now_ns() + GO_AHEAD_NS + (running->count - 1) * GO_EACH_NS;
    for (size_t i = 0; i < running->count && status == 0; i++) {
        status = exchange_send(&running->exchange, i, job_go(running->watch.at_ns), error);
    }
    return status;
}

static void begin_watch(struct running *running)
{
    const struct run_task *task = running->task;
    struct exchange *exchange = &running->exchange;
    for (size_t i = 0; i < running->count; i++) {
        running->pids[i] = worker_pid(exchange->workers[i].process);
    }
    running->watch.run = task->run;
    running->watch.database = task->database;
    running->watch.duration_ns = task->measured->plan_case.duration_ns;
    running->watch.pids = running->pids;
    running->watch.pid_count = running->count;
    exchange->tick = run_watch_look;
    exchange->tick_context = &running->watch;
    exchange->tick_at_ns = running->watch.at_ns;
    exchange->tick_every_ns = RUN_WATCH_EVERY_NS;
}

/* After a signal: what the workers have until now. */
static int collect_partial(struct running *running)
{
    struct exchange *exchange = &running->exchange;
    struct error ignored = ERROR_INIT;
    int status = 0;
    exchange->uninterruptible = true;
    exchange->headway_ns = UINT64_MAX;
    exchange->until_repeated = true;
    exchange->deadline_ns = clock_now_ns() + exchange->plan_case->plan->grace_ns + STOP_WAIT_NS;
    for (size_t i = 0; i < running->count && status == 0; i++) {
        if (running->lines[i] == NULL) {
            status = exchange_send(exchange, i, job_stop(), &ignored);
        }
    }
    return status == 0 ? exchange_await(exchange, "result", running->lines, &ignored) : status;
}

static int read_result(struct running *running, size_t index, struct error *error)
{
    const struct plan_case *part = &running->parts[index].plan_case;
    const json_t *line = running->lines[index];
    struct result_run *said = &running->said[index];
    int status = run_read_result(part, line, said, error);
    if (status == 0) {
        status = run_check_result(part, said, error);
    }
    if (status == 0) {
        status = run_check_window(line, running->watch.at_ns, clock_now_ns(), error);
    }
    if (status != 0) {
        running->broken = true;
        blame(running, index, error);
    }
    return status;
}

/* In an open loop nothing may be due for a while, on the last connection that is not done. Forty
 * mean gaps are longer than any that can be drawn. */
static uint64_t longest_gap_ns(const struct plan_case *plan_case)
{
    return job_is_paced(plan_case)
               ? (uint64_t)(40e9 * job_connections(plan_case) / job_rate(plan_case))
               : 0;
}

static int await_results(struct running *running, struct error *error)
{
    const struct plan_case *whole = &running->task->measured->plan_case;
    struct exchange *exchange = &running->exchange;
    if (whole->duration_ns != RESULT_ABSENT) {
        exchange->headway_ns = UINT64_MAX;
        exchange->deadline_ns =
            running->watch.at_ns + whole->duration_ns + whole->plan->grace_ns + RESULT_WAIT_NS;
    } else {
        exchange->headway_ns = measurement_headway_ns(whole->plan) + longest_gap_ns(whole);
    }
    int status = exchange_await(exchange, "result", running->lines, error);
    if (status != 0 && (status != ERROR_INTERRUPTED || collect_partial(running) != 0)) {
        return status;
    }
    run_watch_end(&running->watch);
    struct error broken = ERROR_INIT;
    int read = 0;
    for (size_t i = 0; i < running->count && read == 0; i++) {
        read = read_result(running, i, &broken);
    }
    if (read != 0 && status == 0) {
        return error_set(error, broken.code, "%s", broken.message);
    }
    return status;
}

/* ---- the run ------------------------------------------------------------------------------- */

static int allocate(struct running *running, struct error *error)
{
    size_t count = job_part_count(&running->task->measured->plan_case);
    running->parts = calloc(count, sizeof *running->parts);
    running->said = calloc(count, sizeof *running->said);
    running->lines = calloc(count, sizeof(json_t *));
    running->pids = calloc(count, sizeof *running->pids);
    if (running->parts == NULL || running->said == NULL || running->lines == NULL ||
        running->pids == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for %zu workers", count);
    }
    running->count = count;
    for (size_t i = 0; i < count; i++) {
        job_part_init(&running->parts[i], &running->task->measured->plan_case, i);
        result_run_init(&running->said[i]);
    }
    return 0;
}

static void release(struct running *running)
{
    clear_lines(running);
    for (size_t i = 0; i < running->count; i++) {
        result_run_release(&running->said[i]);
    }
    free(running->parts);
    free(running->said);
    free(running->lines);
    free(running->pids);
}

static int talk(struct running *running, struct error *error)
{
    const struct run_task *task = running->task;
    const struct engine_choice *choice = &task->m->plan->engines->items[task->engine];
    struct exchange *exchange = &running->exchange;
    uint64_t started_ns = clock_now_ns();
    int status = settings_of_plan(task->m->plan, choice->manifest, &exchange->settings, error);
    if (status == 0) {
        status = exchange_begin(exchange, choice, running->count, &task->run->log, error);
    }
    if (status == 0) {
        status = send_jobs(running, error);
    }
    if (status == 0) {
        status = await_ready(running, error);
    }
    if (status == 0) {
        note_setup(running, started_ns);
        status = send_go(running, error);
    }
    if (status == 0) {
        begin_watch(running);
        status = await_results(running, error);
    }
    return status == 0 ? exchange_finish(exchange, error) : status;
}

int run_workers(const struct run_task *task, struct error *error)
{
    struct running running = {.task = task};
    int status = allocate(&running, error);
    if (status == 0) {
        running.exchange =
            exchange_about(&task->measured->plan_case, task->step, task->m->progress);
        running.exchange.expected_ns = task->measured->expected_ns;
        running.exchange.after_ns = task->after_ns;
        status = talk(&running, error);
        exchange_end(&running.exchange, status == 0, &task->run->log);
    }
    if (running.broken) {
        result_run_forget(task->run);
    } else if (running.count > 0) {
        struct error lost = ERROR_INIT;
        if (run_merge(running.said, running.count, task->run, &lost) != 0 && status == 0) {
            status = error_set(error, lost.code, "%s", lost.message);
        }
    }
    if (running.watch.out_of_memory && status == 0) {
        status = error_set(error, ERROR_MEMORY, "out of memory for the sizes of each second");
    }
    release(&running);
    return status;
}
