/* Which tables a database has, told by a SQLite that lists shadow tables and by engines that do
 * not. */
#include "../engine/engine_test.h"

#include "worker/query.h"

#define PRAGMA "PRAGMA table_list"

/* SQLite, but for what becomes of PRAGMA table_list. */
enum listing { LISTING_OWN, LISTING_EMPTY, LISTING_UNKNOWN, LISTING_BUSY };
static enum listing listing;

static enum engine_status prepare(struct engine_connection *connection, const char *sql,
                                  struct engine_statement **out)
{
    if (strcmp(sql, PRAGMA) == 0 && listing == LISTING_EMPTY) {
        sql = "PRAGMA no_such_pragma";
    } else if (strcmp(sql, PRAGMA) == 0 && listing == LISTING_UNKNOWN) {
        sql = "PRAGMA table_list of nothing";
    } else if (strcmp(sql, PRAGMA) == 0 && listing == LISTING_BUSY) {
        return ENGINE_BUSY;
    }
    return engine_sqlite.prepare(connection, sql, out);
}

struct database {
    char folder[FOLDER_SIZE];
    struct engine *engine;
    struct engine_connection *connection;
    struct engine_ops ops;
    struct failure failure;
};

static const char *const schema[] = {
    "CREATE TABLE plain(x)",
    "CREATE TABLE plain_data(x)",
    "CREATE VIRTUAL TABLE \"Five\" USING fts5(x)",
    "CREATE VIRTUAL TABLE four USING fts4(x)",
    "CREATE VIRTUAL TABLE boxes USING rtree(id, low, high)",
    "CREATE TABLE five_other(x)",
    "CREATE VIEW seen AS SELECT * FROM plain",
    "CREATE TEMP TABLE passing(x)",
};
static const char *const expected[] = {"Five", "boxes", "five_other",
                                       "four", "plain", "plain_data"};

static int database_make(void **state)
{
    static struct database database;
    char paths[LIBRARIES_MAX][PATH_SIZE];
    char path[PATH_SIZE];
    const struct engine_identity *identity;
    struct error error = ERROR_INIT;
    assert_true(libraries(paths) > 0);
    const struct engine_config config = {.name = "sqlite", .library = paths[0]};
    folder_make(database.folder);
    snprintf(path, sizeof path, "%s/a.db", database.folder);
    database.ops = engine_sqlite;
    database.ops.prepare = prepare;
    failure_init(&database.failure);
    if (engine_sqlite.load(&config, &database.engine, &identity, &error) != 0 ||
        engine_sqlite.open(database.engine, path, 0, true, &database.connection, &error) != 0) {
        fail_msg("%s", error.message);
    }
    for (size_t i = 0; i < sizeof schema / sizeof *schema; i++) {
        if (engine_sqlite.exec(database.connection, schema[i]) != ENGINE_OK) {
            int code;
            fail_msg("%s: %s", schema[i], engine_sqlite.error_text(database.connection, &code));
        }
    }
    *state = &database;
    return 0;
}

static int database_remove(void **state)
{
    struct database *database = *state;
    engine_sqlite.close(database->connection);
    engine_sqlite.unload(database->engine);
    folder_remove(database->folder);
    return 0;
}

static int list(struct database *database, struct texts *tables)
{
    const struct query query = {&database->ops, database->connection, "verify", &database->failure};
    return query_tables(&query, tables);
}

static void test_shadow_tables_are_left_out(void **state)
{
    static const enum listing listings[] = {LISTING_OWN, LISTING_EMPTY, LISTING_UNKNOWN};
    struct database *database = *state;
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
        struct texts tables = {.max = SIZE_MAX};
        listing = listings[i];
        if (list(database, &tables) != 0) {
            fail_msg("listing %zu: %s", i, database->failure.error.message);
        }
        assert_false(failure_is_set(&database->failure));
        for (size_t k = 0; k < tables.count && k < sizeof expected / sizeof *expected; k++) {
            assert_string_equal(tables.items[k], expected[k]);
        }
        assert_int_equal(tables.count, sizeof expected / sizeof *expected);
        texts_free(&tables);
    }
}

static void test_a_busy_engine_is_no_old_one(void **state)
{
    struct database *database = *state;
    struct texts tables = {.max = SIZE_MAX};
    listing = LISTING_BUSY;
    assert_int_equal(list(database, &tables), ERROR_BUSY);
    assert_non_null(strstr(database->failure.error.message, PRAGMA));
    assert_string_equal(database->failure.phase, "verify");
    assert_int_equal(tables.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shadow_tables_are_left_out, database_make,
                                        database_remove),
        cmocka_unit_test_setup_teardown(test_a_busy_engine_is_no_old_one, database_make,
                                        database_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
