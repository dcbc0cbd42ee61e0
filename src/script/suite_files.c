#include "script/suite_internal.h"

#include "base/embedded.h"
#include "base/file.h"
#include "script/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUITE_FILE_MAX = 16 << 20 };

char *suite_files_path(const struct suite_files *files, const char *name)
{
    return file_join(files->folder != NULL ? files->folder : files->builtin, name);
}

static const struct embedded_file *embedded_find(const char *path)
{
    for (const struct embedded_file *file = embedded_workloads; file->path != NULL; file++) {
        if (strcmp(file->path, path) == 0) {
            return file;
        }
    }
    return NULL;
}

static int missing(const struct suite_files *files, const char *path, const char *name,
                   struct error *error)
{
    if (strcmp(name, "suite.json") == 0) {
        return error_set(error, ERROR_INVALID,
                         "%s: no such file: a workload is a folder with suite.json, schema.sql, "
                         "load.sql and one file a script",
                         path);
    }
    return error_set(error, ERROR_INVALID, "%s: no such file, but %s", path,
                     strcmp(name, "schema.sql") == 0 || strcmp(name, "load.sql") == 0
                         ? "every workload has one"
                     : files->folder != NULL ? "suite.json lists it"
                                             : "the built-in suite lists it");
}

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "workload: out of memory");
}

int suite_files_read(const struct suite_files *files, const char *name, struct buffer *out,
                     struct error *error)
{
    char *path = suite_files_path(files, name);
    if (path == NULL) {
        return no_memory(error);
    }
    int rc = 0;
    if (files->folder == NULL) {
        const struct embedded_file *file = embedded_find(path);
        if (file == NULL) {
            rc = missing(files, path, name, error);
        } else {
            buffer_append(out, file->bytes, file->length);
        }
    } else if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        rc = missing(files, path, name, error);
    } else {
        rc = file_read(path, SUITE_FILE_MAX, out, error);
    }
    if (rc == 0 && out->failed) {
        rc = no_memory(error);
    }
    free(path);
    return rc;
}

static bool is_script(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && name[0] != '.' && strcmp(name + length - 4, ".sql") == 0;
}

static bool name_add(char ***names, size_t *count, const char *name)
{
    char **grown = array_grow(*names, *count, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *names = grown;
    grown[*count] = strdup(name);
    if (grown[*count] == NULL) {
        return false;
    }
    (*count)++;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_folder(const char *folder, char ***names, size_t *count, struct error *error)
{
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        return error_errno(error, errno, "cannot list %s", folder);
    }
    int rc = 0;
    const struct dirent *entry;
    while (rc == 0 && (errno = 0, entry = readdir(directory)) != NULL) {
        if (is_script(entry->d_name) && !name_add(names, count, entry->d_name)) {
            rc = no_memory(error);
        }
    }
    if (rc == 0 && errno != 0) {
        rc = error_errno(error, errno, "cannot list %s", folder);
    }
    closedir(directory);
    if (rc == 0 && *count > 1) {
        qsort(*names, *count, sizeof **names, compare_names);
    }
    return rc;
}

int suite_files_list(const struct suite_files *files, char ***names, size_t *count,
                     struct error *error)
{
    *names = NULL;
    *count = 0;
    if (files->folder != NULL) {
        return list_folder(files->folder, names, count, error);
    }
    size_t prefix = strlen(files->builtin);
    for (const struct embedded_file *file = embedded_workloads; file->path != NULL; file++) {
        if (strncmp(file->path, files->builtin, prefix) == 0 && file->path[prefix] == '/' &&
            is_script(file->path + prefix + 1) &&
            !name_add(names, count, file->path + prefix + 1)) {
            return no_memory(error);
        }
    }
    return 0;
}
