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

#include "lib/apply.h"

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

static void open_world(struct world *world)
{
    struct pitot_error error;
    assert_int_equal(sqlite3_open_v2(":memory:", &world->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run(world->db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INTEGER)");
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
    open_world(&world);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_changed_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
