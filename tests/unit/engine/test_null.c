/* The null driver: counts parameters, does nothing, answers what was set. */
#include "engine_test.h"

static const struct engine_ops *const ops = &engine_null;

struct fixture {
    struct engine *engine;
    struct engine_connection *connection;
};

static struct fixture open_null(void)
{
    struct fixture fixture;
    const struct engine_identity *identity;
    const struct engine_config config = {.name = "null"};
    assert_int_equal(ops->load(&config, &fixture.engine, &identity, NULL), 0);
    assert_string_equal(identity->version, PITOT_VERSION);
    assert_null(identity->library);
    assert_null(identity->sync_call);
    assert_int_equal(
        ops->open(fixture.engine, "/nowhere/x.db", 5000, false, &fixture.connection, NULL), 0);
    return fixture;
}

static void close_null(struct fixture fixture)
{
    ops->close(fixture.connection);
    ops->unload(fixture.engine);
}

static void test_load_refuses(void **state)
{
    (void)state;
    struct engine *engine;
    const struct engine_identity *identity;
    const struct engine_option option = {"speed", "high"};
    struct engine_config config = {.name = "null", .options = &option, .option_count = 1};
    struct error error = ERROR_INIT;
    assert_int_equal(ops->load(&config, &engine, &identity, &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "'speed'"));
    config = (struct engine_config){.name = "null", .library = "/lib/x.so"};
    assert_int_equal(ops->load(&config, &engine, &identity, NULL), ERROR_INVALID);
}

static void test_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        uint32_t count;
    } cases[] = {
        {"", 0},
        {"SELECT 1", 0},
        {"SELECT ?, ?", 2},
        {"SELECT '?', ?", 1},
        {"SELECT 'it''s ?', ?", 1},
        {"SELECT \"a?\" FROM t WHERE x = ?", 1},
        {"SELECT [a?], `b?` FROM t WHERE x = ?", 1},
        {"SELECT 1 -- ?\n + ?", 1},
        {"SELECT 1 /* ? */ + ?", 1},
        {"SELECT ? /* ?", 1},
        {"SELECT ? -- ?", 1},
        {"SELECT ? 'x", 1},
        {"SELECT 4 - ? / ?", 2},
    };
    struct fixture fixture = open_null();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct engine_statement *statement;
        assert_int_equal(ops->prepare(fixture.connection, cases[i].sql, &statement), ENGINE_OK);
        if (ops->parameter_count(statement) != cases[i].count) {
            fail_msg("%s: %u parameters, expected %u", cases[i].sql,
                     ops->parameter_count(statement), cases[i].count);
        }
        ops->finalize(statement);
    }
    close_null(fixture);
}

static void test_run(void **state)
{
    (void)state;
    struct fixture fixture = open_null();
    struct engine_statement *statement;
    struct engine_effect effect = {.rows_read = 3, .rows_changed = 4};
    const struct value value = {.type = VALUE_INTEGER, .integer = 1};
    assert_int_equal(ops->prepare(fixture.connection, "SELECT ?", &statement), ENGINE_OK);
    assert_int_equal(ops->run(statement, &value, 1, false, &effect, NULL), ENGINE_OK);
    assert_int_equal(effect.rows_read, 3);
    assert_int_equal(effect.rows_changed, 4);
    assert_int_equal(ops->run(statement, &value, 0, false, &effect, NULL), ENGINE_FAILED);
    ops->interrupt(fixture.connection);
    assert_int_equal(ops->run(statement, &value, 1, false, &effect, NULL), ENGINE_INTERRUPTED);
    assert_int_equal(ops->rollback(fixture.connection), ENGINE_OK);
    assert_int_equal(ops->run(statement, &value, 1, false, &effect, NULL), ENGINE_OK);
    ops->finalize(statement);
    close_null(fixture);
}

static void test_settings(void **state)
{
    (void)state;
    struct fixture fixture = open_null();
    char got[8];
    assert_int_equal(ops->setting_get(fixture.connection, "busy_timeout", got, sizeof got, NULL),
                     0);
    assert_string_equal(got, "5000");
    assert_int_equal(ops->setting_get(fixture.connection, "cache_size", got, sizeof got, NULL), 1);
    assert_int_equal(ops->setting_set(fixture.connection, "cache_size", "-1000", NULL), 0);
    assert_int_equal(ops->setting_set(fixture.connection, "cache_size", "-2000", NULL), 0);
    assert_int_equal(ops->setting_get(fixture.connection, "CACHE_SIZE", got, sizeof got, NULL), 0);
    assert_string_equal(got, "-2000");
    assert_int_equal(ops->setting_set(fixture.connection, "x", "12345678", NULL), 0);
    assert_int_equal(ops->setting_get(fixture.connection, "x", got, sizeof got, NULL),
                     ERROR_ENGINE);
    close_null(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_refuses),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
