#include "lib/reader.h"

#include "core/clock.h"
#include "lib/extend.h"
#include "lib/path.h"
#include "lib/store.h"
#include "lib/sync.h"

#include <stdlib.h>
#include <string.h>

static int forked(const struct pitot_reader *reader, struct pitot_error *error)
{
    return process_forked(reader->process)
               ? failure(error, PITOT_ERROR_FORKED,
                         "this process is a child of the one that opened reader '%s'", reader->name)
               : 0;
}

/* data_version, which begins to read when a transaction is open. */
static int read_version(struct pitot_reader *reader, int64_t *version, struct pitot_error *error)
{
    int rc = sqlite3_step(reader->data_version);
    *version = sqlite3_column_int64(reader->data_version, 0);
    int reset = sqlite3_reset(reader->data_version);
    return rc == SQLITE_ROW ? 0
                            : failure_sqlite(error, reader->connection.db, reset, "reading '%s'",
                                             connection_path(&reader->connection));
}

static int prepare(struct pitot_reader *reader, struct pitot_error *error)
{
    struct connection *connection = &reader->connection;
    int result = connection_prepare(connection, "BEGIN", &reader->begin, error);
    if (result == 0) {
        result = connection_prepare(connection, "COMMIT", &reader->end, error);
    }
    if (result == 0) {
        result =
            connection_prepare(connection, "PRAGMA data_version", &reader->data_version, error);
    }
    if (result == 0) {
        result = connection_prepare(connection, SYNC_SELECT, &reader->sync, error);
        if (result == PITOT_ERROR_SQLITE) { /* no such table or column */
            result = failure(error, PITOT_ERROR_CORRUPT,
                             "the table of sync rows in '%s' is not as this library makes it",
                             connection_path(connection));
        }
    }
    return result == 0 ? read_version(reader, &reader->seen_version, error) : result;
}

static void close_connection(struct pitot_reader *reader)
{
    sqlite3_finalize(reader->begin);
    sqlite3_finalize(reader->end);
    sqlite3_finalize(reader->data_version);
    sqlite3_finalize(reader->sync);
    connection_close(&reader->connection);
}

/* A reader that nobody knows of yet. */
static int reader_new(const char *path, const char *vfs, const char *name, int busy_timeout_ms,
                      struct pitot_reader **reader, struct pitot_error *error)
{
    struct pitot_reader *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    copy_cut(made->name, sizeof made->name, name, strlen(name));
    int result = process_enter(&made->process, error);
    if (result != 0) {
        free(made);
        return result;
    }
    result = connection_open(&made->connection, path, vfs, CONNECTION_READER, busy_timeout_ms, NULL,
                             error);
    if (result == 0) {
        result = prepare(made, error);
        if (result != 0) {
            close_connection(made);
        }
    }
    if (result != 0) {
        process_leave(made->process);
        free(made);
        return result;
    }
    *reader = made;
    return 0;
}

static int check_name(const char *name, struct pitot_error *error)
{
    return name == NULL || name[0] == '\0' || strlen(name) >= PITOT_NAME_SIZE
               ? failure(error, PITOT_ERROR_INVALID, "a reader's name has 1 to %d bytes",
                         PITOT_NAME_SIZE - 1)
               : 0;
}

int pitot_reader_open(struct pitot_store *store, const char *name, struct pitot_reader **reader,
                      struct pitot_error *error)
{
    if (store == NULL || reader == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no store or no place for the reader");
    }
    *reader = NULL;
    int result = check_name(name, error);
    if (result == 0) {
        result = store_check(store, error);
    }
    struct pitot_reader *made = NULL;
    if (result == 0) {
        result = reader_new(store->path, store->vfs, name, store->busy_timeout_ms, &made, error);
    }
    if (result == PITOT_ERROR_CORRUPT) {
        pthread_mutex_lock(&store->writing);
        store_note_damage(store);
        pthread_mutex_unlock(&store->writing);
    }
    if (result != 0) {
        return result;
    }
    made->store = store;
    pthread_mutex_lock(&store->mutex);
    result = store_check(store, error); /* closing may have begun in between */
    if (result == 0) {
        store_retain(store);
        made->next = store->readers;
        store->readers = made;
    }
    pthread_mutex_unlock(&store->mutex);
    if (result != 0) {
        close_connection(made);
        process_leave(made->process);
        free(made);
        return result;
    }
    *reader = made;
    return 0;
}

int pitot_reader_open_path(const char *path, const char *name, int busy_timeout_ms,
                           struct pitot_reader **reader, struct pitot_error *error)
{
    if (path == NULL || reader == NULL || busy_timeout_ms < 0) {
        return failure(error, PITOT_ERROR_INVALID,
                       "no path, no place for the reader, or a negative timeout");
    }
    *reader = NULL;
    char *full = NULL;
    struct path_look look = {.content = PATH_MISSING};
    int result = check_name(name, error);
    if (result == 0) {
        result = path_resolve(path, false, &full, error);
    }
    if (result == 0) {
        result = path_look(full, NULL, &look, error);
    }
    if (result == 0 && look.content == PATH_MISSING) {
        result = failure(error, PITOT_ERROR_MISSING, "there is no '%s'", full);
    } else if (result == 0 && look.content != PATH_OURS) {
        result = failure(error, PITOT_ERROR_FOREIGN, "'%s' is no database of this library", full);
    }
    if (result == 0) {
        result = reader_new(full, NULL, name,
                            busy_timeout_ms == 0 ? DEFAULT_BUSY_TIMEOUT_MS : busy_timeout_ms,
                            reader, error);
    }
    free(full);
    return result;
}

struct sqlite3 *pitot_reader_sqlite(struct pitot_reader *reader)
{
    return process_forked(reader->process) ? NULL : reader->connection.db;
}

int pitot_snapshot_begin(struct pitot_reader *reader, struct pitot_error *error)
{
    if (reader == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no reader");
    }
    int result = forked(reader, error);
    if (result != 0) {
        return result;
    }
    if (atomic_load_explicit(&reader->snapshot_ns, memory_order_relaxed) != 0) {
        return failure(error, PITOT_ERROR_INVALID, "reader '%s' has a snapshot open", reader->name);
    }
    result = connection_in_place(&reader->connection, error);
    if (result != 0) {
        return result;
    }
    int rc = statement_run(reader->begin);
    if (rc != SQLITE_OK) {
        return failure_sqlite(error, reader->connection.db, rc, "beginning to read '%s'",
                              connection_path(&reader->connection));
    }
    /* BEGIN alone reads nothing, and the snapshot would be that of the first statement. */
    int64_t version;
    result = read_version(reader, &version, error);
    if (result != 0) {
        statement_run(reader->end);
        return result;
    }
    atomic_store_explicit(&reader->snapshot_ns, clock_now_ns(), memory_order_relaxed);
    return 0;
}

/* Whether a statement of the caller's is between its first and last row. */
static bool in_mid_step(struct pitot_reader *reader)
{
    sqlite3_stmt *at = NULL;
    while ((at = sqlite3_next_stmt(reader->connection.db, at)) != NULL) {
        if (sqlite3_stmt_busy(at)) {
            return true;
        }
    }
    return false;
}

int pitot_snapshot_end(struct pitot_reader *reader, struct pitot_error *error)
{
    if (reader == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no reader");
    }
    int result = forked(reader, error);
    if (result != 0) {
        return result;
    }
    uint64_t began_ns = atomic_load_explicit(&reader->snapshot_ns, memory_order_relaxed);
    if (began_ns == 0) {
        return failure(error, PITOT_ERROR_INVALID, "reader '%s' has no snapshot open",
                       reader->name);
    }
    if (in_mid_step(reader)) {
        return failure(error, PITOT_ERROR_INVALID,
                       "reader '%s': a statement is in mid-step; reset it before the snapshot ends",
                       reader->name);
    }
    int rc = SQLITE_OK;
    if (!sqlite3_get_autocommit(reader->connection.db)) {
        rc = statement_run(reader->end);
    }
    if (rc != SQLITE_OK) {
        return failure_sqlite(error, reader->connection.db, rc, "ending a snapshot of '%s'",
                              connection_path(&reader->connection));
    }
    atomic_store_explicit(&reader->snapshot_ns, 0, memory_order_relaxed);
    if (reader->store != NULL) {
        stats_add_snapshot(&reader->store->stats, clock_now_ns() - began_ns);
    }
    return 0;
}

int pitot_reader_sync(struct pitot_reader *reader, const char *source, struct pitot_sync *sync,
                      struct pitot_error *error)
{
    if (reader == NULL || source == NULL || sync == NULL || sync->size < sizeof *sync) {
        return failure(error, PITOT_ERROR_INVALID,
                       "no reader, no source's name, or sync->size is not set");
    }
    int result = forked(reader, error);
    if (result != 0) {
        return result;
    }
    struct pitot_sync read;
    result = sync_read(&reader->connection, reader->sync, source, &read, error);
    if (result == 1) {
        extend_out(sync, sync->size, &read, sizeof read);
    }
    return result;
}

int pitot_reader_changed(struct pitot_reader *reader, struct pitot_error *error)
{
    if (reader == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no reader");
    }
    int result = forked(reader, error);
    if (result == 0 && atomic_load_explicit(&reader->snapshot_ns, memory_order_relaxed) != 0) {
        return 0;
    }
    if (result == 0) {
        result = connection_in_place(&reader->connection, error);
    }
    int64_t version = reader->seen_version;
    if (result == 0) {
        result = read_version(reader, &version, error);
    }
    if (result != 0) {
        return result;
    }
    bool changed = version != reader->seen_version;
    reader->seen_version = version;
    return changed;
}

void pitot_reader_free(struct pitot_reader *reader)
{
    if (reader == NULL || process_forked(reader->process)) {
        return;
    }
    struct pitot_store *store = reader->store;
    if (store != NULL) {
        pthread_mutex_lock(&store->mutex);
        struct pitot_reader **link = &store->readers;
        while (*link != reader) {
            link = &(*link)->next;
        }
        *link = reader->next;
        pthread_mutex_unlock(&store->mutex);
    }
    close_connection(reader);
    process_leave(reader->process);
    free(reader);
    if (store != NULL) {
        store_release(store);
    }
}
