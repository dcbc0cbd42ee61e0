/* The sqlite driver: connections and transactions, for any library with the SQLite
 * C ABI. Statements are in sqlite_statement.c, settings in sqlite_setting.c. */
#include "engine/sqlite_connection.h"

#include "base/file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum engine_status classify(int code, bool interrupted)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
        /* A wait that interrupt() ended ends as busy, too. */
        if (interrupted) {
            return ENGINE_INTERRUPTED;
        }
        return code == SQLITE_BUSY_SNAPSHOT ? ENGINE_CONFLICT : ENGINE_BUSY;
    case SQLITE_LOCKED:
        /* Plain LOCKED is a conflict inside this connection: waiting cannot help. */
        return code == SQLITE_LOCKED_SHAREDCACHE ? ENGINE_BUSY : ENGINE_FAILED;
    case SQLITE_INTERRUPT:
        return interrupted ? ENGINE_INTERRUPTED : ENGINE_FAILED;
    default:
        return ENGINE_FAILED;
    }
}

enum engine_status sqlite_failed(struct engine_connection *connection, int code, const char *text)
{
    if (text == NULL) {
        text = connection->api->errmsg(connection->db);
    }
    connection->code = code;
    snprintf(connection->text, sizeof connection->text, "%s", text != NULL ? text : "no message");
    return classify(code, sqlite_interrupted(connection));
}

int sqlite_set_busy_timeout(struct engine_connection *connection, uint32_t timeout_ms)
{
    connection->wait.timeout_ms = timeout_ms;
    return connection->api->busy_handler(
        connection->db, timeout_ms > 0 ? sqlite_wait_handler : NULL, &connection->wait);
}

static int prepare_transactions(struct engine_connection *connection)
{
    static const char *const sql[SQLITE_TRANSACTION_STATEMENTS] = {
        [SQLITE_BEGIN_READ] = "BEGIN",
        [SQLITE_BEGIN_WRITE] = "BEGIN IMMEDIATE",
        [SQLITE_COMMIT] = "COMMIT",
        [SQLITE_ROLLBACK] = "ROLLBACK",
    };
    int code = SQLITE_OK;
    for (int i = 0; i < SQLITE_TRANSACTION_STATEMENTS && code == SQLITE_OK; i++) {
        code = connection->api->prepare_v2(connection->db, sql[i], -1, &connection->transaction[i],
                                           NULL);
    }
    return code;
}

/* sqlite3_interrupt() raises a flag that SQLite lowers only when a statement starts while none is
 * running. Left up, it would end the next statement, and the last close would silently skip its
 * checkpoint. A transaction that touches nothing lowers it. */
static void lower_interrupt(struct engine_connection *connection)
{
    const struct sqlite_api *api = connection->api;
    if (connection->db == NULL || connection->transaction[SQLITE_ROLLBACK] == NULL ||
        !api->get_autocommit(connection->db)) {
        return;
    }
    api->step(connection->transaction[SQLITE_BEGIN_READ]);
    api->reset(connection->transaction[SQLITE_BEGIN_READ]);
    api->step(connection->transaction[SQLITE_ROLLBACK]);
    api->reset(connection->transaction[SQLITE_ROLLBACK]);
}

static void sqlite_close(struct engine_connection *connection)
{
    if (connection == NULL) {
        return;
    }
    lower_interrupt(connection);
    for (int i = 0; i < SQLITE_TRANSACTION_STATEMENTS; i++) {
        connection->api->finalize(connection->transaction[i]);
    }
    int code = connection->api->close(connection->db);
    assert(code == SQLITE_OK); /* BUSY: a statement was not finalized */
    (void)code;
    atomic_fetch_sub_explicit(&connection->engine->connections, 1, memory_order_relaxed);
    free(connection);
}

/* A library without mutexes has one global state: two connections at once would corrupt it. */
static int check_threads(struct engine_connection *connection, struct error *error)
{
    struct engine *engine = connection->engine;
    unsigned others = atomic_fetch_add_explicit(&engine->connections, 1, memory_order_relaxed);
    if (others > 0 && engine->api.threadsafe() == 0) {
        return error_set(error, ERROR_ENGINE,
                         "%s was built with THREADSAFE=0 and cannot serve more than one "
                         "connection: run it with --threads 1, or name a library built with "
                         "THREADSAFE=1 or 2",
                         engine->library.file);
    }
    return 0;
}

static int sqlite_open(struct engine *engine, const char *path, uint32_t busy_timeout_ms,
                       bool create, struct engine_connection **out, struct error *error)
{
    const struct sqlite_api *api = &engine->api;
    if (path[0] == '\0') {
        return error_set(error, ERROR_INVALID, "the path of the database is empty");
    }
    int rc = 0;
    char *name = file_plain_name(path);
    struct engine_connection *connection = calloc(1, sizeof *connection);
    if (name == NULL || connection == NULL) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was opened", path);
        free(connection);
        connection = NULL;
        goto out;
    }
    connection->api = api;
    connection->engine = engine;
    connection->wait.api = api;
    connection->wait.fine = engine->fine_wait;
    atomic_init(&connection->wait.interrupted, false);
    if ((rc = check_threads(connection, error)) != 0) {
        goto out;
    }
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    int code = api->open_v2(name, &connection->db, flags, NULL);
    if (code == SQLITE_OK) {
        code = sqlite_set_busy_timeout(connection, busy_timeout_ms);
    }
    if (code == SQLITE_OK) {
        code = api->extended_result_codes(connection->db, 1);
    }
    if (code == SQLITE_OK) {
        code = prepare_transactions(connection);
    }
    if (code != SQLITE_OK) {
        bool memory = (code & 0xff) == SQLITE_NOMEM;
        const char *why = connection->db != NULL ? api->errmsg(connection->db)
                          : memory               ? "out of memory"
                                                 : "no reason given";
        rc = error_set(error, memory ? ERROR_MEMORY : ERROR_ENGINE,
                       "database %s cannot be opened: %s (code %d)", path, why, code);
        goto out;
    }
    *out = connection;
    connection = NULL;
out:
    sqlite_close(connection);
    free(name);
    return rc;
}

static enum engine_status transaction(struct engine_connection *connection,
                                      enum sqlite_transaction_statement which)
{
    const struct sqlite_api *api = connection->api;
    struct sqlite3_stmt *stmt = connection->transaction[which];
    int code = api->step(stmt);
    enum engine_status status =
        code == SQLITE_DONE ? ENGINE_OK : sqlite_failed(connection, code, NULL);
    api->reset(stmt); /* gives the same error once more */
    return status;
}

static enum engine_status sqlite_begin(struct engine_connection *connection, bool write)
{
    if (sqlite_interrupted(connection)) {
        return sqlite_failed(connection, SQLITE_INTERRUPT, "interrupted");
    }
    return transaction(connection, write ? SQLITE_BEGIN_WRITE : SQLITE_BEGIN_READ);
}

static enum engine_status sqlite_commit(struct engine_connection *connection)
{
    if (sqlite_interrupted(connection)) {
        return sqlite_failed(connection, SQLITE_INTERRUPT, "interrupted");
    }
    return transaction(connection, SQLITE_COMMIT);
}

static enum engine_status sqlite_rollback(struct engine_connection *connection)
{
    bool interrupted =
        atomic_exchange_explicit(&connection->wait.interrupted, false, memory_order_relaxed);
    enum engine_status status = ENGINE_OK;
    if (!connection->api->get_autocommit(connection->db)) { /* many errors roll back themselves */
        status = transaction(connection, SQLITE_ROLLBACK);
    }
    if (interrupted) {
        lower_interrupt(connection);
    }
    return status;
}

static const char *sqlite_error_text(struct engine_connection *connection, int *code)
{
    *code = connection->code;
    return connection->text;
}

static struct engine_waits sqlite_waits(const struct engine_connection *connection)
{
    return connection->wait.waits;
}

static void sqlite_interrupt(struct engine_connection *connection)
{
    atomic_store_explicit(&connection->wait.interrupted, true, memory_order_relaxed);
    connection->api->interrupt(connection->db);
}

const struct engine_ops engine_sqlite = {
    .driver = "sqlite",
    .abi_version = ENGINE_ABI_VERSION,
    .capabilities = ENGINE_CAN_THREADS | ENGINE_CAN_LOAD | ENGINE_CAN_CHECK | ENGINE_COUNTS_WAITING,
    .load = sqlite_load,
    .unload = sqlite_unload,
    .open = sqlite_open,
    .close = sqlite_close,
    .exec = sqlite_exec,
    .prepare = sqlite_prepare,
    .finalize = sqlite_finalize,
    .readonly = sqlite_readonly,
    .parameter_count = sqlite_parameter_count,
    .run = sqlite_run,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .setting_set = sqlite_setting_set,
    .setting_get = sqlite_setting_get,
    .error_text = sqlite_error_text,
    .waits = sqlite_waits,
    .interrupt = sqlite_interrupt,
};
