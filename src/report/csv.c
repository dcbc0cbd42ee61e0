#include "base/text.h"
#include "report/parts.h"
#include "report/report.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field by RFC 4180: quoted when it holds a separator, a quote, a line end, or blanks at its
 * ends. Bytes that are not UTF-8 are escaped as in the JSON. */
static void put_text(struct buffer *out, const char *text)
{
    struct buffer escaped;
    buffer_init(&escaped);
    if (text != NULL) {
        text_escape(&escaped, text, strlen(text));
    }
    size_t length = escaped.length;
    if (length > 0 && (strpbrk(escaped.data, ",\"\r\n") != NULL || escaped.data[0] == ' ' ||
                       escaped.data[length - 1] == ' ')) {
        buffer_putc(out, '"');
        for (size_t i = 0; i < length; i++) {
            if (escaped.data[i] == '"') {
                buffer_putc(out, '"');
            }
            buffer_putc(out, escaped.data[i]);
        }
        buffer_putc(out, '"');
    } else {
        buffer_append(out, escaped.data, length);
    }
    out->failed = out->failed || escaped.failed;
    buffer_release(&escaped);
}

/* The shortest of 15 to 17 digits that reads back as the same double; nothing when absent. */
static void put_number(struct buffer *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    /* printf writes the decimal point of the locale; files have one form. */
    const char *point = localeconv()->decimal_point;
    char *found = strstr(text, point);
    if (found != NULL && strcmp(point, ".") != 0) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    buffer_puts(out, text);
}

/* What the rows of one script, or of the whole engine, begin with. */
struct subject {
    struct buffer *out;
    const struct result_engine *engine;
    const char *label;         /* of the case; NULL: of none */
    const char *role, *script; /* NULL for the engine */
};

static void start_row(const struct subject *subject, const char *metric, const char *unit)
{
    const char *const fields[] = {subject->engine->name,
                                  subject->engine->version,
                                  subject->label,
                                  subject->role,
                                  subject->script,
                                  metric,
                                  unit};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        put_text(subject->out, fields[i]);
        buffer_putc(subject->out, ',');
    }
}

static void put_figure(const struct subject *subject, const char *metric, const char *unit,
                       const struct result_figure *figure)
{
    start_row(subject, metric, unit);
    put_number(subject->out, figure->median);
    buffer_putc(subject->out, ',');
    put_number(subject->out, figure->min);
    buffer_putc(subject->out, ',');
    put_number(subject->out, figure->max);
    buffer_puts(subject->out, "\r\n");
}

/* A sum over all rounds: one number, no range. */
static void put_total(const struct subject *subject, const char *metric, uint64_t total)
{
    start_row(subject, metric, "count");
    buffer_printf(subject->out, "%" PRIu64 ",,\r\n", total);
}

/* Both structs name their outcomes alike. */
#define PUT_OUTCOMES(subject, summary)                                                             \
    do {                                                                                           \
        put_total((subject), "attempted", (summary)->attempted);                                   \
        put_total((subject), "ok", (summary)->ok);                                                 \
        put_total((subject), "busy", (summary)->busy);                                             \
        put_total((subject), "conflict", (summary)->conflict);                                     \
        put_total((subject), "failed", (summary)->failed);                                         \
        put_total((subject), "skipped", (summary)->skipped);                                       \
        put_total((subject), "open", (summary)->open);                                             \
        put_total((subject), "retries", (summary)->retries);                                       \
    } while (0)

static void put_engine(const struct subject *subject, size_t of)
{
    const struct result_summary *summary = &subject->engine->summaries.items[of];
    put_total(subject, "rounds_ok", report_rounds_with(subject->engine, of, "ok"));
    put_total(subject, "rounds_partial", report_rounds_with(subject->engine, of, "partial"));
    put_total(subject, "rounds_failed", report_rounds_with(subject->engine, of, "failed"));
    put_figure(subject, "reads_per_second", "1/s", &summary->reads_per_second);
    put_figure(subject, "writes_per_second", "1/s", &summary->writes_per_second);
    put_figure(subject, "operations_per_second", "1/s", &summary->operations_per_second);
    put_figure(subject, "cpu_per_operation", "ns", &summary->cpu_per_operation_ns);
    put_figure(subject, "peak_memory", "bytes", &summary->peak_memory_bytes);
    put_figure(subject, "written", "bytes", &summary->write_bytes);
    put_figure(subject, "largest_wal", "bytes", &summary->largest_wal_bytes);
    put_figure(subject, "final_size", "bytes", &summary->final_bytes);
    put_figure(subject, "off_cpu", "ns", &summary->off_cpu_ns);
    put_figure(subject, "slept", "ns", &summary->slept_ns);
    put_figure(subject, "run_queue", "ns", &summary->run_queue_ns);
    put_figure(subject, "run_queue_share", "1", &summary->run_queue_share);
    put_figure(subject, "cpu_others", "1", &summary->cpu_others);
    put_figure(subject, "steal", "1", &summary->steal);
    put_figure(subject, "close", "ns", &summary->close_ns);
    PUT_OUTCOMES(subject, summary);
    if (summary->offered != RESULT_ABSENT) {
        put_total(subject, "offered", summary->offered);
        put_total(subject, "unstarted", summary->unstarted);
        put_figure(subject, "begun_share", "1", &summary->begun_share);
    }
}

/* Metrics of one kind of time, "service" or "lag". */
static void put_times(const struct subject *subject, const char *kind,
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
        put_figure(subject, metric, "ns", others[i].figure);
    }
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        snprintf(metric, sizeof(metric), "%s_%s", kind, labels[i]);
        put_figure(subject, metric, "ns", &times->points_ns[i]);
    }
}

static void put_script(const struct subject *subject, const struct result_script_summary *script)
{
    static const struct {
        const char *latency, *thin;
    } points[RESULT_POINT_COUNT] = {
#define X(id, label, numerator, denominator) {"latency_" label, "latency_" label "_thin"},
        RESULT_POINTS(X)
#undef X
    };
    put_figure(subject, "operations_per_second", "1/s", &script->operations_per_second);
    put_figure(subject, "latency_mean", "ns", &script->mean_ns);
    put_figure(subject, "latency_min", "ns", &script->min_ns);
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        put_figure(subject, points[i].latency, "ns", &script->points_ns[i]);
        start_row(subject, points[i].thin, "0 or 1");
        buffer_puts(subject->out, script->point_thin[i] ? "1,,\r\n" : "0,,\r\n");
    }
    put_figure(subject, "latency_max", "ns", &script->max_ns);
    put_times(subject, "service", &script->service);
    put_times(subject, "lag", &script->lag);
    put_figure(subject, "time_share", "1", &script->time_share);
    put_figure(subject, "rows_read_per_operation", "rows", &script->rows_read_each);
    put_figure(subject, "rows_changed_per_operation", "rows", &script->rows_changed_each);
    put_figure(subject, "slow", "count", &script->slow);
    PUT_OUTCOMES(subject, script);
}

static void put_role(const struct subject *subject, const struct result_role_summary *role)
{
    put_total(subject, "connections", role->connections);
    put_figure(subject, "operations_per_second", "1/s", &role->operations_per_second);
    put_figure(subject, "scaling", "1", &role->scaling);
    put_figure(subject, "least_served_per_second", "1/s", &role->least_served_per_second);
    put_figure(subject, "most_served_per_second", "1/s", &role->most_served_per_second);
    put_figure(subject, "fairness", "1", &role->fairness);
    put_figure(subject, "cpu_per_operation", "ns", &role->cpu_per_operation_ns);
    put_figure(subject, "off_cpu", "ns", &role->off_cpu_ns);
    put_figure(subject, "slept", "ns", &role->slept_ns);
    put_figure(subject, "run_queue", "ns", &role->run_queue_ns);
    PUT_OUTCOMES(subject, role);
}

/* A number, or nothing where it does not apply. */
static void put_number_or_absent(const struct subject *subject, const char *metric,
                                 const char *unit, uint64_t number)
{
    start_row(subject, metric, unit);
    if (number != RESULT_ABSENT) {
        buffer_printf(subject->out, "%" PRIu64, number);
    }
    buffer_puts(subject->out, ",,\r\n");
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
        const struct subject subject = {out, engine, label, database->suite, script->script};
        put_number_or_absent(&subject, "answers_equal", "0 or 1", equality(script->status));
        put_total(&subject, "answers_differing", script->differing);
        put_number_or_absent(&subject, "answers_first_difference", "operation",
                             script->differences.count > 0 ? script->differences.items[0].operation
                                                           : RESULT_ABSENT);
        put_total(&subject, "answers_ok", script->ok);
        put_total(&subject, "answers_busy", script->busy);
        put_total(&subject, "answers_conflict", script->conflict);
        put_total(&subject, "answers_failed", script->failed);
        put_number_or_absent(&subject, "answers_rows_read", "rows", script->rows_read);
        put_number_or_absent(&subject, "answers_rows_changed", "rows", script->rows_changed);
    }
    for (size_t i = 0; i < database->tables.count; i++) {
        const struct result_verify_table *table = &database->tables.items[i];
        const struct subject subject = {out, engine, label, database->suite, table->table};
        put_number_or_absent(&subject, "table_equal", "0 or 1", equality(table->status));
        put_number_or_absent(&subject, "table_rows", "rows", table->rows);
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
    const struct subject subject = {out, engine, NULL, NULL, NULL};
    if (verify->connections.count > 0) {
        put_total(&subject, "settings_required_differing", differing_settings(verify, true));
        put_total(&subject, "settings_informative_differing", differing_settings(verify, false));
        put_number_or_absent(&subject, "journal_file", "bytes", verify->journal_bytes);
        put_number_or_absent(&subject, "shm_file", "bytes", verify->shm_bytes);
    }
    for (size_t i = 0; i < verify->databases.count; i++) {
        put_answers(out, result, engine, &verify->databases.items[i]);
    }
}

/* A number that was measured once: no range. */
static void put_one(const struct subject *subject, const char *metric, const char *unit,
                    double value)
{
    start_row(subject, metric, unit);
    put_number(subject->out, value);
    buffer_puts(subject->out, ",,\r\n");
}

/* Rows whose `role` is event_loop, of the first case, which it runs; what is in flight at once is
 * their `script`. */
static void put_event_loop(struct buffer *out, const struct result *result,
                           const struct result_engine *engine)
{
    const struct result_event_loop *loop = &engine->event_loop;
    if (loop->status == NULL || strcmp(loop->status, "ok") != 0) {
        return;
    }
    const char *label = result->cases.count > 0 ? result->cases.items[0].label : NULL;
    const struct subject subject = {out, engine, label, "event_loop", NULL};
    put_one(&subject, "closed_executions_per_second", "1/s", loop->closed.executions_per_second);
    put_one(&subject, "paced_executions_per_second", "1/s", loop->paced.executions_per_second);
    put_total(&subject, "paced_attempted", loop->paced.attempted);
    put_total(&subject, "paced_ok", loop->paced.ok);
    put_one(&subject, "timer_lateness_p50", "ns", loop->lateness.p50_ns);
    put_one(&subject, "timer_lateness_p99", "ns", loop->lateness.p99_ns);
    put_one(&subject, "timer_lateness_max", "ns", loop->lateness.max_ns);
    put_one(&subject, "bare_timer_lateness_p50", "ns", loop->bare_lateness.p50_ns);
    put_one(&subject, "bare_timer_lateness_p99", "ns", loop->bare_lateness.p99_ns);
    put_one(&subject, "bare_timer_lateness_max", "ns", loop->bare_lateness.max_ns);
    for (size_t i = 0; i < loop->in_flight.count; i++) {
        const struct result_loop_part *part = &loop->in_flight.items[i];
        char depth[32];
        snprintf(depth, sizeof(depth), "%" PRIu64, part->in_flight);
        const struct subject one = {out, engine, label, "event_loop", depth};
        put_one(&one, "executions_per_second", "1/s", part->executions_per_second);
        put_one(&one, "latency_p50", "ns", part->tail.p50_ns);
        put_one(&one, "latency_p99", "ns", part->tail.p99_ns);
        put_one(&one, "latency_max", "ns", part->tail.max_ns);
        put_total(&one, "attempted", part->attempted);
        put_total(&one, "ok", part->ok);
    }
}

/* ---- engines beside each other ---------------------------------------------------- */

/* An engine by its name; `other` is filled for one of an older file. */
static const struct result_engine *engine_of(const struct result *result, char *name,
                                             struct result_engine *other)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        if (strcmp(result->engines.items[i].name, name) == 0) {
            return &result->engines.items[i];
        }
    }
    *other = (struct result_engine){.name = name};
    return other;
}

/* METRIC_SUFFIX: a ratio with its interval; and METRIC_SUFFIX_verdict, a number for a word. */
static void put_ratio(const struct subject *subject, const char *metric, const char *suffix,
                      const struct result_figure *ratio, const char *verdict)
{
    char name[80];
    snprintf(name, sizeof name, "%.20s_%s", metric, suffix);
    put_figure(subject, name, "1", ratio);
    snprintf(name, sizeof name, "%.20s_%s_verdict", metric, suffix);
    start_row(subject, name, "-1 to 1");
    if (verdict != NULL && strcmp(verdict, "closed loop") != 0) {
        buffer_puts(subject->out, strcmp(verdict, "faster") == 0   ? "1"
                                  : strcmp(verdict, "slower") == 0 ? "-1"
                                                                   : "0");
    }
    buffer_puts(subject->out, ",,\r\n");
}

static void put_comparison_table(struct buffer *out, const struct result *result,
                                 const struct result_comparison_table *table)
{
    struct result_engine other;
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_comparison_row *row = &table->rows.items[i];
        const char *label = result->cases.items[row->case_index].label;
        for (size_t k = 0; k < row->cells.count; k++) {
            const struct result_comparison_cell *cell = &row->cells.items[k];
            const struct subject subject = {out, engine_of(result, cell->engine, &other), label,
                                            row->role, row->script};
            put_ratio(&subject, table->metric, "ratio",
                      &(struct result_figure){cell->ratio, cell->ratio_low, cell->ratio_high},
                      cell->verdict);
        }
    }
    for (size_t i = 0; i < table->geometric_means.count; i++) {
        const struct result_comparison_mean *mean = &table->geometric_means.items[i];
        const struct subject subject = {out, engine_of(result, mean->engine, &other), NULL,
                                        table->suite, NULL};
        put_ratio(&subject, table->metric, "geometric_mean",
                  &(struct result_figure){mean->ratio, mean->ratio_low, mean->ratio_high},
                  mean->verdict);
    }
}

static void put_comparison(struct buffer *out, const struct result *result)
{
    struct result_engine other;
    const struct result_against *against = &result->comparison.against;
    for (size_t i = 0; i < result->comparison.tables.count; i++) {
        put_comparison_table(out, result, &result->comparison.tables.items[i]);
    }
    for (size_t i = 0; i < against->tables.count; i++) {
        const struct result_against_table *table = &against->tables.items[i];
        for (size_t k = 0; k < table->rows.count; k++) {
            const struct result_against_row *row = &table->rows.items[k];
            const struct subject subject = {out, engine_of(result, row->engine, &other), row->row,
                                            NULL, NULL};
            put_ratio(&subject, table->metric, "against",
                      &(struct result_figure){row->ratio, row->ratio_low, row->ratio_high},
                      row->verdict);
        }
    }
}

/* ---- libpitot beside the plain way -------------------------------------------------- */

static void put_numbers_side(const struct subject *subject, const char *unit,
                             const struct result_numbers_side *side)
{
    put_one(subject, "median", unit, side->median);
    put_one(subject, "p99", unit, side->p99);
    put_total(subject, "p99_thin", side->p99_thin ? 1 : 0);
    put_one(subject, "slowest", unit, side->slowest);
    put_total(subject, "samples", side->count);
    put_number_or_absent(subject, "due", "count", side->due);
    put_number_or_absent(subject, "missed", "count", side->missed);
    put_number_or_absent(subject, "busy", "count", side->busy);
    put_number_or_absent(subject, "passes", "count", side->passes);
}

static void put_numbers(struct buffer *out, const struct result_numbers *numbers)
{
    const struct result_engine library = {.name = numbers->name, .version = numbers->version};
    for (size_t i = 0; i < numbers->lines.count; i++) {
        const struct result_numbers_line *line = &numbers->lines.items[i];
        const struct subject pitot = {out, &library, line->group, "libpitot", line->name};
        const struct subject plain = {out, &library, line->group, "plain", line->name};
        put_numbers_side(&pitot, line->unit, &line->pitot);
        put_one(&pitot, "ratio", "1", line->ratio);
        put_numbers_side(&plain, line->unit, &line->plain);
    }
}

void report_csv(const struct result *result, struct buffer *out)
{
    buffer_puts(out, "engine,version,case,role,script,metric,unit,median,min,max\r\n");
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        put_verify(out, result, engine);
        for (size_t of = 0; of < engine->summaries.count; of++) {
            const char *label = result->cases.items[of].label;
            const struct result_summary *summary = &engine->summaries.items[of];
            put_engine(&(struct subject){out, engine, label, NULL, NULL}, of);
            for (size_t j = 0; j < summary->roles.count; j++) {
                const struct result_role_summary *role = &summary->roles.items[j];
                put_role(&(struct subject){out, engine, label, role->role, NULL}, role);
            }
            for (size_t j = 0; j < summary->scripts.count; j++) {
                const struct result_script_summary *script = &summary->scripts.items[j];
                put_script(&(struct subject){out, engine, label, script->role, script->script},
                           script);
            }
        }
        put_event_loop(out, result, engine);
    }
    put_comparison(out, result);
    for (size_t i = 0; i < result->numbers.count; i++) {
        put_numbers(out, &result->numbers.items[i]);
    }
}
