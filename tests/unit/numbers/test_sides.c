/* Both sides do the same work: the same rows are in both databases after each pass. */
#include "numbers/feed.h"
#include "numbers/measured.h"
#include "numbers/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 500 };

struct folder {
    char path[64];
    char pitot[96];
    char plain[96];
};

static int make_folder(void **state)
{
    struct folder *folder = malloc(sizeof *folder);
    assert_non_null(folder);
    strcpy(folder->path, "/tmp/pitot-test-numbers.XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    snprintf(folder->pitot, sizeof folder->pitot, "%s/pitot.db", folder->path);
    snprintf(folder->plain, sizeof folder->plain, "%s/plain.db", folder->path);
    *state = folder;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-pitot"};
    char name[128];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", folder->pitot, ends[i]);
        unlink(name);
        snprintf(name, sizeof name, "%s%s", folder->plain, ends[i]);
        unlink(name);
    }
    assert_int_equal(rmdir(folder->path), 0);
    free(folder);
    return 0;
}

/* All rows of a database as one text. */
static char *content(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT group_concat(id || title || ts, ';') FROM"
                                        " (SELECT * FROM " ROWS_TABLE " ORDER BY id)",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    char *text = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    assert_non_null(text);
    return text;
}

static void must(int status, const struct error *error)
{
    if (status != 0) {
        fail_msg("%s", error->message);
    }
}

static void test_same_content(void **state)
{
    const struct folder *folder = *state;
    struct error error = ERROR_INIT;
    struct feed feed;
    struct plain plain;
    bool busy = true;
    must(feed_open(&feed, folder->pitot, PITOT_MERGE, ROWS, &error), &error);
    must(plain_open(&plain, folder->plain, PLAIN_WAL, &error), &error);
    char *last = NULL;
    for (uint64_t round = 0; round < 3; round++) {
        rows_change(&feed.rows, round == 2 ? ROWS / 100 : ROWS, round);
        must(feed_pass(&feed, &error), &error);
        must(plain_pass(&plain, &feed.rows, &busy, &error), &error);
        assert_false(busy);
        char *mine = content(folder->pitot);
        char *other = content(folder->plain);
        assert_string_equal(mine, other);
        assert_true(last == NULL || strcmp(last, mine) != 0);
        free(other);
        free(last);
        last = mine;
    }
    free(last);
    struct pitot_stats stats;
    must(feed_stats(&feed, &stats, &error), &error);
    assert_int_equal(stats.counts.inserted, ROWS);
    assert_int_equal(stats.counts.updated, ROWS + ROWS / 100);
    plain_close(&plain);
    must(feed_close(&feed, &error), &error);
}

/* With the flag set a source asks for itself: passes go on without anybody. */
static void test_back_to_back(void **state)
{
    const struct folder *folder = *state;
    struct error error = ERROR_INIT;
    struct pitot_stats stats = {.passes = 0};
    struct feed feed;
    must(feed_open(&feed, folder->pitot, PITOT_REPLACE, ROWS, &error), &error);
    atomic_store(&feed.again, true);
    must(feed_pass(&feed, &error), &error);
    while (stats.passes < 10) {
        must(feed_stats(&feed, &stats, &error), &error);
    }
    atomic_store(&feed.again, false);
    must(feed_pass(&feed, &error), &error);
    must(feed_settle(&feed, &error), &error);
    must(feed_close(&feed, &error), &error);
}

/* Under SQLite's defaults a reader keeps a writer out, and the other way round. */
static void test_busy(void **state)
{
    const struct folder *folder = *state;
    struct error error = ERROR_INIT;
    struct rows rows;
    struct plain one;
    struct plain other;
    bool busy = false;
    must(rows_make(&rows, ROWS, &error), &error);
    must(plain_open(&one, folder->plain, PLAIN_DEFAULTS, &error), &error);
    must(plain_open(&other, folder->plain, PLAIN_DEFAULTS, &error), &error);
    sqlite3_busy_timeout(one.db, 0);
    sqlite3_busy_timeout(other.db, 0);
    assert_int_equal(sqlite3_exec(one.db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    must(plain_read(&other, 0, &busy, &error), &error);
    assert_true(busy);
    must(plain_pass(&other, &rows, &busy, &error), &error);
    assert_true(busy);
    assert_int_equal(sqlite3_exec(one.db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    must(plain_pass(&other, &rows, &busy, &error), &error);
    assert_false(busy);
    must(plain_read(&one, 0, &busy, &error), &error);
    assert_false(busy);
    plain_close(&one);
    plain_close(&other);
    rows_free(&rows);
}

static void test_a_line(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct result_numbers numbers;
    struct measured measured;
    result_numbers_init(&numbers);
    must(measured_begin(&measured, "pass", "a line", "ns", RESULT_ABSENT, &error), &error);
    /* Each round counts alone: the ratio of the sums would be 0.2. */
    measured_round(&measured, 10, 20);
    measured_round(&measured, 100, 1000);
    measured_round(&measured, 90, 100);
    measured_ratio(&measured, 1.0 / 0.0);
    must(measured_end(&measured, &numbers, &error), &error);
    assert_int_equal(numbers.lines.count, 1);
    assert_true(numbers.lines.items[0].ratio == 0.5);
    assert_int_equal(numbers.lines.items[0].rounds, 3);
    assert_int_equal(numbers.lines.items[0].plain.count, 3);
    assert_true(numbers.lines.items[0].plain.slowest == 1000);
    result_numbers_release(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_content, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_back_to_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_busy, make_folder, remove_folder),
        cmocka_unit_test(test_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
