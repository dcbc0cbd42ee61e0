/*
 * Latency histogram: log-linear buckets over integer nanoseconds.
 *
 * Values below 128 have a bucket each. From there every power of two is cut into
 * 128 buckets of equal width, so a bucket is at most 1/128 (0.79 %) of its lower
 * bound wide. Range: 0 to HISTOGRAM_MAX_NS (1 h); a larger value is counted in
 * `overflow` and in max, never dropped. Size: HISTOGRAM_BUCKETS * 8 bytes + 40.
 *
 *     index(v) = v                                       v < 128
 *     index(v) = (e - 6) * 128 + (v >> (e - 7)) - 128    e = floor(log2 v)
 *
 * The index fits a language whose numbers are doubles (no step needs more than
 * 53 bits): workers in other languages use the same buckets.
 *
 * Percentiles are by nearest rank: the value of rank ceil(p * count), in exact
 * integer arithmetic (p is a fraction of two integers, since 99.9/100*10000 is
 * not 9990 in doubles), interpolated linearly inside the bucket by rank, and
 * never outside [min, max]. Sample r of the c in a bucket [lower, upper), cut to
 * [min, max] and the range, is lower + floor((upper - lower) * (2r - 1) / 2c). Rank 1 is min,
 * rank count is max, and so is every rank among the overflowing samples.
 * Histograms are merged by adding, never averaged.
 *
 * Not thread-safe: one histogram has one writer; read or merge it afterwards.
 */
#ifndef PITOT_CORE_HISTOGRAM_H
#define PITOT_CORE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_SUB_COUNT (1u << HISTOGRAM_SUB_BITS)
#define HISTOGRAM_MAX_NS UINT64_C(3600000000000)
/* floor(log2 3.6e12) is 41: the bucket of HISTOGRAM_MAX_NS is in the last block. */
#define HISTOGRAM_BUCKETS ((41u - 6u) * HISTOGRAM_SUB_COUNT + HISTOGRAM_SUB_COUNT)

struct histogram {
    uint64_t count;    /* all samples, overflow included */
    uint64_t overflow; /* samples above HISTOGRAM_MAX_NS */
    uint64_t sum;      /* ns, saturating */
    uint64_t min;      /* UINT64_MAX while count is 0 */
    uint64_t max;      /* 0 while count is 0 */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_reset(struct histogram *histogram);

/* Index of the bucket of a value <= HISTOGRAM_MAX_NS. */
static inline uint32_t histogram_index(uint64_t value)
{
    if (value < HISTOGRAM_SUB_COUNT) {
        return (uint32_t)value;
    }
    uint32_t e = 63u - (uint32_t)__builtin_clzll(value);
    return (e - (HISTOGRAM_SUB_BITS - 1)) * HISTOGRAM_SUB_COUNT +
           (uint32_t)(value >> (e - HISTOGRAM_SUB_BITS)) - HISTOGRAM_SUB_COUNT;
}

/* Lowest value of a bucket, and the first value beyond it. */
uint64_t histogram_lower(uint32_t index);
uint64_t histogram_upper(uint32_t index);

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->count++;
    if (__builtin_add_overflow(histogram->sum, value, &histogram->sum)) {
        histogram->sum = UINT64_MAX;
    }
    if (value < histogram->min) {
        histogram->min = value;
    }
    if (value > histogram->max) {
        histogram->max = value;
    }
    if (__builtin_expect(value > HISTOGRAM_MAX_NS, 0)) {
        histogram->overflow++;
        return;
    }
    histogram->buckets[histogram_index(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

/* Value at the percentile numerator/denominator (99.9 % is 999, 1000), in ns.
 * Needs count > 0 and 0 < numerator <= denominator <= 1000000. */
uint64_t histogram_percentile(const struct histogram *histogram, uint32_t numerator,
                              uint32_t denominator);

/* True when fewer than 10 of `count` samples lie above the percentile numerator/denominator (below
 * 1): count * (1 - p) < 10. Such a percentile says little. */
bool histogram_thin(uint64_t count, uint32_t numerator, uint32_t denominator);

/* sum / count as a double; needs count > 0. */
double histogram_mean(const struct histogram *histogram);

#endif
