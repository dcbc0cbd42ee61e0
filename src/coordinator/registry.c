#include "coordinator/registry.h"

#include "base/embedded.h"
#include "base/file.h"
#include "coordinator/registry_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More folders than anyone lists; the rest is a problem that is told. */
enum { FOLDERS_MAX = 64 };

struct folder_identity {
    dev_t device;
    ino_t inode;
};

struct loading {
    struct registry *registry;
    struct folder_identity seen[FOLDERS_MAX];
    size_t seen_count;
};

static int out_of_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory while reading the manifests");
}

int registry_warn(result_warnings *warnings, struct error *error, const char *subject,
                  const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    char *copy = subject == NULL ? NULL : strdup(subject);
    struct result_warning *warning = NULL;
    if (length >= 0 && (subject == NULL || copy != NULL)) {
        warning = result_list_add(warnings);
    }
    if (warning == NULL) {
        if (length >= 0) {
            free(text);
        }
        free(copy);
        return out_of_memory(error);
    }
    warning->subject = copy;
    warning->text = text;
    return 0;
}

/* $VARIABLE/below, or ~/fallback/below where the variable is unset or, against the XDG base
 * directory specification, not absolute. New string. */
static char *user_folder(const char *variable, const char *fallback, const char *below)
{
    const char *base = getenv(variable);
    if (base != NULL && *base == '/') {
        return file_join(base, below);
    }
    const char *home = getenv("HOME");
    if (home == NULL || *home != '/') {
        const struct passwd *account = getpwuid(getuid());
        home = account != NULL && account->pw_dir != NULL ? account->pw_dir : "/";
    }
    char *folder = file_join(home, fallback);
    char *path = folder == NULL ? NULL : file_join(folder, below);
    free(folder);
    return path;
}

char *registry_cache_folder(void)
{
    return user_folder("XDG_CACHE_HOME", ".cache", "pitot/engines");
}

const struct manifest *registry_find(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->manifests.count; i++) {
        if (strcmp(registry->manifests.items[i].name, name) == 0) {
            return &registry->manifests.items[i];
        }
    }
    return NULL;
}

int registry_add(struct registry *registry, struct manifest *manifest, struct error *error)
{
    const struct manifest *other = registry_find(registry, manifest->name);
    if (other != NULL) {
        int status = registry_warn(&registry->problems, error, manifest->name,
                                   "%s: there is another engine of this name (%s); give yours "
                                   "another name, in the file and as the file's name",
                                   manifest->file, other->file);
        manifest_release(manifest);
        return status;
    }
    struct manifest *item = result_list_add(&registry->manifests);
    if (item == NULL) {
        manifest_release(manifest);
        return out_of_memory(error);
    }
    *item = *manifest;
    return 0;
}

/* File name without its ".json", as a new string. */
static char *stem_of(const char *name)
{
    return strndup(name, strlen(name) - strlen(".json"));
}

static int load_embedded(struct registry *registry, struct error *error)
{
    for (const struct embedded_file *file = embedded_manifests; file->path != NULL; file++) {
        struct manifest manifest;
        char *stem = stem_of(file->path);
        char *name = result_text("engines/%s (built in)", file->path);
        int status = stem == NULL || name == NULL ? out_of_memory(error) : 0;
        if (status == 0) {
            const struct manifest_source source = {
                .bytes = file->bytes, .length = file->length, .file = name, .stem = stem};
            status = manifest_parse(&source, &manifest, error);
        }
        if (status == 0) {
            status = registry_add(registry, &manifest, error);
        }
        free(stem);
        free(name);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int load_file(struct registry *registry, const char *folder, const char *name,
                     struct error *error)
{
    struct manifest manifest;
    struct buffer bytes;
    struct error problem = ERROR_INIT;
    buffer_init(&bytes);
    char *stem = stem_of(name);
    char *path = file_join(folder, name);
    int status = stem == NULL || path == NULL ? out_of_memory(error) : 0;
    if (status != 0) {
        goto out;
    }
    status = file_read(path, MANIFEST_MAX, &bytes, &problem);
    if (status == 0) {
        const struct manifest_source source = {.bytes = bytes.data,
                                               .length = bytes.length,
                                               .file = path,
                                               .stem = stem,
                                               .folder = folder};
        status = manifest_parse(&source, &manifest, &problem);
    }
    if (status == 0) {
        status = registry_add(registry, &manifest, error);
    } else {
        status = registry_warn(&registry->problems, error, stem, "%s", problem.message);
    }
out:
    buffer_release(&bytes);
    free(stem);
    free(path);
    return status;
}

static int is_manifest(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > strlen(".json") &&
           strcmp(entry->d_name + length - strlen(".json"), ".json") == 0;
}

/* Not alphasort(), whose order depends on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* True when the folder was read before under this or another name. */
static bool seen_before(struct loading *loading, const struct stat *status)
{
    for (size_t i = 0; i < loading->seen_count; i++) {
        if (loading->seen[i].device == status->st_dev && loading->seen[i].inode == status->st_ino) {
            return true;
        }
    }
    return false;
}

/* `variable` names what listed the folder; NULL: nobody did, and it may be missing. */
static int load_folder(struct loading *loading, const char *folder, const char *variable,
                       struct error *error)
{
    struct registry *registry = loading->registry;
    struct stat status;
    char real[PATH_MAX];
    if (stat(folder, &status) != 0 || realpath(folder, real) == NULL) {
        if (variable == NULL && (errno == ENOENT || errno == ENOTDIR)) {
            return 0;
        }
        return registry_warn(&registry->problems, error, NULL, "the folder of manifests %s%s%s: %s",
                             folder, variable == NULL ? "" : ", named in ",
                             variable == NULL ? "" : variable, strerror(errno));
    }
    if (seen_before(loading, &status)) {
        return 0;
    }
    if (loading->seen_count == FOLDERS_MAX) {
        return registry_warn(&registry->problems, error, NULL,
                             "the folder of manifests %s is not read: there are more than %d",
                             folder, FOLDERS_MAX);
    }
    loading->seen[loading->seen_count++] =
        (struct folder_identity){.device = status.st_dev, .inode = status.st_ino};

    struct dirent **entries = NULL;
    int count = scandir(real, &entries, is_manifest, by_name);
    if (count < 0) {
        return registry_warn(&registry->problems, error, NULL,
                             "the folder of manifests %s cannot be read: %s", real,
                             strerror(errno));
    }
    int result = 0;
    for (int i = 0; i < count; i++) {
        if (result == 0) {
            result = load_file(registry, real, entries[i]->d_name, error);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int load_listed(struct loading *loading, const char *list, struct error *error)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        if (length > 0) {
            char *folder = strndup(list, length);
            int status = folder == NULL ? out_of_memory(error)
                                        : load_folder(loading, folder, "PITOT_ENGINES", error);
            free(folder);
            if (status != 0) {
                return status;
            }
        }
        list += length + (list[length] == ':');
    }
    return 0;
}

static int compare_manifests(const void *a, const void *b)
{
    return strcmp(((const struct manifest *)a)->name, ((const struct manifest *)b)->name);
}

int registry_load(struct registry *registry, struct error *error)
{
    *registry = (struct registry){.manifests = {.items = NULL}};
    struct loading loading = {.registry = registry};
    char *folder = NULL;
    int status = load_embedded(registry, error);
    if (status == 0) {
        status = load_listed(&loading, getenv("PITOT_ENGINES"), error);
    }
    if (status == 0) {
        folder = user_folder("XDG_CONFIG_HOME", ".config", "pitot/engines");
        status = folder == NULL ? out_of_memory(error) : load_folder(&loading, folder, NULL, error);
    }
    free(folder);
    if (status == 0) {
        status = registry_add_versions(registry, error);
    }
    if (status != 0) {
        registry_release(registry);
        return status;
    }
    if (registry->manifests.count > 0) {
        qsort(registry->manifests.items, registry->manifests.count,
              sizeof *registry->manifests.items, compare_manifests);
    }
    return 0;
}

void registry_release(struct registry *registry)
{
    for (size_t i = 0; i < registry->manifests.count; i++) {
        manifest_release(&registry->manifests.items[i]);
    }
    free(registry->manifests.items);
    for (size_t i = 0; i < registry->problems.count; i++) {
        free(registry->problems.items[i].subject);
        free(registry->problems.items[i].text);
    }
    free(registry->problems.items);
    *registry = (struct registry){.manifests = {.items = NULL}};
}
