#include "statistics/student.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PI 3.14159265358979323846

static void assert_close(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) {
        fail_msg("%.17g instead of %.17g", found, expected);
    }
}

/* Upper critical values, three decimals. Tails 0.1 to 0.005: NIST/SEMATECH e-Handbook of
 * Statistical Methods, 1.3.6.7.2. Tails 0.001 and 0.0005: E. T. Federighi, Extended Tables of the
 * Percentage Points of Student's t-Distribution, Journal of the American Statistical Association 54
 * (1959). */
static void quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    static const double tails[] = {0.1, 0.05, 0.025, 0.01, 0.005, 0.001, 0.0005};
    static const struct {
        double df, t[COUNT(tails)];
    } rows[] = {
        {1, {3.078, 6.314, 12.706, 31.821, 63.657, 318.309, 636.619}},
        {2, {1.886, 2.920, 4.303, 6.965, 9.925, 22.327, 31.599}},
        {3, {1.638, 2.353, 3.182, 4.541, 5.841, 10.215, 12.924}},
        {4, {1.533, 2.132, 2.776, 3.747, 4.604, 7.173, 8.610}},
        {5, {1.476, 2.015, 2.571, 3.365, 4.032, 5.893, 6.869}},
        {6, {1.440, 1.943, 2.447, 3.143, 3.707, 5.208, 5.959}},
        {7, {1.415, 1.895, 2.365, 2.998, 3.499, 4.785, 5.408}},
        {8, {1.397, 1.860, 2.306, 2.896, 3.355, 4.501, 5.041}},
        {9, {1.383, 1.833, 2.262, 2.821, 3.250, 4.297, 4.781}},
        {14, {1.345, 1.761, 2.145, 2.624, 2.977, 3.787, 4.140}},
        {29, {1.311, 1.699, 2.045, 2.462, 2.756, 3.396, 3.659}},
        {(double)INFINITY, {1.282, 1.645, 1.960, 2.326, 2.576, 3.090, 3.291}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t j = 0; j < COUNT(tails); j++) {
            double t = student_quantile(tails[j], rows[i].df);
            if (!(fabs(t - rows[i].t[j]) < 0.0006)) {
                fail_msg("df %g, tail %g: %.6f, the table says %.3f", rows[i].df, tails[j], t,
                         rows[i].t[j]);
            }
        }
    }
}

/* Where the distribution function has a closed form (N. L. Johnson, S. Kotz, N. Balakrishnan,
 * Continuous Univariate Distributions 2, chapter 28). */
static void tails_follow_the_closed_forms(void **state)
{
    (void)state;
    static const double points[] = {1e-6, 0.01, 0.3, 1, 1.7, 2.5, 4, 9, 30, 1e3, 1e8};
    for (size_t i = 0; i < COUNT(points); i++) {
        double t = points[i];
        assert_close(student_tail(t, 1), atan2(1, t) / PI, 1e-13);
        double root = sqrt(2 + t * t);
        assert_close(student_tail(t, 2), 1 / (root * (root + t)), 1e-13);
        assert_close(student_tail(t, (double)INFINITY), 0.5 * erfc(t / sqrt(2)), 1e-12);
    }
}

/* 1/2 of the regularised incomplete beta function, computed with 50 digits (mpmath 1.3); above a df
 * of 2000 the integral of the density or, for a small tail, 1/2 less the series in 200 digits. */
static void tails_have_all_digits_for_any_df(void **state)
{
    (void)state;
    static const struct {
        double t, df, tail;
    } cases[] = {
        {0.001, 4.5, 0.49962245325607580094},
        {0.5, 0.7, 0.36520084334116501239},
        {1.3, 2.5, 0.15024339463535411796},
        {2.0, 8.1, 0.04003777160697169498},
        {3.46, 9, 0.0035804039744134455533},
        {5, 13.37, 0.00011164868217036743562},
        {12, 29.9, 2.927067377746913314e-13},
        {40, 5.5, 2.7052549945230501689e-8},
        {1.1, 250.25, 0.13619457287899272047},
        {6, 1000.5, 1.3774599973507805356e-9},
        {2.5, 50000.5, 0.0062112538896693846363},
        {2.5, 99999.5, 0.0062104596002509920001},
        {2.5, 100000.5, 0.0062104595923080930974},
        {7, 150000.25, 1.2851510762728708952e-12},
        {20, 200000.5, 3.3657435777267600981e-89},
        {3, 1e9, 0.0013498980648689578339},
        {2.5, (double)INFINITY, 0.006209665325776135167},
        {8, (double)INFINITY, 6.2209605742717841235e-16},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_close(student_tail(cases[i].t, cases[i].df), cases[i].tail, 1e-13);
        assert_close(student_cdf(-cases[i].t, cases[i].df), cases[i].tail, 1e-13);
        assert_close(student_tail(-cases[i].t, cases[i].df), 1 - cases[i].tail, 1e-15);
    }
}

/* Found with 50 digits, as above. */
static void quantiles_have_all_digits_for_any_df(void **state)
{
    (void)state;
    static const struct {
        double tail, df, t;
    } cases[] = {
        {0.025, 2.5, 3.5746548420036831273},
        {0.005, 8.1, 3.3433848333800579381},
        {1e-4, 13.37, 5.0613603924857903932},
        {0.2, 0.7, 1.7588267314034589959},
        {1e-9, 4.5, 144.53766345843913651},
        {0.0005, 136.875, 3.363027378097163018},
        {0.025, (double)INFINITY, 1.9599639845400542118},
        {1e-12, (double)INFINITY, 7.0344838253011319326},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_close(student_quantile(cases[i].tail, cases[i].df), cases[i].t, 1e-13);
    }
    /* Near the middle the absolute error counts. */
    assert_true(fabs(student_quantile(0.4999, 3.3) - 0.00027010476901353182466) < 1e-15);
    assert_true(student_quantile(0.5, 7) == 0);
    assert_true(student_quantile(0.75, 7) == -student_quantile(0.25, 7));
}

static void a_quantile_has_its_tail_everywhere(void **state)
{
    (void)state;
    for (double df = 0.1; df < 1e7; df *= 1.7) {
        for (double tail = 0.49; tail > 1e-12; tail /= 3) {
            double t = student_quantile(tail, df);
            if (isinf(t)) {
                /* Beyond the largest double; nothing else gives infinity. */
                assert_true(student_tail(1.7e308, df) > tail);
                continue;
            }
            assert_close(student_tail(t, df), tail, 1e-12);
        }
    }
}

static void extremes_are_defined(void **state)
{
    (void)state;
    assert_true(student_tail((double)INFINITY, 3) == 0);
    assert_true(student_tail(-(double)INFINITY, 3) == 1);
    assert_true(student_cdf(0, 3) == 0.5);
    /* 1 / (pi t) for df = 1, where t² has no double */
    assert_close(student_tail(1e200, 1), 1e-200 / PI, 1e-13);
    assert_true(student_tail(1e200, 9) == 0);
    assert_true(isinf(student_quantile(1e-200, 0.1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(tails_follow_the_closed_forms),
        cmocka_unit_test(tails_have_all_digits_for_any_df),
        cmocka_unit_test(quantiles_have_all_digits_for_any_df),
        cmocka_unit_test(a_quantile_has_its_tail_everywhere),
        cmocka_unit_test(extremes_are_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
