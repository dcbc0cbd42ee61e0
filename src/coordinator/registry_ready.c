/* Whether all that an engine needs is there. */
#include "base/file.h"
#include "coordinator/registry_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL when `path` is a program that this account may run, else what it is. */
static const char *program_fault(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return "no file";
    }
    return access(path, X_OK) == 0 ? NULL : "may not be run";
}

static bool program_in_path(const char *name)
{
    const char *path = getenv("PATH");
    if (path == NULL) {
        return false;
    }
    for (;;) {
        size_t length = strcspn(path, ":");
        char *folder = length == 0 ? strdup(".") : strndup(path, length);
        char *program = folder == NULL ? NULL : file_join(folder, name);
        bool found = program != NULL && program_fault(program) == NULL;
        free(program);
        free(folder);
        if (found || path[length] == '\0') {
            return found;
        }
        path += length + 1;
    }
}

static char *library_fault(const struct manifest *manifest)
{
    struct stat status;
    if (manifest->library == NULL) {
        return manifest->takes_path
                   ? result_text("it has no library of its own; name one: %s=PATH", manifest->name)
                   : NULL;
    }
    if (stat(manifest->library, &status) != 0) {
        return result_text("its library %s: %s", manifest->library, strerror(errno));
    }
    return S_ISREG(status.st_mode) ? NULL
                                   : result_text("its library %s is no file", manifest->library);
}

static char *needs_fault(const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->needs.count; i++) {
        if (access(manifest->needs.items[i], R_OK) != 0) {
            return result_text("it needs %s: %s", manifest->needs.items[i], strerror(errno));
        }
    }
    return NULL;
}

bool manifest_ready(const struct manifest *manifest, char **why)
{
    char *text = library_fault(manifest);
    if (text == NULL && manifest->command.count > 0) {
        const char *program = manifest->command.items[0];
        if (strchr(program, '/') == NULL) {
            text = program_in_path(program)
                       ? NULL
                       : result_text("its program %s is in no folder of PATH", program);
        } else if (program_fault(program) != NULL) {
            text = result_text("its program %s: %s", program, program_fault(program));
        }
    }
    if (text == NULL) {
        text = needs_fault(manifest);
    }
    bool ready = text == NULL;
    if (why != NULL) {
        *why = text;
    } else {
        free(text);
    }
    return ready;
}
