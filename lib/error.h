/* How the library's functions report: a code of PITOT_ERRORS and a message in the caller's struct.
 */
#ifndef PITOT_LIB_ERROR_H
#define PITOT_LIB_ERROR_H

#include <pitot.h>
#include <sqlite3.h>

#include <stdbool.h>

/* Fills *error (unless NULL), which then holds this error alone, and returns the code. */
int failure(struct pitot_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As failure() with ": <strerror>" behind it. errno_value chooses the code: ENOSPC and EDQUOT give
 * FULL, ENOMEM MEMORY, EACCES, EPERM, EROFS PERMISSION, ENOENT MISSING, all others IO. */
int failure_errno(struct pitot_error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As failure() with ": <SQLite's message>" behind it, of the connection's last error, which must be
 * `rc`. The code follows from rc, and where SQLite wrote a file also from errno: see
 * sqlite_error_code(). db may be NULL: then there is no message but the code's own. */
int failure_sqlite(struct pitot_error *error, sqlite3 *db, int rc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The PITOT_ERROR_… of an extended result code and of sqlite3_system_errno(), 0 if not known. */
int sqlite_error_code(int rc, int errno_value);

/* Puts "<text>: " before the message. */
void failure_prefix(struct pitot_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies at most size - 1 bytes and a NUL, cut at a whole UTF-8 character. */
void copy_cut(char *out, size_t size, const char *text, size_t length);

#endif
