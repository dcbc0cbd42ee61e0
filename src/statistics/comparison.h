/*
 * One table of a comparison: a suite's rows by engines, for one metric class. From the rounds'
 * figures to ratios, intervals, verdicts, the noise floor, the best of a row, and geometric means
 * over rows. Takes and gives plain numbers, so that it can be fed by a result or by a simulation.
 */
#ifndef PITOT_STATISTICS_COMPARISON_H
#define PITOT_STATISTICS_COMPARISON_H

#include "core/error.h"
#include "statistics/verdict.h"

#include <stdint.h>

enum comparison_metric {
    COMPARISON_THROUGHPUT, /* higher is better */
    COMPARISON_LATENCY,    /* ns, lower is better; in a closed loop of several connections each
                              engine has it at a rate of its own */
    COMPARISON_COST,       /* CPU, memory, bytes: lower is better */
};

/* What became of an engine in a row, as far as its figures do not tell. */
enum comparison_state {
    COMPARISON_OK,
    COMPARISON_PARTIAL,        /* some runs ended early */
    COMPARISON_FAILED,         /* no run to rely on, or wrong answers */
    COMPARISON_UNABLE,         /* it cannot do what the row asks */
    COMPARISON_MISSING,        /* not measured */
    COMPARISON_NOT_COMPARABLE, /* measured, but something else */
};

struct comparison_series {
    const double *values; /* [rounds], NAN: absent (so are values of 0 or less); NULL: all absent */
    enum comparison_state state;
};

struct comparison_row {
    const char *name;
    size_t connections;
    bool open_loop;      /* operations are offered at one rate to all engines */
    const bool *invalid; /* [rounds] left out for every engine, as a round that was interrupted or
                            that the host disturbed; NULL: none */
    const struct comparison_series *engines; /* [engine_count] */
    struct comparison_series again; /* the baseline engine's second run; values NULL: none */
};

struct comparison_table {
    const char *const *engines; /* names, no two alike */
    size_t engine_count;        /* at least 1 */
    size_t baseline;            /* its index */
    size_t rounds;
    enum comparison_metric metric;
    bool from_histogram; /* values are percentiles out of core/histogram.h, in ns */
    const struct comparison_row *rows;
    size_t row_count;
};

struct comparison_cell {
    enum verdict verdict;
    struct interval interval; /* of the ratio to the baseline; of the baseline itself: n = 0 */
    double median;            /* of the engine's rounds; NAN without any */
    double spread;            /* (max - min) / median of them; NAN below 2 */
    size_t lost;              /* valid rounds in which the engine or the baseline is absent */
    double smallest;          /* difference that these rounds could have shown, 0.03 for 3 %: the
                                 half-width or the floor, whichever is larger; NAN below 2 rounds */
    bool within_floor;  /* the mean does not exceed the noise floor: no number of rounds helps */
    size_t more_rounds; /* that would separate the two (interval_more_rounds); 0 where it does
                           not apply: a verdict other than NONE, or within_floor */
};

/* The best engine of a row against the second best: by means of log ratios, among engines that have
 * all rounds. The interval holds together with those of all pairs of engines of the table, since
 * the pair was chosen by what it shows. */
struct comparison_best {
    size_t engine, second; /* SIZE_MAX: fewer than two to choose from */
    struct interval lead;  /* of the ratio best / second */
    enum verdict verdict;  /* FASTER: the lead is shown */
};

/* Geometric mean of an engine's ratios over the rows; the interval is that of the means over rows
 * of each round, in a table of engine_count - 1 cells. PARTIAL when a row could not be taken in;
 * when none could, what all its rows say, MISSING when they differ in that. */
struct comparison_mean {
    struct comparison_cell cell; /* median and spread are NAN */
    size_t rows;                 /* that were taken in, of row_count */
};

struct comparison {
    size_t row_count, engine_count;
    size_t cell_count; /* that the intervals are widened for: row_count × (engine_count - 1) */
    double floor;      /* log ratio */
    size_t floor_row;  /* whose A-against-A mean it is; SIZE_MAX: the least floor */
    size_t floor_rows; /* rows in which the baseline engine ran twice */
    struct comparison_cell *cells; /* [row_count][engine_count] */
    struct comparison_best *best;  /* [row_count] */
    struct comparison_mean *means; /* [engine_count] */
};

/* Fills `out`, to be released also after a failure. 0 or ERROR_MEMORY. Any thread. */
int comparison_compute(const struct comparison_table *table, struct comparison *out,
                       struct error *error);
void comparison_release(struct comparison *comparison);

static inline const struct comparison_cell *comparison_cell(const struct comparison *comparison,
                                                            size_t row, size_t engine)
{
    return &comparison->cells[row * comparison->engine_count + engine];
}

#endif
