/* What becomes of rows, orders and tries in the digest of an execution. */
#include "fake_engine.h"
#include "fake_scripts.h"

#include "worker/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tally tally; /* zeroed, as tally_init() asks for */
static atomic_bool cut;

#define OK ENGINE_OK

/* One execution of two statements: what their runs answer, tries included, and with how many rows;
 * 'o' and so on by the outcome. */
struct execution {
    enum job_compare compare;
    enum engine_status runs[4];
    int rows[4];
    uint64_t changed;
};

static uint64_t digest_of(const struct execution *execution, char outcome)
{
    struct answer answer = {.compare = execution->compare};
    struct operation_observer observer = answer_observer(&answer);
    struct script *script = fake_script(FAKE_PAIR);
    struct evaluation evaluation;
    struct error error = ERROR_INIT;
    struct random random;
    struct engine_effect effect;
    struct engine_statement *statements[] = {&fake_statement, &fake_statement};
    const struct operation operation = {
        .ops = &fake_ops, .connection = &fake_connection, .cut = &cut, .max_tries = 2};
    fake_reset();
    memcpy(fake.runs, execution->runs, sizeof(execution->runs));
    memcpy(fake.rows, execution->rows, sizeof(execution->rows));
    fake.effect.rows_changed = execution->changed;
    memset(&tally, 0, sizeof(tally));
    random_init(&random, 1, RANDOM_VERIFY, 0, 0);
    assert_int_equal(evaluation_init(&evaluation, script, NULL, 0, &error), 0);
    assert_int_equal(evaluation_draw(&evaluation, &script->body, &random, &error), 0);
    assert_int_equal(tally_init(&tally, script->statement_count, &error), 0);
    operation_observe(&operation, &evaluation, statements, &tally, &effect, &observer);
    uint64_t digest = answer_digest(&answer, DIGEST_STRICT, outcome);
    assert_false(answer.no_memory);
    answer_release(&answer);
    tally_release(&tally);
    evaluation_release(&evaluation);
    script_free(script);
    return digest;
}

/* Worked out by hand: the outcome, then each statement's numbers. */
static uint64_t expected(char outcome, const uint64_t *numbers, size_t count)
{
    struct digest digest;
    digest_init(&digest);
    digest_bytes(&digest, &outcome, 1);
    for (size_t i = 0; i < count; i++) {
        digest_u64(&digest, numbers[i]);
    }
    return digest_end(&digest);
}

static uint64_t row(int64_t number)
{
    struct value column = {.type = VALUE_INTEGER, .integer = number};
    return digest_row(DIGEST_STRICT, &column, 1);
}

static void what_is_hashed(void **state)
{
    (void)state;
    const struct execution ordered = {JOB_COMPARE_ORDERED, {OK, OK}, {2, 1}, 7};
    const uint64_t numbers[] = {7, row(1), row(2), 7, row(1)};
    assert_int_equal(digest_of(&ordered, 'o'), expected('o', numbers, 5));
    const struct execution count = {JOB_COMPARE_COUNT, {OK, OK}, {2, 0}, 7};
    const uint64_t counts[] = {7, 2, 7, 0};
    assert_int_equal(digest_of(&count, 'o'), expected('o', counts, 4));
    const struct execution busy = {JOB_COMPARE_ORDERED, {ENGINE_BUSY}, {3}, 7};
    assert_int_equal(digest_of(&busy, 'y'), expected('y', NULL, 0));
}

static void pairs(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        struct execution left, right;
        bool alike;
    } cases[] = {
        {"order counts",
         {JOB_COMPARE_ORDERED, {OK, OK}, {3, 0}, 0},
         {JOB_COMPARE_ORDERED, {OK, OK}, {-3, 0}, 0},
         false},
        {"but not in a set",
         {JOB_COMPARE_SET, {OK, OK}, {100, 3}, 0},
         {JOB_COMPARE_SET, {OK, OK}, {-100, -3}, 0},
         true},
        {"a set holds as many of each",
         {JOB_COMPARE_SET, {OK, OK}, {3, 0}, 0},
         {JOB_COMPARE_SET, {OK, OK}, {4, 0}, 0},
         false},
        {"rows belong to their statement",
         {JOB_COMPARE_SET, {OK, OK}, {1, 2}, 0},
         {JOB_COMPARE_SET, {OK, OK}, {2, 1}, 0},
         false},
        {"the number of rows alone",
         {JOB_COMPARE_COUNT, {OK, OK}, {3, 0}, 0},
         {JOB_COMPARE_COUNT, {OK, OK}, {-3, 0}, 0},
         true},
        {"rows changed",
         {JOB_COMPARE_COUNT, {OK, OK}, {0, 0}, 1},
         {JOB_COMPARE_COUNT, {OK, OK}, {0, 0}, 2},
         false},
        {"only the last try",
         {JOB_COMPARE_ORDERED, {OK, OK}, {2, 1}, 1},
         {JOB_COMPARE_ORDERED, {OK, ENGINE_CONFLICT, OK, OK}, {5, 4, 2, 1}, 1},
         true},
        {"the rows of a statement that failed are void",
         {JOB_COMPARE_SET, {OK, ENGINE_FAILED}, {2, 0}, 1},
         {JOB_COMPARE_SET, {OK, ENGINE_FAILED}, {2, 9}, 1},
         true},
        {"those before it are not",
         {JOB_COMPARE_COUNT, {OK, ENGINE_FAILED}, {2, 0}, 1},
         {JOB_COMPARE_COUNT, {OK, ENGINE_FAILED}, {3, 0}, 1},
         false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if ((digest_of(&cases[i].left, 'o') == digest_of(&cases[i].right, 'o')) != cases[i].alike) {
            fail_msg("%s", cases[i].label);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_hashed), cmocka_unit_test(pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
