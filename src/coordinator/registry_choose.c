/* From the text of --engines to the engines of a run. */
#include "base/buffer.h"
#include "base/text.h"
#include "coordinator/registry_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#define ELF_MACHINE EM_X86_64
#else
#define MULTIARCH "aarch64-linux-gnu"
#define ELF_MACHINE EM_AARCH64
#endif

#define SQLITE_SONAME "libsqlite3.so.0"

/* Where distributions put the libraries of this machine, most specific first: /usr/lib holds
 * 32-bit ones on some of them. */
static const char *const library_folders[] = {
    "/usr/lib/" MULTIARCH,
    "/lib/" MULTIARCH,
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/lib",
    "/usr/local/lib",
    NULL,
};

static int out_of_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory while choosing engines");
}

static bool library_of_this_machine(const char *path)
{
    Elf64_Ehdr header;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    bool fits = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == ELF_MACHINE;
    close(fd);
    return fits;
}

int registry_system_library(const char *const *folders, char **out, struct error *error)
{
    *out = NULL;
    for (size_t i = 0; folders[i] != NULL; i++) {
        char *path = result_text("%s/%s", folders[i], SQLITE_SONAME);
        if (path == NULL) {
            return out_of_memory(error);
        }
        if (library_of_this_machine(path)) {
            *out = path;
            return 0;
        }
        free(path);
    }
    return 0;
}

void engine_choice_release(struct engine_choice *choice)
{
    free(choice->name);
    free(choice->library);
    for (size_t i = 0; i < choice->options.count; i++) {
        free(choice->options.items[i].name);
        free(choice->options.items[i].value);
    }
    free(choice->options.items);
    *choice = (struct engine_choice){.name = NULL};
}

void engine_choices_release(engine_choices *choices)
{
    for (size_t i = 0; i < choices->count; i++) {
        engine_choice_release(&choices->items[i]);
    }
    free(choices->items);
    choices->items = NULL;
    choices->count = 0;
}

static bool name_taken(const engine_choices *choices, const char *name)
{
    for (size_t i = 0; i < choices->count; i++) {
        if (strcmp(choices->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* "sqlite", then "sqlite#2", "sqlite#3", …: the first that is free. */
static char *free_name(const engine_choices *choices, const char *base)
{
    char *name = strdup(base);
    for (unsigned number = 2; name != NULL && name_taken(choices, name); number++) {
        free(name);
        name = result_text("%s#%u", base, number);
    }
    return name;
}

/* The library as a real path; it must be a regular file. `named` is what the user wrote. */
static int real_library(const char *named, const char *path, char **out, struct error *error)
{
    char real[PATH_MAX];
    struct stat status;
    if (realpath(path, real) == NULL || stat(real, &status) != 0) {
        return error_set(error, ERROR_INVALID, "--engines: %s: the library %s: %s", named, path,
                         strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return error_set(error, ERROR_INVALID,
                         "--engines: %s: %s is %s; a library's file must be named", named, path,
                         S_ISDIR(status.st_mode) ? "a folder" : "no regular file");
    }
    *out = strdup(real);
    return *out == NULL ? out_of_memory(error) : 0;
}

static int make_choice(const engine_choices *others, const char *name,
                       const struct manifest *manifest, const char *library,
                       struct engine_choice *out, struct error *error)
{
    *out = (struct engine_choice){.manifest = manifest};
    int status = library == NULL ? 0 : real_library(name, library, &out->library, error);
    if (status == 0 && (out->name = free_name(others, name)) == NULL) {
        status = out_of_memory(error);
    }
    if (status != 0) {
        engine_choice_release(out);
    }
    return status;
}

static int add_choice(engine_choices *choices, const char *name, const struct manifest *manifest,
                      const char *library, struct error *error)
{
    struct engine_choice choice;
    int status = make_choice(choices, name, manifest, library, &choice, error);
    if (status != 0) {
        return status;
    }
    struct engine_choice *item = result_list_add(choices);
    if (item == NULL) {
        engine_choice_release(&choice);
        return out_of_memory(error);
    }
    *item = choice;
    return 0;
}

static int unknown_engine(const struct registry *registry, const char *name, struct error *error)
{
    size_t count = registry->manifests.count;
    const char **names = calloc(count + 1, sizeof *names);
    if (names == NULL) {
        return out_of_memory(error);
    }
    struct buffer known;
    buffer_init(&known);
    for (size_t i = 0; i < count; i++) {
        names[i] = registry->manifests.items[i].name;
        buffer_printf(&known, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    const char *nearest = text_nearest(name, names);
    int status;
    if (nearest != NULL) {
        status = error_set(error, ERROR_INVALID,
                           "--engines: there is no engine \"%s\"; did you mean \"%s\"? Known: %s",
                           name, nearest, known.data);
    } else if (strchr(name, '/') != NULL) {
        status = error_set(error, ERROR_INVALID,
                           "--engines: \"%s\" is no engine; a library is named sqlite=PATH, and a "
                           "comma inside a path is written \"\\,\". Known: %s",
                           name, known.data);
    } else {
        status = error_set(error, ERROR_INVALID, "--engines: there is no engine \"%s\". Known: %s",
                           name, known.data);
    }
    buffer_release(&known);
    free(names);
    return status;
}

static const char *problem_of(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->problems.count; i++) {
        const struct result_warning *problem = &registry->problems.items[i];
        if (problem->subject != NULL && strcmp(problem->subject, name) == 0) {
            return problem->text;
        }
    }
    return NULL;
}

static int not_ready(const struct manifest *manifest, const char *why, struct error *error)
{
    char *get =
        manifest->get == NULL ? strdup("") : result_text("; get it with: %s", manifest->get);
    char *path = manifest->takes_path && manifest->library != NULL
                     ? result_text("; or name a library: %s=PATH", manifest->name)
                     : strdup("");
    int status = get == NULL || path == NULL
                     ? out_of_memory(error)
                     : error_set(error, ERROR_UNAVAILABLE, "engine %s is not ready: %s%s%s",
                                 manifest->name, why, get, path);
    free(get);
    free(path);
    return status;
}

static int choose_path(const struct manifest *manifest, const char *entry, const char *path,
                       bool more_follows, engine_choices *out, struct error *error)
{
    if (!manifest->takes_path) {
        return error_set(error, ERROR_INVALID,
                         "--engines: %s: engine %s takes no path of a library", entry,
                         manifest->name);
    }
    if (*path == '\0') {
        return error_set(error, ERROR_INVALID,
                         "--engines: \"%s\" has no path behind the '='; write %s=/…/library.so",
                         entry, manifest->name);
    }
    struct error problem = ERROR_INIT;
    int status = add_choice(out, entry, manifest, path, &problem);
    if (status == 0) {
        return 0;
    }
    return error_set(error, (enum error_code)status, "%s%s", problem.message,
                     more_follows && status == ERROR_INVALID
                         ? " (a comma ends an entry; inside a path it is written \"\\,\")"
                         : "");
}

/* NAME@VERSION that is not among the built ones. */
static int missing_version(const struct registry *registry, const char *name, struct error *error)
{
    const char *at = strchr(name, '@');
    char *base_name = at == NULL ? NULL : strndup(name, (size_t)(at - name));
    const struct manifest *base = base_name == NULL ? NULL : registry_find(registry, base_name);
    free(base_name);
    if (base == NULL) {
        return unknown_engine(registry, name, error);
    }
    if (!base->takes_version) {
        return error_set(error, ERROR_INVALID, "--engines: %s: engine %s takes no version", name,
                         base->name);
    }
    if (!version_valid(at + 1)) {
        return error_set(error, ERROR_INVALID,
                         "--engines: %s: \"%s\" is no version; right would be %s@%s", name, at + 1,
                         base->name, base->version);
    }
    struct manifest manifest;
    char *why = NULL;
    int status = manifest_of_version(base, at + 1, &manifest, error);
    if (status == 0) {
        /* It may have come since the manifests were read. */
        status = manifest_ready(&manifest, &why)
                     ? error_set(error, ERROR_UNAVAILABLE,
                                 "engine %s has just been built: try again", name)
                 : why == NULL ? out_of_memory(error)
                               : not_ready(&manifest, why, error);
        manifest_release(&manifest);
    }
    free(why);
    return status;
}

static int choose_entry(const struct registry *registry, const char *entry, bool more_follows,
                        engine_choices *out, struct error *error)
{
    const char *equals = strchr(entry, '=');
    char *name = equals == NULL ? strdup(entry) : strndup(entry, (size_t)(equals - entry));
    char *why = NULL;
    int status = 0;
    if (name == NULL) {
        return out_of_memory(error);
    }
    const struct manifest *manifest = registry_find(registry, name);
    const char *problem = problem_of(registry, name);
    if (problem != NULL) {
        status = error_set(error, ERROR_INVALID, "--engines: engine %s cannot be used: %s", name,
                           problem);
    } else if (manifest == NULL) {
        status = missing_version(registry, name, error);
    } else if (equals != NULL) {
        status = choose_path(manifest, entry, equals + 1, more_follows, out, error);
    } else if (!manifest_ready(manifest, &why)) {
        status = why == NULL ? out_of_memory(error) : not_ready(manifest, why, error);
    } else {
        status = add_choice(out, name, manifest, manifest->library, error);
    }
    free(why);
    free(name);
    return status;
}

/* Takes the next entry of the list into `entry`, its escapes undone. */
static int next_entry(const char **cursor, struct buffer *entry, struct error *error)
{
    buffer_clear(entry);
    const char *at = *cursor + strspn(*cursor, " \t");
    for (; *at != '\0' && *at != ','; at++) {
        if (*at != '\\') {
            buffer_putc(entry, *at);
            continue;
        }
        at++;
        if (*at != ',' && *at != '\\') {
            return error_set(error, ERROR_INVALID,
                             "--engines: a backslash stands before \"%.*s\"; it only goes before a "
                             "comma (\"\\,\") or a backslash (\"\\\\\") of a path",
                             *at == '\0' ? 0 : 1, at);
        }
        buffer_putc(entry, *at);
    }
    *cursor = at;
    if (entry->failed) {
        return out_of_memory(error);
    }
    return 0;
}

static int choose_listed(const struct registry *registry, const char *list, engine_choices *out,
                         struct error *error)
{
    struct buffer entry;
    buffer_init(&entry);
    const char *cursor = list;
    int status;
    for (;;) {
        if ((status = next_entry(&cursor, &entry, error)) != 0) {
            break;
        }
        bool more = *cursor == ',';
        if (strchr(entry.data, '=') == NULL) {
            while (entry.length > 0 && strchr(" \t", entry.data[entry.length - 1]) != NULL) {
                entry.data[--entry.length] = '\0';
            }
        }
        if (entry.length == 0) {
            status = error_set(error, ERROR_INVALID,
                               "--engines: \"%s\" holds an empty name; names are separated by one "
                               "comma each: sqlite,null",
                               list);
            break;
        }
        if ((status = choose_entry(registry, entry.data, more, out, error)) != 0 || !more) {
            break;
        }
        cursor++;
    }
    buffer_release(&entry);
    return status;
}

/* The system's library as an engine of its own name; out->name stays NULL when there is none. */
static int system_choice(const engine_choices *others, const struct manifest *manifest,
                         struct engine_choice *out, struct error *error)
{
    char *library = NULL, *name = NULL;
    *out = (struct engine_choice){.name = NULL};
    int status = registry_system_library(library_folders, &library, error);
    if (status == 0 && library != NULL) {
        name = result_text("%s=%s", manifest->name, library);
        status = name == NULL ? out_of_memory(error)
                              : make_choice(others, name, manifest, library, out, error);
    }
    free(name);
    free(library);
    return status;
}

static const char *advice(const struct manifest *manifest)
{
    return manifest->get == NULL ? "nothing that pitot knows brings it" : manifest->get;
}

/* A default engine that is not ready: the system's library for sqlite, else left out. */
static int replace_default(const struct manifest *manifest, const char *why, engine_choices *out,
                           result_warnings *warnings, struct error *error)
{
    struct engine_choice choice = {.name = NULL};
    if (strcmp(manifest->name, "sqlite") == 0) {
        int status = system_choice(out, manifest, &choice, error);
        if (status != 0) {
            return status;
        }
    }
    if (choice.name == NULL) {
        return registry_warn(warnings, error, manifest->name,
                             "left out, since it is not ready: %s; get it with: %s", why,
                             advice(manifest));
    }
    int status = registry_warn(warnings, error, choice.name,
                               "the system's library is measured, since pitot's own SQLite is not "
                               "ready: %s; get it with: %s",
                               why, advice(manifest));
    struct engine_choice *item = status == 0 ? result_list_add(out) : NULL;
    if (item == NULL) {
        engine_choice_release(&choice);
        return status != 0 ? status : out_of_memory(error);
    }
    *item = choice;
    return 0;
}

static int choose_default(const struct registry *registry, engine_choices *out,
                          result_warnings *warnings, struct error *error)
{
    struct buffer missing;
    buffer_init(&missing);
    int status = 0;
    for (size_t i = 0; i < registry->manifests.count && status == 0; i++) {
        const struct manifest *manifest = &registry->manifests.items[i];
        if (!manifest->is_default) {
            continue;
        }
        const char *problem = problem_of(registry, manifest->name);
        if (problem != NULL) {
            status = registry_warn(warnings, error, manifest->name, "%s", problem);
        }
        /* Which of two user's engines is meant nobody can say; a built-in one is clear. */
        if (status != 0 || (problem != NULL && strcmp(manifest->file, "built in") != 0)) {
            continue;
        }
        char *why = NULL;
        size_t before = out->count;
        if (manifest_ready(manifest, &why)) {
            status = add_choice(out, manifest->name, manifest, manifest->library, error);
        } else if (why == NULL) {
            status = out_of_memory(error);
        } else {
            status = replace_default(manifest, why, out, warnings, error);
            if (out->count == before) {
                buffer_printf(&missing, "; %s: %s; get it with: %s", manifest->name, why,
                              advice(manifest));
            }
        }
        free(why);
    }
    if (status == 0 && out->count == 0) {
        status = error_set(error, ERROR_UNAVAILABLE, "no default engine is ready%s", missing.data);
    }
    buffer_release(&missing);
    return status;
}

int registry_choose(const struct registry *registry, const char *list, engine_choices *out,
                    result_warnings *warnings, struct error *error)
{
    out->items = NULL;
    out->count = 0;
    int status = list == NULL ? choose_default(registry, out, warnings, error)
                              : choose_listed(registry, list, out, error);
    if (status != 0) {
        engine_choices_release(out);
    }
    return status;
}

int registry_template_engine(const struct registry *registry, struct engine_choice *out,
                             struct error *error)
{
    static const engine_choices none = {.items = NULL};
    *out = (struct engine_choice){.name = NULL};
    const struct manifest *manifest = registry_find(registry, "sqlite");
    if (manifest == NULL) {
        return error_set(error, ERROR_UNAVAILABLE,
                         "templates are built by the engine sqlite, and no manifest describes it");
    }
    char *why = NULL;
    if (manifest_ready(manifest, &why)) {
        return make_choice(&none, manifest->name, manifest, manifest->library, out, error);
    }
    int status = why == NULL ? out_of_memory(error) : system_choice(&none, manifest, out, error);
    if (status == 0 && out->name == NULL) {
        status = error_set(error, ERROR_UNAVAILABLE,
                           "templates are built by SQLite, which is not ready: %s; get it with: "
                           "%s. There is no " SQLITE_SONAME " of the system either",
                           why, advice(manifest));
    }
    free(why);
    return status;
}
