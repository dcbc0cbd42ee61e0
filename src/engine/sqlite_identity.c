/* What a library with the SQLite C ABI says about itself, and what its readers
 * must know before they believe a number. */
#include "engine/sqlite_library.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sqlite_has_wal_reset_bug(int version_number)
{
    return version_number >= 3007000 && version_number <= 3051002 && version_number != 3044006 &&
           version_number != 3050007;
}

static int no_memory(const char *named, struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory while %s was opened", named);
}

static int add_option(struct engine *engine, const char *text)
{
    char **grown = realloc(engine->compile_options,
                           (engine->compile_option_count + 1) * sizeof *engine->compile_options);
    if (grown == NULL) {
        return ERROR_MEMORY;
    }
    engine->compile_options = grown;
    char *copy = strdup(text);
    if (copy == NULL) {
        return ERROR_MEMORY;
    }
    grown[engine->compile_option_count++] = copy;
    return 0;
}

/* By PRAGMA compile_options, for libraries without the function. */
static int options_by_pragma(struct engine *engine, const char *named, struct error *error)
{
    const struct sqlite_api *api = &engine->api;
    struct sqlite3 *db = NULL;
    struct sqlite3_stmt *statement = NULL;
    int rc = api->open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc == SQLITE_OK) {
        rc = api->prepare_v2(db, "PRAGMA compile_options", -1, &statement, NULL);
    }
    int result = 0;
    while (rc == SQLITE_OK && result == 0 && api->step(statement) == SQLITE_ROW) {
        const unsigned char *text = api->column_text(statement, 0);
        result = text != NULL ? add_option(engine, (const char *)text) : 0;
    }
    if (rc != SQLITE_OK) {
        error_set(error, ERROR_ENGINE, "%s: PRAGMA compile_options failed: %s", named,
                  db != NULL ? api->errmsg(db) : "no connection");
        result = ERROR_ENGINE;
    } else if (result != 0) {
        no_memory(named, error);
    }
    api->finalize(statement);
    api->close(db);
    return result;
}

static int find_options(struct engine *engine, const char *named, struct error *error)
{
    if (engine->api.compileoption_get == NULL) {
        return options_by_pragma(engine, named, error);
    }
    const char *text;
    for (int i = 0; (text = engine->api.compileoption_get(i)) != NULL; i++) {
        if (add_option(engine, text) != 0) {
            return no_memory(named, error);
        }
    }
    return 0;
}

static bool has_option(const struct engine *engine, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < engine->compile_option_count; i++) {
        const char *option = engine->compile_options[i];
        if (strncmp(option, name, length) == 0 &&
            (option[length] == '\0' || option[length] == '=')) {
            return true;
        }
    }
    return false;
}

/* Does nothing after a failure. */
static void warn(struct engine *engine, int *rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void warn(struct engine *engine, int *rc, const char *format, ...)
{
    if (*rc != 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        *rc = ERROR_MEMORY;
    } else {
        engine->warnings[engine->identity.warning_count++] = text;
    }
    va_end(arguments);
}

static int find_warnings(struct engine *engine, const char *named, struct error *error)
{
    int rc = 0;
    if (strcmp(engine->library.file, named) != 0) {
        warn(engine, &rc, "%s forwards to %s: that library is measured", named,
             engine->library.file);
    }
    if (sqlite_has_wal_reset_bug(engine->api.libversion_number())) {
        warn(engine, &rc,
             "SQLite %s can corrupt a WAL database when one connection checkpoints while another "
             "commits (WAL reset; fixed in 3.44.6, 3.50.7 and 3.51.3)",
             engine->identity.version);
    }
    if (has_option(engine, "DEBUG")) {
        warn(engine, &rc, "a debug build of SQLite: these numbers mean nothing");
    }
    if (has_option(engine, "ENABLE_SETLK_TIMEOUT")) {
        warn(engine, &rc,
             "built with ENABLE_SETLK_TIMEOUT, which is not used here: waits for locks follow "
             "SQLite's usual schedule, so that they can be counted");
    }
    return rc != 0 ? no_memory(named, error) : 0;
}

int sqlite_identify(struct engine *engine, struct error *error)
{
    const char *named = engine->library.named;
    const struct sqlite_api *api = &engine->api;
    struct engine_identity *identity = &engine->identity;
    int rc = find_options(engine, named, error);
    if (rc != 0) {
        return rc;
    }
    void *function;
    memcpy(&function, &api->step, sizeof function);
    identity->version = api->libversion();
    identity->source_id = api->sourceid != NULL ? api->sourceid() : NULL;
    identity->library = engine->library.file;
    identity->sync_call = library_sync_call(function);
    identity->compile_options = (const char *const *)engine->compile_options;
    identity->compile_option_count = engine->compile_option_count;
    identity->warnings = (const char *const *)engine->warnings;
    return find_warnings(engine, named, error);
}
