/*
 * The random generator of all workloads: sfc32 (Doty-Humphrey's "small fast
 * counting" generator in PractRand: three 32-bit words of chaotic state and a
 * counter, period at least 2^32 for every seed, about 2^127 on average).
 * Only 32-bit operations, so every language gives the same numbers;
 * tests/vectors/random.json holds them together.
 *
 * Streams: random_init() mixes (seed, purpose, connection, script) into the
 * three words; different tuples are different starting points. Twelve outputs
 * are discarded first.
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

/* The three words are w[i] = fmix32(h ^ (i + 1) * 0x9E3779B9) where h runs the
 * four inputs through h = fmix32(h ^ input) * 0x85EBCA6B + 0xC2B2AE35, starting
 * at h = 0x70697430 ("pit0"), and fmix32 is MurmurHash3's 32-bit finalizer; the
 * counter starts at 1. */
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
 * draw, (draw & mask); more take two, high word first: (high & mask) * 2^32 + low. */
uint64_t random_below(struct random *random, uint64_t n);

/* Uniform double in [0, 1) with 53 bits: two draws x then y,
 * ((x >> 5) * 2^26 + (y >> 6)) / 2^53. */
double random_unit(struct random *random);

/* Integer in [lo, hi], lo <= hi, |lo|, |hi| <= 2^53 - 1, with the distributions and
 * arguments of pgbench's functions of these names (parameter ranges are checked
 * by the caller: gaussian >= 2, exponential > 0, zipfian in [1.001, 1000]). */
int64_t random_gaussian(struct random *random, int64_t lo, int64_t hi, double parameter);
int64_t random_exponential(struct random *random, int64_t lo, int64_t hi, double parameter);
int64_t random_zipfian(struct random *random, int64_t lo, int64_t hi, double parameter);

#endif
