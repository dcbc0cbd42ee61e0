/* Opening: what lies at the path, and what becomes of it. */
#include "library.h"

#include <fcntl.h>
#include <unistd.h>

static void assert_same_bytes(const char *path, const void *bytes, size_t length)
{
    char found[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(found, 1, sizeof found, file);
    fclose(file);
    assert_int_equal(got, length);
    assert_memory_equal(found, bytes, length);
}

static void test_a_new_store_with_its_folders(void **state)
{
    (void)state;
    struct pitot_store *store = open_store_as("a/b/c/new.db", 7, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_CREATED);
    assert_string_equal(pitot_store_path(store), in_folder("a/b/c/new.db"));
    assert_null(pitot_store_set_aside(store));
    close_store(store);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(in_folder("a/b/c/new.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "SELECT id, title, n FROM items", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(number_in("a/b/c/new.db", "SELECT journal_mode = 'wal' FROM "
                                               "pragma_journal_mode"),
                     1);
    assert_false(exists(in_folder("a/b/c/new.db-pitot-new")));

    store = open_store_as("a/b/c/new.db", 7, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_OPENED);
    close_store(store);
}

static void test_arguments(void **state)
{
    (void)state;
    struct pitot_store *store = NULL;
    assert_int_equal(pitot_store_open(NULL, 1, ITEMS, NULL, &store, NULL), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_store_open("x", 1, NULL, NULL, &store, NULL), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_store_open("x", 1, ITEMS, NULL, NULL, NULL), PITOT_ERROR_INVALID);
    struct pitot_store_options options = {.size = 0};
    const char *path = in_folder("store.db");
    assert_fails(pitot_store_open(path, 1, ITEMS, &options, &store, &error), PITOT_ERROR_INVALID,
                 "size");
    options = (struct pitot_store_options){.size = sizeof options, .busy_timeout_ms = -1};
    assert_fails(pitot_store_open(path, 1, ITEMS, &options, &store, &error), PITOT_ERROR_INVALID,
                 "busy_timeout_ms");
    options = (struct pitot_store_options){.size = sizeof options, .wal_limit = 1};
    assert_fails(pitot_store_open(path, 1, ITEMS, &options, &store, &error), PITOT_ERROR_INVALID,
                 "wal_limit");
    options = (struct pitot_store_options){.size = sizeof options, .vfs = "none such"};
    assert_int_equal(pitot_store_open(path, 1, ITEMS, &options, &store, NULL) < 0, 1);
    assert_false(exists(path));

    /* A program that was built with a newer header. */
    struct {
        struct pitot_store_options known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof newer}};
    assert_ok(pitot_store_open(path, 1, ITEMS, &newer.known, &store, &error));
    close_store(store);
    newer.unknown = 1;
    assert_int_equal(pitot_store_open(path, 1, ITEMS, &newer.known, &store, NULL),
                     PITOT_ERROR_INVALID);
}

static void test_files_that_are_not_ours_are_left_alone(void **state)
{
    (void)state;
    static const char text[] = "Dear diary, this is no database at all, and it is long enough to "
                               "hold what looks like a header of one hundred bytes.";
    write_text(in_folder("diary.db"), text);
    assert_open_fails(in_folder("diary.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "diary.db");
    write_text(in_folder("short.db"), "x");
    assert_open_fails(in_folder("short.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "short.db");
    assert_same_bytes(in_folder("diary.db"), text, sizeof text - 1);
    assert_same_bytes(in_folder("short.db"), "x", 1);

    run_in("theirs.db", "CREATE TABLE items(x); INSERT INTO items VALUES(1)");
    assert_open_fails(in_folder("theirs.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "theirs.db");
    assert_int_equal(number_in("theirs.db", "SELECT x FROM items"), 1);
    run_in("wal.db", "PRAGMA journal_mode = WAL; CREATE TABLE items(x)");
    assert_open_fails(in_folder("wal.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "wal.db");
    static const char *const beside[] = {"diary.db", "short.db", "theirs.db", "wal.db"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-pitot", beside[i]);
        assert_false(exists(in_folder(name)));
    }

    /* Their database where ours was: our lock file does not make it ours. */
    fill("store.db", 1, ITEMS, 3);
    assert_int_equal(rename(in_folder("theirs.db"), in_folder("store.db")), 0);
    assert_open_fails(in_folder("store.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "store.db");
    assert_int_equal(number_in("store.db", "SELECT x FROM items"), 1);

    /* A lock file that is none. */
    write_text(in_folder("other.db-pitot"), "not a lock");
    assert_open_fails(in_folder("other.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "other.db-pitot");
}

static void test_an_empty_file_becomes_a_store(void **state)
{
    (void)state;
    write_text(in_folder("empty.db"), "");
    struct pitot_store *store = open_store_as("empty.db", 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_CREATED);
    close_store(store);
    assert_int_equal(number_in("empty.db", "SELECT count(*) FROM items"), 0);
    store = open_store_as("empty.db", 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_OPENED);
    close_store(store);
}

static void test_a_wal_that_was_left_behind_is_not_taken_for_ours(void **state)
{
    (void)state;
    /* Rows in a WAL whose database is gone. */
    fill("store.db", 1, ITEMS, 5);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(in_folder("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE items SET n = 77", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(rename(in_folder("store.db-wal"), in_folder("new.db-wal")), 0);
    sqlite3_close(db);
    struct pitot_store *store = open_store_as("new.db", 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_CREATED);
    close_store(store);
    assert_int_equal(number_in("new.db", "SELECT count(*) FROM items"), 0);
}

static void test_another_version_or_ddl_rebuilds(void **state)
{
    (void)state;
    static const char with_more[] =
        "CREATE TABLE items(id INTEGER PRIMARY KEY, title TEXT, n INTEGER);\n"
        "CREATE INDEX by_title ON items(title);\n"
        "CREATE TABLE more(x);\n"
        "INSERT INTO more VALUES(42); -- first rows\n"
        "CREATE VIEW titles AS SELECT title FROM items;\n"
        "CREATE TRIGGER copy AFTER DELETE ON more BEGIN DELETE FROM items; END;";
    fill("store.db", 1, ITEMS, 5);
    run_in("store.db", "CREATE TABLE notes(x); INSERT INTO notes VALUES('kept')");
    struct {
        int version;
        const char *ddl;
        int outcome;
    } steps[] = {{1, ITEMS, PITOT_OPENED},      {2, ITEMS, PITOT_REBUILT},
                 {2, with_more, PITOT_REBUILT}, {2, with_more, PITOT_OPENED},
                 {1, with_more, PITOT_REBUILT}, {1, ITEMS, PITOT_REBUILT}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct pitot_store *store = open_store_as("store.db", steps[i].version, steps[i].ddl);
        assert_int_equal(pitot_store_outcome(store), steps[i].outcome);
        close_store(store);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), i == 0 ? 5 : 0);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM pitot_sync"), i == 0);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM notes"), 1);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM sqlite_schema WHERE name IN "
                                               "('more', 'titles', 'copy', 'by_title')"),
                         steps[i].ddl == with_more ? 4 : 0);
    }
}

enum { REBUILDS = 30, ROWS = 5 };

struct onlooker {
    atomic_bool ready;
    atomic_bool done;
    _Atomic long looked;
    int wrong;
};

/* As another process would. */
static void *look_on(void *argument)
{
    struct onlooker *onlooker = argument;
    struct pitot_reader *reader = NULL;
    onlooker->wrong = pitot_reader_open_path(in_folder("store.db"), "r", 0, &reader, NULL);
    onlooker->ready = true;
    while (onlooker->wrong == 0 && !onlooker->done) {
        sqlite3_stmt *statement = NULL;
        int found = -1;
        onlooker->wrong = pitot_snapshot_begin(reader, NULL);
        if (onlooker->wrong == 0 &&
            sqlite3_prepare_v2(pitot_reader_sqlite(reader),
                               "SELECT (SELECT count(*) FROM items) * 10 + (SELECT count(*) FROM "
                               "pitot_sync)",
                               -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW) {
            found = sqlite3_column_int(statement, 0);
        }
        sqlite3_finalize(statement);
        pitot_snapshot_end(reader, NULL);
        if (found != 0 && found != ROWS * 10 + 1) {
            onlooker->wrong = 1000 + found;
        }
        onlooker->looked++;
    }
    pitot_reader_free(reader);
    return NULL;
}

/* The old content or the new, never something between. */
static void test_a_rebuild_is_seen_as_a_whole(void **state)
{
    (void)state;
    struct onlooker onlooker = {.wrong = 0};
    pthread_t thread;
    fill("store.db", 1, ITEMS, ROWS);
    assert_int_equal(pthread_create(&thread, NULL, look_on, &onlooker), 0);
    wait_for(&onlooker.ready);
    for (int version = 2; version < REBUILDS; version++) {
        long looked = onlooker.looked;
        fill("store.db", version, ITEMS, ROWS);
        while (onlooker.looked == looked && onlooker.wrong == 0) {
            nap();
        }
    }
    onlooker.done = true;
    pthread_join(thread, NULL);
    assert_int_equal(onlooker.wrong, 0);
}

static void test_virtual_tables_are_rebuilt_with_what_belongs_to_them(void **state)
{
    (void)state;
    static const char ddl[] = ITEMS "CREATE VIRTUAL TABLE found USING fts5(title);";
    for (int version = 1; version <= 3; version++) {
        struct pitot_store *store = open_store_as("store.db", version, ddl);
        assert_int_equal(pitot_store_outcome(store), version == 1 ? PITOT_CREATED : PITOT_REBUILT);
        close_store(store);
    }
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM found"), 0);
    struct pitot_store *store = open_store_as("store.db", 4, ITEMS);
    close_store(store);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM sqlite_schema WHERE name LIKE "
                                           "'found%'"),
                     0);
}

static void test_a_rebuild_does_not_reach_tables_that_stay(void **state)
{
    (void)state;
    fill("store.db", 1, ITEMS, 5);
    run_in("store.db", "CREATE TABLE stars(item REFERENCES items(id) ON DELETE CASCADE); INSERT "
                       "INTO stars VALUES(1), (2)");
    struct pitot_store *store = open_store_as("store.db", 2, ITEMS);
    close_store(store);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM stars"), 2);
}

static void test_a_table_in_the_way_is_named_and_nothing_changed(void **state)
{
    (void)state;
    fill("store.db", 1, ITEMS, 5);
    run_in("store.db", "CREATE TABLE Notes(x)");
    assert_open_fails(in_folder("store.db"), 2, ITEMS "CREATE TABLE notes(y);", PITOT_ERROR_SCHEMA,
                      "'notes'");
    assert_open_fails(in_folder("store.db"), 2, ITEMS "CREATE TABLE IF NOT EXISTS notes(y);",
                      PITOT_ERROR_SCHEMA, "'notes'");
    struct pitot_store *store = open_store_as("store.db", 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_OPENED);
    close_store(store);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 5);
}

static void test_ddl_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *ddl;
        const char *text;
    } table[] = {
        {"CREATE TABEL items(id)", "line 1: near \"TABEL\""},
        {ITEMS "\n\nCREATE TABLE items(id);", "line 3: table items already exists"},
        {"CREATE TABLE t(x);\nCOMMIT;", "line 2: it may hold no BEGIN"},
        {"SAVEPOINT s", "it may hold no BEGIN"},
        {"ATTACH 'x.db' AS x", "it may hold no ATTACH"},
        {"CREATE TABLE t(x);\nPRAGMA journal_mode = DELETE", "line 2: it may hold no PRAGMA"},
        {"CREATE TABLE Pitot_x(x)", "names that begin with 'pitot_'"},
        {"CREATE TABLE t(x); CREATE INDEX pitot_i ON t(x)", "names that begin with 'pitot_'"},
        {"CREATE TRIGGER t AFTER INSERT ON pitot_sync BEGIN SELECT 1; END",
         "names that begin with 'pitot_'"},
        {"CREATE TABLE t(x NOT NULL); INSERT INTO t VALUES(NULL)", "NOT NULL constraint"},
        {"CREATE TABLE t(x); \"unfinished", "unrecognized token"},
    };
    fill("there.db", 1, ITEMS, 5);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_open_fails(in_folder("new.db"), 1, table[i].ddl, PITOT_ERROR_SCHEMA, table[i].text);
        assert_false(exists(in_folder("new.db")));
        assert_open_fails(in_folder("there.db"), 1, table[i].ddl, PITOT_ERROR_SCHEMA,
                          table[i].text);
    }
    assert_int_equal(number_in("there.db", "SELECT count(*) FROM items"), 5);
    struct pitot_store *store = open_store_as("bare.db", 1, " ; -- nothing at all");
    close_store(store);
}

static void overwrite(const char *name, off_t at, const char *bytes, size_t length)
{
    int descriptor = open(in_folder(name), O_WRONLY);
    assert_true(descriptor >= 0);
    assert_int_equal(pwrite(descriptor, bytes, length, at), length);
    close(descriptor);
}

static void assert_replaced(const char *name, const char *aside)
{
    struct pitot_store *store = open_store_as(name, 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_REPLACED);
    assert_string_equal(pitot_store_set_aside(store), in_folder(aside));
    assert_true(exists(in_folder(aside)));
    close_store(store);
    assert_int_equal(number_in(name, "SELECT count(*) FROM items"), 0);
    store = open_store_as(name, 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_OPENED);
    close_store(store);
}

static void test_a_damaged_store_is_set_aside(void **state)
{
    (void)state;
    /* The header tells that it is ours, the schema cannot be read. */
    fill("schema.db", 1, ITEMS, 5);
    char noise[3000];
    memset(noise, 0xa5, sizeof noise);
    overwrite("schema.db", 100, noise, sizeof noise);
    write_text(in_folder("schema.db-wal"), "a WAL");
    assert_replaced("schema.db", "schema.db.corrupt");
    assert_same_bytes(in_folder("schema.db.corrupt-wal"), "a WAL", 5);

    /* No header: the lock file beside it tells. Those of before are kept. */
    overwrite("schema.db", 0, noise, sizeof noise);
    assert_replaced("schema.db", "schema.db.corrupt.1");
    overwrite("schema.db", 0, noise, sizeof noise);
    assert_replaced("schema.db", "schema.db.corrupt.2");
    assert_true(exists(in_folder("schema.db.corrupt")));

    /* Neither: it could be anybody's. */
    assert_int_equal(rename(in_folder("schema.db.corrupt.2"), in_folder("noise.db")), 0);
    assert_open_fails(in_folder("noise.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "noise.db");
}

static void test_damage_that_a_pass_meets_is_remembered(void **state)
{
    (void)state;
    static const char ddl[] =
        "CREATE TABLE items(id INTEGER PRIMARY KEY, title TEXT, n INTEGER, UNIQUE(title));";
    fill("store.db", 1, ddl, 4000);
    struct stat status;
    assert_int_equal(stat(in_folder("store.db"), &status), 0);
    char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    /* From the middle on: header, schema and sync row lie in front. */
    for (off_t at = (status.st_size / 2) & ~4095; at < status.st_size; at += 4096) {
        overwrite("store.db", at, noise, sizeof noise);
    }
    struct pitot_store *store = open_store_as("store.db", 1, ddl);
    assert_int_equal(pitot_store_outcome(store), PITOT_OPENED);
    struct lister lister = {.title = "new", .rows = 4000};
    struct pitot_source *source = add_source(store, "list", &lister);
    assert_fails(sync_now(store, source, &error), PITOT_ERROR_CORRUPT, "malformed");
    close_store(store);
    store = open_store_as("store.db", 1, ddl);
    assert_int_equal(pitot_store_outcome(store), PITOT_REPLACED);
    close_store(store);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_a_new_store_with_its_folders),
        TEST(test_arguments),
        TEST(test_files_that_are_not_ours_are_left_alone),
        TEST(test_an_empty_file_becomes_a_store),
        TEST(test_a_wal_that_was_left_behind_is_not_taken_for_ours),
        TEST(test_another_version_or_ddl_rebuilds),
        TEST(test_a_rebuild_is_seen_as_a_whole),
        TEST(test_virtual_tables_are_rebuilt_with_what_belongs_to_them),
        TEST(test_a_rebuild_does_not_reach_tables_that_stay),
        TEST(test_a_table_in_the_way_is_named_and_nothing_changed),
        TEST(test_ddl_that_cannot_be),
        TEST(test_a_damaged_store_is_set_aside),
        TEST(test_damage_that_a_pass_meets_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
