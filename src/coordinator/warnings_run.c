/* Whether the runs of an engine hold together. */
#include "coordinator/warnings.h"

#include "base/buffer.h"
#include "coordinator/trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sum of latencies may exceed connections × window by this: clock resolution. */
#define WINDOW_TOLERANCE 1.001
/* Between two executions parameters are drawn, which takes time that no latency holds. */
#define WINDOW_LEAST 0.9
/* A connection that lost its core between two executions was idle for no fault of the window: so
 * much of the time that it waited for one is let pass. */
#define WINDOW_CORE_NS (100 * UINT64_C(1000000))
/* Shorter executions spend too much of the window between each other. */
#define LONG_EXECUTION_NS 10e3
/* One connection served this many times more than another; fewer executions are chance. */
#define UNEVEN_TIMES 10
#define UNEVEN_EXECUTIONS_MIN 20

bool warnings_run_counts(const struct result_run *run, size_t of)
{
    return run->case_index == of && run->status != NULL && strcmp(run->status, "ok") == 0;
}

int warnings_tell(struct result *result, const char *subject, size_t of, const char *format, ...)
{
    struct buffer text;
    va_list arguments;
    buffer_init(&text);
    if (result->cases.count > 1) {
        buffer_printf(&text, "%s: ", result->cases.items[of].label);
    }
    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    int status = text.failed ? ERROR_MEMORY : result_warn(result, subject, "%s", text.data);
    buffer_release(&text);
    return status;
}

/* "partial" and "failed" say more. */
static int mark_differing(char **status, char **reason, const char *warning)
{
    if (*status == NULL || strcmp(*status, "ok") != 0) {
        return 0;
    }
    free(*status);
    *status = strdup("differs");
    if (*reason == NULL && warning != NULL) {
        *reason = strdup(warning);
        return *status != NULL && *reason != NULL ? 0 : ERROR_MEMORY;
    }
    return *status != NULL ? 0 : ERROR_MEMORY;
}

int warnings_differs(const struct result *result, struct result_engine *engine, size_t of)
{
    size_t count = result->warnings.count;
    const char *warning = count > 0 ? result->warnings.items[count - 1].text : NULL;
    int status = mark_differing(&engine->status, &engine->error, warning);
    for (size_t i = 0; i < engine->summaries.count && status == 0; i++) {
        struct result_summary *summary = &engine->summaries.items[i];
        if (of == SIZE_MAX || of == i) {
            status = mark_differing(&summary->status, &summary->error, warning);
        }
    }
    return status;
}

/* ---- Little's law --------------------------------------------------------------------- */

struct account {
    double time_ns;  /* sum of latencies, of all attempts */
    double most_ns;  /* connections × window */
    double least_ns; /* connections × duration, each from its first operation on */
    uint64_t attempted;
    bool clean; /* nothing but ok ones, or still open at the end */
};

static struct account account_of(const struct result_run *run, uint64_t duration_ns)
{
    struct account account = {.clean = true};
    for (size_t i = 0; i < run->scripts.count; i++) {
        const struct result_script *script = &run->scripts.items[i];
        account.time_ns += script->time_ns != RESULT_ABSENT ? (double)script->time_ns : 0;
        account.attempted += script->attempted;
        account.clean = account.clean && script->attempted == script->ok + script->open;
    }
    account.most_ns = (double)run->window_ns * (double)run->connections.count;
    uint64_t length = duration_ns < run->window_ns ? duration_ns : run->window_ns;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        uint64_t late = connection->late_ns; /* absent: later than any length */
        uint64_t waited = connection->run_queue_ns == RESULT_ABSENT ? 0 : connection->run_queue_ns;
        waited = waited < WINDOW_CORE_NS ? waited : WINDOW_CORE_NS;
        if (late < length && waited < length - late) {
            account.least_ns += (double)(length - late - waited);
        }
    }
    return account;
}

int warn_window(struct result *result, struct result_engine *engine, size_t of)
{
    const struct result_case *measured = &result->cases.items[of];
    /* In an open loop connections wait for work. */
    uint64_t duration_ns = isfinite(measured->rate) ? RESULT_ABSENT : measured->duration_ns;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (!warnings_run_counts(run, of) || run->window_ns == RESULT_ABSENT) {
            continue;
        }
        struct account account = account_of(run, duration_ns);
        bool too_much = account.time_ns > account.most_ns * WINDOW_TOLERANCE;
        bool too_little = duration_ns != RESULT_ABSENT && account.clean &&
                          account.time_ns > LONG_EXECUTION_NS * (double)account.attempted &&
                          account.time_ns < account.least_ns * WINDOW_LEAST;
        if (!too_much && !too_little) {
            continue;
        }
        if (too_little) {
            /* A slow language may need as long to draw parameters as the engine to answer. */
            return warnings_tell(result, engine->name, of,
                                 "round %" PRIu64
                                 ": latencies add up to %.3f times connections × window, at least "
                                 "0.9 was expected of executions as long as these: the window is "
                                 "wrong, or its worker loses time between executions",
                                 run->round, account.time_ns / account.least_ns);
        }
        int status = warnings_tell(result, engine->name, of,
                                   "round %" PRIu64
                                   ": latencies add up to %.3f times connections × window, which "
                                   "must be at most 1; the window is wrong and so are its rates",
                                   run->round, account.time_ns / account.most_ns);
        return status == 0 ? warnings_differs(result, engine, of) : status;
    }
    return 0;
}

/* ---- connections ---------------------------------------------------------------------- */

static int warn_idle(struct result *result, const struct result_engine *engine,
                     const struct result_run *run, bool *told)
{
    const struct result_connection *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (connection->operations == 0 && connection->offered != 0) {
            first = first != NULL ? first : connection;
            count++;
        }
    }
    if (first == NULL) {
        return 0;
    }
    *told = true;
    return warnings_tell(result, engine->name, (size_t)run->case_index,
                         "round %" PRIu64
                         ": %zu of %zu connections ended no execution well (connection %" PRIu64
                         " %s): the load was another one than was asked for",
                         run->round, count, run->connections.count, first->connection,
                         first->late_ns == RESULT_ABSENT ? "never began one" : "for one");
}

/* The busiest connection and the least busy one that did anything, of the role of `like`. */
static int warn_uneven(struct result *result, const struct result_engine *engine,
                       const struct result_run *run, const struct result_connection *like,
                       bool *told)
{
    const struct result_connection *most = like;
    const struct result_connection *least = like;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (strcmp(connection->role, like->role) != 0 || connection->operations == 0) {
            continue;
        }
        most = connection->operations > most->operations ? connection : most;
        least = connection->operations < least->operations ? connection : least;
    }
    if (most->operations < UNEVEN_EXECUTIONS_MIN ||
        most->operations / UNEVEN_TIMES < least->operations) {
        return 0;
    }
    *told = true;
    return warnings_tell(result, engine->name, (size_t)run->case_index,
                         "round %" PRIu64 ": connection %" PRIu64 " served %" PRIu64
                         " executions, connection %" PRIu64 " only %" PRIu64
                         ": the figures are those of a few connections",
                         run->round, most->connection, most->operations, least->connection,
                         least->operations);
}

int warn_connections(struct result *result, const struct result_engine *engine, size_t of)
{
    bool idle = false;
    bool uneven = false;
    int status = 0;
    for (size_t i = 0; i < engine->runs.count && status == 0; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (!warnings_run_counts(run, of)) {
            continue;
        }
        if (!idle) {
            status = warn_idle(result, engine, run, &idle);
        }
        for (size_t k = 0; k < run->connections.count && status == 0 && !uneven; k++) {
            const struct result_connection *connection = &run->connections.items[k];
            bool first_of_role =
                k == 0 || strcmp(connection->role, run->connections.items[k - 1].role) != 0;
            if (first_of_role) {
                status = warn_uneven(result, engine, run, connection, &uneven);
            }
        }
    }
    return status;
}

int warn_trend(struct result *result, const struct result_engine *engine, size_t of)
{
    struct trend trend = trend_of(engine, of);
    /* In an open loop it is given how many there are. */
    if (!trend.found || isfinite(result->cases.items[of].rate)) {
        return 0;
    }
    double share = trend.first / trend.rest - 1;
    return warnings_tell(result, engine->name, of,
                         "a trend: the first third of its runs did %.0f %% %s operations a second "
                         "than the rest (the seconds vary by %.1f %%); a longer --warmup or "
                         "--duration tells whether it settles",
                         fabs(share) * 100, share < 0 ? "fewer" : "more",
                         trend.limit / trend.rest * 100);
}

/* ---- the check after a run ------------------------------------------------------------ */

static int warn_problem(struct result *result, struct result_engine *engine, size_t of)
{
    const struct result_run *first = NULL;
    size_t more = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (run->case_index == of && run->check.problem != NULL) {
            more += first != NULL ? 1 : 0;
            first = first != NULL ? first : run;
        }
    }
    if (first == NULL) {
        return 0;
    }
    char others[64] = "";
    if (more > 0) {
        snprintf(others, sizeof others, " (and in %zu other round%s)", more, more > 1 ? "s" : "");
    }
    int status = warnings_tell(result, engine->name, of, "after round %" PRIu64 "%s: %s",
                               first->round, others, first->check.problem);
    return status == 0 ? warnings_differs(result, engine, of) : status;
}

static bool same_reason(const struct result_check *check)
{
    for (size_t i = 0; i < check->counts.count; i++) {
        const char *why = check->counts.items[i].unchecked;
        if (why == NULL || strcmp(why, check->counts.items[0].unchecked) != 0) {
            return false;
        }
    }
    return check->counts.count > 1;
}

/* The tables are the same for all engines: no engine is named, and each is told once. */
static int warn_unchecked(struct result *result, const struct result_check *check)
{
    if (check->counts.count > 0 && check->counts.items[0].unchecked != NULL && same_reason(check)) {
        return result_warn(result, NULL, "rows are not counted after a run: %s",
                           check->counts.items[0].unchecked);
    }
    int status = 0;
    for (size_t i = 0; i < check->counts.count && status == 0; i++) {
        const struct result_table_count *count = &check->counts.items[i];
        if (count->unchecked != NULL) {
            status = result_warn(result, NULL, "rows of %s are not counted after a run: %s",
                                 count->table, count->unchecked);
        }
    }
    return status;
}

int warn_check(struct result *result, struct result_engine *engine, size_t of)
{
    int status = warn_problem(result, engine, of);
    for (size_t i = 0; i < engine->runs.count && status == 0; i++) {
        if (engine->runs.items[i].case_index == of) {
            status = warn_unchecked(result, &engine->runs.items[i].check);
        }
    }
    return status;
}
