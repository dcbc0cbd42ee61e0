/* Reads one manifest: strict JSON with the keys of docs/engines.md and no others. */
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "coordinator/place.h"
#include "coordinator/registry_internal.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#error "pitot runs on x86-64 and arm64"
#endif

static const char *const manifest_keys[] = {
    "name",     "summary",    "driver",        "command",        "library",     "needs",  "version",
    "get",      "takes_path", "takes_version", "default",        "no_database", "no_shm", "options",
    "required", "faults",     "notes",         "second_opinion", NULL,
};
static const char *const fault_keys[] = {"versions", "text", NULL};

static int out_of_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory while reading a manifest");
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

static int check_keys(json_t *object, const char *const *known, const char *where,
                      struct error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0) {
            i++;
        }
        if (known[i] != NULL) {
            continue;
        }
        const char *nearest = text_nearest(key, known);
        struct buffer list;
        buffer_init(&list);
        for (i = 0; known[i] != NULL; i++) {
            buffer_printf(&list, "%s%s", i == 0 ? "" : ", ", known[i]);
        }
        int status =
            nearest == NULL
                ? error_set(error, ERROR_INVALID, "%s: unknown key \"%s\"; known keys: %s", where,
                            key, list.data)
                : error_set(error, ERROR_INVALID, "%s: unknown key \"%s\"; did you mean \"%s\"?",
                            where, key, nearest);
        buffer_release(&list);
        return status;
    }
    return 0;
}

static int copy_text(const json_t *value, const char *key, const char *where, char **out,
                     struct error *error)
{
    if (!json_is_string(value)) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is %s; it must be a text", where, key,
                         type_name(value));
    }
    if (json_string_length(value) == 0) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is an empty text", where, key);
    }
    *out = strdup(json_string_value(value));
    return *out == NULL ? out_of_memory(error) : 0;
}

static int read_text(const json_t *object, const char *key, bool needed, const char *where,
                     char **out, struct error *error)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return needed ? error_set(error, ERROR_INVALID, "%s: the key \"%s\" is missing", where, key)
                      : 0;
    }
    return copy_text(value, key, where, out, error);
}

static int read_bool(const json_t *object, const char *key, const char *where, bool *out,
                     struct error *error)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return 0;
    }
    if (!json_is_boolean(value)) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is %s; it must be true or false", where,
                         key, type_name(value));
    }
    *out = json_is_true(value);
    return 0;
}

static int read_pairs(const json_t *object, const char *key, const char *where, result_pairs *out,
                      struct error *error)
{
    json_t *pairs = json_object_get(object, key), *value;
    if (pairs == NULL) {
        return 0;
    }
    if (!json_is_object(pairs)) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is %s; it must be an object of texts",
                         where, key, type_name(pairs));
    }
    const char *name;
    json_object_foreach(pairs, name, value)
    {
        if (!json_is_string(value)) {
            return error_set(error, ERROR_INVALID,
                             "%s: \"%s\": \"%s\" is %s; it must be a text (in quotation marks)",
                             where, key, name, type_name(value));
        }
        if (*name == '\0' || strchr(name, '=') != NULL) {
            return error_set(error, ERROR_INVALID,
                             "%s: \"%s\": the name \"%s\" must not be empty nor hold '='", where,
                             key, name);
        }
        struct result_pair *pair = result_list_add(out);
        if (pair == NULL || (pair->name = strdup(name)) == NULL ||
            (pair->value = strdup(json_string_value(value))) == NULL) {
            return out_of_memory(error);
        }
    }
    return 0;
}

static int read_faults(const json_t *object, const char *file, struct manifest *out,
                       struct error *error)
{
    json_t *faults = json_object_get(object, "faults"), *item;
    if (faults == NULL) {
        return 0;
    }
    if (!json_is_array(faults)) {
        return error_set(error, ERROR_INVALID, "%s: \"faults\" is %s; it must be a list of objects",
                         file, type_name(faults));
    }
    int status = 0;
    char *where = NULL;
    size_t i;
    json_array_foreach(faults, i, item)
    {
        free(where);
        where = result_text("%s: faults[%zu]", file, i);
        struct manifest_fault *fault = result_list_add(&out->faults);
        if (where == NULL || fault == NULL) {
            status = out_of_memory(error);
            goto out;
        }
        if (!json_is_object(item)) {
            status = error_set(error, ERROR_INVALID,
                               "%s is %s; it must be an object with \"versions\" and \"text\"",
                               where, type_name(item));
            goto out;
        }
        if ((status = check_keys(item, fault_keys, where, error)) != 0 ||
            (status = read_text(item, "versions", true, where, &fault->versions, error)) != 0 ||
            (status = read_text(item, "text", true, where, &fault->text, error)) != 0) {
            goto out;
        }
        if (!versions_valid(fault->versions)) {
            status = error_set(error, ERROR_INVALID,
                               "%s: \"versions\" is \"%s\"; right would be \"1.2.3\" or "
                               "\"1.2.3..1.4.0 except 1.3.1 1.3.2\"",
                               where, fault->versions);
            goto out;
        }
    }
out:
    free(where);
    return status;
}

/* Appends a folder and frees its name; NULL: no memory. */
static int put_folder(struct buffer *buffer, char *folder, struct error *error)
{
    if (folder == NULL) {
        return out_of_memory(error);
    }
    buffer_puts(buffer, folder);
    free(folder);
    return 0;
}

/* Replaces ${cache}, ${scripts}, ${version}, ${arch} and $$. */
static int expand(const char *text, const char *key, const char *version, const char *where,
                  char **out, struct error *error)
{
    int status = 0;
    struct buffer buffer;
    buffer_init(&buffer);
    for (const char *at = text; *at != '\0' && status == 0;) {
        if (strncmp(at, "$$", 2) == 0) {
            buffer_putc(&buffer, '$');
            at += 2;
        } else if (strncmp(at, "${cache}", 8) == 0) {
            status = put_folder(&buffer, registry_cache_folder(), error);
            at += 8;
        } else if (strncmp(at, "${scripts}", 10) == 0) {
            status = put_folder(&buffer, place_of_scripts(), error);
            at += 10;
        } else if (strncmp(at, "${version}", 10) == 0 && version != NULL) {
            buffer_puts(&buffer, version);
            at += 10;
        } else if (strncmp(at, "${version}", 10) == 0) {
            status = error_set(error, ERROR_INVALID,
                               "%s: \"%s\" holds ${version}, but there is no key \"version\"",
                               where, key);
        } else if (strncmp(at, "${arch}", 7) == 0) {
            buffer_puts(&buffer, MACHINE);
            at += 7;
        } else if (strncmp(at, "${", 2) == 0) {
            status = error_set(error, ERROR_INVALID,
                               "%s: \"%s\" holds \"%.40s\"; known are ${cache}, ${scripts}, "
                               "${version}, ${arch}, and $$ for a dollar sign",
                               where, key, at);
        } else {
            buffer_putc(&buffer, *at++);
        }
    }
    if (status == 0) {
        *out = buffer_take(&buffer);
        status = *out == NULL ? out_of_memory(error) : 0;
    }
    buffer_release(&buffer);
    return status;
}

/* Expands a text in place; NULL stays NULL. */
static int expand_text(char **text, const char *key, const struct manifest *manifest,
                       const char *where, struct error *error)
{
    char *expanded = NULL;
    int status = *text == NULL ? 0 : expand(*text, key, manifest->version, where, &expanded, error);
    if (expanded != NULL) {
        free(*text);
        *text = expanded;
    }
    return status;
}

/* Makes an expanded path absolute: a user's starts at the manifest's folder. */
static int anchor(char **path, const char *key, const struct manifest_source *source,
                  struct error *error)
{
    if (**path == '/') {
        return 0;
    }
    if (source->folder == NULL) {
        return error_set(error, ERROR_INVALID,
                         "%s: \"%s\" is the relative path \"%s\"; a manifest that is built in has "
                         "no folder: begin with ${cache}",
                         source->file, key, *path);
    }
    char *joined = file_join(source->folder, *path);
    if (joined == NULL) {
        return out_of_memory(error);
    }
    free(*path);
    *path = joined;
    return 0;
}

/* Where the versions lie is looked up in the folder of built engines, before any is named. */
static int check_versions(const struct manifest *manifest, const char *file, struct error *error)
{
    char *start = result_text("${cache}/%s@${version}/", manifest->name);
    int status = start == NULL ? out_of_memory(error) : 0;
    if (status == 0 && (manifest->version == NULL || manifest->library == NULL ||
                        strncmp(manifest->library, start, strlen(start)) != 0)) {
        status =
            error_set(error, ERROR_INVALID,
                      "%s: \"takes_version\" needs a \"version\", and a \"library\" that begins "
                      "with %s; found %s",
                      file, start, manifest->library == NULL ? "none" : manifest->library);
    }
    free(start);
    return status;
}

static int read_library(const json_t *object, const struct manifest_source *source,
                        struct manifest *out, struct error *error)
{
    int status = read_text(object, "library", false, source->file, &out->library, error);
    if (status == 0 && out->takes_version) {
        status = check_versions(out, source->file, error);
    }
    if (status == 0 && out->library != NULL &&
        (status = expand_text(&out->library, "library", out, source->file, error)) == 0) {
        status = anchor(&out->library, "library", source, error);
    }
    return status;
}

static int read_options(const json_t *object, const struct manifest_source *source,
                        struct manifest *out, struct error *error)
{
    int status = read_pairs(object, "options", source->file, &out->options, error);
    for (size_t i = 0; i < out->options.count && status == 0; i++) {
        status = expand_text(&out->options.items[i].value, "options", out, source->file, error);
    }
    return status;
}

static int read_command(const json_t *object, const struct manifest_source *source,
                        struct manifest *out, struct error *error)
{
    json_t *command = json_object_get(object, "command"), *part;
    if (command == NULL) {
        return 0;
    }
    if (!json_is_array(command) || json_array_size(command) == 0) {
        return error_set(error, ERROR_INVALID,
                         "%s: \"command\" is %s; it must be a list of texts, the program first",
                         source->file,
                         json_is_array(command) ? "an empty list" : type_name(command));
    }
    size_t i;
    json_array_foreach(command, i, part)
    {
        char *text = NULL;
        char **item = result_list_add(&out->command);
        int status = item == NULL ? out_of_memory(error)
                                  : copy_text(part, "command", source->file, &text, error);
        if (status == 0) {
            status = expand(text, "command", out->version, source->file, item, error);
        }
        /* A bare program name is looked up in PATH; behind the program stand arguments. */
        if (status == 0 && i == 0 && strchr(*item, '/') != NULL) {
            status = anchor(item, "command", source, error);
        }
        free(text);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* Files that must be there besides library and program. */
static int read_needs(const json_t *object, const struct manifest_source *source,
                      struct manifest *out, struct error *error)
{
    json_t *needs = json_object_get(object, "needs"), *path;
    if (needs == NULL) {
        return 0;
    }
    if (!json_is_array(needs)) {
        return error_set(error, ERROR_INVALID, "%s: \"needs\" is %s; it must be a list of paths",
                         source->file, type_name(needs));
    }
    size_t i;
    json_array_foreach(needs, i, path)
    {
        char *text = NULL;
        char **item = result_list_add(&out->needs);
        int status = item == NULL ? out_of_memory(error)
                                  : copy_text(path, "needs", source->file, &text, error);
        if (status == 0) {
            status = expand(text, "needs", out->version, source->file, item, error);
        }
        if (status == 0) {
            status = anchor(item, "needs", source, error);
        }
        free(text);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int read_notes(const json_t *object, const struct manifest_source *source,
                      struct manifest *out, struct error *error)
{
    json_t *notes = json_object_get(object, "notes"), *note;
    if (notes == NULL) {
        return 0;
    }
    if (!json_is_array(notes)) {
        return error_set(error, ERROR_INVALID, "%s: \"notes\" is %s; it must be a list of texts",
                         source->file, type_name(notes));
    }
    size_t i;
    json_array_foreach(notes, i, note)
    {
        char **item = result_list_add(&out->notes);
        int status = item == NULL ? out_of_memory(error)
                                  : copy_text(note, "notes", source->file, item, error);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int check_name(const struct manifest *manifest, const struct manifest_source *source,
                      struct error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.:";
    if (manifest->name[strspn(manifest->name, allowed)] != '\0') {
        return error_set(error, ERROR_INVALID,
                         "%s: the name \"%s\" may hold letters, digits, '-', '_', '.' and ':' only",
                         source->file, manifest->name);
    }
    if (strcmp(manifest->name, source->stem) != 0) {
        return error_set(error, ERROR_INVALID,
                         "%s: the name \"%s\" and the file disagree; the file of that engine is "
                         "called %s.json",
                         source->file, manifest->name, manifest->name);
    }
    return 0;
}

/* The version that is asked for stands in place of the file's. */
static int take_version(struct manifest *manifest, const char *version, struct error *error)
{
    if (version == NULL) {
        return 0;
    }
    free(manifest->version);
    manifest->version = strdup(version);
    return manifest->version == NULL ? out_of_memory(error) : 0;
}

/* NAME@VERSION: an engine of its own, which is no default and has no further versions. */
static int name_version(struct manifest *manifest, const char *version, struct error *error)
{
    if (version == NULL) {
        return 0;
    }
    manifest->base = manifest->name;
    manifest->name = result_text("%s@%s", manifest->base, version);
    manifest->takes_version = manifest->is_default = false;
    return manifest->name == NULL ? out_of_memory(error) : 0;
}

static int read_keys(json_t *object, const struct manifest_source *source, struct manifest *out,
                     struct error *error)
{
    const char *file = source->file;
    int status;
    if ((status = check_keys(object, manifest_keys, file, error)) != 0 ||
        (status = read_text(object, "name", true, file, &out->name, error)) != 0 ||
        (status = check_name(out, source, error)) != 0 ||
        (status = read_text(object, "summary", true, file, &out->summary, error)) != 0 ||
        (status = read_text(object, "driver", false, file, &out->driver, error)) != 0 ||
        (status = read_text(object, "version", false, file, &out->version, error)) != 0 ||
        (status = read_text(object, "get", false, file, &out->get, error)) != 0 ||
        (status = read_bool(object, "takes_version", file, &out->takes_version, error)) != 0 ||
        (status = take_version(out, source->version, error)) != 0 ||
        (status = expand_text(&out->get, "get", out, file, error)) != 0 ||
        (status = read_library(object, source, out, error)) != 0 ||
        (status = read_command(object, source, out, error)) != 0 ||
        (status = read_needs(object, source, out, error)) != 0 ||
        (status = read_bool(object, "takes_path", file, &out->takes_path, error)) != 0 ||
        (status = read_bool(object, "default", file, &out->is_default, error)) != 0 ||
        (status = read_bool(object, "no_database", file, &out->no_database, error)) != 0 ||
        (status = read_bool(object, "no_shm", file, &out->no_shm, error)) != 0 ||
        (status = read_options(object, source, out, error)) != 0 ||
        (status = read_pairs(object, "required", file, &out->required, error)) != 0 ||
        (status = read_text(object, "second_opinion", false, file, &out->second_opinion, error)) !=
            0 ||
        (status = read_notes(object, source, out, error)) != 0 ||
        (status = read_faults(object, file, out, error)) != 0) {
        return status;
    }
    if ((out->driver == NULL) == (out->command.count == 0)) {
        return error_set(error, ERROR_INVALID,
                         "%s: %s; it needs exactly one of them: a driver of pitot-worker, or the "
                         "command of a worker of its own",
                         file,
                         out->driver == NULL ? "neither \"driver\" nor \"command\" is there"
                                             : "both \"driver\" and \"command\" are there");
    }
    if (source->version == NULL && out->takes_version &&
        (out->text = strndup(source->bytes, source->length)) == NULL) {
        return out_of_memory(error);
    }
    return name_version(out, source->version, error);
}

int manifest_parse(const struct manifest_source *source, struct manifest *out, struct error *error)
{
    *out = (struct manifest){.name = NULL};
    json_t *object = NULL;
    struct error syntax = ERROR_INIT;
    int status = json_parse(source->bytes, source->length, source->file, &object, &syntax);
    if (status != 0) {
        /* Nothing came over a wire here: a file is wrong. */
        return error_set(error, status == ERROR_MEMORY ? ERROR_MEMORY : ERROR_INVALID, "%s",
                         syntax.message);
    }
    if (!json_is_object(object)) {
        status = error_set(error, ERROR_INVALID, "%s: the manifest is %s; it must be an object",
                           source->file, type_name(object));
    } else if ((out->file = strdup(source->folder == NULL ? "built in" : source->file)) == NULL) {
        status = out_of_memory(error);
    } else {
        status = read_keys(object, source, out, error);
    }
    json_decref(object);
    if (status != 0) {
        manifest_release(out);
    }
    return status;
}

void manifest_release(struct manifest *manifest)
{
    free(manifest->name);
    free(manifest->base);
    free(manifest->summary);
    free(manifest->file);
    free(manifest->driver);
    free(manifest->library);
    free(manifest->version);
    free(manifest->get);
    free(manifest->second_opinion);
    const result_strings texts[] = {manifest->command, manifest->needs, manifest->notes};
    for (size_t list = 0; list < sizeof texts / sizeof *texts; list++) {
        for (size_t i = 0; i < texts[list].count; i++) {
            free(texts[list].items[i]);
        }
        free(texts[list].items);
    }
    const result_pairs lists[] = {manifest->options, manifest->required};
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (size_t i = 0; i < lists[list].count; i++) {
            free(lists[list].items[i].name);
            free(lists[list].items[i].value);
        }
        free(lists[list].items);
    }
    for (size_t i = 0; i < manifest->faults.count; i++) {
        free(manifest->faults.items[i].versions);
        free(manifest->faults.items[i].text);
    }
    free(manifest->faults.items);
    free(manifest->text);
    *manifest = (struct manifest){.name = NULL};
}
