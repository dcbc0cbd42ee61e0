/*
 * Each allocation of a pass fails once, and from there on for ever: the pass ends with an error or
 * as it should, the table holds the old rows or the new ones, and nothing is left behind.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

#include "lib/apply.h"

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static long countdown; /* the allocation that fails, counted down; 0: none */
static bool for_ever;
static long live;

#ifndef SANITIZED
#define EXPORTED __attribute__((visibility("default"))) /* SQLite's are meant as well */

/* The C library's own, under the names that it keeps for this purpose. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static bool fails(void)
{
    if (countdown == 0 || --countdown > 0) {
        return false;
    }
    countdown = for_ever ? 1 : 0;
    errno = ENOMEM;
    return true;
}

EXPORTED void *malloc(size_t size)
{
    void *memory = fails() ? NULL : __libc_malloc(size);
    live += memory != NULL;
    return memory;
}

EXPORTED void *calloc(size_t count, size_t size)
{
    void *memory = fails() ? NULL : __libc_calloc(count, size);
    live += memory != NULL;
    return memory;
}

EXPORTED void *realloc(void *old, size_t size)
{
    void *memory = fails() ? NULL : __libc_realloc(old, size);
    live += memory != NULL && old == NULL;
    return memory;
}

EXPORTED void free(void *memory)
{
    live -= memory != NULL;
    __libc_free(memory);
}
#endif

struct scenario {
    const char *ddl;
    enum pitot_mode mode;
    const char *slice;
};

static const struct scenario scenarios[] = {
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INT)", PITOT_REPLACE, NULL},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INT); CREATE UNIQUE INDEX i ON t(a)",
     PITOT_REPLACE, NULL},
    {"CREATE TABLE t(id TEXT PRIMARY KEY, a TEXT, n INT) WITHOUT ROWID", PITOT_REPLACE, NULL},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INT CHECK (n >= 0)); CREATE INDEX i ON t(n)",
     PITOT_REPLACE, "n"},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INT)", PITOT_MERGE, NULL},
    {"CREATE TABLE t(id TEXT PRIMARY KEY, a TEXT, n INT); CREATE UNIQUE INDEX i ON t(a)",
     PITOT_MERGE, NULL},
};

struct world {
    sqlite3 *db;
    struct table *table;
    struct stage *stage;
    struct apply *apply;
    struct pitot_error error;
};

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
}

enum { ROWS = 60 };

/* Rows in the wrong order, some with long texts; ROUND changes their content and one key. */
static int add_rows(struct world *world, int round)
{
    static char text[40000];
    int code = 0;
    for (int i = ROWS; i > 0 && code == 0; i--) {
        int length = sprintf(text, "text %d of round %d", i, i % 3 == 0 ? round : 0);
        size_t size = (size_t)length;
        if (i == 7) {
            memset(text + length, 'x', sizeof text - size);
            size = sizeof text;
        }
        struct pitot_value row[] = {pitot_integer(i == 5 ? 1000 + round : i),
                                    pitot_text(text, size), pitot_text("1", 1)};
        code = stage_add(world->stage, row, 3, &world->error);
    }
    return code;
}

static int pass(struct world *world, int round)
{
    struct pitot_counts counts;
    int code = add_rows(world, round);
    code = code != 0 ? code : apply_prepare(world->apply, world->stage, &world->error);
    int rc = code != 0 ? SQLITE_OK : sqlite3_exec(world->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == 0 && rc == SQLITE_OK) {
        code = world->table->mode == PITOT_REPLACE
                   ? apply_replace(world->apply, world->stage, &counts, &world->error)
                   : apply_merge(world->apply, world->stage, true, &counts, &world->error);
        if (code == 0) {
            rc = sqlite3_exec(world->db, "COMMIT", NULL, NULL, NULL);
        }
    }
    code = code != 0 ? code : rc != SQLITE_OK ? PITOT_ERROR_SQLITE : 0;
    if (!sqlite3_get_autocommit(world->db)) {
        sqlite3_exec(world->db, "ROLLBACK", NULL, NULL, NULL);
    }
    apply_end(world->apply, code == 0);
    stage_clear(world->stage);
    return code;
}

static int own(struct world *world, const struct scenario *scenario)
{
    struct pitot_value slice = pitot_integer(1);
    int code =
        table_read(&world->table, world->db, "t", scenario->slice, scenario->mode, &world->error);
    code = code != 0 ? code : stage_new(&world->stage, world->table, &slice, &world->error);
    return code != 0
               ? code
               : apply_new(&world->apply, world->db, world->table, &slice, true, &world->error);
}

/* Which round's rows the table holds, whole. */
static int64_t round_of(sqlite3 *db)
{
    int64_t round = ask_number(db, "SELECT max(CAST(id AS INT)) - 1000 FROM t");
    char sql[400];
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM t WHERE n = 1 AND (CAST(id AS INT) > 1000 OR id = 7 OR a = 'text '"
        " || id || ' of round ' || iif(id %% 3 = 0, %d, 0))",
        (int)round);
    assert_int_equal(ask_number(db, sql), ROWS);
    assert_int_equal(ask_number(db, "SELECT count(*) FROM t"), ROWS);
    return round;
}

/* The Nth allocation fails. False: there are not so many. */
static bool attempt(const struct scenario *scenario, long n, bool again)
{
    struct world world = {.db = NULL};
    assert_int_equal(sqlite3_open_v2(":memory:", &world.db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run(world.db, scenario->ddl);
    assert_int_equal(own(&world, scenario), 0);
    assert_int_equal(pass(&world, 1), 0);
    apply_free(world.apply);
    stage_free(world.stage);
    table_free(world.table);
    world.apply = NULL;
    world.stage = NULL;
    world.table = NULL;

    countdown = n;
    for_ever = again;
    int code = own(&world, scenario);
    int done = 1;
    for (int round = 2; round <= 3 && code == 0; round++) {
        code = pass(&world, round);
        done = code == 0 ? round : done;
    }
    bool failed = countdown == 0 || (again && countdown == 1);
    countdown = 0;
    if (code != 0) {
        assert_true(failed);
        /* Allocations fail inside SQLite, too, where it may be a file that cannot be opened. */
        assert_in_range(-code, 1, 24);
    }
    if (!sqlite3_get_autocommit(world.db)) {
        run(world.db, "ROLLBACK"); /* there was no memory for that either */
    }
    assert_int_equal(round_of(world.db), done);
    /* Afterwards all is well again. */
    if (world.apply != NULL) {
        if (pass(&world, 9) != 0) {
            fail_msg("after allocation %ld%s (%d): %d %d %s", n, again ? " and all behind it" : "",
                     code, world.error.code, world.error.sqlite_code, world.error.message);
        }
        assert_int_equal(round_of(world.db), 9);
        assert_int_equal(
            ask_number(world.db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    }
    apply_free(world.apply);
    stage_free(world.stage);
    table_free(world.table);
    assert_int_equal(sqlite3_close(world.db), SQLITE_OK);
    return failed;
}

static void failed_allocations_leave_the_old_rows(void **unused)
{
    (void)unused;
#ifdef SANITIZED
    skip();
#endif
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        attempt(&scenarios[i], 0, false); /* what SQLite allocates once */
        for (int again = 0; again <= 1; again++) {
            long n = 1;
            long before = live;
            while (attempt(&scenarios[i], n, again)) {
                if (live != before) {
                    fail_msg("scenario %zu, allocation %ld: %ld are left", i, n, live - before);
                }
                n += n < 400 ? 1 : 7;
            }
            assert_true(n > 100); /* there were some */
        }
    }
}

int main(void)
{
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0); /* so that every piece of memory counts */
    const struct CMUnitTest tests[] = {cmocka_unit_test(failed_allocations_leave_the_old_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
