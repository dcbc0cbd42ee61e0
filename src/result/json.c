#include "result/json.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "result/latency.h"
#include "result/shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A histogram takes 37 kB however few its samples are, so a hostile file could ask for a hundred
 * times its own size. Ten engines, a hundred rounds and fifty scripts are 50,000. */
enum { HISTOGRAMS_MAX = 65536 };

/*
 * Writing. NULL from any step means out of memory and goes up unchanged; jansson's setters take
 * the reference and refuse NULL, so each result is checked once.
 */

static json_t *write_item(const struct shape *shape, const void *item);

static json_t *write_text(const char *text)
{
    return text == NULL ? json_null() : json_text(text);
}

static json_t *write_list(const struct field *field, const void *at)
{
    struct shape_list list = shape_list_get(at);
    json_t *array = json_array();
    for (size_t i = 0; i < list.count; i++) {
        json_t *element;
        if (field->kind == FIELD_TEXTS) {
            element = write_text(((char *const *)list.items)[i]);
        } else if (field->kind == FIELD_COUNTS) {
            element = json_wire_u64(((const uint64_t *)list.items)[i]);
        } else {
            element = write_item(field->shape, (const char *)list.items + i * field->shape->size);
        }
        if (json_array_append_new(array, element) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *write_points(const struct field *field, const void *at)
{
    json_t *object = json_object();
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        json_t *value = field->kind == FIELD_POINTS
                            ? write_item(&shape_figure, (const struct result_figure *)at + i)
                            : json_boolean(((const bool *)at)[i]);
        if (json_object_set_new(object, shape_point_labels[i], value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *write_field(const struct field *field, const void *at)
{
    uint64_t count;
    int64_t integer;
    double real;
    const char *text;

    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        memcpy(&text, at, sizeof(text));
        return write_text(text);
    case FIELD_COUNT:
        memcpy(&count, at, sizeof(count));
        return json_wire_u64(count);
    case FIELD_COUNT_OR_NULL:
        memcpy(&count, at, sizeof(count));
        return count == RESULT_ABSENT ? json_null() : json_wire_u64(count);
    case FIELD_INTEGER:
        memcpy(&integer, at, sizeof(integer));
        return json_wire_i64(integer);
    case FIELD_REAL:
        memcpy(&real, at, sizeof(real));
        return json_finite(real);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_STRUCT:
        return write_item(field->shape, at);
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_COUNTS:
        return write_list(field, at);
    case FIELD_LATENCY:
        return latency_to_json(((const struct result_latency *)at)->histogram);
    case FIELD_POINTS:
    case FIELD_POINT_FLAGS:
        return write_points(field, at);
    }
    return NULL;
}

static json_t *write_item(const struct shape *shape, const void *item)
{
    json_t *object = json_object();
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        json_t *value = write_field(field, (const char *)item + field->offset);
        if (json_object_set_new(object, field->name, value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

json_t *result_to_json(const struct result *result)
{
    return write_item(&shape_result, result);
}

json_t *result_numbers_to_json(const struct result_numbers *numbers)
{
    return write_item(&shape_numbers, numbers);
}

int result_write(const struct result *result, const char *path, struct error *error)
{
    int status = ERROR_MEMORY;
    char *bytes = NULL;
    json_t *json = result_to_json(result);
    struct buffer text;

    buffer_init(&text);
    if (json != NULL) {
        bytes = json_dump_text(json, JSON_COMPACT);
    }
    if (bytes != NULL) {
        buffer_puts(&text, bytes);
        buffer_putc(&text, '\n');
    }
    if (bytes == NULL || text.failed) {
        error_set(error, ERROR_MEMORY, "%s: out of memory while writing the result", path);
        goto out;
    }
    status = file_replace(path, text.data, text.length, error);
out:
    buffer_release(&text);
    free(bytes);
    json_decref(json);
    return status;
}

/*
 * Reading. The file may be anybody's: depth is bounded by the shapes, every type is checked, and
 * `place` says where in the file a mistake lies ("engines[0].runs[2].scripts[1]").
 */

enum { PLACE_SIZE = 256 };

struct reader {
    char place[PLACE_SIZE];
    size_t place_length;
    size_t histograms;
    struct error *error;
};

static int read_item(struct reader *reader, const struct shape *shape, const json_t *json,
                     void *item);

/* Extends the place; the length before is what place_leave() takes back. */
__attribute__((format(printf, 2, 3))) static size_t place_enter(struct reader *reader,
                                                                const char *format, ...)
{
    size_t before = reader->place_length;
    if (before > 0 && format[0] != '[') {
        reader->place[reader->place_length++] = '.';
    }
    va_list arguments;
    va_start(arguments, format);
    /* The shapes nest six deep with short names: what is cut here cannot occur. */
    int length =
        vsnprintf(reader->place + reader->place_length, PLACE_SIZE - 1 - before, format, arguments);
    va_end(arguments);
    if (length > 0) {
        reader->place_length += (size_t)length;
        if (reader->place_length > PLACE_SIZE - 2) {
            reader->place_length = PLACE_SIZE - 2;
        }
    }
    return before;
}

static void place_leave(struct reader *reader, size_t before)
{
    reader->place_length = before;
    reader->place[before] = '\0';
}

static const char *place(const struct reader *reader)
{
    return reader->place_length == 0 ? "result" : reader->place;
}

static int out_of_memory(struct reader *reader)
{
    return error_set(reader->error, ERROR_MEMORY, "out of memory while reading a result");
}

/* `name` is the key, or NULL where the place already says which element it is. */
static int read_text(struct reader *reader, const char *name, const char *text, char **out)
{
    struct buffer bytes;
    buffer_init(&bytes);
    text_unescape(&bytes, text, strlen(text));
    bool cut = !bytes.failed && strlen(bytes.data) != bytes.length;
    *out = cut ? NULL : buffer_take(&bytes);
    buffer_release(&bytes);
    if (cut) {
        return error_set(reader->error, ERROR_INVALID, "%s%s%s: the text holds a NUL byte",
                         place(reader), name == NULL ? "" : ".", name == NULL ? "" : name);
    }
    return *out == NULL ? out_of_memory(reader) : 0;
}

static int read_text_field(struct reader *reader, const struct field *field, const json_t *json,
                           void *at)
{
    const char *text = NULL;
    char *owned = NULL;
    int status =
        field->kind == FIELD_TEXT
            ? json_get_string(json, field->name, place(reader), &text, reader->error)
            : json_get_string_or_null(json, field->name, place(reader), &text, reader->error);
    if (status == 0 && text != NULL) {
        status = read_text(reader, field->name, text, &owned);
        memcpy(at, &owned, sizeof(owned));
    }
    return status;
}

static int read_element(struct reader *reader, const struct field *field, const json_t *element,
                        void *at)
{
    if (field->kind == FIELD_LIST) {
        shape_init(field->shape, at);
        return read_item(reader, field->shape, element, at);
    }
    if (field->kind == FIELD_TEXTS) {
        char *owned = NULL;
        if (!json_is_string(element)) {
            return error_set(reader->error, ERROR_INVALID, "%s: expected a string", place(reader));
        }
        int status = read_text(reader, NULL, json_string_value(element), &owned);
        memcpy(at, &owned, sizeof(owned));
        return status;
    }
    /* base/json.h reads numbers out of objects: the element is put into one for its rules. */
    json_t *wrapped = json_pack("{s:O}", "count", element);
    if (wrapped == NULL) {
        return out_of_memory(reader);
    }
    uint64_t count = 0;
    int status = json_get_u64(wrapped, "count", place(reader), &count, reader->error);
    memcpy(at, &count, sizeof(count));
    json_decref(wrapped);
    return status;
}

static int read_list(struct reader *reader, const struct field *field, const json_t *json, void *at)
{
    json_t *array = NULL;
    int status = json_get_array(json, field->name, place(reader), &array, reader->error);
    size_t element_size = field->kind == FIELD_LIST    ? field->shape->size
                          : field->kind == FIELD_TEXTS ? sizeof(char *)
                                                       : sizeof(uint64_t);
    struct shape_list list = {NULL, 0};
    size_t before = place_enter(reader, "%s", field->name);
    for (size_t i = 0; status == 0 && i < json_array_size(array); i++) {
        void *element = result_list_grow(&list.items, &list.count, element_size);
        if (element == NULL) {
            status = out_of_memory(reader);
            break;
        }
        /* Stored at once, so that the owner frees what was read when a later element fails. */
        memcpy(at, &list.items, sizeof(list.items));
        memcpy((char *)at + sizeof(list.items), &list.count, sizeof(list.count));
        size_t outer = place_enter(reader, "[%zu]", i);
        status = read_element(reader, field, json_array_get(array, i), element);
        place_leave(reader, outer);
    }
    place_leave(reader, before);
    return status;
}

static int read_points(struct reader *reader, const struct field *field, const json_t *json,
                       void *at)
{
    json_t *object = NULL;
    int status = json_get_object(json, field->name, place(reader), &object, reader->error);
    size_t before = place_enter(reader, "%s", field->name);
    for (size_t i = 0; status == 0 && i < RESULT_POINT_COUNT; i++) {
        const char *label = shape_point_labels[i];
        if (field->kind == FIELD_POINT_FLAGS) {
            status = json_get_bool(object, label, place(reader), (bool *)at + i, reader->error);
            continue;
        }
        json_t *figure = NULL;
        status = json_get_object(object, label, place(reader), &figure, reader->error);
        if (status == 0) {
            size_t outer = place_enter(reader, "%s", label);
            status = read_item(reader, &shape_figure, figure, (struct result_figure *)at + i);
            place_leave(reader, outer);
        }
    }
    place_leave(reader, before);
    return status;
}

/* A key that may hold null but must be there: json_get_…_or() would let it be missing. */
static int require_key(struct reader *reader, const json_t *json, const char *key)
{
    if (json_object_get(json, key) == NULL) {
        return error_set(reader->error, ERROR_INVALID, "%s: the key \"%s\" is missing",
                         place(reader), key);
    }
    return 0;
}

static int read_latency(struct reader *reader, const struct field *field, const json_t *json,
                        struct result_latency *out)
{
    const json_t *latency = json_object_get(json, field->name);
    if (json_is_null(latency)) {
        return 0;
    }
    if (++reader->histograms > HISTOGRAMS_MAX) {
        return error_set(reader->error, ERROR_INVALID,
                         "%s: more than %d histograms, which no run of pitot writes", place(reader),
                         HISTOGRAMS_MAX);
    }
    size_t before = place_enter(reader, "%s", field->name);
    int status = latency_from_json(latency, place(reader), &out->histogram, reader->error);
    place_leave(reader, before);
    return status;
}

static int read_field(struct reader *reader, const struct field *field, const json_t *json,
                      void *at)
{
    const char *where = place(reader);
    uint64_t count = 0;
    int64_t integer = 0;
    double real = (double)NAN;
    json_t *object = NULL;
    int status = require_key(reader, json, field->name);
    if (status != 0) {
        return status;
    }
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        return read_text_field(reader, field, json, at);
    case FIELD_COUNT:
        status = json_get_u64(json, field->name, where, &count, reader->error);
        memcpy(at, &count, sizeof(count));
        return status;
    case FIELD_COUNT_OR_NULL:
        status = json_get_u64_or(json, field->name, where, RESULT_ABSENT, &count, reader->error);
        memcpy(at, &count, sizeof(count));
        return status;
    case FIELD_INTEGER:
        status = json_get_i64(json, field->name, where, &integer, reader->error);
        memcpy(at, &integer, sizeof(integer));
        return status;
    case FIELD_REAL:
        if (!json_is_null(json_object_get(json, field->name))) {
            status = json_get_double(json, field->name, where, &real, reader->error);
        }
        memcpy(at, &real, sizeof(real));
        return status;
    case FIELD_BOOL:
        return json_get_bool(json, field->name, where, at, reader->error);
    case FIELD_STRUCT:
        status = json_get_object(json, field->name, where, &object, reader->error);
        if (status == 0) {
            size_t before = place_enter(reader, "%s", field->name);
            status = read_item(reader, field->shape, object, at);
            place_leave(reader, before);
        }
        return status;
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_COUNTS:
        return read_list(reader, field, json, at);
    case FIELD_LATENCY:
        return read_latency(reader, field, json, at);
    case FIELD_POINTS:
    case FIELD_POINT_FLAGS:
        return read_points(reader, field, json, at);
    }
    return 0;
}

/* The item is in its empty state; on failure it owns what was read until then. */
static int read_item(struct reader *reader, const struct shape *shape, const json_t *json,
                     void *item)
{
    if (!json_is_object(json)) {
        return error_set(reader->error, ERROR_INVALID, "%s: expected an object", place(reader));
    }
    for (size_t i = 0; i < shape->field_count; i++) {
        int status =
            read_field(reader, &shape->fields[i], json, (char *)item + shape->fields[i].offset);
        if (status != 0) {
            return status;
        }
    }
    if (shape->check == NULL) {
        return 0;
    }
    struct buffer wrong;
    buffer_init(&wrong);
    shape->check(item, &wrong);
    int status = wrong.failed ? out_of_memory(reader)
                 : wrong.length > 0
                     ? error_set(reader->error, ERROR_INVALID, "%s: %s", place(reader), wrong.data)
                     : 0;
    buffer_release(&wrong);
    return status;
}

/* The version decides whether anything else can be understood, so it comes first. */
static int check_version(const json_t *json, struct error *error)
{
    uint64_t version = 0;
    if (!json_is_object(json) || json_object_get(json, "pitot_result") == NULL) {
        return error_set(error, ERROR_INVALID,
                         "not a result of pitot: expected an object with the key "
                         "\"pitot_result\"");
    }
    int status = json_get_u64(json, "pitot_result", "result", &version, error);
    if (status == 0 && version != RESULT_VERSION) {
        status = error_set(
            error, ERROR_INVALID, "result version %" PRIu64 ", this pitot reads version %d%s",
            version, RESULT_VERSION,
            version < RESULT_VERSION ? ": only the older pitot that wrote it can read it" : "");
    }
    return status;
}

/* base/json.h calls every mistake one of the protocol; here what was given is wrong. */
static int give_up(const struct error *found, struct error *error)
{
    return error_set(error, found->code == ERROR_MEMORY ? ERROR_MEMORY : ERROR_INVALID, "%s",
                     found->message);
}

int result_numbers_from_json(const json_t *json, struct result_numbers *out, struct error *error)
{
    struct error found = ERROR_INIT;
    struct reader reader = {.error = &found};
    place_enter(&reader, "numbers");
    return read_item(&reader, &shape_numbers, json, out) == 0 ? 0 : give_up(&found, error);
}

int result_from_json(const json_t *json, struct result **out, struct error *error)
{
    struct error found = ERROR_INIT;
    struct reader reader = {.error = &found};
    *out = NULL;
    int status = check_version(json, &found);
    struct result *result = NULL;
    if (status == 0) {
        result = result_new();
        status = result == NULL ? out_of_memory(&reader)
                                : read_item(&reader, &shape_result, json, result);
    }
    if (status != 0) {
        result_free(result);
        return give_up(&found, error);
    }
    *out = result;
    return 0;
}

int result_read(const char *path, struct result **out, struct error *error)
{
    struct error found = ERROR_INIT;
    struct buffer text;
    json_t *json = NULL;

    *out = NULL;
    buffer_init(&text);
    int status = file_read(path, RESULT_FILE_MAX, &text, error);
    if (status != 0) {
        goto out;
    }
    status = json_parse(text.data, text.length, path, &json, &found);
    if (status != 0) {
        status = give_up(&found, error);
        goto out;
    }
    status = result_from_json(json, out, &found);
    if (status != 0) {
        error_set(error, found.code, "%s: %s", path, found.message);
    }
out:
    json_decref(json);
    buffer_release(&text);
    return status;
}
