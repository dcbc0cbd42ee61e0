#include "cli/list.h"

#include "base/buffer.h"
#include "base/text.h"

#include <stdbool.h>
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

static int add_name(const char *label, const char *what, const char *name, const char *const *known,
                    size_t *out, size_t *count, struct error *error)
{
    size_t index = 0;
    while (known[index] != NULL && strcmp(known[index], name) != 0) {
        index++;
    }
    if (known[index] == NULL) {
        return unknown_name(label, what, name, known, error);
    }
    for (size_t i = 0; i < *count; i++) {
        if (out[i] == index) {
            return error_set(error, ERROR_INVALID, "%s: the %s %s is named twice", label, what,
                             name);
        }
    }
    out[(*count)++] = index;
    return 0;
}

int list_of_names(const char *label, const char *what, const char *text, const char *const *known,
                  size_t *out, size_t *count, struct error *error)
{
    int code = 0;
    *count = 0;
    if (text == NULL) {
        for (; known[*count] != NULL; (*count)++) {
            out[*count] = *count;
        }
        return 0;
    }
    for (const char *at = text; code == 0; at++) {
        size_t length = strcspn(at, ",");
        char *name = strndup(at, length);
        if (name == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory for %s", label);
        }
        code = length > 0 ? add_name(label, what, name, known, out, count, error)
                          : error_set(error, ERROR_INVALID,
                                      "%s: \"%s\" has an empty place where a %s should be named",
                                      label, text, what);
        free(name);
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    return code;
}
