#include "lib/sync.h"

#include <string.h>

int sync_read(struct connection *connection, sqlite3_stmt *select, const char *source,
              struct pitot_sync *sync, struct pitot_error *error)
{
    sqlite3_bind_text(select, 1, source, -1, SQLITE_STATIC);
    int rc = sqlite3_step(select);
    int result = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW) {
        size_t size = sync->size;
        const char *text = (const char *)sqlite3_column_text(select, 11);
        *sync =
            (struct pitot_sync){.size = size,
                                .pass = (uint64_t)sqlite3_column_int64(select, 1),
                                .commit_sequence = (uint64_t)sqlite3_column_int64(select, 2),
                                .started_ms = sqlite3_column_int64(select, 3),
                                .finished_ms = sqlite3_column_int64(select, 4),
                                .last_success_ms = sqlite3_column_int64(select, 5),
                                .counts = {.inserted = (uint64_t)sqlite3_column_int64(select, 6),
                                           .updated = (uint64_t)sqlite3_column_int64(select, 7),
                                           .deleted = (uint64_t)sqlite3_column_int64(select, 8),
                                           .unchanged = (uint64_t)sqlite3_column_int64(select, 9)},
                                .error_code = sqlite3_column_int(select, 10)};
        if (text != NULL) {
            copy_cut(sync->error_text, sizeof sync->error_text, text, strlen(text));
        }
    }
    int reset = sqlite3_reset(select);
    sqlite3_clear_bindings(select);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        return failure_sqlite(error, connection->db, reset, "reading a sync row of '%s'",
                              connection_path(connection));
    }
    return result;
}

int sync_write(sqlite3_stmt *write, const char *source, const struct pitot_sync *sync)
{
    const sqlite3_int64 numbers[] = {
        (sqlite3_int64)sync->pass,
        (sqlite3_int64)sync->commit_sequence,
        sync->started_ms,
        sync->finished_ms,
        sync->last_success_ms,
        (sqlite3_int64)sync->counts.inserted,
        (sqlite3_int64)sync->counts.updated,
        (sqlite3_int64)sync->counts.deleted,
        (sqlite3_int64)sync->counts.unchanged,
        sync->error_code,
    };
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    sqlite3_bind_text(write, 1, source, -1, SQLITE_STATIC);
    for (int i = 0; i < NUMBERS; i++) {
        sqlite3_bind_int64(write, i + 2, numbers[i]);
    }
    sqlite3_bind_text(write, NUMBERS + 2, sync->error_text, -1, SQLITE_STATIC);
    int rc = statement_run(write);
    sqlite3_clear_bindings(write);
    return rc;
}

int sync_last_commit(struct connection *connection, uint64_t *sequence, struct pitot_error *error)
{
    int64_t number = 0;
    int result = connection_number(connection, "SELECT max(commit_sequence) FROM pitot_sync",
                                   &number, error);
    if (result == 0) {
        *sequence = (uint64_t)number;
    }
    return result;
}
