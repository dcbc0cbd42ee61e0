/* What the options of prod mean as a plan. */
#include "cli/prod_options.h"

#include "core/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 20 };

static char tiny[] = "tiny", small[] = "small", medium[] = "medium";
static char mix[] = "mix", more[] = "more", prod[] = "prod";
static struct suite_scale scales[] = {{.name = tiny}, {.name = small}, {.name = medium}};
static struct suite_scenario scenarios[] = {{.name = mix}, {.name = more}};
static struct suite suite = {
    .name = prod, .scales = scales, .scale_count = 3, .scenarios = scenarios, .scenario_count = 1};

/* Parses, checks and plans as the command does. */
struct planned {
    struct prod_options options;
    struct plan plan;
    struct plan_case plan_case;
    struct error error;
    int code;
    char line[256];
};

static void plan_line(const char *line, const struct suite *with, struct planned *planned)
{
    *planned = (struct planned){0};
    char *words[WORDS_MAX];
    int count = 0;
    snprintf(planned->line, sizeof(planned->line), "%s", line);
    for (char *word = strtok(planned->line, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_in_range(count, 0, WORDS_MAX - 1);
        words[count++] = word;
    }
    planned->code = options_parse(&prod_option_table, count, words, &planned->options, NULL, NULL,
                                  &planned->error);
    if (planned->code == 0) {
        planned->code = prod_options_check(&planned->options, &planned->error);
    }
    if (planned->code == 0) {
        planned->code = prod_options_plan(&planned->options, with, &planned->plan,
                                          &planned->plan_case, &planned->error);
    }
}

static void release(struct planned *planned)
{
    options_release(&prod_option_table, &planned->options);
}

static void test_defaults(void **state)
{
    (void)state;
    unsetenv("BENCH_DATA_DIR");
    struct planned planned;
    plan_line("", &suite, &planned);
    assert_string_equal(planned.error.message, "");
    assert_int_equal(planned.code, 0);
    const struct plan *plan = &planned.plan;
    assert_int_equal(plan->case_count, 1);
    assert_ptr_equal(plan->cases, &planned.plan_case);
    assert_ptr_equal(plan->cases[0].plan, plan);
    assert_string_equal(plan->cases[0].label, suite.name);
    assert_true(isnan(plan->cases[0].rate));
    assert_ptr_equal(plan->cases[0].scale, &scales[0]); /* the first */
    assert_ptr_equal(plan->cases[0].scenario, &scenarios[0]);
    assert_string_equal(plan->data_folder, "data");
    assert_int_equal(plan->cases[0].threads, 4);
    assert_true(plan->cases[0].duration_ns == 5 * NS_PER_S);
    assert_true(plan->cases[0].operations == UINT64_MAX);
    assert_true(plan->cases[0].warmup_ns == 3 * NS_PER_S);
    assert_true(plan->cases[0].warmup_operations == UINT64_MAX);
    assert_int_equal(plan->cache_size, -65536);
    assert_int_equal(plan->busy_timeout_ms, 15000);
    assert_true(plan->grace_ns == 5 * NS_PER_S);
    assert_true(plan->latency_limit_ns == 10 * NS_PER_MS);
    assert_int_equal(plan->max_tries, 10);
    assert_int_equal(plan->rounds, 3);
    assert_int_equal(plan->seed, 1);
    assert_int_equal(plan->check, PLAN_CHECK_ENDS);
    assert_int_equal(plan->pragmas->count, 0);
    assert_false(plan->fresh);
    assert_false(plan->keep);
    assert_null(planned.options.engines);
    assert_null(planned.options.json);
    assert_true(planned.options.every_ns == 5 * NS_PER_S);
    release(&planned);
}

static void test_bare_numbers_have_their_units(void **state)
{
    (void)state;
    struct planned planned;
    plan_line("--duration 2 --timeout 250 --latency-limit 3 --warmup 200 -P 1 --seed 4294967295",
              &suite, &planned);
    assert_int_equal(planned.code, 0);
    assert_true(planned.plan_case.duration_ns == 2 * NS_PER_S);
    assert_int_equal(planned.plan.busy_timeout_ms, 250);
    assert_true(planned.plan.grace_ns == 250 * NS_PER_MS); /* the timeout is the smaller one */
    assert_true(planned.plan.latency_limit_ns == 3 * NS_PER_MS);
    assert_true(planned.plan_case.warmup_ns == UINT64_MAX);
    assert_int_equal(planned.plan_case.warmup_operations, 200);
    assert_true(planned.options.every_ns == NS_PER_S);
    assert_true(planned.plan.seed == UINT32_MAX);
    release(&planned);
    plan_line("--timeout 0 --grace 70 --cache 64MiB --scale medium --fresh --keep", &suite,
              &planned);
    assert_int_equal(planned.code, 0);
    assert_int_equal(planned.plan.busy_timeout_ms, 0);
    assert_true(planned.plan.grace_ns == 70 * NS_PER_MS);
    assert_int_equal(planned.plan.cache_size, -65536);
    assert_ptr_equal(planned.plan_case.scale, &scales[2]);
    assert_true(planned.plan.fresh);
    assert_true(planned.plan.keep);
    release(&planned);
}

static void test_checks(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum plan_check check;
    } cases[] = {
        {"--check full", PLAN_CHECK_FULL},
        {"--check=quick", PLAN_CHECK_QUICK},
        {"--check counts", PLAN_CHECK_COUNTS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned planned;
        plan_line(cases[i].line, &suite, &planned);
        assert_int_equal(planned.code, 0);
        assert_int_equal(planned.plan.check, cases[i].check);
        release(&planned);
    }
}

static void test_data_folder(void **state)
{
    (void)state;
    struct planned planned;
    setenv("BENCH_DATA_DIR", "/somewhere", 1);
    plan_line("", &suite, &planned);
    assert_string_equal(planned.plan.data_folder, "/somewhere");
    release(&planned);
    plan_line("--dir here", &suite, &planned);
    assert_string_equal(planned.plan.data_folder, "here");
    release(&planned);
    setenv("BENCH_DATA_DIR", "", 1);
    plan_line("", &suite, &planned);
    assert_string_equal(planned.plan.data_folder, "data");
    release(&planned);
    unsetenv("BENCH_DATA_DIR");
}

static void test_pragmas(void **state)
{
    (void)state;
    struct planned planned;
    plan_line("--pragma journal_mode=delete --pragma page_size=512 --pragma encoding='UTF-16le' "
              "--pragma mmap_size=-1",
              &suite, &planned);
    assert_string_equal(planned.error.message, "");
    assert_int_equal(planned.code, 0);
    static const char *const expected[][2] = {{"journal_mode", "delete"},
                                              {"page_size", "512"},
                                              {"encoding", "UTF-16le"},
                                              {"mmap_size", "-1"}};
    assert_int_equal(planned.plan.pragmas->count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(planned.plan.pragmas->items[i].name, expected[i][0]);
        assert_string_equal(planned.plan.pragmas->items[i].value, expected[i][1]);
    }
    release(&planned);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"--pragma cache_size=5", "--pragma cache_size=5: use --cache for this setting"},
        {"--pragma Busy_Timeout=5", "use --timeout for this setting"},
        {"--pragma a=1 --pragma A=2", "--pragma A is given twice, as 1 and as 2"},
        {"--pragma main.page_size=512", "\"main.page_size\" is no name of a setting"},
        {"--pragma 1a=5", "\"1a\" is no name of a setting"},
        {"--pragma page_size=", "\"\" is no value of a setting"},
        {"--pragma page_size=1;DROP", "\"1;DROP\" is no value of a setting"},
        {"--pragma page_size='", "\"'\" is no value of a setting"},
        {"--timeout 0.5", "--timeout: engines wait whole milliseconds"},
        {"--scale smal", "prod has no scale \"smal\" (did you mean small?); it has tiny, small"},
        {"--scale xyzzy", "prod has no scale \"xyzzy\"; it has tiny, small, medium"},
        {"--threads 0", "--threads"},
        {"--threads 10001", "--threads"},
        {"--rounds 0", "--rounds"},
        {"--rounds 1001", "--rounds"},
        {"--seed 4294967296", "--seed"},
        {"--seed -1", "--seed"},
        {"--check most", "--check"},
        {"--max-tries 0", "--max-tries"},
        {"--max_tries 3", "did you mean --max-tries?"},
        {"--duration 0", "--duration"},
        {"--duration 5000000ms5", "--duration"},
        {"--json", "--json needs a value: --json FILE"},
        {"small", "\"small\" is not understood"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planned planned;
        plan_line(cases[i].line, &suite, &planned);
        if (planned.code != ERROR_INVALID ||
            strstr(planned.error.message, cases[i].message) == NULL) {
            fail_msg("%s: code %d, message \"%s\"", cases[i].line, planned.code,
                     planned.error.message);
        }
        release(&planned);
    }
}

static void test_workloads_of_another_shape(void **state)
{
    (void)state;
    struct planned planned;
    struct suite other = suite;
    other.scale_count = 1;
    plan_line("", &other, &planned);
    assert_int_equal(planned.code, 0);
    assert_ptr_equal(planned.plan_case.scale, &scales[0]);
    release(&planned);
    other = suite;
    other.scenario_count = 2;
    plan_line("", &other, &planned);
    assert_int_equal(planned.code, ERROR_INVALID);
    assert_non_null(strstr(planned.error.message, "has 2 scenarios"));
    release(&planned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bare_numbers_have_their_units),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_data_folder),
        cmocka_unit_test(test_pragmas),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_workloads_of_another_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
