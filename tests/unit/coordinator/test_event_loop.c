/* What a worker says of its event loop: percentiles out of the histograms, and lines that cannot be
 * true are refused. */
#include "coordinator/event_loop.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One sample of 10 ns, one of 100. */
#define TWO                                                                                        \
    "{\"count\":2,\"overflow\":0,\"sum\":110,\"min\":10,\"max\":100,\"buckets\":[[10,1],[100,1]]}"
#define NONE "{\"count\":0,\"overflow\":0,\"sum\":0,\"min\":null,\"max\":null,\"buckets\":[]}"
#define COUNTS(attempted, ok, failed)                                                              \
    "\"elapsed_ns\":1000,\"attempted\":" attempted ",\"ok\":" ok                                   \
    ",\"busy\":0,\"conflict\":0,\"failed\":" failed ",\"retries\":4"
#define PART                                                                                       \
    COUNTS("3", "2", "1") ",\"latency\":" TWO ",\"errors\":[{\"message\":\"full\",\"count\":1}]"
#define RESULT(closed, bare, paced, in_flight)                                                     \
    "{\"closed\":{" closed "},\"bare\":{\"lateness\":" bare "},\"paced\":{" paced                  \
    "},\"in_flight\":[" in_flight "]}"
#define PACED "\"interval_ns\":666,\"lateness\":" TWO "," PART

static int read_text(const char *text, struct result **owner, struct result_event_loop **out,
                     struct error *error)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    *owner = result_new();
    assert_non_null(*owner);
    struct result_engine *engine = result_list_add(&(*owner)->engines);
    assert_non_null(engine);
    result_engine_init(engine);
    *out = &engine->event_loop;
    int status = event_loop_read(json, *out, error);
    json_decref(json);
    return status;
}

static void test_read(void **state)
{
    (void)state;
    struct result *owner;
    struct result_event_loop *loop;
    struct error error = ERROR_INIT;
    assert_int_equal(
        read_text(RESULT(PART, NONE, PACED, "{\"in_flight\":4," PART "}"), &owner, &loop, &error),
        0);
    assert_int_equal(loop->closed.in_flight, 1);
    assert_int_equal(loop->closed.attempted, 3);
    assert_int_equal(loop->closed.retries, 4);
    assert_true(loop->closed.executions_per_second == 2e6);
    assert_string_equal(loop->closed.errors.items[0], "full");
    assert_true(loop->closed.tail.p50_ns == 10);
    assert_true(loop->closed.tail.p99_ns == 100);
    assert_true(loop->closed.tail.max_ns == 100);
    assert_true(loop->closed.tail.p99_thin);
    assert_true(isnan(loop->bare_lateness.p50_ns));
    assert_int_equal(loop->interval_ns, 666);
    assert_true(loop->lateness.p99_ns == 100);
    assert_int_equal(loop->in_flight.count, 1);
    assert_int_equal(loop->in_flight.items[0].in_flight, 4);
    assert_int_equal(loop->in_flight.items[0].ok, 2);
    result_free(owner);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "closed is missing"},
        {"{\"closed\":{},\"bare\":[]}", "bare is missing or no object"},
        {RESULT(COUNTS("4", "2", "1") ",\"latency\":" TWO, NONE, PACED, ""), "do not add up"},
        {RESULT(COUNTS("2", "1", "1") ",\"latency\":" TWO, NONE, PACED, ""),
         "latency counts other"},
        {RESULT(COUNTS("2", "2", "0"), NONE, PACED, ""), "latency"},
        {RESULT(PART, "3", PACED, ""), "event_loop: bare: lateness"},
        {RESULT(PART, NONE, "\"lateness\":" TWO "," PART, ""), "interval_ns"},
        {RESULT(PART, NONE, "\"interval_ns\":5," PART, ""), "event_loop: paced: lateness"},
        {RESULT(PART, NONE, PACED, "{" PART "}"), "in_flight"},
        {RESULT(PART, NONE, PACED, "{\"in_flight\":4}"), "elapsed_ns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *owner;
        struct result_event_loop *loop;
        struct error error = ERROR_INIT;
        int status = read_text(cases[i].text, &owner, &loop, &error);
        if (status != ERROR_PROTOCOL || strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: %d, %s", i, status, error.message);
        }
        /* Nothing that could be mistaken for a figure is left, but for the log. */
        *(char **)result_list_add(&loop->log) = strdup("a line");
        result_event_loop_forget(loop);
        assert_int_equal(loop->closed.attempted + loop->paced.attempted + loop->in_flight.count, 0);
        assert_null(loop->closed.tail.latency.histogram);
        assert_string_equal(loop->log.items[0], "a line");
        result_free(owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
