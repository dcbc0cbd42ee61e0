#include "base/random.h"

#include "core/hash.h"

#include <assert.h>
#include <math.h>

#define GOLDEN UINT32_C(0x9E3779B9)

void random_init(struct random *random, uint32_t seed, enum random_purpose purpose,
                 uint32_t connection, uint32_t script)
{
    const uint32_t inputs[4] = {seed, (uint32_t)purpose, connection, script};
    uint32_t words[3];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t h = UINT32_C(0x70697430) ^ (i * GOLDEN);
        for (int k = 0; k < 4; k++) {
            h = hash_mix32(h ^ inputs[k]) * UINT32_C(0x85EBCA6B) + UINT32_C(0xC2B2AE35);
        }
        words[i] = hash_mix32(h ^ ((i + 1) * GOLDEN));
    }
    *random = (struct random){.a = words[0], .b = words[1], .c = words[2], .counter = 1};
    for (int i = 0; i < 12; i++) {
        random_next(random);
    }
}

/* The smallest 2^k - 1 that is not below x. */
static uint32_t mask_of(uint32_t x)
{
    return x == 0 ? 0 : UINT32_MAX >> __builtin_clz(x);
}

uint64_t random_below(struct random *random, uint64_t n)
{
    assert(n >= 1 && n <= UINT64_C(1) << 54);
    uint64_t last = n - 1;
    uint64_t drawn;
    if (last <= UINT32_MAX) {
        uint32_t mask = mask_of((uint32_t)last);
        do {
            drawn = random_next(random) & mask;
        } while (drawn > last);
        return drawn;
    }
    uint32_t mask = mask_of((uint32_t)(last >> 32));
    do {
        uint64_t high = random_next(random) & mask;
        drawn = high << 32 | random_next(random);
    } while (drawn > last);
    return drawn;
}

double random_unit(struct random *random)
{
    uint32_t x = random_next(random) >> 5;
    uint32_t y = random_next(random) >> 6;
    return ((double)x * 67108864.0 + (double)y) / 9007199254740992.0;
}

/* lo + floor(n * fraction) for a fraction in [0, 1), n = hi - lo + 1. All in
 * doubles, as a language without 64-bit integers does it; rounding may reach
 * hi + 1, so the ends are kept by hand. */
static int64_t scale(int64_t lo, int64_t hi, double fraction)
{
    double n = (double)hi - (double)lo + 1.0;
    double value = (double)lo + floor(n * fraction);
    if (value > (double)hi) {
        return hi;
    }
    return value < (double)lo ? lo : (int64_t)value;
}

int64_t random_gaussian(struct random *random, int64_t lo, int64_t hi, double parameter)
{
    double z;
    do {
        double u = 1.0 - random_unit(random);
        double v = random_unit(random);
        z = sqrt(-2.0 * log(u)) * sin(2.0 * 3.141592653589793 * v);
    } while (!(fabs(z) < parameter));
    return scale(lo, hi, (z + parameter) / (2.0 * parameter));
}

int64_t random_exponential(struct random *random, int64_t lo, int64_t hi, double parameter)
{
    double cut = exp(-parameter);
    double u = 1.0 - random_unit(random);
    return scale(lo, hi, -log(cut + (1.0 - cut) * u) / parameter);
}

int64_t random_zipfian(struct random *random, int64_t lo, int64_t hi, double parameter)
{
    double n = (double)hi - (double)lo + 1.0;
    if (n <= 1.0) {
        return lo;
    }
    double exponent = parameter - 1.0;
    double b = pow(2.0, exponent);
    double x, t, v;
    do {
        double u = 1.0 - random_unit(random);
        v = random_unit(random);
        x = floor(pow(u, -1.0 / exponent));
        t = pow(1.0 + 1.0 / x, exponent);
        /* An infinite x fails the first comparison. */
    } while (!(x <= n) || !(v * x * (t - 1.0) / (b - 1.0) <= t / b));
    double value = (double)lo + (x - 1.0);
    return value > (double)hi ? hi : (int64_t)value;
}

double random_gap(struct random *random)
{
    return -log(1.0 - random_unit(random));
}
