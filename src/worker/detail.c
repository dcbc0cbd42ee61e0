#include "worker/detail.h"

#include "base/json.h"
#include "base/literal.h"

#include <string.h>

static void clear(struct detail *detail)
{
    json_decref(detail->statements);
    json_decref(detail->rows);
    detail->statements = NULL;
    detail->rows = NULL;
    detail->more = 0;
    detail->statements_more = 0;
    detail->bytes = 0;
}

void detail_release(struct detail *detail)
{
    clear(detail);
    if (detail->literal.data != NULL) {
        buffer_release(&detail->literal);
    }
}

/* More bytes than the literals of these values take (a blob takes two a byte and a few around
 * them), and some for the list that holds them. */
static size_t size_of(const struct value *values, uint32_t count)
{
    size_t size = 4;
    for (uint32_t i = 0; i < count; i++) {
        bool sized = values[i].type == VALUE_TEXT || values[i].type == VALUE_BLOB;
        size += sized ? 2 * (size_t)values[i].length + 16 : 24;
    }
    return size;
}

/* The list of the literals of some values; NULL: out of memory. */
static json_t *literals(struct detail *detail, const struct value *values, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        buffer_clear(&detail->literal);
        literal_append(&detail->literal, &values[i]);
        if (detail->literal.failed ||
            json_array_append_new(list, json_text(detail->literal.data)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Whether values may still be shown; if so they are accounted for. */
static bool fits(struct detail *detail, const struct value *values, uint32_t count)
{
    size_t size = size_of(values, count);
    if (size > DETAIL_BYTES_MAX - detail->bytes) {
        return false;
    }
    detail->bytes += size;
    return true;
}

static void begin(void *context)
{
    struct detail *detail = context;
    if (detail->literal.data == NULL) {
        buffer_init(&detail->literal);
    }
    clear(detail);
    detail->statements = json_array();
    detail->rows = json_array();
    detail->no_memory |= detail->statements == NULL || detail->rows == NULL;
}

static int take_row(void *context, const struct value *columns, uint32_t count)
{
    struct detail *detail = context;
    if (json_array_size(detail->rows) >= detail->rows_max || detail->more > 0 ||
        json_array_size(detail->statements) >= DETAIL_STATEMENTS_MAX ||
        !fits(detail, columns, count)) {
        detail->more++;
        return 0;
    }
    if (json_array_append_new(detail->rows, literals(detail, columns, count)) != 0) {
        detail->no_memory = true;
        return ERROR_MEMORY;
    }
    return 0;
}

/* null where the values are too long to be shown. */
static json_t *values_of(struct detail *detail, const struct script_call *call)
{
    const struct value *values = detail->evaluation->values + call->first_value;
    return fits(detail, values, call->value_count) ? literals(detail, values, call->value_count)
                                                   : json_null();
}

static void ran(void *context, const struct script_call *call, uint64_t rows_changed)
{
    struct detail *detail = context;
    if (json_array_size(detail->statements) >= DETAIL_STATEMENTS_MAX) {
        detail->statements_more++;
        detail->more = 0;
        return;
    }
    json_t *entry =
        json_pack("{s:I, s:o, s:o, s:o, s:o}", "statement", (json_int_t)call->statement, "values",
                  values_of(detail, call), "rows_changed", json_wire_u64(rows_changed), "rows",
                  detail->rows, "more", json_wire_u64(detail->more));
    detail->rows = json_array();
    detail->more = 0;
    detail->no_memory |=
        json_array_append_new(detail->statements, entry) != 0 || detail->rows == NULL;
}

struct operation_observer detail_observer(struct detail *detail)
{
    return (struct operation_observer){
        .begin = begin, .ran = ran, .sink = {.row = take_row, .context = detail}};
}

/* null: a text for which `room` does not suffice. */
static json_t *variable_json(const struct value *value, size_t *room)
{
    if (value->type == VALUE_INTEGER) {
        return json_wire_i64(value->integer);
    }
    if (value->type == VALUE_DOUBLE) {
        return json_finite(value->real);
    }
    if (value->length > *room) {
        return json_null();
    }
    *room -= value->length;
    struct buffer text;
    buffer_init(&text);
    buffer_append(&text, value->bytes, value->length);
    json_t *json = text.failed ? NULL : json_text(text.data);
    buffer_release(&text);
    return json;
}

/* All but the scale's, which are the same for every execution; with what they were last set to. */
static json_t *parameters_json(const struct evaluation *evaluation)
{
    const struct script *script = evaluation->script;
    size_t room = DETAIL_BYTES_MAX;
    json_t *object = json_object();
    for (uint32_t i = 0; object != NULL && i < script->variable_count; i++) {
        const struct script_variable *variable = &script->variables[i];
        if (variable->origin != SCRIPT_FROM_SCALE &&
            json_object_set_new(object, variable->name,
                                variable_json(&evaluation->variables[i], &room)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

json_t *detail_result(const struct detail *detail, const char *outcome, const char *message)
{
    json_t *statements =
        detail->statements != NULL ? json_incref(detail->statements) : json_array();
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "kind", "result", "job", "verify",
                     "parameters", parameters_json(detail->evaluation), "statements", statements,
                     "statements_more", json_wire_u64(detail->statements_more), "outcome", outcome,
                     "message", message == NULL ? json_null() : json_text(message));
}
