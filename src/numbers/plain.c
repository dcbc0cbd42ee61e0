#include "numbers/plain.h"

#include <string.h>

enum { BUSY_TIMEOUT_MS = 5000 };

#define SYNC_DDL                                                                                   \
    "CREATE TABLE sync(source TEXT PRIMARY KEY, pass INTEGER, started INTEGER, finished INTEGER,"  \
    " error TEXT); INSERT INTO sync VALUES ('items', 0, 0, 0, NULL)"

static int fail(const struct plain *plain, int code, const char *what, struct error *error)
{
    return error_set(error, (code & 0xff) == SQLITE_FULL ? ERROR_FULL : ERROR_ENGINE,
                     "the plain way, %s: %s", what,
                     plain->db != NULL ? sqlite3_errmsg(plain->db) : sqlite3_errstr(code));
}

static int run(struct plain *plain, const char *sql, struct error *error)
{
    int code = sqlite3_exec(plain->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : fail(plain, code, sql, error);
}

static int prepare(struct plain *plain, const char *sql, sqlite3_stmt **out, struct error *error)
{
    int code = sqlite3_prepare_v3(plain->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? 0 : fail(plain, code, sql, error);
}

static int make_schema(struct plain *plain, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    int status = prepare(plain, "SELECT 1 FROM sqlite_schema LIMIT 1", &statement, error);
    int code = status == 0 ? sqlite3_step(statement) : SQLITE_ERROR;
    sqlite3_finalize(statement);
    if (status == 0 && code == SQLITE_DONE) {
        status = run(plain, "BEGIN; " ROWS_DDL "; " SYNC_DDL "; COMMIT", error);
    } else if (status == 0 && code != SQLITE_ROW) {
        status = fail(plain, code, "reading the schema", error);
    }
    return status;
}

int plain_open(struct plain *plain, const char *path, enum plain_settings settings,
               struct error *error)
{
    *plain = (struct plain){.db = NULL};
    int code = sqlite3_open_v2(path, &plain->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code != SQLITE_OK) {
        return fail(plain, code, "opening", error);
    }
    sqlite3_busy_timeout(plain->db, BUSY_TIMEOUT_MS);
    int status = settings == PLAIN_WAL
                     ? run(plain, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", error)
                     : 0;
    if (status == 0) {
        status = make_schema(plain, error);
    }
    const struct {
        const char *sql;
        sqlite3_stmt **out;
    } statements[] = {
        {"BEGIN IMMEDIATE", &plain->begin},
        {"COMMIT", &plain->commit},
        {"DELETE FROM " ROWS_TABLE, &plain->delete},
        {ROWS_INSERT, &plain->insert},
        {"UPDATE sync SET pass = pass + 1, started = ?, finished = ? WHERE source = 'items'",
         &plain->sync},
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements && status == 0; i++) {
        status = prepare(plain, statements[i].sql, statements[i].out, error);
    }
    return status;
}

void plain_close(struct plain *plain)
{
    sqlite3_stmt *const statements[] = {plain->begin,  plain->commit,   plain->delete,
                                        plain->insert, plain->sync,     plain->begin_read,
                                        plain->read,   plain->read_sync};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        sqlite3_finalize(statements[i]);
    }
    sqlite3_close(plain->db);
    *plain = (struct plain){.db = NULL};
}

/* Runs a statement that gives no rows. */
static int step(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_rows(struct plain *plain, const struct rows *rows)
{
    sqlite3_stmt *insert = plain->insert;
    int code = step(plain->delete);
    for (size_t i = 0; i < rows->count && code == SQLITE_OK; i++) {
        const struct row *row = &rows->items[i];
        sqlite3_bind_int64(insert, 1, row->id);
        sqlite3_bind_text(insert, 2, row->title, (int)row->length, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, row->ts);
        code = step(insert);
    }
    return code;
}

/* Ends a transaction that failed: busy is a failure that is counted. */
static int give_up(struct plain *plain, int code, const char *what, bool *busy, struct error *error)
{
    *busy = (code & 0xff) == SQLITE_BUSY;
    int status = *busy ? 0 : fail(plain, code, what, error);
    if (sqlite3_get_autocommit(plain->db) == 0) {
        sqlite3_exec(plain->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

int plain_pass(struct plain *plain, const struct rows *rows, bool *busy, struct error *error)
{
    *busy = false;
    int code = step(plain->begin);
    if (code == SQLITE_OK) {
        code = insert_rows(plain, rows);
    }
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(plain->sync, 1, rows->items[0].ts);
        sqlite3_bind_int64(plain->sync, 2, rows->items[0].ts);
        code = step(plain->sync);
    }
    if (code == SQLITE_OK) {
        code = step(plain->commit);
    }
    return code == SQLITE_OK ? 0 : give_up(plain, code, "writing a pass", busy, error);
}

static int prepare_read(struct plain *plain, struct error *error)
{
    int status = prepare(plain, "BEGIN", &plain->begin_read, error);
    status = status == 0 ? prepare(plain, ROWS_READ, &plain->read, error) : status;
    return status == 0 ? prepare(plain,
                                 "SELECT pass, started, finished, error FROM sync"
                                 " WHERE source = 'items'",
                                 &plain->read_sync, error)
                       : status;
}

int plain_step_rows(sqlite3_stmt *read, int64_t from)
{
    int code;
    sqlite3_bind_int64(read, 1, from);
    while ((code = sqlite3_step(read)) == SQLITE_ROW) {
        sqlite3_column_int64(read, 0);
        sqlite3_column_text(read, 1);
        sqlite3_column_int64(read, 2);
    }
    sqlite3_reset(read);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int step_sync(sqlite3_stmt *read)
{
    int code = sqlite3_step(read);
    for (int i = 0; i < 3 && code == SQLITE_ROW; i++) {
        sqlite3_column_int64(read, i);
    }
    if (code == SQLITE_ROW) {
        sqlite3_column_text(read, 3);
        code = sqlite3_step(read);
    }
    sqlite3_reset(read);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int plain_read(struct plain *plain, int64_t from, bool *busy, struct error *error)
{
    *busy = false;
    int status = plain->read_sync == NULL ? prepare_read(plain, error) : 0;
    if (status != 0) {
        return status;
    }
    int code = step(plain->begin_read);
    code = code == SQLITE_OK ? plain_step_rows(plain->read, from) : code;
    code = code == SQLITE_OK ? step_sync(plain->read_sync) : code;
    code = code == SQLITE_OK ? step(plain->commit) : code;
    return code == SQLITE_OK ? 0 : give_up(plain, code, "reading", busy, error);
}
