/*
 * The structs of a result as tables of fields. One table a struct drives four things, so that a
 * field that is added here cannot be forgotten in one of them: the empty state, freeing, writing
 * JSON and reading it. Internal to the layer.
 */
#ifndef PITOT_RESULT_SHAPE_H
#define PITOT_RESULT_SHAPE_H

#include "base/buffer.h"
#include "result/result.h"

enum field_kind {
    FIELD_TEXT,          /* char *, a string in every file */
    FIELD_TEXT_OR_NULL,  /* char *, NULL is null */
    FIELD_COUNT,         /* uint64_t, a number in every file */
    FIELD_COUNT_OR_NULL, /* uint64_t, RESULT_ABSENT is null */
    FIELD_INTEGER,       /* int64_t */
    FIELD_REAL,          /* double, NAN is null */
    FIELD_BOOL,          /* bool */
    FIELD_STRUCT,        /* an embedded struct with a shape */
    FIELD_LIST,          /* RESULT_LIST of structs with a shape */
    FIELD_TEXTS,         /* RESULT_LIST(char *) */
    FIELD_COUNTS,        /* RESULT_LIST(uint64_t) */
    FIELD_LATENCY,       /* struct result_latency */
    FIELD_POINTS,        /* struct result_figure [RESULT_POINT_COUNT], by label */
    FIELD_POINT_FLAGS,   /* bool [RESULT_POINT_COUNT], by label */
};

struct field {
    const char *name; /* key in JSON */
    enum field_kind kind;
    size_t offset;
    const struct shape *shape; /* of FIELD_STRUCT and FIELD_LIST */
};

struct shape {
    size_t size;
    const struct field *fields; /* in the order of the struct, which is that of the file */
    size_t field_count;
    /* What must hold between the fields of an item that was read; appends what is wrong. May be
     * NULL. */
    void (*check)(const void *item, struct buffer *wrong);
};

/* Entries of the tables. */
#define FIELD(type, field, kind)                                                                   \
    {                                                                                              \
#field, FIELD_##kind, offsetof(struct type, field), NULL                                   \
    }
#define FIELD_SHAPED(type, field, kind, shape)                                                     \
    {                                                                                              \
#field, FIELD_##kind, offsetof(struct type, field), &(shape)                               \
    }
#define SHAPE(type, fields, check)                                                                 \
    {                                                                                              \
        sizeof(struct type), (fields), sizeof(fields) / sizeof((fields)[0]), (check)               \
    }

extern const struct shape shape_result;
extern const struct shape shape_case;
extern const struct shape shape_template;
extern const struct shape shape_engine;
extern const struct shape shape_run;
extern const struct shape shape_role_summary;
extern const struct shape shape_summary;
extern const struct shape shape_figure;
extern const struct shape shape_curve_point;
extern const struct shape shape_host;
extern const struct shape shape_plan;
extern const struct shape shape_comparison;
extern const struct shape shape_difference;
extern const struct shape shape_loop_part;
extern const struct shape shape_event_loop;
extern const struct shape shape_numbers;
extern const struct shape shape_numbers_line;

/* Labels of the percentile points: "p50", … */
extern const char *const shape_point_labels[RESULT_POINT_COUNT];

/* Every field absent, zero or empty; what was there is overwritten, not freed. */
void shape_init(const struct shape *shape, void *item);
/* Frees what the item owns and leaves it in the empty state. */
void shape_release(const struct shape *shape, void *item);

/* Any RESULT_LIST seen without its type. */
struct shape_list {
    void *items;
    size_t count;
};
struct shape_list shape_list_get(const void *list);

#endif
