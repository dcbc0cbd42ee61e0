/* Opening a library with Turso's C ABI: its options, and what it says about itself. */
#include "engine/turso_library.h"

#include "core/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct library_symbol symbols[] = {
#define X(result, name, arguments) {"turso_" #name, offsetof(struct turso_api, name), true},
    TURSO_REQUIRED(X)
#undef X
};

static const struct library_abi abi = {"Turso's C ABI", "turso", symbols,
                                       sizeof symbols / sizeof symbols[0]};

/* ---- options ----------------------------------------------------------------------- */

static int take_async_io(struct turso_options *options, const char *value)
{
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        return ERROR_INVALID;
    }
    options->async_io = value[0] == '1';
    return 0;
}

static int take_option(struct turso_options *options, const struct engine_config *config,
                       const struct engine_option *option, struct error *error)
{
    if (strcmp(option->name, "version") == 0) {
        options->version = option->value;
    } else if (strcmp(option->name, "vfs") == 0) {
        options->vfs = option->value; /* the library knows which there are, and says so */
    } else if (strcmp(option->name, "async_io") != 0) {
        return error_set(error, ERROR_INVALID,
                         "engine %s has no option '%s': driver turso has version, vfs and async_io",
                         config->name, option->name);
    } else if (take_async_io(options, option->value) != 0) {
        return error_set(error, ERROR_INVALID,
                         "option async_io of engine %s is '%s': 0 or 1 was expected", config->name,
                         option->value);
    }
    return 0;
}

static int take_options(struct engine *engine, const struct engine_config *config,
                        struct error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < config->option_count; i++) {
        rc = take_option(&engine->options, config, &config->options[i], error);
    }
    return rc;
}

/* ---- a database -------------------------------------------------------------------- */

/* With async_io the library may want input and output before a database is open, and has no call
 * to drive it: asking again is all that can be done, and not for ever. */
#define OPEN_PATIENCE_NS (5 * NS_PER_S)

static int failed_open(const struct turso_api *api, int code, const char *message, const char *path,
                       struct error *error)
{
    error_set(error, ERROR_ENGINE, "database %s cannot be opened: %s (code %d)", path,
              message != NULL ? message : "no reason given", code);
    api->str_deinit(message);
    return ERROR_ENGINE;
}

int turso_open_database(const struct turso_api *api, const struct turso_options *options,
                        const char *path, const struct turso_database **out, struct error *error)
{
    const struct turso_database_config config = {
        .async_io = options->async_io, .path = path, .vfs = options->vfs};
    const struct turso_database *database = NULL;
    const char *message = NULL;
    int code = api->database_new(&config, &database, &message);
    if (code != TURSO_OK) {
        return failed_open(api, code, message, path, error);
    }
    uint64_t until = clock_now_ns() + OPEN_PATIENCE_NS;
    do {
        code = api->database_open(database, &message);
    } while (code == TURSO_IO && clock_now_ns() < until);
    if (code == TURSO_OK) {
        *out = database;
        return 0;
    }
    int rc = code != TURSO_IO ? failed_open(api, code, message, path, error)
                              : error_set(error, ERROR_ENGINE,
                                          "database %s cannot be opened: the library waits for "
                                          "input and output that it gives no way to drive (vfs %s "
                                          "with async_io=1)",
                                          path, options->vfs != NULL ? options->vfs : "default");
    api->database_deinit(database);
    return rc;
}

/* ---- load -------------------------------------------------------------------------- */

int turso_load(const struct engine_config *config, struct engine **out,
               const struct engine_identity **identity, struct error *error)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while engine %s was opened",
                         config->name);
    }
    pthread_mutex_init(&engine->lock, NULL);
    int rc = take_options(engine, config, error);
    if (rc == 0) {
        rc = library_open(&engine->library, &abi, config, &engine->api, error);
    }
    if (rc == 0) {
        rc = turso_identify(engine, error);
    }
    if (rc != 0) {
        turso_unload(engine);
        return rc;
    }
    *out = engine;
    *identity = &engine->identity;
    return 0;
}

void turso_unload(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    library_close(&engine->library);
    for (size_t i = 0; i < engine->identity.compile_option_count; i++) {
        free(engine->option_texts[i]);
    }
    for (size_t i = 0; i < engine->identity.warning_count; i++) {
        free(engine->warnings[i]);
    }
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}
