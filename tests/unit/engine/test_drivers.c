/* Finding drivers, and refusing inconsistent ones. */
#include "engine_test.h"

static void test_find(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_ptr_equal(engine_find("sqlite", &error), &engine_sqlite);
    assert_ptr_equal(engine_find("null", &error), &engine_null);
    assert_int_equal(error.code, ERROR_NONE);
    assert_null(engine_find("sqlit", &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.message, "did you mean 'sqlite'"));
    error_clear(&error);
    assert_null(engine_find("postgresql", &error));
    assert_non_null(strstr(error.message, "'postgresql'"));
}

static void expect_refused(struct engine_ops ops, const char *what)
{
    struct error error = ERROR_INIT;
    assert_int_equal(engine_validate(&ops, &error), ERROR_INVALID);
    if (strstr(error.message, what) == NULL) {
        fail_msg("'%s' does not name '%s'", error.message, what);
    }
}

static void test_validate(void **state)
{
    (void)state;
    struct engine_ops ops = engine_null;
    assert_int_equal(engine_validate(&ops, NULL), 0);

    ops.driver = "";
    expect_refused(ops, "no name");
    ops = engine_null;
    ops.abi_version++;
    expect_refused(ops, "ABI version 2, 1 was expected");
    ops = engine_null;
    ops.run = NULL;
    expect_refused(ops, "no function run");
    ops = engine_null;
    ops.interrupt = NULL;
    expect_refused(ops, "no function interrupt");
    ops = engine_null;
    ops.capabilities |= 1u << 30;
    expect_refused(ops, "unknown capabilities (0x40000000)");
    ops = engine_null;
    ops.capabilities |= ENGINE_CAN_LOAD;
    expect_refused(ops, "no database");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_validate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
