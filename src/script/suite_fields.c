#include "script/suite_fields.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int field_bad(const struct fields *fields, const char *format, ...)
{
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return error_set(fields->error, ERROR_INVALID, "%s: %s", fields->file, message);
}

int field_no_memory(const struct fields *fields)
{
    return error_set(fields->error, ERROR_MEMORY, "%s: out of memory", fields->file);
}

int field_object(const struct fields *fields, const json_t *object, const char *where,
                 const char *const *known)
{
    if (!json_is_object(object)) {
        return field_bad(fields, "%s must be an object, {…}",
                         where[0] != '\0' ? where : "the file");
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0) {
            i++;
        }
        if (known[i] != NULL) {
            continue;
        }
        const char *nearest = text_nearest(key, known);
        return field_bad(fields, "unknown key \"%.64s\"%s%s%s%s%s", key,
                         where[0] != '\0' ? " in " : "", where,
                         nearest != NULL ? ": did you mean \"" : "", nearest != NULL ? nearest : "",
                         nearest != NULL ? "\"?" : "");
    }
    return 0;
}

const char *field_place(char out[FIELD_PLACE_SIZE], const char *where, const char *key)
{
    snprintf(out, FIELD_PLACE_SIZE, "%.160s%s%.64s", where, where[0] != '\0' ? "." : "", key);
    return out;
}

int field_string(const struct fields *fields, const json_t *object, const char *where,
                 const char *key, const char **out)
{
    char place[FIELD_PLACE_SIZE];
    const json_t *value = json_object_get(object, key);
    *out = json_string_value(value);
    if (value == NULL) {
        return field_bad(fields, "%s is missing", field_place(place, where, key));
    }
    if (*out == NULL || strlen(*out) != json_string_length(value)) {
        return field_bad(fields, "%s must be a text, \"…\"", field_place(place, where, key));
    }
    return 0;
}

bool field_is_name(const char *text, bool variable)
{
    size_t length = strlen(text);
    bool fits = length >= 1 && length <= 64;
    for (size_t i = 0; fits && i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        fits = letter || (i > 0 && ((c >= '0' && c <= '9') || (!variable && c == '-')));
    }
    return fits;
}

int field_name(const struct fields *fields, const json_t *object, const char *where,
               const char *key, char **out)
{
    const char *text;
    int rc = field_string(fields, object, where, key, &text);
    if (rc != 0) {
        return rc;
    }
    char place[FIELD_PLACE_SIZE];
    if (!field_is_name(text, false)) {
        return field_bad(
            fields,
            "%s is \"%.64s\": a name has 1 to 64 letters, digits, _ and -, and begins with "
            "a letter or _",
            field_place(place, where, key), text);
    }
    *out = strdup(text);
    return *out == NULL ? field_no_memory(fields) : 0;
}

int field_count(const struct fields *fields, const json_t *object, const char *where,
                const char *key, uint32_t absent, uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    *out = absent;
    if (value == NULL) {
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > FIELD_COUNT_MAX) {
        char place[FIELD_PLACE_SIZE];
        return field_bad(fields, "%s must be a whole number from 1 to %d",
                         field_place(place, where, key), FIELD_COUNT_MAX);
    }
    *out = (uint32_t)json_integer_value(value);
    return 0;
}

int field_word(const struct fields *fields, const json_t *object, const char *where,
               const char *key, const char *const *words, const char *all, int *out)
{
    const char *text;
    int rc = field_string(fields, object, where, key, &text);
    if (rc != 0) {
        return rc;
    }
    for (*out = 0; words[*out] != NULL; (*out)++) {
        if (strcmp(words[*out], text) == 0) {
            return 0;
        }
    }
    char place[FIELD_PLACE_SIZE];
    return field_bad(fields, "%s is \"%.64s\": it must be %s", field_place(place, where, key), text,
                     all);
}

int field_array(const struct fields *fields, const json_t *object, const char *where,
                const char *key, json_t **out)
{
    char place[FIELD_PLACE_SIZE];
    *out = json_object_get(object, key);
    if (*out == NULL) {
        return field_bad(fields, "%s is missing", field_place(place, where, key));
    }
    if (!json_is_array(*out) || json_array_size(*out) == 0) {
        return field_bad(fields, "%s must be a list with at least one entry, […]",
                         field_place(place, where, key));
    }
    return 0;
}
