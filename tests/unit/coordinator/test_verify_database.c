/* Which databases the built-in suites are verified on. */
#include "coordinator/verification.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct suite *open_suite(const char *name)
{
    struct suite *suite = NULL;
    struct error error = ERROR_INIT;
    assert_int_equal(suite_open_builtin(name, &suite, &error), 0);
    return suite;
}

static void add(const struct suite *suite, const struct suite_scenario *only,
                verify_databases *databases)
{
    struct plan_case plan_case = {.suite = suite, .scale = &suite->scales[0], .threads = 4};
    for (size_t i = 0; i < suite->scenario_count; i++) {
        struct verify_database *database = NULL;
        struct error error = ERROR_INIT;
        plan_case.scenario = &suite->scenarios[i];
        if (only != NULL && only != plan_case.scenario) {
            continue;
        }
        assert_int_equal(verify_databases_add(&plan_case, databases, &database, &error), 0);
        assert_true(database != NULL && database->scenarios.count > 0);
    }
}

static void test_prod_has_one(void **state)
{
    (void)state;
    struct suite *suite = open_suite("prod");
    verify_databases databases = {NULL, 0};
    add(suite, NULL, &databases);
    assert_int_equal(databases.count, 1);
    assert_int_equal(databases.items[0]->suite.script_count, suite->script_count);
    verify_databases_release(&databases);
    suite_free(suite);
}

static void test_scenarios_of_bench_do_not_meet(void **state)
{
    (void)state;
    struct suite *suite = open_suite("bench");
    verify_databases databases = {NULL, 0};
    add(suite, NULL, &databases);
    assert_int_equal(databases.count, suite->scenario_count);
    for (size_t i = 0; i < databases.count; i++) {
        const struct verify_database *database = databases.items[i];
        assert_int_equal(database->suite.script_count, 1);
        assert_string_equal(database->suite.scripts[0].name, database->scenarios.items[0]);
        /* Only insert-single begins without rows. */
        assert_int_equal(suite_same_variables(suite, &suite->scales[0], &suite->scenarios[0],
                                              database->plan_case.scenario),
                         i == 0);
    }
    verify_databases_release(&databases);
    suite_free(suite);
}

static void test_scenarios_that_share_a_script(void **state)
{
    (void)state;
    struct suite *suite = open_suite("concurrent");
    verify_databases databases = {NULL, 0};
    add(suite, NULL, &databases);
    assert_int_equal(databases.count, 1);
    assert_int_equal(databases.items[0]->scenarios.count, 2);
    assert_int_equal(databases.items[0]->suite.script_count, 2);
    add(suite, NULL, &databases); /* a second time, with other threads say: nothing is added */
    assert_int_equal(databases.count, 1);
    assert_int_equal(databases.items[0]->scenarios.count, 2);
    assert_int_equal(databases.items[0]->suite.script_count, 2);
    verify_databases_release(&databases);
    add(suite, suite_find_scenario(suite, "write-contention"), &databases);
    assert_int_equal(databases.count, 1);
    assert_int_equal(databases.items[0]->suite.script_count, 1);
    verify_databases_release(&databases);
    suite_free(suite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prod_has_one),
        cmocka_unit_test(test_scenarios_of_bench_do_not_meet),
        cmocka_unit_test(test_scenarios_that_share_a_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
