/* What the vectors cannot show: that streams differ and that the numbers have the shape
 * they should. All seeds are fixed, so every figure here is a fact, not a chance. */
#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WIDEST (INT64_C(9007199254740991))

static int by_state(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct random));
}

static void no_two_streams_are_the_same(void **state)
{
    (void)state;
    enum { SEEDS = 4, PURPOSES = 8, CONNECTIONS = 256, SCRIPTS = 32 };
    const size_t count = (size_t)SEEDS * PURPOSES * CONNECTIONS * SCRIPTS;
    struct random *streams = calloc(count, sizeof *streams);
    assert_non_null(streams);
    size_t i = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        for (int purpose = 0; purpose < PURPOSES; purpose++) {
            for (uint32_t connection = 0; connection < CONNECTIONS; connection++) {
                for (uint32_t script = 0; script < SCRIPTS; script++) {
                    random_init(&streams[i++], seed, (enum random_purpose)purpose, connection,
                                script);
                }
            }
        }
    }
    qsort(streams, count, sizeof *streams, by_state);
    for (i = 1; i < count; i++) {
        assert_memory_not_equal(&streams[i - 1], &streams[i], sizeof *streams);
    }
    free(streams);
}

/* Chi-square of `cells` equally likely counts out of `total`. */
static double chi_square(const uint32_t *counts, size_t cells, double total)
{
    double expected = total / (double)cells;
    double sum = 0;
    for (size_t i = 0; i < cells; i++) {
        double off = (double)counts[i] - expected;
        sum += off * off / expected;
    }
    return sum;
}

/* Mean cells - 1, standard deviation sqrt(2 * (cells - 1)): five of them are allowed. */
static bool plausible(double chi, size_t cells)
{
    double freedom = (double)cells - 1.0;
    return fabs(chi - freedom) < 5.0 * sqrt(2.0 * freedom);
}

static void bounds_are_unbiased_and_draws_independent(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {2, 3, 6, 10, 24};
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        uint64_t n = bounds[b];
        uint32_t single[24] = {0}, pairs[24 * 24] = {0};
        struct random random;
        random_init(&random, 5, RANDOM_PARAMETERS, 0, (uint32_t)b);
        uint64_t last = random_below(&random, n);
        enum { DRAWS = 200000 };
        for (int i = 0; i < DRAWS; i++) {
            uint64_t drawn = random_below(&random, n);
            assert_true(drawn < n);
            single[drawn]++;
            pairs[last * n + drawn]++;
            last = drawn;
        }
        assert_true(plausible(chi_square(single, n, DRAWS), n));
        assert_true(plausible(chi_square(pairs, n * n, DRAWS), n * n));
    }
}

/* Two connections with neighbouring numbers must not run in step. */
static void neighbouring_streams_are_independent(void **state)
{
    (void)state;
    struct random a, b;
    uint32_t pairs[256] = {0};
    random_init(&a, 1, RANDOM_PARAMETERS, 0, 0);
    random_init(&b, 1, RANDOM_PARAMETERS, 1, 0);
    enum { DRAWS = 200000 };
    for (int i = 0; i < DRAWS; i++) {
        pairs[random_below(&a, 16) * 16 + random_below(&b, 16)]++;
    }
    assert_true(plausible(chi_square(pairs, 256, DRAWS), 256));
}

static void wide_bounds_reach_both_ends(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 3, RANDOM_PARAMETERS, 0, 0);
    static const uint64_t bounds[] = {(UINT64_C(1) << 32) + 1, (UINT64_C(1) << 53) + 1,
                                      UINT64_C(1) << 54};
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        uint32_t tenths[10] = {0};
        for (int i = 0; i < 20000; i++) {
            uint64_t drawn = random_below(&random, bounds[b]);
            assert_true(drawn < bounds[b]);
            tenths[(size_t)((double)drawn / (double)bounds[b] * 10.0)]++;
        }
        assert_true(plausible(chi_square(tenths, 10, 20000), 10));
    }
}

static void units_stay_below_one(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 4, RANDOM_PACING, 0, 0);
    uint32_t cells[100] = {0};
    for (int i = 0; i < 200000; i++) {
        double unit = random_unit(&random);
        assert_true(unit >= 0.0 && unit < 1.0);
        cells[(size_t)(unit * 100.0)]++;
    }
    assert_true(plausible(chi_square(cells, 100, 200000), 100));
    /* All 64 bits set give the largest one. */
    assert_true((134217727.0 * 67108864.0 + 67108863.0) / 9007199254740992.0 < 1.0);
}

typedef int64_t (*distribution)(struct random *, int64_t, int64_t, double);

static void distributions_stay_in_their_range(void **state)
{
    (void)state;
    static const struct {
        distribution draw;
        double parameters[4];
    } kinds[] = {
        {random_gaussian, {2.0, 2.5, 10.0, 1000.0}},
        {random_exponential, {1e-300, 1.07e-15, 5.0, 1e6}},
        {random_zipfian, {1.001, 1.5, 2.0, 1000.0}},
    };
    static const int64_t ranges[][2] = {
        {5, 5},
        {-1, 0},
        {0, 1},
        {-WIDEST, -WIDEST},
        {WIDEST, WIDEST},
        {-WIDEST, WIDEST},
        {WIDEST - 1, WIDEST},
        {1, 10},
        {0, WIDEST},
    };
    struct random random;
    random_init(&random, 6, RANDOM_PARAMETERS, 0, 0);
    for (size_t d = 0; d < sizeof kinds / sizeof kinds[0]; d++) {
        for (size_t p = 0; p < 4; p++) {
            for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
                for (int i = 0; i < 200; i++) {
                    int64_t drawn =
                        kinds[d].draw(&random, ranges[r][0], ranges[r][1], kinds[d].parameters[p]);
                    assert_true(ranges[r][0] <= drawn && drawn <= ranges[r][1]);
                }
            }
        }
    }
}

enum { SHAPE_DRAWS = 200000, SHAPE_CELLS = 10 };

static void count_shape(distribution draw, double parameter, double share[SHAPE_CELLS])
{
    struct random random;
    uint32_t counts[SHAPE_CELLS] = {0};
    random_init(&random, 8, RANDOM_PARAMETERS, 0, 0);
    for (int i = 0; i < SHAPE_DRAWS; i++) {
        counts[draw(&random, 1, SHAPE_CELLS, parameter) - 1]++;
    }
    for (int i = 0; i < SHAPE_CELLS; i++) {
        share[i] = (double)counts[i] / SHAPE_DRAWS;
    }
}

/* Five standard deviations of a share of SHAPE_DRAWS. */
static void assert_share(double found, double expected)
{
    assert_true(fabs(found - expected) < 5.0 * sqrt(expected * (1.0 - expected) / SHAPE_DRAWS));
}

static double normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static void distributions_have_their_shape(void **state)
{
    (void)state;
    double share[SHAPE_CELLS];
    const double gaussian = 2.5;
    count_shape(random_gaussian, gaussian, share);
    for (int k = 0; k < SHAPE_CELLS; k++) {
        double from = gaussian * (2.0 * k / SHAPE_CELLS - 1.0);
        double to = gaussian * (2.0 * (k + 1) / SHAPE_CELLS - 1.0);
        assert_share(share[k],
                     (normal(to) - normal(from)) / (normal(gaussian) - normal(-gaussian)));
    }
    const double exponential = 3.0;
    count_shape(random_exponential, exponential, share);
    for (int k = 0; k < SHAPE_CELLS; k++) {
        assert_share(share[k], (exp(-exponential * k / SHAPE_CELLS) -
                                exp(-exponential * (k + 1) / SHAPE_CELLS)) /
                                   (1.0 - exp(-exponential)));
    }
    const double zipfian[] = {1.001, 1.5, 3.0};
    for (int z = 0; z < 3; z++) {
        double total = 0;
        for (int k = 1; k <= SHAPE_CELLS; k++) {
            total += pow(k, -zipfian[z]);
        }
        count_shape(random_zipfian, zipfian[z], share);
        for (int k = 1; k <= SHAPE_CELLS; k++) {
            assert_share(share[k - 1], pow(k, -zipfian[z]) / total);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_streams_are_the_same),
        cmocka_unit_test(bounds_are_unbiased_and_draws_independent),
        cmocka_unit_test(neighbouring_streams_are_independent),
        cmocka_unit_test(wide_bounds_reach_both_ends),
        cmocka_unit_test(units_stay_below_one),
        cmocka_unit_test(distributions_stay_in_their_range),
        cmocka_unit_test(distributions_have_their_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
