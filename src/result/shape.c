#include "result/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const shape_point_labels[RESULT_POINT_COUNT] = {
#define X(id, label, numerator, denominator) label,
    RESULT_POINTS(X)
#undef X
};

/* Walks. Members are reached by offset; memcpy keeps lists of any type within the aliasing rules.
 */

struct shape_list shape_list_get(const void *list)
{
    struct shape_list seen;
    memcpy(&seen.items, list, sizeof(seen.items));
    memcpy(&seen.count, (const char *)list + sizeof(seen.items), sizeof(seen.count));
    return seen;
}

static void field_init(const struct field *field, void *at)
{
    static const uint64_t absent = RESULT_ABSENT;
    const double nan_value = (double)NAN;

    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        memset(at, 0, sizeof(char *));
        break;
    case FIELD_COUNT:
    case FIELD_INTEGER:
        memset(at, 0, sizeof(uint64_t));
        break;
    case FIELD_COUNT_OR_NULL:
        memcpy(at, &absent, sizeof(absent));
        break;
    case FIELD_REAL:
        memcpy(at, &nan_value, sizeof(nan_value));
        break;
    case FIELD_BOOL:
        memset(at, 0, sizeof(bool));
        break;
    case FIELD_STRUCT:
        shape_init(field->shape, at);
        break;
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_COUNTS:
        memset(at, 0, sizeof(struct shape_list));
        break;
    case FIELD_LATENCY:
        memset(at, 0, sizeof(struct result_latency));
        break;
    case FIELD_POINTS:
        for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
            shape_init(&shape_figure, (struct result_figure *)at + i);
        }
        break;
    case FIELD_POINT_FLAGS:
        memset(at, 0, RESULT_POINT_COUNT * sizeof(bool));
        break;
    }
}

void shape_init(const struct shape *shape, void *item)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        field_init(&shape->fields[i], (char *)item + shape->fields[i].offset);
    }
}

static void field_release(const struct field *field, void *at)
{
    struct shape_list list;
    char *text;

    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        memcpy(&text, at, sizeof(text));
        free(text);
        break;
    case FIELD_STRUCT:
        shape_release(field->shape, at);
        break;
    case FIELD_LIST:
        list = shape_list_get(at);
        for (size_t i = 0; i < list.count; i++) {
            shape_release(field->shape, (char *)list.items + i * field->shape->size);
        }
        free(list.items);
        break;
    case FIELD_TEXTS:
        list = shape_list_get(at);
        for (size_t i = 0; i < list.count; i++) {
            free(((char **)list.items)[i]);
        }
        free(list.items);
        break;
    case FIELD_COUNTS:
        list = shape_list_get(at);
        free(list.items);
        break;
    case FIELD_LATENCY:
        free(((struct result_latency *)at)->histogram);
        break;
    case FIELD_COUNT:
    case FIELD_COUNT_OR_NULL:
    case FIELD_INTEGER:
    case FIELD_REAL:
    case FIELD_BOOL:
    case FIELD_POINTS:
    case FIELD_POINT_FLAGS:
        break;
    }
}

void shape_release(const struct shape *shape, void *item)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        field_release(&shape->fields[i], (char *)item + shape->fields[i].offset);
    }
    shape_init(shape, item);
}
