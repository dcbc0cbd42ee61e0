/* What the tests of scripts share. */
#ifndef TESTS_SCRIPT_TESTING_H
#define TESTS_SCRIPT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script/script.h"

static const struct script_constant test_constants[] = {
    {(char *)"users", 1000}, {(char *)"orders", 4000}, {(char *)"zero", 0}};
enum { TEST_CONSTANT_COUNT = 3 };

/* Parses a text as the script t.sql; NULL with the error set. */
static inline struct script *parse_bytes(const char *bytes, size_t length, bool load,
                                         struct error *error)
{
    struct script *script = NULL;
    int rc = script_parse("t", "t.sql", bytes, length, test_constants, TEST_CONSTANT_COUNT, load,
                          &script, error);
    assert_int_equal(rc, error->code);
    assert_true((rc == 0) == (script != NULL));
    return script;
}

/* Parses a text that must be right. */
static inline struct script *parse_text(const char *text, bool load)
{
    struct error error = ERROR_INIT;
    struct script *script = parse_bytes(text, strlen(text), load, &error);
    if (script == NULL) {
        fail_msg("%s\n%s", text, error.message);
    }
    return script;
}

static inline void start_evaluation(struct evaluation *evaluation, const struct script *script)
{
    struct error error = ERROR_INIT;
    if (evaluation_init(evaluation, script, test_constants, TEST_CONSTANT_COUNT, &error) != 0) {
        fail_msg("%s", error.message);
    }
}

#endif
