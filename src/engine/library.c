/* Opening an engine's library: symbols, and the file in which they really lie. */
#include "engine/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* An object pointer becomes a function pointer by its bytes: POSIX promises that
 * dlsym's result allows it, ISO C has no cast for it. */
static void *symbol_get(const void *functions, const struct library_symbol *symbol)
{
    void *address;
    memcpy(&address, (const char *)functions + symbol->offset, sizeof address);
    return address;
}

static int find_symbols(struct library *library, const struct library_abi *abi, void *functions,
                        struct error *error)
{
    size_t missing = 0;
    const char *first = NULL;
    for (size_t i = 0; i < abi->count; i++) {
        const struct library_symbol *symbol = &abi->symbols[i];
        void *address = dlsym(library->handle, symbol->name);
        memcpy((char *)functions + symbol->offset, &address, sizeof address);
        if (address == NULL && symbol->required) {
            missing++;
            first = first != NULL ? first : symbol->name;
        }
    }
    if (missing == 1) {
        return error_set(error, ERROR_ENGINE,
                         "%s has no function %s: a library with %s was expected", library->named,
                         first, abi->name);
    }
    if (missing > 1) {
        return error_set(error, ERROR_ENGINE,
                         "%s has no function %s (nor %zu others of the %zu that are called): "
                         "a library with %s was expected",
                         library->named, first, missing - 1, abi->count, abi->name);
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

/* A library may forward to another. That is allowed if all functions lie in one file. */
static int find_file(struct library *library, const struct library_abi *abi, const void *functions,
                     struct error *error)
{
    const char *first = NULL;
    for (size_t i = 0; i < abi->count; i++) {
        void *address = symbol_get(functions, &abi->symbols[i]);
        if (address == NULL) {
            continue;
        }
        char *file = file_of(address);
        if (file == NULL) {
            return error_set(error, ERROR_ENGINE, "%s: the file of function %s cannot be found",
                             library->named, abi->symbols[i].name);
        }
        if (library->file == NULL) {
            library->file = file;
            first = abi->symbols[i].name;
            continue;
        }
        bool same = strcmp(library->file, file) == 0;
        if (!same) {
            error_set(error, ERROR_ENGINE,
                      "%s mixes two libraries: %s lies in %s, %s in %s; all functions must lie "
                      "in one file",
                      library->named, first, library->file, abi->symbols[i].name, file);
        }
        free(file);
        if (!same) {
            return ERROR_ENGINE;
        }
    }
    return 0;
}

int library_open(struct library *library, const struct library_abi *abi,
                 const struct engine_config *config, void *functions, struct error *error)
{
    if (config->library == NULL) {
        return error_set(error, ERROR_INVALID, "engine %s names no library for driver %s",
                         config->name, abi->driver);
    }
    library->named = realpath(config->library, NULL);
    if (library->named == NULL) {
        int reason = errno;
        return error_set(error, ERROR_ENGINE, "library %s of engine %s: %s", config->library,
                         config->name, strerror(reason));
    }
    library->handle = dlopen(library->named, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL) {
        const char *why = dlerror();
        return error_set(error, ERROR_ENGINE, "%s cannot be opened as a library: %s",
                         library->named, why != NULL ? why : "no reason given");
    }
    int rc = find_symbols(library, abi, functions, error);
    return rc != 0 ? rc : find_file(library, abi, functions, error);
}

void library_close(struct library *library)
{
    if (library->handle != NULL) {
        dlclose(library->handle);
    }
    free(library->named);
    free(library->file);
    memset(library, 0, sizeof *library);
}

/* ---- the sync call ---------------------------------------------------------------- */

/* Dynamic section of the loaded file that holds an address. */
static const struct link_map *map_of(const void *address)
{
    Dl_info info;
    void *map = NULL;
    return dladdr1(address, &info, &map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

/* Addresses in a dynamic section are relocated by glibc and not by musl. */
static const void *dynamic_address(const struct link_map *map, const ElfW(Dyn) * entry)
{
    uintptr_t value = (uintptr_t)entry->d_un.d_ptr;
    uintptr_t base = (uintptr_t)map->l_addr;
    return (const void *)(value < base ? value + base : value); // NOLINT: an address by its nature
}

const char *library_sync_call(const void *function)
{
    const struct link_map *map = map_of(function);
    if (map == NULL || map->l_ld == NULL) {
        return NULL;
    }
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const uint32_t *hash = NULL;
    const uint32_t *gnu_hash = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            symbols = dynamic_address(map, entry);
            break;
        case DT_STRTAB:
            strings = dynamic_address(map, entry);
            break;
        case DT_HASH:
            hash = dynamic_address(map, entry);
            break;
        case DT_GNU_HASH:
            gnu_hash = dynamic_address(map, entry);
            break;
        default:
            break;
        }
    }
    if (symbols == NULL || strings == NULL || (hash == NULL && gnu_hash == NULL)) {
        return NULL;
    }
    /* Imports stand before the first symbol of the GNU hash table; the second word
     * of either table says how many symbols there are to look at. */
    uint32_t count = gnu_hash != NULL ? gnu_hash[1] : hash[1];
    bool calls_fsync = false;
    bool calls_fdatasync = false;
    for (uint32_t i = 1; i < count; i++) {
        if (symbols[i].st_shndx == SHN_UNDEF) {
            const char *name = strings + symbols[i].st_name;
            calls_fsync |= strcmp(name, "fsync") == 0;
            calls_fdatasync |= strcmp(name, "fdatasync") == 0;
        }
    }
    if (calls_fsync == calls_fdatasync) {
        return NULL;
    }
    return calls_fsync ? "fsync" : "fdatasync";
}
