/* The result as a file: what is written reads back the same, and no file, however odd, is taken
 * for what it is not. */
#include "sample.h"

#include "base/file.h"
#include "result/json.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static json_t *to_json(const struct result *result)
{
    json_t *json = result_to_json(result);
    assert_non_null(json);
    return json;
}

static struct result *from_json(const json_t *json)
{
    struct result *result = NULL;
    struct error error = ERROR_INIT;
    if (result_from_json(json, &result, &error) != 0) {
        fail_msg("%s", error.message);
    }
    return result;
}

/* The value at "engines/0/name"; array indices are numbers. */
static json_t *at(json_t *json, const char *path)
{
    char copy[256];
    char *rest = copy;
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *part; json != NULL && (part = strsep(&rest, "/")) != NULL;) {
        json = json_is_array(json) ? json_array_get(json, (size_t)strtoul(part, NULL, 10))
                                   : json_object_get(json, part);
    }
    return json;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    sample_comparison(result);
    json_t *first = to_json(result);
    struct result *again = from_json(first);
    json_t *second = to_json(again);
    assert_true(json_equal(first, second));
    const struct result_comparison_row *row = &again->comparison.tables.items[0].rows.items[0];
    assert_int_equal(row->cells.count, 2);
    assert_null(row->cells.items[0].verdict);
    assert_string_equal(row->cells.items[1].verdict, "slower");
    assert_int_equal(row->cells.items[1].more_rounds, RESULT_ABSENT);
    assert_true(row->best_lead == 0.25);
    assert_int_equal(again->engines.items[0].runs.items[0].scripts.items[0].latency.histogram->max,
                     80000);
    assert_true(isnan(again->engines.items[1].summaries.items[0].slept_ns.median));
    json_decref(second);
    result_free(again);
    json_decref(first);
    result_free(result);
}

static void test_numbers_round_trip(void **state)
{
    (void)state;
    struct result *result = sample_result(1);
    sample_numbers(result);
    json_t *json = to_json(result);
    struct result *again = from_json(json);
    json_t *second = to_json(again);
    assert_true(json_equal(json, second));
    assert_int_equal(again->numbers.items[0].lines.items[0].plain.missed, 13);
    assert_int_equal(again->numbers.items[0].lines.items[1].plain.missed, RESULT_ABSENT);
    json_decref(second);
    result_free(again);

    /* One library alone, as the program that measures it sends it. */
    struct result_numbers numbers;
    struct error error = ERROR_INIT;
    json_t *one = result_numbers_to_json(&result->numbers.items[0]);
    result_numbers_init(&numbers);
    assert_int_equal(result_numbers_from_json(one, &numbers, &error), 0);
    assert_int_equal(numbers.lines.items[0].pitot.latency.histogram->count, 2000);
    result_numbers_release(&numbers);

    json_object_set_new(at(one, "lines/0/plain"), "count", json_integer(499));
    assert_int_equal(result_numbers_from_json(one, &numbers, &error), ERROR_INVALID);
    assert_string_equal(error.message, "numbers.lines[0].plain: latency holds 500 samples, but "
                                       "count is 499");
    result_numbers_release(&numbers);
    json_decref(one);
    json_decref(json);
    result_free(result);
}

/* The order of keys in the file is that of the structs. */
static void test_order_and_forms(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    json_t *json = to_json(result);
    char *text = json_dumps(json, JSON_COMPACT);
    static const char start[] = "{\"pitot_result\":2,\"pitot_version\":\"0.1.0\",\"build\":"
                                "\"release\",\"command\":\"prod\"";
    assert_memory_equal(text, start, sizeof(start) - 1);
    assert_non_null(strstr(text, "\"points_ns\":{\"p50\":{\"median\":5000.0,\"min\":4950.0,"));
    assert_non_null(strstr(text, "\"p99.9\":{"));
    assert_non_null(strstr(text, "\"p99.99\":{"));
    assert_non_null(strstr(text, "\"latency\":{\"count\":2011,\"overflow\":0,\"sum\":10130000,"
                                 "\"min\":5000,\"max\":80000,\"buckets\":[["));
    assert_true(json_is_null(at(json, "engines/1/summaries/0/slept_ns/median")));
    assert_true(json_is_null(at(json, "engines/2/summaries/0/reads_per_second/median")));
    assert_int_equal(json_integer_value(at(json, "engines/2/summaries/0/ok")), 0);
    assert_true(json_is_null(at(json, "engines/2/version")));
    assert_true(json_is_null(at(json, "cases/0/operations")));
    free(text);
    json_decref(json);
    result_free(result);
}

static void test_large_numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *text; /* NULL: a number */
    } cases[] = {
        {0, NULL},
        {UINT64_C(9007199254740991), NULL},
        {UINT64_C(9007199254740992), "9007199254740992"},
        {UINT64_MAX - 1, "18446744073709551614"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *result = sample_result(1);
        result->cases.items[0].duration_ns = cases[i].value;
        json_t *json = to_json(result);
        json_t *value = at(json, "cases/0/duration_ns");
        if (cases[i].text != NULL) {
            assert_string_equal(json_string_value(value), cases[i].text);
        } else {
            assert_true(json_is_integer(value));
        }
        struct result *again = from_json(json);
        assert_true(again->cases.items[0].duration_ns == cases[i].value);
        result_free(again);
        json_decref(json);
        result_free(result);
    }
}

/* Names as they come from a command line, byte for byte. */
static void test_names_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {
        "a,b|\"c\"", "esc\x1b[31m", "\xff\xfe bytes", "日本", "literal \\x41", "line\nfeed", ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result *result = sample_result(1);
        sample_engine(result, names[i], 1, 1);
        json_t *json = to_json(result);
        struct result *again = from_json(json);
        assert_string_equal(again->engines.items[0].name, names[i]);
        result_free(again);
        json_decref(json);
        result_free(result);
    }
}

static void test_locale(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        skip(); /* no locale with a decimal comma here */
    }
    struct result *result = sample_full_result();
    json_t *json = to_json(result);
    char *text = json_dumps(json, JSON_COMPACT);
    setlocale(LC_ALL, "C");
    assert_non_null(strstr(text, "\"elapsed_s\":31.5,"));
    free(text);
    json_decref(json);
    result_free(result);
}

/* One change to a good file, and what must be said about it. */
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *key, *value; /* value NULL: the key is removed */
        const char *message;
    } cases[] = {
        {"", "pitot_result", "7", "result version 7, this pitot reads version 2"},
        {"", "pitot_result", "1", "version 2: only the older pitot that wrote it can read it"},
        {"", "pitot_result", "\"one\"", "pitot_result"},
        {"", "cases", "[]", "rows[0].case is 0, there are 0 cases"},
        {"", "templates", "[]", "cases[0].template is 0, there are 0 templates"},
        {"cases/0", "template", "1", "cases[0].template is 1, there are 1 templates"},
        {"cases/0", "label", "null", "cases[0]: \"label\" is null"},
        {"engines/0/runs/1", "case", "1", "engines[0].runs[1].case is 1, there are 1 cases"},
        {"engines/0/summaries/0", "status", "\"fine\"",
         "engines[0].summaries[0]: status is 'fine'"},
        {"comparison/tables/0/rows/0", "case", "1",
         "comparison.tables[0].rows[0].case is 1, there are 1 cases"},
        {"comparison/tables/0/rows/0/cells/0", "verdict", "\"better\"",
         "comparison.tables[0].rows[0].cells[0]: verdict is 'better'"},
        {"", "pitot_result", NULL, "not a result of pitot"},
        {"", "host", NULL, "result: the key \"host\" is missing"},
        {"", "host", "[]", "\"host\" is an array"},
        {"", "engines", "{}", "\"engines\" is an object"},
        {"", "engines", "[7]", "engines[0]: expected an object"},
        {"", "partial", "null", "partial"},
        {"", "command_line", "[\"a\", 7]", "command_line[1]: expected a string"},
        {"host", "cores", "-1", "host: \"cores\" is -1"},
        {"host", "cores", "1.5", "\"cores\" is a real number"},
        {"host", "cores", "\"99999999999999999999\"", "99999999999999999999"},
        {"host", "cores", "9007199254740992", "decimal string"},
        {"host", "kernel", "7", "\"kernel\" is an integer"},
        {"host", "kernel", "\"a\\\\x00b\"", "NUL"},
        {"host", "load_average", "\"NaN\"", "\"load_average\" is a string"},
        {"cases/0", "operations", NULL, "cases[0]: the key \"operations\" is missing"},
        {"engines/0", "name", "null", "engines[0]: \"name\" is null"},
        {"engines/0", "status", "\"fine\"", "engines[0]: status is 'fine'"},
        {"engines/0/runs/1", "status", "\"fine\"", "engines[0].runs[1]: status is 'fine'"},
        {"engines/0/runs/1/scripts/0", "ok", "7",
         "engines[0].runs[1].scripts[0]: attempted is 2023, but the outcomes add up to 9"},
        {"engines/0/runs/1/scripts/0", "busy", "\"18446744073709551615\"", "more than 64 bits"},
        {"engines/0/runs/0/scripts/0", "latency", "{}",
         "engines[0].runs[0].scripts[0].latency: the key \"count\" is missing"},
        {"engines/0/runs/0/scripts/0", "latency", "7", "latency: expected an object"},
        {"engines/0/runs/0/scripts/0/latency", "count", "2010",
         "engines[0].runs[0].scripts[0].latency: the buckets add up to 2011"},
        {"engines/0/runs/0/scripts/0/latency", "overflow", "2012", "the buckets add up"},
        {"engines/0/runs/0/scripts/0/latency", "buckets", "[]", "the buckets add up to 0"},
        {"engines/0/runs/0/scripts/0/latency", "buckets", "[7]", "expected [index, count]"},
        {"engines/0/runs/0/scripts/0/latency", "buckets", "[[4608, 1]]", "below 4608"},
        {"engines/0/runs/0/scripts/0/latency", "buckets", "[[-1, 1]]", "index -1"},
        {"engines/0/runs/0/scripts/0/latency", "buckets", "[[9, 1], [9, 1]]", "index 9"},
        {"engines/0/runs/0/scripts/0/latency", "buckets", "[[9, 0]]", "count 0 cannot be"},
        {"engines/0/runs/0/scripts/0/latency", "min", "4", "min and max"},
        {"engines/0/runs/0/scripts/0/latency", "max", "null", "min and max"},
        {"engines/0/runs/0/scripts/0/latency", "max", "\"18446744073709551615\"", "min and max"},
        {"engines/0/runs/0/seconds/0", "operations", "[1]", "seconds[0] holds 1 and 2 counts"},
        {"engines/0/runs/0/seconds/0", "slow", "[1, \"x\"]", "slow[1]"},
        {"engines/0/summaries/0/scripts/0/points_ns", "p99.9", NULL,
         "engines[0].summaries[0].scripts[0].points_ns: the key \"p99.9\" is missing"},
        {"engines/0/summaries/0/scripts/0/points_ns/p50", "median", "\"\"",
         "engines[0].summaries[0].scripts[0].points_ns.p50"},
        {"engines/0/summaries/0/scripts/0/point_thin", "p50", "1", "point_thin"},
    };
    struct result *result = sample_full_result();
    sample_comparison(result);
    json_t *good = to_json(result);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *json = json_deep_copy(good);
        json_t *object = cases[i].path[0] == '\0' ? json : at(json, cases[i].path);
        assert_non_null(json_object_get(object, cases[i].key));
        if (cases[i].value == NULL) {
            json_object_del(object, cases[i].key);
        } else {
            json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
            assert_non_null(value);
            json_object_set_new(object, cases[i].key, value);
        }
        struct result *read = NULL;
        struct error error = ERROR_INIT;
        assert_int_equal(result_from_json(json, &read, &error), ERROR_INVALID);
        assert_null(read);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].message, error.message);
        }
        json_decref(json);
    }
    json_decref(good);
    result_free(result);
}

/* Every case has its summary, or none has. */
static void test_summaries_for_cases(void **state)
{
    (void)state;
    static const struct {
        size_t summaries;
        bool refused;
    } cases[] = {{0, false}, {1, true}, {2, false}, {3, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *result = sample_result(1);
        struct result_engine *engine = sample_must(result_list_add(&result->engines));
        struct result *read = NULL;
        struct error error = ERROR_INIT;
        result_engine_init(engine);
        engine->name = sample_text("sqlite");
        engine->status = sample_text("ok");
        sample_case(result, "another");
        for (size_t k = 0; k < cases[i].summaries; k++) {
            result_summary_init(sample_must(result_list_add(&engine->summaries)));
        }
        json_t *json = to_json(result);
        assert_int_equal(result_from_json(json, &read, &error),
                         cases[i].refused ? ERROR_INVALID : 0);
        assert_int_equal(strstr(error.message, "summaries for 2 cases") != NULL, cases[i].refused);
        json_decref(json);
        result_free(read);
        result_free(result);
    }
}

/* A newer minor writer may have added something. */
static void test_unknown_keys(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    json_t *json = to_json(result);
    json_object_set_new(json, "new", json_true());
    json_object_set_new(at(json, "engines/0/summary"), "new", json_true());
    result_free(from_json(json));
    json_decref(json);
    result_free(result);
}

static void file_path(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s-%ld.json", TEST_BINARY_DIR, name, (long)getpid());
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    struct error error = ERROR_INIT;
    assert_int_equal(file_replace(path, bytes, length, &error), 0);
}

static int read_message(const char *path, struct error *error)
{
    struct result *result = NULL;
    *error = (struct error)ERROR_INIT;
    int status = result_read(path, &result, error);
    result_free(result);
    return status;
}

static void test_file(void **state)
{
    (void)state;
    char path[256];
    struct error error = ERROR_INIT;
    struct result *result = sample_full_result();
    struct result *again = NULL;
    struct buffer text;

    file_path(path, "result-file");
    assert_int_equal(result_write(result, path, &error), 0);
    assert_int_equal(result_read(path, &again, &error), 0);
    json_t *first = to_json(result);
    json_t *second = to_json(again);
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
    result_free(again);
    result_free(result);

    /* Cut anywhere, it says where; never a crash, never half a result. */
    buffer_init(&text);
    assert_int_equal(file_read(path, RESULT_FILE_MAX, &text, &error), 0);
    assert_int_equal(text.data[text.length - 1], '\n');
    for (size_t length = 0; length < text.length - 1; length += 1 + length / 16) {
        write_file(path, text.data, length);
        assert_int_equal(read_message(path, &error), ERROR_INVALID);
        assert_memory_equal(error.message, path, strlen(path));
        assert_int_equal(error.message[strlen(path)], ':');
        assert_int_equal(error.message[strlen(path) + 1], '1'); /* the line */
    }
    buffer_release(&text);
    unlink(path);
    assert_int_not_equal(read_message(path, &error), 0);
    assert_non_null(strstr(error.message, path));
}

static void test_odd_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", ":1:1: not valid JSON"},
        {"null", "not a result of pitot"},
        {"[]", "not a result of pitot"},
        {"7", "not a result of pitot"},
        {"{\"pitot_result\": 7}", ": result version 7, this pitot reads version 2"},
        {"{\"pitot_result\": 2}", "the key \"pitot_version\" is missing"},
        {"{\"pitot_result\": 1, \"pitot_result\": 1}", "not valid JSON"},
        {"{\"pitot_result\": 99999999999999999999999}", "not valid JSON"},
        {"{\"pitot_result\": NaN}", "not valid JSON"},
        {"{\"pitot_result\": 1e999}", "not valid JSON"},
        {"{\"pitot_result\": 2} {}", "not valid JSON"},
        {"{\"pitot_result\": 1, \"a\": \"\\u0000\"}", "not valid JSON"},
        {"\xff\xfe{\x00", "not valid JSON"},
    };
    char path[256];
    struct error error;
    file_path(path, "result-odd");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file(path, cases[i].text, strlen(cases[i].text));
        assert_int_equal(read_message(path, &error), ERROR_INVALID);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].message, error.message);
        }
    }
    /* Nesting far deeper than any result. */
    enum { DEPTH = 1000000 };
    char *deep = sample_must(malloc(DEPTH));
    memset(deep, '[', DEPTH);
    write_file(path, deep, DEPTH);
    free(deep);
    assert_int_equal(read_message(path, &error), ERROR_INVALID);
    unlink(path);
}

/* Bytes of a good file changed at random, from a fixed seed: read or refused, nothing else. */
static void test_damaged_files(void **state)
{
    (void)state;
    struct result *result = sample_full_result();
    json_t *good = to_json(result);
    char *text = json_dumps(good, JSON_COMPACT);
    size_t length = strlen(text);
    char *damaged = sample_must(malloc(length + 1));
    uint32_t random = 1;
    static const char bytes[] = "0123456789-.,:[]{}\"ntfe\\";
    size_t reached = 0;
    for (int i = 0; i < 1000; i++) {
        memcpy(damaged, text, length + 1);
        for (int j = 0; j < 1 + i % 3; j++) {
            random = random * 1664525 + 1013904223;
            damaged[random % length] = bytes[(random >> 24) % (sizeof(bytes) - 1)];
        }
        json_t *json = json_loadb(damaged, length, 0, NULL);
        if (json != NULL) {
            struct result *read = NULL;
            struct error error = ERROR_INIT;
            int status = result_from_json(json, &read, &error);
            assert_true((status == 0) == (read != NULL));
            assert_true((status == 0) == (error.code == ERROR_NONE));
            result_free(read);
            json_decref(json);
            reached++;
        }
    }
    assert_true(reached > 100);
    free(damaged);
    free(text);
    json_decref(good);
    result_free(result);
}

/* Somebody else's validator on what is written here, for results of every kind. */
static void test_schema(void **state)
{
    (void)state;
    if (system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0) {
        skip(); /* python3-jsonschema is not installed */
    }
    struct result *results[] = {sample_full_result(), sample_result(1), sample_result(3)};
    results[2]->cases.items[0].duration_ns = UINT64_MAX - 1; /* a string in JSON */
    results[2]->cases.items[0].rate = 1000;
    sample_comparison(results[0]);
    sample_engine(results[2], "byte \xff", 2, 1);
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        char path[256];
        char command[1024];
        struct error error = ERROR_INIT;
        file_path(path, "result-schema");
        assert_int_equal(result_write(results[i], path, &error), 0);
        snprintf(command, sizeof(command),
                 "/usr/bin/python3 '%s/tests/e2e/check-schema.py' "
                 "'%s/docs/result.schema.json' '%s'",
                 TEST_SOURCE_DIR, TEST_SOURCE_DIR, path);
        assert_int_equal(system(command), 0);
        unlink(path);
        result_free(results[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_numbers_round_trip),
        cmocka_unit_test(test_order_and_forms),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_names_read_back),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_odd_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_summaries_for_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
