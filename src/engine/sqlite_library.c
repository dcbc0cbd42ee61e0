/* Opening the library: symbols, and the file in which they really lie. */
#include "engine/sqlite_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t offset; /* of its pointer in struct sqlite_api */
    bool required;
};

static const struct symbol symbols[] = {
#define X(result, name, arguments) {"sqlite3_" #name, offsetof(struct sqlite_api, name), true},
    SQLITE_REQUIRED(X)
#undef X
#define X(result, name, arguments) {"sqlite3_" #name, offsetof(struct sqlite_api, name), false},
        SQLITE_OPTIONAL(X)
#undef X
};

enum { SYMBOL_COUNT = sizeof symbols / sizeof symbols[0] };

/* An object pointer becomes a function pointer by its bytes: POSIX promises that
 * dlsym's result allows it, ISO C has no cast for it. */
static void *symbol_get(const struct sqlite_api *api, const struct symbol *symbol)
{
    void *address;
    memcpy(&address, (const char *)api + symbol->offset, sizeof address);
    return address;
}

static int find_symbols(struct engine *engine, const char *path, struct error *error)
{
    size_t missing = 0;
    const char *first = NULL;
    for (size_t i = 0; i < SYMBOL_COUNT; i++) {
        void *address = dlsym(engine->handle, symbols[i].name);
        memcpy((char *)&engine->api + symbols[i].offset, &address, sizeof address);
        if (address == NULL && symbols[i].required) {
            missing++;
            first = first != NULL ? first : symbols[i].name;
        }
    }
    if (missing == 1) {
        return error_set(error, ERROR_ENGINE,
                         "%s has no function %s: a library with the SQLite C API was expected",
                         path, first);
    }
    if (missing > 1) {
        return error_set(error, ERROR_ENGINE,
                         "%s has no function %s (nor %zu others of the %d that are called): "
                         "a library with the SQLite C API was expected",
                         path, first, missing - 1, (int)SYMBOL_COUNT);
    }
    return 0;
}

/* Real path of the file of an address, a new string; NULL: no memory or not known. */
static char *file_of(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return NULL;
    }
    char *real = realpath(info.dli_fname, NULL);
    return real != NULL ? real : strdup(info.dli_fname);
}

/* A library may forward to another. That is allowed if all functions lie in one
 * file: with two, one copy's state would be handed to the other's code. */
static int find_file(struct engine *engine, const char *path, struct error *error)
{
    const char *first = NULL;
    for (size_t i = 0; i < SYMBOL_COUNT; i++) {
        void *address = symbol_get(&engine->api, &symbols[i]);
        if (address == NULL) {
            continue;
        }
        char *file = file_of(address);
        if (file == NULL) {
            return error_set(error, ERROR_ENGINE, "%s: the file of function %s cannot be found",
                             path, symbols[i].name);
        }
        if (engine->file == NULL) {
            engine->file = file;
            first = symbols[i].name;
            continue;
        }
        bool same = strcmp(engine->file, file) == 0;
        if (!same) {
            error_set(error, ERROR_ENGINE,
                      "%s mixes two libraries: %s lies in %s, %s in %s; all functions must lie "
                      "in one file",
                      path, first, engine->file, symbols[i].name, file);
        }
        free(file);
        if (!same) {
            return ERROR_ENGINE;
        }
    }
    return 0;
}

static int open_library(struct engine *engine, const char *path, struct error *error)
{
    engine->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (engine->handle == NULL) {
        const char *why = dlerror();
        return error_set(error, ERROR_ENGINE, "%s cannot be opened as a library: %s", path,
                         why != NULL ? why : "no reason given");
    }
    int rc = find_symbols(engine, path, error);
    return rc != 0 ? rc : find_file(engine, path, error);
}

int sqlite_load(const struct engine_config *config, struct engine **out,
                const struct engine_identity **identity, struct error *error)
{
    if (config->library == NULL) {
        return error_set(error, ERROR_INVALID, "engine %s names no library for driver sqlite",
                         config->name);
    }
    if (config->option_count > 0) {
        return error_set(error, ERROR_INVALID,
                         "engine %s has no option '%s': driver sqlite has none", config->name,
                         config->options[0].name);
    }
    char *path = realpath(config->library, NULL);
    if (path == NULL) {
        int reason = errno;
        return error_set(error, ERROR_ENGINE, "library %s of engine %s: %s", config->library,
                         config->name, strerror(reason));
    }
    int rc = 0;
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        rc = error_set(error, ERROR_MEMORY, "out of memory while %s was opened", path);
        goto out;
    }
    rc = open_library(engine, path, error);
    if (rc == 0) {
        rc = sqlite_identify(engine, path, error);
    }
    if (rc != 0) {
        goto out;
    }
    *out = engine;
    *identity = &engine->identity;
    engine = NULL;
out:
    sqlite_unload(engine);
    free(path);
    return rc;
}

void sqlite_unload(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    if (engine->handle != NULL) {
        if (engine->api.shutdown != NULL) {
            engine->api.shutdown();
        }
        dlclose(engine->handle);
    }
    for (size_t i = 0; i < engine->compile_option_count; i++) {
        free(engine->compile_options[i]);
    }
    free(engine->compile_options);
    for (size_t i = 0; i < sizeof engine->warnings / sizeof engine->warnings[0]; i++) {
        free(engine->warnings[i]);
    }
    free(engine->file);
    free(engine);
}
