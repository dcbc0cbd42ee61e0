/* A histogram as JSON: the same form in a result and on the wire of the worker protocol. */
#ifndef PITOT_RESULT_LATENCY_H
#define PITOT_RESULT_LATENCY_H

#include "core/error.h"
#include "core/histogram.h"

#include <jansson.h>

/* {"count":…,"overflow":…,"sum":…,"min":…,"max":…,"buckets":[[index,count],…]} with the filled
 * buckets only, in ascending order; null for NULL; min and max are null while count is 0. A new
 * reference, NULL when out of memory. */
json_t *latency_to_json(const struct histogram *histogram);

/* The reverse, for untrusted input. `where` names the object in messages. A histogram whose bucket
 * counts do not add up to count - overflow, or whose min and max do not lie in its first and last
 * bucket, is refused: percentiles rely on both. `*out` is new (free()). ERROR_INVALID, or
 * ERROR_PROTOCOL for a key that is missing or of a wrong type, or ERROR_MEMORY. */
int latency_from_json(const json_t *json, const char *where, struct histogram **out,
                      struct error *error);

#endif
