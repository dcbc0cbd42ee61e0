/* What the structs of a result are made of: lists, and times as histograms and curves. */
#ifndef PITOT_RESULT_BASICS_H
#define PITOT_RESULT_BASICS_H

#include "core/histogram.h"

#include <stddef.h>
#include <stdint.h>

#define RESULT_ABSENT UINT64_MAX

/* A growing array of owned things: items, count. */
#define RESULT_LIST(type)                                                                          \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count;                                                                              \
    }

typedef RESULT_LIST(char *) result_strings;

/* Appends a zeroed item to a list and gives its address, or NULL (out of memory):
 *     struct result_run *run = result_list_add(&engine->runs); */
#define result_list_add(list)                                                                      \
    result_list_grow((void **)&(list)->items, &(list)->count, sizeof(*(list)->items))
void *result_list_grow(void **items, size_t *count, size_t item_size);

struct result_latency {
    struct histogram *histogram; /* NULL while nothing was measured */
};

/* A point of the curve of all rounds' samples together. */
struct result_curve_point {
    double percentile; /* 0 to 100 */
    uint64_t value_ns;
};
typedef RESULT_LIST(struct result_curve_point) result_curve;

#endif
