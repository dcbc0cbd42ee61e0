/* Opening a library with the SQLite C ABI. */
#include "engine/sqlite_library.h"

#include <stdlib.h>

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

int sqlite_load(const struct engine_config *config, struct engine **out,
                const struct engine_identity **identity, struct error *error)
{
    if (config->option_count > 0) {
        return error_set(error, ERROR_INVALID,
                         "engine %s has no option '%s': driver sqlite has none", config->name,
                         config->options[0].name);
    }
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while engine %s was opened",
                         config->name);
    }
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
