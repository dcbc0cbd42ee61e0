#include "statistics/against.h"

#include "statistics/comparison_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One cell of one occasion; row NULL: it is not there. */
struct side {
    const struct comparison_table *table;
    const struct comparison_row *row;
    size_t engine;
};

static const struct comparison_row *find_row(const struct comparison_table *table, const char *name)
{
    for (size_t i = 0; i < table->row_count; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static size_t find_engine(const struct comparison_table *table, const char *name)
{
    for (size_t i = 0; i < table->engine_count; i++) {
        if (strcmp(table->engines[i], name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static struct side find(const struct comparison_table *table, const char *row, const char *engine)
{
    struct side side = {table, find_row(table, row), find_engine(table, engine)};
    if (side.engine == SIZE_MAX) {
        side.row = NULL;
    }
    return side;
}

static const char *baseline(const struct comparison_table *table)
{
    return table->engines[table->baseline];
}

static struct pairs side_pairs(const struct side *side, double *logs)
{
    return pairs_of(side->table, side->row, &side->row->engines[side->engine],
                    &side->row->engines[side->table->baseline], logs);
}

static bool alike(const struct side *now, const struct side *before)
{
    return now->row->connections == before->row->connections &&
           now->row->open_loop == before->row->open_loop &&
           strcmp(baseline(now->table), baseline(before->table)) == 0;
}

/* `logs` has room for the rounds of either. */
static void judge(struct against_cell *cell, const struct side *now, const struct side *before,
                  const struct against *against, double *logs)
{
    struct pairs pairs = side_pairs(now, logs);
    struct pairs old = side_pairs(before, logs);
    cell->interval = interval_welch(&pairs.moments, pairs.bucket_variance, &old.moments,
                                    old.bucket_variance, against->count);
    if (cell->interval.n >= 2) {
        cell->smallest = expm1(fmax(cell->interval.half_width, against->floor));
    }
    struct verdict_terms terms = comparison_terms(now->table, now->row, against->floor);
    enum verdict state = pairs_state(now->row, now->engine, now->table->baseline, &pairs);
    enum verdict then = pairs_state(before->row, before->engine, before->table->baseline, &old);
    if (state != VERDICT_NONE) {
        cell->verdict = state;
    } else if (then != VERDICT_NONE) {
        cell->verdict = VERDICT_NOT_COMPARABLE;
    } else {
        cell->verdict = verdict_of(&cell->interval, &terms);
    }
}

/* Names every cell of `table` that is not its baseline's, or not in `other` if one is given.
 * Returns their number; `cells` NULL: only that. */
static size_t list(const struct comparison_table *table, const struct comparison_table *other,
                   struct against_cell *cells)
{
    size_t count = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t engine = 0; engine < table->engine_count; engine++) {
            const char *row_name = table->rows[row].name;
            const char *engine_name = table->engines[engine];
            if (engine == table->baseline ||
                (other != NULL && find(other, row_name, engine_name).row != NULL)) {
                continue;
            }
            if (cells != NULL) {
                cells[count].row = row_name;
                cells[count].engine = engine_name;
            }
            count++;
        }
    }
    return count;
}

int against_compute(const struct comparison_table *now, const struct comparison_table *before,
                    double threshold, struct against *out, struct error *error)
{
    assert(now->metric == before->metric && threshold >= 0);
    size_t listed = list(now, NULL, NULL);
    size_t ignored;
    *out = (struct against){.count = listed + list(before, now, NULL)};
    out->cells = calloc(out->count + 1, sizeof *out->cells);
    size_t rounds = now->rounds > before->rounds ? now->rounds : before->rounds;
    double *logs = calloc(rounds + 1, sizeof *logs);
    int status = 0;
    if (out->cells == NULL || logs == NULL) {
        status = error_set(error, ERROR_MEMORY, "out of memory for %zu ratios", out->count);
        goto out;
    }
    list(now, NULL, out->cells);
    list(before, now, out->cells + listed);
    out->floor = fmax(log1p(threshold), fmax(comparison_floor(now, logs, &ignored, &ignored),
                                             comparison_floor(before, logs, &ignored, &ignored)));
    for (size_t i = 0; i < out->count; i++) {
        struct against_cell *cell = &out->cells[i];
        struct side side = find(now, cell->row, cell->engine);
        struct side old = find(before, cell->row, cell->engine);
        cell->now = side.row != NULL;
        cell->before = old.row != NULL;
        cell->smallest = (double)NAN;
        if (cell->now && cell->before && alike(&side, &old)) {
            judge(cell, &side, &old, out, logs);
        } else {
            const struct moments none = moments_of(NULL, 0);
            cell->interval = interval_welch(&none, 0, &none, 0, out->count);
            cell->verdict = cell->now ? VERDICT_NOT_COMPARABLE : VERDICT_MISSING;
        }
        out->slower += cell->verdict == VERDICT_SLOWER ? 1 : 0;
    }
out:
    free(logs);
    return status;
}

void against_release(struct against *against)
{
    free(against->cells);
    *against = (struct against){0};
}
