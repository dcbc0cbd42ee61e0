#include "../result/sample.h"

#include "statistics/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ABSENT (double)NAN

static void assert_figure(const struct result_figure *figure, double median, double min, double max)
{
    if (isnan(median)) {
        assert_true(isnan(figure->median) && isnan(figure->min) && isnan(figure->max));
        return;
    }
    assert_float_equal(figure->median, median, fabs(median) * 1e-12);
    assert_float_equal(figure->min, min, fabs(min) * 1e-12);
    assert_float_equal(figure->max, max, fabs(max) * 1e-12);
}

static struct result_engine *empty_engine(struct result *result)
{
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    engine->name = sample_text("sqlite");
    result_summary_init(sample_must(result_list_add(&engine->summaries)));
    return engine;
}

/* A run of 2 s with two connections. */
static struct result_run *add_run(struct result_engine *engine, const char *status)
{
    struct result_run *run = sample_must(result_list_add(&engine->runs));
    result_run_init(run);
    run->round = engine->runs.count;
    run->status = sample_text(status);
    run->window_ns = 2 * SAMPLE_S;
    for (uint64_t i = 0; i < 2; i++) {
        struct result_connection *connection = sample_must(result_list_add(&run->connections));
        connection->connection = i;
        connection->role = sample_text("app");
        connection->window_ns = 2 * SAMPLE_S;
    }
    return run;
}

/* `ok` executions of `ns` each. */
static struct result_script *add_script(struct result_run *run, const char *name, bool write,
                                        uint64_t ok, uint64_t ns)
{
    struct result_script *script = sample_must(result_list_add(&run->scripts));
    script->role = sample_text("app");
    script->script = sample_text(name);
    script->write = write;
    script->operations_each = 1;
    script->attempted = script->ok = ok;
    script->time_ns = ok * ns;
    if (ok > 0) {
        script->latency.histogram = sample_histogram(ok - 1, ns, ns);
    }
    return script;
}

static void summarize(struct result *result)
{
    struct error error = ERROR_INIT;
    assert_int_equal(summarize_engine(&result->engines.items[0], &error), 0);
}

/* An endless reader stretches the run, not the window of the writers. */
static void test_each_role_has_its_own_window(void **state)
{
    (void)state;
    struct result *result = result_new();
    struct result_run *run = add_run(empty_engine(result), "ok");
    run->window_ns = 7 * SAMPLE_S;
    add_script(run, "insert", true, 1000, 1000);
    add_script(run, "select", false, 70, 1000);
    free(run->scripts.items[0].role);
    run->scripts.items[0].role = sample_text("writer");
    free(run->connections.items[1].role);
    run->connections.items[1].role = sample_text("writer");
    run->connections.items[0].window_ns = 7 * SAMPLE_S;
    run->connections.items[1].window_ns = 2 * SAMPLE_S;
    summarize(result);
    const struct result_summary *summary = &result->engines.items[0].summaries.items[0];
    assert_true(summary->writes_per_second.median == 500);
    assert_true(summary->reads_per_second.median == 10);
    assert_true(summary->operations_per_second.median == 510);
    assert_true(summary->scripts.items[0].operations_per_second.median == 500);
    result_free(result);
}

static void test_medians(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes[5];
        size_t rounds;
        double median, min, max;
    } cases[] = {
        {{7}, 1, 7, 7, 7},
        {{9, 4}, 2, 6.5, 4, 9}, /* even: the mean of the middle two */
        {{3, 1, 2}, 3, 2, 1, 3},
        {{8, 1, 4, 2}, 4, 3, 1, 8},
        {{5, 5, 1, 9, 2}, 5, 5, 1, 9},
        {{RESULT_ABSENT, 4, 6}, 3, 5, 4, 6}, /* over the rounds that could measure it */
        {{RESULT_ABSENT, RESULT_ABSENT}, 2, ABSENT, ABSENT, ABSENT},
        {{0}, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *result = sample_result(1);
        struct result_engine *engine = empty_engine(result);
        for (size_t j = 0; j < cases[i].rounds; j++) {
            add_run(engine, "ok")->final_bytes = cases[i].bytes[j];
        }
        summarize(result);
        assert_figure(&engine->summaries.items[0].final_bytes, cases[i].median, cases[i].min,
                      cases[i].max);
        assert_int_equal(engine->summaries.items[0].rounds_ok, cases[i].rounds);
        result_free(result);
    }
}

static void test_rates_and_costs(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    struct result_engine *engine = empty_engine(result);
    struct result_run *run = add_run(engine, "ok");
    struct result_script *read = add_script(run, "read", false, 1000, 1000000);
    read->rows_read = 2500;
    read->slow = 5;
    struct result_script *batch = add_script(run, "batch", true, 3, 100000000);
    batch->operations_each = 1000;
    batch->rows_changed = 3000;
    batch->busy = 1;
    batch->attempted = 4;
    run->cpu_user_ns = 3 * SAMPLE_S;
    run->cpu_system_ns = 1 * SAMPLE_S;
    run->connections.items[0].slept_ns = 30;
    run->connections.items[1].slept_ns = 12;
    run->connections.items[0].off_cpu_ns = 50;
    run->connections.items[1].off_cpu_ns = 7;
    run->connections.items[0].run_queue_ns = 1;
    run->connections.items[1].run_queue_ns = RESULT_ABSENT;
    summarize(result);

    const struct result_summary *summary = &engine->summaries.items[0];
    assert_figure(&summary->reads_per_second, 500, 500, 500);
    assert_figure(&summary->writes_per_second, 1500, 1500, 1500);
    assert_figure(&summary->operations_per_second, 2000, 2000, 2000);
    assert_figure(&summary->cpu_per_operation_ns, 1e6, 1e6, 1e6);
    assert_figure(&summary->slept_ns, 42, 42, 42);
    assert_figure(&summary->off_cpu_ns, 57, 57, 57);
    assert_figure(&summary->run_queue_ns, ABSENT, ABSENT, ABSENT);
    assert_figure(&summary->run_queue_share, ABSENT, ABSENT, ABSENT);
    assert_int_equal(summary->attempted, 1004);
    assert_int_equal(summary->ok, 1003);
    assert_int_equal(summary->busy, 1);

    assert_int_equal(summary->scripts.count, 2);
    const struct result_script_summary *scripts = summary->scripts.items;
    assert_figure(&scripts[0].operations_per_second, 500, 500, 500);
    assert_figure(&scripts[1].operations_per_second, 1500, 1500, 1500);
    assert_figure(&scripts[0].time_share, 0.25, 0.25, 0.25); /* 1 s of 2 connections x 2 s */
    assert_figure(&scripts[0].rows_read_each, 2.5, 2.5, 2.5);
    assert_figure(&scripts[1].rows_changed_each, 1, 1, 1); /* an operation, not an execution */
    assert_figure(&scripts[0].slow, 5, 5, 5);
    assert_figure(&scripts[0].mean_ns, 1e6, 1e6, 1e6);
    assert_figure(&scripts[0].max_ns, 1e6, 1e6, 1e6);
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        assert_figure(&scripts[0].points_ns[i], 1e6, 1e6, 1e6);
    }
    result_free(result);
}

/* Of the time of all connections together, and of all cores. */
static void test_shares(void **state)
{
    (void)state;
    struct result *result = sample_result(2);
    struct result_engine *engine = empty_engine(result);
    for (uint64_t round = 1; round <= 2; round++) {
        struct result_run *run = add_run(engine, "ok"); /* 2 connections x 2 s */
        run->connections.items[0].run_queue_ns = round * SAMPLE_S;
        run->connections.items[1].run_queue_ns = 0;
        run->cpu_others = round == 1 ? 0.02 : ABSENT;
        run->steal = 0.01 * (double)round;
    }
    summarize(result);
    assert_figure(&engine->summaries.items[0].run_queue_share, 0.375, 0.25, 0.5);
    assert_figure(&engine->summaries.items[0].cpu_others, 0.02, 0.02, 0.02);
    assert_figure(&engine->summaries.items[0].steal, 0.015, 0.01, 0.02);
    result_free(result);
}

/* A wait that began before the window is counted whole. */
static void test_a_share_above_one_is_absent(void **state)
{
    (void)state;
    struct result *result = result_new();
    struct result_run *run = add_run(empty_engine(result), "ok");
    run->connections.items[0].run_queue_ns = 3 * SAMPLE_S;
    run->connections.items[1].run_queue_ns = 2 * SAMPLE_S;
    summarize(result);
    const struct result_summary *summary = &result->engines.items[0].summaries.items[0];
    assert_figure(&summary->run_queue_share, ABSENT, ABSENT, ABSENT);
    assert_figure(&summary->run_queue_ns, 5e9, 5e9, 5e9);
    result_free(result);
}

/* A mix without writes has no write throughput, and no execution gives no latency. */
static void test_absent_is_not_zero(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    struct result_engine *engine = empty_engine(result);
    struct result_run *run = add_run(engine, "ok");
    add_script(run, "read", false, 0, 0);
    run->cpu_user_ns = 5;
    run->cpu_system_ns = 0;
    summarize(result);
    assert_figure(&engine->summaries.items[0].reads_per_second, 0, 0, 0);
    assert_figure(&engine->summaries.items[0].writes_per_second, ABSENT, ABSENT, ABSENT);
    assert_figure(&engine->summaries.items[0].cpu_per_operation_ns, ABSENT, ABSENT, ABSENT);
    const struct result_script_summary *script = &engine->summaries.items[0].scripts.items[0];
    assert_figure(&script->mean_ns, ABSENT, ABSENT, ABSENT);
    assert_figure(&script->rows_read_each, ABSENT, ABSENT, ABSENT);
    assert_figure(&script->points_ns[0], ABSENT, ABSENT, ABSENT);
    assert_null(script->latency.histogram);
    result_free(result);
}

static void test_which_runs_count(void **state)
{
    (void)state;
    static const struct {
        const char *statuses[3];
        double final_bytes;
        uint64_t rounds_ok;
    } cases[] = {
        {{"ok", "failed", "partial"}, 1, 1},
        {{"partial", "failed", "ok"}, 3, 1},
        {{"failed", "partial", "failed"}, 2, 0}, /* partial ones only when none is ok */
        {{"failed", "failed", "failed"}, ABSENT, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *result = sample_result(3);
        struct result_engine *engine = empty_engine(result);
        for (uint64_t j = 0; j < 3; j++) {
            struct result_run *run = add_run(engine, cases[i].statuses[j]);
            run->final_bytes = j + 1;
            add_script(run, "read", false, 10, 1000);
        }
        summarize(result);
        assert_figure(&engine->summaries.items[0].final_bytes, cases[i].final_bytes,
                      cases[i].final_bytes, cases[i].final_bytes);
        assert_int_equal(engine->summaries.items[0].rounds_ok, cases[i].rounds_ok);
        assert_int_equal(engine->summaries.items[0].ok, 30); /* outcomes of all runs */
        result_free(result);
    }
}

/* Percentiles are taken in each round, then their median; the curve is merged. */
static void test_percentiles_over_rounds(void **state)
{
    (void)state;
    struct result *result = sample_result(3);
    struct result_engine *engine = empty_engine(result);
    add_script(add_run(engine, "ok"), "read", false, 100, 1000);
    add_script(add_run(engine, "ok"), "read", false, 1, 9000);
    add_script(add_run(engine, "ok"), "read", false, 1, 3000);
    summarize(result);
    const struct result_script_summary *script = &engine->summaries.items[0].scripts.items[0];
    assert_figure(&script->points_ns[RESULT_POINT_p50], 3000, 1000, 9000);
    assert_int_equal(script->latency.histogram->count, 102);
    assert_int_equal(script->latency.histogram->max, 9000);
    result_free(result);
}

/* 102 samples in all rounds: a percentile above 99.02 would have none above it. */
static void test_curve_ends_where_the_samples_do(void **state)
{
    (void)state;
    struct result *result = result_new();
    struct result_engine *engine = empty_engine(result);
    add_script(add_run(engine, "ok"), "a", false, 101, 1000);
    add_script(add_run(engine, "ok"), "a", false, 1, 9000);
    summarize(result);
    const struct result_script_summary *script =
        &result->engines.items[0].summaries.items[0].scripts.items[0];
    const struct result_curve_point *points = script->curve.items;
    size_t last = script->curve.count - 1;
    assert_true(points[0].percentile == 1);
    assert_int_equal(points[0].value_ns, 1000);
    assert_true(points[last - 1].percentile == 99);
    assert_int_equal(points[last - 1].value_ns, 1003);
    assert_true(points[last].percentile == 100);
    assert_int_equal(points[last].value_ns, 9000);
    for (size_t i = 1; i <= last; i++) {
        assert_true(points[i].percentile > points[i - 1].percentile);
        assert_true(points[i].value_ns >= points[i - 1].value_ns);
    }
    result_free(result);
}

static void test_thin(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        enum result_point point;
        bool thin;
    } cases[] = {
        {19, RESULT_POINT_p50, true},       {20, RESULT_POINT_p50, false},
        {199, RESULT_POINT_p95, true},      {200, RESULT_POINT_p95, false},
        {999, RESULT_POINT_p99, true},      {1000, RESULT_POINT_p99, false},
        {9999, RESULT_POINT_p99_9, true},   {10000, RESULT_POINT_p99_9, false},
        {99999, RESULT_POINT_p99_99, true}, {100000, RESULT_POINT_p99_99, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *result = sample_result(2);
        struct result_engine *engine = empty_engine(result);
        add_script(add_run(engine, "ok"), "read", false, 200000, 1000);
        add_script(add_run(engine, "ok"), "read", false, cases[i].count, 1000);
        summarize(result);
        assert_int_equal(engine->summaries.items[0].scripts.items[0].point_thin[cases[i].point],
                         cases[i].thin);
        result_free(result);
    }
}

/* The coordinator may sum up after every round: the last call is the whole truth. */
static void test_again(void **state)
{
    (void)state;
    struct result *result = sample_result(2);
    struct result_engine *engine = empty_engine(result);
    add_script(add_run(engine, "ok"), "read", false, 10, 1000);
    summarize(result);
    add_script(add_run(engine, "ok"), "read", false, 30, 1000);
    summarize(result);
    assert_int_equal(engine->summaries.items[0].ok, 40);
    assert_int_equal(engine->summaries.items[0].scripts.count, 1);
    assert_figure(&engine->summaries.items[0].reads_per_second, 10, 5, 15);
    result_free(result);
}

/* Runs of a case go into its own summary, with what the coordinator said of it. */
static void test_each_case_has_its_own_summary(void **state)
{
    (void)state;
    struct result *result = result_new();
    struct result_engine *engine = empty_engine(result);
    struct result_summary *second = sample_must(result_list_add(&engine->summaries));
    result_summary_init(second);
    second->status = sample_text("partial");
    second->error = sample_text("it stopped");
    for (uint64_t i = 0; i < 4; i++) {
        struct result_run *run = add_run(engine, i == 3 ? "failed" : "ok");
        run->case_index = i % 2;
        run->final_bytes = 100 + i;
        add_script(run, i % 2 == 0 ? "select" : "insert", i % 2 != 0, 10 * (i + 1), 1000);
    }
    for (int again = 0; again < 2; again++) { /* a second time gives the same */
        summarize(result);
        const struct result_summary *summaries = engine->summaries.items;
        assert_figure(&summaries[0].final_bytes, 101, 100, 102);
        assert_figure(&summaries[1].final_bytes, 101, 101, 101);
        assert_int_equal(summaries[0].rounds_ok, 2);
        assert_int_equal(summaries[1].rounds_ok, 1);
        assert_int_equal(summaries[0].ok, 10 + 30);
        assert_int_equal(summaries[1].ok, 20 + 40);
        assert_int_equal(summaries[0].scripts.count, 1);
        assert_string_equal(summaries[0].scripts.items[0].script, "select");
        assert_string_equal(summaries[1].scripts.items[0].script, "insert");
        assert_null(summaries[0].status);
        assert_string_equal(summaries[1].status, "partial");
        assert_string_equal(summaries[1].error, "it stopped");
    }
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_medians),
        cmocka_unit_test(test_each_role_has_its_own_window),
        cmocka_unit_test(test_each_case_has_its_own_summary),
        cmocka_unit_test(test_rates_and_costs),
        cmocka_unit_test(test_absent_is_not_zero),
        cmocka_unit_test(test_which_runs_count),
        cmocka_unit_test(test_percentiles_over_rounds),
        cmocka_unit_test(test_curve_ends_where_the_samples_do),
        cmocka_unit_test(test_thin),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_a_share_above_one_is_absent),
        cmocka_unit_test(test_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
