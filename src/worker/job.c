#include "worker/job.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define PROTOCOL_VERSION 1

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the job");
}

int job_read_number(const json_t *object, const char *key, const char *where, uint64_t min,
                    uint64_t max, uint64_t *out, struct error *error)
{
    int status = json_get_u64(object, key, where, out, error);
    if (status == 0 && (*out < min || *out > max)) {
        status = error_set(error, ERROR_PROTOCOL, "%s: %s is %llu, must lie within %llu to %llu",
                           where, key, (unsigned long long)*out, (unsigned long long)min,
                           (unsigned long long)max);
    }
    return status;
}

static int read_u32(const json_t *object, const char *key, uint64_t min, uint64_t max,
                    uint32_t *out, struct error *error)
{
    uint64_t value = 0;
    int status = job_read_number(object, key, "job", min, max, &value, error);
    *out = (uint32_t)value;
    return status;
}

static int copy_text(const char *text, char **out, struct error *error)
{
    *out = strdup(text);
    return *out == NULL ? no_memory(error) : 0;
}

/* Paths may hold any byte but NUL, so on the wire they are escaped. */
static int read_database(const json_t *line, char **out, struct error *error)
{
    const char *text = NULL;
    int status = json_get_string_or_null(line, "database", "job", &text, error);
    if (status != 0 || text == NULL) {
        return status;
    }
    struct buffer path;
    buffer_init(&path);
    text_unescape(&path, text, strlen(text));
    if (!path.failed && (path.length == 0 || strlen(path.data) != path.length)) {
        buffer_release(&path);
        return error_set(error, ERROR_PROTOCOL,
                         "job: database must be a path, not empty and without a NUL byte");
    }
    *out = buffer_take(&path);
    buffer_release(&path);
    return *out == NULL ? no_memory(error) : 0;
}

/* Names end up in SQL text (PRAGMA name = value). */
static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return text[0] != '\0' && strchr(letters, text[0]) != NULL &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ==
               '\0';
}

static int read_setting(const json_t *entry, struct job_setting *out, struct error *error)
{
    const char *where = "job: entry of settings";
    const char *name = NULL;
    const char *value = NULL;
    int status = json_get_string(entry, "name", where, &name, error);
    if (status == 0) {
        status = json_get_string(entry, "value", where, &value, error);
    }
    if (status == 0) {
        status = json_get_bool(entry, "required", where, &out->required, error);
    }
    if (status != 0) {
        return status;
    }
    if (!is_name(name)) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s: the name '%s' is none: letters, digits and _ are", where, name);
    }
    status = copy_text(name, &out->name, error);
    return status != 0 ? status : copy_text(value, &out->value, error);
}

static int read_settings(const json_t *line, struct job *job, struct error *error)
{
    json_t *list = NULL;
    int status = json_get_array(line, "settings", "job", &list, error);
    if (status != 0) {
        return status;
    }
    size_t count = json_array_size(list);
    if (count > JOB_SETTINGS_MAX) {
        return error_set(error, ERROR_PROTOCOL, "job: %zu settings, at most %d are taken", count,
                         JOB_SETTINGS_MAX);
    }
    job->settings.items = calloc(count + 1, sizeof(*job->settings.items));
    if (job->settings.items == NULL) {
        return no_memory(error);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        job->settings.count = i + 1;
        status = read_setting(json_array_get(list, i), &job->settings.items[i], error);
    }
    return status;
}

static int read_variables(const json_t *line, struct job *job, struct error *error)
{
    json_t *object = NULL;
    int status = json_get_object(line, "variables", "job", &object, error);
    if (status != 0) {
        return status;
    }
    job->constants = calloc(json_object_size(object) + 1, sizeof(*job->constants));
    if (job->constants == NULL) {
        return no_memory(error);
    }
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value)
    {
        struct script_constant *constant = &job->constants[job->constant_count];
        status = json_get_i64(object, name, "job: variables", &constant->value, error);
        if (status != 0) {
            return status;
        }
        if (constant->value > SCRIPT_INTEGER_MAX || constant->value < -SCRIPT_INTEGER_MAX) {
            return error_set(error, ERROR_PROTOCOL,
                             "job: the variable %s is beyond 2^53 - 1 in size", name);
        }
        status = copy_text(name, &constant->name, error);
        if (status != 0) {
            return status;
        }
        job->constant_count++;
    }
    return 0;
}

/* `rows` blocks mean chunks and transactions that only a load makes; they stand at the top. */
static bool has_rows(const struct script *script)
{
    for (uint32_t i = 0; i < script->body.count; i++) {
        if (script->body.steps[i].kind == SCRIPT_STEP_ROWS) {
            return true;
        }
    }
    return false;
}

int job_read_script(const json_t *tree, struct job *job, bool load, struct error *error)
{
    struct script *script = NULL;
    int status = script_from_json(tree, &script, error);
    if (status != 0) {
        error_prefix(error, "job: script %u", job->script_count);
        return status;
    }
    job->scripts[job->script_count++] = script;
    if (!load && has_rows(script)) {
        return error_set(error, ERROR_PROTOCOL,
                         "job: script %u (%s) holds a rows step, which only a load may",
                         job->script_count - 1, script->name);
    }
    return 0;
}

static int read_load(const json_t *line, struct job *job, struct error *error)
{
    const char *schema = NULL;
    int status = json_get_string(line, "schema", "job", &schema, error);
    if (status == 0) {
        status = copy_text(schema, &job->schema, error);
    }
    json_t *tree = NULL;
    if (status == 0) {
        status = json_get_object(line, "script", "job", &tree, error);
    }
    if (status != 0) {
        return status;
    }
    job->scripts = calloc(1, sizeof(*job->scripts));
    return job->scripts == NULL ? no_memory(error) : job_read_script(tree, job, true, error);
}

int job_read_texts(const json_t *line, const char *key, size_t max, char ***items, size_t *count,
                   struct error *error)
{
    json_t *list = NULL;
    int status = json_get_array(line, key, "job", &list, error);
    if (status != 0) {
        return status;
    }
    size_t size = json_array_size(list);
    if (size > max) {
        return error_set(error, ERROR_PROTOCOL, "job: %zu %s, at most %zu are taken", size, key,
                         max);
    }
    *items = calloc(size + 1, sizeof(**items));
    if (*items == NULL) {
        return no_memory(error);
    }
    for (size_t i = 0; status == 0 && i < size; i++) {
        const json_t *entry = json_array_get(list, i);
        if (!json_is_string(entry)) {
            return error_set(error, ERROR_PROTOCOL, "job: entry %zu of %s is no text", i, key);
        }
        status = copy_text(json_string_value(entry), &(*items)[i], error);
        *count = i + 1;
    }
    return status;
}

int job_read_choice(const json_t *object, const char *key, const char *where,
                    const char *const *names, size_t count, int *out, struct error *error)
{
    const char *text = NULL;
    int status = json_get_string(object, key, where, &text, error);
    if (status != 0) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (int)i;
            return 0;
        }
    }
    struct buffer list;
    buffer_init(&list);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", names[i]);
    }
    status =
        error_set(error, ERROR_PROTOCOL, "%s: %s is '%s', must be %s", where, key, text, list.data);
    buffer_release(&list);
    return status;
}

static int read_check(const json_t *line, struct job *job, struct error *error)
{
    static const char *const names[] = {"none", "quick", "full"};
    int integrity = JOB_INTEGRITY_NONE;
    int status =
        job_read_texts(line, "tables", JOB_TABLES_MAX, &job->tables, &job->table_count, error);
    if (status == 0) {
        status = job_read_choice(line, "integrity", "job", names, 3, &integrity, error);
    }
    job->integrity = (enum job_integrity)integrity;
    return status;
}

static int read_common(const json_t *line, struct job *job, struct error *error)
{
    int status = read_database(line, &job->database, error);
    if (status == 0) {
        status = read_u32(line, "busy_timeout_ms", 0, INT32_MAX, &job->busy_timeout_ms, error);
    }
    if (status == 0) {
        status = read_u32(line, "seed", 0, UINT32_MAX, &job->seed, error);
    }
    if (status == 0) {
        status = read_settings(line, job, error);
    }
    return status != 0 ? status : read_variables(line, job, error);
}

typedef int job_reader(const json_t *line, struct job *job, struct error *error);

static int find_reader(const char *name, enum job_kind *kind, job_reader **reader,
                       struct error *error)
{
    static const struct {
        const char *name;
        enum job_kind kind;
        job_reader *reader;
    } kinds[] = {{"load", JOB_LOAD, read_load},
                 {"run", JOB_RUN, job_read_run},
                 {"check", JOB_CHECK, read_check},
                 {"verify", JOB_VERIFY, job_read_verify}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *kind = kinds[i].kind;
            *reader = kinds[i].reader;
            return 0;
        }
    }
    return error_set(error, ERROR_INVALID, "job kind %s is not known to this worker", name);
}

int job_from_json(const json_t *line, struct job **out, struct error *error)
{
    uint64_t version = 0;
    const char *name = NULL;
    job_reader *reader = NULL;
    *out = NULL;
    int status = json_get_u64(line, "protocol", "job", &version, error);
    if (status == 0 && version != PROTOCOL_VERSION) {
        status = error_set(error, ERROR_INVALID,
                           "job: protocol version %llu, this worker speaks version %d",
                           (unsigned long long)version, PROTOCOL_VERSION);
    }
    if (status == 0) {
        status = json_get_string(line, "job", "job", &name, error);
    }
    if (status != 0) {
        return status;
    }
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return no_memory(error);
    }
    status = find_reader(name, &job->kind, &reader, error);
    if (status == 0) {
        status = read_common(line, job, error);
    }
    if (status == 0) {
        status = reader(line, job, error);
    }
    if (status != 0) {
        job_free(job);
        return status;
    }
    *out = job;
    return 0;
}

static void free_roles(struct job *job)
{
    for (uint32_t i = 0; i < job->role_count; i++) {
        free(job->roles[i].name);
        free(job->roles[i].shares);
    }
    free(job->roles);
}

void job_free(struct job *job)
{
    if (job == NULL) {
        return;
    }
    for (size_t i = 0; i < job->settings.count; i++) {
        free(job->settings.items[i].name);
        free(job->settings.items[i].value);
    }
    for (size_t i = 0; i < job->constant_count; i++) {
        free(job->constants[i].name);
    }
    for (uint32_t i = 0; i < job->script_count; i++) {
        script_free(job->scripts[i]);
    }
    for (size_t i = 0; i < job->table_count; i++) {
        free(job->tables[i]);
    }
    for (size_t i = 0; i < job->ignore_count; i++) {
        free(job->ignore[i]);
    }
    free_roles(job);
    free(job->ignore);
    free(job->compare);
    free(job->settings.items);
    free(job->constants);
    free(job->scripts);
    free(job->reads);
    free(job->tables);
    free(job->schema);
    free(job->database);
    free(job);
}
