#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct bytes {
    const char *data;
    size_t length;
};
#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct {
    struct bytes plain, escaped;
} escapes[] = {
    {BYTES(""), BYTES("")},
    {BYTES("plain"), BYTES("plain")},
    {BYTES("Grüße, 日本, 🦀"), BYTES("Grüße, 日本, 🦀")},
    {BYTES("a\0b"), BYTES("a\0b")},
    {BYTES("\xff"), BYTES("\\xff")},
    {BYTES("a\x80z"), BYTES("a\\x80z")},
    {BYTES("\xc0\xaf"), BYTES("\\xc0\\xaf")},                   /* overlong */
    {BYTES("\xe0\x80\xaf"), BYTES("\\xe0\\x80\\xaf")},          /* overlong */
    {BYTES("\xed\xa0\x80"), BYTES("\\xed\\xa0\\x80")},          /* surrogate */
    {BYTES("\xf4\x90\x80\x80"), BYTES("\\xf4\\x90\\x80\\x80")}, /* beyond U+10FFFF */
    {BYTES("\xf4\x8f\xbf\xbf"), BYTES("\xf4\x8f\xbf\xbf")},     /* U+10FFFF */
    {BYTES("\xe2\x82"), BYTES("\\xe2\\x82")},                   /* ends too early */
    {BYTES("\xe2\x82z"), BYTES("\\xe2\\x82z")},
    {BYTES("\\"), BYTES("\\")},
    {BYTES("\\n"), BYTES("\\n")},
    {BYTES("\\x41"), BYTES("\\x5cx41")},
    {BYTES("\\x"), BYTES("\\x5cx")},
    {BYTES("\\\\x"), BYTES("\\\\x5cx")},
    {BYTES("\\\xff"), BYTES("\\\\xff")},
    {BYTES("\\x5c"), BYTES("\\x5cx5c")},
};

static void escaping_follows_its_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(escapes); i++) {
        struct buffer there, back;
        buffer_init(&there);
        buffer_init(&back);
        text_escape(&there, escapes[i].plain.data, escapes[i].plain.length);
        assert_int_equal(there.length, escapes[i].escaped.length);
        assert_memory_equal(there.data, escapes[i].escaped.data, there.length);
        text_unescape(&back, there.data, there.length);
        assert_int_equal(back.length, escapes[i].plain.length);
        assert_memory_equal(back.data, escapes[i].plain.data, back.length);
        buffer_release(&there);
        buffer_release(&back);
    }
}

/* All strings of up to five of the bytes that matter to the rule. */
static void escaping_can_always_be_undone(void **state)
{
    (void)state;
    static const char alphabet[] = {'\\', 'x', '5', 'c', 'f', '\xc3', '\xa9', '\xff', '\0'};
    size_t total = 1;
    for (size_t length = 1; length <= 5; length++) {
        total *= COUNT(alphabet);
        for (size_t n = 0; n < total; n++) {
            char plain[5];
            for (size_t i = 0, rest = n; i < length; i++, rest /= COUNT(alphabet)) {
                plain[i] = alphabet[rest % COUNT(alphabet)];
            }
            struct buffer there, back;
            buffer_init(&there);
            buffer_init(&back);
            text_escape(&there, plain, length);
            text_unescape(&back, there.data, there.length);
            assert_int_equal(back.length, length);
            assert_memory_equal(back.data, plain, length);
            for (size_t i = 0; i < there.length;) { /* and it is UTF-8 */
                uint32_t code;
                size_t size = text_character(there.data + i, there.length - i, &code);
                assert_true(size > 0);
                i += size;
            }
            buffer_release(&there);
            buffer_release(&back);
        }
    }
}

static void unescaping_leaves_what_is_no_escape(void **state)
{
    (void)state;
    static const char text[] = "\\xFF \\x4 \\xg0 \\x";
    struct buffer out;
    buffer_init(&out);
    text_unescape(&out, text, strlen(text));
    assert_string_equal(out.data, text);
    buffer_release(&out);
}

static void the_nearest_word_is_found(void **state)
{
    (void)state;
    static const char *const names[] = {"duration", "warmup", "threads", "engines",
                                        "engine",   "seed",   "t",       NULL};
    static const struct {
        const char *word, *expected;
    } cases[] = {
        {"duration", "duration"},
        {"duraton", "duration"},
        {"druation", "duration"},
        {"dduration", "duration"},
        {"durations", "duration"},
        {"wramup", "warmup"},
        {"wramp", NULL},
        {"thread", "threads"},
        {"enginse", "engines"},
        {"engin", "engine"},
        {"sed", "seed"},
        {"esed", "seed"},
        {"see", "seed"},
        {"xyz", NULL},
        {"", NULL},
        {"x", NULL},
        {"t", "t"},
        {"timeout", NULL},
        {"a-word-that-is-much-longer-than-any-option-of-any-program-would-ever-be", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *found = text_nearest(cases[i].word, names);
        if (cases[i].expected == NULL) {
            assert_null(found);
        } else {
            assert_non_null(found);
            assert_string_equal(found, cases[i].expected);
        }
    }
    static const char *const none[] = {NULL};
    assert_null(text_nearest("word", none));
    static const char *const equals[] = {"cat", "car", NULL};
    assert_string_equal(text_nearest("cab", equals), "cat");
}

static const struct {
    struct bytes text;
    size_t columns;
    struct bytes printable;
} shown[] = {
    {BYTES(""), 0, BYTES("")},
    {BYTES("sqlite"), 6, BYTES("sqlite")},
    {BYTES("µs – …"), 6, BYTES("µs – …")},
    {BYTES("é"), 1, BYTES("é")},
    {BYTES("e\xcc\x81"), 1, BYTES("e\xcc\x81")}, /* combining acute */
    {BYTES("日本"), 4, BYTES("日本")},
    {BYTES("한글"), 4, BYTES("한글")},
    {BYTES("ｆ"), 2, BYTES("ｆ")}, /* full width */
    {BYTES("🦀"), 2, BYTES("🦀")},
    {BYTES("\xf0\xa0\x80\x80"), 2, BYTES("\xf0\xa0\x80\x80")}, /* U+20000 */
    {BYTES("a\xe2\x80\x8b"), 1, BYTES("a\xe2\x80\x8b")},       /* zero width space */
    {BYTES("\x1b[31m"), 5, BYTES("?[31m")},
    {BYTES("a\nb\tc\x7f"), 6, BYTES("a?b?c?")},
    {BYTES("\xc2\x9b"
           "1m"),
     3, BYTES("?1m")}, /* C1: another form of escape [ */
    {BYTES("a\xe2\x80\xae\xe2\x81\xa6z"), 4,
     BYTES("a??z")}, /* U+202E, U+2066: turn the direction */
    {BYTES("\xff\xfe"), 2, BYTES("??")},
    {BYTES("\0"), 1, BYTES("?")},
    {BYTES("\xe6\x97"), 2, BYTES("??")},
};

static void width_and_printable_form_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shown); i++) {
        struct buffer out;
        buffer_init(&out);
        assert_int_equal(text_width(shown[i].text.data, shown[i].text.length), shown[i].columns);
        text_printable(&out, shown[i].text.data, shown[i].text.length);
        assert_int_equal(out.length, shown[i].printable.length);
        assert_memory_equal(out.data, shown[i].printable.data, out.length);
        assert_int_equal(text_width(out.data, out.length), shown[i].columns);
        buffer_release(&out);
    }
}

static void several_lines_become_one(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out);
    text_one_line(&out, "a:\n\tb\n\nc\x1b\n");
    assert_string_equal(out.data, "a: ?b  c? ");
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escaping_follows_its_table),
        cmocka_unit_test(escaping_can_always_be_undone),
        cmocka_unit_test(unescaping_leaves_what_is_no_escape),
        cmocka_unit_test(the_nearest_word_is_found),
        cmocka_unit_test(width_and_printable_form_agree),
        cmocka_unit_test(several_lines_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
