/* How many rows must be there after a run, and what is said when they are not. */
#include "coordinator/check.h"

#include "../result/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { STATEMENTS_MAX = 3, TABLES = 2 };

struct situation {
    const char *name;
    const char *schema;
    struct {
        const char *sql;
        uint64_t acknowledged;
    } statements[STATEMENTS_MAX];
    uint64_t found[TABLES]; /* users, orders; the template has 100 and 400 */
    const char *problem;    /* NULL: none */
    bool unchecked[TABLES];
};

static void add_rows(row_counts *counts, const char *table, uint64_t rows)
{
    struct row_count *count = sample_must(result_list_add(counts));
    *count = (struct row_count){.table = sample_text(table), .rows = rows};
}

static void check_situation(const struct situation *situation)
{
    char name[] = "mix";
    struct script_statement statements[STATEMENTS_MAX];
    struct script script = {.name = name, .statements = statements};
    struct script load = {.name = name};
    struct suite_script scripts[] = {{.name = name, .script = &script}};
    struct suite suite = {.scripts = scripts, .script_count = 1, .load = &load};
    const struct plan plan = {.rounds = 1};
    const struct plan_case plan_case = {.plan = &plan, .suite = &suite};
    struct result_run run;
    row_counts before = {NULL, 0};
    row_counts after = {NULL, 0};

    suite.schema = sample_text(situation->schema != NULL ? situation->schema : "");
    suite.schema_length = strlen(suite.schema);
    result_run_init(&run);
    struct result_script *counted = sample_must(result_list_add(&run.scripts));
    counted->script = sample_text(name);
    for (size_t i = 0; i < STATEMENTS_MAX && situation->statements[i].sql != NULL; i++) {
        statements[script.statement_count++] =
            (struct script_statement){.sql = sample_text(situation->statements[i].sql)};
        *(uint64_t *)sample_must(result_list_add(&counted->acknowledged)) =
            situation->statements[i].acknowledged;
    }
    add_rows(&before, "users", 100);
    add_rows(&before, "orders", 400);
    add_rows(&after, "orders", situation->found[1]);
    add_rows(&after, "one_of_the_engine", 5);
    if (situation->found[0] != RESULT_ABSENT) {
        add_rows(&after, "Users", situation->found[0]);
    }

    run.check.kind = sample_text("counts");
    assert_int_equal(check_count(&plan_case, &before, &after, &run, &run.check), 0);
    assert_int_equal(check_judge(&run.check), 0);
    const char *problem = run.check.problem;
    if ((problem == NULL) != (situation->problem == NULL) ||
        (problem != NULL && strstr(problem, situation->problem) == NULL)) {
        fail_msg("%s: found '%s'", situation->name, problem != NULL ? problem : "no problem");
    }
    assert_int_equal(run.check.counts.count, TABLES);
    for (size_t i = 0; i < TABLES; i++) {
        const struct result_table_count *count = &run.check.counts.items[i];
        assert_int_equal(count->unchecked != NULL, situation->unchecked[i]);
        assert_int_equal(count->expected == RESULT_ABSENT, situation->unchecked[i]);
    }

    for (uint32_t i = 0; i < script.statement_count; i++) {
        free(statements[i].sql);
    }
    free(suite.schema);
    row_counts_release(&before);
    row_counts_release(&after);
    struct result *result = sample_must(result_new());
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    *(struct result_run *)sample_must(result_list_add(&engine->runs)) = run;
    result_free(result);
}

static void test_counts(void **state)
{
    (void)state;
    static const struct situation situations[] = {
        {"nothing was written", NULL, {{"SELECT 1", 0}}, {100, 400}, NULL, {false, false}},
        {"inserts", NULL, {{"INSERT INTO users VALUES (?)", 7}}, {107, 400}, NULL, {false, false}},
        {"an insert that was not done",
         NULL,
         {{"INSERT INTO users VALUES (?)", 7}},
         {106, 400},
         "users has 1 row fewer than were acknowledged (expected 107, found 106)",
         {false, false}},
        {"an insert that was done twice",
         NULL,
         {{"INSERT INTO orders VALUES (?)", 7}},
         {100, 409},
         "orders has 2 rows more than were acknowledged (expected 407, found 409)",
         {false, false}},
        {"deletes and inserts",
         NULL,
         {{"INSERT INTO users VALUES (?)", 7}, {"DELETE FROM \"USERS\" WHERE a = ?", 17}},
         {90, 400},
         NULL,
         {false, false}},
        {"a lost table",
         NULL,
         {{"SELECT 1", 0}},
         {RESULT_ABSENT, 400},
         "users is gone",
         {false, false}},
        {"updates change no count",
         NULL,
         {{"UPDATE users SET a = 1", 100}},
         {100, 400},
         NULL,
         {false, false}},
        {"one table cannot be told, the other can",
         NULL,
         {{"INSERT OR IGNORE INTO users VALUES (?)", 3}, {"INSERT INTO orders VALUES (?)", 1}},
         {5, 400},
         "orders has 1 row fewer",
         {true, false}},
        {"no table can be told",
         NULL,
         {{"DROP TABLE users", 0}},
         {RESULT_ABSENT, 7},
         NULL,
         {true, true}},
        {"a trigger",
         "CREATE TRIGGER t AFTER INSERT ON users BEGIN SELECT 1; END;",
         {{"INSERT INTO users VALUES (?)", 7}},
         {1, 2},
         NULL,
         {true, true}},
    };
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        check_situation(&situations[i]);
    }
}

static void test_integrity(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        const char *line; /* NULL: none */
        const char *problem;
    } cases[] = {
        {"full", "ok", NULL},
        {"quick", "ok", NULL},
        {"full", "row 7 missing from index i", "the full integrity check says: row 7 missing"},
        {"quick", NULL, "the quick integrity check says: nothing at all"},
        {"counts", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = sample_result(1);
        struct result_engine *engine = sample_must(result_list_add(&result->engines));
        result_engine_init(engine);
        struct result_run *run = sample_must(result_list_add(&engine->runs));
        result_run_init(run);
        run->check.kind = sample_text(cases[i].kind);
        if (cases[i].line != NULL) {
            SAMPLE_ADD_TEXT(&run->check.integrity, cases[i].line);
        }
        assert_int_equal(check_judge(&run->check), 0);
        assert_int_equal(run->check.problem != NULL, cases[i].problem != NULL);
        if (cases[i].problem != NULL) {
            assert_non_null(strstr(run->check.problem, cases[i].problem));
        }
        result_free(result);
    }
}

static void fill(struct result_run *run, const char *problem, uint64_t found)
{
    result_run_init(run);
    run->check.problem = problem != NULL ? sample_text(problem) : NULL;
    struct result_table_count *count = sample_must(result_list_add(&run->check.counts));
    *count = (struct result_table_count){
        .table = sample_text("t"), .expected = RESULT_ABSENT, .found = found};
}

static void test_two_opinions(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        uint64_t first_found, second_found;
        const char *problem;
    } cases[] = {
        {NULL, NULL, 5, 5, NULL},
        {NULL, NULL, 5, 6, "its t has 5 rows, and 6 rows for other"},
        {NULL, "bad page", 5, 5, "it finds nothing wrong, and other finds this: bad page"},
        {"lost", NULL, 5, 5, "lost; other finds nothing wrong"},
        {"lost", "lost", 5, 5, "lost; other finds the same"},
        {"lost", "bad page", 5, 6, "lost; other finds this: bad page"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = sample_result(1);
        struct result_engine *engine = sample_must(result_list_add(&result->engines));
        result_engine_init(engine);
        sample_must(result_list_add(&engine->runs));
        sample_must(result_list_add(&engine->runs));
        struct result_run *runs = engine->runs.items;
        fill(&runs[0], cases[i].first, cases[i].first_found);
        fill(&runs[1], cases[i].second, cases[i].second_found);
        assert_int_equal(check_compare(&runs[0].check, &runs[1].check, "other"), 0);
        if (cases[i].problem == NULL) {
            assert_null(runs[0].check.problem);
        } else {
            assert_string_equal(runs[0].check.problem, cases[i].problem);
        }
        result_free(result);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        enum plan_check check;
        uint32_t rounds;
        const char *kinds[3];
    } cases[] = {
        {PLAN_CHECK_ENDS, 3, {"full", "counts", "full"}},
        {PLAN_CHECK_ENDS, 1, {"full"}},
        {PLAN_CHECK_FULL, 3, {"full", "full", "full"}},
        {PLAN_CHECK_QUICK, 3, {"quick", "quick", "quick"}},
        {PLAN_CHECK_COUNTS, 3, {"counts", "counts", "counts"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plan plan = {.check = cases[i].check, .rounds = cases[i].rounds};
        for (uint32_t round = 1; round <= plan.rounds; round++) {
            assert_string_equal(check_kind(&plan, round), cases[i].kinds[round - 1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_integrity),
        cmocka_unit_test(test_two_opinions),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
