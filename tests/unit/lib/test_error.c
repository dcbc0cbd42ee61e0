/* Names and texts of the errors; codes chosen from errno and from SQLite's results. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/error.h"

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(pitot_error_name(0), "OK");
    assert_string_equal(pitot_error_name(PITOT_ERROR_STUCK), "STUCK");
    assert_string_equal(pitot_error_name(17), "SOURCE");
    assert_string_equal(pitot_error_name(-1000), "?");
    assert_string_equal(pitot_error_text(0), "no error");
    assert_string_equal(pitot_error_text(PITOT_ERROR_MEMORY), "out of memory");
    assert_string_equal(pitot_error_text(17), pitot_error_text(PITOT_ERROR_SOURCE));
    assert_string_equal(pitot_error_text(-1000), "?");
    assert_string_equal(pitot_version(), PITOT_VERSION);
}

static void test_a_failure_replaces_the_one_before(void **state)
{
    (void)state;
    struct pitot_error error = {0};
    assert_int_equal(failure(NULL, PITOT_ERROR_BUSY, "x"), PITOT_ERROR_BUSY);
    assert_int_equal(failure(&error, PITOT_ERROR_BUSY, "table '%s'", "items"), PITOT_ERROR_BUSY);
    assert_int_equal(error.code, PITOT_ERROR_BUSY);
    assert_string_equal(error.message, "table 'items'");
    failure(&error, PITOT_ERROR_SCHEMA, "then: %s", error.message);
    assert_int_equal(error.code, PITOT_ERROR_SCHEMA);
    assert_string_equal(error.message, "then: table 'items'");
    failure_prefix(&error, "source %d", 7);
    assert_int_equal(error.code, PITOT_ERROR_SCHEMA);
    assert_string_equal(error.message, "source 7: then: table 'items'");
    failure_prefix(NULL, "x");
}

static void test_long_messages_are_cut_at_a_character(void **state)
{
    (void)state;
    char text[2 * PITOT_MESSAGE_SIZE + 1];
    for (size_t i = 0; i < PITOT_MESSAGE_SIZE; i++) {
        memcpy(text + 2 * i, "é", 2);
    }
    text[sizeof text - 1] = '\0';
    struct pitot_error error = {0};
    failure(&error, PITOT_ERROR_IO, "%s", text);
    assert_int_equal(strlen(error.message), PITOT_MESSAGE_SIZE - 2);
    failure(&error, PITOT_ERROR_IO, "x%s", text);
    assert_int_equal(strlen(error.message), PITOT_MESSAGE_SIZE - 1);
    failure_errno(&error, EIO, "%s", text);
    assert_int_equal(strlen(error.message), PITOT_MESSAGE_SIZE - 2);

    char out[4];
    copy_cut(out, sizeof out, "aé€", 6);
    assert_string_equal(out, "aé");
    copy_cut(out, sizeof out, "abc", 3);
    assert_string_equal(out, "abc");
}

static void test_errno(void **state)
{
    (void)state;
    static const struct {
        int value;
        int code;
    } table[] = {
        {ENOSPC, PITOT_ERROR_FULL},      {EDQUOT, PITOT_ERROR_FULL},
        {ENOMEM, PITOT_ERROR_MEMORY},    {EACCES, PITOT_ERROR_PERMISSION},
        {EROFS, PITOT_ERROR_PERMISSION}, {ENOENT, PITOT_ERROR_MISSING},
        {EIO, PITOT_ERROR_IO},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct pitot_error error = {0};
        assert_int_equal(failure_errno(&error, table[i].value, "folder x"), table[i].code);
        assert_int_equal(error.code, table[i].code);
        assert_memory_equal(error.message, "folder x: ", 10);
        assert_non_null(strstr(error.message, strerror(table[i].value)));
    }
}

static void test_results_of_sqlite(void **state)
{
    (void)state;
    static const struct {
        int rc;
        int errno_value;
        int code;
    } table[] = {
        {SQLITE_NOMEM, 0, PITOT_ERROR_MEMORY},
        {SQLITE_IOERR_NOMEM, 0, PITOT_ERROR_MEMORY},
        {SQLITE_FULL, 0, PITOT_ERROR_FULL},
        {SQLITE_IOERR_WRITE, EDQUOT, PITOT_ERROR_FULL},
        {SQLITE_IOERR_SHMSIZE, ENOSPC, PITOT_ERROR_FULL},
        {SQLITE_CANTOPEN, ENOSPC, PITOT_ERROR_FULL},
        {SQLITE_CORRUPT, ENOSPC, PITOT_ERROR_CORRUPT},
        {SQLITE_IOERR_WRITE, EIO, PITOT_ERROR_IO},
        {SQLITE_IOERR_WRITE, EROFS, PITOT_ERROR_PERMISSION},
        {SQLITE_BUSY_SNAPSHOT, 0, PITOT_ERROR_BUSY},
        {SQLITE_READONLY, 0, PITOT_ERROR_PERMISSION},
        {SQLITE_READONLY_DBMOVED, 0, PITOT_ERROR_REPLACED},
        {SQLITE_CANTOPEN, EACCES, PITOT_ERROR_PERMISSION},
        {SQLITE_CANTOPEN, ENOENT, PITOT_ERROR_MISSING},
        {SQLITE_CANTOPEN, 0, PITOT_ERROR_IO},
        {SQLITE_NOTADB, 0, PITOT_ERROR_CORRUPT},
        {SQLITE_CONSTRAINT_DATATYPE, 0, PITOT_ERROR_TYPE},
        {SQLITE_CONSTRAINT_PRIMARYKEY, 0, PITOT_ERROR_DUPLICATE},
        {SQLITE_CONSTRAINT_UNIQUE, 0, PITOT_ERROR_CONSTRAINT},
        {SQLITE_ERROR, 0, PITOT_ERROR_SQLITE},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_int_equal(sqlite_error_code(table[i].rc, table[i].errno_value), table[i].code);
    }
    struct pitot_error error = {0};
    assert_int_equal(failure_sqlite(&error, NULL, SQLITE_BUSY_SNAPSHOT, "store"), PITOT_ERROR_BUSY);
    assert_int_equal(error.sqlite_code, SQLITE_BUSY_SNAPSHOT);
    assert_string_equal(error.message, "store: database is locked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_failure_replaces_the_one_before),
        cmocka_unit_test(test_long_messages_are_cut_at_a_character),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_results_of_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
