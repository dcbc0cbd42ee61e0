/* Reads the JSON tree of a script. It comes over a pipe from another program, so
 * nothing in it is trusted: every index, type, number and depth is checked, and
 * what this lets through cannot harm the evaluator. */
#include "script/operation.h"
#include "script/parser.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct script *script;
    struct error *error;
    bool in_rows;
};

#define bad(reader, ...) error_set((reader)->error, ERROR_PROTOCOL, "script tree: " __VA_ARGS__)

static int no_memory(struct reader *reader)
{
    return error_set(reader->error, ERROR_MEMORY, "script tree: out of memory");
}

static int read_place(struct reader *reader, const json_t *object, const char *where,
                      struct script_place *out)
{
    json_t *array;
    int rc = json_get_array(object, "place", where, &array, reader->error);
    if (rc != 0) {
        return rc;
    }
    const json_t *line = json_array_get(array, 0), *column = json_array_get(array, 1);
    if (json_array_size(array) != 2 || !json_is_integer(line) || !json_is_integer(column) ||
        json_integer_value(line) < 1 || json_integer_value(line) > UINT32_MAX ||
        json_integer_value(column) < 1 || json_integer_value(column) > UINT32_MAX) {
        return bad(reader, "the place of %s is not [line, column]", where);
    }
    *out = (struct script_place){.line = (uint32_t)json_integer_value(line),
                                 .column = (uint32_t)json_integer_value(column)};
    return 0;
}

static int read_index(struct reader *reader, const json_t *object, const char *key,
                      const char *where, uint32_t count, uint32_t *out)
{
    uint64_t index;
    int rc = json_get_u64(object, key, where, &index, reader->error);
    if (rc == 0 && index >= count) {
        rc = bad(reader, "%s of %s is %llu, there are %u", key, where, (unsigned long long)index,
                 count);
    }
    *out = (uint32_t)index;
    return rc;
}

/* Text without a NUL, as a new string. */
static int read_text(struct reader *reader, const json_t *object, const char *key,
                     const char *where, char **out)
{
    const char *text;
    int rc = json_get_string(object, key, where, &text, reader->error);
    if (rc != 0) {
        return rc;
    }
    *out = strdup(text);
    return *out == NULL ? no_memory(reader) : 0;
}

/* ---- expressions ------------------------------------------------------ */

static int read_constant(struct reader *reader, const json_t *json, enum script_type type,
                         struct script_expression *out)
{
    const json_t *value = json_object_get(json, "value");
    struct value *constant = &out->constant;
    if (type == SCRIPT_INTEGER && json_is_integer(value) &&
        json_integer_value(value) >= -SCRIPT_INTEGER_MAX &&
        json_integer_value(value) <= SCRIPT_INTEGER_MAX) {
        *constant = (struct value){.type = VALUE_INTEGER, .integer = json_integer_value(value)};
        return 0;
    }
    if (type == SCRIPT_DOUBLE && json_is_number(value) && isfinite(json_number_value(value))) {
        *constant = (struct value){.type = VALUE_DOUBLE, .real = json_number_value(value)};
        return 0;
    }
    size_t length = json_string_length(value);
    if (type != SCRIPT_TEXT || !json_is_string(value) || length > 1000000 ||
        strlen(json_string_value(value)) != length) {
        return bad(reader, "the value of a constant is not a fitting %s", type_name(type));
    }
    char *text = strdup(json_string_value(value));
    if (text == NULL) {
        return no_memory(reader);
    }
    *constant = (struct value){.type = VALUE_TEXT, .length = (uint32_t)length, .bytes = text};
    return 0;
}

static int read_expression(struct reader *reader, const json_t *json, uint32_t depth,
                           struct script_expression *out);

static int read_arguments(struct reader *reader, const json_t *json, uint32_t depth,
                          struct script_expression *out)
{
    json_t *array;
    int rc = json_get_array(json, "arguments", "an expression", &array, reader->error);
    if (rc != 0 || json_array_size(array) == 0) {
        return rc;
    }
    size_t count = json_array_size(array);
    out->arguments = calloc(count, sizeof *out->arguments);
    if (out->arguments == NULL) {
        return no_memory(reader);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = read_expression(reader, json_array_get(array, i), depth + 1, &out->arguments[i]);
        out->argument_count++;
    }
    return rc;
}

static int read_leaf(struct reader *reader, const json_t *json, uint32_t depth,
                     enum script_type type, enum script_op op, struct script_expression *out)
{
    if (op == SCRIPT_OP_CONSTANT) {
        return read_constant(reader, json, type, out);
    }
    out->op = op;
    if (op == SCRIPT_OP_VARIABLE) {
        return read_index(reader, json, "variable", "an expression", reader->script->variable_count,
                          &out->variable);
    }
    return read_arguments(reader, json, depth, out);
}

/* On failure *out can be released. */
static int read_expression(struct reader *reader, const json_t *json, uint32_t depth,
                           struct script_expression *out)
{
    const char *op_name, *type;
    int rc = json_get_string(json, "op", "an expression", &op_name, reader->error);
    if (rc == 0) {
        rc = json_get_string(json, "type", "an expression", &type, reader->error);
    }
    if (rc == 0) {
        rc = read_place(reader, json, "an expression", &out->place);
    }
    if (rc != 0) {
        return rc;
    }
    int op = operation_find(op_name), claimed = type_find(type);
    if (op < 0 || claimed < 0) {
        return bad(reader, "unknown %s \"%.40s\"", op < 0 ? "op" : "type", op < 0 ? op_name : type);
    }
    if (depth > EXPRESSION_DEPTH_MAX) {
        return bad(reader, "an expression is nested more than %d deep", EXPRESSION_DEPTH_MAX);
    }
    rc = read_leaf(reader, json, depth, (enum script_type)claimed, (enum script_op)op, out);
    if (rc != 0) {
        return rc;
    }
    struct operation_fault fault;
    if (!operation_infer(out, reader->script->variables, &fault)) {
        return bad(reader, "%u:%u: %s", fault.place.line, fault.place.column, fault.message);
    }
    if ((int)out->type != claimed) {
        return bad(reader, "%s at %u:%u says type %s, it is %s", op_name, out->place.line,
                   out->place.column, type, type_name(out->type));
    }
    return 0;
}

static int read_typed(struct reader *reader, const json_t *object, const char *key,
                      enum script_type type, struct script_expression *out)
{
    json_t *json;
    int rc = json_get_object(object, key, "a step", &json, reader->error);
    if (rc == 0) {
        rc = read_expression(reader, json, 1, out);
    }
    if (rc == 0 && out->type != type) {
        rc = bad(reader, "%s at %u:%u is %s, it must be %s", key, out->place.line,
                 out->place.column, type_name(out->type), type_name(type));
    }
    return rc;
}

/* ---- steps ------------------------------------------------------------ */

static int read_block(struct reader *reader, const json_t *object, uint32_t depth,
                      bool in_transaction, struct script_block *out);

/* A variable that a script may write. */
static int read_target(struct reader *reader, const json_t *json, uint32_t *out)
{
    int rc = read_index(reader, json, "variable", "a step", reader->script->variable_count, out);
    if (rc == 0 && reader->script->variables[*out].origin != SCRIPT_FROM_SET) {
        rc = bad(reader, "a step sets %s, which is not from \"set\"",
                 reader->script->variables[*out].name);
    }
    return rc;
}

static int read_repeat(struct reader *reader, const json_t *json, uint32_t depth,
                       bool in_transaction, struct script_step *out)
{
    int rc = read_typed(reader, json, "count", SCRIPT_INTEGER, &out->expression);
    const json_t *variable = json_object_get(json, "variable");
    out->variable = UINT32_MAX;
    if (rc == 0 && variable != NULL && !json_is_null(variable)) {
        rc = read_target(reader, json, &out->variable);
        if (rc == 0 && reader->script->variables[out->variable].type != SCRIPT_INTEGER) {
            rc = bad(reader, "the variable of a repeat is no integer");
        }
    }
    return rc != 0 ? rc : read_block(reader, json, depth + 1, in_transaction, &out->body);
}

static int read_rows(struct reader *reader, const json_t *json, uint32_t depth, bool in_transaction,
                     struct script_step *out)
{
    if (depth > 0 || in_transaction) {
        return bad(reader, "rows stands only at the top, outside of transactions");
    }
    int rc = read_text(reader, json, "table", "a step", &out->table);
    if (rc == 0) {
        rc = read_typed(reader, json, "count", SCRIPT_INTEGER, &out->expression);
    }
    if (rc == 0) {
        rc = read_typed(reader, json, "chunk", SCRIPT_INTEGER, &out->chunk);
    }
    if (rc != 0) {
        return rc;
    }
    reader->in_rows = true;
    rc = read_block(reader, json, depth + 1, false, &out->body);
    reader->in_rows = false;
    return rc;
}

/* *open: a transaction that this block began; `outer`: one around the block. */
static int read_transaction(struct reader *reader, enum script_step_kind kind, bool outer,
                            bool *open)
{
    if (kind == SCRIPT_STEP_COMMIT ? !*open : (*open || outer || reader->in_rows)) {
        return bad(reader, "begin and commit do not pair within their block");
    }
    *open = kind != SCRIPT_STEP_COMMIT;
    return 0;
}

static int read_step(struct reader *reader, const json_t *json, uint32_t depth, bool outer,
                     bool *open, struct script_step *out)
{
    static const char *const kinds[] = {"set",    "statement", "begin_read", "begin_write",
                                        "commit", "repeat",    "rows"};
    const char *name;
    int rc = json_get_string(json, "step", "a step", &name, reader->error);
    if (rc == 0) {
        rc = read_place(reader, json, "a step", &out->place);
    }
    if (rc != 0) {
        return rc;
    }
    uint32_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(kinds[kind], name) != 0) {
        kind++;
    }
    out->kind = (enum script_step_kind)kind;
    switch (kind) {
    case SCRIPT_STEP_SET:
        rc = read_target(reader, json, &out->variable);
        return rc != 0
                   ? rc
                   : read_typed(reader, json, "expression",
                                reader->script->variables[out->variable].type, &out->expression);
    case SCRIPT_STEP_STATEMENT:
        return read_index(reader, json, "statement", "a step", reader->script->statement_count,
                          &out->statement);
    case SCRIPT_STEP_BEGIN_READ:
    case SCRIPT_STEP_BEGIN_WRITE:
    case SCRIPT_STEP_COMMIT:
        return read_transaction(reader, out->kind, outer, open);
    case SCRIPT_STEP_REPEAT:
        return read_repeat(reader, json, depth, outer || *open, out);
    case SCRIPT_STEP_ROWS:
        return read_rows(reader, json, depth, outer || *open, out);
    default:
        out->kind = SCRIPT_STEP_COMMIT;
        return bad(reader, "unknown step \"%.40s\"", name);
    }
}

static int read_block(struct reader *reader, const json_t *object, uint32_t depth,
                      bool in_transaction, struct script_block *out)
{
    json_t *array;
    int rc = json_get_array(object, "steps", "a block", &array, reader->error);
    if (rc != 0 || json_array_size(array) == 0) {
        return rc;
    }
    if (depth > BLOCK_DEPTH_MAX) {
        return bad(reader, "repeat is nested more than %d deep", BLOCK_DEPTH_MAX);
    }
    size_t count = json_array_size(array);
    out->steps = count < UINT32_MAX ? calloc(count, sizeof *out->steps) : NULL;
    if (out->steps == NULL) {
        return no_memory(reader);
    }
    bool open = false;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = read_step(reader, json_array_get(array, i), depth, in_transaction, &open,
                       &out->steps[out->count]);
        out->count++;
    }
    return rc == 0 && open ? bad(reader, "begin has no commit in its block") : rc;
}

/* ---- the whole -------------------------------------------------------- */

static int read_variable(struct reader *reader, const json_t *json, struct script_variable *out)
{
    static const char *const origins[] = {"set", "scale", "builtin"};
    const char *type, *from;
    int rc = read_text(reader, json, "name", "a variable", &out->name);
    if (rc == 0) {
        rc = json_get_string(json, "type", "a variable", &type, reader->error);
    }
    if (rc == 0) {
        rc = json_get_string(json, "from", "a variable", &from, reader->error);
    }
    if (rc != 0) {
        return rc;
    }
    int origin = 0;
    while (origin < 3 && strcmp(origins[origin], from) != 0) {
        origin++;
    }
    int known = type_find(type);
    if (origin == 3 || known < 0) {
        return bad(reader, "variable %.64s has type \"%.40s\" from \"%.40s\"", out->name, type,
                   from);
    }
    out->origin = (enum script_origin)origin;
    out->type = (enum script_type)known;
    if (out->origin != SCRIPT_FROM_SET && out->type != SCRIPT_INTEGER) {
        return bad(reader, "variable %.64s is from %s and no integer", out->name, from);
    }
    return 0;
}

static int read_variables(struct reader *reader, const json_t *tree)
{
    json_t *array;
    int rc = json_get_array(tree, "variables", "a script", &array, reader->error);
    if (rc != 0 || json_array_size(array) == 0) {
        return rc;
    }
    struct script *script = reader->script;
    script->variables = calloc(json_array_size(array), sizeof *script->variables);
    if (script->variables == NULL) {
        return no_memory(reader);
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        rc = read_variable(reader, json_array_get(array, i),
                           &script->variables[script->variable_count]);
        script->variable_count++;
    }
    return rc;
}

static int read_statement(struct reader *reader, const json_t *json, struct script_statement *out)
{
    json_t *parameters = NULL;
    int rc = read_text(reader, json, "sql", "a statement", &out->sql);
    if (rc == 0) {
        rc = json_get_bool(json, "one", "a statement", &out->one, reader->error);
    }
    if (rc == 0) {
        rc = read_place(reader, json, "a statement", &out->place);
    }
    if (rc == 0) {
        rc = json_get_array(json, "parameters", "a statement", &parameters, reader->error);
    }
    size_t count = rc == 0 ? json_array_size(parameters) : 0;
    if (count == 0) {
        return rc;
    }
    out->parameters = calloc(count, sizeof *out->parameters);
    if (out->parameters == NULL) {
        return no_memory(reader);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *index = json_array_get(parameters, i);
        if (!json_is_integer(index) || json_integer_value(index) < 0 ||
            json_integer_value(index) >= reader->script->variable_count) {
            return bad(reader, "a parameter of \"%.60s\" is no variable", out->sql);
        }
        out->parameters[out->parameter_count++] = (uint32_t)json_integer_value(index);
    }
    return 0;
}

static int read_statements(struct reader *reader, const json_t *tree)
{
    json_t *array;
    int rc = json_get_array(tree, "statements", "a script", &array, reader->error);
    if (rc != 0 || json_array_size(array) == 0) {
        return rc;
    }
    struct script *script = reader->script;
    script->statements = calloc(json_array_size(array), sizeof *script->statements);
    if (script->statements == NULL) {
        return no_memory(reader);
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        rc = read_statement(reader, json_array_get(array, i),
                            &script->statements[script->statement_count]);
        script->statement_count++;
    }
    return rc;
}

int script_from_json(const json_t *tree, struct script **out, struct error *error)
{
    struct reader reader = {.script = calloc(1, sizeof(struct script)), .error = error};
    *out = NULL;
    if (reader.script == NULL) {
        return no_memory(&reader);
    }
    int rc = read_text(&reader, tree, "name", "a script", &reader.script->name);
    if (rc == 0) {
        rc = read_variables(&reader, tree);
    }
    if (rc == 0) {
        rc = read_statements(&reader, tree);
    }
    if (rc == 0) {
        rc = read_block(&reader, tree, 0, false, &reader.script->body);
    }
    if (rc != 0) {
        script_free(reader.script);
        return rc;
    }
    *out = reader.script;
    return 0;
}
