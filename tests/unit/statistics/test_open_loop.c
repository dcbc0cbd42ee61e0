/* Figures of runs at a rate: what was offered and begun, and the parts of a latency. */
#include "../result/sample.h"

#include "statistics/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct result_summary *summarize(struct result *result)
{
    struct error error = ERROR_INIT;
    assert_int_equal(summarize_engine(&result->engines.items[0], &error), 0);
    return &result->engines.items[0].summaries.items[0];
}

static void offered_and_begun(void **state)
{
    (void)state;
    struct result *result = sample_result(3);
    struct result_engine *engine = sample_engine(result, "sqlite", 3, 1);
    sample_open_loop(result, 640, 16);
    engine->runs.items[2].connections.items[0].unstarted = 816;
    const struct result_summary *summary = summarize(result);
    assert_int_equal(summary->offered, 3 * 2 * 1600);
    assert_int_equal(summary->unstarted, 5 * 16 + 816);
    assert_true(summary->begun_share.median == 0.99);
    assert_true(summary->begun_share.min == 0.74);
    assert_true(summary->begun_share.max == 0.99);
    result_free(result);
}

static void parts_of_latencies(void **state)
{
    (void)state;
    struct result *result = sample_result(3);
    struct result_engine *engine = sample_engine(result, "sqlite", 3, 1);
    sample_open_loop(result, 640, 0);
    uint64_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        count += engine->runs.items[i].scripts.items[0].ok;
    }
    const struct result_script_summary *script = &summarize(result)->scripts.items[0];
    assert_true(script->service.min_ns.median == 3000 && script->service.max_ns.median == 60000);
    assert_true(script->lag.min_ns.median == 2000 && script->lag.max_ns.median == 20000);
    assert_true(script->lag.mean_ns.median > 2000 && script->lag.mean_ns.median < 2100);
    double p50 = script->service.points_ns[RESULT_POINT_p50].median;
    assert_true(p50 >= 3000 && p50 < 3000 * 1.01);
    assert_int_equal(script->service.histogram.histogram->count, count);
    assert_int_equal(script->lag.histogram.histogram->count, count);
    assert_int_equal(script->latency.histogram->count, count);
    result_free(result);
}

static void a_closed_loop_has_none(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    sample_engine(result, "sqlite", 1, 1);
    const struct result_summary *summary = summarize(result);
    assert_true(summary->offered == RESULT_ABSENT && summary->unstarted == RESULT_ABSENT);
    assert_true(isnan(summary->begun_share.median));
    assert_true(isnan(summary->scripts.items[0].lag.mean_ns.median));
    assert_true(isnan(summary->scripts.items[0].service.points_ns[RESULT_POINT_p99].median));
    assert_null(summary->scripts.items[0].lag.histogram.histogram);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offered_and_begun),
        cmocka_unit_test(parts_of_latencies),
        cmocka_unit_test(a_closed_loop_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
