#include "script/suite_internal.h"

#include "base/text.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const builtin_names[] = {"prod", "bench", "concurrent", NULL};

const char *const *suite_builtin_names(void)
{
    return builtin_names;
}

/* ---- opening ---------------------------------------------------------- */

struct opening {
    const struct suite_files *files;
    struct suite *suite;
    struct error *error;
};

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "workload: out of memory");
}

/* Lengths go first, so that bytes cannot move from one file to the next unseen. */
static uint64_t hash_file(uint64_t hash, const char *bytes, size_t length)
{
    unsigned char size[8];
    for (int i = 0; i < 8; i++) {
        size[i] = (unsigned char)((uint64_t)length >> (8 * i));
    }
    return hash_bytes(hash_bytes(hash, size, sizeof size), bytes, length);
}

static int read_file(struct opening *opening, const char *name, struct buffer *out)
{
    buffer_clear(out);
    int rc = suite_files_read(opening->files, name, out, opening->error);
    if (rc == 0) {
        uint64_t hash = hash_file(opening->suite->hash, name, strlen(name));
        opening->suite->hash = hash_file(hash, out->data, out->length);
    }
    return rc;
}

static int read_suite_json(struct opening *opening, struct buffer *bytes)
{
    int rc = read_file(opening, "suite.json", bytes);
    if (rc != 0) {
        return rc;
    }
    char *path = suite_files_path(opening->files, "suite.json");
    if (path == NULL) {
        return no_memory(opening->error);
    }
    rc = suite_json_read(opening->suite, path, bytes->data, bytes->length, opening->error);
    free(path);
    return rc;
}

/* Parses NAME.sql, whose bytes are given. */
static int parse_script(struct opening *opening, const char *name, const char *file,
                        const struct buffer *bytes, bool load, struct script **out)
{
    char *path = suite_files_path(opening->files, file);
    if (path == NULL) {
        return no_memory(opening->error);
    }
    const struct suite_scale *scale = &opening->suite->scales[0];
    int rc = script_parse(name, path, bytes->data, bytes->length, scale->variables,
                          scale->variable_count, load, out, opening->error);
    free(path);
    return rc;
}

static int read_schema(struct opening *opening, struct buffer *bytes)
{
    struct suite *suite = opening->suite;
    int rc = read_file(opening, "schema.sql", bytes);
    if (rc != 0) {
        return rc;
    }
    bool marked = bytes->length >= 3 && memcmp(bytes->data, "\xEF\xBB\xBF", 3) == 0;
    const char *start = bytes->data + (marked ? 3 : 0);
    suite->load_hash = hash_file(HASH_START, bytes->data, bytes->length);
    suite->schema_length = strlen(start);
    suite->schema = strdup(start);
    if (suite->schema == NULL) {
        return no_memory(opening->error);
    }
    /* It travels to the worker as a JSON string. */
    json_t *utf8 = json_stringn(bytes->data, bytes->length);
    bool is_text = utf8 != NULL && strlen(bytes->data) == bytes->length;
    json_decref(utf8);
    if (!is_text) {
        char *path = suite_files_path(opening->files, "schema.sql");
        rc = error_set(opening->error, ERROR_INVALID,
                       "%s: not UTF-8 text, or with a NUL byte: save as UTF-8",
                       path != NULL ? path : "schema.sql");
        free(path);
    }
    return rc;
}

static int read_load(struct opening *opening, struct buffer *bytes)
{
    struct suite *suite = opening->suite;
    int rc = read_file(opening, "load.sql", bytes);
    if (rc == 0) {
        suite->load_hash = hash_file(suite->load_hash, bytes->data, bytes->length);
        rc = parse_script(opening, "load", "load.sql", bytes, true, &suite->load);
    }
    return rc;
}

static bool begins_with_word(const char *sql, const char *word)
{
    size_t length = strlen(word);
    return strncasecmp(sql, word, length) == 0 && (sql[length] == ' ' || sql[length] == '\n');
}

/* A read script that writes would spoil counts and answers. */
static int check_kind(struct opening *opening, const struct suite_script *entry)
{
    static const char *const writes[] = {"insert", "update", "delete", "replace"};
    const struct script *script = entry->script;
    for (uint32_t i = 0; entry->kind == SUITE_READ && i < script->statement_count; i++) {
        for (size_t w = 0; w < sizeof writes / sizeof *writes; w++) {
            const struct script_statement *statement = &script->statements[i];
            if (begins_with_word(statement->sql, writes[w])) {
                return error_set(opening->error, ERROR_INVALID,
                                 "%s:%u:%u: this statement writes, but suite.json calls %s a read: "
                                 "write \"kind\": \"write\"",
                                 script->file, statement->place.line, statement->place.column,
                                 entry->name);
            }
        }
    }
    return 0;
}

static int read_script(struct opening *opening, struct suite_script *entry, struct buffer *bytes)
{
    struct buffer file;
    buffer_init(&file);
    buffer_printf(&file, "%s.sql", entry->name);
    int rc = file.failed ? no_memory(opening->error) : read_file(opening, file.data, bytes);
    if (rc == 0) {
        rc = parse_script(opening, entry->name, file.data, bytes, false, &entry->script);
    }
    if (rc == 0) {
        rc = check_kind(opening, entry);
    }
    buffer_release(&file);
    return rc;
}

static bool is_listed(const struct suite *suite, const char *file)
{
    size_t length = strlen(file) - 4; /* without .sql */
    if (strcmp(file, "schema.sql") == 0 || strcmp(file, "load.sql") == 0) {
        return true;
    }
    for (size_t i = 0; i < suite->script_count; i++) {
        if (strlen(suite->scripts[i].name) == length &&
            strncmp(suite->scripts[i].name, file, length) == 0) {
            return true;
        }
    }
    return false;
}

/* A script that suite.json forgets would never run. */
static int check_files(struct opening *opening)
{
    char **names;
    size_t count;
    int rc = suite_files_list(opening->files, &names, &count, opening->error);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0 && !is_listed(opening->suite, names[i])) {
            char *path = suite_files_path(opening->files, names[i]);
            rc = error_set(opening->error, ERROR_INVALID,
                           "%s is not listed in suite.json: add {\"name\": \"%.*s\", \"kind\": "
                           "\"read\", \"compare\": \"ordered\"} to scripts, or move the file away",
                           path != NULL ? path : names[i], (int)strlen(names[i]) - 4, names[i]);
            free(path);
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

static int suite_open(const struct suite_files *files, struct suite **out, struct error *error)
{
    struct buffer bytes;
    buffer_init(&bytes);
    struct suite *suite = calloc(1, sizeof *suite);
    struct opening opening = {.files = files, .suite = suite, .error = error};
    int rc = suite == NULL ? no_memory(error) : 0;
    *out = NULL;
    if (rc == 0) {
        suite->hash = HASH_START;
        if (files->folder != NULL && (suite->folder = strdup(files->folder)) == NULL) {
            rc = no_memory(error);
        }
    }
    if (rc == 0) {
        rc = read_suite_json(&opening, &bytes);
    }
    if (rc == 0) {
        rc = check_files(&opening);
    }
    if (rc == 0) {
        rc = read_schema(&opening, &bytes);
    }
    if (rc == 0) {
        rc = read_load(&opening, &bytes);
    }
    for (size_t i = 0; rc == 0 && i < suite->script_count; i++) {
        rc = read_script(&opening, &suite->scripts[i], &bytes);
    }
    buffer_release(&bytes);
    if (rc != 0) {
        suite_free(suite);
        return rc;
    }
    *out = suite;
    return 0;
}

int suite_open_builtin(const char *name, struct suite **out, struct error *error)
{
    for (size_t i = 0; builtin_names[i] != NULL; i++) {
        if (strcmp(builtin_names[i], name) == 0) {
            return suite_open(&(struct suite_files){.builtin = name}, out, error);
        }
    }
    *out = NULL;
    const char *nearest = text_nearest(name, builtin_names);
    return error_set(error, ERROR_INVALID, "no built-in workload \"%s\": %s%s%s", name,
                     nearest != NULL ? "did you mean " : "there are prod, bench and concurrent",
                     nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

int suite_open_folder(const char *path, struct suite **out, struct error *error)
{
    return suite_open(&(struct suite_files){.folder = path}, out, error);
}

/* ---- the opened suite ------------------------------------------------- */

static void constants_free(struct script_constant *constants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(constants[i].name);
    }
    free(constants);
}

static void script_release(struct suite_script *script)
{
    for (size_t i = 0; i < script->ignore_count; i++) {
        free(script->ignore[i]);
    }
    free(script->ignore);
    free(script->name);
    script_free(script->script);
}

static void scenario_release(struct suite_scenario *scenario)
{
    for (size_t i = 0; i < scenario->role_count; i++) {
        free(scenario->roles[i].name);
        free(scenario->roles[i].shares);
    }
    free(scenario->roles);
    free(scenario->name);
    constants_free(scenario->variables, scenario->variable_count);
}

void suite_free(struct suite *suite)
{
    if (suite == NULL) {
        return;
    }
    for (size_t i = 0; i < suite->scale_count; i++) {
        free(suite->scales[i].name);
        constants_free(suite->scales[i].variables, suite->scales[i].variable_count);
    }
    for (size_t i = 0; i < suite->script_count; i++) {
        script_release(&suite->scripts[i]);
    }
    for (size_t i = 0; i < suite->scenario_count; i++) {
        scenario_release(&suite->scenarios[i]);
    }
    free(suite->scales);
    free(suite->scripts);
    free(suite->scenarios);
    script_free(suite->load);
    free(suite->schema);
    free(suite->folder);
    free(suite->summary);
    free(suite->name);
    free(suite);
}

const struct suite_scale *suite_find_scale(const struct suite *suite, const char *name)
{
    for (size_t i = 0; i < suite->scale_count; i++) {
        if (strcmp(suite->scales[i].name, name) == 0) {
            return &suite->scales[i];
        }
    }
    return NULL;
}

const struct suite_scenario *suite_find_scenario(const struct suite *suite, const char *name)
{
    for (size_t i = 0; i < suite->scenario_count; i++) {
        if (strcmp(suite->scenarios[i].name, name) == 0) {
            return &suite->scenarios[i];
        }
    }
    return NULL;
}

bool suite_same_variables(const struct suite *suite, const struct suite_scale *scale,
                          const struct suite_scenario *a, const struct suite_scenario *b)
{
    /* The order of the variables is that of the scale, so it is the same for both. */
    size_t counts[2];
    struct script_constant *one = suite_variables(suite, scale, a, &counts[0]);
    struct script_constant *two = suite_variables(suite, scale, b, &counts[1]);
    bool same = one != NULL && two != NULL && counts[0] == counts[1];
    for (size_t i = 0; same && i < counts[0]; i++) {
        same = strcmp(one[i].name, two[i].name) == 0 && one[i].value == two[i].value;
    }
    free(one);
    free(two);
    return same;
}

struct script_constant *suite_variables(const struct suite *suite, const struct suite_scale *scale,
                                        const struct suite_scenario *scenario, size_t *count)
{
    (void)suite;
    struct script_constant *variables = calloc(scale->variable_count + 1, sizeof *variables);
    if (variables == NULL) {
        return NULL;
    }
    *count = scale->variable_count;
    for (size_t i = 0; i < *count; i++) {
        variables[i] = scale->variables[i];
        for (size_t j = 0; scenario != NULL && j < scenario->variable_count; j++) {
            if (strcmp(scenario->variables[j].name, variables[i].name) == 0) {
                variables[i].value = scenario->variables[j].value;
            }
        }
    }
    return variables;
}
