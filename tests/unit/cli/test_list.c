/* Lists of names on a command line. */
#include "cli/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const known[] = {"insert-single", "select-point", "select-join", NULL};

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        size_t expected[3];
    } cases[] = {
        {NULL, 3, {0, 1, 2}},
        {"select-point", 1, {1}},
        {"select-join,insert-single", 2, {2, 0}}, /* in the order of the words */
        {"select-point,select-join,insert-single", 3, {1, 2, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t out[3] = {9, 9, 9};
        size_t count = 9;
        struct error error = ERROR_INIT;
        assert_int_equal(
            list_of_names("--workloads", "workload", cases[i].text, known, out, &count, &error), 0);
        assert_int_equal(count, cases[i].count);
        assert_memory_equal(out, cases[i].expected, count * sizeof *out);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"select-pint", "--workloads: there is no workload \"select-pint\" (did you mean "
                        "select-point?); there are insert-single, select-point, select-join"},
        {"quite another", "there is no workload \"quite another\"; there are insert-single"},
        {"", "\"\" has an empty place where a workload should be named"},
        {"select-point,,select-join", "\"select-point,,select-join\" has an empty place"},
        {",select-point", "has an empty place"},
        {"select-point,", "has an empty place"},
        {"select-point, select-join", "there is no workload \" select-join\""},
        {"select-point,select-join,select-point", "the workload select-point is named twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t out[3];
        size_t count;
        struct error error = ERROR_INIT;
        assert_int_equal(
            list_of_names("--workloads", "workload", cases[i].text, known, out, &count, &error),
            ERROR_INVALID);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("%s: '%s' is not in '%s'", cases[i].text, cases[i].message, error.message);
        }
    }
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        uint64_t expected[3];
    } cases[] = {
        {"1", 1, {1}},
        {"8,1,4", 3, {8, 1, 4}}, /* in the order of the words */
        {"100", 1, {100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t *out;
        size_t count;
        struct error error = ERROR_INIT;
        assert_int_equal(list_of_counts("--threads", "number of connections", cases[i].text, 1, 100,
                                        &out, &count, &error),
                         0);
        assert_int_equal(count, cases[i].count);
        assert_memory_equal(out, cases[i].expected, count * sizeof *out);
        free(out);
    }
}

static void test_counts_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "--threads: \"\" has an empty place where a number of connections should be named"},
        {"1,,2", "--threads: \"1,,2\" has an empty place"},
        {"1,2,", "has an empty place"},
        {",1", "has an empty place"},
        {"0", "--threads: \"0\" is out of range"},
        {"1,101", "--threads: \"101\" is out of range; give a number from 1 to 100"},
        {"1,-1", "-1"},
        {"1,2x", "2x"},
        {"1, 2", " 2"},
        {"1.5", "1.5"},
        {"2,1,2", "--threads: the number of connections 2 is named twice"},
        {"99999999999999999999", "99999999999999999999"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t *out;
        size_t count;
        struct error error = ERROR_INIT;
        assert_int_equal(list_of_counts("--threads", "number of connections", cases[i].text, 1, 100,
                                        &out, &count, &error),
                         ERROR_INVALID);
        assert_null(out);
        assert_int_equal(count, 0);
        if (strstr(error.message, cases[i].message) == NULL) {
            fail_msg("\"%s\": %s", cases[i].text, error.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_counts_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
