/* The JSON tree: a round trip, and trees that someone made to do harm. */
#include "script_testing.h"

#include "base/buffer.h"

static const char source[] = "\\set x random(1, :users)\n"
                             "\\set d :x / 2.0\n"
                             "\\set t format('%s-%d', choice('a', 'b'), :x)\n"
                             "\\repeat 3 AS i\nSELECT :i, :x, :x;\n\\end\n"
                             "\\begin read\n\\one\nSELECT :t, :d;\n\\commit\n";

static void test_round_trip(void **state)
{
    (void)state;
    struct script *script = parse_text(source, false);
    json_t *tree = script_to_json(script);
    char *text = json_dumps(tree, 0);
    json_t *wire = json_loads(text, 0, NULL);
    struct error error = ERROR_INIT;
    struct script *read = NULL;
    assert_int_equal(script_from_json(wire, &read, &error), 0);
    assert_null(read->file);
    json_t *again = script_to_json(read);
    assert_true(json_equal(tree, again));
    assert_true(read->statements[1].one);
    json_decref(tree);
    json_decref(wire);
    json_decref(again);
    free(text);
    script_free(read);
    script_free(script);
}

/* The place of a failure in a worker, which knows no file. */
static void test_message_without_file(void **state)
{
    (void)state;
    struct script *script = parse_text("\\set x 1 / :zero\nSELECT :x;", false), *read = NULL;
    json_t *tree = script_to_json(script);
    struct error error = ERROR_INIT;
    assert_int_equal(script_from_json(tree, &read, &error), 0);
    struct evaluation evaluation;
    struct random random = {0};
    start_evaluation(&evaluation, read);
    assert_int_equal(evaluation_draw(&evaluation, &read->body, &random, &error), ERROR_INVALID);
    assert_string_equal(error.message, "t.sql:1:10: division by zero");
    evaluation_release(&evaluation);
    json_decref(tree);
    script_free(read);
    script_free(script);
}

#define PLACE "\"place\":[1,1]"
#define ONE "{\"op\":\"constant\",\"type\":\"integer\",\"value\":1," PLACE "}"
#define TREE(variables, statements, steps)                                                         \
    "{\"name\":\"t\",\"variables\":[" variables "],\"statements\":[" statements                    \
    "],\"steps\":[" steps "]}"
#define VARIABLES                                                                                  \
    "{\"name\":\"x\",\"type\":\"integer\",\"from\":\"set\"},"                                      \
    "{\"name\":\"u\",\"type\":\"integer\",\"from\":\"scale\"},"                                    \
    "{\"name\":\"s\",\"type\":\"text\",\"from\":\"set\"}"
#define STATEMENT "{\"sql\":\"SELECT ?\",\"parameters\":[0],\"one\":false," PLACE "}"
#define SET(expression)                                                                            \
    TREE(VARIABLES, STATEMENT,                                                                     \
         "{\"step\":\"set\",\"variable\":0,\"expression\":" expression "," PLACE "}")
#define STEPS(steps) TREE(VARIABLES, STATEMENT, steps)
#define BEGIN "{\"step\":\"begin_write\"," PLACE "}"
#define COMMIT "{\"step\":\"commit\"," PLACE "}"
#define REPEAT(steps)                                                                              \
    "{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":null,\"steps\":[" steps "]," PLACE "}"
#define ROWS(steps)                                                                                \
    "{\"step\":\"rows\",\"table\":\"t\",\"count\":" ONE ",\"chunk\":" ONE ",\"steps\":[" steps     \
    "]," PLACE "}"

/* Taken, so that each refused tree below differs from one of these in one thing. */
static const char *const good[] = {
    TREE("", "", ""),
    SET(ONE),
    STEPS("{\"step\":\"statement\",\"statement\":0," PLACE "}"),
    STEPS(BEGIN "," COMMIT),
    STEPS(REPEAT(BEGIN "," COMMIT)),
    STEPS(ROWS(REPEAT(""))),
    "{\"name\":\"t\",\"variables\":[],\"statements\":[],\"steps\":[],\"later\":1}",
};

static const char *const hostile[] = {
    "[]",
    "{}",
    "{\"name\":7,\"variables\":[],\"statements\":[],\"steps\":[]}",
    "{\"name\":\"t\",\"variables\":{},\"statements\":[],\"steps\":[]}",
    "{\"name\":\"t\",\"variables\":[],\"statements\":[]}",
    /* variables */
    TREE("7", "", ""),
    TREE("{\"name\":\"x\",\"type\":\"blob\",\"from\":\"set\"}", "", ""),
    TREE("{\"name\":\"x\",\"type\":\"integer\",\"from\":\"there\"}", "", ""),
    TREE("{\"name\":\"x\",\"type\":\"text\",\"from\":\"scale\"}", "", ""),
    TREE("{\"name\":\"x\",\"type\":\"double\",\"from\":\"builtin\"}", "", ""),
    /* statements */
    TREE(VARIABLES, "{\"sql\":\"SELECT ?\",\"parameters\":[3],\"one\":false," PLACE "}", ""),
    TREE(VARIABLES, "{\"sql\":\"SELECT ?\",\"parameters\":[-1],\"one\":false," PLACE "}", ""),
    TREE(VARIABLES, "{\"sql\":\"SELECT ?\",\"parameters\":[4294967296],\"one\":false," PLACE "}",
         ""),
    TREE(VARIABLES, "{\"sql\":\"SELECT ?\",\"parameters\":[\"x\"],\"one\":false," PLACE "}", ""),
    TREE(VARIABLES, "{\"sql\":7,\"parameters\":[],\"one\":false," PLACE "}", ""),
    TREE(VARIABLES, "{\"sql\":\"\",\"parameters\":[],\"one\":0," PLACE "}", ""),
    TREE(VARIABLES, "{\"sql\":\"\",\"parameters\":[],\"one\":false}", ""),
    TREE(VARIABLES, "{\"sql\":\"\",\"parameters\":[],\"one\":false,\"place\":[0,1]}", ""),
    TREE(VARIABLES, "{\"sql\":\"\",\"parameters\":[],\"one\":false,\"place\":[1]}", ""),
    TREE(VARIABLES, "{\"sql\":\"\",\"parameters\":[],\"one\":false,\"place\":[1,99999999999]}", ""),
    /* steps */
    STEPS("7"),
    STEPS("{\"step\":\"drop\"," PLACE "}"),
    STEPS("{\"step\":\"statement\",\"statement\":1," PLACE "}"),
    STEPS("{\"step\":\"statement\",\"statement\":-1," PLACE "}"),
    STEPS("{\"step\":\"statement\",\"statement\":4294967296," PLACE "}"),
    STEPS("{\"step\":\"set\",\"variable\":3,\"expression\":" ONE "," PLACE "}"),
    STEPS("{\"step\":\"set\",\"variable\":1,\"expression\":" ONE "," PLACE "}"),
    STEPS("{\"step\":\"set\",\"variable\":2,\"expression\":" ONE "," PLACE "}"),
    STEPS("{\"step\":\"set\",\"variable\":0," PLACE "}"),
    STEPS("{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":2,\"steps\":[]," PLACE "}"),
    STEPS("{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":1,\"steps\":[]," PLACE "}"),
    STEPS("{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":4294967295,\"steps\":[]," PLACE "}"),
    STEPS("{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":null," PLACE "}"),
    STEPS(BEGIN),
    STEPS(COMMIT),
    STEPS(BEGIN "," BEGIN "," COMMIT),
    STEPS(BEGIN "," REPEAT(COMMIT)),
    STEPS(BEGIN "," REPEAT(COMMIT "," BEGIN) "," COMMIT),
    STEPS(REPEAT(ROWS(""))),
    STEPS(BEGIN "," ROWS("") "," COMMIT),
    STEPS(ROWS(ROWS(""))),
    STEPS(ROWS(BEGIN "," COMMIT)),
    STEPS(ROWS(REPEAT(BEGIN "," COMMIT))),
    /* expressions */
    SET("7"),
    SET("{\"op\":\"constant\",\"type\":\"integer\"," PLACE "}"),
    SET("{\"op\":\"constant\",\"type\":\"integer\",\"value\":1.5," PLACE "}"),
    SET("{\"op\":\"constant\",\"type\":\"integer\",\"value\":9007199254740992," PLACE "}"),
    SET("{\"op\":\"constant\",\"type\":\"integer\",\"value\":\"1\"," PLACE "}"),
    SET("{\"op\":\"constant\",\"type\":\"text\",\"value\":1," PLACE "}"),
    SET("{\"op\":\"constant\",\"type\":\"text\",\"value\":\"a\"," PLACE "}"),
    SET("{\"op\":\"variable\",\"type\":\"integer\",\"variable\":3," PLACE "}"),
    SET("{\"op\":\"variable\",\"type\":\"integer\",\"variable\":2," PLACE "}"),
    SET("{\"op\":\"variable\",\"type\":\"text\",\"variable\":0," PLACE "}"),
    SET("{\"op\":\"system\",\"type\":\"integer\",\"arguments\":[]," PLACE "}"),
    SET("{\"op\":\"add\",\"type\":\"integer\",\"arguments\":[" ONE "]," PLACE "}"),
    SET("{\"op\":\"add\",\"type\":\"integer\",\"arguments\":[]," PLACE "}"),
    SET("{\"op\":\"add\",\"type\":\"double\",\"arguments\":[" ONE "," ONE "]," PLACE "}"),
    SET("{\"op\":\"random\",\"type\":\"integer\"," PLACE "}"),
    SET("{\"op\":\"if\",\"type\":\"integer\",\"arguments\":[" ONE "," ONE ",{\"op\":\"constant\","
        "\"type\":\"double\",\"value\":1.5," PLACE "}]," PLACE "}"),
    SET("{\"op\":\"length\",\"type\":\"integer\",\"arguments\":[" ONE "]," PLACE "}"),
    SET("{\"op\":\"length\",\"type\":\"integer\",\"arguments\":[{\"op\":\"format\",\"type\":"
        "\"text\",\"arguments\":[{\"op\":\"constant\",\"type\":\"text\",\"value\":\"%s%s\"," PLACE
        "}," ONE "]," PLACE "}]," PLACE "}"),
    SET("{\"op\":\"length\",\"type\":\"integer\",\"arguments\":[{\"op\":\"format\",\"type\":"
        "\"text\",\"arguments\":[{\"op\":\"variable\",\"type\":\"text\",\"variable\":2," PLACE
        "}]," PLACE "}]," PLACE "}"),
    SET("{\"op\":\"length\",\"type\":\"integer\",\"arguments\":[{\"op\":\"constant\",\"type\":"
        "\"text\",\"value\":\"a\\u0000b\"," PLACE "}]," PLACE "}"),
};

static int read_tree(const char *text, struct error *error)
{
    json_error_t where;
    json_t *tree = json_loads(text, JSON_ALLOW_NUL, &where);
    if (tree == NULL) {
        fail_msg("%s\n%s", text, where.text);
    }
    struct script *script = NULL;
    int rc = script_from_json(tree, &script, error);
    assert_true((rc == 0) == (script != NULL));
    script_free(script);
    json_decref(tree);
    return rc;
}

static void test_hostile(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct error error = ERROR_INIT;
        if (read_tree(good[i], &error) != 0) {
            fail_msg("%s\n%s", good[i], error.message);
        }
    }
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct error error = ERROR_INIT;
        if (read_tree(hostile[i], &error) != ERROR_PROTOCOL || error.message[0] == '\0') {
            fail_msg("taken: %s", hostile[i]);
        }
    }
}

/* A tree of that many levels, open and close around a core. */
static int read_nested(const char *before, const char *open, const char *core, const char *close,
                       const char *after, int levels)
{
    struct buffer text;
    buffer_init(&text);
    buffer_puts(&text, before);
    for (int i = 0; i < levels; i++) {
        buffer_puts(&text, open);
    }
    buffer_puts(&text, core);
    for (int i = 0; i < levels; i++) {
        buffer_puts(&text, close);
    }
    buffer_puts(&text, after);
    struct error error = ERROR_INIT;
    int rc = read_tree(text.data, &error);
    buffer_release(&text);
    return rc;
}

static void test_depth(void **state)
{
    (void)state;
    static const char negate[] =
        "{\"op\":\"negate\",\"type\":\"integer\"," PLACE ",\"arguments\":[";
    static const char repeat[] =
        "{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":null," PLACE ",\"steps\":[";
    static const char head[] =
        "{\"name\":\"t\",\"variables\":[" VARIABLES "],\"statements\":[],\"steps\":[";
    static const char set[] =
        "{\"name\":\"t\",\"variables\":[" VARIABLES
        "],\"statements\":[],\"steps\":[{\"step\":\"set\",\"variable\":0," PLACE ",\"expression\":";
    assert_int_equal(read_nested(set, negate, ONE, "]}", "}]}", 99), 0);
    assert_int_equal(read_nested(set, negate, ONE, "]}", "}]}", 100), ERROR_PROTOCOL);
    assert_int_equal(read_nested(set, negate, ONE, "]}", "}]}", 900), ERROR_PROTOCOL);
    static const char empty[] =
        "{\"step\":\"repeat\",\"count\":" ONE ",\"variable\":null," PLACE ",\"steps\":[]}";
    assert_int_equal(read_nested(head, repeat, empty, "]}", "]}", 16), 0);
    assert_int_equal(read_nested(head, repeat, empty, "]}", "]}", 17), ERROR_PROTOCOL);
    assert_int_equal(read_nested(head, repeat, empty, "]}", "]}", 900), ERROR_PROTOCOL);
}

/* A tree may read before it sets: the parser refuses that, and here it is zeros. */
static void test_unset(void **state)
{
    (void)state;
    static const char text[] =
        TREE(VARIABLES, "{\"sql\":\"SELECT ?, ?\",\"parameters\":[0,2],\"one\":false," PLACE "}",
             "{\"step\":\"statement\",\"statement\":0," PLACE "}");
    json_t *tree = json_loads(text, 0, NULL);
    struct script *script = NULL;
    struct error error = ERROR_INIT;
    assert_int_equal(script_from_json(tree, &script, &error), 0);
    struct evaluation evaluation;
    struct random random = {0};
    const struct script_constant constants[] = {{(char *)"u", 5}};
    assert_int_equal(evaluation_init(&evaluation, script, constants, 1, &error), 0);
    assert_int_equal(evaluation_draw(&evaluation, &script->body, &random, &error), 0);
    assert_int_equal(evaluation.values[0].integer, 0);
    assert_int_equal(evaluation.values[1].length, 0);
    evaluation_release(&evaluation);
    script_free(script);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_message_without_file),
        cmocka_unit_test(test_hostile),    cmocka_unit_test(test_depth),
        cmocka_unit_test(test_unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
