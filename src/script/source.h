/* The text of one script file, and places in it. */
#ifndef PITOT_SCRIPT_SOURCE_H
#define PITOT_SCRIPT_SOURCE_H

#include "script/script.h"

struct source {
    const char *file;  /* as named in messages */
    const char *bytes; /* behind the byte order mark; borrowed */
    size_t length;
    size_t known; /* the last place asked for: places mostly go forward */
    struct script_place known_place;
};

/* Refuses UTF-16, NUL and bytes that are not UTF-8; skips a byte order mark. */
int source_init(struct source *source, const char *file, const char *bytes, size_t length,
                struct error *error);

/* Line and column (in characters) of an offset. */
struct script_place source_place(struct source *source, size_t offset);

/* Sets "file:line:column: message" and returns ERROR_INVALID. */
int source_fail(const struct source *source, struct script_place place, struct error *error,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
