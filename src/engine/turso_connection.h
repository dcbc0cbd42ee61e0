/* Connections and statements of the turso driver; internal to its files. */
#ifndef PITOT_ENGINE_TURSO_CONNECTION_H
#define PITOT_ENGINE_TURSO_CONNECTION_H

#include "engine/turso_library.h"

enum turso_transaction_statement {
    TURSO_BEGIN_READ,
    TURSO_BEGIN_WRITE, /* BEGIN IMMEDIATE, or BEGIN CONCURRENT where the file is in MVCC mode */
    TURSO_COMMIT,
    TURSO_ROLLBACK,
    TURSO_TRANSACTION_STATEMENTS,
};

struct engine_connection {
    const struct turso_api *api;
    struct engine *engine;
    struct turso_connection *handle;
    struct turso_statement *transaction[TURSO_TRANSACTION_STATEMENTS];
    bool concurrent; /* the file is in MVCC mode: several transactions write at once */
    bool async_io;
    uint32_t timeout_ms; /* of waiting for a lock */
    struct engine_waits waits;
    atomic_bool interrupted; /* by another thread, until rollback */
    volatile uint64_t sum;   /* of all that was read: keeps the reading from being optimised out */
    int code;                /* of the last failure */
    char text[512];
};

/* Remembers code and text of a failure and says what became of the call. `message` is the
 * library's and is given back; NULL: `otherwise` is the text. */
enum engine_status turso_failed(struct engine_connection *connection, int code, const char *message,
                                const char *otherwise);

/* True once interrupt() was called, until rollback. */
static inline bool turso_interrupted(struct engine_connection *connection)
{
    return __builtin_expect(atomic_load_explicit(&connection->interrupted, memory_order_relaxed),
                            0);
}

/* Prepares the first statement of `sql`; *tail is the offset behind it. *out NULL: there is none,
 * only blanks and comments. A statement is given back with statement_deinit(). */
enum engine_status turso_compile(struct engine_connection *connection, const char *sql,
                                 struct turso_statement **out, size_t *tail);

/* Steps on after anything but a row or the end: drives input and output, waits for locks. Returns
 * TURSO_ROW or TURSO_DONE; any other code with *message. */
int turso_continue(struct engine_connection *connection, const struct turso_statement *statement,
                   int code, const char **message);

/* Steps to the next row or the end. */
static inline int turso_step(struct engine_connection *connection,
                             const struct turso_statement *statement, const char **message)
{
    int code = connection->api->statement_step(statement, message);
    return __builtin_expect(code == TURSO_ROW || code == TURSO_DONE, 1)
               ? code
               : turso_continue(connection, statement, code, message);
}

/* Runs a statement without parameters to its end, rows thrown away, and resets it. */
enum engine_status turso_run_through(struct engine_connection *connection,
                                     const struct turso_statement *statement);

/* Resets a statement, always needed once it was stepped or bound: takes back what it has not ended.
 * Returns `status`, or what failed in the reset if that is ENGINE_OK. */
enum engine_status turso_reset(struct engine_connection *connection,
                               const struct turso_statement *statement, enum engine_status status);

/* Begin, commit and rollback, also for single statements that need a transaction around them. */
enum engine_status turso_begin(struct engine_connection *connection, bool write);
enum engine_status turso_commit(struct engine_connection *connection);
enum engine_status turso_rollback(struct engine_connection *connection);

/* Rolls back inside of a call that failed: its code and text stay, and so does an interrupt. */
void turso_undo(struct engine_connection *connection);

/* Looks at the journal mode of the file and makes `begin write` what fits it. */
enum engine_status turso_note_journal(struct engine_connection *connection);
void turso_set_busy_timeout(struct engine_connection *connection, uint32_t timeout_ms);

/* engine_ops of turso_statement.c */
enum engine_status turso_exec(struct engine_connection *connection, const char *sql);
enum engine_status turso_prepare(struct engine_connection *connection, const char *sql,
                                 struct engine_statement **out);
void turso_finalize(struct engine_statement *statement);
bool turso_readonly(const struct engine_statement *statement);
uint32_t turso_parameter_count(const struct engine_statement *statement);
enum engine_status turso_run(struct engine_statement *statement, const struct value *values,
                             uint32_t count, bool one, struct engine_effect *effect,
                             const struct engine_sink *sink);

/* engine_ops of turso_setting.c */
int turso_setting_set(struct engine_connection *connection, const char *name, const char *value,
                      struct error *error);
int turso_setting_get(struct engine_connection *connection, const char *name, char *out,
                      size_t size, struct error *error);
/* First column of the first row of `PRAGMA name` as text: 0, or 1 when there is none. */
int turso_read_pragma(struct engine_connection *connection, const char *name, char *out,
                      size_t size, struct error *error);

#endif
