/* Connections, statements, settings and waiting of the sqlite driver, with each
 * library there is. The state of a test is the path of its library. */
#include "engine_test.h"

#include "engine/sqlite_connection.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static const struct engine_ops *const ops = &engine_sqlite;

struct fixture {
    char folder[FOLDER_SIZE];
    char path[PATH_SIZE + 16];
    struct engine *engine;
    struct engine_connection *a;
    struct engine_connection *b;
};

static struct engine *load(const char *library)
{
    struct engine *engine;
    const struct engine_identity *identity;
    const struct engine_config config = {.name = "x", .library = library};
    assert_int_equal(ops->load(&config, &engine, &identity, NULL), 0);
    return engine;
}

static void expect_status(enum engine_status got, enum engine_status expected,
                          struct engine_connection *connection)
{
    if (got != expected) {
        int code;
        const char *text = ops->error_text(connection, &code);
        fail_msg("status %d, expected %d (last failure: %d, %s)", (int)got, (int)expected, code,
                 text);
    }
}

static void must_exec(struct engine_connection *connection, const char *sql)
{
    expect_status(ops->exec(connection, sql), ENGINE_OK, connection);
}

/* Two connections with a busy timeout of 20 ms on one WAL database with a table. */
static void setup(struct fixture *fixture, void **state)
{
    folder_make(fixture->folder);
    snprintf(fixture->path, sizeof fixture->path, "%s/t.db", fixture->folder);
    fixture->engine = load(*state);
    assert_int_equal(ops->open(fixture->engine, fixture->path, 20, true, &fixture->a, NULL), 0);
    assert_int_equal(ops->setting_set(fixture->a, "journal_mode", "wal", NULL), 0);
    must_exec(fixture->a, "CREATE TABLE t (id INTEGER PRIMARY KEY, x);"
                          "INSERT INTO t (x) VALUES ('a'), ('b'), ('c');");
    assert_int_equal(ops->open(fixture->engine, fixture->path, 20, false, &fixture->b, NULL), 0);
}

static void teardown(struct fixture *fixture)
{
    ops->close(fixture->a);
    ops->close(fixture->b);
    ops->unload(fixture->engine);
    folder_remove(fixture->folder);
}

static struct engine_statement *must_prepare(struct engine_connection *connection, const char *sql)
{
    struct engine_statement *statement = NULL;
    expect_status(ops->prepare(connection, sql, &statement), ENGINE_OK, connection);
    return statement;
}

/* Runs a statement without parameters once. */
static enum engine_status run_once(struct engine_connection *connection, const char *sql, bool one,
                                   struct engine_effect *effect)
{
    struct engine_statement *statement = must_prepare(connection, sql);
    *effect = (struct engine_effect){0};
    enum engine_status status = ops->run(statement, NULL, 0, one, effect, NULL);
    ops->finalize(statement);
    return status;
}

static void test_names(void **state)
{
    /* Each is the name of a file, whatever SQLite could read into it. */
    static const char *const names[] = {"a?b#c%41.db", "file:x.db?mode=memory",
                                        ":memory:", "with space 'quote'.db"};
    char folder[FOLDER_SIZE];
    char before[PATH_SIZE];
    struct engine *engine = load(*state);
    folder_make(folder);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct engine_connection *connection;
        struct error error = ERROR_INIT;
        assert_int_equal(ops->open(engine, names[i], 0, false, &connection, &error), ERROR_ENGINE);
        assert_non_null(strstr(error.message, names[i]));
        assert_int_not_equal(access(names[i], F_OK), 0);
        assert_int_equal(ops->open(engine, names[i], 0, true, &connection, NULL), 0);
        must_exec(connection, "CREATE TABLE t (x)");
        ops->close(connection);
        assert_int_equal(access(names[i], F_OK), 0);
    }
    struct engine_connection *connection;
    assert_int_equal(ops->open(engine, "", 0, true, &connection, NULL), ERROR_INVALID);
    assert_int_equal(chdir(before), 0);
    ops->unload(engine);
    folder_remove(folder);
}

static void test_settings(void **state)
{
    static const struct {
        const char *name, *value, *got; /* got NULL: nothing is returned */
    } cases[] = {
        {"cache_size", "-65536", "-65536"},
        {"synchronous", "normal", "1"},
        {"journal_mode", "WAL", "wal"},
        {"busy_timeout", "1234", "1234"},
        {"BUSY_TIMEOUT", "0", "0"},
        {"temp_store", "'memory'", "2"},
        {"no_such_setting", "1", NULL},
        {"cache_size", "-7; DROP TABLE t", "0"}, /* a text, which SQLite reads as 0 */
        {"cache_size", "it's", "0"},
    };
    struct fixture fixture;
    struct engine_effect effect;
    char got[64];
    setup(&fixture, state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = ERROR_INIT;
        if (ops->setting_set(fixture.a, cases[i].name, cases[i].value, &error) != 0) {
            fail_msg("%s=%s: %s", cases[i].name, cases[i].value, error.message);
        }
        int rc = ops->setting_get(fixture.a, cases[i].name, got, sizeof got, &error);
        assert_int_equal(rc, cases[i].got == NULL);
        if (cases[i].got != NULL && i < 7) {
            assert_string_equal(got, cases[i].got);
        }
    }
    static const char *const bad_names[] = {"", "a b", "cache_size; DROP TABLE t", "x=1", "1x"};
    for (size_t i = 0; i < sizeof bad_names / sizeof bad_names[0]; i++) {
        assert_int_equal(ops->setting_set(fixture.a, bad_names[i], "1", NULL), ERROR_INVALID);
        assert_int_equal(ops->setting_get(fixture.a, bad_names[i], got, sizeof got, NULL),
                         ERROR_INVALID);
    }
    assert_int_equal(ops->setting_set(fixture.a, "busy_timeout", "-1", NULL), ERROR_INVALID);
    assert_int_equal(ops->setting_set(fixture.a, "busy_timeout", "5s", NULL), ERROR_INVALID);
    assert_int_equal(ops->setting_get(fixture.a, "journal_mode", got, 3, NULL), ERROR_ENGINE);
    expect_status(run_once(fixture.a, "SELECT * FROM t", false, &effect), ENGINE_OK, fixture.a);
    assert_int_equal(effect.rows_read, 3);
    teardown(&fixture);
}

static void test_prepare(void **state)
{
    static const struct {
        const char *sql;
        const char *text; /* of the failure; NULL: prepared */
        uint32_t parameters;
        bool readonly;
    } cases[] = {
        {"SELECT x FROM t WHERE id = ? AND x > ?", NULL, 2, true},
        {"INSERT INTO t (x) VALUES (?)", NULL, 1, false},
        {"SELECT 1;  -- done\n /* really */ ;", NULL, 0, true},
        {"SELECT 1; SELECT 2", "more text", 0, false},
        {"SELECT 1; nonsense", "more text", 0, false},
        {"", "found none", 0, false},
        {"-- nothing", "found none", 0, false},
        {"SELECT nam FROM t", "no such column: nam", 0, false},
    };
    struct fixture fixture;
    setup(&fixture, state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct engine_statement *statement = NULL;
        enum engine_status status = ops->prepare(fixture.a, cases[i].sql, &statement);
        if (cases[i].text != NULL) {
            int code;
            expect_status(status, ENGINE_FAILED, fixture.a);
            assert_null(statement);
            assert_non_null(strstr(ops->error_text(fixture.a, &code), cases[i].text));
            assert_int_equal(code, SQLITE_ERROR);
            continue;
        }
        expect_status(status, ENGINE_OK, fixture.a);
        assert_int_equal(ops->parameter_count(statement), cases[i].parameters);
        assert_int_equal(ops->readonly(statement), cases[i].readonly);
        ops->finalize(statement);
    }
    teardown(&fixture);
}

struct seen {
    const struct value *expected;
    uint32_t count;
    uint64_t rows;
    int stop;
};

static int see_row(void *context, const struct value *columns, uint32_t count)
{
    struct seen *seen = context;
    seen->rows++;
    assert_int_equal(count, seen->count);
    for (uint32_t i = 0; i < count; i++) {
        const struct value *expected = &seen->expected[i];
        assert_int_equal(columns[i].type, expected->type);
        switch (expected->type) {
        case VALUE_NULL:
            break;
        case VALUE_INTEGER:
            assert_true(columns[i].integer == expected->integer);
            break;
        case VALUE_DOUBLE:
            assert_true(columns[i].real == expected->real);
            break;
        case VALUE_TEXT:
        case VALUE_BLOB:
            assert_int_equal(columns[i].length, expected->length);
            assert_non_null(columns[i].bytes);
            assert_memory_equal(columns[i].bytes, expected->length > 0 ? expected->bytes : "",
                                expected->length);
            break;
        }
    }
    return seen->stop;
}

static void test_values(void **state)
{
    static const struct value values[] = {
        {.type = VALUE_NULL},
        {.type = VALUE_INTEGER, .integer = INT64_MIN},
        {.type = VALUE_INTEGER, .integer = 9007199254740993},
        {.type = VALUE_DOUBLE, .real = -0.1},
        {.type = VALUE_TEXT, .length = 5, .bytes = "a\0b\xc3\xa4"},
        {.type = VALUE_TEXT, .length = 0, .bytes = NULL},
        {.type = VALUE_BLOB, .length = 11, .bytes = "\0\xff seventeen"},
        {.type = VALUE_BLOB, .length = 0, .bytes = NULL},
    };
    enum { COUNT = sizeof values / sizeof values[0] };
    struct fixture fixture;
    struct engine_effect effect = {0};
    setup(&fixture, state);
    struct engine_statement *statement = must_prepare(
        fixture.a, "SELECT ?1,?2,?3,?4,?5,?6,?7,?8 UNION ALL SELECT ?1,?2,?3,?4,?5,?6,?7,?8");
    struct seen seen = {.expected = values, .count = COUNT};
    const struct engine_sink sink = {.row = see_row, .context = &seen};
    expect_status(ops->run(statement, values, COUNT, false, &effect, &sink), ENGINE_OK, fixture.a);
    assert_int_equal(seen.rows, 2);
    expect_status(ops->run(statement, values, COUNT, true, &effect, &sink), ENGINE_OK, fixture.a);
    assert_int_equal(seen.rows, 3);
    expect_status(ops->run(statement, values, COUNT, false, &effect, NULL), ENGINE_OK, fixture.a);
    assert_int_equal(effect.rows_read, 5);
    seen.stop = 1;
    expect_status(ops->run(statement, values, COUNT, false, &effect, &sink), ENGINE_FAILED,
                  fixture.a);
    assert_int_equal(seen.rows, 4);
    expect_status(ops->run(statement, values, COUNT - 1, false, &effect, NULL), ENGINE_FAILED,
                  fixture.a);
    ops->finalize(statement);
    teardown(&fixture);
}

static void test_touches_every_byte(void **state)
{
    struct fixture fixture;
    struct engine_effect effect = {0};
    char text[] = "nineteen characters";
    setup(&fixture, state);
    struct engine_statement *statement = must_prepare(fixture.a, "SELECT ?");
    struct value value = {.type = VALUE_TEXT, .length = sizeof text - 1, .bytes = text};
    assert_int_equal(ops->run(statement, &value, 1, false, &effect, NULL), ENGINE_OK);
    uint64_t sum = fixture.a->sum;
    for (size_t i = 0; i < sizeof text - 1; i++) {
        text[i]++;
        assert_int_equal(ops->run(statement, &value, 1, false, &effect, NULL), ENGINE_OK);
        assert_true(fixture.a->sum != sum);
        text[i]--;
    }
    ops->finalize(statement);
    teardown(&fixture);
}

static void test_effects(void **state)
{
    static const struct {
        const char *sql;
        bool one;
        uint64_t read, changed;
    } cases[] = {
        {"SELECT * FROM t", false, 3, 0},
        {"SELECT * FROM t", true, 1, 0},
        {"SELECT * FROM t WHERE id = 99", true, 0, 0},
        {"INSERT INTO t (x) VALUES (1), (2)", false, 0, 2},
        {"CREATE TABLE u (y)", false, 0, 0}, /* not the 2 of before */
        {"UPDATE t SET x = x", false, 0, 5},
        {"UPDATE t SET x = 1 WHERE id = 99", false, 0, 0},
        {"PRAGMA user_version=7", false, 0, 0},
        {"INSERT INTO t (x) VALUES (3), (4) RETURNING id", true, 1, 2},
        {"SELECT * FROM t", false, 7, 0}, /* what was left early is committed */
        {"DELETE FROM t", false, 0, 7},
        {"DELETE FROM t", false, 0, 0},
    };
    struct fixture fixture;
    setup(&fixture, state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct engine_effect effect;
        expect_status(run_once(fixture.a, cases[i].sql, cases[i].one, &effect), ENGINE_OK,
                      fixture.a);
        if (effect.rows_read != cases[i].read || effect.rows_changed != cases[i].changed) {
            fail_msg("%s: read %lu, changed %lu", cases[i].sql, (unsigned long)effect.rows_read,
                     (unsigned long)effect.rows_changed);
        }
    }
    struct engine_effect effect;
    expect_status(run_once(fixture.b, "SELECT * FROM t", false, &effect), ENGINE_OK, fixture.b);
    assert_int_equal(effect.rows_read, 0);
    teardown(&fixture);
}

/* A statement that is left after its first row ends in reset, and can fail there. */
static void test_failure_in_reset(void **state)
{
    struct fixture fixture;
    struct engine_effect effect;
    int code;
    setup(&fixture, state);
    assert_int_equal(ops->setting_set(fixture.a, "foreign_keys", "on", NULL), 0);
    must_exec(fixture.a, "CREATE TABLE u (t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED)");
    expect_status(run_once(fixture.a, "INSERT INTO u VALUES (99) RETURNING t", true, &effect),
                  ENGINE_FAILED, fixture.a);
    assert_non_null(strstr(ops->error_text(fixture.a, &code), "FOREIGN KEY"));
    assert_int_equal(code, 19 | 3 << 8); /* SQLITE_CONSTRAINT_FOREIGNKEY */
    assert_int_equal(effect.rows_changed, 0);
    expect_status(run_once(fixture.a, "SELECT * FROM u", false, &effect), ENGINE_OK, fixture.a);
    assert_int_equal(effect.rows_read, 0);
    teardown(&fixture);
}

static void test_transactions(void **state)
{
    struct fixture fixture;
    struct engine_effect effect;
    setup(&fixture, state);
    expect_status(ops->rollback(fixture.a), ENGINE_OK, fixture.a); /* none is open */
    expect_status(ops->begin(fixture.a, true), ENGINE_OK, fixture.a);
    must_exec(fixture.a, "DELETE FROM t");
    expect_status(ops->rollback(fixture.a), ENGINE_OK, fixture.a);
    expect_status(run_once(fixture.b, "SELECT * FROM t", false, &effect), ENGINE_OK, fixture.b);
    assert_int_equal(effect.rows_read, 3);
    expect_status(ops->begin(fixture.a, false), ENGINE_OK, fixture.a);
    must_exec(fixture.a, "DELETE FROM t WHERE id = 1");
    expect_status(ops->commit(fixture.a), ENGINE_OK, fixture.a);
    expect_status(run_once(fixture.b, "SELECT * FROM t", false, &effect), ENGINE_OK, fixture.b);
    assert_int_equal(effect.rows_read, 2);
    expect_status(ops->commit(fixture.a), ENGINE_FAILED, fixture.a);
    expect_status(run_once(fixture.a, "INSERT INTO t VALUES (2, 'twice')", false, &effect),
                  ENGINE_FAILED, fixture.a);
    int code;
    assert_non_null(strstr(ops->error_text(fixture.a, &code), "UNIQUE"));
    assert_int_equal(code, 19 | 6 << 8); /* extended: SQLITE_CONSTRAINT_PRIMARYKEY */
    teardown(&fixture);
}

static void test_busy(void **state)
{
    struct fixture fixture;
    struct engine_effect effect;
    setup(&fixture, state);
    expect_status(ops->begin(fixture.a, true), ENGINE_OK, fixture.a);
    assert_int_equal(ops->waits(fixture.b).count, 0);
    expect_status(ops->begin(fixture.b, true), ENGINE_BUSY, fixture.b);
    struct engine_waits waits = ops->waits(fixture.b);
    assert_int_equal(waits.count, 5); /* 1, 2, 5, 10, and 2 of 15 */
    assert_true(waits.slept_ns > 0);
    expect_status(run_once(fixture.b, "DELETE FROM t", false, &effect), ENGINE_BUSY, fixture.b);
    assert_int_equal(ops->waits(fixture.b).count, 10);
    assert_int_equal(effect.rows_changed, 0);
    assert_int_equal(ops->setting_set(fixture.b, "busy_timeout", "0", NULL), 0);
    expect_status(ops->begin(fixture.b, true), ENGINE_BUSY, fixture.b);
    assert_int_equal(ops->waits(fixture.b).count, 10);
    expect_status(ops->rollback(fixture.a), ENGINE_OK, fixture.a);
    expect_status(ops->begin(fixture.b, true), ENGINE_OK, fixture.b);
    expect_status(ops->rollback(fixture.b), ENGINE_OK, fixture.b);
    teardown(&fixture);
}

static void test_conflict(void **state)
{
    struct fixture fixture;
    struct engine_effect effect;
    setup(&fixture, state);
    expect_status(ops->begin(fixture.a, false), ENGINE_OK, fixture.a);
    expect_status(run_once(fixture.a, "SELECT * FROM t", false, &effect), ENGINE_OK, fixture.a);
    must_exec(fixture.b, "INSERT INTO t (x) VALUES (1)");
    expect_status(run_once(fixture.a, "INSERT INTO t (x) VALUES (2)", false, &effect),
                  ENGINE_CONFLICT, fixture.a);
    expect_status(ops->rollback(fixture.a), ENGINE_OK, fixture.a);
    teardown(&fixture);
}

/* Stands in for the library's sleep: the holder of the lock lets go in the fifth. */
static struct engine_connection *holder;
static int sleeps;

static int sleep_until_released(int ms)
{
    (void)ms;
    if (++sleeps == 5) {
        expect_status(ops->rollback(holder), ENGINE_OK, holder);
    }
    return 0;
}

static void test_journal_mode_is_waited_for(void **state)
{
    struct fixture fixture;
    char got[16];
    setup(&fixture, state);
    ops->close(fixture.b);
    assert_int_equal(ops->setting_set(fixture.a, "journal_mode", "delete", NULL), 0);
    /* Also without a busy timeout. */
    assert_int_equal(ops->open(fixture.engine, fixture.path, 0, false, &fixture.b, NULL), 0);
    expect_status(ops->begin(fixture.a, true), ENGINE_OK, fixture.a);
    holder = fixture.a;
    sleeps = 0;
    fixture.engine->api.sleep = sleep_until_released;
    assert_int_equal(ops->setting_set(fixture.b, "journal_mode", "wal", NULL), 0);
    assert_int_equal(sleeps, 5);
    assert_true(ops->waits(fixture.b).count == 0); /* not a wait of what is measured */
    assert_int_equal(ops->setting_get(fixture.b, "journal_mode", got, sizeof got, NULL), 0);
    assert_string_equal(got, "wal");
    teardown(&fixture);
}

static sem_t waiting;
static int (*library_sleep)(int);

static int sleep_and_tell(int ms)
{
    sem_post(&waiting);
    return library_sleep(ms);
}

static void *begin_in_thread(void *connection)
{
    return (void *)(intptr_t)ops->begin(connection, true);
}

static void test_interrupt_wait(void **state)
{
    struct fixture fixture;
    setup(&fixture, state);
    /* The thread tells that it waits for the lock; the timeout is far longer than a test. */
    struct sqlite_api api = *fixture.b->api;
    library_sleep = api.sleep;
    api.sleep = sleep_and_tell;
    fixture.b->wait.api = &api;
    assert_int_equal(ops->setting_set(fixture.b, "busy_timeout", "600000", NULL), 0);
    assert_int_equal(sem_init(&waiting, 0, 0), 0);
    expect_status(ops->begin(fixture.a, true), ENGINE_OK, fixture.a);
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, begin_in_thread, fixture.b), 0);
    while (sem_wait(&waiting) != 0) {
    }
    ops->interrupt(fixture.b);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, ENGINE_INTERRUPTED);
    assert_true(ops->waits(fixture.b).count > 0);
    /* It holds until rollback. */
    expect_status(ops->exec(fixture.b, "SELECT 1"), ENGINE_INTERRUPTED, fixture.b);
    expect_status(ops->rollback(fixture.b), ENGINE_OK, fixture.b);
    must_exec(fixture.b, "SELECT 1");
    expect_status(ops->rollback(fixture.a), ENGINE_OK, fixture.a);
    sem_destroy(&waiting);
    teardown(&fixture);
}

static int tell_row(void *context, const struct value *columns, uint32_t count)
{
    (void)context;
    (void)columns;
    (void)count;
    sem_post(&waiting);
    return 0;
}

static void *run_in_thread(void *statement)
{
    const struct engine_sink sink = {.row = tell_row};
    struct engine_effect effect = {0};
    return (void *)(intptr_t)ops->run(statement, NULL, 0, false, &effect, &sink);
}

static void test_interrupt_query(void **state)
{
    struct fixture fixture;
    setup(&fixture, state);
    /* One row, then no other for ever. */
    struct engine_statement *statement =
        must_prepare(fixture.a, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                                "SELECT x FROM c WHERE x = 1");
    assert_int_equal(sem_init(&waiting, 0, 0), 0);
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, run_in_thread, statement), 0);
    while (sem_wait(&waiting) != 0) {
    }
    ops->interrupt(fixture.a);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, ENGINE_INTERRUPTED);
    sem_destroy(&waiting);
    ops->finalize(statement);
    teardown(&fixture);
}

static bool exists(const char *path, const char *suffix)
{
    char name[PATH_SIZE + 32];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* SQLite's own flag stays up after an interrupt: the last close would skip its checkpoint. */
static void test_interrupted_connection_checkpoints(void **state)
{
    struct fixture fixture;
    setup(&fixture, state);
    must_exec(fixture.a, "PRAGMA journal_mode=wal; CREATE TABLE w(x); INSERT INTO w VALUES (1)");
    ops->close(fixture.b);
    fixture.b = NULL;
    assert_true(exists(fixture.path, "-wal"));
    ops->interrupt(fixture.a);
    assert_int_equal(ops->exec(fixture.a, "SELECT 1"), ENGINE_INTERRUPTED);
    assert_int_equal(ops->rollback(fixture.a), ENGINE_OK);
    assert_int_equal(ops->exec(fixture.a, "INSERT INTO w VALUES (2)"), ENGINE_OK);
    ops->interrupt(fixture.a);
    ops->close(fixture.a);
    fixture.a = NULL;
    assert_false(exists(fixture.path, "-wal"));
    teardown(&fixture);
}

int main(void)
{
    static char paths[LIBRARIES_MAX][PATH_SIZE];
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_touches_every_byte),
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_failure_in_reset),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_journal_mode_is_waited_for),
        cmocka_unit_test(test_interrupt_wait),
        cmocka_unit_test(test_interrupt_query),
        cmocka_unit_test(test_interrupted_connection_checkpoints),
    };
    enum { COUNT = sizeof tests / sizeof tests[0] };
    size_t count = libraries(paths);
    int failed = count == 0;
    for (size_t i = 0; i < count; i++) {
        struct CMUnitTest with_library[COUNT];
        for (size_t j = 0; j < COUNT; j++) {
            with_library[j] = tests[j];
            with_library[j].initial_state = paths[i];
        }
        failed += cmocka_run_group_tests_name(paths[i], with_library, NULL, NULL);
    }
    return failed != 0;
}
