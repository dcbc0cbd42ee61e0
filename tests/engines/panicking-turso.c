/*
 * A library with Turso's C ABI that hands every call to the real one, named by
 * PITOT_TEST_TURSO_LIBRARY, and dies at step number PITOT_TEST_PANIC_AT of the statements that are
 * stepped while several connections are open: as a Rust library built with panic=abort does, with a
 * last word on standard error. All functions are its own, since they must lie in one file.
 */
#include "engine/turso_library.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(result, name, arguments) result turso_##name arguments;
TURSO_REQUIRED(X)
#undef X

static struct turso_api real;
static unsigned long panic_at;
static atomic_ulong steps;
static atomic_int connections;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PITOT_TEST_TURSO_LIBRARY");
    const char *number = getenv("PITOT_TEST_PANIC_AT");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL || number == NULL) {
        fprintf(stderr, "panicking-turso: %s\n", path != NULL ? dlerror() : "names no library");
        return;
    }
    panic_at = strtoul(number, NULL, 10);
#define X(result, name, arguments)                                                                 \
    {                                                                                              \
        void *address = dlsym(library, "turso_" #name);                                            \
        memcpy(&real.name, &address, sizeof address);                                              \
    }
    TURSO_REQUIRED(X)
#undef X
}

int turso_statement_step(const struct turso_statement *statement, const char **message)
{
    if (atomic_load(&connections) > 1 && atomic_fetch_add(&steps, 1) + 1 == panic_at) {
        fprintf(stderr, "thread '<unnamed>' panicked at core/made-up.rs:1:1:\nout of luck\n");
        abort();
    }
    return real.statement_step(statement, message);
}

int turso_database_connect(const struct turso_database *database, struct turso_connection **out,
                           const char **message)
{
    atomic_fetch_add(&connections, 1);
    return real.database_connect(database, out, message);
}

void turso_connection_deinit(const struct turso_connection *connection)
{
    atomic_fetch_sub(&connections, 1);
    real.connection_deinit(connection);
}

/* ---- nothing but forwarded ------------------------------------------------------------ */

#define FORWARD(result, name, declared, passed)                                                    \
    result turso_##name declared                                                                   \
    {                                                                                              \
        return real.name passed;                                                                   \
    }
/* For functions without a result. */
#define PASS(name, declared, passed)                                                               \
    void turso_##name declared                                                                     \
    {                                                                                              \
        real.name passed;                                                                          \
    }
#define STATEMENT const struct turso_statement *statement

FORWARD(const char *, version, (void), ())
FORWARD(int, database_new,
        (const struct turso_database_config *config, const struct turso_database **out,
         const char **message),
        (config, out, message))
FORWARD(int, database_open, (const struct turso_database *database, const char **message),
        (database, message))
PASS(database_deinit, (const struct turso_database *database), (database))
PASS(connection_set_busy_timeout_ms, (const struct turso_connection *connection, int64_t ms),
     (connection, ms))
FORWARD(bool, connection_get_autocommit, (const struct turso_connection *connection), (connection))
FORWARD(int, connection_prepare_first,
        (const struct turso_connection *connection, const char *sql, struct turso_statement **out,
         size_t *tail, const char **message),
        (connection, sql, out, tail, message))
FORWARD(int, connection_close, (const struct turso_connection *connection, const char **message),
        (connection, message))
FORWARD(int, statement_run_io, (STATEMENT, const char **message), (statement, message))
FORWARD(int, statement_reset, (STATEMENT, const char **message), (statement, message))
PASS(statement_deinit, (STATEMENT), (statement))
FORWARD(int64_t, statement_n_change, (STATEMENT), (statement))
FORWARD(int64_t, statement_column_count, (STATEMENT), (statement))
FORWARD(int, statement_row_value_kind, (STATEMENT, size_t i), (statement, i))
FORWARD(int64_t, statement_row_value_bytes_count, (STATEMENT, size_t i), (statement, i))
FORWARD(const char *, statement_row_value_bytes_ptr, (STATEMENT, size_t i), (statement, i))
FORWARD(int64_t, statement_row_value_int, (STATEMENT, size_t i), (statement, i))
FORWARD(double, statement_row_value_double, (STATEMENT, size_t i), (statement, i))
FORWARD(int64_t, statement_parameters_count, (STATEMENT), (statement))
FORWARD(int, statement_bind_positional_null, (STATEMENT, size_t i), (statement, i))
FORWARD(int, statement_bind_positional_int, (STATEMENT, size_t i, int64_t value),
        (statement, i, value))
FORWARD(int, statement_bind_positional_double, (STATEMENT, size_t i, double value),
        (statement, i, value))
FORWARD(int, statement_bind_positional_text, (STATEMENT, size_t i, const char *text, size_t length),
        (statement, i, text, length))
FORWARD(int, statement_bind_positional_blob,
        (STATEMENT, size_t i, const char *bytes, size_t length), (statement, i, bytes, length))
PASS(str_deinit, (const char *text), (text))
