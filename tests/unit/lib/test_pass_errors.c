/*
 * What a table or a row is refused for, and that a pass that fails names the row and leaves the
 * table as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/applying.h"

#include <cmocka.h>

static sqlite3 *db;
static struct table *table;
static struct stage *stage;
static struct apply *apply;
static struct pitot_error error;

static void run(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
}

static int64_t ask(const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int set_up(void **unused)
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
static void disown(void)
{
    apply_free(apply);
    stage_free(stage);
    table_free(table);
    apply = NULL;
    stage = NULL;
    table = NULL;
}

static int tear_down(void **unused)
{
    (void)unused;
    disown();
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return 0;
}

static struct pitot_value text(const char *string)
{
    return pitot_text(string, strlen(string));
}

static void own(const char *name, const char *slice_column, const char *slice, enum pitot_mode mode)
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

static int pass_as(bool trusted, struct pitot_counts *counts)
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

static int pass(void)
{
    struct pitot_counts counts;
    return pass_as(true, &counts);
}

static void assert_message(const char *part)
{
    if (strstr(error.message, part) == NULL) {
        fail_msg("the message is \"%s\", without \"%s\"", error.message, part);
    }
}

static int compare_wild(void *unused, int one_size, const void *one, int other_size,
                        const void *other)
{
    (void)unused;
    int least = one_size < other_size ? one_size : other_size;
    int result = memcmp(one, other, (size_t)least);
    return result != 0 ? -result : other_size - one_size;
}

/* ---- tables ---------------------------------------------------------------------- */

static void tables_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        const char *slice;
        enum pitot_mode mode;
        const char *message;
    } cases[] = {
        {"nothing", NULL, PITOT_REPLACE, "nothing: there is no such table"},
        {"v", NULL, PITOT_REPLACE, "v is a view"},
        {"f", NULL, PITOT_REPLACE, "f is a virtual table"},
        {"sqlite_schema", NULL, PITOT_REPLACE, "SQLite's own"},
        {"sqlite_sequence", NULL, PITOT_REPLACE, "SQLite's own"},
        {"plain", "a", PITOT_REPLACE, "column a makes the slices but leads no index"},
        {"plain", "x", PITOT_REPLACE, "plain has no column x"},
        {"part", "a", PITOT_REPLACE, "leads no index"},
        {"second", "a", PITOT_MERGE, "leads no index"},
        {"plain", NULL, PITOT_MERGE, "plain has no primary key"},
        {"parent", NULL, PITOT_REPLACE, "child references it with ON DELETE CASCADE"},
        {"wild", NULL, PITOT_MERGE, "column k of the primary key has a collation of its own"},
    };
    assert_int_equal(sqlite3_create_collation(db, "wild", SQLITE_UTF8, NULL, compare_wild),
                     SQLITE_OK);
    run("CREATE TABLE plain(a, b); CREATE VIEW v AS SELECT * FROM plain;"
        "CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT);"
        "CREATE TABLE part(a, b); CREATE INDEX part_a ON part(a) WHERE b > 1;"
        "CREATE TABLE second(b, a, PRIMARY KEY(b, a));"
        "CREATE TABLE parent(id INTEGER PRIMARY KEY);"
        "CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE CASCADE);"
        "CREATE VIRTUAL TABLE f USING fts5(a);"
        "CREATE TABLE wild(k TEXT COLLATE wild PRIMARY KEY)");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = table_read(&table, db, cases[i].name, cases[i].slice, cases[i].mode, &error);
        assert_int_equal(code, PITOT_ERROR_SCHEMA);
        assert_message(cases[i].message);
        assert_null(table);
    }
    /* The same tables in ways that are right. */
    assert_int_equal(table_read(&table, db, "parent", NULL, PITOT_MERGE, &error), 0);
    table_free(table);
    assert_int_equal(table_read(&table, db, "second", "b", PITOT_MERGE, &error), 0);
}

static void utf16_is_refused(void **unused)
{
    (void)unused;
    run("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a)");
    assert_int_equal(table_read(&table, db, "t", NULL, PITOT_REPLACE, &error), PITOT_ERROR_SCHEMA);
    assert_message("UTF-16");
}

/* ---- rows ------------------------------------------------------------------------ */

static void rows_are_refused(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, n INT) STRICT");
    own("t", NULL, NULL, PITOT_MERGE);
    assert_int_equal(ADD(pitot_integer(1), text("a"), pitot_integer(2)), 0);
    assert_int_equal(ADD(pitot_integer(1), text("a")), PITOT_ERROR_TYPE);
    assert_message("row 2 for t: 2 values for 3 columns");
    assert_int_equal(ADD(pitot_integer(2), pitot_null(), pitot_null()), PITOT_ERROR_TYPE);
    assert_message("row 2 for t: column a: NULL, and it is NOT NULL");
    assert_int_equal(ADD(pitot_null(), text("a"), pitot_null()), PITOT_ERROR_TYPE);
    assert_message("column id: NULL in the primary key");
    assert_int_equal(ADD(text("x"), text("a"), pitot_null()), PITOT_ERROR_TYPE);
    assert_message("column id: a text, which an INTEGER PRIMARY KEY");
    assert_int_equal(ADD(pitot_integer(2), text("a"), pitot_real(0.5)), PITOT_ERROR_TYPE);
    assert_message("column n: a real, which STRICT INT does not take");
    assert_int_equal(ADD(pitot_integer(2), text("a"), pitot_blob("a", 1)), PITOT_ERROR_TYPE);
    assert_message("column n: a blob");
    struct pitot_value odd = pitot_integer(1);
    odd.type = 9;
    assert_int_equal(ADD(pitot_integer(2), text("a"), odd), PITOT_ERROR_INVALID);
    assert_message("column n: type 9");
    struct pitot_value long_text = pitot_text("", 0);
    long_text.size = UINT32_MAX;
    assert_int_equal(ADD(pitot_integer(2), long_text, pitot_null()), PITOT_ERROR_TYPE);
    assert_message("column a: 4294967295 bytes");
    /* None of them was staged. */
    assert_int_equal(stage_rows(stage), 1);
    assert_int_equal(pass(), 0);
    assert_int_equal(ask("SELECT count(*) FROM t WHERE id = 1 AND a = 'a' AND n = 2"), 1);
}

static void another_slice_is_refused(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(s TEXT, k TEXT, PRIMARY KEY(s, k))");
    own("t", "s", "mine", PITOT_REPLACE);
    assert_int_equal(ADD(text("mine"), text("a")), 0);
    assert_int_equal(ADD(text("other"), text("a")), PITOT_ERROR_SLICE);
    assert_message("row 2 for t: column s: the row is of another slice");
    assert_int_equal(ADD(pitot_null(), text("a")), PITOT_ERROR_SLICE);
    assert_int_equal(stage_rows(stage), 1);
}

static void slices_are_checked(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT); CREATE INDEX t_s ON t(s)");
    struct pitot_value null = pitot_null();
    assert_int_equal(table_read(&table, db, "t", "s", PITOT_REPLACE, &error), 0);
    assert_int_equal(stage_new(&stage, table, &null, &error), PITOT_ERROR_TYPE);
    assert_message("NULL is no slice");
    table_free(table);
    struct pitot_value one = pitot_integer(1);
    assert_int_equal(table_read(&table, db, "t", "id", PITOT_REPLACE, &error), 0);
    assert_int_equal(stage_new(&stage, table, &one, &error), PITOT_ERROR_TYPE);
    assert_message("a slice would be one row");
}

/* ---- keys ------------------------------------------------------------------------ */

/* COUNT rows (1, 'a 1') … with the number LAST once more at the end. */
static void add_numbers(int count, int last)
{
    for (int i = 1; i <= count + (last > 0); i++) {
        char name[20];
        snprintf(name, sizeof name, "a %d", i <= count ? i : last);
        int id = i <= count ? i : last;
        assert_int_equal(ADD(pitot_integer(id), text(name)), 0);
    }
}

static void keys_staged_twice_are_named(void **unused)
{
    (void)unused;
    static const char *const ddls[] = {
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT) WITHOUT ROWID",
        "CREATE TABLE t(id TEXT PRIMARY KEY, a TEXT)",
    };
    for (size_t i = 0; i < 2 * sizeof ddls / sizeof *ddls; i++) {
        for (int count = 5; count <= 500; count += 495) {
            enum pitot_mode mode = i % 2 == 0 ? PITOT_REPLACE : PITOT_MERGE;
            run("DROP TABLE IF EXISTS t");
            run(ddls[i / 2]);
            own("t", NULL, NULL, mode);
            add_numbers(count, 0);
            assert_int_equal(pass(), 0);
            add_numbers(count, 3);
            assert_int_equal(pass(), PITOT_ERROR_DUPLICATE);
            assert_message(i / 2 == 2 ? "id = '3'" : "id = 3");
            assert_int_equal(ask("SELECT count(*) FROM t"), count);
            /* The next pass is none the worse for it. */
            add_numbers(count + 1, 0);
            assert_int_equal(pass(), 0);
            assert_int_equal(ask("SELECT count(*) FROM t"), count + 1);
            disown();
        }
    }
}

static void keys_of_another_slice_are_named(void **unused)
{
    (void)unused;
    static const char *const ddls[] = {
        "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT)", /* moved beside other rows */
        "CREATE TABLE t(id TEXT PRIMARY KEY, s TEXT)",
        "CREATE TABLE t(id TEXT PRIMARY KEY, s TEXT) WITHOUT ROWID",
    };
    for (size_t i = 0; i < 2 * sizeof ddls / sizeof *ddls; i++) {
        for (int count = 5; count <= 500; count += 495) {
            run("DROP TABLE IF EXISTS t");
            run(ddls[i / 2]);
            run("CREATE INDEX t_s ON t(s); INSERT INTO t VALUES (1, 'mine'), (4, 'other')");
            own("t", "s", "mine", i % 2 == 0 ? PITOT_REPLACE : PITOT_MERGE);
            for (int id = 1; id <= count; id++) {
                assert_int_equal(ADD(pitot_integer(id), text("mine")), 0);
            }
            assert_int_equal(pass(), PITOT_ERROR_SLICE);
            assert_message(i / 2 == 0 ? "id = 4" : "id = '4'");
            assert_message("another slice (s = other)");
            assert_int_equal(ask("SELECT count(*) FROM t"), 2);
            assert_int_equal(ADD(pitot_integer(7), text("mine")), 0);
            assert_int_equal(pass(), 0);
            assert_int_equal(ask("SELECT sum(id) FROM t"), 11);
            disown();
        }
    }
}

/* ---- constraints ----------------------------------------------------------------- */

static void constraints_name_the_row(void **unused)
{
    (void)unused;
    static const struct {
        const char *ddl;
        const char *message;
    } cases[] = {
        {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT CHECK (a <> 'a 3'))", "CHECK"},
        {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT CHECK (a <> 'a 3')) WITHOUT ROWID",
         "CHECK"},
        {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT REFERENCES p(a))", "FOREIGN KEY"},
        {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
         "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 3 BEGIN SELECT raise(ABORT, 'no'); END",
         "no"},
        {"CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
         "CREATE UNIQUE INDEX u ON t(id / 4) WHERE id BETWEEN 3 AND 2",
         NULL},
    };
    run("CREATE TABLE p(a TEXT PRIMARY KEY)");
    for (int i = 1; i <= 501; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "INSERT INTO p SELECT 'a %d' WHERE %d <> 3", i, i);
        run(sql);
    }
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        for (int count = 5; count <= 500; count += 495) {
            run("DROP TABLE IF EXISTS t");
            run(cases[i / 2].ddl);
            run("INSERT INTO t VALUES (600, 'a 1')");
            own("t", NULL, NULL, i % 2 == 0 ? PITOT_REPLACE : PITOT_MERGE);
            add_numbers(count, 0);
            int code = pass();
            if (cases[i / 2].message == NULL) {
                assert_int_equal(code, 0);
            } else {
                assert_int_equal(code, PITOT_ERROR_CONSTRAINT);
                assert_message("t: the row with id = 3");
                assert_message(cases[i / 2].message);
                assert_int_equal(ask("SELECT sum(id) FROM t"), 600);
            }
            disown();
        }
    }
}

static void unique_values_are_named(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE)");
    own("t", NULL, NULL, PITOT_REPLACE);
    for (int count = 5; count <= 500; count += 495) {
        add_numbers(count, 0);
        assert_int_equal(ADD(pitot_integer(1000), text("a 4")), 0);
        assert_int_equal(pass(), PITOT_ERROR_CONSTRAINT);
        assert_message("id = 1000");
        assert_int_equal(ask("SELECT count(*) FROM t"), 0);
    }
    /* NULLs are no repetition. */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ADD(pitot_integer(i), pitot_null()), 0);
    }
    assert_int_equal(pass(), 0);
    assert_int_equal(ask("SELECT count(*) FROM t"), 100);
}

static void collations_of_the_application_are_kept(void **unused)
{
    (void)unused;
    assert_int_equal(sqlite3_create_collation(db, "wild", SQLITE_UTF8, NULL, compare_wild),
                     SQLITE_OK);
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE wild); CREATE INDEX i ON t(a)");
    own("t", NULL, NULL, PITOT_REPLACE);
    for (int i = 0; i < 2; i++) {
        add_numbers(100, 0);
        assert_int_equal(pass(), 0);
        assert_int_equal(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    }
    assert_int_equal(ask("SELECT id FROM t ORDER BY a LIMIT 1"), 99);
}

/* ---- merge ----------------------------------------------------------------------- */

static void unique_values_may_change_places(void **unused)
{
    (void)unused;
    struct pitot_counts counts;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE)");
    own("t", NULL, NULL, PITOT_MERGE);
    assert_int_equal(ADD(pitot_integer(1), text("a")), 0);
    assert_int_equal(ADD(pitot_integer(2), text("b")), 0);
    assert_int_equal(ADD(pitot_integer(3), text("c")), 0);
    assert_int_equal(pass(), 0);
    assert_int_equal(ADD(pitot_integer(1), text("b")), 0);
    assert_int_equal(ADD(pitot_integer(2), text("a")), 0);
    assert_int_equal(ADD(pitot_integer(3), text("c")), 0);
    assert_int_equal(pass_as(true, &counts), 0);
    assert_int_equal(counts.updated, 2);
    assert_int_equal(counts.unchanged, 1);
    assert_int_equal(ask("SELECT a = 'a' FROM t WHERE id = 2"), 1);
}

static void unique_values_of_other_rows_stay_theirs(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE)");
    own("t", NULL, NULL, PITOT_MERGE);
    assert_int_equal(ADD(pitot_integer(1), text("a")), 0);
    assert_int_equal(ADD(pitot_integer(3), text("c")), 0);
    assert_int_equal(pass(), 0);
    assert_int_equal(ADD(pitot_integer(1), text("c")), 0);
    assert_int_equal(ADD(pitot_integer(3), text("c")), 0);
    assert_int_equal(pass(), PITOT_ERROR_CONSTRAINT);
    assert_message("id = 1");
    assert_int_equal(ask("SELECT count(*) FROM t WHERE a IN ('a', 'c')"), 2);
}

static void what_others_wrote_is_repaired(void **unused)
{
    (void)unused;
    struct pitot_counts counts;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)");
    own("t", NULL, NULL, PITOT_MERGE);
    add_numbers(100, 0);
    assert_int_equal(pass(), 0);
    assert_int_equal(apply_rows_kept(apply), 100);
    assert_int_equal(apply_memory(apply), 2400);
    run("UPDATE t SET a = 'x' WHERE id = 5; DELETE FROM t WHERE id = 6;"
        "INSERT INTO t VALUES (1000, 'y')");
    add_numbers(100, 0);
    assert_int_equal(pass_as(false, &counts), 0);
    assert_int_equal(counts.inserted, 1);
    assert_int_equal(counts.updated, 1);
    assert_int_equal(counts.deleted, 1);
    assert_int_equal(counts.unchanged, 98);
    assert_int_equal(ask("SELECT count(*) FROM t WHERE a = 'a ' || id"), 100);
    /* After a failure nothing is remembered, whatever the caller says. */
    apply_forget(apply);
    assert_int_equal(apply_memory(apply), 0);
    run("DELETE FROM t WHERE id > 50");
    add_numbers(100, 0);
    assert_int_equal(pass_as(true, &counts), 0);
    assert_int_equal(counts.inserted, 50);
}

static void other_tables_stay_as_they_are(void **unused)
{
    (void)unused;
    struct pitot_counts counts;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
        "CREATE TABLE child(id INTEGER PRIMARY KEY, t REFERENCES t ON DELETE CASCADE)");
    own("t", NULL, NULL, PITOT_MERGE);
    add_numbers(100, 0);
    assert_int_equal(pass(), 0);
    run("INSERT INTO child SELECT id, id FROM t");
    for (int i = 2; i <= 100; i++) {
        assert_int_equal(ADD(pitot_integer(i), text("changed")), 0);
    }
    assert_int_equal(pass_as(true, &counts), 0);
    assert_int_equal(counts.updated, 99);
    assert_int_equal(counts.deleted, 1);
    /* The children of the row that is gone went with it, no others. */
    assert_int_equal(ask("SELECT count(*) FROM child"), 99);
}

static void rows_that_are_referred_to_are_replaced(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);"
        "CREATE TABLE child(id INTEGER PRIMARY KEY, t REFERENCES t)");
    own("t", NULL, NULL, PITOT_REPLACE);
    add_numbers(100, 0);
    assert_int_equal(pass(), 0);
    run("INSERT INTO child VALUES (1, 100)");
    add_numbers(100, 0);
    assert_int_equal(pass(), 0);
    add_numbers(99, 0);
    assert_int_equal(pass(), PITOT_ERROR_CONSTRAINT);
    assert_message("refer to rows which are gone");
    assert_int_equal(ask("SELECT count(*) FROM t"), 100);
}

static void triggers_see_single_rows(void **unused)
{
    (void)unused;
    struct pitot_counts counts;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE log(what TEXT, id);"
        "CREATE TRIGGER i AFTER INSERT ON t BEGIN INSERT INTO log VALUES ('i', new.id); END;"
        "CREATE TRIGGER u AFTER UPDATE ON t BEGIN INSERT INTO log VALUES ('u', new.id); END;"
        "CREATE TRIGGER d AFTER DELETE ON t BEGIN INSERT INTO log VALUES ('d', old.id); END");
    own("t", NULL, NULL, PITOT_MERGE);
    add_numbers(60, 0);
    assert_int_equal(pass(), 0);
    assert_int_equal(apply_memory(apply), 0); /* triggers may leave other rows behind */
    run("DELETE FROM log");
    for (int i = 2; i <= 61; i++) {
        assert_int_equal(ADD(pitot_integer(i), text(i % 2 == 0 ? "b" : "c")), 0);
    }
    assert_int_equal(pass_as(true, &counts), 0);
    assert_int_equal(counts.updated, 59);
    assert_int_equal(ask("SELECT count(*) FROM log WHERE what = 'i' AND id = 61"), 1);
    assert_int_equal(ask("SELECT count(*) FROM log WHERE what = 'u' AND id BETWEEN 2 AND 60"), 59);
    assert_int_equal(ask("SELECT count(*) FROM log WHERE what = 'd' AND id = 1"), 1);
    assert_int_equal(ask("SELECT count(*) FROM log"), 61);
}

static void ids_are_left_to_sqlite(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT)");
    own("t", NULL, NULL, PITOT_REPLACE);
    assert_int_equal(ADD(pitot_null(), text("a")), 0);
    assert_int_equal(ADD(pitot_integer(50), text("b")), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ADD(pitot_null(), text("c")), 0);
    }
    assert_int_equal(pass(), 0);
    assert_int_equal(ask("SELECT id FROM t WHERE a = 'a'"), 1);
    assert_int_equal(ask("SELECT id FROM t WHERE a = 'b'"), 50);
    assert_int_equal(ask("SELECT max(id) FROM t"), 150);
    assert_int_equal(ADD(pitot_null(), text("a")), 0);
    assert_int_equal(pass(), 0);
    assert_int_equal(ask("SELECT id FROM t"), 151);
}

/* ---- size ------------------------------------------------------------------------ */

static void many_rows_make_deep_trees(void **unused)
{
    (void)unused;
    enum { ROWS = 40000 };
    static const char *const ddls[] = {
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); CREATE UNIQUE INDEX i ON t(a)",
        "CREATE TABLE t(id INTEGER, a TEXT, PRIMARY KEY(a)) WITHOUT ROWID",
    };
    static char name[3000];
    memset(name, 'n', sizeof name);
    for (size_t i = 0; i < sizeof ddls / sizeof *ddls; i++) {
        run("DROP TABLE IF EXISTS t");
        run(ddls[i]);
        own("t", NULL, NULL, PITOT_REPLACE);
        size_t bytes = 0;
        for (int row = 0; row < ROWS; row++) {
            /* Not in the order of their keys. */
            int id = (int)((int64_t)row * 7919 % ROWS);
            int length = sprintf(name, "%08d", id);
            name[length] = 'n';
            size_t size = row % 50 == 0 ? sizeof name : 24;
            assert_int_equal(ADD(pitot_integer(id), pitot_text(name, size)), 0);
            bytes += 8 + size;
        }
        assert_true(stage_memory(stage) <= bytes + bytes / 2);
        assert_int_equal(pass(), 0);
        assert_int_equal(ask("SELECT count(DISTINCT id) FROM t"), ROWS);
        assert_int_equal(ask("SELECT sum(CAST(substr(a, 1, 8) AS INT) = id) FROM t"), ROWS);
        assert_int_equal(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
        disown();
    }
}

/* Few entries fit in a page: the trees take every form that a remainder can give them. */
static void trees_of_every_size(void **unused)
{
    (void)unused;
    static char name[8000];
    memset(name, 'n', sizeof name);
    run("CREATE TABLE t(a TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID");
    own("t", NULL, NULL, PITOT_REPLACE);
    for (int rows = 24; rows < 100; rows++) {
        for (int row = 0; row < rows; row++) {
            int length = sprintf(name, "%08d", row);
            name[length] = 'n';
            assert_int_equal(ADD(pitot_text(name, sizeof name), pitot_integer(row)), 0);
        }
        assert_int_equal(pass(), 0);
        assert_int_equal(ask("SELECT count(DISTINCT n) FROM t"), rows);
    }
    assert_int_equal(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

static void more_tables_than_databases_can_be_attached(void **unused)
{
    (void)unused;
    enum { TABLES = 13 };
    struct table *tables[TABLES];
    struct apply *applies[TABLES];
    struct stage *stages[TABLES];
    for (int i = 0; i < TABLES; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, a TEXT)", i);
        run(sql);
        snprintf(sql, sizeof sql, "t%d", i);
        own(sql, NULL, NULL, PITOT_REPLACE);
        tables[i] = table;
        applies[i] = apply;
        stages[i] = stage;
        add_numbers(100 + i, 0);
        assert_int_equal(apply_prepare(apply, stage, &error), 0);
    }
    run("BEGIN IMMEDIATE");
    for (int i = 0; i < TABLES; i++) {
        struct pitot_counts counts;
        assert_int_equal(apply_replace(applies[i], stages[i], &counts, &error), 0);
        assert_int_equal(counts.inserted, 100 + i);
    }
    run("COMMIT");
    for (int i = 0; i < TABLES; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM t%d", i);
        assert_int_equal(ask(sql), 100 + i);
        apply_end(applies[i], true);
        apply_free(applies[i]);
        stage_free(stages[i]);
        table_free(tables[i]);
    }
    apply = NULL;
    stage = NULL;
    table = NULL;
}

/* As with an SQLite that maps no files. */
static void images_are_read_through_a_cache(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)");
    own("t", NULL, NULL, PITOT_REPLACE);
    for (int round = 0; round < 5; round++) {
        char sql[100];
        for (int i = 0; i < 100; i++) {
            assert_int_equal(ADD(pitot_integer(i), pitot_integer(round)), 0);
        }
        assert_int_equal(pass(), 0);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE a = '%d'", round);
        assert_int_equal(ask(sql), 100);
        snprintf(sql, sizeof sql, "PRAGMA %s.mmap_size = 0", image_name(apply->image));
        run(sql);
    }
}

static void images_give_way_to_each_other(void **unused)
{
    (void)unused;
    enum { TABLES = 13 };
    struct table *tables[TABLES];
    struct apply *applies[TABLES];
    struct stage *stages[TABLES];
    for (int i = 0; i < TABLES; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, a TEXT)", i);
        run(sql);
        snprintf(sql, sizeof sql, "t%d", i);
        own(sql, NULL, NULL, PITOT_REPLACE);
        tables[i] = table;
        applies[i] = apply;
        stages[i] = stage;
    }
    for (int i = 0; i < 3 * TABLES; i++) {
        struct pitot_counts counts;
        table = tables[i % TABLES];
        apply = applies[i % TABLES];
        stage = stages[i % TABLES];
        add_numbers(100 + i, 0);
        assert_int_equal(apply_prepare(apply, stage, &error), 0);
        assert_true(apply->filled);
        run("BEGIN IMMEDIATE");
        assert_int_equal(apply_replace(apply, stage, &counts, &error), 0);
        assert_int_equal(counts.inserted, 100 + i);
        run("COMMIT");
        apply_end(apply, true);
        stage_clear(stage);
    }
    for (int i = 0; i < TABLES; i++) {
        apply_free(applies[i]);
        stage_free(stages[i]);
        table_free(tables[i]);
    }
    apply = NULL;
    stage = NULL;
    table = NULL;
}

static void slices_overlap(void **unused)
{
    (void)unused;
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT COLLATE NOCASE); CREATE INDEX t_s ON t(s);"
        "CREATE TABLE u(id INTEGER PRIMARY KEY, s TEXT); CREATE INDEX u_s ON u(s)");
    static const struct {
        const char *name, *column, *slice;
    } owners[] = {{"t", "s", "a"},   {"T", "s", "A"}, {"t", "s", "b"},
                  {"t", NULL, NULL}, {"u", "s", "a"}, {"u", "s", "A"}};
    static const bool expected[6][6] = {{1, 1, 0, 1, 0, 0}, {1, 1, 0, 1, 0, 0}, {0, 0, 1, 1, 0, 0},
                                        {1, 1, 1, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}};
    struct table *tables[6];
    struct apply *applies[6];
    for (size_t i = 0; i < 6; i++) {
        own(owners[i].name, owners[i].column, owners[i].slice, PITOT_REPLACE);
        stage_free(stage);
        stage = NULL;
        tables[i] = table;
        applies[i] = apply;
    }
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            assert_int_equal(apply_overlaps(applies[i], applies[k]), expected[i][k]);
        }
    }
    for (size_t i = 0; i < 6; i++) {
        apply_free(applies[i]);
        table_free(tables[i]);
    }
    apply = NULL;
    table = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_are_refused),
        TEST(utf16_is_refused),
        TEST(rows_are_refused),
        TEST(another_slice_is_refused),
        TEST(slices_are_checked),
        TEST(keys_staged_twice_are_named),
        TEST(keys_of_another_slice_are_named),
        TEST(constraints_name_the_row),
        TEST(unique_values_are_named),
        TEST(collations_of_the_application_are_kept),
        TEST(unique_values_may_change_places),
        TEST(unique_values_of_other_rows_stay_theirs),
        TEST(what_others_wrote_is_repaired),
        TEST(other_tables_stay_as_they_are),
        TEST(rows_that_are_referred_to_are_replaced),
        TEST(triggers_see_single_rows),
        TEST(ids_are_left_to_sqlite),
        TEST(many_rows_make_deep_trees),
        TEST(trees_of_every_size),
        TEST(more_tables_than_databases_can_be_attached),
        TEST(images_are_read_through_a_cache),
        TEST(images_give_way_to_each_other),
        TEST(slices_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
