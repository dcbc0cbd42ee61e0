#include "lib/error.h"

#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void copy_cut(char *out, size_t size, const char *text, size_t length)
{
    size_t kept = length < size ? length : size - 1;
    memcpy(out, text, kept);
    out[kept] = '\0';
    if (kept < length) {
        error_cut(out, kept);
    }
}

/* The message is made aside, since an argument may lie in the one that is replaced. */
static void format_message(struct pitot_error *error, int code, int sqlite_code, const char *format,
                           va_list arguments, const char *reason)
    __attribute__((format(printf, 4, 0)));

static void format_message(struct pitot_error *error, int code, int sqlite_code, const char *format,
                           va_list arguments, const char *reason)
{
    char text[PITOT_MESSAGE_SIZE];
    int length = vsnprintf(text, sizeof text, format, arguments);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (length >= 0 && used < sizeof text && reason != NULL) {
        length = snprintf(text + used, sizeof text - used, ": %s", reason);
        used += length < 0 ? 0 : (size_t)length;
    }
    if (used >= sizeof text) {
        error_cut(text, sizeof text - 1);
    }
    error->code = code;
    error->sqlite_code = sqlite_code;
    memcpy(error->message, text, sizeof text);
}

int failure(struct pitot_error *error, int code, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        format_message(error, code, 0, format, arguments, NULL);
        va_end(arguments);
    }
    return code;
}

static int errno_code(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
        return PITOT_ERROR_FULL;
    case ENOMEM:
        return PITOT_ERROR_MEMORY;
    case EACCES:
    case EPERM:
    case EROFS:
        return PITOT_ERROR_PERMISSION;
    case ENOENT:
        return PITOT_ERROR_MISSING;
    default:
        return PITOT_ERROR_IO;
    }
}

int failure_errno(struct pitot_error *error, int errno_value, const char *format, ...)
{
    int code = errno_code(errno_value);
    if (error != NULL) {
        char reason[128];
        va_list arguments;
        va_start(arguments, format);
        format_message(error, code, 0, format, arguments,
                       strerror_r(errno_value, reason, sizeof reason));
        va_end(arguments);
    }
    return code;
}

int sqlite_error_code(int rc, int errno_value)
{
    if (errno_value == ENOSPC || errno_value == EDQUOT) {
        switch (rc & 0xff) {
        case SQLITE_IOERR:
        case SQLITE_FULL:
        case SQLITE_CANTOPEN:
            return PITOT_ERROR_FULL;
        default:
            break;
        }
    }
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return PITOT_ERROR_MEMORY;
    case SQLITE_FULL:
        return PITOT_ERROR_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return PITOT_ERROR_BUSY;
    case SQLITE_READONLY:
        return rc == SQLITE_READONLY_DBMOVED ? PITOT_ERROR_REPLACED : PITOT_ERROR_PERMISSION;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return PITOT_ERROR_PERMISSION;
    case SQLITE_CANTOPEN:
        return errno_value == 0 ? PITOT_ERROR_IO : errno_code(errno_value);
    case SQLITE_IOERR:
        return rc == SQLITE_IOERR_NOMEM ? PITOT_ERROR_MEMORY
               : errno_value == EACCES || errno_value == EPERM || errno_value == EROFS
                   ? PITOT_ERROR_PERMISSION
                   : PITOT_ERROR_IO;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return PITOT_ERROR_CORRUPT;
    case SQLITE_CONSTRAINT:
        return rc == SQLITE_CONSTRAINT_DATATYPE     ? PITOT_ERROR_TYPE
               : rc == SQLITE_CONSTRAINT_PRIMARYKEY ? PITOT_ERROR_DUPLICATE
               : rc == SQLITE_CONSTRAINT_ROWID      ? PITOT_ERROR_DUPLICATE
                                                    : PITOT_ERROR_CONSTRAINT;
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return PITOT_ERROR_TYPE;
    default:
        return PITOT_ERROR_SQLITE;
    }
}

int failure_sqlite(struct pitot_error *error, sqlite3 *db, int rc, const char *format, ...)
{
    int code = sqlite_error_code(rc, db == NULL ? 0 : sqlite3_system_errno(db));
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        format_message(error, code, rc, format, arguments,
                       db == NULL ? sqlite3_errstr(rc) : sqlite3_errmsg(db));
        va_end(arguments);
    }
    return code;
}

void failure_prefix(struct pitot_error *error, const char *format, ...)
{
    if (error == NULL) {
        return;
    }
    char old[PITOT_MESSAGE_SIZE];
    memcpy(old, error->message, sizeof old);
    va_list arguments;
    va_start(arguments, format);
    format_message(error, error->code, error->sqlite_code, format, arguments, old);
    va_end(arguments);
}

const char *pitot_error_name(int code)
{
    switch (code) {
    case PITOT_OK:
        return "OK";
#define NAME(name, number, text)                                                                   \
    case PITOT_ERROR_##name:                                                                       \
        return #name;
        PITOT_ERRORS(NAME)
#undef NAME
    default:
        return code > 0 ? "SOURCE" : "?";
    }
}

const char *pitot_error_text(int code)
{
    switch (code) {
    case PITOT_OK:
        return "no error";
#define TEXT(name, number, text)                                                                   \
    case PITOT_ERROR_##name:                                                                       \
        return text;
        PITOT_ERRORS(TEXT)
#undef TEXT
    default:
        return code > 0 ? pitot_error_text(PITOT_ERROR_SOURCE) : "?";
    }
}

const char *pitot_version(void)
{
    return PITOT_VERSION;
}
