/* What the words of a statement tell of the number of rows. */
#include "script/effect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_statements(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        enum effect_kind kind;
        const char *table;
    } cases[] = {
        {"SELECT 1", EFFECT_NONE, NULL},
        {"  -- INSERT INTO t\n /* DELETE FROM t */ select * from t", EFFECT_NONE, NULL},
        {"VALUES (1)", EFFECT_NONE, NULL},
        {"UPDATE t SET a = 1", EFFECT_NONE, NULL},
        {"UPDATE OR IGNORE t SET a = 1", EFFECT_NONE, NULL},
        {"UPDATE OR REPLACE \"t x\" SET a = 1", EFFECT_UNKNOWN, "t x"},
        {"PRAGMA user_version", EFFECT_NONE, NULL},
        {"WITH a AS (SELECT 1) SELECT * FROM a", EFFECT_NONE, NULL},
        {"WITH a AS (DELETE) SELECT 1", EFFECT_NONE, NULL},
        {"INSERT INTO t VALUES (?)", EFFECT_INSERT, "t"},
        {"insert\n/* OR REPLACE */into t(a) VALUES ('ON CONFLICT')", EFFECT_INSERT, "t"},
        {"INSERT INTO main . t DEFAULT VALUES", EFFECT_INSERT, "t"},
        {"INSERT INTO \"a\"\"b\" VALUES (1)", EFFECT_INSERT, "a\"b"},
        {"INSERT INTO [a b]]VALUES (1)", EFFECT_INSERT, "a b"},
        {"INSERT INTO `a``b` SELECT * FROM u", EFFECT_INSERT, "a`b"},
        {"INSERT INTO 'a' VALUES (1)", EFFECT_INSERT, "a"},
        {"INSERT INTO \"main\".\"t\"(a) VALUES (1)", EFFECT_INSERT, "t"},
        {"INSERT INTO tabelle_ü VALUES (1)", EFFECT_INSERT, "tabelle_ü"},
        {"INSERT OR ABORT INTO t VALUES (1)", EFFECT_INSERT, "t"},
        {"INSERT OR REPLACE INTO t VALUES (1)", EFFECT_UNKNOWN, "t"},
        {"INSERT OR/**/IGNORE INTO t VALUES (1)", EFFECT_UNKNOWN, "t"},
        {"INSERT OR FAIL INTO t VALUES (1)", EFFECT_UNKNOWN, "t"},
        {"REPLACE INTO t VALUES (1)", EFFECT_UNKNOWN, "t"},
        {"INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING", EFFECT_UNKNOWN, "t"},
        {"INSERT INTO t SELECT a FROM u JOIN v ON u.a = v.a", EFFECT_INSERT, "t"},
        {"INSERT INTO temp.t VALUES (1)", EFFECT_UNKNOWN, "t"},
        {"INSERT INTO", EFFECT_ANY, NULL},
        {"INSERT t VALUES (1)", EFFECT_ANY, NULL},
        {"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", EFFECT_UNKNOWN, "t"},
        {"WITH a AS (SELECT 1) DELETE FROM t WHERE a IN a", EFFECT_UNKNOWN, "t"},
        {"DELETE FROM t", EFFECT_DELETE, "t"},
        {"delete from main.[t] where a = ?", EFFECT_DELETE, "t"},
        {"DELETE FROM other.t", EFFECT_UNKNOWN, "t"},
        {"CREATE TABLE t(a)", EFFECT_ANY, NULL},
        {"DROP TABLE t", EFFECT_ANY, NULL},
        {"/* not closed", EFFECT_ANY, NULL},
        {"", EFFECT_ANY, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct effect effect;
        assert_int_equal(effect_of_statement(cases[i].sql, &effect), 0);
        bool same = cases[i].table == NULL
                        ? effect.table == NULL
                        : effect.table != NULL && strcmp(effect.table, cases[i].table) == 0;
        if (effect.kind != cases[i].kind || !same) {
            fail_msg("%s: found %d of %s", cases[i].sql, (int)effect.kind,
                     effect.table != NULL ? effect.table : "no table");
        }
        bool unknown = effect.kind == EFFECT_UNKNOWN || effect.kind == EFFECT_ANY;
        assert_true(unknown == (effect.why != NULL));
        effect_release(&effect);
    }
}

static void test_verbs(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        enum effect_verb verb;
    } cases[] = {
        {"SELECT 1", EFFECT_VERB_READ},
        {" -- UPDATE\n/* DELETE */ select \"insert\" from t", EFFECT_VERB_READ},
        {"VALUES (1), (2)", EFFECT_VERB_READ},
        {"EXPLAIN DELETE FROM t", EFFECT_VERB_READ},
        {"WITH a(update_, b) AS (SELECT 1, 2) SELECT * FROM a", EFFECT_VERB_READ},
        {"INSERT INTO t SELECT 1", EFFECT_VERB_WRITE},
        {"REPLACE INTO t VALUES (1)", EFFECT_VERB_WRITE},
        {"update t set a = 1 RETURNING a", EFFECT_VERB_WRITE},
        {"DELETE FROM t", EFFECT_VERB_WRITE},
        {"WITH a AS (SELECT 1) DELETE FROM t WHERE id IN a", EFFECT_VERB_WRITE},
        {"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", EFFECT_VERB_WRITE},
        {"PRAGMA user_version = 1", EFFECT_VERB_OTHER},
        {"CREATE TABLE u AS SELECT 1", EFFECT_VERB_OTHER},
        {"\"SELECT\"", EFFECT_VERB_OTHER},
        {"BEGIN", EFFECT_VERB_OTHER},
        {"", EFFECT_VERB_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (effect_verb(cases[i].sql) != cases[i].verb) {
            fail_msg("%s: %d", cases[i].sql, effect_verb(cases[i].sql));
        }
    }
}

static void test_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        const char *word; /* of the reason; NULL: counts are certain */
    } cases[] = {
        {"CREATE TABLE t(a, replace, ignore); CREATE INDEX i ON t(a);", NULL},
        {"CREATE TABLE t(a, b AS (a + 1) VIRTUAL);", NULL},
        {"CREATE TABLE t(a DEFAULT 'trigger', \"trigger\") -- trigger", NULL},
        {"CREATE TABLE t(a REFERENCES u ON UPDATE CASCADE)", NULL},
        {"CREATE VIEW v AS SELECT replace(a, 'x', 'y') FROM t;", NULL},
        {"CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;", "trigger"},
        {"CREATE TABLE t(a REFERENCES u ON DELETE /* all */ CASCADE)", "CASCADE"},
        {"CREATE TABLE t(a UNIQUE ON CONFLICT REPLACE)", "REPLACE"},
        {"create virtual table f using fts5(a)", "virtual"},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = effect_of_schema(cases[i].sql, strlen(cases[i].sql));
        if ((why == NULL) != (cases[i].word == NULL) ||
            (why != NULL && strstr(why, cases[i].word) == NULL)) {
            fail_msg("%s: found '%s'", cases[i].sql, why != NULL ? why : "nothing");
        }
    }
}

static void test_names(void **state)
{
    (void)state;
    assert_true(effect_same_table("Users", "uSERS"));
    assert_false(effect_same_table("users", "user"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_verbs),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
