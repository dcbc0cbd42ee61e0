#include "coordinator/exchange.h"

#include "base/json.h"
#include "coordinator/interrupt.h"
#include "coordinator/measurement.h"
#include "coordinator/run_result.h"
#include "core/clock.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A handler cannot wake the wait for a worker a second time: it is asked so often. */
#define LOOK_FOR_SIGNAL_NS (100 * NS_PER_MS)

static void pass_progress(struct exchange *exchange, const json_t *line)
{
    uint64_t now = clock_now_ns();
    uint64_t done = 0;
    struct progress_state state = {
        .step = exchange->step,
        .total = PROGRESS_UNKNOWN,
        .per_second = NAN,
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
    json_get_u64_or(line, "done", "progress", 0, &done, NULL);
    json_get_u64_or(line, "total", "progress", PROGRESS_UNKNOWN, &state.total, NULL);
    state.done = done;
    if (exchange->last_line_ns != 0 && now > exchange->last_line_ns &&
        done >= exchange->last_line_done) {
        state.per_second = (double)(done - exchange->last_line_done) * 1e9 /
                           (double)(now - exchange->last_line_ns);
    }
    exchange->last_line_ns = now;
    exchange->last_line_done = done;
    if (done != exchange->last_done) {
        exchange->last_done = done;
        exchange->last_done_ns = now;
    }
    if (exchange->expected_ns != PROGRESS_UNKNOWN) {
        state.remaining_ns =
            exchange->expected_ns > state.elapsed_ns ? exchange->expected_ns - state.elapsed_ns : 0;
    } else if (state.total != PROGRESS_UNKNOWN && done > 0 && state.total >= done) {
        state.remaining_ns =
            (uint64_t)((double)state.elapsed_ns * (double)(state.total - done) / (double)done);
    }
    if (state.remaining_ns != PROGRESS_UNKNOWN && exchange->after_ns != PROGRESS_UNKNOWN) {
        state.left_ns = state.remaining_ns + exchange->after_ns;
    }
    exchange->progress->update(exchange->progress->context, &state);
}

/* Takes one line: 0 and *taken when it is the one awaited. */
static int take(struct exchange *exchange, const char *kind, const json_t *line, bool *taken,
                struct error *error)
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
        pass_progress(exchange, line);
        return 0;
    }
    if (strcmp(got, "error") == 0) {
        run_read_error(exchange->plan_case, line, exchange->loading, &exchange->script_at_fault,
                       error);
        /* What it was is in the error: a mistake in a script is no failure of the engine. */
        return error != NULL ? (int)error->code : ERROR_ENGINE;
    }
    return error_set(error, ERROR_PROTOCOL, "the worker of %s said \"%s\" where %s was due",
                     exchange->engine, got, kind);
}

static int check_life(const struct exchange *exchange, const char *kind, uint64_t now,
                      struct error *error)
{
    if (exchange->until_repeated && interrupt_repeated()) {
        return error_set(error, ERROR_INTERRUPTED, "ended by a second signal");
    }
    if (now >= exchange->deadline_ns) {
        return error_set(error, ERROR_TIMEOUT, "the worker of %s gave no %s in time and was ended",
                         exchange->engine, kind);
    }
    if (exchange->headway_ns != UINT64_MAX &&
        now - exchange->last_done_ns >= exchange->headway_ns) {
        return error_set(
            error, ERROR_TIMEOUT,
            "the worker of %s made no headway for %.4g s while its %s was awaited (its counter "
            "stood at %" PRIu64 ") and was ended",
            exchange->engine, (double)exchange->headway_ns / 1e9, kind, exchange->last_done);
    }
    return 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int exchange_await(struct exchange *exchange, const char *kind, json_t **line, struct error *error)
{
    *line = NULL;
    exchange->last_done_ns = clock_now_ns();
    exchange->last_done = 0;
    for (;;) {
        uint64_t until = exchange->deadline_ns;
        if (exchange->headway_ns != UINT64_MAX) {
            until = earlier(until, exchange->last_done_ns + exchange->headway_ns);
        }
        if (exchange->tick != NULL) {
            until = earlier(until, exchange->tick_at_ns);
        }
        if (exchange->until_repeated) {
            until = earlier(until, clock_now_ns() + LOOK_FOR_SIGNAL_NS);
        }
        json_t *got;
        int status = worker_read(exchange->worker, until, !exchange->uninterruptible, &got, error);
        uint64_t now = clock_now_ns();
        if (status == 0 && exchange->tick != NULL && now >= exchange->tick_at_ns) {
            exchange->tick(exchange->tick_context, now);
            exchange->tick_at_ns += exchange->tick_every_ns;
            if (exchange->tick_at_ns < now) {
                exchange->tick_at_ns = now + exchange->tick_every_ns;
            }
        }
        if (status == 0 && got != NULL) {
            bool taken = false;
            status = take(exchange, kind, got, &taken, error);
            if (status == 0 && taken) {
                *line = got;
                return 0;
            }
            json_decref(got);
        }
        if (status == 0) {
            status = check_life(exchange, kind, clock_now_ns(), error);
        }
        if (status != 0) {
            return status;
        }
    }
}
