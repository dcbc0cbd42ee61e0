#include "statistics/against.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 5, ROWS_MAX = 2, ENGINES = 2 };

/* One occasion: rows of a baseline and one engine. */
struct occasion {
    double values[ROWS_MAX][ENGINES + 1][ROUNDS];
    struct comparison_series series[ROWS_MAX][ENGINES];
    struct comparison_row rows[ROWS_MAX];
    const char *engines[ENGINES];
    struct comparison_table table;
};

/* The engine at `ratio` times the baseline in every row, the host at `host`. */
static void begin(struct occasion *o, size_t rows, double host, double ratio)
{
    static const char *const row_names[] = {"first", "second"};
    static const double noise[ENGINES + 1][ROUNDS] = {{1, 1.002, 0.998, 1.001, 0.999},
                                                      {1.001, 0.999, 1, 1.002, 0.998},
                                                      {1.002, 1, 0.999, 0.998, 1.001}};
    memset(o, 0, sizeof *o);
    for (size_t row = 0; row < rows; row++) {
        for (size_t run = 0; run <= ENGINES; run++) {
            for (size_t round = 0; round < ROUNDS; round++) {
                o->values[row][run][round] =
                    1000 * host * (run == 1 ? ratio : 1) * noise[run][round];
            }
        }
        for (size_t engine = 0; engine < ENGINES; engine++) {
            o->series[row][engine].values = o->values[row][engine];
        }
        o->rows[row] = (struct comparison_row){.name = row_names[row],
                                               .connections = 1,
                                               .engines = o->series[row],
                                               .again.values = o->values[row][ENGINES]};
    }
    o->engines[0] = "base";
    o->engines[1] = "engine";
    o->table = (struct comparison_table){.engines = o->engines,
                                         .engine_count = ENGINES,
                                         .rounds = ROUNDS,
                                         .rows = o->rows,
                                         .row_count = rows};
}

static struct against compute(const struct occasion *now, const struct occasion *before,
                              double threshold)
{
    struct against out;
    struct error error = ERROR_INIT;
    assert_int_equal(against_compute(&now->table, &before->table, threshold, &out, &error), 0);
    return out;
}

static void assert_cell(const struct against *against, size_t index, const char *row,
                        const char *engine, enum verdict verdict)
{
    assert_true(index < against->count);
    const struct against_cell *cell = &against->cells[index];
    assert_string_equal(cell->row, row);
    assert_string_equal(cell->engine, engine);
    assert_string_equal(verdict_text(cell->verdict), verdict_text(verdict));
}

static struct occasion now, before;

/* A host twice as fast changes nothing, an engine 10 % slower does. */
static void the_host_cancels(void **state)
{
    (void)state;
    begin(&before, 2, 1, 1.3);
    begin(&now, 2, 2, 1.3);
    for (size_t round = 0; round < ROUNDS; round++) {
        now.values[1][1][round] *= 0.9;
    }
    struct against against = compute(&now, &before, 0);
    assert_int_equal(against.count, 2);
    assert_cell(&against, 0, "first", "engine", VERDICT_NONE);
    assert_cell(&against, 1, "second", "engine", VERDICT_SLOWER);
    assert_true(fabs(against.cells[1].interval.ratio - 0.9) < 1e-12);
    assert_true(against.cells[1].interval.low < 0.9 && against.cells[1].interval.high > 0.9);
    assert_true(against.cells[1].before && against.cells[1].now);
    assert_int_equal(against.slower, 1);
    against_release(&against);
    assert_null(against.cells);
    against = compute(&before, &now, 0);
    assert_cell(&against, 1, "second", "engine", VERDICT_FASTER);
    assert_int_equal(against.slower, 0);
    against_release(&against);
}

static void floors_and_threshold_hold_it_back(void **state)
{
    (void)state;
    begin(&before, 1, 1, 1);
    begin(&now, 1, 1, 0.9);
    struct against against = compute(&now, &before, 0.12);
    assert_true(fabs(against.floor - log1p(0.12)) < 1e-15);
    assert_cell(&against, 0, "first", "engine", VERDICT_NONE);
    assert_true(fabs(against.cells[0].smallest - 0.12) < 1e-12);
    against_release(&against);
    against = compute(&now, &before, 0.05);
    assert_cell(&against, 0, "first", "engine", VERDICT_SLOWER);
    against_release(&against);
    for (int i = 0; i < 2; i++) {
        struct occasion *noisy = i == 0 ? &now : &before;
        for (size_t round = 0; round < ROUNDS; round++) {
            noisy->values[0][ENGINES][round] *= 1.2;
        }
        against = compute(&now, &before, 0);
        assert_true(against.floor > log(1.19));
        assert_cell(&against, 0, "first", "engine", VERDICT_NONE);
        against_release(&against);
        for (size_t round = 0; round < ROUNDS; round++) {
            noisy->values[0][ENGINES][round] /= 1.2;
        }
    }
}

static void nothing_is_left_out(void **state)
{
    (void)state;
    begin(&before, 2, 1, 1);
    begin(&now, 2, 1, 3);
    before.rows[1].name = "renamed";
    struct against against = compute(&now, &before, 0);
    assert_int_equal(against.count, 3);
    assert_cell(&against, 0, "first", "engine", VERDICT_FASTER);
    assert_cell(&against, 1, "second", "engine", VERDICT_NOT_COMPARABLE);
    assert_cell(&against, 2, "renamed", "engine", VERDICT_MISSING);
    assert_true(against.cells[1].now && !against.cells[1].before);
    assert_true(!against.cells[2].now && against.cells[2].before);
    assert_true(isnan(against.cells[2].interval.ratio) && isnan(against.cells[2].smallest));
    against_release(&against);

    begin(&now, 1, 1, 3);
    begin(&before, 1, 1, 1);
    before.engines[1] = "other";
    against = compute(&now, &before, 0);
    assert_int_equal(against.count, 2);
    assert_cell(&against, 0, "first", "engine", VERDICT_NOT_COMPARABLE);
    assert_cell(&against, 1, "first", "other", VERDICT_MISSING);
    against_release(&against);
}

static void only_like_is_compared_with_like(void **state)
{
    (void)state;
    begin(&before, 1, 1, 1);
    begin(&now, 1, 1, 3);
    now.rows[0].connections = 2;
    struct against against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_NOT_COMPARABLE);
    against_release(&against);
    now.rows[0].connections = 1;
    now.rows[0].open_loop = true;
    against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_NOT_COMPARABLE);
    against_release(&against);
    now.rows[0].open_loop = false;
    now.engines[0] = "another";
    against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_NOT_COMPARABLE);
    against_release(&against);
    now.engines[0] = "base";
    against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_FASTER);
    against_release(&against);
}

static void what_is_not_whole_is_never_faster(void **state)
{
    (void)state;
    static const struct {
        enum comparison_state now, now_base, before, before_base;
        enum verdict verdict;
    } cases[] = {
        {.now = COMPARISON_FAILED, .verdict = VERDICT_FAILED},
        {.now = COMPARISON_PARTIAL, .verdict = VERDICT_PARTIAL},
        {.now = COMPARISON_MISSING, .verdict = VERDICT_MISSING},
        {.now = COMPARISON_UNABLE, .verdict = VERDICT_UNABLE},
        {.now_base = COMPARISON_FAILED, .verdict = VERDICT_NOT_COMPARABLE},
        {.before = COMPARISON_FAILED, .verdict = VERDICT_NOT_COMPARABLE},
        {.before = COMPARISON_PARTIAL, .verdict = VERDICT_NOT_COMPARABLE},
        {.before_base = COMPARISON_FAILED, .verdict = VERDICT_NOT_COMPARABLE},
        {.verdict = VERDICT_FASTER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&before, 1, 1, 1);
        begin(&now, 1, 1, 3);
        now.series[0][1].state = cases[i].now;
        now.series[0][0].state = cases[i].now_base;
        before.series[0][1].state = cases[i].before;
        before.series[0][0].state = cases[i].before_base;
        struct against against = compute(&now, &before, 0);
        assert_cell(&against, 0, "first", "engine", cases[i].verdict);
        against_release(&against);
    }
    begin(&before, 1, 1, 1);
    begin(&now, 1, 1, 3);
    before.values[0][1][0] = 0; /* as a row without samples has it */
    struct against against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_NOT_COMPARABLE);
    against_release(&against);
    before.values[0][1][0] = 1;
    before.table.rounds = 2;
    against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_FEW_ROUNDS);
    against_release(&against);
}

static void directions_and_loops_are_those_of_the_metric(void **state)
{
    (void)state;
    begin(&before, 1, 1, 1);
    begin(&now, 1, 1, 3);
    now.table.metric = before.table.metric = COMPARISON_COST;
    struct against against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_SLOWER);
    against_release(&against);
    now.table.metric = before.table.metric = COMPARISON_LATENCY;
    now.rows[0].connections = before.rows[0].connections = 2;
    against = compute(&now, &before, 0);
    assert_cell(&against, 0, "first", "engine", VERDICT_CLOSED_LOOP);
    assert_int_equal(against.slower, 0);
    against_release(&against);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_cancels),
        cmocka_unit_test(floors_and_threshold_hold_it_back),
        cmocka_unit_test(nothing_is_left_out),
        cmocka_unit_test(only_like_is_compared_with_like),
        cmocka_unit_test(what_is_not_whole_is_never_faster),
        cmocka_unit_test(directions_and_loops_are_those_of_the_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
