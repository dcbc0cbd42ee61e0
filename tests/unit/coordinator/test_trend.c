/* The first third of a run against the rest. */
#include "coordinator/trend.h"

#include "coordinator/warnings.h"

#include "../result/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SECONDS_MAX = 12 };

/* A run with one script and these operations in its seconds; 0 ends the list. */
static void add_run(struct result_engine *engine, const uint64_t *operations, const char *status)
{
    struct result_run *run = sample_must(result_list_add(&engine->runs));
    result_run_init(run);
    run->status = sample_text(status);
    struct result_script *script = sample_must(result_list_add(&run->scripts));
    script->role = sample_text("app");
    script->script = sample_text("one");
    script->operations_each = 1;
    size_t count = 0;
    while (count < SECONDS_MAX && operations[count] != 0) {
        struct result_second *second = sample_must(result_list_add(&run->seconds));
        second->at_s = (double)(count + 1);
        *(uint64_t *)sample_must(result_list_add(&second->operations)) = operations[count++];
        *(uint64_t *)sample_must(result_list_add(&second->slow)) = 0;
    }
    run->window_ns = count * SAMPLE_S;
}

static void test_trends(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t rounds[3][SECONDS_MAX];
        size_t seconds;
        bool found;
    } cases[] = {
        {"steady", {{100, 101, 99, 100, 102, 98, 100, 101, 99}}, 9, false},
        {"not one second alike, but no trend",
         {{80, 120, 100, 90, 110, 70, 130, 95, 105}},
         9,
         false},
        {"warming up", {{60, 65, 70, 100, 101, 99, 100, 102, 98}}, 9, true},
        {"slowing down", {{140, 141, 139, 100, 101, 99, 100, 102, 98}}, 9, true},
        {"less than the seconds vary by", {{60, 100, 95, 60, 100, 140, 70, 120, 110}}, 9, false},
        {"4 % is too little, however steady",
         {{104, 104, 104, 100, 100, 100, 100, 100, 100}},
         9,
         false},
        {"6 % of steady seconds", {{106, 106, 106, 100, 100, 100, 100, 100, 100}}, 9, true},
        {"three rounds at different levels, each steady",
         {{100, 101, 99, 100, 100}, {200, 202, 198, 200, 200}, {50, 50, 51, 50, 49}},
         15,
         false},
        {"three rounds at different levels, each warming up",
         {{70, 101, 99, 100, 100}, {140, 202, 198, 200, 200}, {36, 50, 51, 50, 49}},
         15,
         true},
        {"too few seconds", {{10, 100, 100, 100, 100}}, 5, false},
        {"rounds too short to have a third", {{10, 100}, {10, 100}, {10, 100}}, 0, false},
        {"just enough", {{10, 10, 100, 100, 100, 100}}, 6, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = sample_result(3);
        struct result_engine *engine = sample_must(result_list_add(&result->engines));
        result_engine_init(engine);
        engine->name = sample_text("sqlite");
        engine->status = sample_text("ok");
        for (size_t k = 0; k < 3 && cases[i].rounds[k][0] != 0; k++) {
            add_run(engine, cases[i].rounds[k], "ok");
        }
        struct trend trend = trend_of(engine, 0);
        if (trend.found != cases[i].found || trend.seconds != cases[i].seconds) {
            fail_msg("%s: %s, %zu seconds, %.3f against %.3f, limit %.3f", cases[i].name,
                     trend.found ? "found" : "not found", trend.seconds, trend.first, trend.rest,
                     trend.limit);
        }
        assert_int_equal(warn_trend(result, engine, 0), 0);
        assert_int_equal(result->warnings.count, cases[i].found ? 1 : 0);
        result_free(result);
    }
}

/* d = 0.6 - 1.2 = -0.6 of the mean, s = 0 but for the first third. */
static void test_formula(void **state)
{
    (void)state;
    static const uint64_t operations[SECONDS_MAX] = {50, 70, 120, 120, 120, 120};
    struct result *result = sample_result(1);
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    engine->name = sample_text("sqlite");
    engine->status = sample_text("ok");
    add_run(engine, operations, "ok");
    struct trend trend = trend_of(engine, 0);
    assert_true(fabs(trend.first - 0.6) < 1e-9);
    assert_true(fabs(trend.rest - 1.2) < 1e-9);
    /* Squares around 0.6: 0.01 + 0.01; f = 4; s = sqrt(0.02 / 4); t(4) = 4.6041. */
    assert_true(fabs(trend.limit - 4.604095 * sqrt(0.02 / 4) * sqrt(1 / 2.0 + 1 / 4.0)) < 1e-6);
    assert_true(trend.found);
    assert_int_equal(warn_trend(result, engine, 0), 0);
    assert_non_null(strstr(result->warnings.items[0].text, "50 % fewer operations a second"));
    result_free(result);
}

/* The last interval reaches beyond the window: it holds less than a second. */
static void test_only_whole_seconds_of_ok_runs(void **state)
{
    (void)state;
    static const uint64_t operations[SECONDS_MAX] = {100, 100, 100, 100, 100, 100, 1};
    struct result *result = sample_result(1);
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    engine->name = sample_text("sqlite");
    engine->status = sample_text("ok");
    add_run(engine, operations, "ok");
    add_run(engine, operations, "partial");
    engine->runs.items[0].window_ns = 6 * SAMPLE_S + 1;
    assert_int_equal(trend_of(engine, 0).seconds, 6);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trends),
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_only_whole_seconds_of_ok_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
