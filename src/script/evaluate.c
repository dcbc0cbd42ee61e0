/* Turns a block of a script into a flat list of calls with bound values. */
#include "script/evaluate_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct value zeros[] = {
    [SCRIPT_INTEGER] = {.type = VALUE_INTEGER, .integer = 0},
    [SCRIPT_DOUBLE] = {.type = VALUE_DOUBLE, .real = 0.0},
    [SCRIPT_TEXT] = {.type = VALUE_TEXT, .length = 0, .bytes = ""},
};

bool evaluation_fail(struct evaluation *evaluation, struct script_place place, const char *message)
{
    const struct script *script = evaluation->script;
    evaluation->failed_at = place;
    error_set(evaluation->memory->error, ERROR_INVALID, "%s%s:%u:%u: %s",
              script->file != NULL ? script->file : script->name,
              script->file != NULL ? "" : ".sql", place.line, place.column, message);
    return false;
}

static bool no_memory(struct evaluation *evaluation)
{
    error_set(evaluation->memory->error, ERROR_MEMORY, "script %s: out of memory",
              evaluation->script->name);
    return false;
}

/* ---- memory ----------------------------------------------------------- */

char *arena_take(struct evaluation *evaluation, size_t length, struct script_place place)
{
    struct evaluation_memory *memory = evaluation->memory;
    if (length > memory->arena_capacity - memory->arena_used) {
        if (length > TEXT_LENGTH_MAX || memory->arena_total > TEXT_TOTAL_MAX) {
            evaluation_fail(evaluation, place,
                            "texts too long: one has at most 1,000,000 bytes, those of one "
                            "operation 64 MiB");
            return NULL;
        }
        size_t capacity = memory->arena_total + length + 1024;
        struct arena_block *block = malloc(sizeof *block + capacity);
        if (block == NULL) {
            no_memory(evaluation);
            return NULL;
        }
        block->next = memory->arena;
        memory->arena = block;
        memory->arena_used = 0;
        memory->arena_capacity = capacity;
        memory->arena_total += capacity;
    }
    char *start = memory->arena->bytes + memory->arena_used;
    memory->arena_used += length;
    return start;
}

static void arena_free(struct evaluation_memory *memory)
{
    while (memory->arena != NULL) {
        struct arena_block *next = memory->arena->next;
        free(memory->arena);
        memory->arena = next;
    }
    memory->arena_used = memory->arena_capacity = memory->arena_total = 0;
}

/* One block that is as large as all of the last draw's. */
static bool arena_reset(struct evaluation *evaluation)
{
    struct evaluation_memory *memory = evaluation->memory;
    memory->arena_used = 0;
    if (memory->arena == NULL || memory->arena->next == NULL) {
        return true;
    }
    size_t capacity = memory->arena_total;
    arena_free(memory);
    memory->arena = malloc(sizeof *memory->arena + capacity);
    if (memory->arena == NULL) {
        return no_memory(evaluation);
    }
    memory->arena->next = NULL;
    memory->arena_capacity = memory->arena_total = capacity;
    return true;
}

/* Copies the texts of all variables out of the arena before it is used again. Two
 * buffers take turns, since a variable may share the kept bytes of another. */
static bool keep_texts(struct evaluation *evaluation)
{
    struct evaluation_memory *memory = evaluation->memory;
    size_t total = 0;
    for (uint32_t i = 0; i < memory->text_count; i++) {
        total += evaluation->variables[memory->texts[i]].length;
    }
    if (total == 0) {
        return true;
    }
    memory->newest_kept ^= 1;
    struct kept_texts *kept = &memory->kept[memory->newest_kept];
    if (total > kept->capacity) {
        char *bytes = realloc(kept->bytes, 2 * total);
        if (bytes == NULL) {
            return no_memory(evaluation);
        }
        *kept = (struct kept_texts){.bytes = bytes, .capacity = 2 * total};
    }
    char *to = kept->bytes;
    for (uint32_t i = 0; i < memory->text_count; i++) {
        struct value *variable = &evaluation->variables[memory->texts[i]];
        memcpy(to, variable->bytes, variable->length);
        variable->bytes = to;
        to += variable->length;
    }
    return true;
}

static __attribute__((noinline)) bool grow(struct evaluation *evaluation, void **array,
                                           uint32_t *capacity, uint32_t needed, size_t size)
{
    uint32_t larger = *capacity < 16 ? 16 : *capacity * 2;
    if (larger < needed) {
        larger = needed;
    }
    void *moved = realloc(*array, larger * size);
    if (moved == NULL) {
        return no_memory(evaluation);
    }
    *array = moved;
    *capacity = larger;
    return true;
}

/* ---- steps ------------------------------------------------------------ */

static inline bool add_call(struct evaluation *evaluation, const struct script_step *step,
                            enum script_call_kind kind)
{
    struct evaluation_memory *memory = evaluation->memory;
    if (__builtin_expect(evaluation->call_count == memory->call_capacity, 0)) {
        if (evaluation->call_count >= SCRIPT_CALLS_MAX) {
            return evaluation_fail(evaluation, step->place,
                                   "more than 1,000,000 calls in one operation");
        }
        void *calls = evaluation->calls;
        if (!grow(evaluation, &calls, &memory->call_capacity, evaluation->call_count + 1,
                  sizeof *evaluation->calls)) {
            return false;
        }
        evaluation->calls = calls;
        if (memory->call_capacity > SCRIPT_CALLS_MAX) {
            memory->call_capacity = SCRIPT_CALLS_MAX;
        }
    }
    evaluation->calls[evaluation->call_count++] = (struct script_call){
        .kind = kind, .statement = step->statement, .first_value = evaluation->value_count};
    return true;
}

static inline bool add_statement(struct evaluation *evaluation, const struct script_step *step)
{
    const struct script_statement *statement = &evaluation->script->statements[step->statement];
    struct evaluation_memory *memory = evaluation->memory;
    if (!add_call(evaluation, step, SCRIPT_CALL_STATEMENT)) {
        return false;
    }
    uint32_t count = statement->parameter_count;
    if (__builtin_expect(count > memory->value_capacity - evaluation->value_count, 0)) {
        if (count > UINT32_MAX / 4 - evaluation->value_count) {
            return evaluation_fail(evaluation, step->place, "too many values in one operation");
        }
        void *values = evaluation->values;
        if (!grow(evaluation, &values, &memory->value_capacity, evaluation->value_count + count,
                  sizeof *evaluation->values)) {
            return false;
        }
        evaluation->values = values;
    }
    struct value *values = evaluation->values + evaluation->value_count;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = evaluation->variables[statement->parameters[i]];
    }
    evaluation->value_count += count;
    evaluation->calls[evaluation->call_count - 1].value_count = count;
    return true;
}

static inline bool set(struct evaluation *evaluation, const struct script_step *step)
{
    /* A copy: the expression may read the variable's old value until its end. */
    struct value value = zeros[step->expression.type];
    bool done;
    switch (step->expression.type) {
    case SCRIPT_INTEGER:
        done = integer_of(evaluation, &step->expression, &value.integer);
        break;
    case SCRIPT_DOUBLE:
        done = real_of(evaluation, &step->expression, &value.real);
        break;
    default:
        done = text_of(evaluation, &step->expression, &value);
        break;
    }
    evaluation->variables[step->variable] = value;
    return done;
}

static bool run_block(struct evaluation *evaluation, const struct script_block *block);

static bool repeat(struct evaluation *evaluation, const struct script_step *step)
{
    int64_t count;
    if (!integer_of(evaluation, &step->expression, &count)) {
        return false;
    }
    if (count < 0) {
        return evaluation_fail(evaluation, step->place, "a negative count of \\repeat");
    }
    for (int64_t turn = 1; turn <= count; turn++) {
        if (++evaluation->memory->turns > SCRIPT_CALLS_MAX) {
            return evaluation_fail(evaluation, step->place,
                                   "more than 1,000,000 turns of \\repeat in one operation");
        }
        if (step->variable != UINT32_MAX) {
            evaluation->variables[step->variable].integer = turn;
        }
        if (!run_block(evaluation, &step->body)) {
            return false;
        }
    }
    return true;
}

static bool run_block(struct evaluation *evaluation, const struct script_block *block)
{
    bool going = true;
    for (uint32_t i = 0; i < block->count && going; i++) {
        const struct script_step *step = &block->steps[i];
        switch (step->kind) {
        case SCRIPT_STEP_SET:
            going = set(evaluation, step);
            break;
        case SCRIPT_STEP_STATEMENT:
            going = add_statement(evaluation, step);
            break;
        case SCRIPT_STEP_BEGIN_READ:
            going = add_call(evaluation, step, SCRIPT_CALL_BEGIN_READ);
            break;
        case SCRIPT_STEP_BEGIN_WRITE:
            going = add_call(evaluation, step, SCRIPT_CALL_BEGIN_WRITE);
            break;
        case SCRIPT_STEP_COMMIT:
            going = add_call(evaluation, step, SCRIPT_CALL_COMMIT);
            break;
        case SCRIPT_STEP_REPEAT:
            going = repeat(evaluation, step);
            break;
        case SCRIPT_STEP_ROWS:
            going = evaluation_fail(evaluation, step->place, "\\rows is drawn row by row");
            break;
        }
    }
    return going;
}

/* ---- the interface ---------------------------------------------------- */

static int failure_code(const struct error *error)
{
    return error != NULL && error->code != ERROR_NONE ? error->code : ERROR_INVALID;
}

int evaluation_draw(struct evaluation *evaluation, const struct script_block *block,
                    struct random *random, struct error *error)
{
    struct evaluation_memory *memory = evaluation->memory;
    memory->random = random;
    memory->error = error;
    memory->turns = 0;
    evaluation->call_count = 0;
    evaluation->value_count = 0;
    if (block == &evaluation->script->body) {
        for (uint32_t i = 0; i < memory->set_count; i++) {
            uint32_t variable = memory->set[i];
            evaluation->variables[variable] = zeros[evaluation->script->variables[variable].type];
        }
    } else if (!keep_texts(evaluation)) {
        return ERROR_MEMORY;
    }
    if (!arena_reset(evaluation)) {
        return ERROR_MEMORY;
    }
    return run_block(evaluation, block) ? 0 : failure_code(error);
}

int evaluation_integer(struct evaluation *evaluation, const struct script_expression *expression,
                       struct random *random, int64_t *out, struct error *error)
{
    evaluation->memory->random = random;
    evaluation->memory->error = error;
    return integer_of(evaluation, expression, out) ? 0 : failure_code(error);
}

static int variable_init(struct evaluation *evaluation, uint32_t index,
                         const struct script_constant *constants, size_t constant_count,
                         struct error *error)
{
    const struct script *script = evaluation->script;
    const struct script_variable *variable = &script->variables[index];
    struct evaluation_memory *memory = evaluation->memory;
    evaluation->variables[index] = zeros[variable->type];
    if (variable->origin == SCRIPT_FROM_SET) {
        memory->set[memory->set_count++] = index;
        if (variable->type == SCRIPT_TEXT) {
            memory->texts[memory->text_count++] = index;
        }
    }
    if (variable->origin != SCRIPT_FROM_SCALE) {
        return 0;
    }
    for (size_t i = 0; i < constant_count; i++) {
        if (strcmp(constants[i].name, variable->name) != 0) {
            continue;
        }
        int64_t value = constants[i].value;
        if (value < -SCRIPT_INTEGER_MAX || value > SCRIPT_INTEGER_MAX) {
            return error_set(error, ERROR_INVALID,
                             "variable %s is %lld: integers lie within "
                             "±9007199254740991 (2^53 - 1)",
                             variable->name, (long long)value);
        }
        evaluation->variables[index].integer = value;
        return 0;
    }
    return error_set(error, ERROR_INVALID, "script %s: the scale gives no value for :%s",
                     script->name, variable->name);
}

int evaluation_init(struct evaluation *evaluation, const struct script *script,
                    const struct script_constant *constants, size_t constant_count,
                    struct error *error)
{
    size_t count = (size_t)script->variable_count + 1; /* never calloc(0) */
    *evaluation = (struct evaluation){.script = script, .draw = SCRIPT_DRAW_RANDOM};
    struct evaluation_memory *memory = calloc(1, sizeof *memory);
    evaluation->memory = memory;
    evaluation->variables = calloc(count, sizeof *evaluation->variables);
    if (memory != NULL) {
        memory->set = calloc(count, sizeof *memory->set);
        memory->texts = calloc(count, sizeof *memory->texts);
    }
    int rc = 0;
    if (memory == NULL || evaluation->variables == NULL || memory->set == NULL ||
        memory->texts == NULL) {
        rc = error_set(error, ERROR_MEMORY, "script %s: out of memory", script->name);
    }
    for (uint32_t i = 0; rc == 0 && i < script->variable_count; i++) {
        rc = variable_init(evaluation, i, constants, constant_count, error);
    }
    if (rc != 0) {
        evaluation_release(evaluation);
    }
    return rc;
}

void evaluation_release(struct evaluation *evaluation)
{
    struct evaluation_memory *memory = evaluation->memory;
    if (memory != NULL) {
        arena_free(memory);
        free(memory->kept[0].bytes);
        free(memory->kept[1].bytes);
        free(memory->set);
        free(memory->texts);
        free(memory);
    }
    free(evaluation->variables);
    free(evaluation->calls);
    free(evaluation->values);
    *evaluation = (struct evaluation){0};
}

int evaluation_builtin(const struct evaluation *evaluation, const char *name)
{
    const struct script *script = evaluation->script;
    for (uint32_t i = 0; i < script->variable_count; i++) {
        if (script->variables[i].origin == SCRIPT_FROM_BUILTIN &&
            strcmp(script->variables[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int expression_fold(const char *file, struct script_expression *expression, struct error *error)
{
    struct evaluation_memory memory = {.error = error};
    struct script script = {.file = (char *)file, .name = (char *)file};
    struct evaluation evaluation = {.script = &script, .memory = &memory};
    struct value value = {.type = VALUE_DOUBLE};
    bool done;
    if (expression->type == SCRIPT_INTEGER) {
        value.type = VALUE_INTEGER;
        done = integer_of(&evaluation, expression, &value.integer);
    } else {
        done = real_of(&evaluation, expression, &value.real);
    }
    if (!done) {
        return failure_code(error);
    }
    for (uint32_t i = 0; i < expression->argument_count; i++) {
        if (expression->arguments[i].type == SCRIPT_TEXT) {
            free((char *)expression->arguments[i].constant.bytes);
        }
    }
    free(expression->arguments);
    expression->op = SCRIPT_OP_CONSTANT;
    expression->constant = value;
    expression->arguments = NULL;
    expression->argument_count = 0;
    return 0;
}
