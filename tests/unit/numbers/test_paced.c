/* Reads that are due at fixed moments: each is done, failed for a lock, or missed. */
#include "core/clock.h"
#include "numbers/paced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DUE = 20, IDS = 1000 };
#define LENGTH_NS (DUE * NS_PER_MS)

struct script {
    uint64_t calls;
    uint64_t slow_call; /* this one takes slow_ns; 0: none */
    uint64_t slow_ns;
    uint64_t busy_every;
    uint64_t fail_call;
};

static int read_scripted(void *context, int64_t from, bool *busy, struct error *error)
{
    struct script *script = context;
    script->calls++;
    assert_true(from >= 0 && from < IDS);
    if (script->calls == script->slow_call) {
        clock_sleep_until_ns(clock_now_ns() + script->slow_ns);
    }
    *busy = script->busy_every > 0 && script->calls % script->busy_every == 0;
    return script->calls == script->fail_call ? error_set(error, ERROR_ENGINE, "broken") : 0;
}

static struct paced *run(struct script *script, int expected)
{
    struct paced *paced = malloc(sizeof *paced);
    struct error error = ERROR_INIT;
    assert_non_null(paced);
    paced_reset(paced);
    assert_int_equal(paced_run(paced, LENGTH_NS, IDS, read_scripted, script, &error), expected);
    assert_int_equal(paced->due, DUE);
    return paced;
}

static void test_every_moment_is_accounted_for(void **state)
{
    (void)state;
    struct script script = {.busy_every = 4};
    struct paced *paced = run(&script, 0);
    assert_int_equal(paced->busy, script.calls / 4);
    assert_int_equal(paced->latency.count + paced->busy + paced->missed, DUE);
    assert_int_equal(paced->service.count, paced->latency.count);
    free(paced);
}

/* A slow read delays those behind it, whose latency counts from when they were due. */
static void test_a_slow_read(void **state)
{
    (void)state;
    struct script script = {.slow_call = 1, .slow_ns = LENGTH_NS / 2};
    struct paced *paced = run(&script, 0);
    /* Nine were due meanwhile, and waited for 9, 8, … ms. */
    assert_true(paced->latency.count > 1);
    assert_true(paced->latency.sum >= paced->service.sum + 45 * NS_PER_MS);
    free(paced);
}

/* What could not begin is missed, not forgotten. */
static void test_a_read_that_hangs(void **state)
{
    (void)state;
    struct script script = {.slow_call = 1, .slow_ns = LENGTH_NS + 5 * NS_PER_MS};
    struct paced *paced = run(&script, 0);
    assert_int_equal(script.calls, 1);
    assert_int_equal(paced->missed, DUE - 1);
    assert_int_equal(paced->latency.count, 1);
    assert_true(paced->service.min >= LENGTH_NS);
    assert_true(paced->latency.min >= paced->service.min);
    free(paced);
}

static void test_an_error_ends_it(void **state)
{
    (void)state;
    struct script script = {.fail_call = 3};
    struct paced *paced = run(&script, ERROR_ENGINE);
    assert_int_equal(script.calls, 3);
    assert_int_equal(paced->latency.count, 2);
    free(paced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_moment_is_accounted_for),
        cmocka_unit_test(test_a_slow_read),
        cmocka_unit_test(test_a_read_that_hangs),
        cmocka_unit_test(test_an_error_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
