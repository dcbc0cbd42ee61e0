#include "statistics/comparison.h"
#include "statistics/student.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ABSENT (double)NAN

enum { ROUNDS = 4, ROWS_MAX = 3, ENGINES_MAX = 3 };

/* A table whose first engine is the baseline; every engine has the values 100, 102, 98, 100 in
 * every row, and so has the baseline's second run. Tests change what they are about. */
struct fixture {
    double values[ROWS_MAX][ENGINES_MAX + 1][ROUNDS];
    bool invalid[ROWS_MAX][ROUNDS];
    struct comparison_series series[ROWS_MAX][ENGINES_MAX];
    struct comparison_row rows[ROWS_MAX];
    struct comparison_table table;
    struct comparison out;
};

static void begin(struct fixture *f, size_t rows, size_t engines)
{
    static const char *const names[] = {"base", "one", "two"};
    static const char *const row_names[] = {"first", "second", "third"};
    static const double values[ROUNDS] = {100, 102, 98, 100};
    memset(f, 0, sizeof *f);
    for (size_t row = 0; row < rows; row++) {
        for (size_t engine = 0; engine <= ENGINES_MAX; engine++) {
            memcpy(f->values[row][engine], values, sizeof values);
        }
        for (size_t engine = 0; engine < engines; engine++) {
            f->series[row][engine].values = f->values[row][engine];
        }
        f->rows[row] = (struct comparison_row){.name = row_names[row],
                                               .connections = 1,
                                               .invalid = f->invalid[row],
                                               .engines = f->series[row],
                                               .again.values = f->values[row][ENGINES_MAX]};
    }
    f->table = (struct comparison_table){.engines = names,
                                         .engine_count = engines,
                                         .rounds = ROUNDS,
                                         .rows = f->rows,
                                         .row_count = rows};
}

static void multiply(struct fixture *f, size_t row, size_t engine, double by)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        f->values[row][engine][round] *= by;
    }
}

static void set(struct fixture *f, size_t row, size_t engine, double a, double b, double c,
                double d)
{
    const double values[ROUNDS] = {a, b, c, d};
    memcpy(f->values[row][engine], values, sizeof values);
}

static void compute(struct fixture *f)
{
    comparison_release(&f->out);
    struct error error = ERROR_INIT;
    assert_int_equal(comparison_compute(&f->table, &f->out, &error), 0);
}

static const struct comparison_cell *cell(const struct fixture *f, size_t row, size_t engine)
{
    return comparison_cell(&f->out, row, engine);
}

static void end(struct fixture *f)
{
    comparison_release(&f->out);
    assert_null(f->out.cells);
}

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g instead of %.17g", found, expected);
    }
}

static void assert_verdict(const struct comparison_cell *found, enum verdict expected)
{
    assert_string_equal(verdict_text(found->verdict), verdict_text(expected));
}

static void a_cell_is_paired_by_round(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 2, 3);
    set(&f, 0, 0, 100, 200, 400, 50);
    set(&f, 0, ENGINES_MAX, 100, 200, 400, 50);
    set(&f, 0, 1, 110, 231, 420, 55); /* 1.1, 1.155, 1.05, 1.1 */
    compute(&f);
    const struct comparison_cell *found = cell(&f, 0, 1);
    assert_int_equal(f.out.cell_count, 4);
    const double logs[] = {log(1.1), log(1.155), log(1.05), log(1.1)};
    struct moments moments = moments_of(logs, ROUNDS);
    assert_close(found->interval.mean, moments.mean);
    assert_close(found->interval.half_width,
                 student_quantile(interval_alpha(4) / 2, 3) * sqrt(moments.variance / ROUNDS));
    assert_close(found->smallest, expm1(found->interval.half_width));
    assert_close(found->median, (110 + 231) / 2.0);
    assert_close(found->spread, (420 - 55) / ((110 + 231) / 2.0));
    assert_int_equal(found->lost, 0);

    f.table.rounds = 1;
    compute(&f);
    assert_close(cell(&f, 0, 1)->median, 110);
    assert_true(isnan(cell(&f, 0, 1)->spread));
    end(&f);
}

/* Exact differences: no noise but the one that all engines share. */
static void verdicts_follow_the_metric(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 1, 3);
    multiply(&f, 0, 1, 1.2);
    multiply(&f, 0, 2, 1.009); /* within the least floor */
    compute(&f);
    assert_verdict(cell(&f, 0, 0), VERDICT_BASELINE);
    assert_verdict(cell(&f, 0, 1), VERDICT_FASTER);
    assert_verdict(cell(&f, 0, 2), VERDICT_NONE);
    assert_true(cell(&f, 0, 2)->within_floor);
    assert_int_equal(cell(&f, 0, 2)->more_rounds, 0);
    assert_close(cell(&f, 0, 2)->smallest, 0.01);
    f.table.metric = COMPARISON_COST;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_SLOWER);
    f.table.metric = COMPARISON_LATENCY;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_SLOWER);
    end(&f);
}

static void latencies_in_a_closed_loop_have_no_verdict(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 2, 2);
    multiply(&f, 0, 1, 2);
    f.rows[0].connections = 4;
    f.table.metric = COMPARISON_LATENCY;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_CLOSED_LOOP);
    assert_verdict(cell(&f, 1, 1), VERDICT_NONE);
    assert_close(cell(&f, 0, 1)->interval.ratio, 2);
    assert_int_equal(f.out.best[0].verdict, VERDICT_CLOSED_LOOP);
    assert_verdict(&f.out.means[1].cell, VERDICT_CLOSED_LOOP);
    f.rows[0].open_loop = true;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_SLOWER);
    f.rows[0].open_loop = false;
    f.table.metric = COMPARISON_THROUGHPUT;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_FASTER);
    end(&f);
}

static void the_floor_is_the_widest_of_the_second_runs(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 3, 2);
    multiply(&f, 2, 1, 1.2);
    compute(&f);
    assert_close(f.out.floor, log(1.01));
    assert_true(f.out.floor_row == SIZE_MAX);
    assert_int_equal(f.out.floor_rows, 3);
    assert_verdict(cell(&f, 2, 1), VERDICT_FASTER);
    multiply(&f, 0, ENGINES_MAX, 1.05);
    multiply(&f, 1, ENGINES_MAX, 1 / 1.25);
    compute(&f);
    assert_close(f.out.floor, log(1.25));
    assert_int_equal(f.out.floor_row, 1);
    assert_verdict(cell(&f, 2, 1), VERDICT_NONE);
    assert_close(cell(&f, 2, 1)->smallest, 0.25);
    for (size_t row = 0; row < 3; row++) {
        f.rows[row].again.values = NULL;
    }
    compute(&f);
    assert_close(f.out.floor, log(1.01));
    assert_int_equal(f.out.floor_rows, 0);
    end(&f);
}

static void what_is_not_whole_is_named_and_never_faster(void **state)
{
    (void)state;
    static struct fixture f;
    static const struct {
        enum comparison_state engine, base;
        enum verdict verdict;
    } cases[] = {
        {COMPARISON_OK, COMPARISON_OK, VERDICT_FASTER},
        {COMPARISON_PARTIAL, COMPARISON_OK, VERDICT_PARTIAL},
        {COMPARISON_FAILED, COMPARISON_OK, VERDICT_FAILED},
        {COMPARISON_MISSING, COMPARISON_OK, VERDICT_MISSING},
        {COMPARISON_UNABLE, COMPARISON_OK, VERDICT_UNABLE},
        {COMPARISON_OK, COMPARISON_UNABLE, VERDICT_NOT_COMPARABLE},
        {COMPARISON_NOT_COMPARABLE, COMPARISON_OK, VERDICT_NOT_COMPARABLE},
        {COMPARISON_OK, COMPARISON_PARTIAL, VERDICT_PARTIAL},
        {COMPARISON_OK, COMPARISON_FAILED, VERDICT_NOT_COMPARABLE},
        {COMPARISON_OK, COMPARISON_MISSING, VERDICT_NOT_COMPARABLE},
        {COMPARISON_FAILED, COMPARISON_FAILED, VERDICT_FAILED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&f, 1, 2);
        multiply(&f, 0, 1, 3);
        f.series[0][1].state = cases[i].engine;
        f.series[0][0].state = cases[i].base;
        compute(&f);
        assert_verdict(cell(&f, 0, 1), cases[i].verdict);
        bool whole = cases[i].verdict == VERDICT_FASTER;
        assert_true((f.out.best[0].engine == 1) == whole);
        assert_int_equal(f.out.means[1].rows, whole ? 1 : 0);
        end(&f);
    }
    begin(&f, 1, 2);
    f.series[0][1].values = NULL;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_MISSING);
    assert_true(isnan(cell(&f, 0, 1)->median) && isnan(cell(&f, 0, 1)->interval.ratio));
    f.series[0][1].values = f.values[0][1];
    f.series[0][0].values = NULL;
    compute(&f);
    assert_verdict(cell(&f, 0, 0), VERDICT_MISSING);
    assert_verdict(cell(&f, 0, 1), VERDICT_NOT_COMPARABLE);
    end(&f);
}

static void a_lost_round_makes_a_cell_partial(void **state)
{
    (void)state;
    static struct fixture f;
    static const double lost[] = {ABSENT, 0, -1, (double)INFINITY};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        for (size_t engine = 0; engine < 2; engine++) {
            begin(&f, 1, 2);
            multiply(&f, 0, 1, 3);
            f.values[0][engine][2] = lost[i];
            compute(&f);
            assert_verdict(cell(&f, 0, 1), VERDICT_PARTIAL);
            assert_int_equal(cell(&f, 0, 1)->lost, 1);
            assert_int_equal(cell(&f, 0, 1)->interval.n, 3);
            assert_close(cell(&f, 0, 1)->interval.ratio, 3);
            end(&f);
        }
    }
}

static void invalid_rounds_are_left_out_for_all(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 1, 2);
    multiply(&f, 0, 1, 1.5);
    f.invalid[0][3] = true;
    f.values[0][1][3] = ABSENT;
    f.values[0][0][3] = 1e9;
    f.values[0][ENGINES_MAX][3] = 1;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_FASTER);
    assert_int_equal(cell(&f, 0, 1)->interval.n, 3);
    assert_int_equal(cell(&f, 0, 1)->lost, 0);
    assert_close(cell(&f, 0, 0)->median, 100);
    assert_close(f.out.floor, log(1.01));
    assert_int_equal(f.out.means[1].cell.interval.n, 3);
    f.invalid[0][2] = true;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_FEW_ROUNDS);
    f.invalid[0][1] = true;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_FEW_ROUNDS);
    assert_true(isnan(cell(&f, 0, 1)->smallest) && isnan(cell(&f, 0, 1)->interval.low));
    end(&f);
}

static void close_rows_say_how_many_rounds_are_missing(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 1, 2);
    set(&f, 0, 0, 100, 100, 100, 100);
    set(&f, 0, 1, 102, 108, 101, 104);
    set(&f, 0, ENGINES_MAX, 100, 100, 100, 100);
    compute(&f);
    const struct comparison_cell *found = cell(&f, 0, 1);
    assert_verdict(found, VERDICT_NONE);
    assert_false(found->within_floor);
    const double logs[] = {log(1.02), log(1.08), log(1.01), log(1.04)};
    struct moments moments = moments_of(logs, ROUNDS);
    assert_int_equal(found->more_rounds, interval_more_rounds(&moments, 0, log(1.01), 1));
    assert_in_range(found->more_rounds, 1, 20);
    end(&f);
}

static void percentiles_are_as_coarse_as_their_buckets(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 2, 2);
    for (size_t row = 0; row < 2; row++) {
        set(&f, row, 0, 1024, 1024, 1024, 1024);
        set(&f, row, ENGINES_MAX, 1024, 1024, 1024, 1024);
        set(&f, row, 1, 1036, 1036, 1036, 1036);
    }
    f.table.metric = COMPARISON_LATENCY;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_SLOWER);
    f.table.from_histogram = true;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_NONE);
    double variance = bucket_variance(1024) + bucket_variance(1036);
    assert_close(cell(&f, 0, 1)->interval.half_width,
                 student_quantile(interval_alpha(2) / 2, 3) * sqrt(variance));
    /* Of the mean over two rows half as much. */
    assert_close(f.out.means[1].cell.interval.half_width,
                 student_quantile(0.025, 3) * sqrt(variance / 2));
    end(&f);
}

static void the_best_leads_the_second(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 2, 3);
    multiply(&f, 0, 1, 1.2);
    multiply(&f, 0, 2, 1.5);
    multiply(&f, 1, 1, 0.8);
    multiply(&f, 1, 2, 0.995);
    f.values[1][2][0] += 1; /* some noise, so that more pairs make a difference */
    compute(&f);
    assert_int_equal(f.out.best[0].engine, 2);
    assert_int_equal(f.out.best[0].second, 1);
    assert_close(f.out.best[0].lead.ratio, 1.5 / 1.2);
    assert_int_equal(f.out.best[0].verdict, VERDICT_FASTER);
    assert_int_equal(f.out.best[1].engine, 0); /* the baseline can be the best */
    assert_int_equal(f.out.best[1].second, 2);
    assert_int_equal(f.out.best[1].verdict, VERDICT_NONE);
    /* All pairs: 2 rows × 3; the cell has 2 × 2. */
    assert_close(f.out.best[1].lead.half_width / cell(&f, 1, 2)->interval.half_width,
                 student_quantile(interval_alpha(6) / 2, 3) /
                     student_quantile(interval_alpha(4) / 2, 3));
    f.table.metric = COMPARISON_COST;
    compute(&f);
    assert_int_equal(f.out.best[0].engine, 0);
    assert_int_equal(f.out.best[0].second, 1);
    assert_close(f.out.best[0].lead.ratio, 1 / 1.2);
    assert_int_equal(f.out.best[0].verdict, VERDICT_FASTER);
    /* One alone has nobody to lead. */
    f.series[0][1].state = f.series[0][2].state = COMPARISON_FAILED;
    compute(&f);
    assert_true(f.out.best[0].engine == SIZE_MAX && f.out.best[0].second == SIZE_MAX);
    assert_int_equal(f.out.best[0].verdict, VERDICT_MISSING);
    end(&f);
}

static void means_are_geometric_over_rows(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 3, 3);
    multiply(&f, 0, 1, 2);
    multiply(&f, 1, 1, 4);
    f.values[0][1][0] *= 1.1;
    f.values[1][1][1] *= 0.9;
    compute(&f);
    const struct comparison_mean *mean = &f.out.means[1];
    const double logs[] = {(log(2.2) + log(4)) / 3, (log(2) + log(3.6)) / 3, log(8) / 3,
                           log(8) / 3};
    struct moments moments = moments_of(logs, ROUNDS);
    assert_int_equal(mean->rows, 3);
    assert_close(mean->cell.interval.mean, moments.mean);
    assert_close(mean->cell.interval.half_width,
                 student_quantile(interval_alpha(2) / 2, 3) * sqrt(moments.variance / ROUNDS));
    assert_verdict(&mean->cell, VERDICT_FASTER);
    assert_verdict(&f.out.means[2].cell, VERDICT_NONE);
    assert_verdict(&f.out.means[0].cell, VERDICT_BASELINE);
    /* A row that is not whole is left out, which is said. */
    f.series[1][1].state = COMPARISON_FAILED;
    compute(&f);
    assert_verdict(&f.out.means[1].cell, VERDICT_PARTIAL);
    assert_int_equal(f.out.means[1].rows, 2);
    assert_close(f.out.means[1].cell.interval.mean, (log(2.2) + 3 * log(2)) / 8);
    assert_int_equal(f.out.means[2].rows, 3);
    /* A round that one row lacks is no round of the mean. */
    f.series[1][1].state = COMPARISON_OK;
    f.invalid[2][0] = true;
    compute(&f);
    assert_int_equal(f.out.means[1].cell.interval.n, 3);
    assert_int_equal(cell(&f, 0, 1)->interval.n, 4);
    end(&f);
}

static void small_tables_are_tables(void **state)
{
    (void)state;
    static struct fixture f;
    begin(&f, 2, 1);
    compute(&f);
    assert_int_equal(f.out.cell_count, 0);
    assert_verdict(cell(&f, 1, 0), VERDICT_BASELINE);
    assert_true(f.out.best[0].engine == SIZE_MAX);
    f.table.row_count = 0;
    compute(&f);
    assert_close(f.out.floor, log(1.01));
    end(&f);
    begin(&f, 1, 2);
    f.table.rounds = 0;
    compute(&f);
    assert_verdict(cell(&f, 0, 1), VERDICT_FEW_ROUNDS);
    assert_true(isnan(cell(&f, 0, 1)->interval.ratio));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_paired_by_round),
        cmocka_unit_test(verdicts_follow_the_metric),
        cmocka_unit_test(latencies_in_a_closed_loop_have_no_verdict),
        cmocka_unit_test(the_floor_is_the_widest_of_the_second_runs),
        cmocka_unit_test(what_is_not_whole_is_named_and_never_faster),
        cmocka_unit_test(a_lost_round_makes_a_cell_partial),
        cmocka_unit_test(invalid_rounds_are_left_out_for_all),
        cmocka_unit_test(close_rows_say_how_many_rounds_are_missing),
        cmocka_unit_test(percentiles_are_as_coarse_as_their_buckets),
        cmocka_unit_test(the_best_leads_the_second),
        cmocka_unit_test(means_are_geometric_over_rows),
        cmocka_unit_test(small_tables_are_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
