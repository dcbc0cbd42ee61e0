/*
 * What a pass does to a table besides its rows' values: unique values that change places, what
 * others wrote, rows that are referred to, triggers, numbers that SQLite chooses, collations of the
 * application's own.
 */
#include "one_table.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(collations_of_the_application_are_kept),
        TEST(unique_values_may_change_places),
        TEST(unique_values_of_other_rows_stay_theirs),
        TEST(what_others_wrote_is_repaired),
        TEST(other_tables_stay_as_they_are),
        TEST(rows_that_are_referred_to_are_replaced),
        TEST(triggers_see_single_rows),
        TEST(ids_are_left_to_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
