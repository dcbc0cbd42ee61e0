/*
 * tests/vectors/scripts/scripts.json: sources, the trees they compile to, and the
 * calls that those trees draw. Any language that evaluates scripts runs the same
 * file. PITOT_WRITE_VECTORS=PATH writes it anew from its sources (then read the
 * difference: it is a change of what a seed means).
 */
#include "script_testing.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"

#define VECTORS TEST_SOURCE_DIR "/tests/vectors/scripts/scripts.json"

struct stream {
    struct evaluation evaluation;
    struct random random;
    json_t *calls; /* of the operation that is drawn */
};

static json_t *value_json(const struct value *value)
{
    switch (value->type) {
    case VALUE_INTEGER:
        return json_pack("{sI}", "integer", (json_int_t)value->integer);
    case VALUE_DOUBLE:
        return json_pack("{sf}", "double", value->real);
    case VALUE_TEXT:
        return json_pack("{so}", "text", json_stringn(value->bytes, value->length));
    default:
        fail_msg("a value of type %d", value->type);
        return NULL;
    }
}

static void take_calls(struct stream *stream)
{
    static const char *const names[] = {"statement", "begin_read", "begin_write", "commit"};
    const struct evaluation *evaluation = &stream->evaluation;
    for (uint32_t i = 0; i < evaluation->call_count; i++) {
        const struct script_call *call = &evaluation->calls[i];
        json_t *json = json_pack("{ss}", "call", names[call->kind]);
        if (call->kind == SCRIPT_CALL_STATEMENT) {
            json_t *values = json_array();
            for (uint32_t v = 0; v < call->value_count; v++) {
                json_array_append_new(values,
                                      value_json(&evaluation->values[call->first_value + v]));
            }
            json_object_set_new(json, "statement", json_integer(call->statement));
            json_object_set_new(json, "values", values);
        }
        json_array_append_new(stream->calls, json);
    }
}

static int draw_block(struct stream *stream, const struct script_block *block, struct error *error)
{
    int rc = evaluation_draw(&stream->evaluation, block, &stream->random, error);
    if (rc == 0) {
        take_calls(stream);
    }
    return rc;
}

/* What a load does, without its transactions: the steps in order, rows one by one. */
static int draw_load(struct stream *stream, struct error *error)
{
    const struct script_block *body = &stream->evaluation.script->body;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < body->count; i++) {
        const struct script_step *step = &body->steps[i];
        if (step->kind != SCRIPT_STEP_ROWS) {
            struct script_block one = {.steps = &body->steps[i], .count = 1};
            rc = draw_block(stream, &one, error);
            continue;
        }
        int64_t count, chunk;
        rc = evaluation_integer(&stream->evaluation, &step->expression, &stream->random, &count,
                                error);
        if (rc == 0) {
            rc = evaluation_integer(&stream->evaluation, &step->chunk, &stream->random, &chunk,
                                    error);
        }
        int row_slot = evaluation_builtin(&stream->evaluation, "row");
        for (int64_t row = 1; rc == 0 && row <= count; row++) {
            evaluation_assign(&stream->evaluation, row_slot, row);
            rc = draw_block(stream, &step->body, error);
        }
    }
    return rc;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) {
        fail_msg("the vector has no %s", key);
    }
    return json_integer_value(value);
}

static enum script_draw draw_kind(const json_t *draw)
{
    static const char *const names[] = {"random", "low", "high", "beyond"};
    const char *name = json_string_value(json_object_get(draw, "draw"));
    for (int i = 0; i < 4; i++) {
        if (name != NULL && strcmp(names[i], name) == 0) {
            return (enum script_draw)i;
        }
    }
    fail_msg("unknown draw %s", name);
    return SCRIPT_DRAW_RANDOM;
}

/* The place and the kind of the error: what stands before the next colon. */
static json_t *failure_json(const struct evaluation *evaluation, const struct error *error)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, ".sql:%u:%u: ", evaluation->failed_at.line,
             evaluation->failed_at.column);
    const char *kind = strstr(error->message, prefix);
    assert_non_null(kind);
    kind += strlen(prefix);
    return json_pack("{s[II]ss%}", "place", (json_int_t)evaluation->failed_at.line,
                     (json_int_t)evaluation->failed_at.column, "error", kind, strcspn(kind, ":"));
}

/* The calls of each operation, or the error that ended the last one. */
static json_t *run_draw(const struct script *script, const struct script_constant *constants,
                        size_t constant_count, const json_t *draw, bool load)
{
    struct error error = ERROR_INIT;
    struct stream stream;
    assert_int_equal(evaluation_init(&stream.evaluation, script, constants, constant_count, &error),
                     0);
    stream.evaluation.draw = draw_kind(draw);
    random_init(&stream.random, (uint32_t)number(draw, "seed"),
                (enum random_purpose)number(draw, "purpose"), (uint32_t)number(draw, "connection"),
                (uint32_t)number(draw, "script"));
    struct evaluation *evaluation = &stream.evaluation;
    evaluation_assign(evaluation, evaluation_builtin(evaluation, "connection"),
                      number(draw, "connection"));
    evaluation_assign(evaluation, evaluation_builtin(evaluation, "connections"),
                      number(draw, "connections"));
    int op_slot = evaluation_builtin(evaluation, "op");
    json_t *operations = json_array();
    int rc = 0;
    for (json_int_t i = 0; rc == 0 && i < number(draw, "operations"); i++) {
        evaluation_assign(evaluation, op_slot, number(draw, "first_op") + i);
        stream.calls = json_array();
        rc = load ? draw_load(&stream, &error) : draw_block(&stream, &script->body, &error);
        if (rc == 0) {
            json_array_append_new(operations, json_pack("{so}", "calls", stream.calls));
        } else {
            json_decref(stream.calls);
            json_array_append_new(operations, failure_json(evaluation, &error));
        }
    }
    evaluation_release(evaluation);
    return operations;
}

static void check_equal(const char *what, const json_t *case_json, const json_t *found,
                        const json_t *expected)
{
    if (!json_equal(found, expected)) {
        char *text = json_dumps(found, 0);
        fail_msg("%s: %s is now %s", json_string_value(json_object_get(case_json, "name")), what,
                 text);
    }
}

static size_t read_constants(const json_t *object, struct script_constant *out, size_t most)
{
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        assert_true(count < most);
        out[count++] =
            (struct script_constant){.name = (char *)name, .value = json_integer_value(value)};
    }
    return count;
}

static struct script *through_json(const struct script *script, const json_t *tree)
{
    struct error error = ERROR_INIT;
    struct script *read = NULL;
    if (script_from_json(tree, &read, &error) != 0) {
        fail_msg("%s: %s", script->name, error.message);
    }
    return read;
}

static void run_case(json_t *vector, bool write)
{
    const char *source = json_string_value(json_object_get(vector, "source"));
    bool load = json_is_true(json_object_get(vector, "load"));
    struct script_constant constants[16];
    size_t count = read_constants(json_object_get(vector, "variables"), constants, 16);
    struct error error = ERROR_INIT;
    struct script *script = NULL;
    if (script_parse(json_string_value(json_object_get(vector, "name")), "vector.sql", source,
                     strlen(source), constants, count, load, &script, &error) != 0) {
        fail_msg("%s", error.message);
    }
    json_t *tree = script_to_json(script);
    assert_non_null(tree);
    if (write) {
        json_object_set(vector, "tree", tree);
    }
    check_equal("tree", vector, tree, json_object_get(vector, "tree"));
    /* What is evaluated is what a worker would have read. */
    struct script *read = through_json(script, json_object_get(vector, "tree"));
    size_t i;
    json_t *draw;
    json_array_foreach(json_object_get(vector, "draws"), i, draw)
    {
        json_t *operations = run_draw(read, constants, count, draw, load);
        if (write) {
            json_object_set(draw, "expect", operations);
        }
        check_equal("a draw", vector, operations, json_object_get(draw, "expect"));
        json_decref(operations);
    }
    json_decref(tree);
    script_free(read);
    script_free(script);
}

static void test_vectors(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct buffer bytes;
    buffer_init(&bytes);
    json_t *vectors = NULL;
    if (file_read(VECTORS, 16 << 20, &bytes, &error) != 0 ||
        json_parse(bytes.data, bytes.length, VECTORS, &vectors, &error) != 0) {
        fail_msg("%s", error.message);
    }
    const char *write = getenv("PITOT_WRITE_VECTORS");
    json_t *cases = json_object_get(vectors, "cases");
    assert_true(json_array_size(cases) > 10);
    size_t i;
    json_t *vector;
    json_array_foreach(cases, i, vector)
    {
        run_case(vector, write != NULL);
    }
    if (write != NULL) {
        assert_int_equal(json_dump_file(vectors, write, JSON_INDENT(1) | JSON_REAL_PRECISION(17)),
                         0);
    }
    json_decref(vectors);
    buffer_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
