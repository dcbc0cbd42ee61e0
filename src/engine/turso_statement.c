/*
 * Statements of the turso driver. turso_run() is the hot path: what it does beside bind, step,
 * values and reset is in every number that pitot prints, so it allocates nothing, looks nothing
 * up, and writes its sums to memory once a call. The library copies text and blobs that are bound,
 * and hands out those of a row in place.
 */
#include "engine/turso_connection.h"

#include "engine/touch.h"
#include "script/effect.h"

#include <stdlib.h>
#include <string.h>

struct engine_statement {
    struct engine_connection *connection;
    struct turso_statement *handle;
    uint32_t parameters;
    enum effect_verb verb; /* the ABI does not say whether a statement writes; its words do */
    struct value *row;     /* for a sink; grown when the first row needs it */
    uint32_t row_capacity;
};

enum engine_status turso_exec(struct engine_connection *connection, const char *sql)
{
    if (turso_interrupted(connection)) {
        return turso_failed(connection, TURSO_INTERRUPT, NULL, "interrupted");
    }
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK && *sql != '\0') {
        struct turso_statement *statement;
        size_t tail;
        status = turso_compile(connection, sql, &statement, &tail);
        if (status == ENGINE_OK && statement != NULL) {
            status = turso_run_through(connection, statement);
            connection->api->statement_deinit(statement);
        }
        sql += tail;
    }
    return status;
}

/* Behind the one statement only blanks, comments and semicolons may follow: the library itself
 * says whether it does, since it compiles those to no statement. */
static enum engine_status check_tail(struct engine_connection *connection, const char *tail)
{
    while (*tail != '\0') {
        struct turso_statement *next;
        size_t length;
        enum engine_status status = turso_compile(connection, tail, &next, &length);
        if (status != ENGINE_OK || next != NULL) {
            connection->api->statement_deinit(next);
            return turso_failed(connection, TURSO_ERROR, NULL,
                                "one statement was expected, and more text stands behind it");
        }
        tail += length > 0 ? length : 1;
    }
    return ENGINE_OK;
}

enum engine_status turso_prepare(struct engine_connection *connection, const char *sql,
                                 struct engine_statement **out)
{
    if (turso_interrupted(connection)) {
        return turso_failed(connection, TURSO_INTERRUPT, NULL, "interrupted");
    }
    struct turso_statement *handle;
    size_t tail;
    enum engine_status status = turso_compile(connection, sql, &handle, &tail);
    if (status != ENGINE_OK) {
        return status;
    }
    if (handle == NULL) {
        return turso_failed(connection, TURSO_ERROR, NULL,
                            "one statement was expected, found none");
    }
    status = check_tail(connection, sql + tail);
    struct engine_statement *statement = NULL;
    if (status == ENGINE_OK && (statement = calloc(1, sizeof *statement)) == NULL) {
        status = turso_failed(connection, TURSO_ERROR, NULL, "out of memory");
    }
    if (status != ENGINE_OK) {
        connection->api->statement_deinit(handle);
        return status;
    }
    statement->connection = connection;
    statement->handle = handle;
    statement->parameters = (uint32_t)connection->api->statement_parameters_count(handle);
    statement->verb = effect_verb(sql);
    *out = statement;
    return ENGINE_OK;
}

void turso_finalize(struct engine_statement *statement)
{
    if (statement == NULL) {
        return;
    }
    statement->connection->api->statement_deinit(statement->handle);
    free(statement->row);
    free(statement);
}

bool turso_readonly(const struct engine_statement *statement)
{
    return statement->verb == EFFECT_VERB_READ;
}

uint32_t turso_parameter_count(const struct engine_statement *statement)
{
    return statement->parameters;
}

static int bind(const struct turso_api *api, const struct turso_statement *statement,
                const struct value *values, uint32_t count)
{
    int code = TURSO_OK;
    for (uint32_t i = 0; i < count && code == TURSO_OK; i++) {
        const struct value *value = &values[i];
        size_t place = (size_t)i + 1;
        /* A NULL pointer would be refused. */
        switch (value->type) {
        case VALUE_INTEGER:
            code = api->statement_bind_positional_int(statement, place, value->integer);
            break;
        case VALUE_DOUBLE:
            code = api->statement_bind_positional_double(statement, place, value->real);
            break;
        case VALUE_NULL:
            code = api->statement_bind_positional_null(statement, place);
            break;
        case VALUE_TEXT:
            code = api->statement_bind_positional_text(
                statement, place, value->bytes != NULL ? value->bytes : "", value->length);
            break;
        case VALUE_BLOB:
            code = api->statement_bind_positional_blob(
                statement, place, value->bytes != NULL ? value->bytes : "", value->length);
            break;
        }
    }
    return code;
}

/* Type, typed getter and every byte of each column of the row. */
static inline uint64_t touch_row(const struct turso_api *api,
                                 const struct turso_statement *statement, size_t columns)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < columns; i++) {
        switch (api->statement_row_value_kind(statement, i)) {
        case TURSO_TYPE_INTEGER:
            sum += (uint64_t)api->statement_row_value_int(statement, i);
            break;
        case TURSO_TYPE_REAL:
            sum += touch_double(api->statement_row_value_double(statement, i));
            break;
        case TURSO_TYPE_TEXT:
        case TURSO_TYPE_BLOB: {
            const char *bytes = api->statement_row_value_bytes_ptr(statement, i);
            int64_t length = api->statement_row_value_bytes_count(statement, i);
            sum += length > 0 ? touch_bytes((const unsigned char *)bytes, (size_t)length) : 0;
            break;
        }
        default:
            break;
        }
    }
    return sum;
}

static struct value column_value(const struct turso_api *api,
                                 const struct turso_statement *statement, size_t i)
{
    struct value value = {.type = VALUE_NULL};
    int kind = api->statement_row_value_kind(statement, i);
    switch (kind) {
    case TURSO_TYPE_INTEGER:
        value.type = VALUE_INTEGER;
        value.integer = api->statement_row_value_int(statement, i);
        break;
    case TURSO_TYPE_REAL:
        value.type = VALUE_DOUBLE;
        value.real = api->statement_row_value_double(statement, i);
        break;
    case TURSO_TYPE_TEXT:
    case TURSO_TYPE_BLOB:
        value.type = kind == TURSO_TYPE_TEXT ? VALUE_TEXT : VALUE_BLOB;
        value.bytes = api->statement_row_value_bytes_ptr(statement, i);
        value.length = (uint32_t)api->statement_row_value_bytes_count(statement, i);
        if (value.length == 0) {
            value.bytes = "";
        }
        break;
    default:
        break;
    }
    return value;
}

/* Hands a row to the sink. 0, or nonzero with `status` set. */
static int give_row(struct engine_statement *statement, size_t columns,
                    const struct engine_sink *sink, enum engine_status *status)
{
    struct engine_connection *connection = statement->connection;
    if (columns > statement->row_capacity) {
        struct value *row = realloc(statement->row, columns * sizeof *row);
        if (row == NULL) {
            *status = turso_failed(connection, TURSO_ERROR, NULL, "out of memory");
            return 1;
        }
        statement->row = row;
        statement->row_capacity = (uint32_t)columns;
    }
    for (size_t i = 0; i < columns; i++) {
        statement->row[i] = column_value(connection->api, statement->handle, i);
    }
    if (sink->row(sink->context, statement->row, (uint32_t)columns) != 0) {
        *status =
            turso_failed(connection, TURSO_ERROR, NULL, "stopped by the receiver of its rows");
        return 1;
    }
    return 0;
}

/* Steps through the rows, or to the first one. Returns the last code. */
static inline int walk(struct engine_statement *statement, bool one, struct engine_effect *effect,
                       const struct engine_sink *sink, enum engine_status *status,
                       const char **message)
{
    struct engine_connection *connection = statement->connection;
    const struct turso_statement *handle = statement->handle;
    uint64_t rows = 0;
    uint64_t sum = 0;
    size_t columns = 0;
    int code;
    while ((code = turso_step(connection, handle, message)) == TURSO_ROW) {
        if (rows++ == 0) { /* a changed schema may have changed it */
            columns = (size_t)connection->api->statement_column_count(handle);
        }
        if (__builtin_expect(sink != NULL, 0)) {
            if (give_row(statement, columns, sink, status) != 0) {
                break;
            }
        } else {
            sum += touch_row(connection->api, handle, columns);
        }
        if (one || turso_interrupted(connection)) {
            break;
        }
    }
    connection->sum = sum;
    effect->rows_read += rows;
    return code;
}

/* What a walk that ended with a row leaves: a reset takes back what a writing statement did, so
 * that one goes on to its end. */
static inline int end_early(struct engine_statement *statement, const char **message)
{
    struct engine_connection *connection = statement->connection;
    int code = TURSO_ROW;
    if (turso_interrupted(connection)) {
        return TURSO_INTERRUPT;
    }
    if (statement->verb == EFFECT_VERB_READ) {
        return TURSO_DONE;
    }
    while (code == TURSO_ROW) {
        code = turso_step(connection, statement->handle, message);
    }
    return code;
}

static inline enum engine_status run_plain(struct engine_statement *statement,
                                           const struct value *values, uint32_t count, bool one,
                                           struct engine_effect *effect,
                                           const struct engine_sink *sink)
{
    struct engine_connection *connection = statement->connection;
    const char *message = NULL;
    enum engine_status status = ENGINE_OK;
    int code = bind(connection->api, statement->handle, values, count);
    if (__builtin_expect(code != TURSO_OK, 0)) {
        status = turso_failed(connection, code, NULL, "a value was refused: text must be UTF-8");
        return turso_reset(connection, statement->handle, status);
    }
    code = walk(statement, one, effect, sink, &status, &message);
    if (code == TURSO_ROW && status == ENGINE_OK) {
        code = end_early(statement, &message);
    }
    if (__builtin_expect(code != TURSO_DONE, 0) && status == ENGINE_OK) {
        status =
            turso_failed(connection, code, message, code == TURSO_INTERRUPT ? "interrupted" : NULL);
    }
    uint64_t changed = statement->verb == EFFECT_VERB_READ
                           ? 0
                           : (uint64_t)connection->api->statement_n_change(statement->handle);
    status = turso_reset(connection, statement->handle, status);
    effect->rows_changed += status == ENGINE_OK ? changed : 0;
    return status;
}

/* In MVCC mode a single write would lock all others out; several run at once only inside of
 * BEGIN CONCURRENT. What it changed counts once it is committed. */
static enum engine_status run_concurrent(struct engine_statement *statement,
                                         const struct value *values, uint32_t count, bool one,
                                         struct engine_effect *effect,
                                         const struct engine_sink *sink)
{
    struct engine_connection *connection = statement->connection;
    uint64_t changed = effect->rows_changed;
    enum engine_status status = turso_begin(connection, true);
    if (status == ENGINE_OK) {
        status = run_plain(statement, values, count, one, effect, sink);
    }
    if (status == ENGINE_OK) {
        status = turso_commit(connection);
    }
    if (status != ENGINE_OK) {
        effect->rows_changed = changed;
        turso_undo(connection);
    }
    return status;
}

enum engine_status turso_run(struct engine_statement *statement, const struct value *values,
                             uint32_t count, bool one, struct engine_effect *effect,
                             const struct engine_sink *sink)
{
    struct engine_connection *connection = statement->connection;
    if (turso_interrupted(connection)) {
        return turso_failed(connection, TURSO_INTERRUPT, NULL, "interrupted");
    }
    if (count != statement->parameters) {
        return turso_failed(connection, TURSO_MISUSE, NULL,
                            "as many values as the statement has parameters were expected");
    }
    if (connection->concurrent && statement->verb == EFFECT_VERB_WRITE &&
        connection->api->connection_get_autocommit(connection->handle)) {
        return run_concurrent(statement, values, count, one, effect, sink);
    }
    return run_plain(statement, values, count, one, effect, sink);
}
