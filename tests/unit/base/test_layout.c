/* Text is cut and broken at characters, whatever they are made of. */
#include "base/layout.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void paths_keep_their_end(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t head, columns;
        const char *expected;
    } cases[] = {
        {"sqlite=/usr/lib/libsqlite3.so.0", 7, 40, "sqlite=/usr/lib/libsqlite3.so.0"},
        {"sqlite=/usr/lib/libsqlite3.so.0", 7, 20, "sqlite=…sqlite3.so.0"},
        {"sqlite=/usr/lib/libsqlite3.so.0", 7, 12, "sqlite=/usr…"},
        {"sqlite=/ü/ü/ü/ü/ü/ü/ü/ü/ü", 7, 18, "sqlite=…/ü/ü/ü/ü/ü"},
        {"x=/日本/日本/日本/日本", 2, 14, "x=…/日本/日本"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out;
        buffer_init(&out);
        layout_cut_middle(&out, cases[i].text, cases[i].head, cases[i].columns);
        assert_string_equal(out.data, cases[i].expected);
        assert_true(text_width(out.data, out.length) <= cases[i].columns);
        buffer_release(&out);
    }
}

static void test_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *expected;
    } cases[] = {
        {"abc", 3, "abc"},
        {"abcd", 3, "ab…"},
        {"abcd", 1, "…"},
        {"abcd", 0, ""},
        {"", 0, ""},
        {"日本語", 6, "日本語"},
        {"日本語", 5, "日本…"},
        {"日本語", 4, "日…"},
        {"日本語", 2, "…"},
        {"日本語", 1, "…"},
        {"e\xcc\x81tude", 5, "e\xcc\x81tude"},
        {"e\xcc\x81tude", 2, "e\xcc\x81…"},
        {"a\x1b[31mb", 20, "a?[31mb"},
        {"a\nb", 20, "a?b"},
        {"\xff\xfe", 20, "??"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer out;
        buffer_init(&out);
        layout_cut(&out, cases[i].text, cases[i].columns);
        assert_string_equal(out.data, cases[i].expected);
        buffer_release(&out);
    }
}

static void test_wrap(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t indent, columns;
        const char *expected;
    } cases[] = {
        {"", 0, 20, ""},
        {"one two three", 0, 20, "one two three"},
        {"one two three", 0, 10, "one two\nthree"},
        {"one two three", 2, 12, "one two\n  three"},
        {"0123456789 abc", 0, 10, "0123456789\nabc"},
        {"0123456789abc", 0, 10, "0123456789\nabc"},
        {"日本語日本語", 0, 11, "日本語日本\n語"},
        {"one\ntwo", 2, 20, "one\n  two"},
        /* Columns that leave no room are raised. */
        {"one two three", 4, 5, "one two\n    three"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer out;
        buffer_init(&out);
        layout_wrap(&out, cases[i].text, cases[i].indent, cases[i].columns);
        assert_string_equal(out.data, cases[i].expected);
        buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_keep_their_end),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
