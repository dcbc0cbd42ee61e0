/* The connection that writes: opened with the store, made ready when the first source comes. */
#include "lib/store.h"
#include "lib/sync.h"

#include <stdio.h>

/* Size of the WAL's header, and of what stands before each page. */
enum { WAL_HEADER = 32, FRAME_HEADER = 24 };

uint64_t writer_wal_bytes(const struct writer *writer)
{
    return writer->wal_frames == 0 ? 0
                                   : WAL_HEADER + (uint64_t)writer->wal_frames *
                                                      (uint64_t)(writer->page_size + FRAME_HEADER);
}

static int after_commit(void *writer, sqlite3 *db, const char *name, int frames)
{
    (void)db;
    (void)name;
    ((struct writer *)writer)->wal_frames = frames;
    return SQLITE_OK;
}

static int read_page_size(struct writer *writer)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(writer->connection.db, "PRAGMA page_size", -1, &statement, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(statement);
        writer->page_size = sqlite3_column_int(statement, 0);
        int finalized = sqlite3_finalize(statement);
        rc = rc == SQLITE_ROW ? SQLITE_OK : finalized;
    }
    return rc;
}

static int prepare(struct writer *writer, struct pitot_error *error)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } table[] = {
        {"BEGIN IMMEDIATE", &writer->begin}, {"COMMIT", &writer->commit},
        {"ROLLBACK", &writer->rollback},     {"PRAGMA data_version", &writer->data_version},
        {SYNC_WRITE, &writer->sync_write},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int result =
            connection_prepare(&writer->connection, table[i].sql, table[i].statement, error);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

static void finalize(struct writer *writer)
{
    sqlite3_stmt **const table[] = {&writer->begin, &writer->commit, &writer->rollback,
                                    &writer->data_version, &writer->sync_write};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        sqlite3_finalize(*table[i]);
        *table[i] = NULL;
    }
}

/* Opening may have looked at the header alone, which is written together with the rest. */
static int check_schema(struct pitot_store *store, struct pitot_error *error)
{
    bool matches = false;
    int result = schema_matches(&store->writer.connection, &store->schema, &matches, error);
    return result != 0 || matches
               ? result
               : failure(error, PITOT_ERROR_CORRUPT,
                         "the library's own tables in '%s' are not as they were made; close the "
                         "store and open it again",
                         store->path);
}

int writer_make_ready(struct pitot_store *store, struct pitot_error *error)
{
    struct writer *writer = &store->writer;
    if (writer->connection.db == NULL) {
        return store_check(store, error);
    }
    if (writer->ready) {
        return 0;
    }
    /* NORMAL: no sync at a commit; the WAL is synced before it is copied back. temp_store: a bulk
     * statement keeps its journal in memory, which would spill to a file above 64 KiB. The limit
     * makes a WAL that one large pass has blown up small again. */
    char sql[128];
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
             "PRAGMA journal_size_limit = %lld",
             (long long)store->wal_limit);
    int result = connection_run(&writer->connection, sql, "setting up", error);
    if (result == 0) {
        result = check_schema(store, error);
    }
    if (result == 0) {
        sqlite3_db_config(writer->connection.db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
        sqlite3_wal_hook(writer->connection.db, after_commit, writer);
        int rc = read_page_size(writer);
        if (rc != SQLITE_OK) {
            result = failure_sqlite(error, writer->connection.db, rc, "reading '%s'", store->path);
        }
    }
    if (result == 0) {
        result = schema_cookie(&writer->connection, &writer->schema_cookie, error);
    }
    if (result == 0) {
        result = schema_has_side_effects(&writer->connection, &writer->side_effects, error);
    }
    if (result == 0) {
        result = sync_last_commit(&writer->connection, &writer->commit_sequence, error);
    }
    if (result == 0) {
        result = prepare(writer, error);
    }
    if (result != 0) {
        finalize(writer);
        return result;
    }
    stats_set_commit(&store->stats, writer->commit_sequence, 0);
    writer->ready = true;
    return 0;
}

void writer_close(struct writer *writer)
{
    finalize(writer);
    connection_close(&writer->connection);
}
