/*
 * An engine: one `const struct engine_ops` a driver, listed in drivers.c and
 * checked there before use (engine_validate). The library of an engine is opened
 * at run time by real path with RTLD_NOW | RTLD_LOCAL; a driver declares the ABI
 * it calls itself, so no engine's header is needed to build.
 *
 * Threads: engine_load and unload on the main thread; a connection and its
 * statements belong to one thread at a time; interrupt() may be called from
 * another thread while the connection is open.
 */
#ifndef PITOT_ENGINE_ENGINE_H
#define PITOT_ENGINE_ENGINE_H

#include "base/value.h"
#include "core/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_ABI_VERSION 1u

enum engine_capability {
    ENGINE_CAN_THREADS = 1u << 0,     /* several connections in several threads */
    ENGINE_CAN_LOAD = 1u << 1,        /* can build a template */
    ENGINE_CAN_CHECK = 1u << 2,       /* integrity_check and row counts */
    ENGINE_COUNTS_WAITING = 1u << 3,  /* wait counters are real */
    ENGINE_HAS_NO_DATABASE = 1u << 4, /* null: nothing is stored */
};

/* What became of one call. */
enum engine_status {
    ENGINE_OK = 0,
    ENGINE_BUSY,        /* the engine's own busy timeout ended */
    ENGINE_CONFLICT,    /* roll back and run the whole script again */
    ENGINE_FAILED,      /* anything else; error_text() says what */
    ENGINE_INTERRUPTED, /* interrupt() ended it */
};

struct engine_option {
    const char *name;
    const char *value;
};

struct engine_config {
    const char *name;    /* as the user calls the engine */
    const char *library; /* path, or NULL for a driver without one */
    const struct engine_option *options;
    size_t option_count;
};

/* Filled by load; strings are owned by the engine and live until unload. */
struct engine_identity {
    const char *version;   /* "3.54.1" */
    const char *source_id; /* or NULL */
    const char *library;   /* file in which the called functions lie (dladdr), or NULL */
    const char *sync_call; /* "fsync", "fdatasync" or NULL when not known */
    const char *const *compile_options;
    size_t compile_option_count;
    const char *const *warnings; /* what a reader of the numbers must know */
    size_t warning_count;
    uint32_t lacks; /* capabilities of the driver that this library, or its options, take away */
};

struct engine;
struct engine_connection;
struct engine_statement;

/* Waiting for locks, counted on the connection's own thread. */
struct engine_waits {
    uint64_t count;
    uint64_t slept_ns;
    bool incomplete; /* this connection also waits where nothing can count it */
};

/* Effect of one run of a statement, added to what is there. */
struct engine_effect {
    uint64_t rows_read;
    uint64_t rows_changed;
};

/* Receives rows when answers are checked; NULL in timed runs. The values live
 * until it returns. Nonzero stops the statement, which then is ENGINE_FAILED. */
struct engine_sink {
    int (*row)(void *context, const struct value *columns, uint32_t count);
    void *context;
};

struct engine_ops {
    const char *driver; /* "sqlite", "turso", … */
    uint32_t abi_version;
    uint32_t capabilities;

    /* Opens the library, checks every symbol, fills identity. ERROR_ENGINE names
     * the file and what is wrong with it. */
    int (*load)(const struct engine_config *config, struct engine **out,
                const struct engine_identity **identity, struct error *error);
    void (*unload)(struct engine *engine);

    /* Opens one connection on the database, busy timeout (ms) first. */
    int (*open)(struct engine *engine, const char *path, uint32_t busy_timeout_ms, bool create,
                struct engine_connection **out, struct error *error);
    void (*close)(struct engine_connection *connection);

    /* Runs SQL text that may hold several statements, rows thrown away. */
    enum engine_status (*exec)(struct engine_connection *connection, const char *sql);

    /* Prepares one statement. Statements must be finalized before close. */
    enum engine_status (*prepare)(struct engine_connection *connection, const char *sql,
                                  struct engine_statement **out);
    void (*finalize)(struct engine_statement *statement);
    /* True when the statement cannot write. */
    bool (*readonly)(const struct engine_statement *statement);
    /* Parameters the engine itself counts; checked against the script's. */
    uint32_t (*parameter_count)(const struct engine_statement *statement);

    /* Binds all values, steps all rows (only the first when `one`), touches every
     * column of each (type, typed getter, every byte), resets always. The values
     * must live until the call returns. */
    enum engine_status (*run)(struct engine_statement *statement, const struct value *values,
                              uint32_t count, bool one, struct engine_effect *effect,
                              const struct engine_sink *sink);

    enum engine_status (*begin)(struct engine_connection *connection, bool write);
    enum engine_status (*commit)(struct engine_connection *connection);
    /* Ends a transaction if one is open; also after errors. */
    enum engine_status (*rollback)(struct engine_connection *connection);

    /* Settings by the name of their PRAGMA. setting_get writes the value as text
     * and returns 0, or 1 when the engine returns nothing for it ("not supported"). */
    int (*setting_set)(struct engine_connection *connection, const char *name, const char *value,
                       struct error *error);
    int (*setting_get)(struct engine_connection *connection, const char *name, char *out,
                       size_t size, struct error *error);

    /* Text and code of the last failure on this connection. */
    const char *(*error_text)(struct engine_connection *connection, int *code);
    struct engine_waits (*waits)(const struct engine_connection *connection);
    /* Ends what the connection is doing with ENGINE_INTERRUPTED, lock waits too (after
     * the sleep that is under way, at most 100 ms), where the library can be interrupted;
     * elsewhere it ends by itself, a lock wait by its busy timeout. exec, prepare, run, begin and
     * commit end so from then on, until rollback() makes the connection usable again. A statement
     * that starts in the same moment may be missed: call it again while it runs. */
    void (*interrupt)(struct engine_connection *connection);
};

extern const struct engine_ops engine_sqlite;
extern const struct engine_ops engine_turso;
extern const struct engine_ops engine_null;

/* ERROR_INVALID for an inconsistent driver: ABI version, a missing function, unknown or
 * contradictory capabilities. */
int engine_validate(const struct engine_ops *ops, struct error *error);

/* The driver of that name, validated, or NULL with ERROR_INVALID. */
const struct engine_ops *engine_find(const char *driver, struct error *error);

#endif
