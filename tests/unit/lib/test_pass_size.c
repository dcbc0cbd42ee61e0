/* Many rows, rows that fill pages, and more tables than can be attached at once. */
#include "one_table.h"

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

/* More than SQLite attaches. */
enum { TABLES = 13 };

struct owned {
    struct table *table;
    struct apply *apply;
    struct stage *stage;
};

/* A table of that number is made and owned, and is the one that is worked with. */
static void own_numbered(int number, struct owned *owned)
{
    char sql[100];
    snprintf(sql, sizeof sql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, a TEXT)", number);
    run(sql);
    snprintf(sql, sizeof sql, "t%d", number);
    own(sql, NULL, NULL, PITOT_REPLACE);
    *owned = (struct owned){table, apply, stage};
}

static void work_with(const struct owned *owned)
{
    table = owned->table;
    apply = owned->apply;
    stage = owned->stage;
}

static void give_all_up(const struct owned owned[TABLES])
{
    for (int i = 0; i < TABLES; i++) {
        work_with(&owned[i]);
        disown();
    }
}

static void more_tables_than_databases_can_be_attached(void **unused)
{
    (void)unused;
    struct owned owned[TABLES];
    for (int i = 0; i < TABLES; i++) {
        own_numbered(i, &owned[i]);
        add_numbers(100 + i, 0);
        assert_int_equal(apply_prepare(apply, stage, &error), 0);
    }
    run("BEGIN IMMEDIATE");
    for (int i = 0; i < TABLES; i++) {
        struct pitot_counts counts;
        assert_int_equal(apply_replace(owned[i].apply, owned[i].stage, &counts, &error), 0);
        assert_int_equal(counts.inserted, 100 + i);
    }
    run("COMMIT");
    for (int i = 0; i < TABLES; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM t%d", i);
        assert_int_equal(ask(sql), 100 + i);
        apply_end(owned[i].apply, true);
    }
    give_all_up(owned);
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
    struct owned owned[TABLES];
    for (int i = 0; i < TABLES; i++) {
        own_numbered(i, &owned[i]);
    }
    for (int i = 0; i < 3 * TABLES; i++) {
        struct pitot_counts counts;
        work_with(&owned[i % TABLES]);
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
    give_all_up(owned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_rows_make_deep_trees),
        TEST(trees_of_every_size),
        TEST(more_tables_than_databases_can_be_attached),
        TEST(images_are_read_through_a_cache),
        TEST(images_give_way_to_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
