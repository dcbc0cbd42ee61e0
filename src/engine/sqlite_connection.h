/* Connections and statements of the sqlite driver; internal to its files. */
#ifndef PITOT_ENGINE_SQLITE_CONNECTION_H
#define PITOT_ENGINE_SQLITE_CONNECTION_H

#include "engine/sqlite_library.h"
#include "engine/sqlite_wait.h"

enum sqlite_transaction_statement {
    SQLITE_BEGIN_READ,
    SQLITE_BEGIN_WRITE,
    SQLITE_COMMIT,
    SQLITE_ROLLBACK,
    SQLITE_TRANSACTION_STATEMENTS,
};

struct engine_connection {
    const struct sqlite_api *api;
    struct engine *engine;
    struct sqlite3 *db;
    struct sqlite_wait wait;
    struct sqlite3_stmt *transaction[SQLITE_TRANSACTION_STATEMENTS];
    volatile uint64_t sum; /* of all that was read: keeps the reading from being optimised out */
    int code;              /* of the last failure, extended */
    char text[512];
};

/* Remembers code and text of a failure and says what became of the call.
 * `text` NULL: the library's own message. */
enum engine_status sqlite_failed(struct engine_connection *connection, int code, const char *text);

/* True once interrupt() was called, until rollback. */
static inline bool sqlite_interrupted(struct engine_connection *connection)
{
    return __builtin_expect(
        atomic_load_explicit(&connection->wait.interrupted, memory_order_relaxed), 0);
}

/* engine_ops of sqlite_statement.c */
enum engine_status sqlite_exec(struct engine_connection *connection, const char *sql);
enum engine_status sqlite_prepare(struct engine_connection *connection, const char *sql,
                                  struct engine_statement **out);
void sqlite_finalize(struct engine_statement *statement);
bool sqlite_readonly(const struct engine_statement *statement);
uint32_t sqlite_parameter_count(const struct engine_statement *statement);
enum engine_status sqlite_run(struct engine_statement *statement, const struct value *values,
                              uint32_t count, bool one, struct engine_effect *effect,
                              const struct engine_sink *sink);

/* engine_ops of sqlite_setting.c */
int sqlite_setting_set(struct engine_connection *connection, const char *name, const char *value,
                       struct error *error);
int sqlite_setting_get(struct engine_connection *connection, const char *name, char *out,
                       size_t size, struct error *error);

/* Sets the busy timeout of a connection (ms). Returns an SQLite code. */
int sqlite_set_busy_timeout(struct engine_connection *connection, uint32_t timeout_ms);

#endif
