#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_buffer_is_a_text(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer);
    assert_string_equal(buffer.data, "");
    buffer_append(&buffer, NULL, 0);
    buffer_puts(&buffer, "");
    buffer_clear(&buffer);
    assert_string_equal(buffer.data, "");
    char *taken = buffer_take(&buffer);
    assert_string_equal(taken, "");
    free(taken);
    buffer_release(&buffer);
}

static void appends_follow_each_other(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer);
    buffer_puts(&buffer, "one");
    buffer_putc(&buffer, ' ');
    buffer_append(&buffer, "t\0o", 3);
    buffer_printf(&buffer, " %d%%", 3);
    assert_int_equal(buffer.length, 10);
    assert_memory_equal(buffer.data, "one t\0o 3%", 11);
    buffer_clear(&buffer);
    assert_int_equal(buffer.length, 0);
    assert_string_equal(buffer.data, "");
    buffer_puts(&buffer, "again");
    char *taken = buffer_take(&buffer);
    assert_string_equal(taken, "again");
    free(taken);
    assert_int_equal(buffer.length, 0);
    assert_string_equal(buffer.data, "");
    buffer_puts(&buffer, "usable");
    assert_string_equal(buffer.data, "usable");
    buffer_release(&buffer);
}

static void it_grows_at_every_length(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer);
    for (size_t i = 0; i < 5000; i++) {
        if (i % 2 == 0) {
            buffer_printf(&buffer, "%c", (char)('a' + i % 26));
        } else {
            buffer_putc(&buffer, (char)('a' + i % 26));
        }
        assert_int_equal(buffer.length, i + 1);
        assert_int_equal(buffer.data[i + 1], '\0');
    }
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(buffer.data[i], 'a' + i % 26);
    }
    buffer_release(&buffer);
}

static void a_failure_stays_until_it_is_taken(void **state)
{
    (void)state;
    struct buffer buffer;
    unsigned long failures = buffer_failures();
    buffer_init(&buffer);
    buffer_puts(&buffer, "kept");
    buffer_append(&buffer, "x", SIZE_MAX - 2); /* more than any memory; nothing is read */
    assert_true(buffer.failed);
    assert_int_equal(buffer_failures(), failures + 1);
    buffer_puts(&buffer, "not taken");
    buffer_printf(&buffer, "%d", 1);
    assert_string_equal(buffer.data, "kept");
    assert_null(buffer_take(&buffer));
    assert_false(buffer.failed);
    buffer_puts(&buffer, "usable");
    assert_string_equal(buffer.data, "usable");
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_a_text),
        cmocka_unit_test(appends_follow_each_other),
        cmocka_unit_test(it_grows_at_every_length),
        cmocka_unit_test(a_failure_stays_until_it_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
