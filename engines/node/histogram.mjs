/* The buckets of src/core/histogram.h, on a part of a Float64Array: log-linear, 128 buckets a
 * power of two, each at most 1/128 of its lower bound wide. */

export const HISTOGRAM_MAX_NS = 3600000000000;
export const HISTOGRAM_BUCKETS = (41 - 6) * 128 + 128;

/* Bucket of a whole number from 0 to HISTOGRAM_MAX_NS. */
export function histogram_index(value) {
    if (value < 128) {
        return value;
    }
    if (value < 4294967296) {
        const e = 31 - Math.clz32(value);
        return (e - 6) * 128 + (value >>> (e - 7)) - 128;
    }
    /* 16 bits less leave the 7 that matter below the highest one. */
    const upper = Math.floor(value / 65536);
    const e = 31 - Math.clz32(upper);
    return (e + 10) * 128 + (upper >>> (e - 7)) - 128;
}

export function histogram_lower(index) {
    return index < 128 ? index : (128 + (index % 128)) * 2 ** (Math.floor(index / 128) - 1);
}
