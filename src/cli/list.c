#include "cli/list.h"

#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

static int unknown_name(const char *label, const char *what, const char *name,
                        const char *const *known, struct error *error)
{
    struct buffer all;
    buffer_init(&all);
    for (size_t i = 0; known[i] != NULL; i++) {
        buffer_printf(&all, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    const char *nearest = text_nearest(name, known);
    int code = error_set(error, ERROR_INVALID, "%s: there is no %s \"%s\"%s%s%s; there are %s",
                         label, what, name, nearest != NULL ? " (did you mean " : "",
                         nearest != NULL ? nearest : "", nearest != NULL ? "?)" : "", all.data);
    buffer_release(&all);
    return code;
}

/* Calls `add` with each place of a list. */
static int each_place(const char *label, const char *what, const char *text,
                      int (*add)(void *context, const char *place, struct error *error),
                      void *context, struct error *error)
{
    int code = 0;
    for (const char *at = text; code == 0; at++) {
        size_t length = strcspn(at, ",");
        char *place = strndup(at, length);
        if (place == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory for %s", label);
        }
        code = length > 0 ? add(context, place, error)
                          : error_set(error, ERROR_INVALID,
                                      "%s: \"%s\" has an empty place where a %s should be named",
                                      label, text, what);
        free(place);
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    return code;
}

struct names {
    const char *label, *what;
    const char *const *known;
    size_t *out;
    size_t *count;
};

static int add_name(void *context, const char *name, struct error *error)
{
    const struct names *names = context;
    size_t index = 0;
    while (names->known[index] != NULL && strcmp(names->known[index], name) != 0) {
        index++;
    }
    if (names->known[index] == NULL) {
        return unknown_name(names->label, names->what, name, names->known, error);
    }
    for (size_t i = 0; i < *names->count; i++) {
        if (names->out[i] == index) {
            return error_set(error, ERROR_INVALID, "%s: the %s %s is named twice", names->label,
                             names->what, name);
        }
    }
    names->out[(*names->count)++] = index;
    return 0;
}

int list_of_names(const char *label, const char *what, const char *text, const char *const *known,
                  size_t *out, size_t *count, struct error *error)
{
    struct names names = {label, what, known, out, count};
    *count = 0;
    if (text == NULL) {
        for (; known[*count] != NULL; (*count)++) {
            out[*count] = *count;
        }
        return 0;
    }
    return each_place(label, what, text, add_name, &names, error);
}

struct counts {
    const char *label, *what;
    uint64_t min, max;
    RESULT_LIST(uint64_t) list;
};

static int add_count(void *context, const char *place, struct error *error)
{
    struct counts *counts = context;
    uint64_t value;
    int code = units_count(counts->label, place, counts->min, counts->max, &value, error);
    for (size_t i = 0; code == 0 && i < counts->list.count; i++) {
        if (counts->list.items[i] == value) {
            code = error_set(error, ERROR_INVALID, "%s: the %s %s is named twice", counts->label,
                             counts->what, place);
        }
    }
    if (code == 0) {
        uint64_t *added = result_list_add(&counts->list);
        if (added == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory for %s", counts->label);
        }
        *added = value;
    }
    return code;
}

int list_of_counts(const char *label, const char *what, const char *text, uint64_t min,
                   uint64_t max, uint64_t **out, size_t *count, struct error *error)
{
    struct counts counts = {.label = label, .what = what, .min = min, .max = max};
    int code = each_place(label, what, text, add_count, &counts, error);
    if (code != 0) {
        free(counts.list.items);
        counts.list.items = NULL;
        counts.list.count = 0;
    }
    *out = counts.list.items;
    *count = counts.list.count;
    return code;
}
