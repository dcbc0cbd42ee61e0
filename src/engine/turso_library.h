/*
 * A library with Turso's C ABI, opened at run time: the functions that are called, and
 * what the library says about itself. The ABI is declared here, so that no header of an engine is
 * needed to build.
 */
#ifndef PITOT_ENGINE_TURSO_LIBRARY_H
#define PITOT_ENGINE_TURSO_LIBRARY_H

#include "engine/library.h"

#include <pthread.h>

struct turso_database;
struct turso_connection;
struct turso_statement;

/* Values that are part of Turso's ABI. */
enum turso_status {
    TURSO_OK = 0,
    TURSO_DONE = 1,
    TURSO_ROW = 2,
    TURSO_IO = 3,
    TURSO_BUSY = 4,
    TURSO_INTERRUPT = 5,
    TURSO_BUSY_SNAPSHOT = 6,
    TURSO_ERROR = 127,
    TURSO_MISUSE = 128,
    TURSO_CONSTRAINT = 129,
    TURSO_READONLY = 130,
    TURSO_DATABASE_FULL = 131,
    TURSO_NOTADB = 132,
    TURSO_CORRUPT = 133,
    TURSO_IOERR = 134,
};

enum turso_type {
    TURSO_TYPE_UNKNOWN = 0,
    TURSO_TYPE_INTEGER = 1,
    TURSO_TYPE_REAL = 2,
    TURSO_TYPE_TEXT = 3,
    TURSO_TYPE_BLOB = 4,
    TURSO_TYPE_NULL = 5,
};

/* Only ever grew at its end: an older library reads the beginning of it, so the newest one is
 * passed, zeroed but for what is named here. */
struct turso_database_config {
    uint64_t async_io;
    const char *path;
    const char *experimental_features;
    const char *vfs;
    const char *encryption_cipher;
    const char *encryption_hexkey;
    const void *page_codec;
    uint32_t open_flags;
};

/* X(result, name without "turso_", arguments). The library must have these. `message`, when it is
 * set, is the caller's to give back with str_deinit. */
#define TURSO_REQUIRED(X)                                                                          \
    X(const char *, version, (void))                                                               \
    X(int, database_new,                                                                           \
      (const struct turso_database_config *, const struct turso_database **,                       \
       const char **message))                                                                      \
    X(int, database_open, (const struct turso_database *, const char **message))                   \
    X(int, database_connect,                                                                       \
      (const struct turso_database *, struct turso_connection **, const char **message))           \
    X(void, database_deinit, (const struct turso_database *))                                      \
    X(void, connection_set_busy_timeout_ms, (const struct turso_connection *, int64_t))            \
    X(bool, connection_get_autocommit, (const struct turso_connection *))                          \
    X(int, connection_prepare_first,                                                               \
      (const struct turso_connection *, const char *, struct turso_statement **, size_t *tail,     \
       const char **message))                                                                      \
    X(int, connection_close, (const struct turso_connection *, const char **message))              \
    X(void, connection_deinit, (const struct turso_connection *))                                  \
    X(int, statement_step, (const struct turso_statement *, const char **message))                 \
    X(int, statement_run_io, (const struct turso_statement *, const char **message))               \
    X(int, statement_reset, (const struct turso_statement *, const char **message))                \
    X(void, statement_deinit, (const struct turso_statement *))                                    \
    X(int64_t, statement_n_change, (const struct turso_statement *))                               \
    X(int64_t, statement_column_count, (const struct turso_statement *))                           \
    X(int, statement_row_value_kind, (const struct turso_statement *, size_t))                     \
    X(int64_t, statement_row_value_bytes_count, (const struct turso_statement *, size_t))          \
    X(const char *, statement_row_value_bytes_ptr, (const struct turso_statement *, size_t))       \
    X(int64_t, statement_row_value_int, (const struct turso_statement *, size_t))                  \
    X(double, statement_row_value_double, (const struct turso_statement *, size_t))                \
    X(int64_t, statement_parameters_count, (const struct turso_statement *))                       \
    X(int, statement_bind_positional_null, (const struct turso_statement *, size_t))               \
    X(int, statement_bind_positional_int, (const struct turso_statement *, size_t, int64_t))       \
    X(int, statement_bind_positional_double, (const struct turso_statement *, size_t, double))     \
    X(int, statement_bind_positional_text,                                                         \
      (const struct turso_statement *, size_t, const char *, size_t))                              \
    X(int, statement_bind_positional_blob,                                                         \
      (const struct turso_statement *, size_t, const char *, size_t))                              \
    X(void, str_deinit, (const char *))

struct turso_api {
#define X(result, name, arguments) result(*name) arguments;
    TURSO_REQUIRED(X)
#undef X
};

/* What manifest and command line chose. */
struct turso_options {
    const char *version; /* the library must be of it; NULL: any */
    const char *vfs;     /* NULL: the library's default */
    bool async_io;       /* the driver drives input and output, and waits for locks itself */
};

struct engine {
    struct turso_api api;
    struct turso_options options;
    struct library library;
    /* The one database of the process, open while it has connections. The lock is held while one
     * comes or goes, and while the file's journal mode is switched. */
    pthread_mutex_t lock;
    const struct turso_database *database;
    unsigned connections;
    char version[64];                /* of the engine itself: SELECT turso_version() */
    char *option_texts[3];           /* owned: "async_io=1" */
    char *warnings[2];               /* owned */
    struct engine_identity identity; /* points into the above and the library */
};

/* engine_ops.load and unload. Options: version, vfs, async_io (0 or 1). */
int turso_load(const struct engine_config *config, struct engine **out,
               const struct engine_identity **identity, struct error *error);
void turso_unload(struct engine *engine);

/* Fills engine->identity once the functions are known, and refuses another version than the one
 * that was named. */
int turso_identify(struct engine *engine, struct error *error);

/* Opens `path` as a database of this library. *out is the caller's to give back with
 * database_deinit(). ERROR_ENGINE: the library's own text. */
int turso_open_database(const struct turso_api *api, const struct turso_options *options,
                        const char *path, const struct turso_database **out, struct error *error);

#endif
