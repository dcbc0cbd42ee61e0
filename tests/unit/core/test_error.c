#include "core/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_first_error_wins(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(error_set(&error, ERROR_INVALID, "%s is %d", "x", 7), ERROR_INVALID);
    assert_int_equal(error_set(&error, ERROR_FULL, "later"), ERROR_FULL);
    assert_int_equal(error_errno(&error, EIO, "later"), ERROR_IO);
    assert_int_equal(error.code, ERROR_INVALID);
    assert_string_equal(error.message, "x is 7");
    error_clear(&error);
    assert_int_equal(error.code, ERROR_NONE);
    assert_string_equal(error.message, "");
    error_set(&error, ERROR_BUSY, "again");
    assert_string_equal(error.message, "again");
}

static void a_missing_struct_still_gives_the_code(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, ERROR_BUSY, "x"), ERROR_BUSY);
    assert_int_equal(error_errno(NULL, ENOSPC, "x"), ERROR_FULL);
    error_prefix(NULL, "x");
}

static void errno_chooses_the_code(void **state)
{
    (void)state;
    static const struct {
        int value;
        enum error_code code;
    } cases[] = {
        {ENOSPC, ERROR_FULL},
        {EDQUOT, ERROR_FULL},
        {ENOMEM, ERROR_MEMORY},
        {EACCES, ERROR_UNAVAILABLE},
        {EPERM, ERROR_UNAVAILABLE},
        {EROFS, ERROR_UNAVAILABLE},
        {EMFILE, ERROR_UNAVAILABLE},
        {ENFILE, ERROR_UNAVAILABLE},
        {EAGAIN, ERROR_UNAVAILABLE},
        {ENOENT, ERROR_IO},
        {EIO, ERROR_IO},
        {EISDIR, ERROR_IO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = ERROR_INIT;
        assert_int_equal(error_errno(&error, cases[i].value, "cannot"), cases[i].code);
        assert_int_equal(error.code, cases[i].code);
    }
    struct error error = ERROR_INIT;
    error_errno(&error, ENOENT, "cannot open %s", "a%s");
    assert_string_equal(error.message, "cannot open a%s: No such file or directory");
}

static void a_prefix_goes_before_the_message(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    error_prefix(&error, "nothing");
    assert_string_equal(error.message, "");
    error_set(&error, ERROR_IO, "cause");
    error_prefix(&error, "%s:%d", "file", 3);
    assert_string_equal(error.message, "file:3: cause");
    error_prefix(&error, "%s", error.message); /* its own message as an argument */
    assert_string_equal(error.message, "file:3: cause: file:3: cause");
}

/* `padding` letters, then "€" (three bytes), must never leave a part of it. */
static void long_messages_are_cut_at_a_character(void **state)
{
    (void)state;
    for (size_t padding = ERROR_MESSAGE_SIZE - 6; padding < ERROR_MESSAGE_SIZE + 2; padding++) {
        char text[ERROR_MESSAGE_SIZE + 16];
        memset(text, 'a', padding);
        strcpy(text + padding, "€");
        struct error error = ERROR_INIT;
        error_set(&error, ERROR_IO, "%s", text);
        size_t length = strlen(error.message);
        if (padding + 3 <= ERROR_MESSAGE_SIZE - 1) {
            assert_string_equal(error.message, text);
        } else {
            size_t kept = padding < ERROR_MESSAGE_SIZE - 1 ? padding : ERROR_MESSAGE_SIZE - 1;
            assert_int_equal(length, kept);
            assert_memory_equal(error.message, text, kept);
        }
        error_prefix(&error, "€");
        assert_true(strlen(error.message) < ERROR_MESSAGE_SIZE);
        assert_memory_equal(error.message, "€: aaa", 8);
    }
}

static void every_code_has_a_name_and_a_meaning(void **state)
{
    (void)state;
    assert_string_equal(error_name(ERROR_NONE), "NONE");
    assert_string_equal(error_meaning(ERROR_NONE), "no error");
    assert_string_equal(error_name(ERROR_INVALID), "INVALID");
    assert_string_equal(error_meaning(ERROR_FULL), "no space is left");
    assert_string_equal(error_name((enum error_code) - 99), "?");
    assert_string_equal(error_meaning((enum error_code)5), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_error_wins),
        cmocka_unit_test(a_missing_struct_still_gives_the_code),
        cmocka_unit_test(errno_chooses_the_code),
        cmocka_unit_test(a_prefix_goes_before_the_message),
        cmocka_unit_test(long_messages_are_cut_at_a_character),
        cmocka_unit_test(every_code_has_a_name_and_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
