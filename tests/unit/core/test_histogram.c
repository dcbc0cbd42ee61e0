#include "core/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct histogram *new_histogram(void)
{
    struct histogram *histogram = malloc(sizeof *histogram);
    assert_non_null(histogram);
    histogram_reset(histogram);
    return histogram;
}

static void buckets_follow_each_other_without_gaps(void **state)
{
    (void)state;
    uint64_t expected = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t lower = histogram_lower(i), upper = histogram_upper(i);
        assert_int_equal(lower, expected);
        assert_true(upper > lower);
        assert_int_equal(histogram_index(lower), i);
        assert_int_equal(histogram_index(upper - 1), i);
        /* The bound of the header: 1/128 of the lower bound. */
        assert_true(upper - lower == 1 || (upper - lower) * 128 <= lower);
        expected = upper;
    }
    assert_true(histogram_index(HISTOGRAM_MAX_NS) < HISTOGRAM_BUCKETS);
}

static void an_empty_histogram_says_so(void **state)
{
    (void)state;
    struct histogram *histogram = new_histogram();
    assert_int_equal(histogram->count, 0);
    assert_int_equal(histogram->min, UINT64_MAX);
    assert_int_equal(histogram->max, 0);
    free(histogram);
}

/* Samples first, first + step, …; up to two runs. */
struct run {
    uint64_t first, step, count;
};

struct percentile_case {
    struct run runs[2];
    uint64_t expected[5]; /* p50, p95, p99, p99.9, p99.99 by nearest rank */
};

static const uint32_t points[5][2] = {{1, 2}, {95, 100}, {99, 100}, {999, 1000}, {9999, 10000}};

static const struct percentile_case percentile_cases[] = {
    {{{500000000, 0, 1}}, {500000000, 500000000, 500000000, 500000000, 500000000}},
    {{{1000, 0, 99}, {9000000, 0, 1}}, {1000, 1000, 1000, 9000000, 9000000}},
    {{{1000, 0, 1000}, {9000000, 0, 1}}, {1000, 1000, 1000, 1000, 9000000}},
    {{{1000, 1000, 10000}}, {5000000, 9500000, 9900000, 9990000, 9999000}},
    {{{1000, 1000, 1000000}}, {500000000, 950000000, 990000000, 999000000, 999900000}},
    /* In doubles 99.9 / 100 * 10000 is a little over 9990, so that its ceiling is rank
     * 9991, and 999001 for a million. Here the next rank is another value. */
    {{{10, 0, 9990}, {100, 0, 10}}, {10, 10, 10, 10, 100}},
    {{{10, 0, 9989}, {100, 0, 11}}, {10, 10, 10, 100, 100}},
    {{{10, 0, 999000}, {100, 0, 1000}}, {10, 10, 10, 10, 100}},
    {{{10, 0, 998999}, {100, 0, 1001}}, {10, 10, 10, 100, 100}},
    /* 99.9 and 99.99 are neither 99 nor 100. */
    {{{10, 0, 999}, {100, 0, 1}}, {10, 10, 10, 10, 100}},
    {{{10, 0, 9999}, {100, 0, 1}}, {10, 10, 10, 10, 10}},
    {{{10, 0, 99}, {100, 0, 1}}, {10, 10, 10, 100, 100}},
};

static void fill(struct histogram *histogram, const struct run *runs, size_t count)
{
    for (size_t r = 0; r < count; r++) {
        for (uint64_t i = 0; i < runs[r].count; i++) {
            histogram_add(histogram, runs[r].first + runs[r].step * i);
        }
    }
}

static void percentiles_are_nearest_rank_within_the_bound(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(percentile_cases); c++) {
        const struct percentile_case *expected = &percentile_cases[c];
        struct histogram *histogram = new_histogram();
        fill(histogram, expected->runs, 2);
        uint64_t last = histogram->min;
        for (size_t p = 0; p < 5; p++) {
            uint64_t value = histogram_percentile(histogram, points[p][0], points[p][1]);
            uint64_t wanted = expected->expected[p];
            uint64_t off = value > wanted ? value - wanted : wanted - value;
            assert_true(off * 128 <= wanted);
            if (wanted < 256) { /* buckets of one value */
                assert_int_equal(value, wanted);
            }
            assert_true(histogram->min <= value && value <= histogram->max);
            assert_true(value >= last);
            last = value;
        }
        free(histogram);
    }
}

/* Every rank of many small histograms: within the extremes, never falling, and in
 * the bucket of the true sample. */
static void all_percentiles_stay_between_min_and_max(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 127, 128, 1000, 1003, 1003, 1004, 9000000, 123456789, 98765432100, HISTOGRAM_MAX_NS};
    for (size_t from = 0; from < COUNT(values); from++) {
        for (size_t to = from; to < COUNT(values); to++) {
            struct histogram *histogram = new_histogram();
            for (size_t i = from; i <= to; i++) {
                histogram_add(histogram, values[i]);
            }
            uint32_t count = (uint32_t)(to - from + 1);
            uint64_t last = 0;
            for (uint32_t rank = 1; rank <= count; rank++) {
                uint64_t value = histogram_percentile(histogram, rank, count);
                assert_true(histogram->min <= value && value <= histogram->max);
                assert_true(value >= last);
                assert_int_equal(histogram_index(value), histogram_index(values[from + rank - 1]));
                last = value;
            }
            free(histogram);
        }
    }
}

static void samples_over_an_hour_are_kept(void **state)
{
    (void)state;
    struct histogram *histogram = new_histogram();
    histogram_add(histogram, 5);
    histogram_add(histogram, HISTOGRAM_MAX_NS);
    histogram_add(histogram, HISTOGRAM_MAX_NS + 1);
    histogram_add(histogram, UINT64_MAX);
    assert_int_equal(histogram->count, 4);
    assert_int_equal(histogram->overflow, 2);
    assert_int_equal(histogram->sum, UINT64_MAX); /* saturated, not wrapped */
    assert_int_equal(histogram->max, UINT64_MAX);
    assert_int_equal(histogram_percentile(histogram, 1, 4), 5);
    uint64_t hour = histogram_percentile(histogram, 2, 4);
    assert_int_equal(histogram_index(hour), histogram_index(HISTOGRAM_MAX_NS));
    assert_true(hour <= HISTOGRAM_MAX_NS);
    assert_int_equal(histogram_percentile(histogram, 3, 4), UINT64_MAX);
    assert_int_equal(histogram_percentile(histogram, 4, 4), UINT64_MAX);
    free(histogram);
}

/* Counts whose product with a numerator or a width passes 64 bits. */
static void huge_counts_stay_exact(void **state)
{
    (void)state;
    struct histogram *histogram = new_histogram();
    const uint64_t half = UINT64_C(1) << 62;
    histogram->count = 2 * half;
    histogram->min = 100;
    histogram->max = HISTOGRAM_MAX_NS;
    histogram->buckets[100] = half;
    histogram->buckets[histogram_index(HISTOGRAM_MAX_NS)] = half;
    assert_int_equal(histogram_percentile(histogram, 500000, 1000000), 100);
    uint64_t value = histogram_percentile(histogram, 500001, 1000000);
    assert_int_equal(histogram_index(value), histogram_index(HISTOGRAM_MAX_NS));
    value = histogram_percentile(histogram, 999999, 1000000);
    assert_true(value <= HISTOGRAM_MAX_NS);
    free(histogram);
}

static void merging_is_adding(void **state)
{
    (void)state;
    struct histogram *whole = new_histogram(), *a = new_histogram(), *b = new_histogram();
    struct histogram *empty = new_histogram();
    for (uint64_t i = 1; i <= 10000; i++) {
        uint64_t value = i * i * 37;
        histogram_add(whole, value);
        histogram_add(i % 3 == 0 ? a : b, value);
    }
    histogram_add(whole, HISTOGRAM_MAX_NS + 7);
    histogram_add(b, HISTOGRAM_MAX_NS + 7);
    histogram_merge(a, b);
    histogram_merge(a, empty);
    assert_memory_equal(a, whole, sizeof *whole);
    histogram_merge(empty, whole);
    assert_memory_equal(empty, whole, sizeof *whole);
    a->sum = UINT64_MAX - 1;
    histogram_merge(a, b);
    assert_int_equal(a->sum, UINT64_MAX);
    free(whole);
    free(a);
    free(b);
    free(empty);
}

static void the_mean_is_of_the_values(void **state)
{
    (void)state;
    struct histogram *histogram = new_histogram();
    histogram_add(histogram, 1001); /* shares a bucket with the next */
    histogram_add(histogram, 1002);
    assert_true(histogram_mean(histogram) == 1001.5);
    free(histogram);
}

static void test_thin(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        uint32_t numerator, denominator;
        bool thin;
    } cases[] = {
        {0, 50, 100, true},           {19, 50, 100, true},        {20, 50, 100, false},
        {999, 99, 100, true},         {1000, 99, 100, false},     {9999, 999, 1000, true},
        {10000, 999, 1000, false},    {99999, 9999, 10000, true}, {100000, 9999, 10000, false},
        {UINT64_MAX, 99, 100, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(histogram_thin(cases[i].count, cases[i].numerator, cases[i].denominator),
                         cases[i].thin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thin),
        cmocka_unit_test(buckets_follow_each_other_without_gaps),
        cmocka_unit_test(an_empty_histogram_says_so),
        cmocka_unit_test(percentiles_are_nearest_rank_within_the_bound),
        cmocka_unit_test(all_percentiles_stay_between_min_and_max),
        cmocka_unit_test(samples_over_an_hour_are_kept),
        cmocka_unit_test(huge_counts_stay_exact),
        cmocka_unit_test(merging_is_adding),
        cmocka_unit_test(the_mean_is_of_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
