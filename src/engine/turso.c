/*
 * The turso driver: connections, steps and transactions, for a library with Turso's C ABI.
 * Statements are in turso_statement.c, settings in turso_setting.c.
 *
 * Without async_io a step does everything inside the library, also waiting for a lock: it asks
 * again and again without sleeping until the schedule of the busy timeout lets it try once more.
 * The ABI has no interrupt, so such a wait ends by its timeout at the latest and not before.
 *
 * With async_io a step comes back where it would do input and output (TURSO_IO), and the driver has
 * it done. TURSO_IO would also mean "wait for a lock", and nothing tells the two apart. So the
 * library gets a timeout of 0 and says BUSY; the driver sleeps by the same schedule, counts it, and
 * steps on, which is what the library does after its own wait.
 */
#include "engine/turso_connection.h"

#include "base/file.h"
#include "core/clock.h"
#include "engine/lock_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what became of a call ------------------------------------------------------- */

/* Conflicts of MVCC for which the ABI has no code of their own: whatever has none is TURSO_ERROR,
 * and the text alone tells. */
static bool is_conflict(const char *text)
{
    static const char *const begins[] = {"Write-write conflict", "Commit dependency aborted",
                                         "Conflict: ", "Database schema conflict"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (strncmp(text, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    return false;
}

static enum engine_status classify(int code, const char *text, bool interrupted)
{
    switch (code) {
    case TURSO_BUSY:
        return interrupted ? ENGINE_INTERRUPTED : ENGINE_BUSY;
    case TURSO_BUSY_SNAPSHOT:
        return ENGINE_CONFLICT;
    case TURSO_INTERRUPT:
        return interrupted ? ENGINE_INTERRUPTED : ENGINE_FAILED;
    case TURSO_ERROR:
        return is_conflict(text) ? ENGINE_CONFLICT : ENGINE_FAILED;
    default:
        return ENGINE_FAILED;
    }
}

/* The names of turso.h, for failures without a text. */
static const char *code_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {TURSO_OK, "OK"},
        {TURSO_DONE, "DONE"},
        {TURSO_ROW, "ROW"},
        {TURSO_IO, "IO"},
        {TURSO_BUSY, "BUSY"},
        {TURSO_INTERRUPT, "INTERRUPT"},
        {TURSO_BUSY_SNAPSHOT, "BUSY_SNAPSHOT"},
        {TURSO_ERROR, "ERROR"},
        {TURSO_MISUSE, "MISUSE"},
        {TURSO_CONSTRAINT, "CONSTRAINT"},
        {TURSO_READONLY, "READONLY"},
        {TURSO_DATABASE_FULL, "DATABASE_FULL"},
        {TURSO_NOTADB, "NOTADB"},
        {TURSO_CORRUPT, "CORRUPT"},
        {TURSO_IOERR, "IOERR"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "a code that turso.h does not have";
}

enum engine_status turso_failed(struct engine_connection *connection, int code, const char *message,
                                const char *otherwise)
{
    const char *text = message != NULL && message[0] != '\0' ? message : otherwise;
    connection->code = code;
    if (text != NULL) {
        snprintf(connection->text, sizeof connection->text, "%s", text);
    } else {
        snprintf(connection->text, sizeof connection->text, "%s without a message",
                 code_name(code));
    }
    connection->api->str_deinit(message);
    return classify(code, connection->text, turso_interrupted(connection));
}

/* ---- steps ------------------------------------------------------------------------ */

/* Sleeps once before the next try for a lock. False: the timeout is over, or an interrupt came. */
static bool wait_once(struct engine_connection *connection, uint32_t *tries)
{
    uint32_t delay = lock_wait_delay((*tries)++, connection->timeout_ms);
    if (delay == 0 || turso_interrupted(connection)) {
        return false;
    }
    uint64_t start = clock_now_ns();
    clock_sleep_until_ns(start + delay * NS_PER_MS);
    connection->waits.slept_ns += clock_now_ns() - start;
    connection->waits.count++;
    return !turso_interrupted(connection);
}

int turso_continue(struct engine_connection *connection, const struct turso_statement *statement,
                   int code, const char **message)
{
    const struct turso_api *api = connection->api;
    uint32_t tries = 0;
    for (;;) {
        if (code == TURSO_IO) {
            if (turso_interrupted(connection)) {
                return TURSO_INTERRUPT;
            }
            code = api->statement_run_io(statement, message);
            if (code != TURSO_OK) {
                return code;
            }
        } else if (code == TURSO_BUSY && connection->async_io) {
            if (!wait_once(connection, &tries)) {
                return code;
            }
            api->str_deinit(*message);
            *message = NULL;
        } else {
            return code;
        }
        code = api->statement_step(statement, message);
    }
}

enum engine_status turso_reset(struct engine_connection *connection,
                               const struct turso_statement *statement, enum engine_status status)
{
    const char *message = NULL;
    int code = connection->api->statement_reset(statement, &message);
    if (__builtin_expect(code == TURSO_OK, 1)) {
        return status;
    }
    if (status == ENGINE_OK) {
        return turso_failed(connection, code, message, NULL);
    }
    connection->api->str_deinit(message);
    return status;
}

enum engine_status turso_run_through(struct engine_connection *connection,
                                     const struct turso_statement *statement)
{
    const char *message = NULL;
    int code;
    do {
        code = turso_step(connection, statement, &message);
    } while (code == TURSO_ROW);
    enum engine_status status =
        code == TURSO_DONE ? ENGINE_OK : turso_failed(connection, code, message, NULL);
    return turso_reset(connection, statement, status);
}

enum engine_status turso_compile(struct engine_connection *connection, const char *sql,
                                 struct turso_statement **out, size_t *tail)
{
    const char *message = NULL;
    *out = NULL;
    *tail = strlen(sql); /* left as it is where there is no statement */
    int code =
        connection->api->connection_prepare_first(connection->handle, sql, out, tail, &message);
    return code == TURSO_OK ? ENGINE_OK : turso_failed(connection, code, message, NULL);
}

/* ---- transactions ------------------------------------------------------------------- */

static enum engine_status prepare_transaction(struct engine_connection *connection,
                                              enum turso_transaction_statement which,
                                              const char *sql)
{
    struct turso_statement *statement;
    size_t tail;
    enum engine_status status = turso_compile(connection, sql, &statement, &tail);
    if (status == ENGINE_OK) {
        connection->api->statement_deinit(connection->transaction[which]);
        connection->transaction[which] = statement;
    }
    return status;
}

static enum engine_status prepare_transactions(struct engine_connection *connection)
{
    static const struct {
        enum turso_transaction_statement which;
        const char *sql;
    } statements[] = {
        {TURSO_BEGIN_READ, "BEGIN"}, {TURSO_COMMIT, "COMMIT"}, {TURSO_ROLLBACK, "ROLLBACK"}};
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; status == ENGINE_OK && i < sizeof statements / sizeof *statements; i++) {
        status = prepare_transaction(connection, statements[i].which, statements[i].sql);
    }
    return status;
}

enum engine_status turso_note_journal(struct engine_connection *connection)
{
    char mode[32] = "";
    struct error error = ERROR_INIT;
    if (turso_read_pragma(connection, "journal_mode", mode, sizeof mode, &error) < 0) {
        return turso_failed(connection, connection->code, NULL, error.message);
    }
    /* "experimental_mvcc" is its name in older versions. */
    connection->concurrent = strcmp(mode, "mvcc") == 0 || strcmp(mode, "experimental_mvcc") == 0;
    return prepare_transaction(connection, TURSO_BEGIN_WRITE,
                               connection->concurrent ? "BEGIN CONCURRENT" : "BEGIN IMMEDIATE");
}

enum engine_status turso_begin(struct engine_connection *connection, bool write)
{
    if (turso_interrupted(connection)) {
        return turso_failed(connection, TURSO_INTERRUPT, NULL, "interrupted");
    }
    return turso_run_through(connection,
                             connection->transaction[write ? TURSO_BEGIN_WRITE : TURSO_BEGIN_READ]);
}

enum engine_status turso_commit(struct engine_connection *connection)
{
    if (turso_interrupted(connection)) {
        return turso_failed(connection, TURSO_INTERRUPT, NULL, "interrupted");
    }
    return turso_run_through(connection, connection->transaction[TURSO_COMMIT]);
}

static enum engine_status roll_back(struct engine_connection *connection)
{
    if (connection->api->connection_get_autocommit(connection->handle)) {
        return ENGINE_OK; /* some errors roll back themselves */
    }
    return turso_run_through(connection, connection->transaction[TURSO_ROLLBACK]);
}

enum engine_status turso_rollback(struct engine_connection *connection)
{
    atomic_store_explicit(&connection->interrupted, false, memory_order_relaxed);
    return roll_back(connection);
}

void turso_undo(struct engine_connection *connection)
{
    int code = connection->code;
    char text[sizeof connection->text];
    memcpy(text, connection->text, sizeof text);
    roll_back(connection);
    connection->code = code;
    memcpy(connection->text, text, sizeof text);
}

/* ---- opening and closing ------------------------------------------------------------ */

void turso_set_busy_timeout(struct engine_connection *connection, uint32_t timeout_ms)
{
    connection->timeout_ms = timeout_ms;
    connection->api->connection_set_busy_timeout_ms(connection->handle,
                                                    connection->async_io ? 0 : timeout_ms);
}

/* Says so when the reason of a failed opening is another process: Turso locks the whole file. */
static void name_holder(const char *path, struct error *error)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
        error_prefix(error,
                     "process %ld has %s open, and Turso opens a database only for one process at "
                     "a time",
                     (long)lock.l_pid, path);
    }
    close(fd);
}

/* The first connection opens the database. */
static int take_database(struct engine *engine, const char *name, bool create, struct error *error)
{
    int rc = 0;
    pthread_mutex_lock(&engine->lock);
    if (engine->connections == 0) {
        if (!create && access(name, F_OK) != 0) { /* the library would make the file */
            rc = error_set(error, ERROR_ENGINE, "database %s cannot be opened: %s", name,
                           strerror(errno));
        } else if ((rc = turso_open_database(&engine->api, &engine->options, name,
                                             &engine->database, error)) != 0) {
            name_holder(name, error);
        }
    }
    engine->connections += rc == 0;
    pthread_mutex_unlock(&engine->lock);
    return rc;
}

/* The last one closes it, and so lets the file go. */
static void give_database(struct engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    if (--engine->connections == 0) {
        engine->api.database_deinit(engine->database);
        engine->database = NULL;
    }
    pthread_mutex_unlock(&engine->lock);
}

static void turso_close(struct engine_connection *connection)
{
    if (connection == NULL) {
        return;
    }
    const struct turso_api *api = connection->api;
    for (int i = 0; i < TURSO_TRANSACTION_STATEMENTS; i++) {
        api->statement_deinit(connection->transaction[i]);
    }
    if (connection->handle != NULL) {
        const char *message = NULL;
        if (api->connection_close(connection->handle, &message) != TURSO_OK) {
            api->str_deinit(message);
        }
        api->connection_deinit(connection->handle);
    }
    give_database(connection->engine);
    free(connection);
}

/* Everything behind the database; the busy timeout comes first, since setting it makes the library
 * prepare all statements anew. */
static int connect(struct engine_connection *connection, const char *path, uint32_t timeout_ms,
                   struct error *error)
{
    struct engine *engine = connection->engine;
    const char *message = NULL;
    pthread_mutex_lock(&engine->lock);
    int code = engine->api.database_connect(engine->database, &connection->handle, &message);
    pthread_mutex_unlock(&engine->lock);
    enum engine_status status =
        code == TURSO_OK ? ENGINE_OK : turso_failed(connection, code, message, NULL);
    if (status == ENGINE_OK) {
        turso_set_busy_timeout(connection, timeout_ms);
        status = prepare_transactions(connection);
    }
    if (status == ENGINE_OK) {
        status = turso_note_journal(connection);
    }
    return status == ENGINE_OK ? 0
                               : error_set(error, status == ENGINE_BUSY ? ERROR_BUSY : ERROR_ENGINE,
                                           "database %s cannot be opened: %s (code %d)", path,
                                           connection->text, connection->code);
}

static int turso_open(struct engine *engine, const char *path, uint32_t busy_timeout_ms,
                      bool create, struct engine_connection **out, struct error *error)
{
    if (path[0] == '\0') {
        return error_set(error, ERROR_INVALID, "the path of the database is empty");
    }
    char *name = file_plain_name(path);
    struct engine_connection *connection = calloc(1, sizeof *connection);
    int rc = 0;
    if (name == NULL || connection == NULL) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was opened", path);
    } else {
        rc = take_database(engine, name, create, error);
    }
    if (rc != 0) {
        free(connection);
        goto out;
    }
    connection->api = &engine->api;
    connection->engine = engine;
    connection->async_io = engine->options.async_io;
    atomic_init(&connection->interrupted, false);
    rc = connect(connection, path, busy_timeout_ms, error);
    if (rc != 0) {
        turso_close(connection);
        goto out;
    }
    *out = connection;
out:
    free(name);
    return rc;
}

static const char *turso_error_text(struct engine_connection *connection, int *code)
{
    *code = connection->code;
    return connection->text;
}

/* In MVCC mode a commit that waits for another one yields, which looks like input and output. */
static struct engine_waits turso_waits(const struct engine_connection *connection)
{
    struct engine_waits waits = connection->waits;
    waits.incomplete = connection->concurrent;
    return waits;
}

static void turso_interrupt(struct engine_connection *connection)
{
    atomic_store_explicit(&connection->interrupted, true, memory_order_relaxed);
}

const struct engine_ops engine_turso = {
    .driver = "turso",
    .abi_version = ENGINE_ABI_VERSION,
    .capabilities = ENGINE_CAN_THREADS | ENGINE_CAN_LOAD | ENGINE_CAN_CHECK | ENGINE_COUNTS_WAITING,
    .load = turso_load,
    .unload = turso_unload,
    .open = turso_open,
    .close = turso_close,
    .exec = turso_exec,
    .prepare = turso_prepare,
    .finalize = turso_finalize,
    .readonly = turso_readonly,
    .parameter_count = turso_parameter_count,
    .run = turso_run,
    .begin = turso_begin,
    .commit = turso_commit,
    .rollback = turso_rollback,
    .setting_set = turso_setting_set,
    .setting_get = turso_setting_get,
    .error_text = turso_error_text,
    .waits = turso_waits,
    .interrupt = turso_interrupt,
};
