/*
 * The VFS of a store's writer: what it holds back is there for everybody once it counts, for the
 * writer itself before that, and is gone with a transaction that is rolled back, whatever others
 * have written in the meantime.
 */
#include "ask.h"
#include "library.h"

#include "faulty_vfs.h"
#include "lib/wal_vfs.h"

#include <signal.h>
#include <sys/wait.h>

enum { ROWS = 600 }; /* of a kilobyte each: some ten times what is held back */

#define DDL "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)"
#define FILL                                                                                       \
    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT OR REPLACE "       \
    "INTO t SELECT i, hex(zeroblob(500)) || '%s' FROM n"

struct fixture {
    struct wal_vfs *wal;
    sqlite3 *writer;
    sqlite3 *other; /* of another program, so to speak */
};

static int run(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return rc & 0xff;
}

/* Rows whose text ends so. */
static int64_t rows_of(sqlite3 *db, const char *end)
{
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE a LIKE '%%%s'", end);
    return ask_number(db, sql);
}

static void assert_sound(sqlite3 *db)
{
    assert_int_equal(ask_number(db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"),
                     1);
}

static void open_writer(struct fixture *fixture)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    assert_int_equal(
        sqlite3_open_v2(in_folder("t.db"), &fixture->writer, flags, wal_vfs_name(fixture->wal)),
        SQLITE_OK);
    /* Who was killed in a write leaves an index that the next one to open makes anew. */
    sqlite3_busy_timeout(fixture->writer, PATIENCE_MS);
    wal_vfs_watch(fixture->wal, fixture->writer);
    /* Few pages are kept, so that a large transaction writes before it ends. */
    assert_int_equal(run(fixture->writer, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                          "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 10"),
                     SQLITE_OK);
}

static int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    faulty_register();
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_ok(wal_vfs_new(&fixture->wal, "faulty", &error));
    open_writer(fixture);
    assert_int_equal(run(fixture->writer, DDL), SQLITE_OK);
    assert_int_equal(sqlite3_open(in_folder("t.db"), &fixture->other), SQLITE_OK);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(sqlite3_close(fixture->other), SQLITE_OK);
    assert_int_equal(sqlite3_close(fixture->writer), SQLITE_OK);
    wal_vfs_free(fixture->wal);
    free(fixture);
    return remove_test_folder(state);
}

/* Counts the writes of what is done until count_end(): a fault that is too far away to come. */
enum { FAR = 1000000000 };

static void count_begin(void)
{
    faulty_arm(FAULTY_WRITE, FAR, false, SQLITE_IOERR_WRITE);
}

static long count_end(void)
{
    faulty_disarm();
    return FAR - faulty.left;
}

static void a_transaction_is_written_in_few_pieces(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture->writer, "PRAGMA cache_size = 1000"), SQLITE_OK);
    count_begin();
    assert_int_equal(run(fixture->writer, FILL, "first"), SQLITE_OK);
    long writes = count_end();
    /* 600 kB in pieces of up to 64 KiB, and what begins and ends them. */
    if (writes < 8 || writes > 30) {
        fail_msg("%ld writes", writes);
    }
    assert_int_equal(rows_of(fixture->other, "first"), ROWS);
    assert_sound(fixture->other);
}

static void each_commit_is_there_for_others(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 1; i <= 100; i++) {
        assert_int_equal(run(fixture->writer, "INSERT INTO t VALUES (%d, 'x')", i), SQLITE_OK);
        assert_int_equal(ask_number(fixture->other, "SELECT max(id) FROM t"), i);
        if (i % 30 == 0) { /* the WAL begins anew */
            assert_int_equal(run(fixture->writer, "PRAGMA wal_checkpoint(RESTART)"), SQLITE_OK);
        }
        if (i % 7 == 0) { /* somebody else's frames in between */
            assert_int_equal(run(fixture->other, "UPDATE t SET a = 'y' WHERE id = %d", i),
                             SQLITE_OK);
        }
    }
    assert_sound(fixture->writer);
    assert_sound(fixture->other);
}

static void pages_that_left_the_cache_are_read_again(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture->writer, "BEGIN"), SQLITE_OK);
    assert_int_equal(run(fixture->writer, FILL, "first"), SQLITE_OK);
    /* All to the WAL, and nothing is kept. */
    assert_int_equal(sqlite3_db_cacheflush(fixture->writer), SQLITE_OK);
    assert_int_equal(sqlite3_db_release_memory(fixture->writer), SQLITE_OK);
    assert_int_equal(rows_of(fixture->writer, "first"), ROWS);
    assert_int_equal(run(fixture->writer, "SAVEPOINT s"), SQLITE_OK);
    assert_int_equal(run(fixture->writer, FILL, "second"), SQLITE_OK);
    assert_int_equal(rows_of(fixture->writer, "second"), ROWS);
    assert_int_equal(run(fixture->writer, "ROLLBACK TO s"), SQLITE_OK);
    assert_int_equal(rows_of(fixture->writer, "first"), ROWS);
    assert_int_equal(run(fixture->writer, "UPDATE t SET a = 'third' WHERE id %% 2 = 0"), SQLITE_OK);
    assert_int_equal(ask_number(fixture->other, "SELECT count(*) FROM t"), 0);
    assert_int_equal(run(fixture->writer, "COMMIT"), SQLITE_OK);
    assert_int_equal(rows_of(fixture->other, "first"), ROWS / 2);
    assert_int_equal(rows_of(fixture->other, "third"), ROWS / 2);
    assert_sound(fixture->other);
}

/* What is held back when the lock is given up must not come down on another writer's frames. */
static void what_is_rolled_back_is_never_written(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture->writer, FILL, "first"), SQLITE_OK);
    for (int i = 0; i < 20; i++) {
        /* Now and then other amounts are held at the end. */
        assert_int_equal(run(fixture->writer, "BEGIN"), SQLITE_OK);
        assert_int_equal(
            run(fixture->writer, "UPDATE t SET a = a || 'never' WHERE id <= %d", ROWS - 11 * i),
            SQLITE_OK);
        assert_int_equal(run(fixture->writer, "ROLLBACK"), SQLITE_OK);
        assert_int_equal(run(fixture->other, "UPDATE t SET a = a || 'other%d'", i), SQLITE_OK);
        assert_int_equal(run(fixture->writer, "UPDATE t SET a = a || 'own' WHERE id = %d", i + 1),
                         SQLITE_OK);
        assert_int_equal(
            ask_number(fixture->other, "SELECT count(*) FROM t WHERE a LIKE '%never%'"), 0);
        assert_int_equal(ask_number(fixture->other, "SELECT count(*) FROM t WHERE a LIKE '%own'"),
                         1);
        assert_sound(fixture->other);
        assert_sound(fixture->writer);
        assert_int_equal(run(fixture->other, "PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
    }
}

static void a_connection_that_ends_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture->writer, FILL, "first"), SQLITE_OK);
    assert_int_equal(run(fixture->writer, "BEGIN"), SQLITE_OK);
    assert_int_equal(run(fixture->writer, FILL, "never"), SQLITE_OK);
    assert_int_equal(sqlite3_close(fixture->writer), SQLITE_OK);
    assert_int_equal(run(fixture->other, FILL, "other"), SQLITE_OK);
    open_writer(fixture);
    assert_int_equal(rows_of(fixture->writer, "other"), ROWS);
    assert_int_equal(run(fixture->writer, FILL, "second"), SQLITE_OK);
    assert_int_equal(rows_of(fixture->other, "second"), ROWS);
    assert_sound(fixture->other);
}

static void writes_that_fail_fail_the_transaction(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture->writer, FILL, "first"), SQLITE_OK);
    long nth = 1;
    int rc;
    do {
        faulty_arm(FAULTY_WRITE, nth++, true, SQLITE_FULL);
        rc = run(fixture->writer, FILL, "second");
        bool failed = faulty.failed > 0;
        faulty_disarm();
        assert_int_equal(rc, failed ? SQLITE_FULL : SQLITE_OK);
        assert_int_equal(rows_of(fixture->other, failed ? "first" : "second"), ROWS);
        assert_int_equal(rows_of(fixture->writer, failed ? "first" : "second"), ROWS);
        assert_sound(fixture->other);
    } while (rc != SQLITE_OK);
    assert_true(nth > 8);
}

static void pages_that_are_larger_than_all_the_room(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(run(fixture->writer, "PRAGMA journal_mode = DELETE"), SQLITE_OK);
    assert_int_equal(run(fixture->writer, "PRAGMA page_size = 65536; VACUUM"), SQLITE_OK);
    assert_int_equal(run(fixture->writer, "PRAGMA journal_mode = WAL"), SQLITE_OK);
    assert_int_equal(ask_number(fixture->writer, "PRAGMA page_size"), 65536);
    assert_int_equal(run(fixture->writer, FILL, "first"), SQLITE_OK);
    assert_int_equal(rows_of(fixture->other, "first"), ROWS);
    assert_sound(fixture->other);
}

/* A writer that goes on until it is killed: the sum of all `a` is what table c says. */
static void write_for_ever(unsigned seed)
{
    struct fixture fixture = {.writer = NULL};
    if (wal_vfs_new(&fixture.wal, NULL, NULL) != 0) {
        _exit(1);
    }
    open_writer(&fixture);
    srand(seed);
    for (;;) {
        int rows = 1 + rand() % ROWS;
        bool wrong =
            run(fixture.writer, "BEGIN IMMEDIATE") != SQLITE_OK ||
            run(fixture.writer, "UPDATE t SET a = a + 1, b = hex(randomblob(%d)) WHERE id <= %d",
                rand() % 200, rows) != SQLITE_OK ||
            run(fixture.writer, "UPDATE c SET a = a + %d", rows) != SQLITE_OK ||
            run(fixture.writer, rand() % 4 == 0 ? "ROLLBACK" : "COMMIT") != SQLITE_OK;
        if (wrong) {
            _exit(1);
        }
        nap();
    }
}

/* No connection of the parent's is open while it forks. */
static void kills_beside_another_writer(void **unused)
{
    (void)unused;
    enum { KILLS = 20 };
    sqlite3 *db = NULL;
    int64_t written = 0;
    for (unsigned i = 0; i < KILLS; i++) {
        pid_t child = i == 0 ? -1 : fork();
        if (child == 0) {
            write_for_ever(i);
        }
        assert_int_equal(sqlite3_open(in_folder("t.db"), &db), SQLITE_OK);
        sqlite3_busy_timeout(db, PATIENCE_MS);
        if (i == 0) {
            assert_int_equal(
                run(db,
                    "PRAGMA journal_mode = WAL; CREATE TABLE c(a INTEGER); INSERT INTO c VALUES(0);"
                    "CREATE TABLE o(x TEXT); CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b);"
                    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                    "INSERT INTO t SELECT i, 0, '' FROM n",
                    ROWS),
                SQLITE_OK);
        }
        for (int naps = 50 + rand() % 100; naps > 0; naps--) {
            if (naps % 10 == 0) {
                written += run(db, "INSERT INTO o VALUES (hex(randomblob(2000)))") == SQLITE_OK;
            }
            nap();
        }
        int status = 0;
        if (child > 0) {
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status)); /* until then nothing was wrong with it */
        }
        assert_sound(db);
        assert_int_equal(ask_number(db, "SELECT sum(a) - (SELECT a FROM c) FROM t"), 0);
        assert_int_equal(ask_number(db, "SELECT count(*) FROM o"), written);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
    assert_int_equal(sqlite3_open(in_folder("t.db"), &db), SQLITE_OK);
    assert_true(ask_number(db, "SELECT a FROM c") > 0);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void no_vfs_of_that_name(void **state)
{
    (void)state;
    struct wal_vfs *wal = (struct wal_vfs *)1;
    assert_ok(wal_vfs_new(&wal, "none such", &error));
    assert_null(wal);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_transaction_is_written_in_few_pieces),
        TEST(each_commit_is_there_for_others),
        TEST(pages_that_left_the_cache_are_read_again),
        TEST(what_is_rolled_back_is_never_written),
        TEST(a_connection_that_ends_leaves_nothing),
        TEST(writes_that_fail_fail_the_transaction),
        TEST(pages_that_are_larger_than_all_the_room),
        TEST(no_vfs_of_that_name),
        cmocka_unit_test_setup_teardown(kills_beside_another_writer, make_test_folder,
                                        remove_test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
