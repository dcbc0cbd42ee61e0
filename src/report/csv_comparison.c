/* Rows of a comparison: METRIC_ratio and its kin, METRIC being throughput, p99 or cpu. */
#include "report/csv_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* METRIC_SUFFIX */
struct name {
    char text[80];
};

static struct name name_of(const char *metric, const char *suffix)
{
    struct name name;
    snprintf(name.text, sizeof name.text, "%.30s_%.40s", metric, suffix);
    return name;
}

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

/* A number for the words that say something of speed. */
static double verdict_number(const char *verdict)
{
    if (verdict == NULL || strcmp(verdict, "closed loop") == 0) {
        return (double)NAN;
    }
    return strcmp(verdict, "faster") == 0 ? 1 : strcmp(verdict, "slower") == 0 ? -1 : 0;
}

/* A ratio with its interval, and what it shows. */
static void put_ratio(const struct csv_subject *subject, const char *metric, const char *suffix,
                      const struct result_figure *ratio, const char *verdict, const char *note)
{
    const struct name name = name_of(metric, suffix);
    csv_figure(subject, name.text, "1", ratio);
    csv_note(subject, name_of(name.text, "verdict").text, "-1 to 1", verdict_number(verdict),
             verdict != NULL ? verdict : note);
}

static void put_cell(const struct csv_subject *subject, const struct result_comparison_table *table,
                     const struct result_comparison_cell *cell)
{
    const char *metric = table->metric;
    csv_one(subject, name_of(metric, "median").text, table->unit, cell->median);
    csv_one(subject, name_of(metric, "spread").text, "1", cell->spread);
    put_ratio(subject, metric, "ratio",
              &(struct result_figure){cell->ratio, cell->ratio_low, cell->ratio_high},
              cell->verdict, cell->note);
    csv_one(subject, name_of(metric, "could_show").text, "1", cell->smallest_difference);
    csv_count(subject, name_of(metric, "rounds").text, "count", cell->rounds);
    csv_count(subject, name_of(metric, "more_rounds").text, "count", cell->more_rounds);
}

static void put_table(struct buffer *out, const struct result *result,
                      const struct result_comparison_table *table)
{
    struct result_engine other;
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_comparison_row *row = &table->rows.items[i];
        struct csv_subject subject = {
            .out = out,
            .label = result->cases.items[row->case_index].label,
            .role = row->role,
            .script = row->script,
        };
        for (size_t k = 0; k < row->cells.count; k++) {
            subject.engine = engine_of(result, row->cells.items[k].engine, &other);
            put_cell(&subject, table, &row->cells.items[k]);
        }
        if (row->best != NULL) {
            subject.engine = engine_of(result, row->best, &other);
            csv_figure(
                &subject, name_of(table->metric, "best_lead").text, "1",
                &(struct result_figure){row->best_lead, row->best_lead_low, row->best_lead_high});
        }
    }
    for (size_t i = 0; i < table->geometric_means.count; i++) {
        const struct result_comparison_mean *mean = &table->geometric_means.items[i];
        const struct csv_subject subject = {
            .out = out,
            .engine = engine_of(result, mean->engine, &other),
            .role = table->suite,
        };
        put_ratio(&subject, table->metric, "geometric_mean",
                  &(struct result_figure){mean->ratio, mean->ratio_low, mean->ratio_high},
                  mean->verdict, mean->note);
        csv_count(&subject, name_of(table->metric, "geometric_mean_rows").text, "count",
                  mean->rows);
    }
    const struct csv_subject base = {
        .out = out,
        .engine = engine_of(result, result->comparison.baseline, &other),
        .role = table->suite,
    };
    csv_one(&base, name_of(table->metric, "noise_floor").text, "1", table->floor);
    csv_count(&base, name_of(table->metric, "noise_floor_rows").text, "count", table->floor_rows);
}

static void put_against(struct buffer *out, const struct result *result)
{
    const struct result_against *against = &result->comparison.against;
    struct result_engine other;
    for (size_t i = 0; i < against->tables.count; i++) {
        const struct result_against_table *table = &against->tables.items[i];
        for (size_t k = 0; k < table->rows.count; k++) {
            const struct result_against_row *row = &table->rows.items[k];
            const struct csv_subject subject = {
                .out = out,
                .engine = engine_of(result, row->engine, &other),
                .label = row->row,
            };
            put_ratio(&subject, table->metric, "against",
                      &(struct result_figure){row->ratio, row->ratio_low, row->ratio_high},
                      row->verdict, row->note);
            csv_one(&subject, name_of(table->metric, "against_could_show").text, "1",
                    row->smallest_difference);
        }
        const struct csv_subject base = {
            .out = out,
            .engine = engine_of(result, result->comparison.baseline, &other),
            .role = table->suite,
        };
        csv_one(&base, name_of(table->metric, "against_noise_floor").text, "1", table->floor);
    }
}

void csv_comparison(struct buffer *out, const struct result *result)
{
    const struct result_comparison *comparison = &result->comparison;
    struct result_engine other;
    if (comparison->baseline == NULL) {
        return;
    }
    const struct csv_subject base = {
        .out = out,
        .engine = engine_of(result, comparison->baseline, &other),
    };
    csv_count(&base, "comparison_rounds", "count", comparison->runs);
    csv_one(&base, "comparison_confidence", "1", comparison->confidence);
    csv_count(&base, "comparison_rounds_repeated", "count", comparison->rounds_repeated);
    csv_count(&base, "comparison_rounds_disturbed", "count", comparison->rounds_disturbed);
    csv_one(&base, "comparison_threshold", "1", comparison->threshold);
    csv_count(&base, "comparison_slower", "count", comparison->slower);
    for (size_t i = 0; i < comparison->tables.count; i++) {
        put_table(out, result, &comparison->tables.items[i]);
    }
    put_against(out, result);
}
