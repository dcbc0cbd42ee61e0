/* A script as the JSON tree of docs/worker-protocol.md, "Compiled scripts". */
#include "script/operation.h"

/* Packing with 'o' hands references over; a NULL among them makes the whole NULL. */
static json_t *place_json(struct script_place place)
{
    return json_pack("[II]", (json_int_t)place.line, (json_int_t)place.column);
}

static json_t *expression_json(const struct script_expression *e);

static json_t *arguments_json(const struct script_expression *e)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array != NULL && i < e->argument_count; i++) {
        if (json_array_append_new(array, expression_json(&e->arguments[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *constant_json(const struct value *value)
{
    switch (value->type) {
    case VALUE_INTEGER:
        return json_integer(value->integer);
    case VALUE_DOUBLE:
        return json_real(value->real);
    default:
        return json_stringn(value->bytes, value->length);
    }
}

static json_t *expression_json(const struct script_expression *e)
{
    const char *op = operations[e->op].name, *type = type_name(e->type);
    json_t *place = place_json(e->place);
    if (e->op == SCRIPT_OP_CONSTANT) {
        return json_pack("{ss,ss,so,so}", "op", op, "type", type, "value",
                         constant_json(&e->constant), "place", place);
    }
    if (e->op == SCRIPT_OP_VARIABLE) {
        return json_pack("{ss,ss,sI,so}", "op", op, "type", type, "variable",
                         (json_int_t)e->variable, "place", place);
    }
    return json_pack("{ss,ss,so,so}", "op", op, "type", type, "arguments", arguments_json(e),
                     "place", place);
}

static json_t *block_json(const struct script_block *block);

static json_t *step_json(const struct script_step *step)
{
    json_t *place = place_json(step->place);
    switch (step->kind) {
    case SCRIPT_STEP_SET:
        return json_pack("{ss,sI,so,so}", "step", "set", "variable", (json_int_t)step->variable,
                         "expression", expression_json(&step->expression), "place", place);
    case SCRIPT_STEP_STATEMENT:
        return json_pack("{ss,sI,so}", "step", "statement", "statement",
                         (json_int_t)step->statement, "place", place);
    case SCRIPT_STEP_BEGIN_READ:
        return json_pack("{ss,so}", "step", "begin_read", "place", place);
    case SCRIPT_STEP_BEGIN_WRITE:
        return json_pack("{ss,so}", "step", "begin_write", "place", place);
    case SCRIPT_STEP_COMMIT:
        return json_pack("{ss,so}", "step", "commit", "place", place);
    case SCRIPT_STEP_REPEAT:
        return json_pack("{ss,so,so,so,so}", "step", "repeat", "count",
                         expression_json(&step->expression), "variable",
                         step->variable == UINT32_MAX ? json_null() : json_integer(step->variable),
                         "steps", block_json(&step->body), "place", place);
    case SCRIPT_STEP_ROWS:
        return json_pack("{ss,ss,so,so,so,so}", "step", "rows", "table", step->table, "count",
                         expression_json(&step->expression), "chunk", expression_json(&step->chunk),
                         "steps", block_json(&step->body), "place", place);
    }
    json_decref(place);
    return NULL;
}

static json_t *block_json(const struct script_block *block)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array != NULL && i < block->count; i++) {
        if (json_array_append_new(array, step_json(&block->steps[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *variables_json(const struct script *script)
{
    static const char *const origins[] = {"set", "scale", "builtin"};
    json_t *array = json_array();
    for (uint32_t i = 0; array != NULL && i < script->variable_count; i++) {
        const struct script_variable *variable = &script->variables[i];
        if (json_array_append_new(array, json_pack("{ss,ss,ss}", "name", variable->name, "type",
                                                   type_name(variable->type), "from",
                                                   origins[variable->origin])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *statement_json(const struct script_statement *statement)
{
    json_t *parameters = json_array();
    for (uint32_t i = 0; parameters != NULL && i < statement->parameter_count; i++) {
        if (json_array_append_new(parameters, json_integer(statement->parameters[i])) != 0) {
            json_decref(parameters);
            parameters = NULL;
        }
    }
    return json_pack("{ss,so,sb,so}", "sql", statement->sql, "parameters", parameters, "one",
                     (int)statement->one, "place", place_json(statement->place));
}

static json_t *statements_json(const struct script *script)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array != NULL && i < script->statement_count; i++) {
        if (json_array_append_new(array, statement_json(&script->statements[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

json_t *script_to_json(const struct script *script)
{
    return json_pack("{ss,so,so,so}", "name", script->name, "variables", variables_json(script),
                     "statements", statements_json(script), "steps", block_json(&script->body));
}
