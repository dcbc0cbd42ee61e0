/*
 * Templates: built once, found again by what they depend on.
 *
 * The key as JSON (TEMPLATE_FORMAT in it, keys sorted) is the one description of a template: its
 * hash is the identity in the file's name, and it is compared whole when a template is found.
 * The .json file is written last, so a template without one is not whole. On reuse the size and
 * the hash of all bytes are compared with it: every engine gets a copy, so the file is read anyway,
 * and a page that went bad would be blamed on an engine.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "coordinator/data.h"
#include "core/clock.h"
#include "core/hash.h"
#include "result/result.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_PART = 28,
    DESCRIPTION_MAX = 1 << 20,
    HEX_SIZE = 17,
    /* While it is built: the file, and as much again for a log that the engine keeps beside it
     * and for the sorting of the indexes. */
    BUILD_FACTOR = 2,
};

static const char magic[16] = "SQLite format 3";

static int out_of_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory while preparing the template");
}

static void hex(char out[HEX_SIZE], uint64_t value)
{
    snprintf(out, HEX_SIZE, "%016llx", (unsigned long long)value);
}

/* ---- key and name ---- */

/* A new reference; NULL: no memory. */
static json_t *key_json(const struct template_key *key)
{
    char load_hash[HEX_SIZE];
    hex(load_hash, key->load_hash);
    json_t *variables = json_object(), *settings = json_array();
    bool good = variables != NULL && settings != NULL;
    for (size_t i = 0; good && i < key->variable_count; i++) {
        good = json_object_set_new(variables, key->variables[i].name,
                                   json_wire_i64(key->variables[i].value)) == 0;
    }
    for (size_t i = 0; good && i < key->file_setting_count; i++) {
        good = json_array_append_new(settings, json_text(key->file_settings[i])) == 0;
    }
    json_t *object = json_object();
    good = good && object != NULL &&
           json_object_set_new(object, "format", json_integer(TEMPLATE_FORMAT)) == 0 &&
           json_object_set_new(object, "workload", json_text(key->workload)) == 0 &&
           json_object_set_new(object, "scale", json_text(key->scale)) == 0 &&
           json_object_set_new(object, "load_hash", json_string(load_hash)) == 0 &&
           json_object_set_new(object, "seed", json_integer(key->seed)) == 0 &&
           json_object_set(object, "variables", variables) == 0 &&
           json_object_set(object, "settings", settings) == 0;
    json_decref(variables);
    json_decref(settings);
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Quotes and brackets delimit every field, so no two keys give the same text. */
static int identify(const json_t *key, char out[HEX_SIZE], struct error *error)
{
    char *text = json_dump_text(key, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    if (text == NULL) {
        return out_of_memory(error);
    }
    hex(out, hash_bytes(HASH_START, text, strlen(text)));
    free(text);
    return 0;
}

static char *template_path(const struct data_folder *folder, const struct template_key *key,
                           const char *identity, const char *end)
{
    char workload[NAME_PART + 1], scale[NAME_PART + 1];
    data_label(workload, NAME_PART, key->workload);
    data_label(scale, NAME_PART, key->scale);
    return result_text("%s/template-%s-%s-%s%s", folder->path, workload, scale, identity, end);
}

/* ---- what is in the file ---- */

enum { READ_AT_ONCE = 1 << 20 };

/* FNV-1a's step over words of 8 bytes, which keeps up with the page cache: each step can be undone,
 * so one word that differs always gives another hash. The last word is filled up with zeros. */
static uint64_t hash_words(uint64_t hash, const unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t part = length - at < sizeof word ? length - at : sizeof word;
        memcpy(&word, bytes + at, part);
        hash = (hash ^ le64toh(word)) * HASH_PRIME;
    }
    return hash;
}

/* Hashes a whole file; its parts are read whole, so that words do not depend on how read(2) cuts.
 */
static int hash_file(int fd, const char *path, uint64_t size, uint64_t *hash, struct error *error)
{
    unsigned char *bytes = malloc(READ_AT_ONCE);
    if (bytes == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while %s was read", path);
    }
    int status = 0;
    for (uint64_t offset = 0; offset < size && status == 0;) {
        size_t part = size - offset < READ_AT_ONCE ? (size_t)(size - offset) : READ_AT_ONCE;
        size_t filled = 0;
        while (filled < part) {
            ssize_t got = pread(fd, bytes + filled, part - filled, (off_t)(offset + filled));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                status = got < 0 ? error_errno(error, errno, "cannot read %s", path)
                                 : error_set(error, ERROR_IO, "%s became shorter while it was read",
                                             path);
                break;
            }
            filled += (size_t)got;
        }
        *hash = hash_words(*hash, bytes, filled);
        offset += part;
    }
    free(bytes);
    return status;
}

struct contents {
    uint64_t bytes;
    char hash[HEX_SIZE];
    bool is_database; /* begins with SQLite's magic */
};

/* Size and hash of a file. `sync` also brings it to the disk. */
static int read_contents(const char *path, bool sync, struct contents *out, struct error *error)
{
    struct stat status;
    char head[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return error_errno(error, errno, "cannot open %s", path);
    }
    int result = 0;
    if (fstat(fd, &status) != 0) {
        result = error_errno(error, errno, "cannot ask for the size of %s", path);
        goto out;
    }
    if (!S_ISREG(status.st_mode)) {
        result = error_set(error, ERROR_IO, "%s is no regular file", path);
        goto out;
    }
    uint64_t hash = HASH_START;
    *out = (struct contents){.bytes = (uint64_t)status.st_size};
    out->is_database = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
                       memcmp(head, magic, sizeof magic) == 0;
    if ((result = hash_file(fd, path, out->bytes, &hash, error)) != 0) {
        goto out;
    }
    hex(out->hash, hash);
    if (sync && fsync(fd) != 0) {
        result = error_errno(error, errno, "cannot bring %s to the disk", path);
    }
out:
    close(fd);
    return result;
}

/* ---- what was built ---- */

static void release_tables(size_t count, char **tables, uint64_t *rows)
{
    for (size_t i = 0; tables != NULL && i < count; i++) {
        free(tables[i]);
    }
    free(tables);
    free(rows);
}

static void built_release(struct template_built *built)
{
    release_tables(built->table_count, built->tables, built->rows);
    free(built->engine);
    free(built->engine_version);
    *built = (struct template_built){.engine = NULL};
}

void template_release(struct template_file *file)
{
    release_tables(file->table_count, file->tables, file->rows);
    free(file->engine);
    free(file->engine_version);
    free(file->path);
    *file = (struct template_file){.path = NULL};
}

/* Moves the strings over. */
static void take_built(struct template_file *out, struct template_built *built)
{
    out->engine = built->engine;
    out->engine_version = built->engine_version;
    out->table_count = built->table_count;
    out->tables = built->tables;
    out->rows = built->rows;
    *built = (struct template_built){.engine = NULL};
}

static int read_rows(json_t *rows, struct template_built *built, struct error *error)
{
    size_t count = json_object_size(rows);
    built->tables = calloc(count + 1, sizeof *built->tables);
    built->rows = calloc(count + 1, sizeof *built->rows);
    if (built->tables == NULL || built->rows == NULL) {
        return out_of_memory(error);
    }
    const char *table;
    json_t *value;
    json_object_foreach(rows, table, value)
    {
        size_t i = built->table_count;
        int status = json_get_u64(rows, table, "rows", &built->rows[i], error);
        if (status != 0) {
            return status;
        }
        if ((built->tables[i] = strdup(table)) == NULL) {
            return out_of_memory(error);
        }
        built->table_count++;
    }
    return 0;
}

static json_t *rows_json(const struct template_built *built)
{
    json_t *rows = json_object();
    for (size_t i = 0; rows != NULL && i < built->table_count; i++) {
        if (json_object_set_new(rows, built->tables[i], json_wire_u64(built->rows[i])) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

/* ---- the file beside a template ---- */

static int write_description(const char *path, json_t *key, const char *identity,
                             const struct contents *contents, const struct template_built *built,
                             struct error *error)
{
    json_t *object = json_object();
    bool good =
        object != NULL && json_object_set(object, "key", key) == 0 &&
        json_object_set_new(object, "identity", json_string(identity)) == 0 &&
        json_object_set_new(object, "bytes", json_wire_u64(contents->bytes)) == 0 &&
        json_object_set_new(object, "hash", json_string(contents->hash)) == 0 &&
        json_object_set_new(object, "engine",
                            built->engine == NULL ? json_null() : json_text(built->engine)) == 0 &&
        json_object_set_new(
            object, "engine_version",
            built->engine_version == NULL ? json_null() : json_text(built->engine_version)) == 0 &&
        json_object_set_new(object, "rows", rows_json(built)) == 0;
    char *text = good ? json_dump_text(object, JSON_INDENT(2)) : NULL;
    json_decref(object);
    if (text == NULL) {
        return out_of_memory(error);
    }
    int status = file_replace(path, text, strlen(text), error);
    free(text);
    return status;
}

/* A new string of an optional text. */
static int read_optional(const json_t *object, const char *key, char **out, struct error *error)
{
    const char *text;
    int status = json_get_string_or_null(object, key, "the description", &text, error);
    if (status == 0 && text != NULL && (*out = strdup(text)) == NULL) {
        status = out_of_memory(error);
    }
    return status;
}

/* Fills `built` and what the file ought to be; any error means: not to be relied on. */
static int read_description(const char *path, const json_t *key, struct contents *expected,
                            struct template_built *built, struct error *error)
{
    static const char where[] = "the description";
    struct buffer bytes;
    json_t *object = NULL, *found_key, *rows;
    const char *hash;
    buffer_init(&bytes);
    int status;
    if ((status = file_read(path, DESCRIPTION_MAX, &bytes, error)) != 0 ||
        (status = json_parse(bytes.data, bytes.length, where, &object, error)) != 0 ||
        (status = json_get_object(object, "key", where, &found_key, error)) != 0 ||
        (status = json_get_u64(object, "bytes", where, &expected->bytes, error)) != 0 ||
        (status = json_get_string(object, "hash", where, &hash, error)) != 0 ||
        (status = json_get_object(object, "rows", where, &rows, error)) != 0 ||
        (status = read_optional(object, "engine", &built->engine, error)) != 0 ||
        (status = read_optional(object, "engine_version", &built->engine_version, error)) != 0 ||
        (status = read_rows(rows, built, error)) != 0) {
        goto out;
    }
    snprintf(expected->hash, sizeof expected->hash, "%s", hash);
    if (!json_equal(found_key, (json_t *)key)) {
        status = error_set(error, ERROR_INVALID, "it was built from something else");
    }
out:
    json_decref(object);
    buffer_release(&bytes);
    return status;
}

/* ---- reuse ---- */

static int check_template(const char *path, const char *description, const json_t *key,
                          struct contents *found, struct template_built *built, struct error *error)
{
    struct contents expected = {.bytes = 0};
    int status = read_description(description, key, &expected, built, error);
    if (status == 0) {
        status = read_contents(path, false, found, error);
    }
    if (status != 0) {
        return status;
    }
    if (!found->is_database) {
        return error_set(error, ERROR_INVALID, "it does not begin as a SQLite database does");
    }
    if (found->bytes != expected.bytes) {
        return error_set(error, ERROR_INVALID, "it has %llu bytes instead of %llu",
                         (unsigned long long)found->bytes, (unsigned long long)expected.bytes);
    }
    if (strcmp(found->hash, expected.hash) != 0) {
        return error_set(error, ERROR_INVALID, "its content has changed since it was built");
    }
    return 0;
}

static void tell(void (*call)(void *context, const char *text), void *context, char *text)
{
    if (call != NULL && text != NULL) {
        call(context, text);
    }
    free(text);
}

/* *out is filled when a whole template is there; else it stays without a path, what is left of
 * one is removed, and why is told. */
static int find_template(const char *path, const char *description, const json_t *key,
                         const struct progress *progress, struct template_file *out,
                         struct error *error)
{
    struct stat status;
    bool has_file = lstat(path, &status) == 0, has_description = file_size(description) >= 0;
    if (!has_file && !has_description) {
        return 0;
    }
    struct contents contents;
    struct template_built built = {.engine = NULL};
    struct error problem = ERROR_INIT;
    int result = 0;
    if (!has_file) {
        error_set(&problem, ERROR_IO, "only its description is there");
    } else if (!has_description) {
        error_set(&problem, ERROR_IO, "it was not finished");
    } else if (check_template(path, description, key, &contents, &built, &problem) == 0) {
        out->reused = true;
        out->bytes = contents.bytes;
        out->build_seconds = NAN;
        take_built(out, &built);
        if ((out->path = strdup(path)) == NULL) {
            result = out_of_memory(error);
        }
        goto out;
    }
    if (problem.code == ERROR_MEMORY) {
        result = error_set(error, ERROR_MEMORY, "%s", problem.message);
        goto out;
    }
    if (progress != NULL) {
        tell(progress->note, progress->context,
             result_text("the template %s is built anew: %s", path, problem.message));
    }
    /* The description first: without it the rest is never taken for whole. */
    if ((result = file_remove(description, error)) == 0 &&
        (result = file_remove(path, error)) == 0) {
        data_remove_database(path);
    }
out:
    built_release(&built);
    return result;
}

/* ---- building ---- */

struct builder {
    int (*build)(void *context, const char *path, struct template_built *built,
                 struct error *error);
    void *context;
};

static int check_space(const struct data_folder *folder, const struct template_key *key,
                       uint64_t expected, struct error *error)
{
    uint64_t needed = expected > UINT64_MAX / BUILD_FACTOR ? UINT64_MAX : expected * BUILD_FACTOR;
    char size[UNITS_TEXT_SIZE];
    units_print_bytes(size, (double)expected);
    char *what_for = result_text("building the template %s/%s (about %s, and as much again for "
                                 "logs and the sorting of indexes)",
                                 key->workload, key->scale, size);
    int status =
        what_for == NULL ? out_of_memory(error) : data_need(folder, needed, what_for, error);
    free(what_for);
    return status;
}

/* The load leaves one file; a log beside it would be lost by the rename. */
static int check_alone(const char *path, struct error *error)
{
    static const char *const logs[] = {"-wal", "-log", "-journal"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        char *log = result_text("%s%s", path, logs[i]);
        if (log == NULL) {
            return out_of_memory(error);
        }
        int64_t bytes = file_size(log);
        free(log);
        if (bytes > 0) {
            return error_set(error, ERROR_ENGINE,
                             "the load left %lld bytes in %s%s; a template is one file alone",
                             (long long)bytes, path, logs[i]);
        }
    }
    return 0;
}

/* Puts what was built at `built_path` into its place. */
static int install(const struct data_folder *folder, const char *built_path, const char *path,
                   const char *description, struct error *error)
{
    /* An older description must not speak for the new file if we are killed between. */
    int status = file_remove(description, error);
    if (status != 0) {
        return status;
    }
    if (rename(built_path, path) != 0) {
        return error_errno(error, errno, "cannot rename %s to %s", built_path, path);
    }
    data_remove_database(built_path);
    return file_sync_folder(folder->path, error);
}

static int build_template(const struct data_folder *folder, const struct template_key *key,
                          json_t *key_tree, const char *path, const char *description,
                          const struct builder *builder, struct template_file *out,
                          struct error *error)
{
    struct template_built built = {.engine = NULL};
    struct contents contents;
    uint64_t started_ns = clock_now_ns();
    char *build_path = data_path(folder, "build", key->workload);
    if (build_path == NULL) {
        return out_of_memory(error);
    }
    data_remove_database(build_path);
    int status;
    if ((status = builder->build(builder->context, build_path, &built, error)) != 0 ||
        (status = check_alone(build_path, error)) != 0 ||
        (status = read_contents(build_path, true, &contents, error)) != 0) {
        goto out;
    }
    if (!contents.is_database) {
        status = error_set(error, ERROR_ENGINE, "the load made %s, which is no SQLite database",
                           build_path);
        goto out;
    }
    if ((status = install(folder, build_path, path, description, error)) != 0) {
        goto out;
    }
    status = write_description(description, key_tree, out->identity, &contents, &built, error);
    if (status != 0) {
        data_remove_database(path); /* useless without one, and perhaps the disk is full */
        goto out;
    }
    out->bytes = contents.bytes;
    out->build_seconds = (double)(clock_now_ns() - started_ns) / (double)NS_PER_S;
    take_built(out, &built);
    out->path = strdup(path);
    status = out->path == NULL ? out_of_memory(error) : 0;
out:
    if (status != 0) {
        data_remove_database(build_path);
    }
    free(build_path);
    built_release(&built);
    return status;
}

static void tell_done(const struct progress *progress, const struct template_file *file)
{
    char size[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    if (progress == NULL) {
        return;
    }
    units_print_bytes(size, (double)file->bytes);
    units_print_ns(time, file->build_seconds * (double)NS_PER_S);
    tell(progress->done, progress->context,
         file->reused ? result_text("template reused: %s", size)
                      : result_text("template built: %s in %s", size, time));
}

int template_prepare(struct data_folder *folder, const struct template_key *key,
                     uint64_t expected_bytes, bool fresh,
                     int (*build)(void *context, const char *path, struct template_built *built,
                                  struct error *error),
                     void *context, const struct progress *progress, struct template_file *out,
                     struct error *error)
{
    const struct builder builder = {.build = build, .context = context};
    char *path = NULL, *description = NULL;
    *out = (struct template_file){.path = NULL};
    json_t *tree = key_json(key);
    int status = tree == NULL ? out_of_memory(error) : identify(tree, out->identity, error);
    if (status != 0) {
        goto out;
    }
    path = template_path(folder, key, out->identity, ".db");
    description = template_path(folder, key, out->identity, ".json");
    if (path == NULL || description == NULL) {
        status = out_of_memory(error);
        goto out;
    }
    if (!fresh) {
        status = find_template(path, description, tree, progress, out, error);
    }
    if (status == 0 && out->path == NULL &&
        (status = check_space(folder, key, expected_bytes, error)) == 0) {
        status = build_template(folder, key, tree, path, description, &builder, out, error);
    }
    if (status == 0) {
        tell_done(progress, out);
    }
out:
    if (status != 0) {
        template_release(out);
    }
    json_decref(tree);
    free(path);
    free(description);
    return status;
}
