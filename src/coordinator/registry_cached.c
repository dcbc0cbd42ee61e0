/* NAME@VERSION: further versions of an engine, found in the folder of built engines. */
#include "coordinator/registry_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int manifest_of_version(const struct manifest *base, const char *version, struct manifest *out,
                        struct error *error)
{
    const char *slash = strrchr(base->file, '/');
    char *folder = NULL;
    /* "built in" is no path. */
    if (slash != NULL && (folder = strndup(base->file, (size_t)(slash - base->file))) == NULL) {
        *out = (struct manifest){.name = NULL};
        return error_set(error, ERROR_MEMORY, "out of memory while reading a manifest");
    }
    const struct manifest_source source = {.bytes = base->text,
                                           .length = strlen(base->text),
                                           .file = base->file,
                                           .stem = base->name,
                                           .version = version,
                                           .folder = folder};
    int status = manifest_parse(&source, out, error);
    free(folder);
    return status;
}

/* `entry` is a file's name in the folder of built engines. */
static int add_version(struct registry *registry, size_t index, const char *entry,
                       struct error *error)
{
    const struct manifest *base = &registry->manifests.items[index];
    size_t length = strlen(base->name);
    if (strncmp(entry, base->name, length) != 0 || entry[length] != '@' ||
        !version_valid(entry + length + 1)) {
        return 0;
    }
    struct manifest manifest;
    int status = manifest_of_version(base, entry + length + 1, &manifest, error);
    if (status != 0) {
        return status;
    }
    char *why = NULL;
    if (manifest_ready(&manifest, &why)) {
        return registry_add(registry, &manifest, error);
    }
    free(why);
    manifest_release(&manifest);
    return 0;
}

int registry_add_versions(struct registry *registry, struct error *error)
{
    char *folder = registry_cache_folder();
    if (folder == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while reading the manifests");
    }
    int status = 0;
    DIR *entries = opendir(folder);
    if (entries == NULL && errno != ENOENT && errno != ENOTDIR) {
        status = registry_warn(&registry->problems, error, NULL,
                               "the folder of built engines %s cannot be read: %s", folder,
                               strerror(errno));
    }
    /* Those that are added behind take no further versions. */
    size_t count = registry->manifests.count;
    const struct dirent *entry;
    while (entries != NULL && status == 0 && (entry = readdir(entries)) != NULL) {
        for (size_t i = 0; i < count && status == 0; i++) {
            if (registry->manifests.items[i].takes_version) {
                status = add_version(registry, i, entry->d_name, error);
            }
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    free(folder);
    return status;
}
