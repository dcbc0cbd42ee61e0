#include "statistics/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void verdicts_follow_interval_floor_and_direction(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double mean, half_width;
        struct verdict_terms terms; /* floor, higher is better, closed loop */
        enum verdict verdict;
    } cases[] = {
        {10, 0.05, 0.03, {0.01, true, false}, VERDICT_FASTER},
        {10, -0.05, 0.03, {0.01, true, false}, VERDICT_SLOWER},
        {10, 0.05, 0.03, {0.01, false, false}, VERDICT_SLOWER},
        {10, -0.05, 0.03, {0.01, false, false}, VERDICT_FASTER},
        /* The interval holds 1, its end included. */
        {10, 0.05, 0.06, {0.01, true, false}, VERDICT_NONE},
        {10, 0.05, 0.05, {0.01, true, false}, VERDICT_NONE},
        {10, 0, 0, {0, true, false}, VERDICT_NONE},
        /* The ratio does not exceed the floor. */
        {10, 0.05, 0.03, {0.05, true, false}, VERDICT_NONE},
        {10, -0.05, 0.03, {0.06, false, false}, VERDICT_NONE},
        /* It counts where the ratio is, not where its interval ends. */
        {10, 0.05, 0.045, {0.049, true, false}, VERDICT_FASTER},
        {3, 0.05, 0.03, {0.01, true, false}, VERDICT_FASTER},
        {2, 5, 0.03, {0.01, true, false}, VERDICT_FEW_ROUNDS},
        {1, 5, (double)INFINITY, {0.01, true, false}, VERDICT_FEW_ROUNDS},
        {0, (double)NAN, (double)INFINITY, {0.01, true, false}, VERDICT_FEW_ROUNDS},
        {10, 0.5, 0.03, {0.01, false, true}, VERDICT_CLOSED_LOOP},
        {10, 0, 0.03, {0.01, false, true}, VERDICT_CLOSED_LOOP},
        {2, 5, 0.03, {0.01, false, true}, VERDICT_CLOSED_LOOP},
        /* What is no number claims nothing. */
        {10, (double)NAN, 0.03, {0.01, true, false}, VERDICT_NONE},
        {10, 0.05, (double)NAN, {0.01, true, false}, VERDICT_NONE},
        {10, 0.05, 0.03, {(double)NAN, true, false}, VERDICT_NONE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct interval interval = {
            .n = cases[i].n, .mean = cases[i].mean, .half_width = cases[i].half_width};
        enum verdict found = verdict_of(&interval, &cases[i].terms);
        if (found != cases[i].verdict) {
            fail_msg("case %zu: %s instead of %s", i, verdict_text(found),
                     verdict_text(cases[i].verdict));
        }
    }
}

static void only_two_verdicts_claim_something(void **state)
{
    (void)state;
#define X(name, text)                                                                              \
    assert_true(verdict_claims(VERDICT_##name) ==                                                  \
                (VERDICT_##name == VERDICT_FASTER || VERDICT_##name == VERDICT_SLOWER));
    VERDICTS(X)
#undef X
}

static void texts_are_those_that_results_carry(void **state)
{
    (void)state;
    assert_string_equal(verdict_text(VERDICT_FASTER), "faster");
    assert_string_equal(verdict_text(VERDICT_SLOWER), "slower");
    assert_string_equal(verdict_text(VERDICT_NONE), "no difference shown");
    assert_string_equal(verdict_text(VERDICT_CLOSED_LOOP), "closed loop");
    assert_string_equal(verdict_text(VERDICT_FEW_ROUNDS), "too few rounds");
    assert_string_equal(verdict_text(VERDICT_NOT_COMPARABLE), "not comparable");
    assert_string_equal(verdict_text(VERDICT_MISSING), "missing");
    assert_string_equal(verdict_text(VERDICT_UNABLE), "unable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_interval_floor_and_direction),
        cmocka_unit_test(only_two_verdicts_claim_something),
        cmocka_unit_test(texts_are_those_that_results_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
