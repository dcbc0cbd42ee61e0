/* A connection to the database as this library opens it, the writer's and the readers'. */
#ifndef PITOT_LIB_CONNECTION_H
#define PITOT_LIB_CONNECTION_H

#include "lib/error.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Waits for locks. Even the only writer needs it: a reader that meets a torn WAL index takes the
 * write lock for a moment. That takes microseconds, so the first 50 are spent spinning; then it
 * sleeps 0.1 ms, and half as long again each time, up to 10 ms.
 */
struct patience {
    uint64_t limit_ns;
    uint64_t began_ns;
    const atomic_bool *ending; /* becomes true: no more waiting; NULL: never */
};

struct connection {
    sqlite3 *db;
    struct patience patience;
};

enum connection_kind {
    CONNECTION_READER, /* read-only, no checkpoint on close */
    CONNECTION_WRITER, /* must exist; no automatic checkpoints, at first not on close either */
    CONNECTION_MAKER   /* as a writer; is made if it is missing */
};

/* Opens `path` (absolute) with the VFS (NULL: the default). The struct must stay where it is.
 * Threads: one at a time. After an error it is closed. */
int connection_open(struct connection *connection, const char *path, const char *vfs,
                    enum connection_kind kind, int busy_timeout_ms, const atomic_bool *ending,
                    struct pitot_error *error);

/* Whether closing the last connection copies the WAL back and removes it. */
void connection_keep_wal(struct connection *connection, bool keep);

/* Closes; with statements that are not finalized the rest follows with the last of them. */
void connection_close(struct connection *connection);

/* Runs SQL without results. `what` begins the message. */
int connection_run(struct connection *connection, const char *sql, const char *what,
                   struct pitot_error *error);
/* The number that a query yields: the first column of its first row. */
int connection_number(struct connection *connection, const char *sql, int64_t *number,
                      struct pitot_error *error);

/* A statement that is kept and reused. */
int connection_prepare(struct connection *connection, const char *sql, sqlite3_stmt **statement,
                       struct pitot_error *error);

/* Steps a statement without rows to its end and resets it. SQLITE_OK or the extended result. */
int statement_run(sqlite3_stmt *statement);

/* REPLACED when the database file is no longer at its path. */
int connection_in_place(struct connection *connection, struct pitot_error *error);

/* The path, for messages. */
const char *connection_path(const struct connection *connection);

#endif
