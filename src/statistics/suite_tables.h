/*
 * The tables that a result is compared in: one a suite and metric, its figures of each round laid
 * out as comparison.h takes them.
 */
#ifndef PITOT_STATISTICS_SUITE_TABLES_H
#define PITOT_STATISTICS_SUITE_TABLES_H

#include "result/result.h"
#include "statistics/comparison.h"

/* X(id, name, unit of a figure, COMPARISON_…) */
#define SUITE_METRICS(X)                                                                           \
    X(THROUGHPUT, "throughput", "1/s", COMPARISON_THROUGHPUT)                                      \
    X(P99, "p99", "ns", COMPARISON_LATENCY)                                                        \
    X(CPU, "cpu", "ns", COMPARISON_COST)

enum suite_metric {
#define X(id, name, unit, metric) SUITE_METRIC_##id,
    SUITE_METRICS(X)
#undef X
        SUITE_METRIC_COUNT
};

const char *suite_metric_name(enum suite_metric metric);
const char *suite_metric_unit(enum suite_metric metric);

/* What a row is about; role NULL: all of the case, script NULL: all of the role. */
struct suite_row {
    size_t of; /* index of the case */
    const char *role, *script;
    char *name; /* unique in the table: "select-point", "prod, user_by_id" */
};

struct suite_table {
    const char *suite;
    enum suite_metric metric;
    struct comparison_table table;
    struct suite_row *rows; /* [table.row_count] */
    /* What the table points to. */
    const char **engines;
    struct comparison_row *lines;
    struct comparison_series *series;
    double *values;
    bool *invalid;
};

/*
 * Fills `out` with the table of a suite (a name that a case of the result has). All strings in it
 * but the rows' names belong to the result, which must stay. A round of a case is left out for
 * every engine when it was broken off. An engine that differs is COMPARISON_NOT_COMPARABLE, as it
 * did something else, and so is a figure that suite_row_doubt() speaks of; one without an ok run in
 * a case is FAILED or, when nothing says why, MISSING.
 * The baseline's second runs (aside as "again") become comparison_row.again. 0 or ERROR_MEMORY;
 * `out` is to be released in either case. Any thread.
 */
int suite_table_fill(const struct result *result, const char *suite, enum suite_metric metric,
                     size_t baseline, struct suite_table *out, struct error *error);
void suite_table_release(struct suite_table *table);

/*
 * Why the figure of an engine in a row is not to be compared although its runs are whole; a
 * constant, NULL: it may be.
 *   - A p99 is not known when more than 1 % of what was due has no latency, since it was refused,
 *     still open, or never begun: it lies among those.
 *   - CPU time an operation of several roles is that of another mix for each engine, unless each
 *     does a given number: one that lets many cheap reads pass looks cheaper.
 *   - CPU time at a rate holds the worker's own waiting for the next moment, more of it the faster
 *     the engine is.
 */
const char *suite_row_doubt(const struct result *result, enum suite_metric metric,
                            const struct suite_row *row, size_t engine);

#endif
