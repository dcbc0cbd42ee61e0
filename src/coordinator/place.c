#include "coordinator/place.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the program that runs; false: errno tells why it is not known. */
static bool own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0) {
        return false;
    }
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return true;
}

char *place_of_program(const char *name, struct error *error)
{
    char folder[PATH_MAX];
    if (!own_folder(folder)) {
        error_errno(error, errno, "cannot read /proc/self/exe to find %s", name);
        return NULL;
    }
    char *path = file_join(folder, name);
    if (path == NULL) {
        error_set(error, ERROR_MEMORY, "out of memory");
    } else if (access(path, X_OK) != 0) {
        error_set(error, ERROR_UNAVAILABLE,
                  "%s is not beside pitot: %s is missing or not executable", name, path);
        free(path);
        path = NULL;
    }
    return path;
}

char *place_of_scripts(void)
{
    char folder[PATH_MAX];
    char *joined = own_folder(folder) ? file_join(folder, PITOT_SCRIPTS_FROM_PROGRAMS) : NULL;
    char *installed = joined != NULL ? realpath(joined, NULL) : NULL;
    free(joined);
    return installed != NULL ? installed : strdup("scripts");
}
