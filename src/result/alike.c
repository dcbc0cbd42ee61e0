#include "result/alike.h"

#include "result/shape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct walk {
    struct buffer path; /* "settings[1]." */
    struct buffer *out;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void begin(struct walk *walk, const char *name)
{
    buffer_printf(walk->out, "%s%s%s: ", walk->out->length > 0 ? "; " : "", walk->path.data, name);
}

static void put_text(struct buffer *out, const char *text)
{
    if (text == NULL) {
        buffer_puts(out, "none");
    } else {
        buffer_printf(out, "\"%s\"", text);
    }
}

static void texts(struct walk *walk, const char *name, const char *a, const char *b)
{
    if (!same_text(a, b)) {
        begin(walk, name);
        put_text(walk->out, a);
        buffer_puts(walk->out, ", here ");
        put_text(walk->out, b);
    }
}

static void put_count(struct buffer *out, uint64_t count)
{
    if (count == RESULT_ABSENT) {
        buffer_puts(out, "none");
    } else {
        buffer_printf(out, "%" PRIu64, count);
    }
}

static void numbers(struct walk *walk, const char *name, uint64_t a, uint64_t b)
{
    if (a != b) {
        begin(walk, name);
        put_count(walk->out, a);
        buffer_puts(walk->out, ", here ");
        put_count(walk->out, b);
    }
}

static void integers(struct walk *walk, const char *name, int64_t a, int64_t b)
{
    if (a != b) {
        begin(walk, name);
        buffer_printf(walk->out, "%" PRId64 ", here %" PRId64, a, b);
    }
}

static void put_real(struct buffer *out, double value)
{
    if (isnan(value)) {
        buffer_puts(out, "none");
    } else {
        buffer_printf(out, "%g", value);
    }
}

static void reals(struct walk *walk, const char *name, double a, double b)
{
    if (!(a == b || (isnan(a) && isnan(b)))) {
        begin(walk, name);
        put_real(walk->out, a);
        buffer_puts(walk->out, ", here ");
        put_real(walk->out, b);
    }
}

static void items(struct walk *walk, const struct shape *shape, const char *const *names,
                  const void *a, const void *b);

static void lists(struct walk *walk, const struct field *field, const void *a, const void *b)
{
    struct shape_list mine = shape_list_get(a);
    struct shape_list other = shape_list_get(b);
    size_t before = walk->path.length;
    if (mine.count != other.count) {
        begin(walk, field->name);
        buffer_printf(walk->out, "%zu, here %zu", mine.count, other.count);
        return;
    }
    for (size_t i = 0; i < mine.count; i++) {
        if (field->kind == FIELD_TEXTS) {
            texts(walk, field->name, ((char **)mine.items)[i], ((char **)other.items)[i]);
            continue;
        }
        buffer_printf(&walk->path, "%s[%zu].", field->name, i);
        items(walk, field->shape, NULL, (const char *)mine.items + i * field->shape->size,
              (const char *)other.items + i * field->shape->size);
        if (!walk->path.failed) {
            walk->path.length = before;
            walk->path.data[before] = '\0';
        }
    }
}

static void one_field(struct walk *walk, const struct field *field, const void *a, const void *b)
{
    const char *text_a, *text_b;
    uint64_t count_a, count_b;
    int64_t integer_a, integer_b;
    double real_a, real_b;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        memcpy(&text_a, a, sizeof text_a);
        memcpy(&text_b, b, sizeof text_b);
        texts(walk, field->name, text_a, text_b);
        break;
    case FIELD_COUNT:
    case FIELD_COUNT_OR_NULL:
        memcpy(&count_a, a, sizeof count_a);
        memcpy(&count_b, b, sizeof count_b);
        numbers(walk, field->name, count_a, count_b);
        break;
    case FIELD_INTEGER:
        memcpy(&integer_a, a, sizeof integer_a);
        memcpy(&integer_b, b, sizeof integer_b);
        integers(walk, field->name, integer_a, integer_b);
        break;
    case FIELD_REAL:
        memcpy(&real_a, a, sizeof real_a);
        memcpy(&real_b, b, sizeof real_b);
        reals(walk, field->name, real_a, real_b);
        break;
    case FIELD_LIST:
    case FIELD_TEXTS:
        lists(walk, field, a, b);
        break;
    case FIELD_BOOL:
    case FIELD_STRUCT:
    case FIELD_COUNTS:
    case FIELD_LATENCY:
    case FIELD_POINTS:
    case FIELD_POINT_FLAGS:
        break; /* what was measured, not what was asked for */
    }
}

/* The fields that `names` (ends with NULL) lists; NULL: all. */
static void items(struct walk *walk, const struct shape *shape, const char *const *names,
                  const void *a, const void *b)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        bool wanted = names == NULL;
        for (size_t k = 0; !wanted && names[k] != NULL; k++) {
            wanted = strcmp(names[k], field->name) == 0;
        }
        if (wanted) {
            one_field(walk, field, (const char *)a + field->offset,
                      (const char *)b + field->offset);
        }
    }
}

static void compare(const struct shape *shape, const char *const *names, const void *a,
                    const void *b, struct buffer *differences)
{
    struct walk walk = {.out = differences};
    buffer_init(&walk.path);
    items(&walk, shape, names, a, b);
    differences->failed = differences->failed || walk.path.failed;
    buffer_release(&walk.path);
}

void alike_host(const struct result_host *before, const struct result_host *here,
                struct buffer *differences)
{
    static const char *const names[] = {"cpu_model", "cores", "virtual_machine", "file_system",
                                        NULL};
    compare(&shape_host, names, before, here, differences);
}

void alike_plan(const struct result_plan *before, const struct result_plan *here,
                struct buffer *differences)
{
    static const char *const names[] = {
        "cache_size", "busy_timeout_ms", "grace_ns", "latency_limit_ns", "max_tries",
        "seed",       "settings",        NULL};
    compare(&shape_plan, names, before, here, differences);
}

void alike_case(const struct result_case *before, const struct result_case *here,
                struct buffer *differences)
{
    static const char *const names[] = {
        "suite",   "suite_hash",  "scale",      "scenario",  "variables",
        "threads", "duration_ns", "operations", "warmup_ns", "warmup_operations",
        "rate",    "rate_share",  "isolation",  NULL};
    compare(&shape_case, names, before, here, differences);
}

/* Where an engine was found, then what it is. */
enum { ENGINE_PLACES = 2 };
static const char *const engine_names[] = {
    "name",      "libraries",     "driver",          "version",
    "source_id", "sync_call",     "binding_version", "runtime",
    "options",   "library_build", "compile_options", NULL};

void alike_engine(const struct result_engine *before, const struct result_engine *here,
                  struct buffer *differences)
{
    compare(&shape_engine, engine_names, before, here, differences);
}

void alike_version(const struct result_engine *before, const struct result_engine *here,
                   struct buffer *differences)
{
    compare(&shape_engine, engine_names + ENGINE_PLACES, before, here, differences);
}

const struct result_case *alike_find_case(const struct result *result, const char *label)
{
    for (size_t i = 0; i < result->cases.count; i++) {
        if (strcmp(result->cases.items[i].label, label) == 0) {
            return &result->cases.items[i];
        }
    }
    return NULL;
}
