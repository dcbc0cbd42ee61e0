/*
 * Errors: one list of codes, one caller-owned struct.
 *
 * A function that can fail returns 0 or a negative code out of ERROR_CODES and
 * fills the `struct error` it was given (NULL is allowed: then only the code is
 * known). The first error wins: error_set() on a struct that already holds one
 * changes nothing, so that the cause is reported and not what it led to.
 * A message names the thing, what was found, and what would be right.
 * Nothing here prints, exits or allocates. Safe from every thread as long as a
 * struct is used by one thread at a time.
 */
#ifndef PITOT_CORE_ERROR_H
#define PITOT_CORE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* X(NAME, number, what it means) */
#define ERROR_CODES(X)                                                                             \
    X(INVALID, 1, "a name, number, script, manifest or file given is wrong")                       \
    X(UNAVAILABLE, 2, "this machine or account cannot do it")                                      \
    X(ENGINE, 3, "an engine failed or gave a wrong answer")                                        \
    X(PROTOCOL, 4, "a worker broke the protocol")                                                  \
    X(IO, 5, "a file could not be read or written")                                                \
    X(FULL, 6, "no space is left")                                                                 \
    X(MEMORY, 7, "out of memory")                                                                  \
    X(TIMEOUT, 8, "something made no headway for too long")                                        \
    X(INTERRUPTED, 9, "ended by a signal")                                                         \
    X(BUSY, 10, "held by someone else")

enum error_code {
    ERROR_NONE = 0,
#define X(name, number, text) ERROR_##name = -(number),
    ERROR_CODES(X)
#undef X
};

enum { ERROR_MESSAGE_SIZE = 2048 };

struct error {
    enum error_code code; /* ERROR_NONE: nothing has been set */
    char message[ERROR_MESSAGE_SIZE];
};

#define ERROR_INIT                                                                                 \
    {                                                                                              \
        .code = ERROR_NONE                                                                         \
    }

/* Sets code and message unless one is set already. Returns the code given (for
 * `return error_set(...)`). A message that is too long is cut at a character. */
int error_set(struct error *error, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int error_setv(struct error *error, enum error_code code, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* As error_set with ": <strerror(errno_value)>" behind the message. The code is
 * chosen by errno_value: ENOSPC and EDQUOT give FULL, ENOMEM MEMORY, EACCES,
 * EPERM, EROFS, EMFILE, ENFILE, EAGAIN UNAVAILABLE, all others IO. */
int error_errno(struct error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<text>: " before the message of a set error; does nothing otherwise. */
void error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Cuts a text of `length` bytes that was cut anywhere back to a whole UTF-8 character: a lead byte
 * whose followers did not fit goes with them. */
void error_cut(char *text, size_t length);

/* Empties the struct so that it can be used again. */
void error_clear(struct error *error);

/* "INVALID", … and the meaning; "NONE" / "no error" for 0, "?" for others. */
const char *error_name(enum error_code code);
const char *error_meaning(enum error_code code);

#endif
