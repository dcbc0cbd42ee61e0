/* What tests of one table share: a database in memory, what a source would make of the table, rows
 * staged, and a pass over them. */
#ifndef TESTS_LIB_ONE_TABLE_H
#define TESTS_LIB_ONE_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

#include "lib/applying.h"

#include <cmocka.h>

static sqlite3 *db;
static struct table *table;
static struct stage *stage;
static struct apply *apply;
static struct pitot_error error;

static inline void run(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
}

static inline int64_t ask(const char *sql)
{
    return ask_number(db, sql);
}

static inline int set_up(void **unused)
{
    (void)unused;
    error = (struct pitot_error){.code = 0};
    assert_int_equal(sqlite3_open_v2(":memory:", &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run("PRAGMA foreign_keys = ON");
    return 0;
}

/* What the last own() made; own() may then be called again. */
static inline void disown(void)
{
    apply_free(apply);
    stage_free(stage);
    table_free(table);
    apply = NULL;
    stage = NULL;
    table = NULL;
}

static inline int tear_down(void **unused)
{
    (void)unused;
    disown();
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return 0;
}

static inline struct pitot_value text(const char *string)
{
    return pitot_text(string, strlen(string));
}

static inline void own(const char *name, const char *slice_column, const char *slice,
                       enum pitot_mode mode)
{
    struct pitot_value value = text(slice != NULL ? slice : "");
    if (table_read(&table, db, name, slice_column, mode, &error) != 0 ||
        stage_new(&stage, table, &value, &error) != 0 ||
        apply_new(&apply, db, table, &value, true, &error) != 0) {
        fail_msg("%s", error.message);
    }
}

#define ADD(...)                                                                                   \
    stage_add(stage, (struct pitot_value[]){__VA_ARGS__},                                          \
              sizeof((struct pitot_value[]){__VA_ARGS__}) / sizeof(struct pitot_value), &error)

static inline int pass_as(bool trusted, struct pitot_counts *counts)
{
    enum pitot_mode mode = table->mode;
    int code = apply_prepare(apply, stage, &error);
    run("BEGIN IMMEDIATE");
    if (code == 0) {
        code = mode == PITOT_REPLACE ? apply_replace(apply, stage, counts, &error)
                                     : apply_merge(apply, stage, trusted, counts, &error);
    }
    code = code != 0 ? code : apply_check(db, &error);
    if (!sqlite3_get_autocommit(db)) {
        run(code == 0 ? "COMMIT" : "ROLLBACK");
    }
    apply_end(apply, code == 0);
    stage_clear(stage);
    return code;
}

static inline int pass(void)
{
    struct pitot_counts counts;
    return pass_as(true, &counts);
}

static inline void assert_message(const char *part)
{
    if (strstr(error.message, part) == NULL) {
        fail_msg("the message is \"%s\", without \"%s\"", error.message, part);
    }
}

/* COUNT rows (1, 'a 1') … with the number LAST once more at the end. */
static inline void add_numbers(int count, int last)
{
    for (int i = 1; i <= count + (last > 0); i++) {
        char name[20];
        snprintf(name, sizeof name, "a %d", i <= count ? i : last);
        int id = i <= count ? i : last;
        assert_int_equal(ADD(pitot_integer(id), text(name)), 0);
    }
}

/* A collation of the application's own: backwards. */
static inline int compare_wild(void *unused, int one_size, const void *one, int other_size,
                               const void *other)
{
    (void)unused;
    int least = one_size < other_size ? one_size : other_size;
    int result = memcmp(one, other, (size_t)least);
    return result != 0 ? -result : other_size - one_size;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
