/*
 * Statements of the sqlite driver. sqlite_run() is the hot path: what it does beside
 * bind, step, column and reset is in every number that pitot prints, so it allocates
 * nothing, looks nothing up, and writes its sums to memory once a call.
 */
#include "engine/sqlite_connection.h"

#include "engine/touch.h"

#include <stdlib.h>
#include <string.h>

struct engine_statement {
    struct engine_connection *connection;
    struct sqlite3_stmt *stmt;
    uint32_t parameters;
    bool readonly;
    struct value *row; /* for a sink; grown when the first row needs it */
    uint32_t row_capacity;
};

enum engine_status sqlite_exec(struct engine_connection *connection, const char *sql)
{
    if (sqlite_interrupted(connection)) {
        return sqlite_failed(connection, SQLITE_INTERRUPT, "interrupted");
    }
    int code = connection->api->exec(connection->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ENGINE_OK : sqlite_failed(connection, code, NULL);
}

static int compile(struct engine_connection *connection, const char *sql,
                   struct sqlite3_stmt **stmt, const char **tail)
{
    const struct sqlite_api *api = connection->api;
    if (api->prepare_v3 != NULL) {
        return api->prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, tail);
    }
    return api->prepare_v2(connection->db, sql, -1, stmt, tail);
}

/* Behind the one statement only blanks, comments and semicolons may follow: SQLite
 * itself says whether it does, since it compiles those to no statement. */
static enum engine_status check_tail(struct engine_connection *connection, const char *tail)
{
    while (tail != NULL && *tail != '\0') {
        struct sqlite3_stmt *next = NULL;
        const char *before = tail;
        int code = connection->api->prepare_v2(connection->db, tail, -1, &next, &tail);
        connection->api->finalize(next);
        if (code != SQLITE_OK || next != NULL) {
            return sqlite_failed(connection, SQLITE_ERROR,
                                 "one statement was expected, and more text stands behind it");
        }
        if (tail == before) {
            break;
        }
    }
    return ENGINE_OK;
}

enum engine_status sqlite_prepare(struct engine_connection *connection, const char *sql,
                                  struct engine_statement **out)
{
    const struct sqlite_api *api = connection->api;
    if (sqlite_interrupted(connection)) {
        return sqlite_failed(connection, SQLITE_INTERRUPT, "interrupted");
    }
    struct sqlite3_stmt *stmt = NULL;
    const char *tail = NULL;
    struct engine_statement *statement = NULL;
    int code = compile(connection, sql, &stmt, &tail);
    if (code != SQLITE_OK) {
        return sqlite_failed(connection, code, NULL);
    }
    enum engine_status status = ENGINE_OK;
    if (stmt == NULL) {
        return sqlite_failed(connection, SQLITE_ERROR, "one statement was expected, found none");
    }
    status = check_tail(connection, tail);
    if (status != ENGINE_OK) {
        goto out;
    }
    statement = calloc(1, sizeof *statement);
    if (statement == NULL) {
        status = sqlite_failed(connection, SQLITE_NOMEM, "out of memory");
        goto out;
    }
    statement->connection = connection;
    statement->stmt = stmt;
    statement->parameters = (uint32_t)api->bind_parameter_count(stmt);
    statement->readonly = api->stmt_readonly(stmt) != 0;
    *out = statement;
    stmt = NULL;
out:
    api->finalize(stmt);
    return status;
}

void sqlite_finalize(struct engine_statement *statement)
{
    if (statement == NULL) {
        return;
    }
    statement->connection->api->finalize(statement->stmt);
    free(statement->row);
    free(statement);
}

bool sqlite_readonly(const struct engine_statement *statement)
{
    return statement->readonly;
}

uint32_t sqlite_parameter_count(const struct engine_statement *statement)
{
    return statement->parameters;
}

static int bind(const struct sqlite_api *api, struct sqlite3_stmt *stmt, const struct value *values,
                uint32_t count)
{
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < count && code == SQLITE_OK; i++) {
        const struct value *value = &values[i];
        int place = (int)i + 1;
        switch (value->type) {
        case VALUE_INTEGER:
            code = api->bind_int64(stmt, place, value->integer);
            break;
        case VALUE_DOUBLE:
            code = api->bind_double(stmt, place, value->real);
            break;
        case VALUE_NULL:
            code = api->bind_null(stmt, place);
            break;
        case VALUE_TEXT:
        case VALUE_BLOB: {
            /* NULL bytes would bind NULL, a negative length would mean "up to the NUL".
             * No destructor: the bytes outlive the call (SQLITE_STATIC). */
            const char *bytes = value->bytes != NULL ? value->bytes : "";
            if (value->length > INT32_MAX) {
                return SQLITE_TOOBIG;
            }
            code = value->type == VALUE_TEXT
                       ? api->bind_text(stmt, place, bytes, (int)value->length, NULL)
                       : api->bind_blob(stmt, place, bytes, (int)value->length, NULL);
            break;
        }
        }
    }
    return code;
}

/* Type, typed getter and every byte of each column of the row. */
static inline uint64_t touch_row(const struct sqlite_api *api, struct sqlite3_stmt *stmt,
                                 int columns)
{
    uint64_t sum = 0;
    for (int i = 0; i < columns; i++) {
        switch (api->column_type(stmt, i)) {
        case SQLITE_INTEGER:
            sum += (uint64_t)api->column_int64(stmt, i);
            break;
        case SQLITE_FLOAT:
            sum += touch_double(api->column_double(stmt, i));
            break;
        case SQLITE_TEXT: {
            const unsigned char *text = api->column_text(stmt, i);
            size_t length = (size_t)api->column_bytes(stmt, i);
            sum += text != NULL ? touch_bytes(text, length) : 0;
            break;
        }
        case SQLITE_BLOB: {
            const unsigned char *bytes = api->column_blob(stmt, i);
            size_t length = (size_t)api->column_bytes(stmt, i);
            sum += bytes != NULL ? touch_bytes(bytes, length) : 0;
            break;
        }
        default:
            break;
        }
    }
    return sum;
}

static struct value column_value(const struct sqlite_api *api, struct sqlite3_stmt *stmt, int i)
{
    struct value value = {.type = VALUE_NULL};
    switch (api->column_type(stmt, i)) {
    case SQLITE_INTEGER:
        value.type = VALUE_INTEGER;
        value.integer = api->column_int64(stmt, i);
        break;
    case SQLITE_FLOAT:
        value.type = VALUE_DOUBLE;
        value.real = api->column_double(stmt, i);
        break;
    case SQLITE_TEXT:
        value.type = VALUE_TEXT;
        value.bytes = (const char *)api->column_text(stmt, i);
        value.length = (uint32_t)api->column_bytes(stmt, i);
        break;
    case SQLITE_BLOB:
        value.type = VALUE_BLOB;
        value.bytes = api->column_blob(stmt, i);
        value.length = (uint32_t)api->column_bytes(stmt, i);
        break;
    default:
        return value;
    }
    if ((value.type == VALUE_TEXT || value.type == VALUE_BLOB) && value.bytes == NULL) {
        value.bytes = ""; /* a blob of no bytes */
    }
    return value;
}

/* Hands a row to the sink. 0, or nonzero with `status` set. */
static int give_row(struct engine_statement *statement, int columns, const struct engine_sink *sink,
                    enum engine_status *status)
{
    struct engine_connection *connection = statement->connection;
    if ((uint32_t)columns > statement->row_capacity) {
        struct value *row = realloc(statement->row, (size_t)columns * sizeof *row);
        if (row == NULL) {
            *status = sqlite_failed(connection, SQLITE_NOMEM, "out of memory");
            return 1;
        }
        statement->row = row;
        statement->row_capacity = (uint32_t)columns;
    }
    for (int i = 0; i < columns; i++) {
        statement->row[i] = column_value(connection->api, statement->stmt, i);
    }
    if (sink->row(sink->context, statement->row, (uint32_t)columns) != 0) {
        *status = sqlite_failed(connection, SQLITE_ERROR, "stopped by the receiver of its rows");
        return 1;
    }
    return 0;
}

enum engine_status sqlite_run(struct engine_statement *statement, const struct value *values,
                              uint32_t count, bool one, struct engine_effect *effect,
                              const struct engine_sink *sink)
{
    struct engine_connection *connection = statement->connection;
    const struct sqlite_api *api = connection->api;
    struct sqlite3_stmt *stmt = statement->stmt;
    if (sqlite_interrupted(connection)) {
        return sqlite_failed(connection, SQLITE_INTERRUPT, "interrupted");
    }
    if (count != statement->parameters) {
        return sqlite_failed(connection, SQLITE_RANGE,
                             "as many values as the statement has parameters were expected");
    }
    int code = bind(api, stmt, values, count);
    if (code != SQLITE_OK) {
        return sqlite_failed(connection, code, code == SQLITE_TOOBIG ? "value too big" : NULL);
    }
    /* changes() keeps the figure of the last INSERT, UPDATE or DELETE when another
     * statement ran since; total_changes() moves only if this one changed rows. */
    int total = statement->readonly ? 0 : api->total_changes(connection->db);
    enum engine_status status = ENGINE_OK;
    uint64_t rows = 0;
    uint64_t sum = 0;
    int columns = 0;
    while ((code = api->step(stmt)) == SQLITE_ROW) {
        if (rows++ == 0) {
            columns = api->column_count(stmt); /* a changed schema may have changed it */
        }
        if (__builtin_expect(sink != NULL, 0)) {
            if (give_row(statement, columns, sink, &status) != 0) {
                break;
            }
        } else {
            sum += touch_row(api, stmt, columns);
        }
        if (one) {
            break;
        }
    }
    connection->sum = sum;
    effect->rows_read += rows;
    if (code == SQLITE_ROW) {
        /* A writing statement that was left early commits in reset. */
        code = api->reset(stmt);
        code = code == SQLITE_OK ? SQLITE_DONE : code;
        if (code != SQLITE_DONE && status == ENGINE_OK) {
            status = sqlite_failed(connection, code, NULL);
        }
    } else {
        if (code != SQLITE_DONE) {
            status = sqlite_failed(connection, code, NULL);
        }
        api->reset(stmt); /* gives the same error once more */
    }
    if (!statement->readonly && status == ENGINE_OK &&
        api->total_changes(connection->db) != total) {
        effect->rows_changed += (uint64_t)api->changes(connection->db);
    }
    return status;
}
