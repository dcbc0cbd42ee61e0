/* Outcomes, tries, rollbacks and what counts as acknowledged. */
#include "fake_engine.h"
#include "fake_scripts.h"

#include "worker/failure.h"
#include "worker/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tally tally; /* zeroed, as tally_init() asks for */
static atomic_bool cut;

struct fixture {
    struct script *script;
    struct evaluation evaluation;
    struct operation operation;
    struct engine_effect effect;
};

static void begin(struct fixture *fixture, const char *script)
{
    fake_reset();
    atomic_store(&cut, false);
    memset(&tally, 0, sizeof(tally));
    fixture->script = fake_script(script);
    assert_non_null(fixture->script);
    struct error error = ERROR_INIT;
    struct random random;
    random_init(&random, 1, RANDOM_PARAMETERS, 0, 0);
    assert_int_equal(evaluation_init(&fixture->evaluation, fixture->script, NULL, 0, &error), 0);
    assert_int_equal(evaluation_draw(&fixture->evaluation, &fixture->script->body, &random, &error),
                     0);
    assert_int_equal(tally_init(&tally, fixture->script->statement_count, &error), 0);
    fixture->operation = (struct operation){
        .ops = &fake_ops, .connection = &fake_connection, .cut = &cut, .max_tries = 3};
}

static enum outcome run(struct fixture *fixture)
{
    struct engine_statement *statements[] = {&fake_statement, &fake_statement};
    return operation_run(&fixture->operation, &fixture->evaluation, statements, &tally,
                         &fixture->effect);
}

static void end(struct fixture *fixture)
{
    evaluation_release(&fixture->evaluation);
    tally_release(&tally);
    script_free(fixture->script);
}

#define OK ENGINE_OK
#define BUSY ENGINE_BUSY
#define CONFLICT ENGINE_CONFLICT
#define FAILED ENGINE_FAILED

static const struct {
    const char *label;
    const char *script;
    enum engine_status runs[6];
    enum engine_status begin, commit, rollback;
    enum outcome outcome;
    int ran, rolled_back;
    uint64_t retries, acknowledged[2];
    int errors;
} cases[] = {
    {"both run", FAKE_PAIR, {OK, OK}, OK, OK, OK, OUTCOME_OK, 2, 0, 0, {1, 1}, 0},
    {"a busy one is not tried again",
     FAKE_PAIR,
     {BUSY},
     OK,
     OK,
     OK,
     OUTCOME_BUSY,
     1,
     1,
     0,
     {0, 0},
     0},
    {"the first stays written when the second is busy",
     FAKE_PAIR,
     {OK, BUSY},
     OK,
     OK,
     OK,
     OUTCOME_BUSY,
     2,
     1,
     0,
     {1, 0},
     0},
    {"a conflict runs the whole script again",
     FAKE_PAIR,
     {OK, CONFLICT},
     OK,
     OK,
     OK,
     OUTCOME_OK,
     4,
     1,
     1,
     {2, 1},
     0},
    {"a failure is not tried again",
     FAKE_PAIR,
     {FAILED},
     OK,
     OK,
     OK,
     OUTCOME_FAILED,
     1,
     1,
     0,
     {0, 0},
     1},
    {"interrupted without being asked",
     FAKE_PAIR,
     {ENGINE_INTERRUPTED},
     OK,
     OK,
     OK,
     OUTCOME_FAILED,
     1,
     1,
     0,
     {0, 0},
     1},
    {"a transaction commits",
     FAKE_TRANSACTION,
     {OK, OK},
     OK,
     OK,
     OK,
     OUTCOME_OK,
     2,
     0,
     0,
     {1, 1},
     0},
    {"nothing is acknowledged before the commit",
     FAKE_TRANSACTION,
     {OK, BUSY},
     OK,
     OK,
     OK,
     OUTCOME_BUSY,
     2,
     1,
     0,
     {0, 0},
     0},
    {"a conflict in a transaction",
     FAKE_TRANSACTION,
     {OK, CONFLICT, OK, OK},
     OK,
     OK,
     OK,
     OUTCOME_OK,
     4,
     1,
     1,
     {1, 1},
     0},
    {"conflicts until the tries are used up",
     FAKE_TRANSACTION,
     {CONFLICT, CONFLICT, CONFLICT},
     OK,
     OK,
     OK,
     OUTCOME_CONFLICT,
     3,
     3,
     2,
     {0, 0},
     0},
    {"a conflict at commit, thrice",
     FAKE_TRANSACTION,
     {OK},
     OK,
     CONFLICT,
     OK,
     OUTCOME_CONFLICT,
     6,
     3,
     2,
     {0, 0},
     0},
    {"busy at begin", FAKE_TRANSACTION, {OK}, BUSY, OK, OK, OUTCOME_BUSY, 0, 1, 0, {0, 0}, 0},
    {"a commit that fails",
     FAKE_TRANSACTION,
     {OK},
     OK,
     FAILED,
     OK,
     OUTCOME_FAILED,
     2,
     1,
     0,
     {0, 0},
     1},
    {"a rollback that fails after busy",
     FAKE_TRANSACTION,
     {BUSY},
     OK,
     OK,
     FAILED,
     OUTCOME_FAILED,
     1,
     1,
     0,
     {0, 0},
     1},
    {"a rollback that fails is not tried past",
     FAKE_TRANSACTION,
     {CONFLICT},
     OK,
     OK,
     FAILED,
     OUTCOME_FAILED,
     1,
     1,
     0,
     {0, 0},
     1},
};

static void outcomes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture fixture;
        begin(&fixture, cases[i].script);
        print_message("%s\n", cases[i].label);
        memcpy(fake.runs, cases[i].runs, sizeof(cases[i].runs));
        fake.begin = cases[i].begin;
        fake.commit = cases[i].commit;
        fake.rollback = cases[i].rollback;
        fake.effect.rows_changed = 1;
        fake.text = "told";
        assert_int_equal(run(&fixture), cases[i].outcome);
        assert_int_equal(fake.ran, cases[i].ran);
        assert_int_equal(fake.rolled_back, cases[i].rolled_back);
        assert_int_equal(tally.attempted, 1);
        assert_int_equal(tally.retries, cases[i].retries);
        assert_int_equal(tally.acknowledged[0], cases[i].acknowledged[0]);
        assert_int_equal(tally.acknowledged[1], cases[i].acknowledged[1]);
        assert_int_equal(tally.pending[0], 0);
        assert_int_equal(tally.pending[1], 0);
        assert_int_equal(tally.error_count, cases[i].errors);
        end(&fixture);
    }
}

static void effect_is_of_the_last_try(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, FAKE_PAIR);
    fake.runs[1] = ENGINE_CONFLICT;
    fake.effect = (struct engine_effect){.rows_read = 3, .rows_changed = 5};
    assert_int_equal(run(&fixture), OUTCOME_OK);
    assert_int_equal(fixture.effect.rows_read, 6);
    assert_int_equal(fixture.effect.rows_changed, 10);
    end(&fixture);
}

/* The main thread sets the flag and interrupts: whatever the engine says then, it is open. */
static void cut_while_it_runs(void **state)
{
    (void)state;
    const enum engine_status said[] = {ENGINE_INTERRUPTED, ENGINE_BUSY, ENGINE_FAILED,
                                       ENGINE_CONFLICT, ENGINE_OK};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct fixture fixture;
        begin(&fixture, FAKE_TRANSACTION);
        fake.runs[0] = said[i];
        fake.flag = &cut;
        fake.flag_at = 0;
        assert_int_equal(run(&fixture), OUTCOME_OPEN);
        assert_int_equal(fake.ran, 1);
        assert_int_equal(fake.committed, 0);
        assert_int_equal(fake.rolled_back, 1);
        assert_int_equal(tally.error_count, 0);
        end(&fixture);
    }
}

static void cut_in_the_last_call_that_is_ok(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, FAKE_PAIR);
    fake.flag = &cut;
    fake.flag_at = 1;
    assert_int_equal(run(&fixture), OUTCOME_OK);
    end(&fixture);
}

static void failures_are_described(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, FAKE_PAIR);
    for (int i = 0; i < 12; i++) {
        char text[32];
        snprintf(text, sizeof(text), "message %d", i % 10);
        fake.text = text;
        fake.code = 19;
        fake.runs[fake.ran] = ENGINE_OK;
        fake.runs[fake.ran + 1] = ENGINE_FAILED;
        assert_int_equal(run(&fixture), OUTCOME_FAILED);
    }
    assert_int_equal(tally.error_count, 8);
    assert_int_equal(tally.errors[0].statement, 1);
    assert_int_equal(tally.errors[0].code, 19);
    assert_int_equal(tally.errors[0].count, 2);
    assert_int_equal(tally.errors[7].count, 1);
    assert_string_equal(tally.errors[7].message, "message 7");
    assert_int_equal(tally.errors_beyond, 2);
    end(&fixture);
}

static void failures_without_a_text_or_a_statement(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, FAKE_TRANSACTION);
    fake.begin = ENGINE_FAILED;
    assert_int_equal(run(&fixture), OUTCOME_FAILED);
    assert_int_equal(tally.errors[0].statement, FAILURE_NOWHERE);
    assert_true(tally.errors[0].message[0] != '\0');
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes),
        cmocka_unit_test(effect_is_of_the_last_try),
        cmocka_unit_test(cut_while_it_runs),
        cmocka_unit_test(cut_in_the_last_call_that_is_ok),
        cmocka_unit_test(failures_are_described),
        cmocka_unit_test(failures_without_a_text_or_a_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
