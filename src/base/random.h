/*
 * The random generator of all workloads: sfc32 (Doty-Humphrey's "small fast
 * counting" generator in PractRand: three 32-bit words of chaotic state and a
 * counter, period at least 2^32 for every seed, about 2^127 on average).
 * Only 32-bit operations, so every language gives the same numbers;
 * tests/vectors/random.json holds them together.
 *
 * Streams: random_init() mixes (seed, purpose, connection, script) into the
 * three words; tuples that differ in one input differ in every word. Twelve
 * outputs are discarded first.
 */
#ifndef PITOT_BASE_RANDOM_H
#define PITOT_BASE_RANDOM_H

#include <stdint.h>

/* What a stream is drawn for: warm-up and measured part never share one. */
enum random_purpose {
    RANDOM_LOAD = 0,
    RANDOM_MIX = 1,
    RANDOM_PARAMETERS = 2,
    RANDOM_WARMUP_MIX = 3,
    RANDOM_WARMUP_PARAMETERS = 4,
    RANDOM_PACING = 5,
    RANDOM_VERIFY = 6,
    RANDOM_ORDER = 7,
};

struct random {
    uint32_t a, b, c, counter;
};

/* Each of the three words hashes all four inputs by itself, so that two streams meet
 * only if 96 bits agree. Word i (0, 1, 2) starts at h = 0x70697430 ("pit0") ^
 * i * 0x9E3779B9, runs seed, purpose, connection and script in this order through
 * h = fmix32(h ^ input) * 0x85EBCA6B + 0xC2B2AE35, and is then
 * fmix32(h ^ (i + 1) * 0x9E3779B9). All products are taken modulo 2^32; fmix32 is
 * MurmurHash3's 32-bit finalizer: h ^= h >> 16, h *= 0x85EBCA6B, h ^= h >> 13,
 * h *= 0xC2B2AE35, h ^= h >> 16. a, b, c are words 0, 1, 2; the counter starts at 1. */
void random_init(struct random *random, uint32_t seed, enum random_purpose purpose,
                 uint32_t connection, uint32_t script);

static inline uint32_t random_next(struct random *random)
{
    uint32_t result = random->a + random->b + random->counter++;
    random->a = random->b ^ (random->b >> 9);
    random->b = random->c + (random->c << 3);
    random->c = ((random->c << 21) | (random->c >> 11)) + result;
    return result;
}

/* Uniform integer in [0, n - 1], 1 <= n <= 2^54, without bias: the bits needed
 * for n - 1 are drawn and values >= n are drawn again. Up to 32 bits take one
 * draw, (draw & mask), also for n = 1; more take two, high word first:
 * (high & mask) * 2^32 + low, and both are drawn again. */
uint64_t random_below(struct random *random, uint64_t n);

/* Uniform double in [0, 1) with 53 bits: two draws x then y,
 * ((x >> 5) * 2^26 + (y >> 6)) / 2^53. */
double random_unit(struct random *random);

/* Integers in [lo, hi], lo <= hi, |lo|, |hi| <= 2^53 - 1, with the distributions and
 * arguments of pgbench's functions of these names (parameter ranges are checked
 * by the caller: gaussian >= 2, exponential > 0, zipfian in [1.001, 1000]).
 *
 * The formulas hold for IEEE doubles, operation by operation in the order written, so
 * that another language gives the same integers, but for the one in about 2^52 / n
 * where a last bit of log, exp, sin or pow decides. unit() is random_unit(), so that
 * 1 - unit() lies in (0, 1]; n = hi - lo + 1 as a double; scale(f) is
 * lo + floor(n * f), but never above hi. */

/* A normal curve that is cut at `parameter` standard deviations on both sides,
 * its middle at (lo + hi) / 2. Box and Muller's transform, drawn again until it fits:
 *     do u = 1 - unit(), v = unit(), z = sqrt(-2 * log(u)) * sin(2 * pi * v)
 *     until |z| < parameter
 *     scale((z + parameter) / (2 * parameter)) */
int64_t random_gaussian(struct random *random, int64_t lo, int64_t hi, double parameter);

/* The inverse of an exponential distribution function that is cut at `parameter`;
 * lo is the most frequent value:
 *     cut = exp(-parameter), u = 1 - unit()
 *     scale(-log(cut + (1 - cut) * u) / parameter) */
int64_t random_exponential(struct random *random, int64_t lo, int64_t hi, double parameter);

/* lo + k - 1 with P(k) proportional to k^-parameter, 1 <= k <= n. By rejection (Devroye,
 * Non-Uniform Random Variate Generation, 1986, X.6.1), s = parameter; n = 1 draws
 * nothing. Slow for s close to 1, as the tail beyond n is drawn and thrown away:
 *     b = pow(2, s - 1)
 *     do u = 1 - unit(), v = unit(), x = floor(pow(u, -1 / (s - 1))),
 *        t = pow(1 + 1 / x, s - 1)
 *     until x <= n and v * x * (t - 1) / (b - 1) <= t / b
 *     lo + (x - 1) */
int64_t random_zipfian(struct random *random, int64_t lo, int64_t hi, double parameter);

/* The gap between two arrivals of a Poisson process, with mean 1 and at most 37:
 *     -log(1 - unit()) */
double random_gap(struct random *random);

#endif
