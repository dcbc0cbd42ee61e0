/* What a library with Turso's C ABI says about itself. The C ABI and the engine under it are two
 * packages with a version each: turso_version() is that of the first, the SQL function that of the
 * engine, which is what is measured. */
#include "engine/turso_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the text in the first column of the one row. */
static int take_version(struct engine *engine, const struct turso_statement *statement, int code)
{
    const struct turso_api *api = &engine->api;
    if (code != TURSO_ROW || api->statement_row_value_kind(statement, 0) != TURSO_TYPE_TEXT) {
        return ERROR_ENGINE;
    }
    const char *text = api->statement_row_value_bytes_ptr(statement, 0);
    int64_t length = api->statement_row_value_bytes_count(statement, 0);
    if (text == NULL || length <= 0 || (size_t)length >= sizeof engine->version) {
        return ERROR_ENGINE;
    }
    memcpy(engine->version, text, (size_t)length);
    engine->version[length] = '\0';
    return 0;
}

static int ask_version(struct engine *engine, const struct turso_connection *connection,
                       struct error *error)
{
    const struct turso_api *api = &engine->api;
    const char *message = NULL;
    struct turso_statement *statement = NULL;
    size_t tail = 0;
    int code = api->connection_prepare_first(connection, "SELECT turso_version()", &statement,
                                             &tail, &message);
    if (code == TURSO_OK && statement != NULL) {
        code = api->statement_step(statement, &message);
    }
    int rc = statement != NULL ? take_version(engine, statement, code) : ERROR_ENGINE;
    if (rc != 0) {
        error_set(error, ERROR_ENGINE,
                  "%s does not tell its version: SELECT turso_version() gave %s (code %d)",
                  engine->library.named, message != NULL ? message : "no text", code);
    }
    api->str_deinit(message);
    api->statement_deinit(statement);
    return rc;
}

static int find_version(struct engine *engine, struct error *error)
{
    const struct turso_api *api = &engine->api;
    const struct turso_options options = {.async_io = false};
    const struct turso_database *database = NULL;
    struct turso_connection *connection = NULL;
    const char *message = NULL;
    int rc = turso_open_database(api, &options, ":memory:", &database, error);
    if (rc != 0) {
        error_prefix(error, "%s", engine->library.named);
        return rc;
    }
    int code = api->database_connect(database, &connection, &message);
    if (code != TURSO_OK) {
        rc = error_set(error, ERROR_ENGINE, "%s: no connection to a database in memory: %s (%d)",
                       engine->library.named, message != NULL ? message : "no reason given", code);
        api->str_deinit(message);
    } else {
        rc = ask_version(engine, connection, error);
        api->connection_deinit(connection);
    }
    api->database_deinit(database);
    return rc;
}

/* The package of the C ABI may be of the version that was named while the engine under it is not:
 * its own dependencies are not pinned. */
static int check_version(const struct engine *engine, struct error *error)
{
    const char *named = engine->options.version;
    if (named == NULL || strcmp(named, engine->version) == 0) {
        return 0;
    }
    return error_set(error, ERROR_ENGINE,
                     "%s is Turso %s (its C ABI says %s), and version %s was named",
                     engine->library.named, engine->version, engine->api.version(), named);
}

static int no_memory(const struct engine *engine, struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory while %s was opened",
                     engine->library.named);
}

static int find_warnings(struct engine *engine, struct error *error)
{
    struct engine_identity *identity = &engine->identity;
    const char *abi_version = engine->api.version();
    char **next = engine->warnings;
    if (strcmp(engine->library.file, engine->library.named) != 0) {
        if (asprintf(next, "%s forwards to %s: that library is measured", engine->library.named,
                     engine->library.file) < 0) {
            return no_memory(engine, error);
        }
        identity->warning_count++;
        next++;
    }
    if (strcmp(abi_version, engine->version) != 0) {
        if (asprintf(next,
                     "Turso %s under a C ABI of version %s: built from packages that do "
                     "not belong together",
                     engine->version, abi_version) < 0) {
            return no_memory(engine, error);
        }
        identity->warning_count++;
    }
    return 0;
}

/* The options in force stand where other engines have their compile options: they change the
 * numbers as those do. */
static int tell_options(struct engine *engine, struct error *error)
{
    struct engine_identity *identity = &engine->identity;
    char **next = engine->option_texts;
    if (asprintf(next, "async_io=%d", engine->options.async_io) < 0) {
        return no_memory(engine, error);
    }
    identity->compile_option_count++;
    if (asprintf(next + 1, "vfs=%s",
                 engine->options.vfs != NULL ? engine->options.vfs : "default") < 0) {
        return no_memory(engine, error);
    }
    identity->compile_option_count++;
    return 0;
}

int turso_identify(struct engine *engine, struct error *error)
{
    struct engine_identity *identity = &engine->identity;
    void *function;
    memcpy(&function, &engine->api.statement_step, sizeof function);
    int rc = find_version(engine, error);
    if (rc == 0) {
        rc = check_version(engine, error);
    }
    identity->version = engine->version;
    identity->library = engine->library.file;
    identity->sync_call = library_sync_call(function);
    identity->compile_options = (const char *const *)engine->option_texts;
    identity->warnings = (const char *const *)engine->warnings;
    /* Without async_io the library waits by itself and tells nobody. */
    identity->lacks = engine->options.async_io ? 0 : ENGINE_COUNTS_WAITING;
    if (rc == 0) {
        rc = tell_options(engine, error);
    }
    return rc == 0 ? find_warnings(engine, error) : rc;
}
