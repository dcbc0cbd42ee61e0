/* Draws: what lives how long, the ends of ranges, limits, reuse of memory. */
#include "script_testing.h"

#include <malloc.h>

struct run {
    struct script *script;
    struct evaluation evaluation;
    struct random random;
    struct error error;
};

static void run_start(struct run *run, const char *text, bool load)
{
    *run = (struct run){.script = parse_text(text, load), .error = ERROR_INIT};
    start_evaluation(&run->evaluation, run->script);
    random_init(&run->random, 1, RANDOM_PARAMETERS, 0, 0);
}

static int run_draw(struct run *run)
{
    return evaluation_draw(&run->evaluation, &run->script->body, &run->random, &run->error);
}

static void run_end(struct run *run)
{
    evaluation_release(&run->evaluation);
    script_free(run->script);
}

static void check_text(const struct value *value, const char *text)
{
    assert_int_equal(value->type, VALUE_TEXT);
    assert_int_equal(value->length, strlen(text));
    assert_memory_equal(value->bytes, text, value->length);
}

static void test_ends(void **state)
{
    (void)state;
    static const struct {
        enum script_draw draw;
        int64_t value;
        const char *text;
    } ends[] = {
        {SCRIPT_DRAW_LOW, 5, "a"}, {SCRIPT_DRAW_HIGH, 9, "c"}, {SCRIPT_DRAW_BEYOND, 10, "c"}};
    struct run run;
    run_start(&run,
              "\\set a random(5, 9)\n\\set b random_gaussian(5, 9, 2)\n"
              "\\set c random_exponential(5, 9, 1)\n\\set d random_zipfian(5, 9, 2)\n"
              "\\set e choice('a', 'b', 'c')\n\\set f random(0, 9007199254740991)\n"
              "SELECT :a, :b, :c, :d, :e, :f;\n",
              false);
    struct random before = run.random;
    for (size_t i = 0; i < 3; i++) {
        run.evaluation.draw = ends[i].draw;
        assert_int_equal(run_draw(&run), 0);
        for (int v = 0; v < 4; v++) {
            assert_int_equal(run.evaluation.values[v].integer, ends[i].value);
        }
        check_text(&run.evaluation.values[4], ends[i].text);
        /* There is nothing beyond the largest integer. */
        assert_int_equal(run.evaluation.values[5].integer,
                         ends[i].draw == SCRIPT_DRAW_LOW ? 0 : SCRIPT_INTEGER_MAX);
    }
    assert_memory_equal(&before, &run.random, sizeof before); /* nothing was drawn */
    run_end(&run);
}

static void test_random_reaches_both_ends(void **state)
{
    (void)state;
    struct run run;
    run_start(&run, "\\set a random(-1, 1)\n\\set b choice(7, 8)\nSELECT :a, :b;\n", false);
    int seen[3] = {0}, picked[2] = {0};
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(run_draw(&run), 0);
        seen[run.evaluation.values[0].integer + 1]++;
        picked[run.evaluation.values[1].integer - 7]++;
    }
    assert_true(seen[0] > 250 && seen[1] > 250 && seen[2] > 250);
    assert_true(picked[0] > 400 && picked[1] > 400);
    run_end(&run);
}

/* Each call has its own values, though the variable went on. */
static void test_repeat_values(void **state)
{
    (void)state;
    struct run run;
    run_start(&run,
              "\\repeat 1000 AS i\n\\set t format('row %d', :i)\nINSERT INTO t VALUES (:i, :t);\n"
              "\\end\n",
              false);
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(run_draw(&run), 0);
        assert_int_equal(run.evaluation.call_count, 1000);
        for (int i = 0; i < 1000; i++) {
            char text[32];
            snprintf(text, sizeof text, "row %d", i + 1);
            const struct script_call *call = &run.evaluation.calls[i];
            assert_int_equal(call->value_count, 2);
            assert_int_equal(run.evaluation.values[call->first_value].integer, i + 1);
            check_text(&run.evaluation.values[call->first_value + 1], text);
        }
    }
    run_end(&run);
}

static void test_no_allocation(void **state)
{
    (void)state;
    struct run run;
    run_start(&run,
              "\\set n random(1, :users)\n\\set t format('user%d', :n)\n\\repeat 50 AS i\n"
              "\\set u format('%s-%d', :t, :i)\nSELECT :n, :t, :u;\n\\end\n",
              false);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(run_draw(&run), 0);
    }
    struct mallinfo2 before = mallinfo2();
    const struct script_call *calls = run.evaluation.calls;
    const struct value *values = run.evaluation.values;
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(run_draw(&run), 0);
    }
    struct mallinfo2 after = mallinfo2();
    assert_int_equal(before.uordblks, after.uordblks);
    assert_ptr_equal(calls, run.evaluation.calls);
    assert_ptr_equal(values, run.evaluation.values);
    run_end(&run);
}

/* What a \repeat of no turns does not set is as at the start, whatever the last
 * operation left behind. */
static void test_fresh_start(void **state)
{
    (void)state;
    struct run run;
    run_start(&run,
              "\\repeat :op\n\\set n 5\n\\set d 1.5\n\\set t format('%d', 7)\n\\end\n"
              "SELECT :n, :d, :t;\n",
              false);
    int op = evaluation_builtin(&run.evaluation, "op");
    for (int i = 1; i >= 0; i--) {
        evaluation_assign(&run.evaluation, op, i);
        assert_int_equal(run_draw(&run), 0);
        assert_int_equal(run.evaluation.values[0].integer, i == 1 ? 5 : 0);
        assert_true(run.evaluation.values[1].real == (i == 1 ? 1.5 : 0.0));
        check_text(&run.evaluation.values[2], i == 1 ? "7" : "");
    }
    run_end(&run);
}

static void test_own_value(void **state)
{
    (void)state;
    struct run run;
    run_start(&run,
              "\\set x 9\n\\set x min(20, :x, 30)\n\\set t 'a'\n\\set t format('%s%s', :t, :t)\n"
              "\\set t format('%s%s', :t, :t)\nSELECT :x, :t;\n",
              false);
    assert_int_equal(run_draw(&run), 0);
    assert_int_equal(run.evaluation.values[0].integer, 9);
    check_text(&run.evaluation.values[1], "aaaa");
    run_end(&run);
}

/* Blocks of load.sql hand their variables on, texts too, also when one text is
 * another variable's. */
static void test_load_blocks(void **state)
{
    (void)state;
    struct run run;
    run_start(&run,
              "\\set last format('start %d', 1)\n\\set older :last\n\\rows t 20\n"
              "SELECT :older, :last;\n\\set older :last\n\\set last format('row %d', :row)\n"
              "\\end\n",
              true);
    struct evaluation *evaluation = &run.evaluation;
    for (uint32_t i = 0; i < 2; i++) {
        struct script_block one = {.steps = &run.script->body.steps[i], .count = 1};
        assert_int_equal(evaluation_draw(evaluation, &one, &run.random, &run.error), 0);
    }
    const struct script_step *rows = &run.script->body.steps[2];
    int64_t count = 0;
    assert_int_equal(
        evaluation_integer(evaluation, &rows->expression, &run.random, &count, &run.error), 0);
    assert_int_equal(count, 20);
    int slot = evaluation_builtin(evaluation, "row");
    for (int row = 1; row <= 20; row++) {
        evaluation_assign(evaluation, slot, row);
        assert_int_equal(evaluation_draw(evaluation, &rows->body, &run.random, &run.error), 0);
        char older[32] = "start 1", last[32] = "start 1";
        if (row > 1) {
            snprintf(last, sizeof last, "row %d", row - 1);
        }
        if (row > 2) {
            snprintf(older, sizeof older, "row %d", row - 2);
        }
        check_text(&evaluation->values[0], older);
        check_text(&evaluation->values[1], last);
    }
    assert_int_equal(run_draw(&run), ERROR_INVALID); /* \rows is drawn row by row */
    run_end(&run);
}

static const struct {
    const char *text, *message;
} limits[] = {
    {"\\repeat 1000001\nSELECT 1;\n\\end\n", "more than 1,000,000 "},
    {"\\repeat 1001\n\\repeat 1000\nSELECT 1;\n\\end\n\\end\n", "t.sql:2:1: more than 1,000,000 "},
    {"SELECT 2;\n\\repeat 500000\nSELECT 1;\nSELECT 2;\n\\end\n",
     "t.sql:4:1: more than 1,000,000 calls"},
    {"\\repeat 9007199254740991\n\\end\nSELECT 1;", "t.sql:1:1: more than 1,000,000 turns"},
    {"\\repeat :zero - 1\nSELECT 1;\n\\end\n", "t.sql:1:1: a negative count of \\repeat"},
    {"\\set t 'aaaa'\n\\repeat 60\n\\set t format('%s%s', :t, :t)\n\\end\nSELECT :t;\n",
     "t.sql:3:8: texts too long"},
    {"\\set t format('%099d', 1)\n\\repeat 1000000\n\\set u format('%s%s%s', :t, :t, :t)\n\\end\n"
     "SELECT :t;\n",
     "t.sql:3:8: texts too long"},
};

static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct run run;
        run_start(&run, limits[i].text, false);
        assert_int_equal(run_draw(&run), ERROR_INVALID);
        if (strstr(run.error.message, limits[i].message) == NULL) {
            fail_msg("%s\n%s", limits[i].text, run.error.message);
        }
        assert_true(run.evaluation.failed_at.line > 0);
        run_end(&run);
    }
    struct run run;
    run_start(&run, "\\repeat 1000000\nSELECT 1;\n\\end\n", false);
    assert_int_equal(run_draw(&run), 0);
    assert_int_equal(run.evaluation.call_count, SCRIPT_CALLS_MAX);
    run_end(&run);
}

/* A failed draw does not spoil the next one. */
static void test_after_failure(void **state)
{
    (void)state;
    struct run run;
    run_start(&run, "\\set x 10 / :op\nSELECT :x;\n", false);
    assert_int_equal(run_draw(&run), ERROR_INVALID);
    assert_string_equal(run.error.message, "t.sql:1:11: division by zero");
    assert_int_equal(run.evaluation.failed_at.column, 11);
    error_clear(&run.error);
    evaluation_assign(&run.evaluation, evaluation_builtin(&run.evaluation, "op"), 5);
    assert_int_equal(run_draw(&run), 0);
    assert_int_equal(run.evaluation.values[0].integer, 2);
    assert_int_equal(evaluation_draw(&run.evaluation, &run.script->body, &run.random, NULL), 0);
    run_end(&run);
}

static void test_missing_constant(void **state)
{
    (void)state;
    struct script *script = parse_text("SELECT :users;", false);
    struct evaluation evaluation;
    struct error error = ERROR_INIT;
    assert_int_equal(evaluation_init(&evaluation, script, NULL, 0, &error), ERROR_INVALID);
    assert_string_equal(error.message, "script t: the scale gives no value for :users");
    struct script_constant large = {(char *)"users", SCRIPT_INTEGER_MAX + 1};
    error_clear(&error);
    assert_int_equal(evaluation_init(&evaluation, script, &large, 1, &error), ERROR_INVALID);
    assert_int_equal(evaluation_builtin(&(struct evaluation){.script = script}, "op"), -1);
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),          cmocka_unit_test(test_random_reaches_both_ends),
        cmocka_unit_test(test_repeat_values), cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_fresh_start),   cmocka_unit_test(test_own_value),
        cmocka_unit_test(test_load_blocks),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_after_failure), cmocka_unit_test(test_missing_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
