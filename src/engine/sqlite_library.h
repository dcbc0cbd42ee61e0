/*
 * A library with the SQLite C ABI, opened at run time: the functions that are
 * called, and what the library says about itself. The ABI is declared here, so
 * that no header of an engine is needed to build.
 *
 * sqlite3_progress_handler, preupdate_hook, unlock_notify, profile and trace are
 * left out of some builds and never asked for.
 */
#ifndef PITOT_ENGINE_SQLITE_LIBRARY_H
#define PITOT_ENGINE_SQLITE_LIBRARY_H

#include "engine/library.h"

#include <stdatomic.h>

#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/* Values that are part of SQLite's ABI. */
enum {
    SQLITE_OK = 0,
    SQLITE_ERROR = 1,
    SQLITE_BUSY = 5,
    SQLITE_LOCKED = 6,
    SQLITE_NOMEM = 7,
    SQLITE_INTERRUPT = 9,
    SQLITE_TOOBIG = 18,
    SQLITE_MISUSE = 21,
    SQLITE_RANGE = 25,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101,

    SQLITE_LOCKED_SHAREDCACHE = SQLITE_LOCKED | 1 << 8,
    SQLITE_BUSY_SNAPSHOT = SQLITE_BUSY | 2 << 8,

    SQLITE_INTEGER = 1,
    SQLITE_FLOAT = 2,
    SQLITE_TEXT = 3,
    SQLITE_BLOB = 4,
    SQLITE_NULL = 5,

    SQLITE_OPEN_READWRITE = 0x2,
    SQLITE_OPEN_CREATE = 0x4,
    SQLITE_OPEN_NOMUTEX = 0x8000,

    SQLITE_PREPARE_PERSISTENT = 1,
};

/* X(result, name without "sqlite3_", arguments). The library must have these. */
#define SQLITE_REQUIRED(X)                                                                         \
    X(const char *, libversion, (void))                                                            \
    X(int, libversion_number, (void))                                                              \
    X(int, threadsafe, (void))                                                                     \
    X(int, open_v2, (const char *, struct sqlite3 **, int, const char *))                          \
    X(int, close, (struct sqlite3 *))                                                              \
    X(int, extended_result_codes, (struct sqlite3 *, int))                                         \
    X(int, busy_handler, (struct sqlite3 *, int (*)(void *, int), void *))                         \
    X(int, sleep, (int))                                                                           \
    X(void, interrupt, (struct sqlite3 *))                                                         \
    X(int, exec,                                                                                   \
      (struct sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **))   \
    X(int, prepare_v2,                                                                             \
      (struct sqlite3 *, const char *, int, struct sqlite3_stmt **, const char **))                \
    X(int, finalize, (struct sqlite3_stmt *))                                                      \
    X(int, step, (struct sqlite3_stmt *))                                                          \
    X(int, reset, (struct sqlite3_stmt *))                                                         \
    X(int, stmt_readonly, (struct sqlite3_stmt *))                                                 \
    X(int, bind_parameter_count, (struct sqlite3_stmt *))                                          \
    X(int, bind_null, (struct sqlite3_stmt *, int))                                                \
    X(int, bind_int64, (struct sqlite3_stmt *, int, int64_t))                                      \
    X(int, bind_double, (struct sqlite3_stmt *, int, double))                                      \
    X(int, bind_text, (struct sqlite3_stmt *, int, const char *, int, void (*)(void *)))           \
    X(int, bind_blob, (struct sqlite3_stmt *, int, const void *, int, void (*)(void *)))           \
    X(int, column_count, (struct sqlite3_stmt *))                                                  \
    X(int, column_type, (struct sqlite3_stmt *, int))                                              \
    X(int64_t, column_int64, (struct sqlite3_stmt *, int))                                         \
    X(double, column_double, (struct sqlite3_stmt *, int))                                         \
    X(const unsigned char *, column_text, (struct sqlite3_stmt *, int))                            \
    X(const void *, column_blob, (struct sqlite3_stmt *, int))                                     \
    X(int, column_bytes, (struct sqlite3_stmt *, int))                                             \
    X(int, changes, (struct sqlite3 *))                                                            \
    X(int, total_changes, (struct sqlite3 *))                                                      \
    X(int, get_autocommit, (struct sqlite3 *))                                                     \
    X(const char *, errmsg, (struct sqlite3 *))

/* NULL in `struct sqlite_api` when the library has them not. */
#define SQLITE_OPTIONAL(X)                                                                         \
    X(const char *, sourceid, (void))                                                              \
    X(const char *, compileoption_get, (int))                                                      \
    X(int, shutdown, (void))                                                                       \
    X(int, prepare_v3,                                                                             \
      (struct sqlite3 *, const char *, int, unsigned, struct sqlite3_stmt **, const char **))

struct sqlite_api {
#define X(result, name, arguments) result(*name) arguments;
    SQLITE_REQUIRED(X)
    SQLITE_OPTIONAL(X)
#undef X
};

struct engine {
    struct sqlite_api api;
    bool fine_wait;          /* option busy=fine */
    atomic_uint connections; /* open now; more than one needs a library with THREADSAFE not 0 */
    struct library library;
    char **compile_options; /* owned, as are their texts */
    size_t compile_option_count;
    char *warnings[4];               /* owned */
    struct engine_identity identity; /* points into the above and the library */
};

/* engine_ops.load and unload. */
int sqlite_load(const struct engine_config *config, struct engine **out,
                const struct engine_identity **identity, struct error *error);
void sqlite_unload(struct engine *engine);

/* Fills engine->identity once the functions are known: version, source id, compile
 * options, sync call and warnings. */
int sqlite_identify(struct engine *engine, struct error *error);

/* True for versions (as sqlite3_libversion_number) in which a checkpoint beside a
 * commit can corrupt a WAL database: 3.7.0 to 3.51.2 but 3.44.6 and 3.50.7. */
bool sqlite_has_wal_reset_bug(int version_number);

#endif
