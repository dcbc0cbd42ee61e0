#include "sample.h"

#include "result/alike.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void set(char **text, const char *word)
{
    free(*text);
    *text = sample_text(word);
}

/* What the two differ in, of everything that is looked at. */
static void assert_differences(const struct result *before, const struct result *here,
                               const char *expected)
{
    struct buffer found;
    buffer_init(&found);
    alike_host(&before->host, &here->host, &found);
    alike_plan(&before->plan, &here->plan, &found);
    alike_case(&before->cases.items[0], &here->cases.items[0], &found);
    alike_engine(&before->engines.items[0], &here->engines.items[0], &found);
    assert_string_equal(found.data, expected);
    buffer_release(&found);
}

static void test_measured_things_do_not_matter(void **state)
{
    (void)state;
    struct result *before = sample_full_result();
    struct result *here = sample_full_result();
    assert_differences(before, here, "");
    here->plan.rounds = 20;
    here->host.load_average = 17;
    here->host.memory_available_bytes = 1;
    set(&here->cases.items[0].label, "other");
    set(&here->engines.items[0].status, "failed");
    assert_differences(before, here, "");
    result_free(before);
    result_free(here);
}

/* What an engine is, wherever it was found and under whatever name. */
static void test_the_version_of_an_engine(void **state)
{
    (void)state;
    struct result *before = sample_full_result();
    struct result *here = sample_full_result();
    struct result_engine *now = &here->engines.items[0];
    struct buffer found;
    buffer_init(&found);
    set(&now->name, "other");
    struct result_library *library = sample_must(result_list_add(&now->libraries));
    library->asked = sample_text("/elsewhere/lib.so");
    alike_version(&before->engines.items[0], now, &found);
    assert_int_equal(found.length, 0);
    set(&now->version, "9.9");
    alike_version(&before->engines.items[0], now, &found);
    assert_non_null(strstr(found.data, "version: \""));
    assert_non_null(strstr(found.data, "here \"9.9\""));
    buffer_release(&found);
    result_free(before);
    result_free(here);
}

static void test_each_kind_is_named(void **state)
{
    (void)state;
    struct result *before = sample_full_result();
    struct result *here = sample_full_result();
    before->plan.seed = 1;
    here->plan.seed = 2;
    before->plan.cache_size = -65536;
    here->plan.cache_size = 2000;
    set(&before->plan.settings.items[0].value, "wal");
    set(&here->plan.settings.items[0].value, "delete");
    here->cases.items[0].rate = 12.5;
    here->cases.items[0].operations = 5;
    set(&here->engines.items[0].version, "3.0");
    SAMPLE_ADD_TEXT(&here->engines.items[0].compile_options, "MORE");
    assert_differences(before, here,
                       "cache_size: -65536, here 2000; seed: 1, here 2; settings[0].value: "
                       "\"wal\", here \"delete\"; operations: none, here 5; rate: none, here 12.5; "
                       "version: \"3.54.1\", here \"3.0\"; compile_options: 2, here 3");
    result_free(before);
    result_free(here);
}

static void test_another_host(void **state)
{
    (void)state;
    struct result *before = sample_full_result();
    struct result *here = sample_full_result();
    set(&before->host.cpu_model, "a");
    set(&here->host.cpu_model, "b");
    assert_differences(before, here, "cpu_model: \"a\", here \"b\"");
    result_free(before);
    result_free(here);
}

static void test_cases_are_found_by_label(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    assert_ptr_equal(alike_find_case(result, result->cases.items[0].label),
                     &result->cases.items[0]);
    assert_null(alike_find_case(result, "none of that name"));
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured_things_do_not_matter),
        cmocka_unit_test(test_the_version_of_an_engine),
        cmocka_unit_test(test_each_kind_is_named),
        cmocka_unit_test(test_another_host),
        cmocka_unit_test(test_cases_are_found_by_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
