/* Settings of the turso driver: PRAGMAs by name. */
#include "engine/turso_connection.h"

#include "engine/pragma.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static enum engine_status set_pragma(struct engine_connection *connection, const char *name,
                                     const char *sql)
{
    if (strcasecmp(name, "journal_mode") != 0) {
        return turso_exec(connection, sql);
    }
    /* It belongs to the file, and each connection of a run sets it: one after the other. */
    pthread_mutex_lock(&connection->engine->lock);
    enum engine_status status = turso_exec(connection, sql);
    if (status == ENGINE_OK) {
        status = turso_note_journal(connection);
    }
    pthread_mutex_unlock(&connection->engine->lock);
    return status;
}

static int set_timeout(struct engine_connection *connection, const char *value, struct error *error)
{
    uint32_t timeout_ms;
    int rc = pragma_milliseconds("busy_timeout", value, &timeout_ms, error);
    if (rc == 0 && timeout_ms != connection->timeout_ms) {
        turso_set_busy_timeout(connection, timeout_ms);
    }
    return rc;
}

int turso_setting_set(struct engine_connection *connection, const char *name, const char *value,
                      struct error *error)
{
    if (strcasecmp(name, "busy_timeout") == 0) {
        return set_timeout(connection, value, error);
    }
    struct buffer sql;
    int rc = pragma_begin(&sql, name, value, error);
    if (rc == 0) {
        enum engine_status status = set_pragma(connection, name, sql.data);
        rc = pragma_end(status, name, value, connection->text, connection->code, error);
    }
    buffer_release(&sql);
    return rc;
}

static int copy_column(const struct turso_api *api, const struct turso_statement *statement,
                       const char *name, char *out, size_t size, struct error *error)
{
    char number[32];
    int length;
    switch (api->statement_row_value_kind(statement, 0)) {
    case TURSO_TYPE_INTEGER:
        length = snprintf(number, sizeof number, "%lld",
                          (long long)api->statement_row_value_int(statement, 0));
        break;
    case TURSO_TYPE_REAL:
        length =
            snprintf(number, sizeof number, "%.15g", api->statement_row_value_double(statement, 0));
        break;
    case TURSO_TYPE_TEXT:
    case TURSO_TYPE_BLOB:
        return pragma_copy(name, api->statement_row_value_bytes_ptr(statement, 0),
                           (size_t)api->statement_row_value_bytes_count(statement, 0), out, size,
                           error);
    default:
        return 1;
    }
    return pragma_copy(name, number, (size_t)length, out, size, error);
}

int turso_read_pragma(struct engine_connection *connection, const char *name, char *out,
                      size_t size, struct error *error)
{
    const struct turso_api *api = connection->api;
    struct turso_statement *statement = NULL;
    const char *message = NULL;
    size_t tail;
    struct buffer sql;
    int rc = 1;
    buffer_init(&sql);
    buffer_printf(&sql, "PRAGMA %s", name);
    if (sql.failed) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was read", name);
        goto out;
    }
    enum engine_status status = turso_compile(connection, sql.data, &statement, &tail);
    int code = TURSO_DONE;
    if (status == ENGINE_OK && statement != NULL) {
        code = turso_step(connection, statement, &message);
    }
    if (code == TURSO_ROW) {
        rc = copy_column(api, statement, name, out, size, error);
    } else if (code != TURSO_DONE) {
        status = turso_failed(connection, code, message, NULL);
    }
    if (status != ENGINE_OK) {
        rc = error_set(error, ERROR_ENGINE, "%s could not be read: %s (code %d)", name,
                       connection->text, connection->code);
    }
out:
    api->statement_deinit(statement);
    buffer_release(&sql);
    return rc;
}

int turso_setting_get(struct engine_connection *connection, const char *name, char *out,
                      size_t size, struct error *error)
{
    int rc = pragma_check_name(name, error);
    if (rc != 0) {
        return rc;
    }
    if (connection->async_io && strcasecmp(name, "busy_timeout") == 0) {
        /* The library's own is 0: the driver waits. */
        return pragma_copy_number(name, connection->timeout_ms, out, size, error);
    }
    return turso_read_pragma(connection, name, out, size, error);
}
