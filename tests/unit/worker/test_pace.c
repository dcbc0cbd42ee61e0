/* Arrivals of an open loop, the wait for them, and what is left of them. */
#include "core/clock.h"
#include "worker/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static atomic_bool stop;

static void arrivals_are_the_sum_of_gaps(void **state)
{
    (void)state;
    struct pace pace = {0};
    struct random random;
    double sum = 0;
    pace_start(&pace, 9, 3, 1500.5, 1000);
    random_init(&random, 9, RANDOM_PACING, 3, 0);
    for (int i = 0; i < 1000; i++) {
        sum += random_gap(&random) * 1500.5;
        assert_int_equal(pace.due_ns, 1000 + (uint64_t)sum);
        pace_next(&pace);
    }
    /* A Poisson process: 1000 gaps have a mean within 5 standard deviations of theirs. */
    assert_true(fabs(sum / 1000 / 1500.5 - 1) < 5 / sqrt(1000));
    struct pace other = {0};
    pace_start(&other, 9, 4, 1500.5, 1000);
    pace_start(&pace, 9, 3, 1500.5, 1000);
    assert_int_not_equal(other.due_ns, pace.due_ns);
}

static void nothing_begins_before_it_is_due(void **state)
{
    (void)state;
    for (int sharing = 0; sharing < 2; sharing++) {
        struct pace pace = {.sharing_cores = sharing == 1};
        atomic_store(&stop, false);
        pace_prepare_thread();
        pace_start(&pace, 1, 0, 200e3, clock_now_ns());
        for (int i = 0; i < 100; i++) {
            pace_wait(&pace, UINT64_MAX, &stop);
            assert_true(clock_now_ns() >= pace.due_ns);
            assert_true(pace.early_ns > 0 && pace.early_ns <= PACE_EARLY_MAX_NS);
            pace_next(&pace);
        }
    }
}

static void the_wait_ends_at_the_limit_and_at_stop(void **state)
{
    (void)state;
    struct pace pace = {0};
    atomic_store(&stop, false);
    uint64_t now = clock_now_ns();
    pace_start(&pace, 1, 0, 1e14, now);
    assert_true(pace.due_ns > now + 100 * NS_PER_S);
    uint64_t limit = now + 2 * NS_PER_MS;
    pace_wait(&pace, limit, &stop);
    assert_true(clock_now_ns() >= limit);
    atomic_store(&stop, true);
    pace_wait(&pace, UINT64_MAX, &stop); /* a day, otherwise */
    /* Centuries are no moment, but still lie ahead. */
    for (int i = 0; i < 100000; i++) {
        pace_next(&pace);
    }
    assert_true(pace.due_ns > now + UINT64_C(1000000000) * NS_PER_S);
}

static void backlog(void **state)
{
    (void)state;
    struct pace pace = {0};
    pace_start(&pace, 5, 0, 1000, 0);
    uint64_t due[200];
    for (int i = 0; i < 200; i++) {
        due[i] = pace.due_ns;
        pace_next(&pace);
    }
    for (int begun = 0; begun < 200; begun += 33) {
        pace_start(&pace, 5, 0, 1000, 0);
        for (int i = 0; i < begun; i++) {
            pace_next(&pace);
        }
        assert_int_equal(pace_backlog(&pace, due[199], 1000), 199 - begun);
        pace_start(&pace, 5, 0, 1000, 0);
        assert_int_equal(pace_backlog(&pace, due[begun] + 1, 1000), begun + 1);
    }
    /* Beyond count_max the rest is told from the time: the mean, within 5 of its deviations. */
    pace_start(&pace, 5, 0, 1000, 0);
    double estimated = (double)pace_backlog(&pace, 1000 * UINT64_C(1000000), 10000);
    assert_true(fabs(estimated - 1e6) < 5 * sqrt(10000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_are_the_sum_of_gaps),
        cmocka_unit_test(nothing_begins_before_it_is_due),
        cmocka_unit_test(the_wait_ends_at_the_limit_and_at_stop),
        cmocka_unit_test(backlog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
