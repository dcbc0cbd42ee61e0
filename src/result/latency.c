#include "result/latency.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

static json_t *buckets_to_json(const struct histogram *histogram)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0) {
            continue;
        }
        json_t *pair = json_pack("[o, o]", json_integer(i), json_wire_u64(histogram->buckets[i]));
        if (json_array_append_new(array, pair) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

json_t *latency_to_json(const struct histogram *histogram)
{
    if (histogram == NULL) {
        return json_null();
    }
    bool empty = histogram->count == 0;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "count", json_wire_u64(histogram->count), "overflow",
        json_wire_u64(histogram->overflow), "sum", json_wire_u64(histogram->sum), "min",
        empty ? json_null() : json_wire_u64(histogram->min), "max",
        empty ? json_null() : json_wire_u64(histogram->max), "buckets", buckets_to_json(histogram));
}

/* One [index, count]; `previous` is the index before, or -1. */
static int bucket_from_json(const json_t *pair, size_t position, int64_t previous,
                            const char *where, struct histogram *histogram, int64_t *index,
                            uint64_t *total, struct error *error)
{
    const json_t *first = json_array_get(pair, 0);
    uint64_t count = 0;
    if (json_array_size(pair) != 2 || !json_is_integer(first)) {
        return error_set(error, ERROR_INVALID, "%s.buckets[%zu]: expected [index, count]", where,
                         position);
    }
    *index = json_integer_value(first);
    if (*index <= previous || *index >= (int64_t)HISTOGRAM_BUCKETS) {
        return error_set(error, ERROR_INVALID,
                         "%s.buckets[%zu]: index %" PRId64
                         ", expected one above the index before and below %u",
                         where, position, *index, HISTOGRAM_BUCKETS);
    }
    /* base/json.h reads numbers, also those that are strings, by key. */
    json_t *keyed = json_pack("{s:O}", "count", json_array_get(pair, 1));
    if (keyed == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while reading a histogram");
    }
    int status = json_get_u64(keyed, "count", where, &count, error);
    json_decref(keyed);
    if (status != 0) {
        return status;
    }
    if (count == 0 || __builtin_add_overflow(*total, count, total)) {
        return error_set(error, ERROR_INVALID, "%s.buckets[%zu]: count %" PRIu64 " cannot be",
                         where, position, count);
    }
    histogram->buckets[*index] = count;
    return 0;
}

/* min and max must lie in the outermost filled buckets (max beyond the range with overflow). */
static bool ends_fit(const struct histogram *histogram, int64_t first, int64_t last)
{
    if (histogram->count == 0) {
        return histogram->min == UINT64_MAX && histogram->max == 0;
    }
    if (histogram->min > histogram->max) {
        return false;
    }
    bool min_fits = first < 0 ? histogram->min > HISTOGRAM_MAX_NS
                              : histogram->min <= HISTOGRAM_MAX_NS &&
                                    (int64_t)histogram_index(histogram->min) == first;
    bool max_fits = histogram->overflow > 0 ? histogram->max > HISTOGRAM_MAX_NS
                                            : histogram->max <= HISTOGRAM_MAX_NS &&
                                                  (int64_t)histogram_index(histogram->max) == last;
    return min_fits && max_fits;
}

static int histogram_fill(const json_t *json, const char *where, struct histogram *histogram,
                          struct error *error)
{
    json_t *buckets = NULL;
    int status;

    histogram_reset(histogram);
    if ((status = json_get_u64(json, "count", where, &histogram->count, error)) != 0 ||
        (status = json_get_u64(json, "overflow", where, &histogram->overflow, error)) != 0 ||
        (status = json_get_u64(json, "sum", where, &histogram->sum, error)) != 0 ||
        (status = json_get_u64_or(json, "min", where, UINT64_MAX, &histogram->min, error)) != 0 ||
        (status = json_get_u64_or(json, "max", where, 0, &histogram->max, error)) != 0 ||
        (status = json_get_array(json, "buckets", where, &buckets, error)) != 0) {
        return status;
    }
    int64_t first = -1;
    int64_t index = -1;
    uint64_t total = 0;
    for (size_t i = 0; i < json_array_size(buckets); i++) {
        status = bucket_from_json(json_array_get(buckets, i), i, index, where, histogram, &index,
                                  &total, error);
        if (status != 0) {
            return status;
        }
        first = first < 0 ? index : first;
    }
    if (histogram->overflow > histogram->count || total != histogram->count - histogram->overflow) {
        return error_set(error, ERROR_INVALID,
                         "%s: the buckets add up to %" PRIu64 ", but count is %" PRIu64
                         " and overflow %" PRIu64,
                         where, total, histogram->count, histogram->overflow);
    }
    if (!ends_fit(histogram, first, index)) {
        return error_set(error, ERROR_INVALID,
                         "%s: min and max do not lie in the first and the last bucket", where);
    }
    return 0;
}

int latency_from_json(const json_t *json, const char *where, struct histogram **out,
                      struct error *error)
{
    *out = NULL;
    if (!json_is_object(json)) {
        return error_set(error, ERROR_INVALID, "%s: expected an object", where);
    }
    struct histogram *histogram = malloc(sizeof(*histogram));
    if (histogram == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while reading a histogram");
    }
    int status = histogram_fill(json, where, histogram, error);
    if (status != 0) {
        free(histogram);
        return status;
    }
    *out = histogram;
    return 0;
}
