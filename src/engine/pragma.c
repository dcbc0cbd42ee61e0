#include "engine/pragma.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int pragma_check_name(const char *name, struct error *error)
{
    if (is_word(name)) {
        return 0;
    }
    return error_set(error, ERROR_INVALID,
                     "'%s' is no name of a setting: letters, digits and _ were expected", name);
}

/* Appends `PRAGMA name=value`; a value that is no number, word or quoted text is quoted. */
static void put_pragma(struct buffer *sql, const char *name, const char *value)
{
    buffer_printf(sql, "PRAGMA %s=", name);
    append_value(sql, value);
}

int pragma_begin(struct buffer *sql, const char *name, const char *value, struct error *error)
{
    buffer_init(sql);
    int rc = pragma_check_name(name, error);
    if (rc != 0) {
        return rc;
    }
    put_pragma(sql, name, value);
    return sql->failed ? error_set(error, ERROR_MEMORY, "out of memory while %s was set", name) : 0;
}

int pragma_end(enum engine_status status, const char *name, const char *value, const char *text,
               int code, struct error *error)
{
    if (status == ENGINE_OK) {
        return 0;
    }
    return error_set(error, status == ENGINE_BUSY ? ERROR_BUSY : ERROR_ENGINE,
                     "%s could not be set to %s: %s (code %d)", name, value, text, code);
}

int pragma_milliseconds(const char *name, const char *value, uint32_t *out, struct error *error)
{
    char *end;
    errno = 0;
    long long timeout = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || timeout < 0 || timeout > INT32_MAX) {
        return error_set(error, ERROR_INVALID,
                         "%s '%s': a number of milliseconds from 0 to %d was expected", name, value,
                         INT32_MAX);
    }
    *out = (uint32_t)timeout;
    return 0;
}

int pragma_copy(const char *name, const char *value, size_t length, char *out, size_t size,
                struct error *error)
{
    if (length >= size) {
        return error_set(error, ERROR_ENGINE, "%s is longer than %zu bytes", name, size - 1);
    }
    memcpy(out, value, length);
    out[length] = '\0';
    return 0;
}

int pragma_copy_number(const char *name, uint32_t value, char *out, size_t size,
                       struct error *error)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%u", value);
    return pragma_copy(name, text, (size_t)length, out, size, error);
}
