#include "base/json.h"

#include "base/buffer.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static json_t *parse(const char *text)
{
    struct error error = ERROR_INIT;
    json_t *json = NULL;
    assert_int_equal(json_parse(text, strlen(text), "test", &json, &error), 0);
    return json;
}

static void assert_dumps(json_t *json, const char *expected)
{
    assert_non_null(json);
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(text, expected);
    free(text);
    json_decref(json);
}

static void values_have_their_wire_form(void **state)
{
    (void)state;
    assert_dumps(json_wire_u64(0), "0");
    assert_dumps(json_wire_u64(UINT64_C(9007199254740991)), "9007199254740991");
    assert_dumps(json_wire_u64(UINT64_C(9007199254740992)), "\"9007199254740992\"");
    assert_dumps(json_wire_u64(UINT64_MAX), "\"18446744073709551615\"");
    assert_dumps(json_wire_i64(-INT64_C(9007199254740991)), "-9007199254740991");
    assert_dumps(json_wire_i64(-INT64_C(9007199254740992)), "\"-9007199254740992\"");
    assert_dumps(json_wire_i64(INT64_MIN), "\"-9223372036854775808\"");
    assert_dumps(json_finite(0.1), "0.10000000000000001");
    assert_dumps(json_finite(-2), "-2.0");
    assert_dumps(json_finite(NAN), "null");
    assert_dumps(json_finite(INFINITY), "null");
    assert_dumps(json_finite(-INFINITY), "null");
    assert_dumps(json_text("a\xff\\x\"\n"), "\"a\\\\xff\\\\x5cx\\\"\\n\"");
    assert_dumps(json_text(""), "\"\"");
}

static void integers_are_taken_in_both_forms(void **state)
{
    (void)state;
    static const uint64_t bad = 77;
    static const struct {
        const char *json;
        int unsigned_status, signed_status;
        uint64_t unsigned_value;
        int64_t signed_value;
    } cases[] = {
        {"{\"k\":7}", 0, 0, 7, 7},
        {"{\"k\":0}", 0, 0, 0, 0},
        {"{\"k\":\"7\"}", 0, 0, 7, 7},
        {"{\"k\":-1}", ERROR_PROTOCOL, 0, bad, -1},
        {"{\"k\":\"-1\"}", ERROR_PROTOCOL, 0, bad, -1},
        {"{\"k\":9007199254740991}", 0, 0, UINT64_C(9007199254740991), INT64_C(9007199254740991)},
        {"{\"k\":\"18446744073709551615\"}", 0, ERROR_PROTOCOL, UINT64_MAX, (int64_t)bad},
        {"{\"k\":\"18446744073709551616\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\"9223372036854775807\"}", 0, 0, INT64_MAX, INT64_MAX},
        {"{\"k\":\"-9223372036854775808\"}", ERROR_PROTOCOL, 0, bad, INT64_MIN},
        {"{\"k\":\"-9223372036854775809\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        /* As a number this may already have lost its last digits in its writer. */
        {"{\"k\":9007199254740992}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":1.0}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\"\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\"-\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\" 7\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\"7x\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\"+7\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":\"0x7\"}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":true}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{\"k\":null}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"{}", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
        {"[]", ERROR_PROTOCOL, ERROR_PROTOCOL, bad, (int64_t)bad},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *json = parse(cases[i].json);
        uint64_t unsigned_value = bad;
        int64_t signed_value = (int64_t)bad;
        struct error error = ERROR_INIT;
        assert_int_equal(json_get_u64(json, "k", "here", &unsigned_value, &error),
                         cases[i].unsigned_status);
        assert_int_equal(error.code, cases[i].unsigned_status);
        error_clear(&error);
        assert_int_equal(json_get_i64(json, "k", "here", &signed_value, &error),
                         cases[i].signed_status);
        assert_int_equal(error.code, cases[i].signed_status);
        assert_int_equal(unsigned_value, cases[i].unsigned_value);
        assert_int_equal(signed_value, cases[i].signed_value);
        json_decref(json);
    }
}

/* Which getter takes which type: a row of characters for u64, i64, u64_or, double, bool,
 * string, string_or_null, array, object. */
static void getters_refuse_other_types(void **state)
{
    (void)state;
    static const struct {
        const char *value, *taken;
    } cases[] = {
        {"1", "yyyy-----"},  {"1.5", "---y-----"}, {"true", "----y----"}, {"\"t\"", "-----yy--"},
        {"[]", "-------y-"}, {"{}", "--------y"},  {"null", "--y---y--"}, {NULL, "--y---y--"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[64] = "{}";
        if (cases[i].value != NULL) {
            snprintf(text, sizeof text, "{\"k\":%s}", cases[i].value);
        }
        json_t *json = parse(text);
        struct error errors[9];
        memset(errors, 0, sizeof errors);
        uint64_t u = 0;
        int64_t s = 0;
        double d = 0;
        bool b = false;
        const char *string = NULL;
        json_t *nested = NULL;
        int status[9] = {
            json_get_u64(json, "k", "here", &u, &errors[0]),
            json_get_i64(json, "k", "here", &s, &errors[1]),
            json_get_u64_or(json, "k", "here", 5, &u, &errors[2]),
            json_get_double(json, "k", "here", &d, &errors[3]),
            json_get_bool(json, "k", "here", &b, &errors[4]),
            json_get_string(json, "k", "here", &string, &errors[5]),
            json_get_string_or_null(json, "k", "here", &string, &errors[6]),
            json_get_array(json, "k", "here", &nested, &errors[7]),
            json_get_object(json, "k", "here", &nested, &errors[8]),
        };
        for (size_t g = 0; g < 9; g++) {
            bool taken = cases[i].taken[g] == 'y';
            assert_int_equal(status[g], taken ? 0 : ERROR_PROTOCOL);
            assert_int_equal(errors[g].code, status[g]);
            if (!taken) {
                assert_non_null(strstr(errors[g].message, "here: "));
                assert_non_null(strstr(errors[g].message, "\"k\""));
            }
        }
        json_decref(json);
    }
}

static void getters_give_the_value(void **state)
{
    (void)state;
    json_t *json = parse("{\"d\":2.5,\"i\":3,\"b\":true,\"s\":\"text\",\"n\":null}");
    double d = 0;
    bool b = false;
    uint64_t u = 0;
    const char *string = NULL;
    assert_int_equal(json_get_double(json, "d", "here", &d, NULL), 0);
    assert_true(d == 2.5);
    assert_int_equal(json_get_double(json, "i", "here", &d, NULL), 0);
    assert_true(d == 3.0);
    assert_int_equal(json_get_bool(json, "b", "here", &b, NULL), 0);
    assert_true(b);
    assert_int_equal(json_get_string_or_null(json, "s", "here", &string, NULL), 0);
    assert_string_equal(string, "text");
    assert_int_equal(json_get_string_or_null(json, "n", "here", &string, NULL), 0);
    assert_null(string);
    assert_int_equal(json_get_u64_or(json, "n", "here", 9, &u, NULL), 0);
    assert_int_equal(u, 9);
    assert_int_equal(json_get_u64_or(json, "i", "here", 9, &u, NULL), 0);
    assert_int_equal(u, 3);
    struct error error = ERROR_INIT;
    assert_int_equal(json_get_u64_or(NULL, "i", "here", 9, &u, &error), ERROR_PROTOCOL);
    json_decref(json);
}

static void exactly_one_text_is_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *place; /* NULL: taken */
    } cases[] = {
        {"{\"a\":[1,2.5,null,\"\\u00e4\"]}", NULL},
        {" 7 ", NULL},
        {"\"text\"", NULL},
        {"", "in:1:1: "},
        {"  ", "in:1:"},
        {"{}{}", "in:1:3: "},
        {"{} x", "in:1:4: "},
        {"{\"a\":1,\n\"a\":2}", "in:2:3: "},
        {"{\n\n'a':1}", "in:3:"},
        {"[1,]", "in:1:"},
        {"[01]", "in:1:"},
        {"[nan]", "in:1:"},
        {"[NaN]", "in:1:"},
        {"[Infinity]", "in:1:"},
        {"[1e999]", "in:1:"},
        {"[9223372036854775808]", "in:1:"},
        {"[\"\xff\"]", "in:1:"},
        {"[\"a\nb\"]", "in:1:"},
        {"[\"\\u0000\"]", "in:1:"}, /* a C string would end there */
        {"[", "in:1:"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        json_t *json = NULL;
        int status = json_parse(cases[i].text, strlen(cases[i].text), "in", &json, &error);
        if (cases[i].place == NULL) {
            assert_int_equal(status, 0);
            json_decref(json);
        } else {
            assert_int_equal(status, ERROR_PROTOCOL);
            assert_null(json);
            assert_int_equal(strncmp(error.message, cases[i].place, strlen(cases[i].place)), 0);
        }
    }
    char deep[6000];
    memset(deep, '[', sizeof deep / 2);
    memset(deep + sizeof deep / 2, ']', sizeof deep / 2);
    json_t *json = NULL;
    assert_int_equal(json_parse(deep, sizeof deep, "in", &json, NULL), ERROR_PROTOCOL);
    assert_int_equal(json_parse("[1]x", 3, "in", &json, NULL), 0); /* three bytes of it */
    json_decref(json);
}

static void *read_to_end(void *argument)
{
    int fd = *(int *)argument;
    struct buffer *got = malloc(sizeof *got);
    buffer_init(got);
    char part[8192];
    ssize_t length;
    while ((length = read(fd, part, sizeof part)) > 0) {
        buffer_append(got, part, (size_t)length);
    }
    return got;
}

/* More than a pipe holds, through a descriptor that does not block. */
static void long_lines_are_written_whole(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE + 1);
    memset(text, 'a', SIZE);
    text[SIZE] = '\0';
    json_t *json = json_string(text);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_to_end, &ends[0]), 0);
    assert_int_equal(json_write_line(ends[1], json, NULL), 0);
    assert_int_equal(json_write_line(ends[1], json, NULL), 0);
    close(ends[1]);
    struct buffer *got = NULL;
    assert_int_equal(pthread_join(thread, (void **)&got), 0);
    close(ends[0]);
    assert_int_equal(got->length, 2 * (SIZE + 3));
    assert_memory_equal(got->data + SIZE + 1, "\"\n\"aa", 5);
    assert_memory_equal(got->data + 1, text, SIZE);
    assert_int_equal(got->data[got->length - 1], '\n');
    buffer_release(got);
    free(got);
    free(text);
    json_decref(json);
}

static void a_failed_write_is_an_error(void **state)
{
    (void)state;
    json_t *json = json_true();
    struct error error = ERROR_INIT;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(json_write_line(fd, json, &error), ERROR_FULL);
    close(fd);
    error_clear(&error);
    assert_int_equal(json_write_line(-1, json, &error), ERROR_IO);
    assert_non_null(strstr(error.message, "descriptor -1"));
}

/* Makes a German locale below the build folder if localedef can, and switches to a locale
 * with a decimal comma. False where there is none. */
static bool use_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE"};
    char made[512], path[600];
    snprintf(made, sizeof made, "%s/test-locales", TEST_BINARY_DIR);
    snprintf(path, sizeof path, "%s/de_DE.UTF-8", made);
    mkdir(made, 0777);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execlp("localedef", "localedef", "-i", "de_DE", "-f", "UTF-8", path, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status == 0) {
        setenv("LOCPATH", made, 1);
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        if (setlocale(LC_ALL, names[i]) != NULL && strcmp(localeconv()->decimal_point, ",") == 0) {
            return true;
        }
    }
    return false;
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!use_decimal_comma()) {
        print_message("no locale with a decimal comma here\n");
        skip();
    }
    char shown[16];
    snprintf(shown, sizeof shown, "%.1f", 1.5);
    assert_string_equal(shown, "1,5"); /* the trap is set */
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    json_t *json = json_pack("{s:o,s:o}", "x", json_finite(1.5), "y", json_finite(1e-300));
    assert_int_equal(json_write_line(ends[1], json, NULL), 0);
    json_decref(json);
    char line[128];
    ssize_t length = read(ends[0], line, sizeof line - 1);
    assert_true(length > 0);
    line[length] = '\0';
    assert_non_null(strstr(line, "\"x\":1.5,"));
    assert_null(strchr(line, ' '));
    json = parse(line);
    double value = 0;
    assert_int_equal(json_get_double(json, "x", "line", &value, NULL), 0);
    assert_true(value == 1.5);
    json_decref(json);
    close(ends[0]);
    close(ends[1]);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_wire_form),
        cmocka_unit_test(integers_are_taken_in_both_forms),
        cmocka_unit_test(getters_refuse_other_types),
        cmocka_unit_test(getters_give_the_value),
        cmocka_unit_test(exactly_one_text_is_parsed),
        cmocka_unit_test(long_lines_are_written_whole),
        cmocka_unit_test(a_failed_write_is_an_error),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
