#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_list_grows(void **state)
{
    (void)state;
    RESULT_LIST(uint64_t) list = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t *item = result_list_add(&list);
        assert_non_null(item);
        assert_int_equal(*item, 0); /* zeroed, whatever realloc gave */
        *item = i + 1;
    }
    assert_int_equal(list.count, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(list.items[i], i + 1);
    }
    free(list.items);
}

static void test_empty_states(void **state)
{
    (void)state;
    struct result *result = result_new();
    assert_non_null(result);
    assert_int_equal(result->version, RESULT_VERSION);
    assert_true(isnan(result->elapsed_s));
    assert_int_equal(result->host.cores, RESULT_ABSENT);
    assert_true(isnan(result->host.clock_cost_ns));
    assert_int_equal(result->plan.rounds, 0);
    result_free(result);
    result_free(NULL);

    struct result_run run;
    memset(&run, 0x5a, sizeof(run));
    result_run_init(&run);
    assert_null(run.status);
    assert_int_equal(run.round, 0);
    assert_int_equal(run.window_ns, RESULT_ABSENT);
    assert_true(isnan(run.steal));
    assert_int_equal(run.scripts.count, 0);

    struct result_engine engine;
    memset(&engine, 0x5a, sizeof(engine));
    result_engine_init(&engine);
    assert_null(engine.name);
    assert_int_equal(engine.summaries.count, 0);
}

static void test_warn_once(void **state)
{
    (void)state;
    struct result *result = sample_must(result_new());
    assert_int_equal(result_warn(result, NULL, "%d cores", 2), 0);
    assert_int_equal(result_warn(result, NULL, "%s", "2 cores"), 0); /* the same */
    assert_int_equal(result_warn(result, "sqlite", "2 cores"), 0);   /* of another subject */
    assert_int_equal(result_warn(result, "sqlite", "2 cores"), 0);
    assert_int_equal(result_warn(result, NULL, "3 cores"), 0);
    assert_int_equal(result->warnings.count, 3);
    assert_null(result->warnings.items[0].subject);
    assert_string_equal(result->warnings.items[1].subject, "sqlite");
    assert_string_equal(result->warnings.items[2].text, "3 cores");
    result_free(result);
}

static void test_text(void **state)
{
    (void)state;
    char *text = result_text("%s %d", "a", 1);
    assert_string_equal(text, "a 1");
    free(text);
    text = result_text("%s", "");
    assert_string_equal(text, "");
    free(text);
}

static void test_summary_clear(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    struct result_summary *summary = &result->engines.items[0].summaries.items[0];
    result_summary_clear(summary);
    assert_string_equal(summary->status, "ok"); /* is not a figure */
    assert_int_equal(summary->scripts.count, 0);
    assert_int_equal(summary->ok, 0);
    assert_true(isnan(summary->reads_per_second.median));
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_grows),    cmocka_unit_test(test_empty_states),
        cmocka_unit_test(test_warn_once),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_summary_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
