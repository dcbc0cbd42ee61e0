/*
 * What a table or a row is refused for, and that a pass that fails names the row and leaves the
 * table as it was.
 */
#include "one_table.h"

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
        TEST(slices_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
