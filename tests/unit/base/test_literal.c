/* Values as SQL literals. */
#include "base/literal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define INTEGER(number)                                                                            \
    {                                                                                              \
        .type = VALUE_INTEGER, .integer = (number)                                                 \
    }
#define REAL(number)                                                                               \
    {                                                                                              \
        .type = VALUE_DOUBLE, .real = (number)                                                     \
    }
#define BYTES(kind, text)                                                                          \
    {                                                                                              \
        .type = (kind), .length = sizeof(text) - 1, .bytes = (text)                                \
    }

static const struct {
    struct value value;
    const char *literal;
} cases[] = {
    {{.type = VALUE_NULL}, "NULL"},
    {INTEGER(0), "0"},
    {INTEGER(INT64_MIN), "-9223372036854775808"},
    {REAL(2.5), "2.5"},
    {REAL(7.0), "7.0"},
    {REAL(-0.0), "-0.0"},
    {REAL(0.1), "0.1"},
    {REAL(0.1 + 0.2), "0.30000000000000004"},
    {REAL(1e300), "1e+300"},
    {REAL(INFINITY), "9e999"},
    {REAL(-INFINITY), "-9e999"},
    {REAL(NAN), "NaN"},
    {BYTES(VALUE_TEXT, ""), "''"},
    {BYTES(VALUE_TEXT, "it's"), "'it''s'"},
    {BYTES(VALUE_TEXT, "\xff"), "'\xff'"},
    {BYTES(VALUE_TEXT, "a\0b"), "CAST(x'610062' AS TEXT)"},
    {BYTES(VALUE_BLOB, ""), "x''"},
    {BYTES(VALUE_BLOB, "\0\xff"), "x'00ff'"},
};

static void literals(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buffer_clear(&out);
        literal_append(&out, &cases[i].value);
        assert_string_equal(out.data, cases[i].literal);
    }
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(literals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
