/* Comparing answers: which operation differs, which row, and what is no answer at all. */
#include "coordinator/answers.h"

#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char script_name[] = "read";
static char suite_name[] = "s";
static struct suite_script scripts[] = {{.name = script_name, .compare = SUITE_ORDERED}};
static const struct suite suite = {.name = suite_name, .scripts = scripts, .script_count = 1};

static json_t *parse(const char *text)
{
    json_t *json = NULL;
    struct error error = ERROR_INIT;
    assert_int_equal(json_parse(text, strlen(text), "test", &json, &error), 0);
    return json;
}

#define A "000000000000000a"
#define B "000000000000000b"
#define C "000000000000000c"
#define SCRIPT(counts, value, strict)                                                              \
    "{\"script\":0," counts ",\"rows_read\":3,\"rows_changed\":0,\"value\":[" value                \
    "],\"strict\":" strict ",\"errors\":[]}"
#define RESULT(script, tables) "{\"scripts\":[" script "],\"tables\":[" tables "]}"
#define OK2 "\"ok\":2,\"busy\":0,\"conflict\":0,\"failed\":0"
#define TABLE(name, rows, value)                                                                   \
    "{\"table\":\"" name "\",\"rows\":" rows ",\"value\":\"" value "\"}"

static int read_answers(const char *text, struct answers *out, struct error *error)
{
    json_t *json = parse(text);
    int status = answers_read(json, &suite, 2, out, error);
    json_decref(json);
    return status;
}

/* ---- reading ------------------------------------------------------------------- */

static void test_what_is_no_answer(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"tables\":[]}", "scripts"},
        {RESULT("", ""), "0 scripts, asked were 1"},
        {RESULT(SCRIPT(OK2, "\"" A "\"", "null"), ""), "1 digests, 2 operations"},
        {RESULT(SCRIPT(OK2, "\"" A "\",\"" A "\",\"" A "\"", "null"), ""), "3 digests"},
        {RESULT(SCRIPT(OK2, "\"" A "\",\"00000000000000A0\"", "null"), ""), "value[1]"},
        {RESULT(SCRIPT(OK2, "\"" A "\",7", "null"), ""), "value[1]"},
        {RESULT(SCRIPT(OK2, "\"" A "\",\"" A "\"", "[\"" A "\"]"), ""), "strict has 1"},
        {RESULT(SCRIPT("\"ok\":1,\"busy\":0,\"conflict\":0,\"failed\":0", "\"" A "\",\"" A "\"",
                       "null"),
                ""),
         "do not add up"},
        {RESULT(SCRIPT("\"ok\":\"18446744073709551615\",\"busy\":3,\"conflict\":0,\"failed\":0",
                       "\"" A "\",\"" A "\"", "null"),
                ""),
         "do not add up"},
        {RESULT(SCRIPT(OK2, "\"" A "\",\"" A "\"", "null"), "{\"table\":\"t\",\"rows\":1}"),
         "table t"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answers answers;
        struct error error = ERROR_INIT;
        assert_int_equal(read_answers(cases[i].text, &answers, &error), ERROR_PROTOCOL);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: %s", i, error.message);
        }
        answers_release(&answers);
    }
}

/* ---- comparing ------------------------------------------------------------------- */

struct comparison {
    const char *mine, *reference; /* RESULT; NULL: no reference */
    bool strict;
    const char *status, *script_status;
    uint64_t differing, operation;
    bool class_only;
};

static void release(struct result *result)
{
    result_free(result);
}

static void compare(const struct comparison *given, struct result **owner,
                    struct result_verify_database **out)
{
    struct answers mine;
    struct answers reference;
    struct error error = ERROR_INIT;
    *owner = result_new();
    struct result_engine *engine = result_list_add(&(*owner)->engines);
    result_engine_init(engine);
    *out = result_list_add(&engine->verify.databases);
    assert_int_equal(read_answers(given->mine, &mine, &error), 0);
    if (given->reference != NULL) {
        assert_int_equal(read_answers(given->reference, &reference, &error), 0);
    }
    assert_int_equal(answers_compare(&suite, &mine, given->reference != NULL ? &reference : NULL,
                                     "ref", given->strict, *out, &error),
                     0);
    answers_release(&mine);
    if (given->reference != NULL) {
        answers_release(&reference);
    }
}

#define TWO(a, b, strict) RESULT(SCRIPT(OK2, "\"" a "\",\"" b "\"", strict), "")
#define STRICT(a, b) "[\"" a "\",\"" b "\"]"

static void test_scripts(void **state)
{
    (void)state;
    static const struct comparison cases[] = {
        {TWO(A, B, "null"), NULL, true, "alone", "alone", 0, 0, false},
        {TWO(A, B, "null"), TWO(A, B, "null"), true, "equal", "equal", 0, 0, false},
        {TWO(A, B, "null"), TWO(A, C, "null"), true, "differs", "differs", 1, 1, false},
        {TWO(A, B, "null"), TWO(B, A, "null"), true, "differs", "differs", 2, 0, false},
        /* Storage classes count only where both have them, and only when asked for. */
        {TWO(A, B, STRICT(A, B)), TWO(A, B, STRICT(A, C)), true, "differs", "differs", 1, 1, true},
        {TWO(A, B, STRICT(A, B)), TWO(A, B, STRICT(A, C)), false, "equal", "equal", 0, 0, false},
        {TWO(A, B, STRICT(A, B)), TWO(A, B, "null"), true, "equal", "equal", 0, 0, false},
        {TWO(A, B, STRICT(A, B)), TWO(C, B, STRICT(A, C)), true, "differs", "differs", 2, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *owner;
        struct result_verify_database *database;
        compare(&cases[i], &owner, &database);
        const struct result_verify_script *script = &database->scripts.items[0];
        assert_string_equal(database->status, cases[i].status);
        assert_string_equal(script->status, cases[i].script_status);
        assert_int_equal(script->differing, cases[i].differing);
        assert_int_equal(script->differences.count, cases[i].differing > 0 ? 1 : 0);
        if (cases[i].differing > 0) {
            assert_int_equal(script->differences.items[0].operation, cases[i].operation);
            assert_int_equal(script->differences.items[0].storage_class_only, cases[i].class_only);
        }
        assert_int_equal(database->operations, 2);
        release(owner);
    }
}

#define TABLES(tables) RESULT(SCRIPT(OK2, "\"" A "\",\"" A "\"", "null"), tables)

static void test_tables(void **state)
{
    (void)state;
    static const struct {
        const char *mine, *reference;
        size_t count;
        const char *statuses[2];
    } cases[] = {
        {TABLES(TABLE("a", "1", A) "," TABLE("b", "2", B)),
         TABLES(TABLE("b", "2", B) "," TABLE("a", "1", A)),
         2,
         {"equal", "equal"}},
        {TABLES(TABLE("a", "1", A)), TABLES(TABLE("a", "1", B)), 1, {"differs"}},
        {TABLES(TABLE("a", "1", A)), TABLES(TABLE("a", "2", A)), 1, {"differs"}},
        {TABLES(TABLE("a", "1", A)), TABLES(""), 1, {"differs"}},
        {TABLES(""), TABLES(TABLE("a", "1", A)), 1, {"differs"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct comparison given = {.mine = cases[i].mine, .reference = cases[i].reference};
        struct result *owner;
        struct result_verify_database *database;
        compare(&given, &owner, &database);
        bool equal = true;
        assert_int_equal(database->tables.count, cases[i].count);
        for (size_t k = 0; k < cases[i].count; k++) {
            assert_string_equal(database->tables.items[k].status, cases[i].statuses[k]);
            equal = equal && strcmp(cases[i].statuses[k], "equal") == 0;
        }
        assert_string_equal(database->status, equal ? "equal" : "differs");
        release(owner);
    }
}

/* ---- explaining ------------------------------------------------------------------- */

#define DETAIL(outcome, statements)                                                                \
    "{\"parameters\":{\"user\":17,\"name\":\"x\"},\"outcome\":\"" outcome                          \
    "\",\"message\":null,\"statements\":[" statements "]}"
#define STATEMENT(changed, rows)                                                                   \
    "{\"statement\":0,\"rows_changed\":" changed ",\"more\":0,\"rows\":[" rows "]}"
#define ROW(a, b) "[\"" a "\",\"" b "\"]"

#define NONE RESULT_ABSENT

static void join(const result_strings *row, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < row->count; i++) {
        strncat(out, i > 0 ? "|" : "", size - strlen(out) - 1);
        strncat(out, row->items[i], size - strlen(out) - 1);
    }
}

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        const char *about;
        enum suite_compare compare;
        bool class_only;
        const char *mine, *reference;
        uint64_t row;
        const char *answer, *other; /* joined by | */
        bool noted;
    } cases[] = {
        {"a value", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("2", "'b'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("2", "'c'"))), 2, "2|'b'", "2|'c'",
         false},
        {"a row dropped", SUITE_ORDERED, false, DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("2", "'c'"))), 2, "", "2|'c'", false},
        {"a row too many", SUITE_ORDERED, false, DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", "")), 1, "1|'a'", "", false},
        {"another order", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("2", "'b'") "," ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("2", "'b'"))), 1, "2|'b'", "1|'a'",
         false},
        {"another order of a set", SUITE_SET, false,
         DETAIL("ok", STATEMENT("0", ROW("2", "'b'") "," ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("2", "'b'"))), NONE, "", "", true},
        {"a row of a set", SUITE_SET, false,
         DETAIL("ok", STATEMENT("0", ROW("2", "'b'") "," ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("3", "'c'"))), 1, "2|'b'", "3|'c'",
         false},
        {"a row twice in a set", SUITE_SET, false,
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'") "," ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))), 2, "1|'a'", "", false},
        {"other rows, only counted", SUITE_COUNT, false,
         DETAIL("ok", STATEMENT("0", ROW("2", "'b'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))), NONE, "", "", true},
        {"another number", SUITE_COUNT, false, DETAIL("ok", STATEMENT("0", "")),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))), 1, "", "1|'a'", false},
        {"one number in two spellings", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("1", "2.0"))),
         DETAIL("ok", STATEMENT("0", ROW("1.0", "2"))), NONE, "", "", true},
        {"integers that are one as doubles", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("9007199254740992", "1"))),
         DETAIL("ok", STATEMENT("0", ROW("9007199254740993", "1"))), 1, "9007199254740992|1",
         "9007199254740993|1", false},
        {"the ends of 64 bits", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("-9223372036854775808", "9223372036854775807"))),
         DETAIL("ok", STATEMENT("0", ROW("-9223372036854775808", "9223372036854775806"))), 1,
         "-9223372036854775808|9223372036854775807", "-9223372036854775808|9223372036854775806",
         false},
        {"integers beyond 64 bits", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("9223372036854775808", "1"))),
         DETAIL("ok", STATEMENT("0", ROW("9223372036854775809", "1"))), 1, "9223372036854775808|1",
         "9223372036854775809|1", false},
        {"a large integer as a real", SUITE_ORDERED, false,
         DETAIL("ok", STATEMENT("0", ROW("100000000000000000000", "1"))),
         DETAIL("ok", STATEMENT("0", ROW("1e+20", "1"))), NONE, "", "", true},
        {"a zero with a sign", SUITE_ORDERED, true, DETAIL("ok", STATEMENT("0", ROW("-0.0", "1"))),
         DETAIL("ok", STATEMENT("0", ROW("0.0", "1"))), NONE, "", "", true},
        {"the storage class", SUITE_ORDERED, true, DETAIL("ok", STATEMENT("0", ROW("1", "2.0"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "2"))), 1, "1|2.0", "1|2", false},
        {"rows changed", SUITE_ORDERED, false, DETAIL("ok", STATEMENT("0", "")),
         DETAIL("ok", STATEMENT("1", "")), NONE, "", "", false},
        {"the outcome", SUITE_ORDERED, false, DETAIL("failed", ""),
         DETAIL("ok", STATEMENT("1", "")), NONE, "", "", false},
        {"nothing any more", SUITE_ORDERED, false, DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))),
         DETAIL("ok", STATEMENT("0", ROW("1", "'a'"))), NONE, "", "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *owner = result_new();
        struct result_engine *engine = result_list_add(&owner->engines);
        result_engine_init(engine);
        struct result_verify_database *database = result_list_add(&engine->verify.databases);
        struct result_verify_script *script = result_list_add(&database->scripts);
        struct result_difference *difference = result_list_add(&script->differences);
        result_difference_init(difference);
        difference->storage_class_only = cases[i].class_only;
        json_t *mine = parse(cases[i].mine);
        json_t *other = parse(cases[i].reference);
        struct error error = ERROR_INIT;
        char text[100];
        if (answers_explain(cases[i].compare, mine, other, difference, &error) != 0 ||
            difference->row != cases[i].row || (difference->note != NULL) != cases[i].noted) {
            fail_msg("%s: row %llu, note %s, error %s", cases[i].about,
                     (unsigned long long)difference->row,
                     difference->note != NULL ? difference->note : "none", error.message);
        }
        join(&difference->answer, text, sizeof text);
        assert_string_equal(text, cases[i].answer);
        join(&difference->reference_answer, text, sizeof text);
        assert_string_equal(text, cases[i].other);
        assert_int_equal(difference->parameters.count, 2);
        assert_string_equal(difference->parameters.items[0].value, "17");
        assert_string_equal(difference->parameters.items[1].value, "'x'");
        json_decref(mine);
        json_decref(other);
        release(owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_answer),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
