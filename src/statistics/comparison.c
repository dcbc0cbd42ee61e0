#include "statistics/comparison_internal.h"

#include "statistics/span.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- what the rounds hold -------------------------------------------------------- */

static double value_of(const struct comparison_series *series, size_t round)
{
    return series->values != NULL ? series->values[round] : (double)NAN;
}

static bool valid(const struct comparison_row *row, size_t round)
{
    return row->invalid == NULL || !row->invalid[round];
}

struct pairs pairs_of(const struct comparison_table *table, const struct comparison_row *row,
                      const struct comparison_series *engine, const struct comparison_series *base,
                      double *logs)
{
    struct pairs pairs = {0};
    size_t n = 0;
    for (size_t round = 0; round < table->rounds; round++) {
        if (!valid(row, round)) {
            continue;
        }
        double value = value_of(engine, round);
        double other = value_of(base, round);
        double ratio = log_ratio(value, other);
        if (isnan(ratio)) {
            pairs.lost++;
            continue;
        }
        logs[n++] = ratio;
        if (table->from_histogram) {
            pairs.bucket_variance +=
                bucket_variance(fmax(value, 1)) + bucket_variance(fmax(other, 1));
        }
    }
    pairs.bucket_variance /= n > 0 ? (double)n : 1;
    pairs.moments = moments_of(logs, n);
    return pairs;
}

enum verdict pairs_state(const struct comparison_row *row, size_t engine, size_t baseline,
                         const struct pairs *pairs)
{
    static const enum verdict words[] = {
        [COMPARISON_OK] = VERDICT_NONE,
        [COMPARISON_PARTIAL] = VERDICT_PARTIAL,
        [COMPARISON_FAILED] = VERDICT_FAILED,
        [COMPARISON_UNABLE] = VERDICT_UNABLE,
        [COMPARISON_MISSING] = VERDICT_MISSING,
        [COMPARISON_NOT_COMPARABLE] = VERDICT_NOT_COMPARABLE,
    };
    const struct comparison_series *series = &row->engines[engine];
    const struct comparison_series *base = &row->engines[baseline];
    if (series->state != COMPARISON_OK) {
        return words[series->state];
    }
    if (series->values == NULL) {
        return VERDICT_MISSING;
    }
    if (base->values == NULL ||
        (base->state != COMPARISON_OK && base->state != COMPARISON_PARTIAL)) {
        return VERDICT_NOT_COMPARABLE;
    }
    /* Rounds are seldom lost by chance: an engine that fails when it is slow would gain by it. */
    return base->state == COMPARISON_PARTIAL || pairs->lost > 0 ? VERDICT_PARTIAL : VERDICT_NONE;
}

/* Median and spread of an engine's figures over the valid rounds. */
static void describe(const struct comparison_table *table, const struct comparison_row *row,
                     const struct comparison_series *series, double *values,
                     struct comparison_cell *cell)
{
    size_t n = 0;
    for (size_t round = 0; round < table->rounds; round++) {
        double value = value_of(series, round);
        if (valid(row, round) && isfinite(value)) {
            values[n++] = value;
        }
    }
    struct span span = span_of(values, n);
    cell->median = span.median;
    cell->spread = n > 1 && span.median > 0 ? (span.max - span.min) / span.median : (double)NAN;
}

/* ---- floor and terms ------------------------------------------------------------- */

double comparison_floor(const struct comparison_table *table, double *logs, size_t *row,
                        size_t *rows)
{
    double floor = log(VERDICT_FLOOR_MIN);
    *row = SIZE_MAX;
    *rows = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct comparison_row *item = &table->rows[i];
        struct pairs pairs =
            pairs_of(table, item, &item->again, &item->engines[table->baseline], logs);
        if (pairs.moments.n == 0) {
            continue;
        }
        ++*rows;
        if (fabs(pairs.moments.mean) > floor) {
            floor = fabs(pairs.moments.mean);
            *row = i;
        }
    }
    return floor;
}

static bool closed_loop(const struct comparison_table *table, const struct comparison_row *row)
{
    return table->metric == COMPARISON_LATENCY && !row->open_loop && row->connections > 1;
}

struct verdict_terms comparison_terms(const struct comparison_table *table,
                                      const struct comparison_row *row, double floor)
{
    struct verdict_terms terms = {
        .floor = floor,
        .higher_is_better = table->metric == COMPARISON_THROUGHPUT,
        .closed_loop = row != NULL && closed_loop(table, row),
    };
    for (size_t i = 0; row == NULL && i < table->row_count; i++) {
        terms.closed_loop = terms.closed_loop || closed_loop(table, &table->rows[i]);
    }
    return terms;
}

/* ---- cells ----------------------------------------------------------------------- */

/* Everything of a cell that follows from its pairs. */
static void judge(struct comparison_cell *cell, const struct pairs *pairs, enum verdict state,
                  const struct verdict_terms *terms, size_t cells)
{
    cell->interval = interval_paired(&pairs->moments, pairs->bucket_variance, cells);
    cell->lost = pairs->lost;
    cell->verdict = state == VERDICT_NONE ? verdict_of(&cell->interval, terms) : state;
    cell->smallest =
        pairs->moments.n < 2 ? (double)NAN : expm1(fmax(cell->interval.half_width, terms->floor));
    cell->within_floor = fabs(pairs->moments.mean) <= terms->floor;
    cell->more_rounds =
        cell->verdict == VERDICT_NONE && !cell->within_floor
            ? interval_more_rounds(&pairs->moments, pairs->bucket_variance, terms->floor, cells)
            : 0;
}

static void compute_row(const struct comparison_table *table, size_t index, struct comparison *out,
                        double *logs)
{
    const struct comparison_row *row = &table->rows[index];
    const struct comparison_series *base = &row->engines[table->baseline];
    struct verdict_terms terms = comparison_terms(table, row, out->floor);
    for (size_t engine = 0; engine < table->engine_count; engine++) {
        struct comparison_cell *cell = &out->cells[index * table->engine_count + engine];
        const struct comparison_series *series = &row->engines[engine];
        if (engine == table->baseline) {
            struct pairs none = {.moments = moments_of(NULL, 0)};
            enum verdict state = pairs_state(row, engine, engine, &none);
            judge(cell, &none, state == VERDICT_NONE ? VERDICT_BASELINE : state, &terms, 1);
        } else {
            struct pairs pairs = pairs_of(table, row, series, base, logs);
            enum verdict state = pairs_state(row, engine, table->baseline, &pairs);
            judge(cell, &pairs, state, &terms, out->cell_count);
        }
        describe(table, row, series, logs, cell);
    }
}

/* ---- the best of a row ----------------------------------------------------------- */

/* Nothing stands in the place of its interval: best and means may count on it. */
static bool whole(const struct comparison_cell *cell)
{
    return verdict_claims(cell->verdict) || cell->verdict == VERDICT_NONE ||
           cell->verdict == VERDICT_CLOSED_LOOP || cell->verdict == VERDICT_FEW_ROUNDS;
}

/* Log of how much better than the baseline; NAN when not all rounds are there. */
static double advantage(const struct comparison_table *table, const struct comparison *comparison,
                        size_t row, size_t engine)
{
    const struct comparison_cell *cell = comparison_cell(comparison, row, engine);
    if (cell->verdict == VERDICT_BASELINE) {
        return 0;
    }
    double mean = whole(cell) ? cell->interval.mean : (double)NAN;
    return table->metric == COMPARISON_THROUGHPUT ? mean : -mean;
}

static void choose(const struct comparison_table *table, const struct comparison *comparison,
                   size_t row, struct comparison_best *best)
{
    best->engine = best->second = SIZE_MAX;
    double first = -(double)INFINITY;
    double second = -(double)INFINITY;
    for (size_t engine = 0; engine < table->engine_count; engine++) {
        double found = advantage(table, comparison, row, engine);
        if (found > first) {
            second = first;
            best->second = best->engine;
            first = found;
            best->engine = engine;
        } else if (found > second) {
            second = found;
            best->second = engine;
        }
    }
    if (best->second == SIZE_MAX) {
        best->engine = SIZE_MAX;
    }
}

static void compute_best(const struct comparison_table *table, size_t index, struct comparison *out,
                         double *logs)
{
    const struct comparison_row *row = &table->rows[index];
    struct comparison_best *best = &out->best[index];
    choose(table, out, index, best);
    struct pairs pairs = {.moments = moments_of(NULL, 0)};
    if (best->engine != SIZE_MAX) {
        pairs =
            pairs_of(table, row, &row->engines[best->engine], &row->engines[best->second], logs);
    }
    size_t all_pairs = table->row_count * (table->engine_count * (table->engine_count - 1) / 2);
    struct verdict_terms terms = comparison_terms(table, row, out->floor);
    best->lead =
        interval_paired(&pairs.moments, pairs.bucket_variance, all_pairs > 0 ? all_pairs : 1);
    best->verdict = best->engine == SIZE_MAX ? VERDICT_MISSING : verdict_of(&best->lead, &terms);
}

/* ---- geometric means ------------------------------------------------------------- */

/* Mean of the engine's log ratios over its whole rows in a round. False when the round is not valid
 * in all of them: a mean over other rows is another figure. */
static bool round_mean(const struct comparison_table *table, const struct comparison *comparison,
                       size_t engine, size_t round, double *mean)
{
    double sum = 0;
    size_t rows = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct comparison_row *row = &table->rows[i];
        if (!whole(comparison_cell(comparison, i, engine))) {
            continue;
        }
        if (!valid(row, round)) {
            return false;
        }
        sum += log_ratio(value_of(&row->engines[engine], round),
                         value_of(&row->engines[table->baseline], round));
        rows++;
    }
    *mean = sum / (double)rows;
    return rows > 0;
}

/* Of the mean over `rows` rows, whose buckets have nothing to do with each other. */
static double rows_bucket_variance(const struct comparison_table *table,
                                   const struct comparison *comparison, size_t engine, double *logs,
                                   size_t *rows)
{
    double sum = 0;
    *rows = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct comparison_row *row = &table->rows[i];
        if (whole(comparison_cell(comparison, i, engine))) {
            const struct comparison_series *base = &row->engines[table->baseline];
            sum += pairs_of(table, row, &row->engines[engine], base, logs).bucket_variance;
            ++*rows;
        }
    }
    return *rows > 0 ? sum / ((double)*rows * (double)*rows) : 0;
}

/* Why an engine has no mean, none of its rows being whole. */
static enum verdict common_state(const struct comparison *comparison, size_t engine)
{
    enum verdict state = VERDICT_MISSING;
    for (size_t i = 0; i < comparison->row_count; i++) {
        enum verdict found = comparison_cell(comparison, i, engine)->verdict;
        if (i > 0 && found != state) {
            return VERDICT_MISSING;
        }
        state = found;
    }
    return state;
}

static void compute_mean(const struct comparison_table *table, size_t engine,
                         struct comparison *out, double *logs)
{
    struct comparison_mean *mean = &out->means[engine];
    struct verdict_terms terms = comparison_terms(table, NULL, out->floor);
    struct pairs pairs = {0};
    enum verdict state = VERDICT_BASELINE;
    size_t n = 0;
    if (engine == table->baseline) {
        mean->rows = table->row_count;
    } else {
        pairs.bucket_variance = rows_bucket_variance(table, out, engine, logs, &mean->rows);
        for (size_t round = 0; round < table->rounds; round++) {
            n += round_mean(table, out, engine, round, &logs[n]) ? 1 : 0;
        }
        state = mean->rows == table->row_count ? VERDICT_NONE
                : mean->rows > 0               ? VERDICT_PARTIAL
                                               : common_state(out, engine);
    }
    pairs.moments = moments_of(logs, n);
    judge(&mean->cell, &pairs, state, &terms,
          table->engine_count > 1 ? table->engine_count - 1 : 1);
    mean->cell.median = mean->cell.spread = (double)NAN;
}

/* ---- all of it ------------------------------------------------------------------- */

int comparison_compute(const struct comparison_table *table, struct comparison *out,
                       struct error *error)
{
    assert(table->engine_count > 0 && table->baseline < table->engine_count);
    size_t rows = table->row_count;
    size_t engines = table->engine_count;
    *out = (struct comparison){
        .row_count = rows,
        .engine_count = engines,
        .cell_count = rows * (engines - 1),
        .cells = calloc(rows * engines + 1, sizeof *out->cells),
        .best = calloc(rows + 1, sizeof *out->best),
        .means = calloc(engines, sizeof *out->means),
    };
    double *logs = calloc(table->rounds + 1, sizeof *logs);
    int status = 0;
    if (out->cells == NULL || out->best == NULL || out->means == NULL || logs == NULL) {
        status = error_set(error, ERROR_MEMORY, "out of memory for a table of %zu rows", rows);
        goto out;
    }
    out->floor = comparison_floor(table, logs, &out->floor_row, &out->floor_rows);
    for (size_t row = 0; row < rows; row++) {
        compute_row(table, row, out, logs);
        compute_best(table, row, out, logs);
    }
    for (size_t engine = 0; engine < engines; engine++) {
        compute_mean(table, engine, out, logs);
    }
out:
    free(logs);
    return status;
}

void comparison_release(struct comparison *comparison)
{
    free(comparison->cells);
    free(comparison->best);
    free(comparison->means);
    *comparison = (struct comparison){0};
}
