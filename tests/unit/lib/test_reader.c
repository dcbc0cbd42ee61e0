/* Readers: snapshots, what they may do, and how another process learns of changes. */
#include "library.h"

#include <sys/wait.h>

struct fixture {
    struct pitot_store *store;
    struct lister lister;
    struct pitot_source *source;
    struct pitot_reader *reader;
};

static int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->lister = (struct lister){.title = "row", .rows = 3, .n = 1};
    fixture->store = open_store();
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_ok(pitot_reader_open(fixture->store, "screen", &fixture->reader, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pitot_reader_free(fixture->reader);
    pitot_store_free(fixture->store);
    free(fixture);
    return remove_test_folder(state);
}

static int64_t number(struct pitot_reader *reader, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(pitot_reader_sqlite(reader), sql, -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t found = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

static uint64_t pass_of(struct pitot_reader *reader)
{
    struct pitot_sync sync = {.size = sizeof sync};
    assert_int_equal(pitot_reader_sync(reader, "list", &sync, NULL), 1);
    return sync.pass;
}

static void test_a_snapshot_stands_still(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    /* Committed after the beginning, before the first statement. */
    fixture->lister.rows = 5;
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(number(fixture->reader, "SELECT count(*) FROM items"), 3);
    assert_int_equal(pass_of(fixture->reader), 1);
    fixture->lister.rows = 7;
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(number(fixture->reader, "SELECT count(*) FROM items"), 3);
    assert_int_equal(pass_of(fixture->reader), 1);
    assert_fails(pitot_snapshot_begin(fixture->reader, &error), PITOT_ERROR_INVALID, "'screen'");
    assert_ok(pitot_snapshot_end(fixture->reader, &error));
    assert_fails(pitot_snapshot_end(fixture->reader, &error), PITOT_ERROR_INVALID, "'screen'");
    assert_int_equal(number(fixture->reader, "SELECT count(*) FROM items"), 7);
    assert_int_equal(pass_of(fixture->reader), 3);
}

static void test_rows_and_sync_row_agree_while_passes_run(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 300; i++) {
        fixture->lister.n = i + 2;
        assert_ok(pitot_resync(fixture->source, NULL, &error));
        assert_ok(pitot_snapshot_begin(fixture->reader, &error));
        uint64_t pass = pass_of(fixture->reader);
        int64_t n = number(fixture->reader, "SELECT min(n) FROM items");
        assert_int_equal(n, number(fixture->reader, "SELECT max(n) FROM items"));
        assert_int_equal(pass, pass_of(fixture->reader));
        assert_int_equal(number(fixture->reader, "SELECT count(*) FROM items"), 3);
        /* Pass p stages the n of its time or, when two requests meet, of the next. */
        assert_true((uint64_t)n >= pass);
        assert_ok(pitot_snapshot_end(fixture->reader, &error));
    }
}

static void test_a_reader_cannot_write(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db = pitot_reader_sqlite(fixture->reader);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM items", NULL, NULL, NULL) & 0xff,
                     SQLITE_READONLY);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL) & 0xff,
                     SQLITE_READONLY);
    assert_int_equal(number(fixture->reader, "SELECT count(*) FROM items"), 3);
}

static void test_a_statement_in_mid_step_keeps_the_snapshot(void **state)
{
    struct fixture *fixture = *state;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(pitot_reader_sqlite(fixture->reader),
                                        "SELECT id FROM items", -1, &statement, NULL),
                     SQLITE_OK);
    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_fails(pitot_snapshot_end(fixture->reader, &error), PITOT_ERROR_INVALID, "mid-step");
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    sqlite3_reset(statement);
    assert_ok(pitot_snapshot_end(fixture->reader, &error));
    sqlite3_finalize(statement);
}

static void test_the_oldest_snapshot_is_named(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_reader *other = NULL;
    assert_ok(pitot_reader_open(fixture->store, "other", &other, &error));
    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    nap();
    assert_ok(pitot_snapshot_begin(other, &error));
    struct pitot_stats stats = {.size = sizeof stats};
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_string_equal(stats.oldest_snapshot_reader, "screen");
    assert_true(stats.oldest_snapshot_ns > 0);
    assert_ok(pitot_snapshot_end(fixture->reader, &error));
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_string_equal(stats.oldest_snapshot_reader, "other");
    assert_int_equal(stats.snapshot.count, 1);
    pitot_reader_free(other);
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_string_equal(stats.oldest_snapshot_reader, "");
    assert_int_equal(stats.oldest_snapshot_ns, 0);
}

static void test_changes_are_noticed(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(pitot_reader_changed(fixture->reader, NULL), 0);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(pitot_reader_changed(fixture->reader, NULL), 1);
    assert_int_equal(pitot_reader_changed(fixture->reader, NULL), 0);
    run_in("store.db", "CREATE TABLE theirs(x)");
    assert_int_equal(pitot_reader_changed(fixture->reader, NULL), 1);
    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(pitot_reader_changed(fixture->reader, NULL), 0);
    assert_ok(pitot_snapshot_end(fixture->reader, &error));
    assert_int_equal(pitot_reader_changed(fixture->reader, NULL), 1);
}

static void test_a_reader_outlives_its_store(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    close_store(fixture->store);
    fixture->store = NULL;
    assert_int_equal(number(fixture->reader, "SELECT count(*) FROM items"), 3);
    assert_ok(pitot_snapshot_end(fixture->reader, &error));
    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    assert_int_equal(pass_of(fixture->reader), 1);
    assert_ok(pitot_snapshot_end(fixture->reader, &error));
    /* And does not stand in the way of the next. */
    fixture->store = open_store();
    assert_int_equal(pitot_store_outcome(fixture->store), PITOT_OPENED);
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(pass_of(fixture->reader), 2);
}

static void test_statements_that_are_left_over(void **state)
{
    struct fixture *fixture = *state;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(pitot_reader_sqlite(fixture->reader),
                                        "SELECT count(*) FROM items", -1, &statement, NULL),
                     SQLITE_OK);
    pitot_reader_free(fixture->reader);
    fixture->reader = NULL;
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 3);
    sqlite3_finalize(statement);
}

static void test_by_path(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_reader *reader = NULL;
    assert_fails(pitot_reader_open_path(in_folder("none.db"), "r", 0, &reader, &error),
                 PITOT_ERROR_MISSING, "none.db");
    assert_fails(pitot_reader_open_path(in_folder("none/none.db"), "r", 0, &reader, &error),
                 PITOT_ERROR_MISSING, "none");
    assert_false(exists(in_folder("none")));
    write_text(in_folder("text"), "no database");
    assert_fails(pitot_reader_open_path(in_folder("text"), "r", 0, &reader, &error),
                 PITOT_ERROR_FOREIGN, "text");
    run_in("theirs.db", "CREATE TABLE t(x)");
    assert_fails(pitot_reader_open_path(in_folder("theirs.db"), "r", 0, &reader, &error),
                 PITOT_ERROR_FOREIGN, "theirs.db");
    assert_int_equal(pitot_reader_open_path(in_folder("store.db"), "", 0, &reader, NULL),
                     PITOT_ERROR_INVALID);
    assert_int_equal(pitot_reader_open_path(in_folder("store.db"), "r", -1, &reader, NULL),
                     PITOT_ERROR_INVALID);
    assert_null(reader);
    assert_ok(pitot_reader_open_path(in_folder("store.db"), "r", 0, &reader, &error));
    assert_ok(pitot_snapshot_begin(reader, &error));
    assert_int_equal(number(reader, "SELECT count(*) FROM items"), 3);
    assert_ok(pitot_snapshot_end(reader, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(pitot_reader_changed(reader, NULL), 1);
    pitot_reader_free(reader);
}

static void test_in_another_process(void **state)
{
    (void)state;
    /* A process without handles may fork, and its child use the library. */
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(make_test_folder(NULL), 0);
    close_store(open_store());
    pid_t child = fork();
    if (child == 0) {
        struct pitot_reader *reader = NULL;
        int failed = pitot_reader_open_path(in_folder("store.db"), "r", 0, &reader, NULL) != 0;
        failed |= write(ready[1], "", 1) != 1;
        while (!failed && pitot_reader_changed(reader, NULL) == 0) {
            nap();
        }
        failed |= !failed && pass_of(reader) != 1;
        pitot_reader_free(reader);
        _exit(failed);
    }
    char told;
    assert_int_equal(read(ready[0], &told, 1), 1);
    struct lister lister = {.rows = 1};
    struct pitot_store *store = open_store();
    struct pitot_source *source = add_source(store, "list", &lister);
    assert_ok(sync_now(store, source, &error));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close_store(store);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(remove_test_folder(NULL), 0);
}

static void test_a_long_reader_keeps_the_wal_and_is_named(void **state)
{
    struct fixture *fixture = *state;
    close_store(fixture->store);
    const struct pitot_store_options options = {.size = sizeof options, .wal_limit = 1 << 16};
    assert_ok(pitot_store_open(in_folder("store.db"), 1, ITEMS, &options, &fixture->store, &error));
    pitot_reader_free(fixture->reader);
    assert_ok(pitot_reader_open(fixture->store, "slow", &fixture->reader, &error));
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    fixture->lister.rows = 200;
    struct pitot_stats stats = {.size = sizeof stats};

    /* The bound: the limit and two passes, of less than 32 KiB each. */
    for (int i = 0; i < 100; i++) {
        assert_ok(sync_now(fixture->store, fixture->source, &error));
    }
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_true(stats.wal_bytes_max <= (1 << 16) + 2 * (1 << 15));
    assert_true(stats.checkpoint.count > 1);

    assert_ok(pitot_snapshot_begin(fixture->reader, &error));
    for (int i = 0; i < 100; i++) {
        assert_ok(sync_now(fixture->store, fixture->source, &error));
    }
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_string_equal(stats.oldest_snapshot_reader, "slow");
    assert_true(stats.wal_bytes > (1 << 16) + 2 * (1 << 15));
    assert_true(stats.checkpoints_blocked > 0);
    assert_int_equal(stats.checkpoints_failed, 0);
    assert_ok(pitot_snapshot_end(fixture->reader, &error));

    /* Once it has ended, the file is small again. */
    for (int i = 0; i < 10; i++) {
        assert_ok(sync_now(fixture->store, fixture->source, &error));
    }
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_true(stats.wal_bytes <= (1 << 16) + 2 * (1 << 15));
}

struct busy_reader {
    struct pitot_store *store;
    atomic_bool ready;
    atomic_bool done;
    int wrong;
};

/* One snapshot after the other, so short a time apart that nobody who waits would meet it. */
static void *look_again_and_again(void *argument)
{
    struct busy_reader *busy = argument;
    struct pitot_reader *reader = NULL;
    busy->wrong |= pitot_reader_open(busy->store, "busy", &reader, NULL);
    busy->wrong |= pitot_snapshot_begin(reader, NULL);
    busy->ready = true;
    while (!busy->done && busy->wrong == 0) {
        nanosleep(&(const struct timespec){.tv_nsec = 2000000}, NULL);
        busy->wrong |= pitot_snapshot_end(reader, NULL);
        busy->wrong |= pitot_snapshot_begin(reader, NULL);
    }
    pitot_reader_free(reader);
    return NULL;
}

static void test_readers_without_a_gap_do_not_keep_the_wal(void **state)
{
    struct fixture *fixture = *state;
    enum { PASSES = 400 };
    close_store(fixture->store);
    pitot_reader_free(fixture->reader);
    fixture->reader = NULL;
    const struct pitot_store_options options = {.size = sizeof options, .wal_limit = 1 << 16};
    assert_ok(pitot_store_open(in_folder("store.db"), 1, ITEMS, &options, &fixture->store, &error));
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    fixture->lister.rows = 200;
    struct busy_reader busy = {.store = fixture->store};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, look_again_and_again, &busy), 0);
    wait_for(&busy.ready);
    for (int i = 0; i < PASSES; i++) {
        assert_ok(sync_now(fixture->store, fixture->source, &error));
    }
    struct pitot_stats stats = {.size = sizeof stats};
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    busy.done = true;
    pthread_join(thread, NULL);
    assert_int_equal(busy.wrong, 0);
    /* Each pass writes more than two pages. A tenth of all of them is several times the limit: the
     * reading thread may not get to run for a while. */
    assert_true(stats.wal_bytes_max < PASSES / 10 * 3 * UINT64_C(4096));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_snapshot_stands_still),
        TEST(test_rows_and_sync_row_agree_while_passes_run),
        TEST(test_a_reader_cannot_write),
        TEST(test_a_statement_in_mid_step_keeps_the_snapshot),
        TEST(test_the_oldest_snapshot_is_named),
        TEST(test_changes_are_noticed),
        TEST(test_a_reader_outlives_its_store),
        TEST(test_statements_that_are_left_over),
        TEST(test_by_path),
        cmocka_unit_test(test_in_another_process),
        TEST(test_a_long_reader_keeps_the_wal_and_is_named),
        TEST(test_readers_without_a_gap_do_not_keep_the_wal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
