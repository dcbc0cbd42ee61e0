#include "base/json.h"

#include "base/buffer.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest integer that every language can hold as a number. */
#define WIRE_MAX INT64_C(9007199254740991)

/*
 * jansson takes an allocation that fails for a mistake in the text, or leaves a letter out and
 * goes on, in reading and in writing. So its allocations are counted here when they fail.
 */
static _Thread_local unsigned long failed_allocations;

static void *counted_malloc(size_t size)
{
    void *memory = malloc(size);
    failed_allocations += memory == NULL ? 1 : 0;
    return memory;
}

__attribute__((constructor)) static void count_failures(void)
{
    json_set_alloc_funcs(counted_malloc, free);
}

json_t *json_text(const char *bytes)
{
    struct buffer text;
    buffer_init(&text);
    text_escape(&text, bytes, strlen(bytes));
    json_t *string = text.failed ? NULL : json_stringn(text.data, text.length);
    buffer_release(&text);
    return string;
}

json_t *json_wire_u64(uint64_t value)
{
    if (value <= (uint64_t)WIRE_MAX) {
        return json_integer((json_int_t)value);
    }
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}

json_t *json_wire_i64(int64_t value)
{
    if (value >= -WIRE_MAX && value <= WIRE_MAX) {
        return json_integer(value);
    }
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return json_string(text);
}

json_t *json_finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a real number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "?";
}

/* The value of a key, NULL with an error when it is missing. */
static json_t *member(const json_t *object, const char *key, const char *where, struct error *error)
{
    if (!json_is_object(object)) {
        error_set(error, ERROR_PROTOCOL, "%s: %s where an object with the key \"%s\" should be",
                  where, object == NULL ? "nothing" : type_name(object), key);
        return NULL;
    }
    json_t *value = json_object_get(object, key);
    if (value == NULL) {
        error_set(error, ERROR_PROTOCOL, "%s: the key \"%s\" is missing", where, key);
    }
    return value;
}

static int wrong_type(const json_t *value, const char *key, const char *where, const char *expected,
                      struct error *error)
{
    return error_set(error, ERROR_PROTOCOL, "%s: \"%s\" is %s, it must be %s", where, key,
                     type_name(value), expected);
}

/* Looks a key up and refuses another type than the one asked for. */
static int typed_member(const json_t *object, const char *key, const char *where, json_type type,
                        const char *expected, json_t **out, struct error *error)
{
    json_t *value = member(object, key, where, error);
    if (value == NULL) {
        return ERROR_PROTOCOL;
    }
    if (json_typeof(value) != type) {
        return wrong_type(value, key, where, expected, error);
    }
    *out = value;
    return 0;
}

static bool absent(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_object(object) && (value == NULL || json_is_null(value));
}

/* A wire integer as sign and magnitude; false when it has neither form. */
static bool wire_integer(const json_t *value, bool *negative, uint64_t *magnitude)
{
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        *negative = number < 0;
        *magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
        return *magnitude <= (uint64_t)WIRE_MAX;
    }
    if (!json_is_string(value)) {
        return false;
    }
    const char *text = json_string_value(value);
    *negative = text[0] == '-';
    text += *negative;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != '\0') {
        return false;
    }
    errno = 0;
    *magnitude = strtoull(text, NULL, 10);
    return errno == 0;
}

/* What a wire integer that could not be taken looks like, for a message. */
static int wrong_integer(const json_t *value, const char *key, const char *where,
                         const char *expected, struct error *error)
{
    if (json_is_integer(value)) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s: \"%s\" is %" JSON_INTEGER_FORMAT
                         ", it must be %s (beyond 2^53 - 1 as a decimal string)",
                         where, key, json_integer_value(value), expected);
    }
    if (json_is_string(value)) {
        return error_set(error, ERROR_PROTOCOL, "%s: \"%s\" is \"%s\", it must be %s", where, key,
                         json_string_value(value), expected);
    }
    return wrong_type(value, key, where, expected, error);
}

int json_get_u64(const json_t *object, const char *key, const char *where, uint64_t *out,
                 struct error *error)
{
    json_t *value = member(object, key, where, error);
    if (value == NULL) {
        return ERROR_PROTOCOL;
    }
    bool negative;
    uint64_t magnitude;
    if (!wire_integer(value, &negative, &magnitude) || (negative && magnitude > 0)) {
        return wrong_integer(value, key, where, "an integer of 0 or more, below 2^64", error);
    }
    *out = magnitude;
    return 0;
}

int json_get_i64(const json_t *object, const char *key, const char *where, int64_t *out,
                 struct error *error)
{
    json_t *value = member(object, key, where, error);
    if (value == NULL) {
        return ERROR_PROTOCOL;
    }
    bool negative;
    uint64_t magnitude;
    if (!wire_integer(value, &negative, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return wrong_integer(value, key, where, "an integer of 64 bits", error);
    }
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

int json_get_u64_or(const json_t *object, const char *key, const char *where, uint64_t absent_value,
                    uint64_t *out, struct error *error)
{
    if (absent(object, key)) {
        *out = absent_value;
        return 0;
    }
    return json_get_u64(object, key, where, out, error);
}

int json_get_double(const json_t *object, const char *key, const char *where, double *out,
                    struct error *error)
{
    json_t *value = member(object, key, where, error);
    if (value == NULL) {
        return ERROR_PROTOCOL;
    }
    if (!json_is_number(value)) {
        return wrong_type(value, key, where, "a number", error);
    }
    *out = json_number_value(value);
    return 0;
}

int json_get_bool(const json_t *object, const char *key, const char *where, bool *out,
                  struct error *error)
{
    json_t *value = member(object, key, where, error);
    if (value == NULL) {
        return ERROR_PROTOCOL;
    }
    if (!json_is_boolean(value)) {
        return wrong_type(value, key, where, "true or false", error);
    }
    *out = json_is_true(value);
    return 0;
}

int json_get_string(const json_t *object, const char *key, const char *where, const char **out,
                    struct error *error)
{
    json_t *value = NULL;
    int status = typed_member(object, key, where, JSON_STRING, "a string", &value, error);
    if (status == 0) {
        *out = json_string_value(value);
    }
    return status;
}

int json_get_string_or_null(const json_t *object, const char *key, const char *where,
                            const char **out, struct error *error)
{
    if (absent(object, key)) {
        *out = NULL;
        return 0;
    }
    return json_get_string(object, key, where, out, error);
}

int json_get_array(const json_t *object, const char *key, const char *where, json_t **out,
                   struct error *error)
{
    return typed_member(object, key, where, JSON_ARRAY, "an array", out, error);
}

int json_get_object(const json_t *object, const char *key, const char *where, json_t **out,
                    struct error *error)
{
    return typed_member(object, key, where, JSON_OBJECT, "an object", out, error);
}

int json_parse(const char *bytes, size_t length, const char *where, json_t **out,
               struct error *error)
{
    json_error_t found;
    unsigned long before = failed_allocations;
    json_t *json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &found);
    if (failed_allocations != before) {
        json_decref(json);
        return error_set(error, ERROR_MEMORY, "%s: out of memory while reading JSON", where);
    }
    if (json == NULL) {
        /* An empty text has no line: both are -1 then. */
        return error_set(error, ERROR_PROTOCOL, "%s:%d:%d: not valid JSON: %s", where,
                         found.line < 1 ? 1 : found.line, found.column < 1 ? 1 : found.column,
                         found.text);
    }
    *out = json;
    return 0;
}

char *json_dump_text(const json_t *json, size_t flags)
{
    unsigned long before = failed_allocations;
    char *text = json_dumps(json, flags);
    if (failed_allocations != before) {
        free(text);
        return NULL;
    }
    return text;
}

/* Waits until a descriptor that does not block takes more. */
static int wait_writable(int fd)
{
    struct pollfd waited = {.fd = fd, .events = POLLOUT};
    int count = poll(&waited, 1, -1);
    return count < 0 && errno != EINTR ? -1 : 0;
}

static int write_whole(int fd, const char *bytes, size_t length, struct error *error)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if ((errno != EAGAIN || wait_writable(fd) != 0) && errno != EINTR) {
            return error_errno(error, errno, "cannot write a line to descriptor %d", fd);
        }
    }
    return 0;
}

int json_write_line(int fd, const json_t *json, struct error *error)
{
    /* jansson writes the decimal point of JSON whatever the locale says (a test holds
     * it to that), and escapes line feeds, so one line it is. */
    char *text = json_dump_text(json, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while writing a JSON line");
    }
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL: one write, so that lines do not mix */
    int status = write_whole(fd, text, length + 1, error);
    free(text);
    return status;
}
