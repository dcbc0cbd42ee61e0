#include "report/csv_rows.h"
#include "report/parts.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both structs name their outcomes alike. */
#define PUT_OUTCOMES(subject, summary)                                                             \
    do {                                                                                           \
        csv_total((subject), "attempted", (summary)->attempted);                                   \
        csv_total((subject), "ok", (summary)->ok);                                                 \
        csv_total((subject), "busy", (summary)->busy);                                             \
        csv_total((subject), "conflict", (summary)->conflict);                                     \
        csv_total((subject), "failed", (summary)->failed);                                         \
        csv_total((subject), "skipped", (summary)->skipped);                                       \
        csv_total((subject), "open", (summary)->open);                                             \
        csv_total((subject), "retries", (summary)->retries);                                       \
    } while (0)

/* How it went, in a word, and why if not well. */
static void put_status(const struct csv_subject *subject, const char *metric, const char *status,
                       const char *error)
{
    char *text = error != NULL && status != NULL ? result_text("%s: %s", status, error) : NULL;
    subject->out->failed = subject->out->failed || (error != NULL && status != NULL && !text);
    csv_note(subject, metric, "text", (double)NAN, text != NULL ? text : status);
    free(text);
}

/* What was found in the copies after the runs of a case; nothing where nothing was checked. */
static void put_check(const struct csv_subject *subject, size_t of)
{
    const char *problem = NULL;
    bool checked = false;
    for (size_t i = 0; i < subject->engine->runs.count && problem == NULL; i++) {
        const struct result_run *run = &subject->engine->runs.items[i];
        if (run->case_index == of) {
            checked = checked || run->check.kind != NULL;
            problem = run->check.problem;
        }
    }
    if (checked || problem != NULL) {
        csv_note(subject, "data_as_acknowledged", "0 or 1", problem == NULL ? 1 : 0, problem);
    }
}

static void put_engine(const struct csv_subject *subject, size_t of)
{
    const struct result_summary *summary = &subject->engine->summaries.items[of];
    put_status(subject, "status", summary->status, summary->error);
    put_check(subject, of);
    csv_total(subject, "rounds_ok", report_rounds_with(subject->engine, of, "ok"));
    csv_total(subject, "rounds_partial", report_rounds_with(subject->engine, of, "partial"));
    csv_total(subject, "rounds_failed", report_rounds_with(subject->engine, of, "failed"));
    csv_figure(subject, "reads_per_second", "1/s", &summary->reads_per_second);
    csv_figure(subject, "writes_per_second", "1/s", &summary->writes_per_second);
    csv_figure(subject, "operations_per_second", "1/s", &summary->operations_per_second);
    csv_figure(subject, "cpu_per_operation", "ns", &summary->cpu_per_operation_ns);
    csv_figure(subject, "peak_memory", "bytes", &summary->peak_memory_bytes);
    csv_figure(subject, "written", "bytes", &summary->write_bytes);
    csv_figure(subject, "largest_wal", "bytes", &summary->largest_wal_bytes);
    csv_figure(subject, "final_size", "bytes", &summary->final_bytes);
    csv_figure(subject, "off_cpu", "ns", &summary->off_cpu_ns);
    csv_figure(subject, "slept", "ns", &summary->slept_ns);
    csv_figure(subject, "run_queue", "ns", &summary->run_queue_ns);
    csv_figure(subject, "run_queue_share", "1", &summary->run_queue_share);
    csv_figure(subject, "cpu_others", "1", &summary->cpu_others);
    csv_figure(subject, "steal", "1", &summary->steal);
    csv_figure(subject, "close", "ns", &summary->close_ns);
    PUT_OUTCOMES(subject, summary);
    if (summary->offered != RESULT_ABSENT) {
        csv_total(subject, "offered", summary->offered);
        csv_total(subject, "unstarted", summary->unstarted);
        csv_figure(subject, "begun_share", "1", &summary->begun_share);
    }
}

/* Metrics of one kind of time, "service" or "lag". */
static void put_times(const struct csv_subject *subject, const char *kind,
                      const struct result_times *times)
{
    static const char *const labels[RESULT_POINT_COUNT] = {
#define X(id, label, numerator, denominator) label,
        RESULT_POINTS(X)
#undef X
    };
    const struct {
        const char *name;
        const struct result_figure *figure;
    } others[] = {{"mean", &times->mean_ns}, {"min", &times->min_ns}, {"max", &times->max_ns}};
    char metric[40];
    if (times->histogram.histogram == NULL) {
        return; /* there are none in a closed loop */
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(metric, sizeof(metric), "%s_%s", kind, others[i].name);
        csv_figure(subject, metric, "ns", others[i].figure);
    }
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        snprintf(metric, sizeof(metric), "%s_%s", kind, labels[i]);
        csv_figure(subject, metric, "ns", &times->points_ns[i]);
    }
}

static void put_script(const struct csv_subject *subject,
                       const struct result_script_summary *script)
{
    static const struct {
        const char *latency, *thin;
    } points[RESULT_POINT_COUNT] = {
#define X(id, label, numerator, denominator) {"latency_" label, "latency_" label "_thin"},
        RESULT_POINTS(X)
#undef X
    };
    csv_figure(subject, "operations_per_second", "1/s", &script->operations_per_second);
    csv_figure(subject, "latency_mean", "ns", &script->mean_ns);
    csv_figure(subject, "latency_min", "ns", &script->min_ns);
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        csv_figure(subject, points[i].latency, "ns", &script->points_ns[i]);
        csv_count(subject, points[i].thin, "0 or 1", script->point_thin[i] ? 1 : 0);
    }
    csv_figure(subject, "latency_max", "ns", &script->max_ns);
    put_times(subject, "service", &script->service);
    put_times(subject, "lag", &script->lag);
    csv_figure(subject, "time_share", "1", &script->time_share);
    csv_figure(subject, "rows_read_per_operation", "rows", &script->rows_read_each);
    csv_figure(subject, "rows_changed_per_operation", "rows", &script->rows_changed_each);
    csv_figure(subject, "slow", "count", &script->slow);
    PUT_OUTCOMES(subject, script);
}

static void put_role(const struct csv_subject *subject, const struct result_role_summary *role)
{
    csv_total(subject, "connections", role->connections);
    csv_figure(subject, "operations_per_second", "1/s", &role->operations_per_second);
    csv_figure(subject, "scaling", "1", &role->scaling);
    csv_figure(subject, "least_served_per_second", "1/s", &role->least_served_per_second);
    csv_figure(subject, "most_served_per_second", "1/s", &role->most_served_per_second);
    csv_figure(subject, "fairness", "1", &role->fairness);
    csv_figure(subject, "cpu_per_operation", "ns", &role->cpu_per_operation_ns);
    csv_figure(subject, "off_cpu", "ns", &role->off_cpu_ns);
    csv_figure(subject, "slept", "ns", &role->slept_ns);
    csv_figure(subject, "run_queue", "ns", &role->run_queue_ns);
    PUT_OUTCOMES(subject, role);
}

/* 1, 0, or nothing where there was nothing to compare with. */
static uint64_t equality(const char *status)
{
    return status == NULL                   ? RESULT_ABSENT
           : strcmp(status, "equal") == 0   ? 1
           : strcmp(status, "differs") == 0 ? 0
                                            : RESULT_ABSENT;
}

/* The first case that is measured on a database; NULL: none is. */
static const char *label_of(const struct result *result,
                            const struct result_verify_database *database)
{
    for (size_t i = 0; i < result->cases.count; i++) {
        const struct result_case *of = &result->cases.items[i];
        for (size_t k = 0; k < database->scenarios.count; k++) {
            if (strcmp(of->suite, database->suite) == 0 &&
                strcmp(of->scenario, database->scenarios.items[k]) == 0) {
                return of->label;
            }
        }
    }
    return NULL;
}

/* Scripts and tables of a suite; their `role` is the suite. */
static void put_answers(struct buffer *out, const struct result *result,
                        const struct result_engine *engine,
                        const struct result_verify_database *database)
{
    const char *label = label_of(result, database);
    for (size_t i = 0; i < database->scripts.count; i++) {
        const struct result_verify_script *script = &database->scripts.items[i];
        const struct csv_subject subject = {out, engine, label, database->suite, script->script};
        csv_count(&subject, "answers_equal", "0 or 1", equality(script->status));
        csv_total(&subject, "answers_differing", script->differing);
        csv_count(&subject, "answers_first_difference", "operation",
                  script->differences.count > 0 ? script->differences.items[0].operation
                                                : RESULT_ABSENT);
        csv_total(&subject, "answers_ok", script->ok);
        csv_total(&subject, "answers_busy", script->busy);
        csv_total(&subject, "answers_conflict", script->conflict);
        csv_total(&subject, "answers_failed", script->failed);
        csv_count(&subject, "answers_rows_read", "rows", script->rows_read);
        csv_count(&subject, "answers_rows_changed", "rows", script->rows_changed);
    }
    for (size_t i = 0; i < database->tables.count; i++) {
        const struct result_verify_table *table = &database->tables.items[i];
        const struct csv_subject subject = {out, engine, label, database->suite, table->table};
        csv_count(&subject, "table_equal", "0 or 1", equality(table->status));
        csv_count(&subject, "table_rows", "rows", table->rows);
    }
}

static uint64_t differing_settings(const struct result_verify *verify, bool required)
{
    uint64_t count = 0;
    for (size_t i = 0; i < verify->connections.count; i++) {
        const result_settings *settings = &verify->connections.items[i].settings;
        for (size_t k = 0; k < settings->count; k++) {
            count += settings->items[k].required == required && !settings->items[k].agrees;
        }
    }
    return count;
}

/* Nothing for an engine that was not verified. */
static void put_verify(struct buffer *out, const struct result *result,
                       const struct result_engine *engine)
{
    const struct result_verify *verify = &engine->verify;
    const struct csv_subject subject = {out, engine, NULL, NULL, NULL};
    if (verify->connections.count > 0) {
        csv_total(&subject, "settings_required_differing", differing_settings(verify, true));
        csv_total(&subject, "settings_informative_differing", differing_settings(verify, false));
        csv_count(&subject, "journal_file", "bytes", verify->journal_bytes);
        csv_count(&subject, "shm_file", "bytes", verify->shm_bytes);
    }
    for (size_t i = 0; i < verify->databases.count; i++) {
        put_answers(out, result, engine, &verify->databases.items[i]);
    }
}

/* Rows whose `role` is event_loop, of the first case, which it runs; what is in flight at once is
 * their `script`. */
static void put_event_loop(struct buffer *out, const struct result *result,
                           const struct result_engine *engine)
{
    const struct result_event_loop *loop = &engine->event_loop;
    const char *label = result->cases.count > 0 ? result->cases.items[0].label : NULL;
    const struct csv_subject subject = {out, engine, label, "event_loop", NULL};
    if (loop->status == NULL) {
        return; /* not asked for */
    }
    put_status(&subject, "status", loop->status, loop->error);
    if (strcmp(loop->status, "ok") != 0) {
        return;
    }
    csv_one(&subject, "closed_executions_per_second", "1/s", loop->closed.executions_per_second);
    csv_one(&subject, "paced_executions_per_second", "1/s", loop->paced.executions_per_second);
    csv_total(&subject, "paced_attempted", loop->paced.attempted);
    csv_total(&subject, "paced_ok", loop->paced.ok);
    csv_one(&subject, "timer_lateness_p50", "ns", loop->lateness.p50_ns);
    csv_one(&subject, "timer_lateness_p99", "ns", loop->lateness.p99_ns);
    csv_one(&subject, "timer_lateness_max", "ns", loop->lateness.max_ns);
    csv_one(&subject, "bare_timer_lateness_p50", "ns", loop->bare_lateness.p50_ns);
    csv_one(&subject, "bare_timer_lateness_p99", "ns", loop->bare_lateness.p99_ns);
    csv_one(&subject, "bare_timer_lateness_max", "ns", loop->bare_lateness.max_ns);
    for (size_t i = 0; i < loop->in_flight.count; i++) {
        const struct result_loop_part *part = &loop->in_flight.items[i];
        char depth[32];
        snprintf(depth, sizeof(depth), "%" PRIu64, part->in_flight);
        const struct csv_subject one = {out, engine, label, "event_loop", depth};
        csv_one(&one, "executions_per_second", "1/s", part->executions_per_second);
        csv_one(&one, "latency_p50", "ns", part->tail.p50_ns);
        csv_one(&one, "latency_p99", "ns", part->tail.p99_ns);
        csv_one(&one, "latency_max", "ns", part->tail.max_ns);
        csv_total(&one, "attempted", part->attempted);
        csv_total(&one, "ok", part->ok);
    }
}

/* ---- libpitot beside the plain way -------------------------------------------------- */

static void put_numbers_side(const struct csv_subject *subject, const char *unit,
                             const struct result_numbers_side *side)
{
    csv_one(subject, "median", unit, side->median);
    csv_one(subject, "p99", unit, side->p99);
    csv_total(subject, "p99_thin", side->p99_thin ? 1 : 0);
    csv_one(subject, "slowest", unit, side->slowest);
    csv_total(subject, "samples", side->count);
    csv_count(subject, "due", "count", side->due);
    csv_count(subject, "missed", "count", side->missed);
    csv_count(subject, "busy", "count", side->busy);
    csv_count(subject, "passes", "count", side->passes);
}

static void put_numbers(struct buffer *out, const struct result_numbers *numbers)
{
    const struct result_engine library = {.name = numbers->name, .version = numbers->version};
    const struct csv_subject all = {out, &library, NULL, NULL, NULL};
    put_status(&all, "status", numbers->status, numbers->error);
    csv_count(&all, "pass_rows", "rows", numbers->rows);
    csv_count(&all, "pass_values", "bytes", numbers->own_bytes);
    csv_count(&all, "pass_staged", "bytes", numbers->staged_bytes);
    csv_count(&all, "merge_kept", "bytes", numbers->kept_bytes);
    csv_count(&all, "merge_kept_rows", "rows", numbers->kept_rows);
    csv_one(&all, "read_busy_to_idle_p50", "1", numbers->busy_p50);
    csv_one(&all, "read_busy_to_idle_p99", "1", numbers->busy_p99);
    for (size_t i = 0; i < numbers->lines.count; i++) {
        const struct result_numbers_line *line = &numbers->lines.items[i];
        const struct csv_subject pitot = {out, &library, line->group, "libpitot", line->name};
        const struct csv_subject plain = {out, &library, line->group, "plain", line->name};
        put_numbers_side(&pitot, line->unit, &line->pitot);
        csv_one(&pitot, "ratio", "1", line->ratio);
        csv_count(&pitot, "ratio_rounds", "count", line->rounds);
        if (line->note != NULL) {
            csv_note(&pitot, "note", "text", (double)NAN, line->note);
        }
        put_numbers_side(&plain, line->unit, &line->plain);
    }
}

/* What must be known to read the numbers. The subject of a warning, an engine's name or a script's,
 * is its engine. */
static void put_warnings(struct buffer *out, const struct result *result)
{
    const struct csv_subject all = {.out = out};
    if (result->partial) {
        csv_note(&all, "warning", "text", (double)NAN, "ended early");
    }
    if (result->build != NULL && strcmp(result->build, "release") != 0) {
        csv_note(&all, "warning", "text", (double)NAN,
                 "not a release build: these numbers mean nothing");
    }
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct csv_subject engine = {.out = out, .engine = &result->engines.items[i]};
        for (size_t k = 0; k < engine.engine->known_faults.count; k++) {
            csv_note(&engine, "known_fault", "text", (double)NAN,
                     engine.engine->known_faults.items[k]);
        }
    }
    for (size_t i = 0; i < result->warnings.count; i++) {
        const struct result_warning *warning = &result->warnings.items[i];
        const struct result_engine named = {.name = warning->subject};
        csv_note(&(struct csv_subject){.out = out, .engine = &named}, "warning", "text",
                 (double)NAN, warning->text);
    }
}

void report_csv(const struct result *result, struct buffer *out)
{
    buffer_puts(out, CSV_HEADER);
    put_warnings(out, result);
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        put_verify(out, result, engine);
        for (size_t of = 0; of < engine->summaries.count; of++) {
            const char *label = result->cases.items[of].label;
            const struct result_summary *summary = &engine->summaries.items[of];
            put_engine(&(struct csv_subject){out, engine, label, NULL, NULL}, of);
            for (size_t j = 0; j < summary->roles.count; j++) {
                const struct result_role_summary *role = &summary->roles.items[j];
                put_role(&(struct csv_subject){out, engine, label, role->role, NULL}, role);
            }
            for (size_t j = 0; j < summary->scripts.count; j++) {
                const struct result_script_summary *script = &summary->scripts.items[j];
                put_script(&(struct csv_subject){out, engine, label, script->role, script->script},
                           script);
            }
        }
        put_event_loop(out, result, engine);
    }
    csv_comparison(out, result);
    for (size_t i = 0; i < result->numbers.count; i++) {
        put_numbers(out, &result->numbers.items[i]);
    }
}
