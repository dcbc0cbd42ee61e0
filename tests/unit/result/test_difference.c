/* Differences in words. */
#include "result/difference.h"

#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct description {
    struct result_difference difference;
    const char *answer, *reference; /* one value each; NULL: no row */
    const char *text;
};

static char ok[] = "ok";
static char failed[] = "failed";
static char message[] = "disk I/O\nerror";
static char note[] = "and so on";

static void test_words(void **state)
{
    (void)state;
    const struct description cases[] = {
        {{.operation = 3, .statement = 0, .row = 2},
         "1",
         "2",
         "operation 3 (user=17): row 2 is 1; with sqlite 2"},
        {{.operation = 3, .statement = 1, .row = 1},
         NULL,
         "2",
         "operation 3 (user=17), statement 2: row 1 is no row; with sqlite 2"},
        {{.operation = 3, .statement = 0, .row = 1, .storage_class_only = true},
         "1.0",
         "1",
         "operation 3 (user=17): row 1 is 1.0; with sqlite 1 (the values are equal, their storage "
         "classes are not)"},
        {{.statement = 0,
          .row = RESULT_ABSENT,
          .rows_changed = 0,
          .reference_rows_changed = RESULT_ABSENT},
         NULL,
         NULL,
         "operation 0 (user=17): rows changed 0; with sqlite –"},
        {{.statement = RESULT_ABSENT,
          .row = RESULT_ABSENT,
          .outcome = failed,
          .message = message,
          .reference_outcome = ok},
         NULL,
         NULL,
         "operation 0 (user=17): failed (disk I/O?error); with sqlite ok"},
        {{.statement = RESULT_ABSENT, .row = RESULT_ABSENT, .note = note},
         NULL,
         NULL,
         "operation 0 (user=17): and so on"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result_difference difference = cases[i].difference;
        struct buffer text;
        buffer_init(&text);
        sample_pair(&difference.parameters, "user", "17");
        if (cases[i].answer != NULL) {
            SAMPLE_ADD_TEXT(&difference.answer, cases[i].answer);
        }
        if (cases[i].reference != NULL) {
            SAMPLE_ADD_TEXT(&difference.reference_answer, cases[i].reference);
        }
        difference_describe(&difference, "sqlite", &text);
        assert_string_equal(text.data, cases[i].text);
        buffer_release(&text);
        free(difference.parameters.items[0].name);
        free(difference.parameters.items[0].value);
        free(difference.parameters.items);
        for (size_t k = 0; k < difference.answer.count; k++) {
            free(difference.answer.items[k]);
        }
        free(difference.answer.items);
        for (size_t k = 0; k < difference.reference_answer.count; k++) {
            free(difference.reference_answer.items[k]);
        }
        free(difference.reference_answer.items);
    }
}

/* A blob of a megabyte must not fill the table. */
static void test_long_values_are_cut(void **state)
{
    (void)state;
    enum { LONG = 1000 };
    char value[LONG + 1];
    memset(value, 'x', LONG);
    value[LONG] = '\0';
    struct result *result = sample_full_result();
    struct result_difference *difference =
        &result->engines.items[1].verify.databases.items[0].scripts.items[0].differences.items[0];
    for (int i = 0; i < 50; i++) {
        SAMPLE_ADD_TEXT(&difference->answer, value);
    }
    struct buffer text;
    buffer_init(&text);
    difference_describe(difference, "sqlite", &text);
    assert_true(text.length < LONG);
    assert_non_null(strstr(text.data, "and 40 more columns"));
    buffer_release(&text);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_long_values_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
