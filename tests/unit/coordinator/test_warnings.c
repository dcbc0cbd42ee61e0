/* Each rule about the runs of an engine: that its warning comes, and that it stays away. */
#include "coordinator/warnings.h"

#include "../result/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* One engine of one round: 2 connections, 5 s, two scripts with long executions that fill it. */
static struct result *start(struct result_engine **engine, struct result_run **run)
{
    struct result *result = sample_result(1);
    *engine = sample_engine(result, "sqlite", 1, 1);
    *run = &(*engine)->runs.items[0];
    for (size_t i = 0; i < (*run)->scripts.count; i++) {
        struct result_script *script = &(*run)->scripts.items[i];
        script->busy = 0;
        script->attempted = script->ok;
        script->time_ns = 5 * SAMPLE_S; /* half of 2 connections × 5 s */
    }
    return result;
}

/* The warnings of `result` hold this text, or there is none when it is NULL. */
static void check(struct result *result, const char *text, const char *name)
{
    if (text == NULL && result->warnings.count > 0) {
        fail_msg("%s: not expected: %s", name, result->warnings.items[0].text);
    }
    bool found = text == NULL;
    for (size_t i = 0; i < result->warnings.count; i++) {
        found = found || strstr(result->warnings.items[i].text, text) != NULL;
    }
    if (!found) {
        fail_msg("%s: '%s' is missing; the first of %zu warnings: %s", name, text,
                 result->warnings.count,
                 result->warnings.count > 0 ? result->warnings.items[0].text : "-");
    }
    result_free(result);
}

static void test_window(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double time_share; /* of connections × window */
        uint64_t attempted_each;
        uint64_t busy;
        uint64_t late_ns; /* of the second connection */
        bool by_duration;
        bool told;
        uint64_t run_queue_ns; /* of each connection */
    } cases[] = {
        {"all of it", 1, 1000, 0, 0, true, false, 0},
        {"clock resolution", 1.0005, 1000, 0, 0, true, false, 0},
        {"a window that is too short", 1.1, 1000, 0, 0, true, true, 0},
        {"too short, by operations", 1.1, 1000, 0, 0, false, true, 0},
        {"a little between the executions", 0.91, 1000, 0, 0, true, false, 0},
        {"a core was lost now and then", 0.885, 1000, 0, 0, true, false, SAMPLE_S},
        {"more than that explains", 0.88, 1000, 0, 0, true, true, SAMPLE_S},
        {"a window that is too long", 0.5, 1000, 0, 0, true, true, 0},
        {"by operations: connections end at different times", 0.5, 1000, 0, 0, false, false, 0},
        {"busy ones", 0.5, 1000, 1, 0, true, false, 0},
        {"short executions", 0.5, 1000000, 0, 0, true, false, 0},
        {"a late connection is counted from its first operation", 0.55, 1000, 0, 4500000000, true,
         false, 0},
        {"one that never began", 0.5, 1000, 0, RESULT_ABSENT, true, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        for (size_t k = 0; k < 2; k++) {
            struct result_script *script = &run->scripts.items[k];
            script->busy = cases[i].busy;
            script->ok = cases[i].attempted_each - cases[i].busy;
            script->attempted = cases[i].attempted_each;
            script->time_ns = (uint64_t)(5e9 * cases[i].time_share);
        }
        run->connections.items[1].late_ns = cases[i].late_ns;
        run->connections.items[0].run_queue_ns = cases[i].run_queue_ns;
        run->connections.items[1].run_queue_ns = cases[i].run_queue_ns;
        if (!cases[i].by_duration) {
            result->cases.items[0].duration_ns = RESULT_ABSENT;
            result->cases.items[0].operations = 1000;
        }
        assert_int_equal(warn_window(result, engine, 0), 0);
        bool above = cases[i].told && cases[i].time_share > 1;
        assert_string_equal(engine->status, above ? "differs" : "ok");
        check(result, cases[i].told ? "the window is wrong" : NULL, cases[i].name);
    }
}

static void test_connections(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t operations[2];
        uint64_t late_ns;
        const char *second_role;
        const char *text;
    } cases[] = {
        {"alike", {1500, 1400}, 1, "app", NULL},
        {"one never began", {1500, 0}, RESULT_ABSENT, "app", "connection 1 never began one"},
        {"one ended none well", {1500, 0}, 5, "app", "1 of 2 connections ended no execution well"},
        {"ten times as many", {1500, 150}, 1, "app", "connection 1 only 150"},
        {"not quite", {1500, 151}, 1, "app", NULL},
        {"chance", {19, 1}, 1, "app", NULL},
        {"another role", {1500, 15}, 1, "writer", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        run->connections.items[0].operations = cases[i].operations[0];
        run->connections.items[1].operations = cases[i].operations[1];
        run->connections.items[1].late_ns = cases[i].late_ns;
        free(run->connections.items[1].role);
        run->connections.items[1].role = sample_text(cases[i].second_role);
        assert_int_equal(warn_connections(result, engine, 0), 0);
        check(result, cases[i].text, cases[i].name);
    }
}

static void test_run_queue(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns[2];
        const char *text;
    } cases[] = {
        {{SAMPLE_S, 0}, NULL}, /* 10 % of 2 × 5 s is no more than 10 % */
        {{SAMPLE_S, SAMPLE_S}, "waited for a core during 20 % of a run"},
        {{5 * SAMPLE_S, RESULT_ABSENT}, NULL},
        {{6 * SAMPLE_S, 5 * SAMPLE_S}, NULL}, /* waits that began before the window */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        run->connections.items[0].run_queue_ns = cases[i].ns[0];
        run->connections.items[1].run_queue_ns = cases[i].ns[1];
        assert_int_equal(warn_host(result), 0);
        check(result, cases[i].text, "run queue");
    }
}

static void test_host(void **state)
{
    (void)state;
    static const struct {
        double others, steal, resident;
        uint64_t dirty;
        const char *text;
    } cases[] = {
        {0.05, 0.05, 0.99, 16 << 20, NULL},
        {(double)NAN, (double)NAN, (double)NAN, RESULT_ABSENT, NULL},
        {0.06, 0, 1, 0, "other programs used 6 % of the cores"},
        {0, 0.06, 1, 0, "the hypervisor took 6 % of the cores"},
        {0, 0, 1, (16 << 20) + 1, "still to be written back when a run began: 17 MB"},
        {0, 0, 0.98, 0, "not in the page cache when a run began: 2 % of the copy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        run->cpu_others = cases[i].others;
        run->steal = cases[i].steal;
        run->resident = cases[i].resident;
        run->dirty_bytes = cases[i].dirty;
        assert_int_equal(warn_host(result), 0);
        check(result, cases[i].text, "host");
    }
}

/* One warning a rule: which engines, and the worst of them. */
static void test_host_of_several(void **state)
{
    (void)state;
    for (size_t told = 0; told <= 3; told++) {
        struct result *result = sample_result(1);
        const char *const names[] = {"sqlite", "turso", "null"};
        for (size_t i = 0; i < 3; i++) {
            struct result_engine *engine = sample_engine(result, names[i], 1, 1);
            engine->runs.items[0].cpu_others = i < told ? 0.10 * (double)(i + 1) : 0;
        }
        assert_int_equal(warn_host(result), 0);
        assert_int_equal(result->warnings.count, told == 0 ? 0 : 1);
        if (told == 1) {
            assert_string_equal(result->warnings.items[0].subject, "sqlite");
        }
        static const char *const texts[] = {
            NULL, "other programs used 10 % of the cores",
            "sqlite, turso: other programs used up to 20 % of the cores",
            "all engines: other programs used up to 30 % of the cores"};
        check(result, texts[told], "several engines");
    }
}

static void test_short(void **state)
{
    (void)state;
    static const struct {
        uint64_t window_ns;
        bool exempt;
        const char *text;
    } cases[] = {
        {100 * SAMPLE_MS, false, NULL},
        {99 * SAMPLE_MS, false, "took less than 100 ms (99.0 ms in prod)"},
        {SAMPLE_MS, true, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        run->window_ns = cases[i].window_ns;
        assert_int_equal(warn_short(result, &cases[i].exempt), 0);
        check(result, cases[i].text, "short");
    }
}

static void test_check(void **state)
{
    (void)state;
    struct result_engine *engine;
    struct result_run *run;
    struct result *result = start(&engine, &run);
    run->check.problem = sample_text("users has 1 row fewer");
    assert_int_equal(warn_check(result, engine, 0), 0);
    assert_string_equal(engine->status, "differs");
    check(result, "after round 1: users has 1 row fewer", "problem");

    result = start(&engine, &run); /* the sample has a table that cannot be told */
    assert_int_equal(warn_check(result, engine, 0), 0);
    assert_string_equal(engine->status, "ok");
    assert_int_equal(result->warnings.count, 1);
    assert_null(result->warnings.items[0].subject);
    check(result, "rows of audit are not counted after a run: INSERT OR IGNORE", "unchecked");

    result = start(&engine, &run);
    run->check.counts.items[0].expected = RESULT_ABSENT;
    run->check.counts.items[0].unchecked = sample_text("INSERT OR IGNORE");
    assert_int_equal(warn_check(result, engine, 0), 0);
    assert_int_equal(result->warnings.count, 1);
    check(result, "rows are not counted after a run: INSERT OR IGNORE", "all unchecked");
}

static void test_scripts(void **state)
{
    (void)state;
    static const struct {
        uint64_t ok, rows, failed;
        const char *text;
    } cases[] = {
        {1000, 1000, 0, NULL},
        {1000, 10, 0, NULL},
        {1000, 9, 0, "user_by_id touched no row in more than 99 % of its executions"},
        {1000, 0, 0, "user_by_id never touched a row"},
        {0, 0, 0, NULL},
        {1000, 1000, 3, "user_by_id failed 3 times: no reason given"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        struct result_script *script = &run->scripts.items[0];
        script->ok = cases[i].ok;
        script->rows_read = cases[i].rows;
        script->rows_changed = 0;
        script->failed = cases[i].failed;
        assert_int_equal(warn_scripts(result, engine, 0), 0);
        check(result, cases[i].text, "scripts");
    }
}

/* What failed and what was refused leaves a mark on its engine. */
static void test_outcomes(void **state)
{
    (void)state;
    static const struct {
        uint64_t ok, failed, busy, conflict, open;
        const char *status, *text;
    } cases[] = {
        {10, 0, 0, 0, 0, "ok", NULL},
        {10, 0, 1, 2, 3, "ok", "user_by_id: 1 executions were busy, 2 in conflict, 3 still open"},
        {10, 2, 0, 0, 0, "differs", "user_by_id failed 2 times"},
        {0, 2, 0, 0, 0, "failed", "user_by_id failed 2 times"},
        {0, 0, 7, 0, 0, "ok", "user_by_id: 7 executions were busy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        struct result_script *script = &run->scripts.items[0];
        script->ok = script->rows_read = cases[i].ok;
        script->failed = cases[i].failed;
        script->busy = cases[i].busy;
        script->conflict = cases[i].conflict;
        script->open = cases[i].open;
        free(engine->status);
        engine->status = sample_text("ok");
        assert_int_equal(warn_scripts(result, engine, 0), 0);
        assert_string_equal(engine->status, cases[i].status);
        check(result, cases[i].text, "outcomes");
    }
}

static void test_thin(void **state)
{
    (void)state;
    static const struct {
        uint64_t ok[2];
        bool exempt;
        const char *text;
    } cases[] = {
        {{10000, 10000}, false, NULL},
        {{10000, 9999}, false, "in a round: p99.9 of insert_order; these"},
        {{9999, 9999}, false, "in a round: p99.9 of every script; these"},
        {{10000, 999}, false, "in a round: p99 and p99.9 of insert_order; these"},
        {{9999, 999}, false, "in a round: p99 of insert_order; p99.9 of every script; these"},
        {{999, 0}, false, "in a round: p99 and p99.9 of every script; these"},
        {{0, 0}, true, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        run->scripts.items[0].ok = cases[i].ok[0];
        run->scripts.items[1].ok = cases[i].ok[1];
        assert_int_equal(warn_thin(result, &cases[i].exempt), 0);
        check(result, cases[i].text, "thin");
    }
}

/* What is told of a case names it, and marks only its summary. */
static void test_cases(void **state)
{
    (void)state;
    struct result_engine *engine;
    struct result_run *run;
    struct result *result = start(&engine, &run);
    sample_case(result, "select-point");
    struct result_summary *second = sample_must(result_list_add(&engine->summaries));
    result_summary_init(second);
    second->status = sample_text("ok");
    run->case_index = 1;
    run->scripts.items[0].rows_read = run->scripts.items[0].rows_changed = 0;
    run->check.problem = sample_text("users is gone");

    assert_int_equal(warn_check(result, engine, 0), 0);
    assert_int_equal(warn_scripts(result, engine, 0), 0);
    assert_int_equal(result->warnings.count, 0); /* its run is of the other case */
    assert_string_equal(engine->status, "ok");
    assert_int_equal(warn_check(result, engine, 1), 0);
    assert_string_equal(engine->status, "differs");
    assert_string_equal(engine->summaries.items[0].status, "ok");
    assert_string_equal(engine->summaries.items[1].status, "differs");
    assert_int_equal(warn_scripts(result, engine, 1), 0);
    assert_string_equal(result->warnings.items[0].text,
                        "select-point: after round 1: users is gone");
    check(result, "select-point: user_by_id never touched a row", "cases");
}

/* A script that never succeeds fails its case, and the engine once there is no other. */
static void test_a_failed_case(void **state)
{
    (void)state;
    for (int several = 0; several < 2; several++) {
        struct result_engine *engine;
        struct result_run *run;
        struct result *result = start(&engine, &run);
        if (several == 1) {
            sample_case(result, "select-point");
            struct result_summary *second = sample_must(result_list_add(&engine->summaries));
            result_summary_init(second);
            second->status = sample_text("ok");
        }
        struct result_script *script = &run->scripts.items[0];
        script->failed = script->attempted;
        script->ok = 0;
        assert_int_equal(warn_scripts(result, engine, 0), 0);
        assert_string_equal(engine->status, several == 1 ? "partial" : "failed");
        assert_string_equal(engine->summaries.items[0].status, "failed");
        assert_non_null(strstr(engine->summaries.items[0].error, "user_by_id never succeeded"));
        assert_int_equal(strncmp(engine->error, "prod, ", 6) == 0, several);
        result_free(result);
    }
}

/* A run that failed has no figures that a rule could be about. */
static void test_failed_runs(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    struct result_engine *engine = sample_failed_engine(result, "turso");
    const bool exempt = false;
    assert_int_equal(warn_window(result, engine, 0), 0);
    assert_int_equal(warn_connections(result, engine, 0), 0);
    assert_int_equal(warn_trend(result, engine, 0), 0);
    assert_int_equal(warn_host(result), 0);
    assert_int_equal(warn_short(result, &exempt), 0);
    assert_int_equal(warn_check(result, engine, 0), 0);
    assert_int_equal(warn_scripts(result, engine, 0), 0);
    assert_int_equal(warn_thin(result, &exempt), 0);
    check(result, NULL, "failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_connections),
        cmocka_unit_test(test_run_queue),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_host_of_several),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_thin),
        cmocka_unit_test(test_failed_runs),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_a_failed_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
