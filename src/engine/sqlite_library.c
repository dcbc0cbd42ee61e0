/* Opening a library with the SQLite C ABI. */
#include "engine/sqlite_library.h"

#include <stdlib.h>
#include <string.h>

static const struct library_symbol symbols[] = {
#define X(result, name, arguments) {"sqlite3_" #name, offsetof(struct sqlite_api, name), true},
    SQLITE_REQUIRED(X)
#undef X
#define X(result, name, arguments) {"sqlite3_" #name, offsetof(struct sqlite_api, name), false},
        SQLITE_OPTIONAL(X)
#undef X
};

static const struct library_abi abi = {"the SQLite C API", "sqlite", symbols,
                                       sizeof symbols / sizeof symbols[0]};

static int read_options(const struct engine_config *config, bool *fine_wait, struct error *error)
{
    *fine_wait = false;
    for (size_t i = 0; i < config->option_count; i++) {
        const struct engine_option *option = &config->options[i];
        if (strcmp(option->name, "busy") != 0) {
            return error_set(error, ERROR_INVALID,
                             "engine %s has no option '%s': driver sqlite has busy", config->name,
                             option->name);
        }
        *fine_wait = strcmp(option->value, "fine") == 0;
        if (!*fine_wait && strcmp(option->value, "engine") != 0) {
            return error_set(error, ERROR_INVALID,
                             "engine %s: option busy is engine or fine, found '%s'", config->name,
                             option->value);
        }
    }
    return 0;
}

int sqlite_load(const struct engine_config *config, struct engine **out,
                const struct engine_identity **identity, struct error *error)
{
    bool fine_wait;
    int status = read_options(config, &fine_wait, error);
    if (status != 0) {
        return status;
    }
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while engine %s was opened",
                         config->name);
    }
    engine->fine_wait = fine_wait;
    int rc = library_open(&engine->library, &abi, config, &engine->api, error);
    if (rc == 0) {
        rc = sqlite_identify(engine, error);
    }
    if (rc != 0) {
        sqlite_unload(engine);
        return rc;
    }
    *out = engine;
    *identity = &engine->identity;
    return 0;
}

void sqlite_unload(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    if (engine->library.handle != NULL && engine->api.shutdown != NULL) {
        engine->api.shutdown();
    }
    library_close(&engine->library);
    for (size_t i = 0; i < engine->compile_option_count; i++) {
        free(engine->compile_options[i]);
    }
    free(engine->compile_options);
    for (size_t i = 0; i < sizeof engine->warnings / sizeof engine->warnings[0]; i++) {
        free(engine->warnings[i]);
    }
    free(engine);
}
