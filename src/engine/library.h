/*
 * A library of an engine, opened at run time: its functions by name, and the file in
 * which they really lie. The ABI is declared by the driver, so that no header of an engine is
 * needed to build.
 */
#ifndef PITOT_ENGINE_LIBRARY_H
#define PITOT_ENGINE_LIBRARY_H

#include "engine/engine.h"

struct library_symbol {
    const char *name;
    size_t offset; /* of its pointer in the driver's struct of functions */
    bool required; /* else the pointer stays NULL where the library has it not */
};

struct library_abi {
    const char *name;   /* for messages: "the SQLite C API" */
    const char *driver; /* "sqlite" */
    const struct library_symbol *symbols;
    size_t count;
};

struct library {
    void *handle; /* of dlopen */
    char *named;  /* real path of the file that was asked for */
    char *file;   /* real path of the file in which all functions lie; another when it forwards */
};

/* Opens config->library (RTLD_NOW | RTLD_LOCAL) and fills the driver's struct `functions`.
 * Functions that lie in two files are refused: one copy's state would be handed to the other's
 * code. ERROR_INVALID: no library is named; ERROR_ENGINE: names the file and what is wrong with
 * it. library_close() is needed in every case; `library` is zeroed before. */
int library_open(struct library *library, const struct library_abi *abi,
                 const struct engine_config *config, void *functions, struct error *error);
void library_close(struct library *library);

/* Which call the file of `function` (an address in it) imports to make files durable:
 * "fdatasync", "fsync", or NULL when it imports both or none. No version and no compile option
 * shows that; the dynamic symbols of the loaded file do. */
const char *library_sync_call(const void *function);

#endif
