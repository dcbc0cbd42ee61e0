/* Figures of `pitot numbers` out of samples. */
#include "statistics/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct histogram *samples(uint64_t count, uint64_t ns)
{
    struct histogram *histogram = malloc(sizeof *histogram);
    assert_non_null(histogram);
    histogram_reset(histogram);
    for (uint64_t i = 0; i < count; i++) {
        histogram_add(histogram, ns * (i + 1));
    }
    return histogram;
}

static void make(struct result_numbers_line *line, const char *unit, uint64_t rows)
{
    result_numbers_line_init(line);
    line->group = strdup("pass");
    line->name = strdup("line");
    line->unit = strdup(unit);
    line->rows = rows;
}

static void test_times(void **state)
{
    (void)state;
    struct result_numbers_line line;
    make(&line, "ns", RESULT_ABSENT);
    line.pitot.latency.histogram = samples(100, 1);
    line.plain.latency.histogram = samples(1000, 1);
    assert_int_equal(summarize_numbers_line(&line), 0);
    assert_int_equal(line.pitot.count, 100);
    assert_true(line.pitot.median == 50 && line.pitot.p99 == 99 && line.pitot.slowest == 100);
    assert_true(line.pitot.p99_thin);
    assert_false(line.plain.p99_thin);
    /* Of a hundred samples nothing lies above p99 but the largest. */
    assert_true(line.pitot.curve.items[line.pitot.curve.count - 1].percentile == 100);
    assert_true(line.pitot.curve.items[line.pitot.curve.count - 2].percentile == 99);
    result_numbers_line_release(&line);
}

/* The slower a sample, the lower its rate. */
static void test_rates(void **state)
{
    (void)state;
    struct result_numbers_line line;
    make(&line, "1/s", 10);
    line.pitot.latency.histogram = samples(100, 1);
    line.plain.latency.histogram = samples(0, 1);
    assert_int_equal(summarize_numbers_line(&line), 0);
    assert_true(line.pitot.median == 10 * 1e9 / 50);
    assert_true(line.pitot.p99 == 10 * 1e9 / 99);
    assert_true(line.pitot.slowest == 10 * 1e9 / 100);
    assert_int_equal(line.plain.count, 0);
    assert_true(isnan(line.plain.median) && isnan(line.plain.p99) && isnan(line.plain.slowest));
    assert_int_equal(line.plain.curve.count, 0);
    result_numbers_line_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
