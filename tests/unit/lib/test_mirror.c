/*
 * Merges of many rows of which some change where they stand, and some come and go: what is
 * remembered tells exactly which, over several pages and whatever lies between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

#include "lib/apply.h"
#include "lib/pages.h"

#include <cmocka.h>

enum { ROWS = 3000, ROUNDS = 60 };

static uint64_t state = 88172645463325252;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* The rows that should be there: by id, the version of its text; 0: none. */
static uint64_t version[ROWS];

struct world {
    sqlite3 *db;
    struct table *table;
    struct stage *stage;
    struct apply *apply;
};

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
}

static void open_world(struct world *world, const char *ddl)
{
    struct pitot_error error;
    assert_int_equal(sqlite3_open_v2(":memory:", &world->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run(world->db, ddl);
    assert_int_equal(table_read(&world->table, world->db, "t", NULL, PITOT_MERGE, &error), 0);
    assert_int_equal(stage_new(&world->stage, world->table, NULL, &error), 0);
    assert_int_equal(apply_new(&world->apply, world->db, world->table, NULL, true, &error), 0);
}

static void close_world(struct world *world)
{
    apply_free(world->apply);
    stage_free(world->stage);
    table_free(world->table);
    assert_int_equal(sqlite3_close(world->db), SQLITE_OK);
}

/* A PART of a thousand rows get other texts, now of another length; COME of a thousand come or go.
 */
static void change(uint64_t part, uint64_t come, uint64_t round, struct pitot_counts *expected)
{
    for (size_t id = 0; id < ROWS; id++) {
        if (draw(1000) < come) {
            expected->deleted += version[id] != 0;
            expected->inserted += version[id] == 0;
            version[id] = version[id] != 0 ? 0 : round;
        } else if (version[id] != 0 && draw(1000) < part) {
            version[id] = round;
            expected->updated++;
        } else {
            expected->unchanged += version[id] != 0;
        }
    }
}

static void merge(struct world *world, struct pitot_counts *counts)
{
    struct pitot_error error;
    for (size_t id = 0; id < ROWS; id++) {
        char text[60];
        size_t size = (size_t)sprintf(text, "text %zu of %llu", id,
                                      (unsigned long long)version[id] << (version[id] % 3 * 20));
        struct pitot_value row[] = {pitot_integer((int64_t)id * 5 - 4000), pitot_text(text, size),
                                    pitot_integer((int64_t)version[id])};
        assert_int_equal(version[id] == 0 ? 0 : stage_add(world->stage, row, 3, &error), 0);
    }
    assert_int_equal(apply_prepare(world->apply, world->stage, &error), 0);
    run(world->db, "BEGIN IMMEDIATE");
    assert_int_equal(apply_merge(world->apply, world->stage, true, counts, &error), 0);
    run(world->db, "COMMIT");
    apply_end(world->apply, true);
    stage_clear(world->stage);
}

static void check_rows(sqlite3 *db)
{
    sqlite3_stmt *read;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT id, a, n FROM t ORDER BY id", -1, &read, NULL),
                     SQLITE_OK);
    for (size_t id = 0; id < ROWS; id++) {
        if (version[id] == 0) {
            continue;
        }
        char text[60];
        sprintf(text, "text %zu of %llu", id,
                (unsigned long long)version[id] << (version[id] % 3 * 20));
        assert_int_equal(sqlite3_step(read), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int64(read, 0), (int64_t)id * 5 - 4000);
        assert_string_equal((const char *)sqlite3_column_text(read, 1), text);
        assert_int_equal(sqlite3_column_int64(read, 2), version[id]);
    }
    assert_int_equal(sqlite3_step(read), SQLITE_DONE);
    sqlite3_finalize(read);
}

static void what_changed_is_found(void **unused)
{
    (void)unused;
    /* Thousandths: none, few, so that they lie far apart, half, and all. */
    static const uint64_t parts[] = {0, 1, 10, 100, 500, 1000};
    static const uint64_t comings[] = {0, 0, 0, 1, 20};
    struct world world;
    open_world(&world, "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INTEGER)");
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct pitot_counts expected = {0};
        struct pitot_counts counts = {0};
        change(round == 1 ? 0 : parts[round % 6], round == 1 ? 900 : comings[round % 5], round,
               &expected);
        merge(&world, &counts);
        if (memcmp(&counts, &expected, sizeof counts) != 0) {
            fail_msg("round %d: %d %d %d %d, and not %d %d %d %d", (int)round, (int)counts.inserted,
                     (int)counts.updated, (int)counts.deleted, (int)counts.unchanged,
                     (int)expected.inserted, (int)expected.updated, (int)expected.deleted,
                     (int)expected.unchanged);
        }
        check_rows(world.db);
    }
    close_world(&world);
}

/* Ten rows with the number N, but row 7 with SEVENTH. */
static int merge_ten(struct world *world, int64_t n, int64_t seventh, struct pitot_error *error)
{
    struct pitot_counts counts;
    for (int64_t id = 1; id <= 10; id++) {
        struct pitot_value row[] = {pitot_integer(id), pitot_integer(id == 7 ? seventh : n)};
        assert_int_equal(stage_add(world->stage, row, 2, error), 0);
    }
    assert_int_equal(apply_prepare(world->apply, world->stage, error), 0);
    run(world->db, "BEGIN IMMEDIATE");
    int code = apply_merge(world->apply, world->stage, true, &counts, error);
    if (!sqlite3_get_autocommit(world->db)) {
        run(world->db, code == 0 ? "COMMIT" : "ROLLBACK");
    }
    apply_end(world->apply, code == 0);
    stage_clear(world->stage);
    return code;
}

static void a_refused_row_among_many_is_named(void **unused)
{
    (void)unused;
    struct world world;
    struct pitot_error error;
    open_world(&world, "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER CHECK (n < 100))");
    assert_int_equal(merge_ten(&world, 1, 1, &error), 0);
    assert_int_equal(merge_ten(&world, 2, 100, &error), PITOT_ERROR_CONSTRAINT);
    assert_non_null(strstr(error.message, "id = 7"));
    assert_non_null(strstr(error.message, "CHECK"));
    assert_int_equal(ask_number(world.db, "SELECT sum(n) FROM t"), 10);
    assert_int_equal(merge_ten(&world, 3, 30, &error), 0);
    assert_int_equal(ask_number(world.db, "SELECT sum(n) FROM t"), 57);
    close_world(&world);
}

/* Whoever says that nobody else has written may be wrong: what was staged is there nevertheless. */
static void rows_that_are_not_there_come_back(void **unused)
{
    (void)unused;
    struct world world;
    struct pitot_error error;
    open_world(&world, "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)");
    assert_int_equal(merge_ten(&world, 1, 1, &error), 0);
    run(world.db, "DELETE FROM t WHERE id = 5");
    assert_int_equal(merge_ten(&world, 2, 1, &error), 0);
    assert_int_equal(ask_number(world.db, "SELECT count(*) FROM t"), 10);
    assert_int_equal(ask_number(world.db, "SELECT sum(n) FROM t"), 19);
    close_world(&world);
}

/* Leaves other bytes in memory that is allocated next. */
static void scribble(int byte)
{
    volatile unsigned char *memory = malloc(PAGES_SIZE);
    for (size_t i = 0; i < PAGES_SIZE; i++) {
        memory[i] = (unsigned char)byte;
    }
    free((void *)memory);
}

/* A cell of three bytes is filled up to four. */
static void what_fills_up_a_cell_is_no_difference(void **unused)
{
    (void)unused;
    struct world world;
    struct pitot_error error;
    open_world(&world, "CREATE TABLE t(k INTEGER PRIMARY KEY) WITHOUT ROWID");
    for (int round = 1; round <= 4; round++) {
        struct pitot_counts counts = {0};
        scribble(0xA0 + round);
        for (int64_t k = 0; k < 2; k++) {
            const struct pitot_value row = pitot_integer(k);
            assert_int_equal(stage_add(world.stage, &row, 1, &error), 0);
        }
        assert_int_equal(apply_prepare(world.apply, world.stage, &error), 0);
        run(world.db, "BEGIN IMMEDIATE");
        assert_int_equal(apply_merge(world.apply, world.stage, true, &counts, &error), 0);
        run(world.db, "COMMIT");
        apply_end(world.apply, true);
        stage_clear(world.stage);
        assert_int_equal(counts.unchanged, round == 1 ? 0 : 2);
        assert_int_equal(counts.updated, 0);
    }
    close_world(&world);
}

/* Where a row stands among the staged ones is no part of it, unless its key says so. */
static void rows_in_another_order_are_the_same(void **unused)
{
    (void)unused;
    struct world world;
    struct pitot_error error;
    open_world(&world, "CREATE TABLE t(k TEXT PRIMARY KEY, n INTEGER)");
    for (int round = 0; round < 4; round++) {
        struct pitot_counts counts = {0};
        for (int i = 0; i < 26; i++) {
            const char letter = (char)('a' + (round % 2 == 0 ? i : 25 - i));
            const struct pitot_value row[] = {pitot_text(&letter, 1), pitot_integer(letter)};
            assert_int_equal(stage_add(world.stage, row, 2, &error), 0);
        }
        assert_int_equal(apply_prepare(world.apply, world.stage, &error), 0);
        run(world.db, "BEGIN IMMEDIATE");
        assert_int_equal(apply_merge(world.apply, world.stage, true, &counts, &error), 0);
        run(world.db, "COMMIT");
        apply_end(world.apply, true);
        stage_clear(world.stage);
        assert_int_equal(counts.unchanged, round == 0 ? 0 : 26);
        assert_int_equal(counts.updated, 0);
    }
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_another_order_are_the_same),
        cmocka_unit_test(what_fills_up_a_cell_is_no_difference),
        cmocka_unit_test(what_changed_is_found),
        cmocka_unit_test(a_refused_row_among_many_is_named),
        cmocka_unit_test(rows_that_are_not_there_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
