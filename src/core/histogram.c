#include "core/histogram.h"

#include <assert.h>
#include <string.h>

/* Products of a count and a width or a numerator pass 64 bits. */
__extension__ typedef unsigned __int128 wide;

_Static_assert(sizeof(struct histogram) == HISTOGRAM_BUCKETS * 8 + 40,
               "the size that the header states");

void histogram_reset(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->min = UINT64_MAX;
}

uint64_t histogram_lower(uint32_t index)
{
    if (index < HISTOGRAM_SUB_COUNT) {
        return index;
    }
    uint32_t shift = index / HISTOGRAM_SUB_COUNT - 1;
    return (uint64_t)(HISTOGRAM_SUB_COUNT + index % HISTOGRAM_SUB_COUNT) << shift;
}

uint64_t histogram_upper(uint32_t index)
{
    return histogram_lower(index + 1);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    into->count += from->count;
    into->overflow += from->overflow;
    if (__builtin_add_overflow(into->sum, from->sum, &into->sum)) {
        into->sum = UINT64_MAX;
    }
    if (from->min < into->min) {
        into->min = from->min;
    }
    if (from->max > into->max) {
        into->max = from->max;
    }
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
}

/* The value of sample `rank` (from 1) of the `count` in a bucket: the samples are
 * taken to lie in the middle of `count` equal parts of [lower, upper). */
static uint64_t interpolate(uint64_t lower, uint64_t upper, uint64_t rank, uint64_t count)
{
    return lower + (uint64_t)((wide)(upper - lower) * ((wide)rank * 2 - 1) / ((wide)count * 2));
}

uint64_t histogram_percentile(const struct histogram *histogram, uint32_t numerator,
                              uint32_t denominator)
{
    assert(histogram->count > 0);
    assert(numerator > 0 && numerator <= denominator && denominator <= 1000000);
    uint64_t count = histogram->count;
    uint64_t rank = (uint64_t)(((wide)count * numerator + denominator - 1) / denominator);
    if (rank <= 1) {
        return histogram->min;
    }
    /* No sample in a bucket lies beyond this. */
    uint64_t top = histogram->max < HISTOGRAM_MAX_NS ? histogram->max : HISTOGRAM_MAX_NS;
    uint64_t below = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && rank < count; i++) {
        uint64_t here = histogram->buckets[i];
        if (rank <= below + here) {
            uint64_t lower = histogram_lower(i);
            uint64_t upper = histogram_upper(i);
            lower = lower < histogram->min ? histogram->min : lower;
            upper = upper > top ? top + 1 : upper;
            return interpolate(lower, upper, rank - below, here);
        }
        below += here;
    }
    return histogram->max;
}

bool histogram_thin(uint64_t count, uint32_t numerator, uint32_t denominator)
{
    assert(numerator < denominator);
    return (wide)count * (denominator - numerator) < (wide)10 * denominator;
}

double histogram_mean(const struct histogram *histogram)
{
    assert(histogram->count > 0);
    return (double)histogram->sum / (double)histogram->count;
}
