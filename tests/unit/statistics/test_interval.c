#include "core/histogram.h"
#include "statistics/interval.h"
#include "statistics/student.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ABSENT (double)NAN

static void assert_close(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) {
        fail_msg("%.17g instead of %.17g", found, expected);
    }
}

/* NIST Statistical Reference Datasets, univariate: NumAcc1 (mean 10000002, deviation 1) and
 * NumAcc3 (mean 1000000.2, deviation 0.1), certified for the data as decimals. */
static void moments_keep_their_digits(void **state)
{
    (void)state;
    static const double first[] = {10000001, 10000003, 10000002};
    struct moments moments = moments_of(first, 3);
    assert_true(moments.n == 3 && moments.mean == 10000002 && moments.variance == 1);

    double third[1001];
    third[0] = 1000000.2;
    for (size_t i = 1; i < COUNT(third); i++) {
        third[i] = i % 2 == 1 ? 1000000.1 : 1000000.3;
    }
    moments = moments_of(third, COUNT(third));
    assert_close(moments.mean, 1000000.2, 1e-15);
    assert_close(sqrt(moments.variance), 0.1, 1e-9); /* of the doubles nearest to the data */

    moments = moments_of(third, 1);
    assert_true(moments.mean == third[0] && isnan(moments.variance));
    moments = moments_of(NULL, 0);
    assert_true(moments.n == 0 && isnan(moments.mean) && isnan(moments.variance));
    static const double same[] = {0.1, 0.1, 0.1};
    assert_true(moments_of(same, 3).variance == 0);
}

static void ratios_need_two_positive_numbers(void **state)
{
    (void)state;
    assert_close(log_ratio(2, 1), 0.69314718055994530942, 1e-15);
    assert_true(log_ratio(3, 7) == -log_ratio(7, 3));
    assert_true(log_ratio(5, 5) == 0);
    static const double pairs[][2] = {{0, 1},      {1, 0},      {-1, 1},       {1, -1},
                                      {ABSENT, 1}, {1, ABSENT}, {INFINITY, 1}, {1, INFINITY}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        assert_true(isnan(log_ratio(pairs[i][0], pairs[i][1])));
    }
}

/* 1 - 0.95^(1/7) with 20 digits; all cells together leave 5 %. */
static void cells_share_what_a_table_may_miss(void **state)
{
    (void)state;
    assert_close(interval_alpha(1), 0.05, 1e-14);
    assert_close(interval_alpha(7), 0.0073008319790147011334, 1e-14);
    for (size_t cells = 1; cells < 100000; cells = cells * 3 + 1) {
        assert_close(pow(1 - interval_alpha(cells), (double)cells), 0.95, 1e-10);
    }
}

/* Half-widths of 7 rows with 2 % noise a run, computed with 50 digits: 21 %, 6.6 %, 3.1 %. */
static void the_interval_is_students_widened(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double half_width, difference;
    } cases[] = {
        {3, 0.190068424698511, 0.209332343},
        {5, 0.0637052376261461, 0.06577820114},
        {10, 0.0308374349698158, 0.03131783404},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct moments moments = {cases[i].n, 0.01, 2 * 0.02 * 0.02};
        struct interval interval = interval_paired(&moments, 0, 7);
        assert_int_equal(interval.n, cases[i].n);
        assert_close(interval.half_width, cases[i].half_width, 1e-12);
        assert_close(expm1(interval.half_width), cases[i].difference, 1e-9);
        assert_true(interval.mean == 0.01);
        assert_close(interval.ratio, exp(0.01), 1e-15);
        assert_close(interval.low, exp(0.01 - cases[i].half_width), 1e-12);
        assert_close(interval.high, exp(0.01 + cases[i].half_width), 1e-12);
    }
}

static void fewer_than_two_rounds_have_no_interval(void **state)
{
    (void)state;
    const double one[] = {0.3};
    struct moments moments = moments_of(one, 1);
    struct interval interval = interval_paired(&moments, 0, 5);
    assert_close(interval.ratio, exp(0.3), 1e-15);
    assert_true(isinf(interval.half_width) && isnan(interval.low) && isnan(interval.high));
    assert_false(interval_excludes_one(&interval));
    moments = moments_of(NULL, 0);
    interval = interval_paired(&moments, 0, 5);
    assert_true(interval.n == 0 && isnan(interval.ratio) && isinf(interval.half_width));
    assert_false(interval_excludes_one(&interval));
}

/* Rounds that agree because they fell into one bucket: the bucket's variance takes the place of
 * that of their mean. */
static void buckets_bound_the_variance(void **state)
{
    (void)state;
    const double same[] = {0.02, 0.02, 0.02, 0.02};
    struct moments moments = moments_of(same, 4);
    struct interval interval = interval_paired(&moments, 0, 1);
    assert_true(interval.half_width == 0 && interval_excludes_one(&interval));
    double variance = 2 * bucket_variance(1000);
    interval = interval_paired(&moments, variance, 1);
    assert_close(interval.half_width, student_quantile(0.025, 3) * sqrt(variance), 1e-14);
    moments.variance = 1;
    assert_true(interval_paired(&moments, variance, 1).half_width ==
                interval_paired(&moments, 0, 1).half_width);
}

static void a_buckets_variance_is_that_of_its_width(void **state)
{
    (void)state;
    /* 1000 lies in [1000, 1004): below 1024 a bucket is 512 / 128 wide. */
    assert_close(bucket_variance(1000), pow(log(1004.0 / 1000.0), 2) / 12, 1e-14);
    assert_close(bucket_variance(1003.9), bucket_variance(1000), 1e-14);
    assert_close(bucket_variance(5.5), pow(log(6.0 / 5.0), 2) / 12, 1e-14);
    assert_true(bucket_variance(1e300) > 0 && isfinite(bucket_variance(1e300)));
    assert_true(bucket_variance(1) > 0 && isfinite(bucket_variance(1)));
}

/* NIST/SEMATECH e-Handbook, 1.3.5.3, cars made in the USA and in Japan (AUTO83B.DAT): from its
 * means and deviations follow T = -12.94627 and, for Welch, 136.875 degrees of freedom; no more
 * than the 131.192 of equal variances are used. */
static void welch_agrees_with_the_published_case(void **state)
{
    (void)state;
    const struct moments usa = {249, 20.14458, 6.41470 * 6.41470};
    const struct moments japan = {79, 30.48101, 6.10771 * 6.10771};
    struct interval interval = interval_welch(&usa, 0, &japan, 0, 1);
    assert_close(interval.mean, -10.33643, 1e-6);
    assert_int_equal(interval.n, 79);
    double error = interval.half_width / student_quantile(0.025, 131.19201041212388);
    assert_close(interval.mean / error, -12.94627, 1e-6);
}

/* 3.0144 degrees of freedom, computed with 50 digits. */
static void welch_takes_whole_and_broken_degrees(void **state)
{
    (void)state;
    static const double a[] = {0.10, 0.30, 0.20, 0.05};
    static const double b[] = {0.01, 0.02, 0.03, 0.02, 0.02, 0.015};
    struct moments first = moments_of(a, COUNT(a));
    struct moments second = moments_of(b, COUNT(b));
    struct interval interval = interval_welch(&first, 0, &second, 0, 3);
    assert_close(interval.mean, 0.14333333333333333, 1e-13);
    assert_close(interval.half_width, 0.26679390274531984, 1e-11);
    assert_int_equal(interval.n, 4);
    struct interval turned = interval_welch(&second, 0, &first, 0, 3);
    assert_true(turned.mean == -interval.mean && turned.half_width == interval.half_width);
    /* Equal numbers and variances: 2 (n - 1) degrees. */
    const struct moments same = {6, 0.1, 0.01};
    interval = interval_welch(&same, 0, &same, 0, 1);
    assert_close(interval.half_width, student_quantile(0.025, 10) * sqrt(0.02 / 6), 1e-12);
    assert_true(interval.mean == 0);
}

static void welch_bounds_its_variances(void **state)
{
    (void)state;
    const struct moments still = {5, 0.1, 0};
    struct interval interval = interval_welch(&still, 0, &still, 0, 1);
    assert_true(interval.half_width == 0 && interval.mean == 0);
    interval = interval_welch(&still, 1e-6, &still, 1e-6, 1);
    assert_close(interval.half_width, student_quantile(0.025, 8) * sqrt(2e-6), 1e-12);
    const struct moments one = {1, 0.1, ABSENT};
    interval = interval_welch(&still, 0, &one, 0, 1);
    assert_true(interval.n == 1 && isinf(interval.half_width) && interval.mean == 0);
}

/* What is asked for is enough, one round less is not. */
static void more_rounds_are_as_many_as_needed(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double mean, variance, floor;
        size_t cells;
    } cases[] = {
        {3, 0.05, 0.0008, 0.01, 7}, {10, 0.02, 0.0008, 0.01, 7},   {10, -0.02, 0.0008, 0.01, 7},
        {5, 0.012, 5e-5, 0.01, 7},  {10, 0.011, 0.0002, 0.01, 28}, {2, 0.3, 0.01, 0, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct moments moments = {cases[i].n, cases[i].mean, cases[i].variance};
        size_t more = interval_more_rounds(&moments, 0, cases[i].floor, cases[i].cells);
        assert_in_range(more, 1, INTERVAL_ROUNDS_MAX);
        for (size_t less = 0; less < 2; less++) {
            size_t n = cases[i].n + more - less;
            double error = sqrt(cases[i].variance / (double)n);
            double half =
                error * student_quantile(interval_alpha(cases[i].cells) / 2, (double)n - 1);
            double short_of = error * student_quantile(0.2, (double)n - 1);
            bool enough = fabs(cases[i].mean) - short_of > fmax(half, cases[i].floor);
            /* One more is the least that is said. */
            assert_true(enough == (less == 0) || more == 1);
        }
    }
}

static void never_is_more_than_the_most(void **state)
{
    (void)state;
    const size_t never = INTERVAL_ROUNDS_MAX + 1;
    const struct moments moments = {10, 0.02, 0.0008};
    assert_int_equal(interval_more_rounds(&moments, 0, 0.02, 7), never); /* within the floor */
    assert_int_equal(interval_more_rounds(&moments, 0.02 * 0.02, 0, 7), never); /* or a bucket */
    const struct moments equal = {10, 0, 0.0008};
    assert_int_equal(interval_more_rounds(&equal, 0, 0, 7), never);
    const struct moments wide = {10, 0.02, 1};
    assert_int_equal(interval_more_rounds(&wide, 0, 0, 7), never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_keep_their_digits),
        cmocka_unit_test(ratios_need_two_positive_numbers),
        cmocka_unit_test(cells_share_what_a_table_may_miss),
        cmocka_unit_test(the_interval_is_students_widened),
        cmocka_unit_test(fewer_than_two_rounds_have_no_interval),
        cmocka_unit_test(buckets_bound_the_variance),
        cmocka_unit_test(a_buckets_variance_is_that_of_its_width),
        cmocka_unit_test(welch_agrees_with_the_published_case),
        cmocka_unit_test(welch_takes_whole_and_broken_degrees),
        cmocka_unit_test(welch_bounds_its_variances),
        cmocka_unit_test(more_rounds_are_as_many_as_needed),
        cmocka_unit_test(never_is_more_than_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
