#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void error_cut(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return;
    }
    unsigned char lead = (unsigned char)text[start - 1];
    size_t needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length - (start - 1) < needed) {
        text[start - 1] = '\0';
    }
}

static void format_into(char out[ERROR_MESSAGE_SIZE], const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static void format_into(char out[ERROR_MESSAGE_SIZE], const char *format, va_list arguments)
{
    int length = vsnprintf(out, ERROR_MESSAGE_SIZE, format, arguments);
    if (length < 0) {
        /* Only a broken conversion does this; the format itself still says most. */
        snprintf(out, ERROR_MESSAGE_SIZE, "%s", format);
    } else if (length >= ERROR_MESSAGE_SIZE) {
        error_cut(out, ERROR_MESSAGE_SIZE - 1);
    }
}

/* Puts text and more text into the message, cut at a character. */
static void join_into(struct error *error, const char *first, const char *separator,
                      const char *second)
{
    char joined[ERROR_MESSAGE_SIZE];
    int length = snprintf(joined, sizeof joined, "%s%s%s", first, separator, second);
    if (length >= ERROR_MESSAGE_SIZE) {
        error_cut(joined, ERROR_MESSAGE_SIZE - 1);
    }
    memcpy(error->message, joined, sizeof joined);
}

int error_setv(struct error *error, enum error_code code, const char *format, va_list arguments)
{
    if (error != NULL && error->code == ERROR_NONE) {
        /* Through a copy, since an argument may lie in the message itself. */
        char message[ERROR_MESSAGE_SIZE];
        format_into(message, format, arguments);
        error->code = code;
        memcpy(error->message, message, sizeof message);
    }
    return code;
}

int error_set(struct error *error, enum error_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_setv(error, code, format, arguments);
    va_end(arguments);
    return code;
}

static enum error_code code_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
        return ERROR_FULL;
    case ENOMEM:
        return ERROR_MEMORY;
    case EACCES:
    case EPERM:
    case EROFS:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
        return ERROR_UNAVAILABLE;
    default:
        return ERROR_IO;
    }
}

int error_errno(struct error *error, int errno_value, const char *format, ...)
{
    enum error_code code = code_of_errno(errno_value);
    if (error == NULL || error->code != ERROR_NONE) {
        return code;
    }
    char text[ERROR_MESSAGE_SIZE];
    char reason[128];
    va_list arguments;
    va_start(arguments, format);
    format_into(text, format, arguments);
    va_end(arguments);
    error->code = code;
    join_into(error, text, ": ", strerror_r(errno_value, reason, sizeof reason));
    return code;
}

void error_prefix(struct error *error, const char *format, ...)
{
    if (error == NULL || error->code == ERROR_NONE) {
        return;
    }
    char text[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    format_into(text, format, arguments);
    va_end(arguments);
    join_into(error, text, ": ", error->message);
}

void error_clear(struct error *error)
{
    error->code = ERROR_NONE;
    error->message[0] = '\0';
}

const char *error_name(enum error_code code)
{
    switch (code) {
    case ERROR_NONE:
        return "NONE";
#define X(name, number, text)                                                                      \
    case ERROR_##name:                                                                             \
        return #name;
        ERROR_CODES(X)
#undef X
    }
    return "?";
}

const char *error_meaning(enum error_code code)
{
    switch (code) {
    case ERROR_NONE:
        return "no error";
#define X(name, number, text)                                                                      \
    case ERROR_##name:                                                                             \
        return text;
        ERROR_CODES(X)
#undef X
    }
    return "?";
}
