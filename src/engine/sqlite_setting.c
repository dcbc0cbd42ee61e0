/* Settings of the sqlite driver: PRAGMAs by name, safe against text in a value. */
#include "engine/sqlite_connection.h"

#include "core/clock.h"
#include "engine/pragma.h"

#include <string.h>
#include <strings.h>

static int set_timeout(struct engine_connection *connection, const char *value, struct error *error)
{
    uint32_t timeout_ms;
    int rc = pragma_milliseconds("busy_timeout", value, &timeout_ms, error);
    if (rc == 0 && sqlite_set_busy_timeout(connection, timeout_ms) != SQLITE_OK) {
        rc = error_set(error, ERROR_ENGINE, "busy_timeout=%s: %s", value,
                       connection->api->errmsg(connection->db));
    }
    return rc;
}

enum { SWITCH_PATIENCE_MS = 5000 };

/* Switching a file to WAL fails at once, whatever the busy timeout, while another
 * connection does the same: SQLite does not wait where two could wait for each other.
 * Nothing is held here and nothing is measured, so it is safe to try again, by the same schedule,
 * until the timeout is over, but at least for SWITCH_PATIENCE_MS: with a timeout of 0 the
 * connections of one run would refuse each other. */
static enum engine_status exec_patiently(struct engine_connection *connection, const char *sql)
{
    uint32_t patience_ms = connection->wait.timeout_ms > SWITCH_PATIENCE_MS
                               ? connection->wait.timeout_ms
                               : SWITCH_PATIENCE_MS;
    uint64_t end = clock_now_ns() + patience_ms * NS_PER_MS;
    for (uint32_t count = 0;; count++) {
        enum engine_status status = sqlite_exec(connection, sql);
        int primary = connection->code & 0xff;
        bool locked =
            status == ENGINE_BUSY || (status == ENGINE_FAILED && primary == SQLITE_LOCKED);
        uint32_t delay = lock_wait_delay(count, patience_ms);
        if (!locked || delay == 0 || clock_now_ns() >= end || sqlite_interrupted(connection)) {
            return status;
        }
        connection->api->sleep((int)delay);
    }
}

int sqlite_setting_set(struct engine_connection *connection, const char *name, const char *value,
                       struct error *error)
{
    if (strcasecmp(name, "busy_timeout") == 0) {
        return set_timeout(connection, value, error);
    }
    struct buffer sql;
    int rc = pragma_begin(&sql, name, value, error);
    if (rc == 0) {
        enum engine_status status = strcasecmp(name, "journal_mode") == 0
                                        ? exec_patiently(connection, sql.data)
                                        : sqlite_exec(connection, sql.data);
        rc = pragma_end(status, name, value, connection->text, connection->code, error);
    }
    buffer_release(&sql);
    return rc;
}

/* First column of the first row of `PRAGMA name`. */
static int read_pragma(struct engine_connection *connection, const char *name, char *out,
                       size_t size, struct error *error)
{
    const struct sqlite_api *api = connection->api;
    struct buffer text;
    struct sqlite3_stmt *stmt = NULL;
    int rc = 1;
    buffer_init(&text);
    buffer_printf(&text, "PRAGMA %s", name);
    if (text.failed) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was read", name);
        goto out;
    }
    int code = api->prepare_v2(connection->db, text.data, -1, &stmt, NULL);
    if (code == SQLITE_OK && stmt != NULL) {
        code = api->step(stmt);
    }
    if (code == SQLITE_ROW) {
        const char *got = (const char *)api->column_text(stmt, 0);
        rc = got != NULL ? pragma_copy(name, got, strlen(got), out, size, error) : 1;
    } else if (code != SQLITE_DONE && code != SQLITE_OK) {
        sqlite_failed(connection, code, NULL);
        rc = error_set(error, ERROR_ENGINE, "%s could not be read: %s (code %d)", name,
                       connection->text, connection->code);
    }
out:
    api->finalize(stmt);
    buffer_release(&text);
    return rc;
}

int sqlite_setting_get(struct engine_connection *connection, const char *name, char *out,
                       size_t size, struct error *error)
{
    int rc = pragma_check_name(name, error);
    if (rc != 0) {
        return rc;
    }
    if (strcasecmp(name, "busy_timeout") == 0) {
        /* PRAGMA busy_timeout reads 0 once a handler of our own is set. */
        return pragma_copy_number(name, connection->wait.timeout_ms, out, size, error);
    }
    return read_pragma(connection, name, out, size, error);
}
