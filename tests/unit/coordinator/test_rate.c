/* A rate in the plan: what a job asks for, and what is told of engines that did not keep up. */
#include "coordinator/job.h"
#include "coordinator/warnings.h"

#include "../result/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- the job ---------------------------------------------------------------------------- */

static void a_rate_counts_operations(void **state)
{
    (void)state;
    struct suite_script scripts[] = {{.operations = 1}, {.operations = 1000}};
    struct suite_share both[] = {{.script = 0, .weight = 3}, {.script = 1, .weight = 1}};
    struct suite_share first[] = {{.script = 0, .weight = 7}};
    struct suite_role roles[] = {{.connections = 1, .shares = first, .share_count = 1},
                                 {.shares = both, .share_count = 2}};
    struct suite suite = {.scripts = scripts, .script_count = 2};
    struct suite_scenario scenario = {.roles = roles, .role_count = 1};
    struct plan_case plan_case = {
        .suite = &suite, .scenario = &scenario, .threads = 3, .rate = 500};
    assert_true(job_is_paced(&plan_case));
    assert_true(job_rate(&plan_case) == 500);
    /* One connection with 1 operation an execution, three with (3 × 1 + 1000) / 4. */
    scenario.role_count = 2;
    assert_float_equal(job_rate(&plan_case), 500 / ((1 + 3 * 250.75) / 4), 1e-9);
    plan_case.rate = (double)NAN;
    assert_false(job_is_paced(&plan_case));
    plan_case.rate_share = 0.7; /* not chosen yet: it is measured in a closed loop */
    assert_false(job_is_paced(&plan_case));
}

/* ---- warnings --------------------------------------------------------------------------- */

static bool told(const struct result *result, const char *text)
{
    for (size_t i = 0; i < result->warnings.count; i++) {
        if (strstr(result->warnings.items[i].text, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void saturated(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t offered[2], unstarted[2];
        bool told;
    } cases[] = {
        {"kept up", {1000, 1000}, {0, 0}, false},
        {"less than 1 %", {1000, 1000}, {19, 0}, false},
        {"more than 1 %", {1000, 1000}, {21, 0}, true},
        {"one on each connection waits behind another", {3, 4}, {1, 1}, false},
        {"a queue on one", {3, 4}, {3, 0}, true},
        {"nothing was due", {0, 0}, {0, 0}, false},
        {"nothing began", {9, 9}, {9, 9}, true},
        {"a closed loop", {RESULT_ABSENT, RESULT_ABSENT}, {RESULT_ABSENT, RESULT_ABSENT}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = sample_result(1);
        struct result_engine *engine = sample_engine(result, "sqlite", 1, 1);
        for (size_t k = 0; k < 2; k++) {
            engine->runs.items[0].connections.items[k].offered = cases[i].offered[k];
            engine->runs.items[0].connections.items[k].unstarted = cases[i].unstarted[k];
        }
        assert_int_equal(warn_saturated(result, engine, 0), 0);
        if (told(result, "saturated: ") != cases[i].told) {
            fail_msg("%s: %zu warnings", cases[i].name, result->warnings.count);
        }
        result_free(result);
    }
}

static void the_worst_round_is_told(void **state)
{
    (void)state;
    struct result *result = sample_result(3);
    struct result_engine *engine = sample_engine(result, "sqlite", 3, 1);
    sample_open_loop(result, 640, 160);
    engine->runs.items[1].connections.items[0].unstarted = 1440;
    assert_int_equal(warn_saturated(result, engine, 0), 0);
    assert_int_equal(result->warnings.count, 1);
    assert_true(told(result, "saturated: 50.0 % of the offered operations were begun (round 2)"));
    result_free(result);
}

static void a_share_beyond_the_slowest(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    assert_int_equal(warn_rate(result), 0);
    result->cases.items[0].rate_share = 1;
    assert_int_equal(warn_rate(result), 0);
    assert_int_equal(result->warnings.count, 0);
    result->cases.items[0].rate_share = 1.5;
    assert_int_equal(warn_rate(result), 0);
    assert_true(told(result, "150 % of what the slowest engine did"));
    result_free(result);
}

/* Connections of an open loop wait for work: that is no fault of the window or the engine. */
static void waiting_for_work_is_no_fault(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        struct result *result = sample_result(1);
        struct result_engine *engine = sample_engine(result, "sqlite", 1, 1);
        struct result_run *run = &engine->runs.items[0];
        if (open == 1) {
            sample_open_loop(result, 640, 0);
            run->connections.items[1].offered = 0;
        }
        run->connections.items[1].operations = 0;
        for (size_t i = 0; i < run->scripts.count; i++) {
            struct result_script *script = &run->scripts.items[i];
            script->busy = 0;
            script->attempted = script->ok;
            script->time_ns = SAMPLE_S; /* of 5 s, twice */
        }
        assert_int_equal(warn_window(result, engine, 0), 0);
        assert_int_equal(warn_connections(result, engine, 0), 0);
        assert_int_equal(told(result, "latencies add up to 0.2"), open == 0);
        assert_int_equal(told(result, "1 of 2 connections ended no execution"), open == 0);
        /* More service time than there was is a wrong window in any loop. */
        run->scripts.items[0].time_ns = 11 * SAMPLE_S;
        assert_int_equal(warn_window(result, engine, 0), 0);
        assert_true(told(result, "latencies add up to 1.2"));
        result_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_counts_operations),
        cmocka_unit_test(saturated),
        cmocka_unit_test(the_worst_round_is_told),
        cmocka_unit_test(a_share_beyond_the_slowest),
        cmocka_unit_test(waiting_for_work_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
