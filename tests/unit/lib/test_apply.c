/*
 * Passes over tables of many shapes, with values of all kinds, against the same done by plain SQL:
 * what is staged, what the table holds afterwards, and the counts.
 */
#include "ask.h"
#include "shapes.h"

#include "lib/apply.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- one table, twice ------------------------------------------------------------ */

struct world {
    const struct shape *shape;
    char folder[64];
    sqlite3 *db;        /* of the passes */
    sqlite3 *reference; /* the same table, and s, which holds what is staged */
    struct table *table;
    struct stage *stage;
    struct apply *apply;
    struct pitot_value slice;
    size_t columns;
};

static void run(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    sqlite3_free(sql);
}

static int64_t ask(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    int64_t value = ask_number(db, sql);
    sqlite3_free(sql);
    return value;
}

static sqlite3 *open_database(const char *folder, const char *name)
{
    char path[100];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(sqlite3_open_v2(path, &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON");
    return db;
}

static void create(sqlite3 *db, const struct shape *shape, const char *name)
{
    char *ddl = sqlite3_mprintf(shape->ddl, name);
    run(db, "%s", ddl);
    sqlite3_free(ddl);
}

static void open_world(struct world *world, const struct shape *shape, enum pitot_mode mode,
                       bool remember)
{
    struct pitot_error error = {.code = 0};
    memset(world, 0, sizeof *world);
    world->shape = shape;
    world->columns = strlen(shape->values);
    strcpy(world->folder, "/tmp/pitot-test-apply.XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world->db = open_database(world->folder, "a.db");
    world->reference = open_database(world->folder, "b.db");
    create(world->db, shape, "t");
    create(world->reference, shape, "t");
    create(world->reference, shape, "s");
    run(world->db, "%s", shape->indexes);
    world->slice = pitot_text("a", 1);
    if (table_read(&world->table, world->db, "T", shape->slice, mode, &error) != 0 ||
        stage_new(&world->stage, world->table, &world->slice, &error) != 0 ||
        apply_new(&world->apply, world->db, world->table, &world->slice, remember, &error) != 0) {
        fail_msg("%s: %s", shape->name, error.message);
    }
    assert_int_equal(table_columns(world->table), world->columns);
}

static void close_world(struct world *world)
{
    apply_free(world->apply);
    stage_free(world->stage);
    table_free(world->table);
    assert_int_equal(sqlite3_close(world->db), SQLITE_OK);
    assert_int_equal(sqlite3_close(world->reference), SQLITE_OK);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", world->folder);
    assert_int_equal(system(command), 0);
}

/* ---- values ---------------------------------------------------------------------- */

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static struct pitot_value text(const char *string)
{
    return pitot_text(string, strlen(string));
}

static struct pitot_value any_value(void)
{
    static const int64_t integers[] = {0,
                                       1,
                                       -1,
                                       2,
                                       127,
                                       128,
                                       -128,
                                       32767,
                                       -32769,
                                       8388608,
                                       1 << 30,
                                       INT64_C(1) << 40,
                                       INT64_C(1) << 47,
                                       -(INT64_C(1) << 47),
                                       INT64_C(1) << 53,
                                       (INT64_C(1) << 53) + 1,
                                       INT64_MAX,
                                       INT64_MIN};
    static const double reals[] = {0.0,
                                   1.0,
                                   0.5,
                                   -3.0,
                                   1e15,
                                   1e18,
                                   1e19,
                                   -9.3e18,
                                   1e300,
                                   0.1,
                                   1.0 / 3,
                                   140737488355328.0,
                                   2251799813685248.0,
                                   4503599627370497.5,
                                   (double)INFINITY,
                                   (double)NAN,
                                   9007199254740993.0,
                                   -1e-300};
    static const char *const texts[] = {"",
                                        "a",
                                        "A",
                                        "a ",
                                        "ab",
                                        "B",
                                        "12",
                                        " 12 ",
                                        "1.50",
                                        "1e3",
                                        "0x10",
                                        "12a",
                                        "-0",
                                        "9223372036854775808",
                                        "inf",
                                        "nan",
                                        ".",
                                        "+5",
                                        "é",
                                        "ÀÉ",
                                        "a\tb",
                                        "1_000",
                                        "-9223372036854775808",
                                        "\t7\n",
                                        "1e400"};
    static char long_text[70000];
    switch (draw(12)) {
    case 0:
        return pitot_null();
    case 1:
    case 2:
        return pitot_integer(integers[draw(sizeof integers / sizeof *integers)]);
    case 3:
        return pitot_integer((int64_t)draw(1000));
    case 4:
    case 5:
        return pitot_real(reals[draw(sizeof reals / sizeof *reals)]);
    case 6:
        return pitot_blob("a\0b", draw(4));
    case 7:
        return pitot_text("x\0y", 3);
    case 8:
        memset(long_text, 'q', sizeof long_text);
        return draw(8) != 0 ? pitot_text(long_text, draw(300))
                            : pitot_text(long_text, draw(sizeof long_text));
    default:
        return text(texts[draw(sizeof texts / sizeof *texts)]);
    }
}

/* Few values, so that keys meet; in forms that are one key to SQLite here and there. */
static struct pitot_value key_value(uint64_t range)
{
    static char texts[40][24];
    static unsigned next;
    uint64_t number = draw(range);
    char *out = texts[next++ % 40];
    switch (draw(8)) {
    case 0:
        snprintf(out, sizeof texts[0], "%llu", (unsigned long long)number);
        return text(out);
    case 1:
        return pitot_real((double)number);
    case 2:
        snprintf(out, sizeof texts[0], "key %llu ", (unsigned long long)number);
        return text(out);
    case 3:
        snprintf(out, sizeof texts[0], "KEY %llu", (unsigned long long)number);
        return text(out);
    case 4:
        snprintf(out, sizeof texts[0], "key %llu", (unsigned long long)number);
        return text(out);
    default:
        return pitot_integer((int64_t)number);
    }
}

static void make_row(const struct world *world, struct pitot_value *row, uint64_t range)
{
    for (size_t c = 0; c < world->columns; c++) {
        switch (world->shape->values[c]) {
        case 'k':
            row[c] = key_value(range);
            break;
        case 't':
            row[c] = draw(3) == 0 ? text("one text") : text("another, longer text");
            break;
        case 'c':
            row[c] = pitot_integer((int64_t)draw(10));
            break;
        case 's':
            row[c] = world->slice;
            break;
        default:
            row[c] = any_value();
            break;
        }
    }
}

/* ---- the same by SQL ------------------------------------------------------------- */

static void bind(sqlite3_stmt *statement, int parameter, const struct pitot_value *value)
{
    int rc;
    const void *bytes = value->size > 0 ? value->as.bytes : "";
    switch (value->type) {
    case PITOT_INTEGER:
        rc = sqlite3_bind_int64(statement, parameter, value->as.integer);
        break;
    case PITOT_REAL:
        rc = sqlite3_bind_double(statement, parameter, value->as.real);
        break;
    case PITOT_TEXT:
        rc = sqlite3_bind_text(statement, parameter, bytes, (int)value->size, SQLITE_TRANSIENT);
        break;
    case PITOT_BLOB:
        rc = sqlite3_bind_blob(statement, parameter, bytes, (int)value->size, SQLITE_TRANSIENT);
        break;
    default:
        rc = sqlite3_bind_null(statement, parameter);
        break;
    }
    assert_int_equal(rc, SQLITE_OK);
}

/* SQLite's extended result. */
static int insert(sqlite3 *db, const char *into, const struct world *world,
                  const struct pitot_value *row)
{
    sqlite3_stmt *statement;
    char *sql = sqlite3_mprintf("INSERT INTO %s(%s) VALUES (?1", into, world->shape->columns);
    for (size_t c = 1; c < world->columns; c++) {
        sql = sqlite3_mprintf("%z,?%d", sql, (int)c + 1);
    }
    sql = sqlite3_mprintf("%z)", sql);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    for (size_t c = 0; c < world->columns; c++) {
        bind(statement, (int)c + 1, &row[c]);
    }
    sqlite3_step(statement);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return sqlite3_extended_errcode(db) == SQLITE_DONE ? SQLITE_OK : sqlite3_extended_errcode(db);
}

/* "t.a = s.a AND …" with FORMAT applied to each name of a list. */
static char *each(const char *list, const char *format, const char *between)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        char *name = sqlite3_mprintf("%.*s", (int)length, at);
        sqlite3_str_appendall(out, at == list ? "" : between);
        sqlite3_str_appendf(out, format, name, name, name, name);
        sqlite3_free(name);
        at += length + (at[length] == ',');
    }
    return sqlite3_str_finish(out);
}

static void reference_counts(const struct world *world, enum pitot_mode mode,
                             struct pitot_counts *counts)
{
    sqlite3 *db = world->reference;
    char *owned = world->shape->slice != NULL ? sqlite3_mprintf("t.%s = 'a'", world->shape->slice)
                                              : sqlite3_mprintf("1");
    if (mode == PITOT_REPLACE) {
        counts->inserted = (uint64_t)ask(db, "SELECT count(*) FROM s");
        counts->deleted = (uint64_t)ask(db, "SELECT count(*) FROM t WHERE %s", owned);
        counts->updated = 0;
        counts->unchanged = 0;
    } else {
        char *keys = each(world->shape->key, "t.%s = s.%s", " AND ");
        char *same = each(world->shape->columns,
                          "typeof(t.%s) = typeof(s.%s) AND t.%s IS s.%s COLLATE BINARY", " AND ");
        uint64_t met = (uint64_t)ask(db, "SELECT count(*) FROM s, t WHERE %s", keys);
        counts->unchanged =
            (uint64_t)ask(db, "SELECT count(*) FROM s, t WHERE %s AND %s", keys, same);
        counts->updated = met - counts->unchanged;
        counts->inserted = (uint64_t)ask(db, "SELECT count(*) FROM s") - met;
        counts->deleted = (uint64_t)ask(db, "SELECT count(*) FROM t WHERE %s", owned) - met;
        sqlite3_free(keys);
        sqlite3_free(same);
    }
    run(db, "DELETE FROM t WHERE %s", owned);
    run(db, "INSERT INTO t(%s) SELECT %s FROM s", world->shape->columns, world->shape->columns);
    sqlite3_free(owned);
}

/* Both tables hold the same rows, and SQLite finds nothing wrong in ours. */
static void check_same(const struct world *world)
{
    char *values = each(world->shape->columns, "typeof(%s) || quote(%s)", " || ',' || ");
    char *sql = sqlite3_mprintf("SELECT %z AS v FROM t ORDER BY v", values);
    sqlite3_stmt *ours;
    sqlite3_stmt *theirs;
    assert_int_equal(sqlite3_prepare_v2(world->db, sql, -1, &ours, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(world->reference, sql, -1, &theirs, NULL), SQLITE_OK);
    int rc;
    while ((rc = sqlite3_step(ours)) == SQLITE_ROW) {
        assert_int_equal(sqlite3_step(theirs), SQLITE_ROW);
        const char *one = (const char *)sqlite3_column_text(ours, 0);
        const char *other = (const char *)sqlite3_column_text(theirs, 0);
        if (strcmp(one, other) != 0) {
            fail_msg("%s: the table holds %.200s, and not %.200s", world->shape->name, one, other);
        }
    }
    assert_int_equal(rc, SQLITE_DONE);
    assert_int_equal(sqlite3_step(theirs), SQLITE_DONE);
    sqlite3_finalize(ours);
    sqlite3_finalize(theirs);
    sqlite3_free(sql);
    assert_int_equal(sqlite3_prepare_v2(world->db, "PRAGMA integrity_check", -1, &ours, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(ours), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(ours, 0), "ok");
    sqlite3_finalize(ours);
}

/* ---- passes ---------------------------------------------------------------------- */

/* Whether another slice has the key of the row that was inserted last. */
static bool others_key(const struct world *world)
{
    const struct shape *shape = world->shape;
    if (shape->slice == NULL || shape->key == NULL || strncmp(shape->key, "s,", 2) == 0) {
        return false;
    }
    char *keys = each(shape->key, "t.%s = s.%s", " AND ");
    int64_t others = ask(world->reference,
                         "SELECT count(*) FROM t, s WHERE %s AND t.s <> 'a' AND s.rowid = %lld",
                         keys, sqlite3_last_insert_rowid(world->reference));
    sqlite3_free(keys);
    return others != 0;
}

/* Stages about COUNT rows on both sides. What one refuses the other refuses; rows whose key is
 * there already are not staged. */
static void stage_rows_of(struct world *world, size_t count, uint64_t range, bool merge)
{
    struct pitot_value row[32];
    struct pitot_error error;
    run(world->reference, "DELETE FROM s");
    stage_clear(world->stage);
    for (size_t i = 0; i < count; i++) {
        make_row(world, row, range);
        int rc = insert(world->reference, "s", world, row);
        if (rc == SQLITE_CONSTRAINT_PRIMARYKEY || rc == SQLITE_CONSTRAINT_UNIQUE ||
            rc == SQLITE_CONSTRAINT_ROWID) {
            continue;
        }
        if (rc == SQLITE_OK && others_key(world)) {
            run(world->reference, "DELETE FROM s WHERE rowid = %lld",
                sqlite3_last_insert_rowid(world->reference));
            continue;
        }
        error.message[0] = '\0';
        int code = stage_add(world->stage, row, world->columns, &error);
        if (rc == SQLITE_OK && code == PITOT_ERROR_TYPE && merge) {
            assert_non_null(strstr(error.message, "NULL in the primary key"));
            run(world->reference, "DELETE FROM s WHERE rowid = %lld",
                sqlite3_last_insert_rowid(world->reference));
        } else if ((rc == SQLITE_OK) != (code == 0)) {
            fail_msg("%s: SQLite says %d (%s), stage_add %d (%s)", world->shape->name, rc,
                     sqlite3_errmsg(world->reference), code, error.message);
        }
    }
    assert_int_equal(stage_rows(world->stage), ask(world->reference, "SELECT count(*) FROM s"));
}

static int pass(struct world *world, enum pitot_mode mode, bool trusted,
                struct pitot_counts *counts, struct pitot_error *error)
{
    int code = apply_prepare(world->apply, world->stage, error);
    run(world->db, "BEGIN IMMEDIATE");
    if (code == 0) {
        code = mode == PITOT_REPLACE
                   ? apply_replace(world->apply, world->stage, counts, error)
                   : apply_merge(world->apply, world->stage, trusted, counts, error);
    }
    code = code != 0 ? code : apply_check(world->db, error);
    if (!sqlite3_get_autocommit(world->db)) {
        run(world->db, code == 0 ? "COMMIT" : "ROLLBACK");
    }
    apply_end(world->apply, code == 0);
    return code;
}

/* A row of somebody else's, on both sides. */
static void write_beside(struct world *world)
{
    struct pitot_value row[32];
    make_row(world, row, 1000);
    for (size_t c = 0; c < world->columns; c++) {
        if (world->shape->values[c] == 's' && draw(2) == 0) {
            row[c] = text("b");
        }
    }
    if (insert(world->reference, "t", world, row) == SQLITE_OK) {
        assert_int_equal(insert(world->db, "t", world, row), SQLITE_OK);
    }
}

static void check_shape(const struct shape *shape, enum pitot_mode mode, bool remember)
{
    struct world world;
    open_world(&world, shape, mode, remember);
    bool trusted = false;
    for (int round = 0; round < 18; round++) {
        struct pitot_counts counts = {0};
        struct pitot_counts expected = {0};
        struct pitot_error error = {.code = 0};
        if (round % 5 == 4) {
            for (int i = 0; i < 20; i++) {
                write_beside(&world);
            }
            trusted = false;
        }
        /* Now and then the same rows again, which a merge leaves alone. */
        if (round % 3 != 2) {
            stage_rows_of(&world, round % 4 == 3 ? draw(20) : draw(400), 50 + draw(400),
                          mode == PITOT_MERGE);
        }
        reference_counts(&world, mode, &expected);
        if (pass(&world, mode, trusted, &counts, &error) != 0) {
            fail_msg("%s: %s", shape->name, error.message);
        }
        if (memcmp(&counts, &expected, sizeof counts) != 0) {
            fail_msg("%s, round %d: %llu %llu %llu %llu, and not %llu %llu %llu %llu", shape->name,
                     round, (unsigned long long)counts.inserted, (unsigned long long)counts.updated,
                     (unsigned long long)counts.deleted, (unsigned long long)counts.unchanged,
                     (unsigned long long)expected.inserted, (unsigned long long)expected.updated,
                     (unsigned long long)expected.deleted, (unsigned long long)expected.unchanged);
        }
        check_same(&world);
        assert_int_equal(apply_memory(world.apply),
                         remember && mode == PITOT_MERGE ? 24 * stage_rows(world.stage) : 0);
        trusted = true;
    }
    close_world(&world);
}

static void replaces_as_sql_does(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_shape(&shapes[i], PITOT_REPLACE, true);
    }
}

static void merges_as_sql_does(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].key != NULL) {
            check_shape(&shapes[i], PITOT_MERGE, true);
            check_shape(&shapes[i], PITOT_MERGE, false);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        state = strtoull(argv[1], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_as_sql_does),
        cmocka_unit_test(merges_as_sql_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
