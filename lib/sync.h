/*
 * Sync rows: what each source did last, in the table pitot_sync. A row is written in the
 * transaction of its pass, so it tells of the rows that lie beside it. A pass that is still running
 * is never stored: it would stay "running" when the process is killed.
 */
#ifndef PITOT_LIB_SYNC_H
#define PITOT_LIB_SYNC_H

#include "lib/connection.h"

#define SYNC_TABLE                                                                                 \
    "CREATE TABLE pitot_sync("                                                                     \
    "source TEXT PRIMARY KEY NOT NULL, pass INTEGER NOT NULL, commit_sequence INTEGER NOT NULL, "  \
    "started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL, last_success_ms INTEGER NOT "      \
    "NULL, "                                                                                       \
    "inserted INTEGER NOT NULL, updated INTEGER NOT NULL, deleted INTEGER NOT NULL, "              \
    "unchanged INTEGER NOT NULL, error_code INTEGER NOT NULL, error_text TEXT NOT NULL"            \
    ") WITHOUT ROWID;"

/* The columns in the order in which sync_read takes them and sync_bind gives them. */
#define SYNC_COLUMNS                                                                               \
    "source, pass, commit_sequence, started_ms, finished_ms, last_success_ms, inserted, updated, " \
    "deleted, unchanged, error_code, error_text"
#define SYNC_SELECT "SELECT " SYNC_COLUMNS " FROM pitot_sync WHERE source = ?"
#define SYNC_WRITE                                                                                 \
    "INSERT OR REPLACE INTO pitot_sync(" SYNC_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"

/* Steps a prepared SYNC_SELECT. 1: *sync is filled (but for size); 0: no row; or the error. */
int sync_read(struct connection *connection, sqlite3_stmt *select, const char *source,
              struct pitot_sync *sync, struct pitot_error *error);

/* Steps a prepared SYNC_WRITE. SQLITE_OK or SQLite's result. */
int sync_write(sqlite3_stmt *write, const char *source, const struct pitot_sync *sync);

/* The largest commit sequence, 0 when there is no row. */
int sync_last_commit(struct connection *connection, uint64_t *sequence, struct pitot_error *error);

#endif
