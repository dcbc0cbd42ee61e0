#include "statistics/compare.h"

#include "result/alike.h"
#include "result/rounds.h"
#include "statistics/against.h"
#include "statistics/suite_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the comparison");
}

static char *copy(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

static size_t find_engine(const struct result *result, const char *name)
{
    for (size_t i = 0; name != NULL && i < result->engines.count; i++) {
        if (strcmp(result->engines.items[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* ---- words ----------------------------------------------------------------------- */

/* Words that say something of speed are the verdict; all others say why there is none. */
static bool is_verdict(enum verdict verdict)
{
    return verdict_claims(verdict) || verdict == VERDICT_NONE || verdict == VERDICT_CLOSED_LOOP;
}

/* ERROR_MEMORY when the word could not be stored. */
static int put_verdict(enum verdict verdict, char **word, char **note)
{
    char **into = is_verdict(verdict) ? word : note;
    *into = strdup(verdict_text(verdict));
    return *into != NULL ? 0 : ERROR_MEMORY;
}

static double as_difference(double log_ratio)
{
    return isnan(log_ratio) ? (double)NAN : expm1(log_ratio);
}

/* ---- one table ------------------------------------------------------------------- */

static bool is_thin(const struct result *result, const struct suite_table *table,
                    const struct suite_row *row, size_t engine)
{
    const struct result_engine *of = &result->engines.items[engine];
    if (table->metric != SUITE_METRIC_P99 || row->script == NULL ||
        row->of >= of->summaries.count) {
        return false;
    }
    const struct result_summary *summary = &of->summaries.items[row->of];
    for (size_t i = 0; i < summary->scripts.count; i++) {
        const struct result_script_summary *script = &summary->scripts.items[i];
        if (strcmp(script->role, row->role) == 0 && strcmp(script->script, row->script) == 0) {
            return script->point_thin[RESULT_POINT_p99];
        }
    }
    return false;
}

/* Why a figure is not to be compared, the engine's own or that of the baseline. A new string; NULL:
 * both may be. */
static char *doubt_of(const struct result *result, enum suite_metric metric,
                      const struct suite_row *row, size_t engine, size_t baseline)
{
    const char *own = suite_row_doubt(result, metric, row, engine);
    const char *other = suite_row_doubt(result, metric, row, baseline);
    return own != NULL     ? result_text("not comparable: %s", own)
           : other != NULL ? result_text("not comparable: of the baseline, %s", other)
                           : NULL;
}

/* What the verdict's word alone would not tell of an engine; NULL: nothing. A new string. */
static char *note_of(const struct result *result, const struct suite_table *table,
                     const struct suite_row *row, size_t engine, enum verdict verdict)
{
    const struct result_engine *of = &result->engines.items[engine];
    if (row->of >= of->summaries.count || of->summaries.items[row->of].status == NULL) {
        return NULL;
    }
    const struct result_summary *summary = &of->summaries.items[row->of];
    if (verdict == VERDICT_NOT_COMPARABLE && strcmp(summary->status, "differs") == 0) {
        return strdup("not comparable: it did not do what was asked");
    }
    if (verdict == VERDICT_NOT_COMPARABLE) {
        return doubt_of(result, table->metric, row, engine, table->table.baseline);
    }
    if (verdict == VERDICT_UNABLE && summary->error != NULL) {
        return result_text("%s: %s", verdict_text(verdict), summary->error);
    }
    return NULL;
}

static int fill_cell(const struct result *result, const struct suite_table *table, size_t index,
                     size_t engine, const struct comparison_cell *cell,
                     struct result_comparison_cell *out)
{
    const struct suite_row *row = &table->rows[index];
    bool base = engine == table->table.baseline;
    *out = (struct result_comparison_cell){
        .engine = copy(table->engines[engine]),
        .median = cell->median,
        .spread = cell->spread,
        .thin = is_thin(result, table, row, engine),
        .ratio = base && cell->verdict == VERDICT_BASELINE ? 1 : cell->interval.ratio,
        .ratio_low = cell->interval.low,
        .ratio_high = cell->interval.high,
        .smallest_difference = base ? (double)NAN : cell->smallest,
        .more_rounds = cell->more_rounds > 0 ? cell->more_rounds : RESULT_ABSENT,
        .rounds = cell->interval.n,
    };
    int status = put_verdict(cell->verdict, &out->verdict, &out->note);
    char *note = note_of(result, table, row, engine, cell->verdict);
    if (note != NULL) {
        free(out->note);
        out->note = note;
    }
    return out->engine != NULL ? status : ERROR_MEMORY;
}

/* The lead says how much better the best one is, whichever way better is. */
static int fill_best(const struct suite_table *table, const struct comparison_best *best,
                     struct result_comparison_row *out)
{
    bool higher = table->table.metric == COMPARISON_THROUGHPUT;
    const struct interval *lead = &best->lead;
    if (best->verdict != VERDICT_FASTER) {
        return 0;
    }
    out->best = copy(table->engines[best->engine]);
    out->best_lead = as_difference(higher ? lead->mean : -lead->mean);
    out->best_lead_low = (higher ? lead->low : 1 / lead->high) - 1;
    out->best_lead_high = (higher ? lead->high : 1 / lead->low) - 1;
    return out->best != NULL ? 0 : ERROR_MEMORY;
}

static int fill_row(const struct result *result, const struct suite_table *table, size_t index,
                    const struct comparison *comparison, struct result_comparison_row *out)
{
    const struct suite_row *row = &table->rows[index];
    out->case_index = row->of;
    out->best_lead = out->best_lead_low = out->best_lead_high = (double)NAN;
    out->role = copy(row->role);
    out->script = copy(row->script);
    int status =
        (row->role != NULL && out->role == NULL) || (row->script != NULL && out->script == NULL)
            ? ERROR_MEMORY
            : 0;
    for (size_t i = 0; i < table->table.engine_count && status == 0; i++) {
        struct result_comparison_cell *cell = result_list_add(&out->cells);
        status = cell == NULL ? ERROR_MEMORY
                              : fill_cell(result, table, index, i,
                                          comparison_cell(comparison, index, i), cell);
    }
    return status == 0 ? fill_best(table, &comparison->best[index], out) : status;
}

static int fill_mean(const struct suite_table *table, size_t engine,
                     const struct comparison_mean *mean, struct result_comparison_mean *out)
{
    bool base = engine == table->table.baseline;
    *out = (struct result_comparison_mean){
        .engine = copy(table->engines[engine]),
        .rows = mean->rows,
        .ratio = base ? 1 : mean->cell.interval.ratio,
        .ratio_low = mean->cell.interval.low,
        .ratio_high = mean->cell.interval.high,
    };
    int status = put_verdict(mean->cell.verdict, &out->verdict, &out->note);
    return out->engine != NULL ? status : ERROR_MEMORY;
}

static int fill_table(const struct result *result, const struct suite_table *table,
                      const struct comparison *comparison, struct result_comparison_table *out)
{
    *out = (struct result_comparison_table){
        .suite = copy(table->suite),
        .metric = copy(suite_metric_name(table->metric)),
        .unit = copy(suite_metric_unit(table->metric)),
        .floor = as_difference(comparison->floor),
        .floor_rows = comparison->floor_rows,
    };
    int status = out->suite != NULL && out->metric != NULL && out->unit != NULL ? 0 : ERROR_MEMORY;
    for (size_t i = 0; i < comparison->row_count && status == 0; i++) {
        struct result_comparison_row *row = result_list_add(&out->rows);
        status = row == NULL ? ERROR_MEMORY : fill_row(result, table, i, comparison, row);
    }
    for (size_t i = 0; i < comparison->engine_count && status == 0; i++) {
        struct result_comparison_mean *mean = result_list_add(&out->geometric_means);
        status = mean == NULL ? ERROR_MEMORY : fill_mean(table, i, &comparison->means[i], mean);
    }
    return status;
}

/* Rows of the table that are shown to be slower, by more than `threshold` (a log ratio). */
static uint64_t count_slower(const struct comparison *comparison, double threshold)
{
    uint64_t count = 0;
    for (size_t i = 0; i < comparison->row_count * comparison->engine_count; i++) {
        const struct comparison_cell *cell = &comparison->cells[i];
        count += cell->verdict == VERDICT_SLOWER && fabs(cell->interval.mean) > threshold;
    }
    return count;
}

static int add_table(struct result *result, const char *suite, enum suite_metric metric,
                     size_t baseline, struct error *error)
{
    struct suite_table table;
    struct comparison computed = {0};
    struct result_comparison *comparison = &result->comparison;
    int status = suite_table_fill(result, suite, metric, baseline, &table, error);
    status = status == 0 ? comparison_compute(&table.table, &computed, error) : status;
    if (status == 0) {
        struct result_comparison_table *out = result_list_add(&comparison->tables);
        if (out == NULL || fill_table(result, &table, &computed, out) != 0) {
            status = no_memory(error);
        } else if (!isnan(comparison->threshold)) {
            comparison->slower += count_slower(&computed, log1p(comparison->threshold));
        }
    }
    comparison_release(&computed);
    suite_table_release(&table);
    return status;
}

/* ---- every suite ----------------------------------------------------------------- */

/* The first case of its suite. */
static bool first_of_suite(const struct result *result, size_t of)
{
    for (size_t i = 0; i < of; i++) {
        if (strcmp(result->cases.items[i].suite, result->cases.items[of].suite) == 0) {
            return false;
        }
    }
    return true;
}

static void count_rounds(struct result *result)
{
    struct result_comparison *comparison = &result->comparison;
    comparison->rounds_repeated = comparison->rounds_disturbed = 0;
    for (size_t of = 0; of < result->cases.count; of++) {
        for (uint64_t round = 1; round <= result->plan.rounds; round++) {
            comparison->rounds_repeated += round_repeated(result, of, round) ? 1 : 0;
            comparison->rounds_disturbed +=
                round_disturbed(result, of, round, comparison->disturbance_max) ? 1 : 0;
        }
    }
}

/* Takes back what an earlier call found. */
static int empty(struct result_comparison *comparison)
{
    struct result_comparison kept = {.disturbance_max = comparison->disturbance_max,
                                     .threshold = comparison->threshold};
    char *baseline = copy(comparison->baseline);
    if (comparison->baseline != NULL && baseline == NULL) {
        return ERROR_MEMORY;
    }
    result_comparison_release(comparison);
    comparison->baseline = baseline;
    comparison->disturbance_max = kept.disturbance_max;
    comparison->threshold = kept.threshold;
    return 0;
}

int compare_fill(struct result *result, struct error *error)
{
    struct result_comparison *comparison = &result->comparison;
    size_t baseline = find_engine(result, comparison->baseline);
    int status = empty(comparison) == 0 ? 0 : no_memory(error);
    if (status != 0 || baseline == SIZE_MAX) {
        return status;
    }
    comparison->runs = result->plan.rounds;
    comparison->confidence = INTERVAL_LEVEL;
    comparison->slower = isnan(comparison->threshold) ? RESULT_ABSENT : 0;
    count_rounds(result);
    for (size_t of = 0; of < result->cases.count && status == 0; of++) {
        for (int metric = 0; metric < SUITE_METRIC_COUNT && status == 0; metric++) {
            if (first_of_suite(result, of)) {
                status = add_table(result, result->cases.items[of].suite, (enum suite_metric)metric,
                                   baseline, error);
            }
        }
    }
    return status;
}

/* ---- against an older result ----------------------------------------------------- */

/* What keeps the row of a case from being compared; NULL: nothing does. A new string. */
static char *obstacle(const struct result_case *now, const struct result *before, bool *no_memory)
{
    const struct result_case *then = alike_find_case(before, now->label);
    struct buffer text;
    buffer_init(&text);
    if (then != NULL) {
        alike_case(then, now, &text);
    }
    *no_memory = text.failed;
    char *taken = text.length > 0 ? buffer_take(&text) : NULL;
    buffer_release(&text);
    return taken;
}

/* Rows of a case that was another one then cannot be compared. `notes` gets a string a row. */
static int mark_other_cases(const struct result *result, const struct result *before,
                            struct suite_table *now, char **notes)
{
    for (size_t i = 0; i < now->table.row_count; i++) {
        bool failed = false;
        notes[i] = obstacle(&result->cases.items[now->rows[i].of], before, &failed);
        if (failed) {
            return ERROR_MEMORY;
        }
        for (size_t k = 0; notes[i] != NULL && k < now->table.engine_count; k++) {
            struct comparison_series *series = &now->series[i * now->table.engine_count + k];
            if (series->state == COMPARISON_OK) {
                series->state = COMPARISON_NOT_COMPARABLE;
            }
        }
    }
    return 0;
}

static const char *case_note(const struct suite_table *now, char *const *notes, const char *row)
{
    for (size_t i = 0; i < now->table.row_count; i++) {
        if (strcmp(now->rows[i].name, row) == 0) {
            return notes[i];
        }
    }
    return NULL;
}

static char *against_note(const struct against_cell *cell, const char *file, const char *baseline,
                          const char *case_differs)
{
    if (!cell->now) {
        return result_text("missing: in %s, but not measured now", file);
    }
    if (!cell->before) {
        return result_text("not comparable: not in %s", file);
    }
    if (cell->verdict != VERDICT_NOT_COMPARABLE) {
        return strdup(verdict_text(cell->verdict));
    }
    if (case_differs != NULL) {
        return result_text("not comparable: %s", case_differs);
    }
    return result_text("not comparable: it or %s has no figure that counts in %s, or none now",
                       baseline, file);
}

/* `case_differs` as above. */
static int fill_against_row(const struct against_cell *cell, const struct result_comparison *of,
                            const char *case_differs, struct result_against_row *out)
{
    *out = (struct result_against_row){
        .row = copy(cell->row),
        .engine = copy(cell->engine),
        .ratio = cell->interval.ratio,
        .ratio_low = cell->interval.low,
        .ratio_high = cell->interval.high,
        .smallest_difference = cell->smallest,
    };
    if (is_verdict(cell->verdict)) {
        out->verdict = strdup(verdict_text(cell->verdict));
    } else {
        out->note = against_note(cell, of->against.file, of->baseline, case_differs);
    }
    return out->row != NULL && out->engine != NULL && (out->verdict != NULL || out->note != NULL)
               ? 0
               : ERROR_MEMORY;
}

static int fill_against_table(const struct result_comparison *of, const struct against *against,
                              const struct suite_table *now, char *const *notes,
                              struct result_against_table *out)
{
    *out = (struct result_against_table){
        .suite = copy(now->suite),
        .metric = copy(suite_metric_name(now->metric)),
        .floor = as_difference(against->floor),
    };
    int status = out->suite != NULL && out->metric != NULL ? 0 : ERROR_MEMORY;
    for (size_t i = 0; i < against->count && status == 0; i++) {
        const struct against_cell *cell = &against->cells[i];
        struct result_against_row *row = result_list_add(&out->rows);
        status = row == NULL ? ERROR_MEMORY
                             : fill_against_row(cell, of, case_note(now, notes, cell->row), row);
    }
    return status;
}

static int add_against(struct result *result, const struct result *before, const char *suite,
                       enum suite_metric metric, struct error *error)
{
    struct result_comparison *comparison = &result->comparison;
    size_t base_now = find_engine(result, comparison->baseline);
    size_t base_then = find_engine(before, comparison->baseline);
    struct suite_table now;
    struct suite_table then = {0};
    struct against against = {0};
    int status = suite_table_fill(result, suite, metric, base_now, &now, error);
    char **notes = calloc(now.table.row_count + 1, sizeof *notes);
    if (status == 0) {
        /* Without the baseline then, the first engine's name tells that there was another. */
        status = suite_table_fill(before, suite, metric, base_then == SIZE_MAX ? 0 : base_then,
                                  &then, error);
    }
    if (status == 0 && (notes == NULL || mark_other_cases(result, before, &now, notes) != 0)) {
        status = no_memory(error);
    }
    double threshold = isnan(comparison->threshold) ? 0 : comparison->threshold;
    status =
        status == 0 ? against_compute(&now.table, &then.table, threshold, &against, error) : status;
    if (status == 0 && against.count > 0) {
        struct result_against_table *out = result_list_add(&comparison->against.tables);
        if (out == NULL || fill_against_table(comparison, &against, &now, notes, out) != 0) {
            status = no_memory(error);
        }
        comparison->slower += against.slower;
    }
    for (size_t i = 0; notes != NULL && i < now.table.row_count; i++) {
        free(notes[i]);
    }
    free(notes);
    against_release(&against);
    suite_table_release(&now);
    suite_table_release(&then);
    return status;
}

static bool has_suite(const struct result *result, const char *suite)
{
    for (size_t i = 0; i < result->cases.count; i++) {
        if (strcmp(result->cases.items[i].suite, suite) == 0) {
            return true;
        }
    }
    return false;
}

int compare_against(struct result *result, const struct result *before, const char *file,
                    struct error *error)
{
    struct result_comparison *comparison = &result->comparison;
    comparison->against.file = copy(file);
    comparison->against.started = copy(before->started);
    comparison->slower = 0;
    int status = comparison->against.file != NULL ? 0 : no_memory(error);
    for (size_t source = 0; source < 2; source++) {
        const struct result *cases = source == 0 ? result : before;
        for (size_t of = 0; of < cases->cases.count && status == 0; of++) {
            const char *suite = cases->cases.items[of].suite;
            if (!first_of_suite(cases, of) || (source == 1 && has_suite(result, suite))) {
                continue; /* the suites of now first, then those that are only in the file */
            }
            for (int metric = 0; metric < SUITE_METRIC_COUNT && status == 0; metric++) {
                status = add_against(result, before, suite, (enum suite_metric)metric, error);
            }
        }
    }
    return status;
}
