#include "coordinator/exchange.h"

#include "base/json.h"
#include "coordinator/interrupt.h"
#include "coordinator/measurement.h"
#include "coordinator/run_result.h"
#include "coordinator/settings.h"
#include "core/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A handler cannot wake the wait for a worker a second time: it is asked so often. */
#define LOOK_FOR_SIGNAL_NS (100 * NS_PER_MS)
/* Several workers tell of their progress in the same moment: a rate is of at least so long. */
#define RATE_OVER_NS (200 * NS_PER_MS)

/* ---- beginning and end ------------------------------------------------------------------- */

struct exchange exchange_about(const struct plan_case *plan_case, const char *step,
                               const struct progress *progress)
{
    return (struct exchange){
        .plan_case = plan_case,
        .step = step,
        .progress = progress,
        .expected_ns = PROGRESS_UNKNOWN,
        .after_ns = PROGRESS_UNKNOWN,
        .headway_ns = measurement_headway_ns(plan_case->plan),
        .deadline_ns = UINT64_MAX,
        .per_second = (double)NAN,
    };
}

/* Which of several it is. */
static void say_which(const struct exchange *exchange, size_t worker, struct error *error)
{
    if (exchange->count > 1) {
        error_prefix(error, "connection %" PRIu64, exchange->workers[worker].connection);
    }
}

int exchange_begin(struct exchange *exchange, const struct engine_choice *choice, size_t count,
                   result_strings *log, struct error *error)
{
    exchange->engine = choice->name;
    exchange->started_ns = clock_now_ns();
    exchange->workers = calloc(count, sizeof *exchange->workers);
    if (exchange->workers == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for %zu workers", count);
    }
    for (; exchange->count < count; exchange->count++) {
        struct exchange_worker *worker = &exchange->workers[exchange->count];
        worker->connection = exchange->count;
        int status = worker_start(choice, &worker->process, &worker->identity, log, error);
        if (status != 0) {
            exchange->at_fault = exchange->count; /* its log has been kept */
            if (count > 1) {
                error_prefix(error, "could start %zu of %zu workers", exchange->count, count);
            }
            return status;
        }
    }
    return 0;
}

int exchange_send(struct exchange *exchange, size_t worker, json_t *line, struct error *error)
{
    int status = line != NULL ? worker_send(exchange->workers[worker].process, line, error)
                              : error_set(error, ERROR_MEMORY, "out of memory for a line to %s",
                                          exchange->engine);
    json_decref(line);
    if (status != 0) {
        exchange->at_fault = worker;
        say_which(exchange, worker, error);
    }
    return status;
}

int exchange_finish(struct exchange *exchange, struct error *error)
{
    for (size_t i = 0; i < exchange->count; i++) {
        int status = worker_finish(exchange->workers[i].process, EXCHANGE_END_NS, error);
        if (status != 0) {
            exchange->at_fault = i;
            say_which(exchange, i, error);
            return status;
        }
    }
    return 0;
}

/* All but the one at fault, if `failed`. */
static void end_others(struct exchange *exchange, bool failed, uint64_t grace_ns)
{
    for (size_t i = 0; i < exchange->count; i++) {
        if (!failed || i != exchange->at_fault) {
            worker_end(exchange->workers[i].process, grace_ns, NULL);
            exchange->workers[i].process = NULL;
        }
    }
}

static void release(struct exchange *exchange)
{
    for (size_t i = 0; i < exchange->count; i++) {
        worker_identity_release(&exchange->workers[i].identity);
    }
    free(exchange->workers);
    exchange->workers = NULL;
    exchange->count = 0;
    settings_release(&exchange->settings);
}

void exchange_end(struct exchange *exchange, bool success, result_strings *log)
{
    end_others(exchange, !success, success ? EXCHANGE_END_NS : 0);
    if (!success && exchange->at_fault < exchange->count) {
        worker_end(exchange->workers[exchange->at_fault].process, 0, log);
    }
    release(exchange);
}

void exchange_end_failed(struct exchange *exchange, struct error *error)
{
    end_others(exchange, true, 0);
    if (exchange->at_fault < exchange->count) {
        worker_end_failed(exchange->workers[exchange->at_fault].process, error);
    }
    release(exchange);
}

/* ---- progress ---------------------------------------------------------------------------- */

/* What all workers have done together, and are to do; PROGRESS_UNKNOWN. */
static uint64_t done_by_all(const struct exchange *exchange, uint64_t *total)
{
    uint64_t done = 0;
    *total = 0;
    for (size_t i = 0; i < exchange->count; i++) {
        const struct exchange_worker *worker = &exchange->workers[i];
        done += worker->done;
        *total = *total == PROGRESS_UNKNOWN || worker->total == PROGRESS_UNKNOWN
                     ? PROGRESS_UNKNOWN
                     : *total + worker->total;
    }
    return done;
}

/* The rate since progress was told the last time. */
static double rate_of(struct exchange *exchange, uint64_t done, uint64_t now)
{
    uint64_t since = exchange->told_ns;
    if (since != 0 && now < since + RATE_OVER_NS) {
        return exchange->per_second;
    }
    exchange->per_second = since != 0 && now > since && done >= exchange->told_done
                               ? (double)(done - exchange->told_done) * 1e9 / (double)(now - since)
                               : (double)NAN;
    exchange->told_ns = now;
    exchange->told_done = done;
    return exchange->per_second;
}

static void read_progress(const struct exchange *exchange, struct exchange_worker *worker,
                          const json_t *line, uint64_t now)
{
    uint64_t done = 0;
    json_get_u64_or(line, "done", "progress", 0, &done, NULL);
    json_get_u64_or(line, "total", "progress", PROGRESS_UNKNOWN, &worker->total, NULL);
    if (done != worker->done || exchange->lines_are_life) {
        worker->done = done;
        worker->done_at_ns = now;
    }
}

static void pass_progress(struct exchange *exchange, struct exchange_worker *worker,
                          const json_t *line)
{
    uint64_t now = clock_now_ns();
    struct progress_state state = {
        .step = exchange->step,
        .elapsed_ns = now - exchange->started_ns,
        .remaining_ns = PROGRESS_UNKNOWN,
        .left_ns = PROGRESS_UNKNOWN,
    };
    const char *phase = json_string_value(json_object_get(line, "phase"));
    state.phase = phase != NULL ? phase : "";
    if (strcmp(state.phase, "close") == 0 && !exchange->closing) {
        /* Closing checkpoints a log of any size: it has a time of its own. */
        exchange->closing = true;
        if (exchange->deadline_ns != UINT64_MAX) {
            exchange->deadline_ns += measurement_headway_ns(exchange->plan_case->plan);
        }
    }
    read_progress(exchange, worker, line, now);
    state.done = done_by_all(exchange, &state.total);
    state.per_second = rate_of(exchange, state.done, now);
    if (exchange->expected_ns != PROGRESS_UNKNOWN) {
        state.remaining_ns =
            exchange->expected_ns > state.elapsed_ns ? exchange->expected_ns - state.elapsed_ns : 0;
    } else if (state.total != PROGRESS_UNKNOWN && state.done > 0 && state.total >= state.done) {
        state.remaining_ns = (uint64_t)((double)state.elapsed_ns *
                                        (double)(state.total - state.done) / (double)state.done);
    }
    if (state.remaining_ns != PROGRESS_UNKNOWN && exchange->after_ns != PROGRESS_UNKNOWN) {
        state.left_ns = state.remaining_ns + exchange->after_ns;
    }
    exchange->progress->update(exchange->progress->context, &state);
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* Takes one line: 0 and *taken when it is the one awaited. */
static int take(struct exchange *exchange, size_t worker, const char *kind, const json_t *line,
                bool *taken, struct error *error)
{
    const char *got;
    int status = json_get_string(line, "kind", "a line of the worker", &got, error);
    if (status != 0) {
        return status;
    }
    if (strcmp(got, kind) == 0) {
        *taken = true;
        return 0;
    }
    if (strcmp(got, "progress") == 0) {
        pass_progress(exchange, &exchange->workers[worker], line);
        return 0;
    }
    if (strcmp(got, "error") == 0) {
        exchange->error_said = true;
        run_read_error(exchange->plan_case, line, exchange->loading, &exchange->script_at_fault,
                       error);
        /* What it was is in the error: a mistake in a script is no failure of the engine. */
        return error != NULL ? (int)error->code : ERROR_ENGINE;
    }
    return error_set(error, ERROR_PROTOCOL, "the worker of %s said \"%s\" where %s was due",
                     exchange->engine, got, kind);
}

/* Of the workers whose line is still to come. */
static int check_life(struct exchange *exchange, const char *kind, json_t *const *lines,
                      uint64_t now, struct error *error)
{
    if (exchange->until_repeated && interrupt_repeated()) {
        return error_set(error, ERROR_INTERRUPTED, "ended by a second signal");
    }
    for (size_t i = 0; i < exchange->count; i++) {
        const struct exchange_worker *worker = &exchange->workers[i];
        if (lines[i] != NULL) {
            continue;
        }
        exchange->at_fault = i;
        if (now >= exchange->deadline_ns) {
            return error_set(error, ERROR_TIMEOUT,
                             "the worker of %s gave no %s in time and was ended", exchange->engine,
                             kind);
        }
        if (exchange->headway_ns != UINT64_MAX && now > worker->done_at_ns &&
            now - worker->done_at_ns >= exchange->headway_ns) {
            return error_set(
                error, ERROR_TIMEOUT,
                "the worker of %s made no headway for %.4g s while its %s was awaited (its counter "
                "stood at %" PRIu64 ") and was ended",
                exchange->engine, (double)exchange->headway_ns / 1e9, kind, worker->done);
        }
    }
    return 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When to look again, though nothing has come. */
static uint64_t look_at_ns(const struct exchange *exchange, json_t *const *lines)
{
    uint64_t until = exchange->deadline_ns;
    for (size_t i = 0; i < exchange->count && exchange->headway_ns != UINT64_MAX; i++) {
        if (lines[i] == NULL) {
            until = earlier(until, exchange->workers[i].done_at_ns + exchange->headway_ns);
        }
    }
    if (exchange->tick != NULL) {
        until = earlier(until, exchange->tick_at_ns);
    }
    return exchange->until_repeated ? earlier(until, clock_now_ns() + LOOK_FOR_SIGNAL_NS) : until;
}

static void tick(struct exchange *exchange, uint64_t now)
{
    if (exchange->tick == NULL || now < exchange->tick_at_ns) {
        return;
    }
    exchange->tick(exchange->tick_context, now);
    exchange->tick_at_ns += exchange->tick_every_ns;
    if (exchange->tick_at_ns < now) {
        exchange->tick_at_ns = now + exchange->tick_every_ns;
    }
}

/* `waited` (one a worker): those whose line is still to come, NULL: none is. */
static int await_one(struct exchange *exchange, const char *kind, struct worker_process **waited,
                     json_t **lines, struct error *error)
{
    json_t *got;
    int status = workers_read(waited, exchange->count, look_at_ns(exchange, lines),
                              !exchange->uninterruptible, &exchange->at_fault, &got, error);
    if (status != 0) {
        return status;
    }
    tick(exchange, clock_now_ns());
    if (got != NULL) {
        size_t from = exchange->at_fault;
        bool taken = false;
        status = take(exchange, from, kind, got, &taken, error);
        if (status == 0 && taken) {
            lines[from] = got;
            waited[from] = NULL;
            return 0;
        }
        json_decref(got);
    }
    return status == 0 ? check_life(exchange, kind, lines, clock_now_ns(), error) : status;
}

int exchange_await(struct exchange *exchange, const char *kind, json_t **lines, struct error *error)
{
    struct worker_process **waited = calloc(exchange->count, sizeof *waited);
    size_t left = 0;
    int status = waited != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; status == 0 && i < exchange->count; i++) {
        struct exchange_worker *worker = &exchange->workers[i];
        worker->done_at_ns = clock_now_ns();
        worker->done = 0;
        worker->total = PROGRESS_UNKNOWN;
        waited[i] = lines[i] == NULL ? worker->process : NULL;
        left += lines[i] == NULL;
    }
    exchange->told_ns = 0;
    exchange->at_fault = exchange->count - 1;
    while (left > 0 && status == 0) {
        status = await_one(exchange, kind, waited, lines, error);
        left = 0;
        for (size_t i = 0; i < exchange->count; i++) {
            left += waited[i] != NULL;
        }
    }
    if (status != 0 && status != ERROR_INTERRUPTED && status != ERROR_MEMORY) {
        say_which(exchange, exchange->at_fault, error);
    }
    free(waited);
    return status;
}
