/* Figures of roles: fairness, windows of their own, and how they grow from case to case. */
#include "../result/sample.h"

#include "statistics/roles.h"
#include "statistics/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct result *result_with(size_t cases, size_t engines)
{
    struct result *result = result_new();
    for (size_t i = 0; i < cases; i++) {
        struct result_case *of = sample_must(result_list_add(&result->cases));
        result_case_init(of);
        of->label = sample_text("case");
        of->suite_hash = sample_text("0123456789abcdef");
        of->scale = sample_text("default");
        of->scenario = sample_text("mix");
        of->isolation = sample_text("threads");
        sample_pair(&of->variables, "rows", "100");
    }
    for (size_t i = 0; i < engines; i++) {
        struct result_engine *engine = sample_must(result_list_add(&result->engines));
        result_engine_init(engine);
        engine->name = sample_text("sqlite");
        for (size_t of = 0; of < cases; of++) {
            result_summary_init(sample_must(result_list_add(&engine->summaries)));
        }
    }
    return result;
}

static struct result_run *add_run(struct result *result, size_t engine, uint64_t of, uint64_t round)
{
    struct result_run *run = sample_must(result_list_add(&result->engines.items[engine].runs));
    result_run_init(run);
    run->case_index = of;
    run->round = round;
    run->status = sample_text("ok");
    run->window_ns = 2 * SAMPLE_S;
    return run;
}

static struct result_connection *add_connection(struct result_run *run, const char *role,
                                                uint64_t executions, uint64_t window_ns)
{
    struct result_connection *connection = sample_must(result_list_add(&run->connections));
    connection->connection = run->connections.count - 1;
    connection->role = sample_text(role);
    connection->operations = executions;
    connection->window_ns = window_ns;
    connection->cpu_ns = 3 * SAMPLE_MS;
    connection->slept_ns = 5 * SAMPLE_MS;
    connection->off_cpu_ns = 7 * SAMPLE_MS;
    connection->run_queue_ns = 11 * SAMPLE_MS;
    return connection;
}

static void add_script(struct result_run *run, const char *role, uint64_t ok, uint64_t each)
{
    struct result_script *script = sample_must(result_list_add(&run->scripts));
    script->role = sample_text(role);
    script->script = sample_text(role);
    script->operations_each = each;
    script->ok = ok;
    script->busy = 3;
    script->open = 1;
    script->attempted = ok + 4;
}

static const struct result_role_summary *role_of(const struct result *result, size_t engine,
                                                 size_t of, size_t role)
{
    return &result->engines.items[engine].summaries.items[of].roles.items[role];
}

static void summarize(struct result *result)
{
    struct error error = ERROR_INIT;
    for (size_t i = 0; i < result->engines.count; i++) {
        assert_int_equal(summarize_engine(&result->engines.items[i], &error), 0);
    }
    assert_int_equal(summarize_scaling(result, &error), 0);
}

static void assert_is(double found, double expected)
{
    if (isnan(expected)) {
        assert_true(isnan(found));
    } else {
        assert_float_equal(found, expected, fabs(expected) * 1e-12);
    }
}

/* A writer whose transactions hold 10 inserts, and two readers, one of which ended early. */
static void test_one_run(void **state)
{
    (void)state;
    struct result *result = result_with(1, 1);
    struct result_run *run = add_run(result, 0, 0, 1);
    add_connection(run, "writer", 100, SAMPLE_S);
    add_connection(run, "reader", 300, SAMPLE_S);
    add_connection(run, "reader", 400, 2 * SAMPLE_S);
    add_script(run, "writer", 100, 10);
    add_script(run, "reader", 700, 1);
    summarize(result);
    assert_int_equal(result->engines.items[0].summaries.items[0].roles.count, 2);
    const struct result_role_summary *writer = role_of(result, 0, 0, 0);
    const struct result_role_summary *reader = role_of(result, 0, 0, 1);
    assert_string_equal(writer->role, "writer");
    assert_string_equal(reader->role, "reader");
    assert_int_equal(writer->connections, 1);
    assert_int_equal(reader->connections, 2);
    assert_is(writer->operations_per_second.median, 1000);
    assert_is(reader->operations_per_second.median, 350);
    assert_is(writer->least_served_per_second.median, 1000);
    assert_is(writer->fairness.median, 1);
    assert_is(reader->least_served_per_second.median, 200);
    assert_is(reader->most_served_per_second.median, 300);
    assert_is(reader->fairness.median, 2.0 / 3);
    assert_is(writer->cpu_per_operation_ns.median, 3000);
    assert_is(reader->cpu_per_operation_ns.median, 6e6 / 700);
    assert_is(reader->slept_ns.median, 10e6);
    assert_is(reader->off_cpu_ns.median, 14e6);
    assert_is(reader->run_queue_ns.median, 22e6);
    assert_int_equal(reader->attempted, 704);
    assert_int_equal(reader->busy, 3);
    assert_int_equal(reader->open, 1);
    /* The only case of its scenario. */
    assert_is(reader->scaling.median, (double)NAN);
    result_free(result);
}

static void test_what_is_absent(void **state)
{
    (void)state;
    struct result *result = result_with(1, 1);
    struct result_run *run = add_run(result, 0, 0, 1);
    add_connection(run, "writer", 0, 2 * SAMPLE_S);
    add_connection(run, "writer", 50, 2 * SAMPLE_S)->slept_ns = RESULT_ABSENT;
    add_script(run, "writer", 50, 1);
    /* One that failed has no figures, but what it did counts. */
    struct result_run *failed = add_run(result, 0, 0, 2);
    free(failed->status);
    failed->status = sample_text("failed");
    add_connection(failed, "writer", 7, SAMPLE_S);
    add_script(failed, "writer", 7, 1);
    summarize(result);
    const struct result_role_summary *writer = role_of(result, 0, 0, 0);
    assert_is(writer->operations_per_second.median, 25);
    assert_is(writer->least_served_per_second.median, 0);
    assert_is(writer->fairness.median, 0); /* one was never served */
    assert_is(writer->slept_ns.median, (double)NAN);
    assert_is(writer->off_cpu_ns.median, 14e6);
    assert_int_equal(writer->ok, 57);
    result_free(result);
}

static void test_medians_over_rounds(void **state)
{
    (void)state;
    static const uint64_t executions[] = {100, 300, 200};
    struct result *result = result_with(1, 1);
    for (uint64_t round = 1; round <= 3; round++) {
        struct result_run *run = add_run(result, 0, 0, round);
        add_connection(run, "writer", executions[round - 1], SAMPLE_S);
        add_script(run, "writer", executions[round - 1], 1);
    }
    summarize(result);
    const struct result_role_summary *writer = role_of(result, 0, 0, 0);
    assert_is(writer->operations_per_second.median, 200);
    assert_is(writer->operations_per_second.min, 100);
    assert_is(writer->operations_per_second.max, 300);
    assert_int_equal(writer->ok, 600);
    result_free(result);
}

/* executions[case][round], one connection more a case. */
static void add_growing(struct result *result, size_t engine, const uint64_t executions[2][3])
{
    for (uint64_t of = 0; of < 2; of++) {
        for (uint64_t round = 1; round <= 3; round++) {
            uint64_t count = executions[of][round - 1];
            if (count == 0) {
                continue;
            }
            struct result_run *run = add_run(result, engine, of, round);
            for (uint64_t i = 0; i <= of; i++) {
                add_connection(run, "writer", count, SAMPLE_S);
            }
            add_script(run, "writer", count * (of + 1), 1);
        }
    }
}

static void test_scaling_is_of_the_same_rounds(void **state)
{
    (void)state;
    static const uint64_t first[2][3] = {{100, 200, 400}, {90, 160, 300}};
    static const uint64_t second[2][3] = {{1000, 0, 1000}, {900, 800, 500}};
    struct result *result = result_with(2, 2);
    add_growing(result, 0, first);
    add_growing(result, 1, second);
    summarize(result);
    const struct result_figure *alone = &role_of(result, 0, 0, 0)->scaling;
    const struct result_figure *grown = &role_of(result, 0, 1, 0)->scaling;
    assert_is(alone->median, 1);
    assert_is(grown->median, 1.6); /* of 1.8, 1.6, 1.5 */
    assert_is(grown->min, 1.5);
    assert_is(grown->max, 1.8);
    /* In relation to its own first case, and in the rounds that have both: 1.8 and 1.0. */
    assert_is(role_of(result, 1, 1, 0)->scaling.median, 1.4);
    result_free(result);
}

static void change_scenario(struct result_case *of)
{
    free(of->scenario);
    of->scenario = sample_text("other");
}

static void change_variable(struct result_case *of)
{
    free(of->variables.items[0].value);
    of->variables.items[0].value = sample_text("200");
}

static void change_isolation(struct result_case *of)
{
    free(of->isolation);
    of->isolation = sample_text("processes");
}

static void test_other_cases_do_not_scale(void **state)
{
    (void)state;
    static void (*const changes[])(struct result_case *) = {change_scenario, change_variable,
                                                            change_isolation};
    static const uint64_t executions[2][3] = {{100, 200, 400}, {90, 160, 300}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct result *result = result_with(2, 1);
        changes[i](&result->cases.items[1]);
        add_growing(result, 0, executions);
        summarize(result);
        assert_is(role_of(result, 0, 0, 0)->scaling.median, (double)NAN);
        assert_is(role_of(result, 0, 1, 0)->scaling.median, (double)NAN);
        result_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run),
        cmocka_unit_test(test_what_is_absent),
        cmocka_unit_test(test_medians_over_rounds),
        cmocka_unit_test(test_scaling_is_of_the_same_rounds),
        cmocka_unit_test(test_other_cases_do_not_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
