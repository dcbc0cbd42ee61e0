/* Counts by second, and what happens when the hour is over. */
#include "worker/seconds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t total(const struct seconds *seconds, uint32_t entry, bool slow)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < seconds->capacity; i++) {
        sum += slow ? seconds_slow(seconds, i, entry) : seconds_operations(seconds, i, entry);
    }
    return sum;
}

static void edges(void **state)
{
    (void)state;
    struct seconds seconds;
    struct error error = ERROR_INIT;
    assert_int_equal(seconds_init(&seconds, 2, 5 * NS_PER_S, &error), 0);
    const uint64_t start = 1234567;
    seconds_restart(&seconds, start);
    seconds_add(&seconds, 0, 0, start);
    seconds_add(&seconds, 0, 1, start + NS_PER_S - 1);
    seconds_add(&seconds, 1, 1, start + NS_PER_S);
    seconds_add(&seconds, 0, 0, start + 4 * NS_PER_S + 5);
    assert_int_equal(seconds.index, 4);
    assert_int_equal(seconds_operations(&seconds, 0, 0), 2);
    assert_int_equal(seconds_slow(&seconds, 0, 0), 1);
    assert_int_equal(seconds_operations(&seconds, 0, 1), 0);
    assert_int_equal(seconds_operations(&seconds, 1, 1), 1);
    assert_int_equal(seconds_slow(&seconds, 1, 1), 1);
    assert_int_equal(seconds_operations(&seconds, 2, 0), 0);
    assert_int_equal(seconds_operations(&seconds, 4, 0), 1);
    seconds_restart(&seconds, 99);
    assert_int_equal(total(&seconds, 0, false) + total(&seconds, 1, true), 0);
    assert_int_equal(seconds.index, 0);
    seconds_release(&seconds);
}

/* One execution a second for many hours: none is lost, and each lies where it belongs. */
static void hours(void **state)
{
    (void)state;
    const uint32_t lengths[] = {3599, 3600, 3601, 7200, 7201, 100000};
    for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
        struct seconds seconds;
        struct error error = ERROR_INIT;
        assert_int_equal(seconds_init(&seconds, 1, UINT64_MAX, &error), 0);
        seconds_restart(&seconds, 0);
        for (uint64_t i = 0; i < lengths[k]; i++) {
            seconds_add(&seconds, 0, i % 2, i * NS_PER_S + 7);
        }
        assert_int_equal(total(&seconds, 0, false), lengths[k]);
        assert_int_equal(total(&seconds, 0, true), lengths[k] / 2);
        uint64_t width = seconds.width_ns / NS_PER_S;
        assert_int_equal(seconds.index, (lengths[k] - 1) / width);
        for (uint32_t i = 0; i < seconds.index; i++) {
            assert_int_equal(seconds_operations(&seconds, i, 0), width);
        }
        assert_true(seconds.end_ns > (lengths[k] - 1) * NS_PER_S + 7);
        assert_true(width == 1 || width * SECONDS_CAPACITY / 2 <= lengths[k]);
        seconds_release(&seconds);
    }
}

static void widened_to_a_neighbour(void **state)
{
    (void)state;
    struct seconds seconds;
    struct error error = ERROR_INIT;
    assert_int_equal(seconds_init(&seconds, 1, 9 * NS_PER_S, &error), 0);
    seconds_restart(&seconds, 0);
    for (uint64_t i = 0; i < 9; i++) {
        seconds_add(&seconds, 0, 0, i * NS_PER_S);
    }
    seconds_widen(&seconds, 4 * NS_PER_S);
    assert_int_equal(seconds.index, 2);
    assert_int_equal(seconds_operations(&seconds, 0, 0), 4);
    assert_int_equal(seconds_operations(&seconds, 1, 0), 4);
    assert_int_equal(seconds_operations(&seconds, 2, 0), 1);
    seconds_release(&seconds);
}

static void longer_than_planned(void **state)
{
    (void)state;
    struct seconds seconds;
    struct error error = ERROR_INIT;
    assert_int_equal(seconds_init(&seconds, 1, 1, &error), 0);
    seconds_restart(&seconds, 0);
    seconds_add(&seconds, 0, 0, 0);
    seconds_add(&seconds, 0, 0, 1000000 * NS_PER_S);
    assert_int_equal(total(&seconds, 0, false), 2);
    seconds_release(&seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),
        cmocka_unit_test(hours),
        cmocka_unit_test(widened_to_a_neighbour),
        cmocka_unit_test(longer_than_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
