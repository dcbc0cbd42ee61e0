/* What the files of the registry share: reading one manifest, and versions. */
#ifndef PITOT_COORDINATOR_REGISTRY_INTERNAL_H
#define PITOT_COORDINATOR_REGISTRY_INTERNAL_H

#include "coordinator/registry.h"

/* Bytes of a manifest at most. */
#define MANIFEST_MAX (1u << 20)

struct manifest_source {
    const char *bytes;
    size_t length;
    const char *file;    /* named in messages */
    const char *stem;    /* file name without ".json": what `name` must be */
    const char *version; /* in place of the file's: makes NAME@VERSION; NULL: as the file says */
    const char *folder;  /* relative paths start here; NULL: built in, where none is allowed */
};

/* Fills `out`, which need not be initialised and is empty after a failure. ERROR_INVALID names
 * the file, the key, what was found and what would be right. */
int manifest_parse(const struct manifest_source *source, struct manifest *out, struct error *error);
void manifest_release(struct manifest *manifest);

/* Another version of an engine that takes versions, by its own manifest. As manifest_parse(). */
int manifest_of_version(const struct manifest *base, const char *version, struct manifest *out,
                        struct error *error);

/* Takes the manifest over, or releases it and notes that there are two of its name. */
int registry_add(struct registry *registry, struct manifest *manifest, struct error *error);
/* Adds NAME@VERSION for each version that is built, of every engine that takes versions. */
int registry_add_versions(struct registry *registry, struct error *error);

/* True for one version, such as 0.8.3 or 0.9.0-pre.2. */
bool version_valid(const char *version);
/* False when the text is no version list as docs/engines.md describes it. */
bool versions_valid(const char *versions);

/* Adds a warning; ERROR_MEMORY. */
int registry_warn(result_warnings *warnings, struct error *error, const char *subject,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The first of the folders (ends with NULL) that holds a libsqlite3.so.0 for this machine, as a
 * new string "FOLDER/libsqlite3.so.0"; *out is NULL when none does. Nothing is loaded. */
int registry_system_library(const char *const *folders, char **out, struct error *error);

#endif
