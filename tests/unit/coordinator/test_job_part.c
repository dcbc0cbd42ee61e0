/* What each worker of a run is told to do. */
#include "coordinator/job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 3, BATCH = 10 };

struct fixture {
    struct suite *suite;
    struct plan plan;
    struct plan_case whole;
};

static void begin(struct fixture *fixture, const char *scenario)
{
    struct error error = ERROR_INIT;
    memset(fixture, 0, sizeof *fixture);
    assert_int_equal(suite_open_builtin("concurrent", &fixture->suite, &error), 0);
    fixture->suite->scripts[0].operations = BATCH;
    assert_string_equal(fixture->suite->scripts[0].name, "writer");
    fixture->plan = (struct plan){.busy_timeout_ms = 5, .max_tries = 1};
    fixture->whole = (struct plan_case){
        .plan = &fixture->plan,
        .suite = fixture->suite,
        .scale = &fixture->suite->scales[0],
        .scenario = suite_find_scenario(fixture->suite, scenario),
        .threads = THREADS,
        .duration_ns = UINT64_MAX,
        .operations = 25,
        .count_operations = true,
        .warmup_ns = UINT64_MAX,
        .rate = (double)NAN,
    };
}

static json_t *job_of(const struct plan_case *plan_case)
{
    const result_pairs none = {NULL, 0};
    json_t *job = job_run(plan_case, "/x", &none, 1);
    assert_non_null(job);
    return job;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void a_process_serves_one_connection(void **state)
{
    (void)state;
    static const char *const roles[] = {"writer", "reader", "reader", "reader"};
    struct fixture f;
    begin(&f, "read-write-mix");
    f.whole.processes = true;
    assert_int_equal(job_part_count(&f.whole), 4);
    for (size_t i = 0; i < 4; i++) {
        struct job_part part;
        job_part_init(&part, &f.whole, i);
        assert_int_equal(job_connections(&part.plan_case), 1);
        assert_int_equal(job_part_count(&part.plan_case), 1);
        json_t *job = job_of(&part.plan_case);
        assert_int_equal(number(job, "first_connection"), i);
        assert_int_equal(number(job, "connections_total"), 4);
        assert_int_equal(json_array_size(json_object_get(job, "roles")), 1);
        const json_t *role = json_array_get(json_object_get(job, "roles"), 0);
        assert_string_equal(json_string_value(json_object_get(role, "name")), roles[i]);
        assert_int_equal(number(role, "connections"), 1);
        /* 25 inserts are 3 transactions of 10. */
        assert_int_equal(number(role, "operations"), i == 0 ? 3 : 25);
        assert_int_equal(job_role_executions(&part.plan_case, part.plan_case.scenario->roles),
                         i == 0 ? 3 : 25);
        /* Scripts keep their index: streams of random numbers hang on it. */
        assert_int_equal(json_array_size(json_object_get(job, "scripts")), 2);
        json_decref(job);
    }
    suite_free(f.suite);
}

static void threads_are_one_worker(void **state)
{
    (void)state;
    struct fixture f;
    struct job_part part;
    begin(&f, "read-write-mix");
    f.whole.count_operations = false;
    assert_int_equal(job_part_count(&f.whole), 1);
    job_part_init(&part, &f.whole, 0);
    json_t *job = job_of(&part.plan_case);
    assert_int_equal(number(job, "first_connection"), 0);
    assert_int_equal(number(job, "connections_total"), 4);
    const json_t *roles = json_object_get(job, "roles");
    assert_int_equal(json_array_size(roles), 2);
    assert_int_equal(number(json_array_get(roles, 1), "connections"), THREADS);
    assert_null(json_object_get(json_array_get(roles, 0), "operations"));
    assert_int_equal(number(job, "operations"), 25);
    json_decref(job);
    suite_free(f.suite);
}

/* A job names the rate of all workers together: each knows its share by connections_total. */
static void all_name_the_same_rate(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "read-write-mix");
    f.whole.rate = 1300; /* operations, of which the four connections' executions do 13 */
    assert_float_equal(job_rate(&f.whole), 400, 1e-9);
    f.whole.processes = true;
    for (size_t i = 0; i < 4; i++) {
        struct job_part part;
        job_part_init(&part, &f.whole, i);
        json_t *job = job_of(&part.plan_case);
        assert_float_equal(json_number_value(json_object_get(job, "rate")), 400, 1e-9);
        json_decref(job);
    }
    suite_free(f.suite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_serves_one_connection),
        cmocka_unit_test(threads_are_one_worker),
        cmocka_unit_test(all_name_the_same_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
