#include "lib/connection.h"

#include "core/clock.h"

#include <sched.h>

#define SPINNING_NS (50 * NS_PER_US)
#define FIRST_SLEEP_NS (100 * NS_PER_US)
#define LONGEST_SLEEP_NS (10 * NS_PER_MS)

/* The busy handler: `count` calls were made before for this lock. */
static int wait_for_lock(void *argument, int count)
{
    struct patience *patience = argument;
    uint64_t now = clock_now_ns();
    if (count == 0) {
        patience->began_ns = now;
    }
    uint64_t waited = now - patience->began_ns;
    if (waited >= patience->limit_ns ||
        (patience->ending != NULL &&
         atomic_load_explicit(patience->ending, memory_order_relaxed))) {
        return 0;
    }
    if (waited < SPINNING_NS) {
        sched_yield();
        return 1;
    }
    uint64_t sleep = waited / 2;
    sleep = sleep < FIRST_SLEEP_NS ? FIRST_SLEEP_NS : sleep;
    sleep = sleep > LONGEST_SLEEP_NS ? LONGEST_SLEEP_NS : sleep;
    sleep = sleep > patience->limit_ns - waited ? patience->limit_ns - waited : sleep;
    clock_sleep_until_ns(now + sleep);
    return 1;
}

void connection_keep_wal(struct connection *connection, bool keep)
{
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)keep, NULL);
}

static int configure(struct connection *connection, enum connection_kind kind)
{
    sqlite3 *db = connection->db;
    sqlite3_extended_result_codes(db, 1);
    int rc = sqlite3_busy_handler(db, wait_for_lock, &connection->patience);
    if (kind != CONNECTION_MAKER) {
        connection_keep_wal(connection, true);
    }
    if (rc == SQLITE_OK && kind != CONNECTION_READER) {
        rc = sqlite3_wal_autocheckpoint(db, 0);
    }
    return rc;
}

int connection_open(struct connection *connection, const char *path, const char *vfs,
                    enum connection_kind kind, int busy_timeout_ms, const atomic_bool *ending,
                    struct pitot_error *error)
{
    /* The caller sees to it that one thread uses it at a time. An absolute path is no URI; what is
     * attached to the writer's connection is (lib/image.h). */
    int flags = SQLITE_OPEN_NOMUTEX |
                (kind == CONNECTION_READER   ? SQLITE_OPEN_READONLY
                 : kind == CONNECTION_WRITER ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI
                                             : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    *connection = (struct connection){
        .patience = {.limit_ns = (uint64_t)busy_timeout_ms * NS_PER_MS, .ending = ending}};
    if (sqlite3_threadsafe() == 0) {
        return failure(error, PITOT_ERROR_INVALID,
                       "this SQLite (%s) was built without threads; one with SQLITE_THREADSAFE=1 "
                       "or 2 is needed",
                       sqlite3_libversion());
    }
    int rc = sqlite3_open_v2(path, &connection->db, flags, vfs);
    if (rc == SQLITE_OK) {
        rc = configure(connection, kind);
    }
    if (rc != SQLITE_OK) {
        int result =
            failure_sqlite(error, connection->db,
                           connection->db == NULL ? rc : sqlite3_extended_errcode(connection->db),
                           "opening '%s'", path);
        connection_close(connection);
        return result;
    }
    if (kind != CONNECTION_READER && sqlite3_db_readonly(connection->db, "main") == 1) {
        /* SQLite opens what it may not write for reading alone, and does not say so. */
        connection_close(connection);
        return failure(error, PITOT_ERROR_PERMISSION, "'%s' may be read, but not be written", path);
    }
    return 0;
}

void connection_close(struct connection *connection)
{
    sqlite3_close_v2(connection->db);
    connection->db = NULL;
}

const char *connection_path(const struct connection *connection)
{
    return sqlite3_db_filename(connection->db, "main");
}

int connection_run(struct connection *connection, const char *sql, const char *what,
                   struct pitot_error *error)
{
    int rc = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0
                           : failure_sqlite(error, connection->db, rc, "%s '%s'", what,
                                            connection_path(connection));
}

int connection_number(struct connection *connection, const char *sql, int64_t *number,
                      struct pitot_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(statement);
        *number = sqlite3_column_int64(statement, 0);
        int finalized = sqlite3_finalize(statement);
        rc = rc == SQLITE_ROW ? SQLITE_OK : finalized;
    }
    return rc == SQLITE_OK ? 0
                           : failure_sqlite(error, connection->db, rc, "reading '%s'",
                                            connection_path(connection));
}

int connection_prepare(struct connection *connection, const char *sql, sqlite3_stmt **statement,
                       struct pitot_error *error)
{
    int rc =
        sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return rc == SQLITE_OK ? 0
                           : failure_sqlite(error, connection->db, rc, "reading '%s'",
                                            connection_path(connection));
}

int statement_run(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : reset != SQLITE_OK ? reset : rc;
}

int connection_in_place(struct connection *connection, struct pitot_error *error)
{
    int moved = 0;
    int rc = sqlite3_file_control(connection->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (rc == SQLITE_OK && moved) {
        return failure(error, PITOT_ERROR_REPLACED,
                       "'%s' was removed or replaced while it was open; close and open again",
                       connection_path(connection));
    }
    return 0; /* a VFS that does not know has no such file */
}
