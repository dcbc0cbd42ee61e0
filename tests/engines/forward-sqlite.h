/*
 * What libraries with the SQLite C ABI have in common that forward to the system's
 * libsqlite3.so.0 and do something else besides, chosen by their own file name: broken-sqlite.c and
 * slow-sqlite.c. A file that includes this defines every function that the driver asks for, by
 * FORWARD where it changes nothing: all of them must lie in one file, as pitot asks for. One that
 * is missing makes the driver say so.
 */
#ifndef PITOT_TESTS_FORWARD_SQLITE_H
#define PITOT_TESTS_FORWARD_SQLITE_H

#include "engine/sqlite_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(result, name, arguments) result sqlite3_##name arguments;
SQLITE_REQUIRED(X)
SQLITE_OPTIONAL(X)
#undef X

static struct sqlite_api real;
static const char *(*real_sql)(struct sqlite3_stmt *);

static void *forward_symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "forward-sqlite: the system's SQLite has no %s\n", name);
    }
    return address;
}

/* Bytes of an object pointer into a function pointer. */
#define FORWARD_TAKE(into, library, name)                                                          \
    do {                                                                                           \
        void *address = forward_symbol(library, name);                                             \
        memcpy(&(into), &address, sizeof address);                                                 \
    } while (0)

/* Fills `real`; false when there is no library. */
static bool forward_open(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "forward-sqlite: %s\n", dlerror());
        return false;
    }
#define X(result, name, arguments) FORWARD_TAKE(real.name, library, "sqlite3_" #name);
    SQLITE_REQUIRED(X)
    SQLITE_OPTIONAL(X)
#undef X
    FORWARD_TAKE(real_sql, library, "sqlite3_sql");
    return true;
}

/* Of a file name PREFIX-WORD-NUMBER.so (or PREFIX-WORD.so, which leaves `number` alone). `word` is
 * left empty by another name. */
static void forward_name(const char *prefix, char word[64], uint64_t *number)
{
    Dl_info info;
    word[0] = '\0';
    if (dladdr(&real, &info) == 0 || info.dli_fname == NULL) {
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] != '-') {
        return;
    }
    snprintf(word, 64, "%s", name + length + 1);
    char *end = strstr(word, ".so");
    if (end != NULL) {
        *end = '\0';
    }
    char *digits = strrchr(word, '-');
    if (digits != NULL && digits[1] >= '0' && digits[1] <= '9') {
        *number = strtoull(digits + 1, NULL, 10);
        *digits = '\0';
    }
}

#define FORWARD(result, name, declared, passed)                                                    \
    result sqlite3_##name declared                                                                 \
    {                                                                                              \
        return real.name passed;                                                                   \
    }

/* What none of them changes. */
FORWARD(const char *, libversion, (void), ())
FORWARD(int, libversion_number, (void), ())
FORWARD(int, threadsafe, (void), ())
FORWARD(const char *, sourceid, (void), ())
FORWARD(const char *, compileoption_get, (int n), (n))
FORWARD(int, shutdown, (void), ())
FORWARD(int, extended_result_codes, (struct sqlite3 * db, int on), (db, on))
FORWARD(int, busy_handler, (struct sqlite3 * db, int (*call)(void *, int), void *context),
        (db, call, context))
FORWARD(int, sleep, (int ms), (ms))
FORWARD(int, stmt_readonly, (struct sqlite3_stmt * stmt), (stmt))
FORWARD(int, bind_parameter_count, (struct sqlite3_stmt * stmt), (stmt))
FORWARD(int, column_count, (struct sqlite3_stmt * stmt), (stmt))
FORWARD(int, get_autocommit, (struct sqlite3 * db), (db))
FORWARD(const char *, errmsg, (struct sqlite3 * db), (db))

void sqlite3_interrupt(struct sqlite3 *db)
{
    real.interrupt(db);
}

#endif
