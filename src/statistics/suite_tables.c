#include "statistics/suite_tables.h"

#include "result/rounds.h"
#include "statistics/run_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *unit;
    enum comparison_metric metric;
} metrics[SUITE_METRIC_COUNT] = {
#define X(id, name, unit, metric) {name, unit, metric},
    SUITE_METRICS(X)
#undef X
};

const char *suite_metric_name(enum suite_metric metric)
{
    return metrics[metric].name;
}

const char *suite_metric_unit(enum suite_metric metric)
{
    return metrics[metric].unit;
}

static bool is(const char *text, const char *expected)
{
    return text != NULL && strcmp(text, expected) == 0;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- rows ------------------------------------------------------------------------ */

typedef RESULT_LIST(struct suite_row) suite_rows;

static bool has_row(const suite_rows *rows, size_t of, const char *role, const char *script)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct suite_row *row = &rows->items[i];
        if (row->of == of && same(row->role, role) && same(row->script, script)) {
            return true;
        }
    }
    return false;
}

static int add_row(const struct result *result, suite_rows *rows, size_t of, const char *role,
                   const char *script)
{
    const char *label = result->cases.items[of].label;
    if (has_row(rows, of, role, script)) {
        return 0;
    }
    /* A case with one script of its own name, as in bench, needs no second word. */
    const char *detail = script != NULL ? script : role;
    char *name = detail == NULL || strcmp(detail, label) == 0
                     ? strdup(label)
                     : result_text("%s, %s", label, detail);
    if (name == NULL) {
        return ERROR_MEMORY;
    }
    for (size_t i = 0; i < rows->count && script != NULL; i++) {
        if (strcmp(rows->items[i].name, name) == 0) { /* one script in two roles */
            free(name);
            name = result_text("%s, %s, %s", label, role, script);
            break;
        }
    }
    struct suite_row *row = name != NULL ? result_list_add(rows) : NULL;
    if (row == NULL) {
        free(name);
        return ERROR_MEMORY;
    }
    *row = (struct suite_row){.of = of, .role = role, .script = script, .name = name};
    return 0;
}

/* The run's scripts in a case lie in more than one role. */
static bool has_roles(const struct result *result, size_t of)
{
    const char *first = NULL;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            const struct result_run *run = &engine->runs.items[k];
            for (size_t s = 0; run->case_index == of && s < run->scripts.count; s++) {
                first = first == NULL ? run->scripts.items[s].role : first;
                if (strcmp(first, run->scripts.items[s].role) != 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* A row a role, or a role and script, that any engine ran; one for the case if there is none. */
static int add_parts(const struct result *result, suite_rows *rows, size_t of, bool scripts)
{
    size_t before = rows->count;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            const struct result_run *run = &engine->runs.items[k];
            for (size_t s = 0; run->case_index == of && s < run->scripts.count; s++) {
                const struct result_script *script = &run->scripts.items[s];
                if (add_row(result, rows, of, script->role, scripts ? script->script : NULL) != 0) {
                    return ERROR_MEMORY;
                }
            }
        }
    }
    return rows->count > before ? 0 : add_row(result, rows, of, NULL, NULL);
}

static int add_rows(const struct result *result, const char *suite, enum suite_metric metric,
                    suite_rows *rows)
{
    int status = 0;
    for (size_t of = 0; of < result->cases.count && status == 0; of++) {
        if (!is(result->cases.items[of].suite, suite)) {
            continue;
        }
        bool parts = metric == SUITE_METRIC_P99 ||
                     (metric == SUITE_METRIC_THROUGHPUT && has_roles(result, of));
        status = parts ? add_parts(result, rows, of, metric == SUITE_METRIC_P99)
                       : add_row(result, rows, of, NULL, NULL);
    }
    return status;
}

/* ---- figures --------------------------------------------------------------------- */

static double p99_ns(const struct result_run *run, const struct suite_row *row)
{
    const struct result_script *script =
        row->script != NULL ? run_script(run, row->role, row->script) : NULL;
    const struct histogram *latency = script != NULL ? script->latency.histogram : NULL;
    return latency != NULL && latency->count > 0 ? (double)histogram_percentile(latency, 99, 100)
                                                 : (double)NAN;
}

static double figure(const struct result_run *run, enum suite_metric metric,
                     const struct suite_row *row)
{
    switch (metric) {
    case SUITE_METRIC_P99:
        return p99_ns(run, row);
    case SUITE_METRIC_CPU:
        return run_cpu_per_operation_ns(run);
    case SUITE_METRIC_THROUGHPUT:
    case SUITE_METRIC_COUNT:
        break;
    }
    return run_operations_per_second(run, row->role);
}

static bool counts(const struct result_run *run, size_t of, size_t rounds)
{
    return run->case_index == of && run->round >= 1 && run->round <= rounds;
}

/* Returns whether any run of them is ok. */
static bool fill_values(const struct result_run *runs, size_t count, const char *aside,
                        const struct suite_table *out, const struct suite_row *row, double *values)
{
    bool any = false;
    for (size_t round = 0; round < out->table.rounds; round++) {
        values[round] = (double)NAN;
    }
    for (size_t i = 0; i < count; i++) {
        if (counts(&runs[i], row->of, out->table.rounds) && same(runs[i].aside, aside) &&
            is(runs[i].status, "ok")) {
            values[runs[i].round - 1] = figure(&runs[i], out->metric, row);
            any = true;
        }
    }
    return any;
}

static const char *status_of(const struct result_engine *engine, size_t of)
{
    return of < engine->summaries.count ? engine->summaries.items[of].status : engine->status;
}

/* ---- figures that say nothing ------------------------------------------------------ */

/* Of what was due of a script in a run, the share that has no latency. */
static double without_latency(const struct result_run *run, const struct suite_row *row)
{
    const struct result_script *script = run_script(run, row->role, row->script);
    double ok = script != NULL ? (double)script->ok : 0;
    double refused = script != NULL ? (double)script->busy + (double)script->conflict +
                                          (double)script->failed + (double)script->open
                                    : 0;
    if (ok + refused <= 0) {
        return 0;
    }
    /* Which script a connection would have begun is not known: the role's share is that of each. */
    return 1 - ok / (ok + refused) * (1 - run_left_behind(run, row->role));
}

const char *suite_row_doubt(const struct result *result, enum suite_metric metric,
                            const struct suite_row *row, size_t engine)
{
    const struct result_engine *of = &result->engines.items[engine];
    const struct result_case *measured = &result->cases.items[row->of];
    if (metric == SUITE_METRIC_CPU && isfinite(measured->rate)) {
        return "at a rate it holds the worker's own waiting";
    }
    if (metric == SUITE_METRIC_CPU && measured->operations == RESULT_ABSENT &&
        has_roles(result, row->of)) {
        return "how much of it each role did is up to the engine";
    }
    for (size_t i = 0; metric == SUITE_METRIC_P99 && row->script != NULL && i < of->runs.count;
         i++) {
        const struct result_run *run = &of->runs.items[i];
        if (run->case_index == row->of && is(run->status, "ok") &&
            without_latency(run, row) > 0.01) {
            return "more than 1 % of what was due has no latency";
        }
    }
    return NULL;
}

static enum comparison_state state_of(const struct result *result, const struct suite_table *table,
                                      const struct suite_row *row, size_t engine, bool any)
{
    const char *status = status_of(&result->engines.items[engine], row->of);
    return is(status, "failed")   ? COMPARISON_FAILED
           : is(status, "unable") ? COMPARISON_UNABLE
           : !any                 ? COMPARISON_MISSING
           : is(status, "differs") || suite_row_doubt(result, table->metric, row, engine) != NULL
               ? COMPARISON_NOT_COMPARABLE
               : COMPARISON_OK;
}

/* ---- all of it ------------------------------------------------------------------- */

/* Connections of the first run of the case that had any; what was asked for otherwise. */
static size_t connections_of(const struct result *result, size_t of)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            const struct result_run *run = &engine->runs.items[k];
            if (run->case_index == of && run->connections.count > 0) {
                return run->connections.count;
            }
        }
    }
    return (size_t)result->cases.items[of].threads;
}

static void fill_row(const struct result *result, struct suite_table *out, size_t index)
{
    const struct comparison_table *table = &out->table;
    const struct suite_row *row = &out->rows[index];
    size_t width = table->engine_count + 1; /* the baseline's second runs come last */
    struct comparison_series *series = &out->series[index * table->engine_count];
    double *values = &out->values[index * width * table->rounds];
    bool *invalid = &out->invalid[index * table->rounds];
    struct comparison_row *line = &out->lines[index];
    *line = (struct comparison_row){
        .name = row->name,
        .connections = connections_of(result, row->of),
        .open_loop = isfinite(result->cases.items[row->of].rate),
        .invalid = invalid,
        .engines = series,
    };
    for (size_t round = 0; round < table->rounds; round++) {
        invalid[round] = round_broken_off(result, row->of, round + 1);
    }
    for (size_t i = 0; i < table->engine_count; i++, values += table->rounds) {
        const struct result_engine *engine = &result->engines.items[i];
        bool any = fill_values(engine->runs.items, engine->runs.count, NULL, out, row, values);
        series[i] = (struct comparison_series){.values = values,
                                               .state = state_of(result, out, row, i, any)};
    }
    const struct result_engine *base = &result->engines.items[table->baseline];
    if (fill_values(base->aside.items, base->aside.count, "again", out, row, values)) {
        line->again = (struct comparison_series){.values = values, .state = COMPARISON_OK};
    }
}

int suite_table_fill(const struct result *result, const char *suite, enum suite_metric metric,
                     size_t baseline, struct suite_table *out, struct error *error)
{
    suite_rows rows = {NULL, 0};
    size_t engines = result->engines.count;
    size_t rounds = (size_t)result->plan.rounds;
    int status = add_rows(result, suite, metric, &rows);
    *out = (struct suite_table){
        .suite = suite,
        .metric = metric,
        .rows = rows.items,
        .engines = calloc(engines, sizeof *out->engines),
        .lines = calloc(rows.count + 1, sizeof *out->lines),
        .series = calloc(rows.count * engines + 1, sizeof *out->series),
        .values = calloc(rows.count * (engines + 1) * rounds + 1, sizeof *out->values),
        .invalid = calloc(rows.count * rounds + 1, sizeof *out->invalid),
    };
    out->table = (struct comparison_table){
        .engines = out->engines,
        .engine_count = engines,
        .baseline = baseline,
        .rounds = rounds,
        .metric = metrics[metric].metric,
        .from_histogram = metric == SUITE_METRIC_P99,
        .rows = out->lines,
        .row_count = rows.count,
    };
    if (status != 0 || out->engines == NULL || out->lines == NULL || out->series == NULL ||
        out->values == NULL || out->invalid == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the tables of %s", suite);
    }
    for (size_t i = 0; i < engines; i++) {
        out->engines[i] = result->engines.items[i].name;
    }
    for (size_t i = 0; i < rows.count; i++) {
        fill_row(result, out, i);
    }
    return 0;
}

void suite_table_release(struct suite_table *table)
{
    for (size_t i = 0; table->rows != NULL && i < table->table.row_count; i++) {
        free(table->rows[i].name);
    }
    free(table->rows);
    free(table->engines);
    free(table->lines);
    free(table->series);
    free(table->values);
    free(table->invalid);
    *table = (struct suite_table){0};
}
