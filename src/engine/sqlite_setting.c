/* Settings of the sqlite driver: PRAGMAs by name, safe against text in a value. */
#include "engine/sqlite_connection.h"

#include "base/buffer.h"
#include "core/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(const char *text)
{
    if (!is_letter(*text)) {
        return false;
    }
    while (is_letter(*text) || is_digit(*text)) {
        text++;
    }
    return *text == '\0';
}

/* [+-] digits [. digits] */
static bool is_number(const char *text)
{
    text += *text == '-' || *text == '+';
    if (!is_digit(*text)) {
        return false;
    }
    while (is_digit(*text)) {
        text++;
    }
    if (*text == '.') {
        text++;
        while (is_digit(*text)) {
            text++;
        }
    }
    return *text == '\0';
}

/* 'text' with every quote inside doubled: SQL as it stands. */
static bool is_quoted(const char *text)
{
    size_t length = strlen(text);
    if (length < 2 || text[0] != '\'' || text[length - 1] != '\'') {
        return false;
    }
    for (size_t i = 1; i < length - 1; i++) {
        if (text[i] == '\'') {
            if (i + 1 >= length - 1 || text[i + 1] != '\'') {
                return false;
            }
            i++;
        }
    }
    return true;
}

static void append_value(struct buffer *sql, const char *value)
{
    if (is_number(value) || is_word(value) || is_quoted(value)) {
        buffer_puts(sql, value);
        return;
    }
    buffer_putc(sql, '\'');
    for (; *value != '\0'; value++) {
        buffer_putc(sql, *value);
        if (*value == '\'') {
            buffer_putc(sql, '\'');
        }
    }
    buffer_putc(sql, '\'');
}

static int check_name(const char *name, struct error *error)
{
    if (is_word(name)) {
        return 0;
    }
    return error_set(error, ERROR_INVALID,
                     "'%s' is no name of a setting: letters, digits and _ were expected", name);
}

static int set_timeout(struct engine_connection *connection, const char *value, struct error *error)
{
    char *end;
    errno = 0;
    long long timeout = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || timeout < 0 || timeout > INT32_MAX) {
        return error_set(error, ERROR_INVALID,
                         "busy_timeout '%s': a number of milliseconds from 0 to %d was expected",
                         value, INT32_MAX);
    }
    if (sqlite_set_busy_timeout(connection, (uint32_t)timeout) != SQLITE_OK) {
        return error_set(error, ERROR_ENGINE, "busy_timeout=%s: %s", value,
                         connection->api->errmsg(connection->db));
    }
    return 0;
}

enum { SWITCH_PATIENCE_MS = 5000 };

/* Switching a file to WAL fails at once, whatever the busy timeout, while another
 * connection does the same: SQLite does not wait where two could wait for each other.
 * Nothing is held here and nothing is measured, so it is safe to try again, by the same schedule,
 * until the timeout is over, but at least for SWITCH_PATIENCE_MS: with a timeout of 0 the
 * connections of one run would refuse each other. */
static enum engine_status exec_patiently(struct engine_connection *connection, const char *sql)
{
    uint32_t patience_ms = connection->wait.timeout_ms > SWITCH_PATIENCE_MS
                               ? connection->wait.timeout_ms
                               : SWITCH_PATIENCE_MS;
    uint64_t end = clock_now_ns() + patience_ms * NS_PER_MS;
    for (uint32_t count = 0;; count++) {
        enum engine_status status = sqlite_exec(connection, sql);
        int primary = connection->code & 0xff;
        bool locked =
            status == ENGINE_BUSY || (status == ENGINE_FAILED && primary == SQLITE_LOCKED);
        uint32_t delay = sqlite_wait_delay(count, patience_ms);
        if (!locked || delay == 0 || clock_now_ns() >= end || sqlite_interrupted(connection)) {
            return status;
        }
        connection->api->sleep((int)delay);
    }
}

int sqlite_setting_set(struct engine_connection *connection, const char *name, const char *value,
                       struct error *error)
{
    int rc = check_name(name, error);
    if (rc != 0) {
        return rc;
    }
    if (strcasecmp(name, "busy_timeout") == 0) {
        return set_timeout(connection, value, error);
    }
    struct buffer sql;
    buffer_init(&sql);
    buffer_printf(&sql, "PRAGMA %s=", name);
    append_value(&sql, value);
    if (sql.failed) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was set", name);
        goto out;
    }
    enum engine_status status = strcasecmp(name, "journal_mode") == 0
                                    ? exec_patiently(connection, sql.data)
                                    : sqlite_exec(connection, sql.data);
    if (status != ENGINE_OK) {
        rc = error_set(error, status == ENGINE_BUSY ? ERROR_BUSY : ERROR_ENGINE,
                       "%s could not be set to %s: %s (code %d)", name, value, connection->text,
                       connection->code);
    }
out:
    buffer_release(&sql);
    return rc;
}

/* First column of the first row of `PRAGMA name`. */
static int read_pragma(struct engine_connection *connection, const char *name, char *out,
                       size_t size, struct error *error)
{
    const struct sqlite_api *api = connection->api;
    struct buffer text;
    struct sqlite3_stmt *stmt = NULL;
    int rc = 1;
    buffer_init(&text);
    buffer_printf(&text, "PRAGMA %s", name);
    if (text.failed) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was read", name);
        goto out;
    }
    int code = api->prepare_v2(connection->db, text.data, -1, &stmt, NULL);
    if (code == SQLITE_OK && stmt != NULL) {
        code = api->step(stmt);
    }
    if (code == SQLITE_ROW) {
        const char *got = (const char *)api->column_text(stmt, 0);
        if (got != NULL && strlen(got) >= size) {
            rc = error_set(error, ERROR_ENGINE, "%s is longer than %zu bytes", name, size - 1);
        } else if (got != NULL) {
            memcpy(out, got, strlen(got) + 1);
            rc = 0;
        }
    } else if (code != SQLITE_DONE && code != SQLITE_OK) {
        sqlite_failed(connection, code, NULL);
        rc = error_set(error, ERROR_ENGINE, "%s could not be read: %s (code %d)", name,
                       connection->text, connection->code);
    }
out:
    api->finalize(stmt);
    buffer_release(&text);
    return rc;
}

int sqlite_setting_get(struct engine_connection *connection, const char *name, char *out,
                       size_t size, struct error *error)
{
    int rc = check_name(name, error);
    if (rc != 0) {
        return rc;
    }
    if (strcasecmp(name, "busy_timeout") == 0) {
        /* PRAGMA busy_timeout reads 0 once a handler of our own is set. */
        int length = snprintf(out, size, "%u", connection->wait.timeout_ms);
        if (length < 0 || (size_t)length >= size) {
            return error_set(error, ERROR_ENGINE, "%s is longer than %zu bytes", name, size - 1);
        }
        return 0;
    }
    return read_pragma(connection, name, out, size, error);
}
