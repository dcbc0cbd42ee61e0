/* suite.json: checked key by key, so that a misspelt one is a message and not a
 * default. */
#include "script/suite_internal.h"

#include "base/json.h"
#include "base/text.h"
#include "script/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 1000000, PLACE_SIZE = 256 };

struct reader {
    struct suite *suite;
    const char *file;
    struct error *error;
};

#define bad(reader, ...) fail((reader), ERROR_INVALID, __VA_ARGS__)

static int __attribute__((format(printf, 3, 4)))
fail(const struct reader *reader, enum error_code code, const char *format, ...)
{
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return error_set(reader->error, code, "%s: %s", reader->file, message);
}

static int no_memory(const struct reader *reader)
{
    return fail(reader, ERROR_MEMORY, "out of memory");
}

/* `where` is the object's place, "" for the whole file. */
static int check_object(const struct reader *reader, const json_t *object, const char *where,
                        const char *const *known)
{
    if (!json_is_object(object)) {
        return bad(reader, "%s must be an object, {…}", where[0] != '\0' ? where : "the file");
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0) {
            i++;
        }
        if (known[i] != NULL) {
            continue;
        }
        const char *nearest = text_nearest(key, known);
        return bad(reader, "unknown key \"%.64s\"%s%s%s%s%s", key, where[0] != '\0' ? " in " : "",
                   where, nearest != NULL ? ": did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
    }
    return 0;
}

/* "where.key", or "key" at the top. */
static const char *place_of(char out[PLACE_SIZE], const char *where, const char *key)
{
    snprintf(out, PLACE_SIZE, "%.160s%s%.64s", where, where[0] != '\0' ? "." : "", key);
    return out;
}

static int read_string(const struct reader *reader, const json_t *object, const char *where,
                       const char *key, const char **out)
{
    char place[PLACE_SIZE];
    const json_t *value = json_object_get(object, key);
    *out = json_string_value(value);
    if (value == NULL) {
        return bad(reader, "%s is missing", place_of(place, where, key));
    }
    if (*out == NULL || strlen(*out) != json_string_length(value)) {
        return bad(reader, "%s must be a text, \"…\"", place_of(place, where, key));
    }
    return 0;
}

static bool is_name(const char *text, bool variable)
{
    size_t length = strlen(text);
    bool fits = length >= 1 && length <= 64;
    for (size_t i = 0; fits && i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        fits = letter || (i > 0 && ((c >= '0' && c <= '9') || (!variable && c == '-')));
    }
    return fits;
}

/* A name of letters, digits, _ and -, as a new string. */
static int read_name(const struct reader *reader, const json_t *object, const char *where,
                     const char *key, char **out)
{
    const char *text;
    int rc = read_string(reader, object, where, key, &text);
    if (rc != 0) {
        return rc;
    }
    char place[PLACE_SIZE];
    if (!is_name(text, false)) {
        return bad(reader,
                   "%s is \"%.64s\": a name has 1 to 64 letters, digits, _ and -, and begins with "
                   "a letter or _",
                   place_of(place, where, key), text);
    }
    *out = strdup(text);
    return *out == NULL ? no_memory(reader) : 0;
}

/* An integer from 1 to COUNT_MAX; missing gives `absent`. */
static int read_count(const struct reader *reader, const json_t *object, const char *where,
                      const char *key, uint32_t absent, uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    *out = absent;
    if (value == NULL) {
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > COUNT_MAX) {
        char place[PLACE_SIZE];
        return bad(reader, "%s must be a whole number from 1 to %d", place_of(place, where, key),
                   COUNT_MAX);
    }
    *out = (uint32_t)json_integer_value(value);
    return 0;
}

/* One of a list of words, by its index. */
static int read_word(const struct reader *reader, const json_t *object, const char *where,
                     const char *key, const char *const *words, const char *all, int *out)
{
    const char *text;
    int rc = read_string(reader, object, where, key, &text);
    if (rc != 0) {
        return rc;
    }
    for (*out = 0; words[*out] != NULL; (*out)++) {
        if (strcmp(words[*out], text) == 0) {
            return 0;
        }
    }
    char place[PLACE_SIZE];
    return bad(reader, "%s is \"%.64s\": it must be %s", place_of(place, where, key), text, all);
}

static int read_array(const struct reader *reader, const json_t *object, const char *where,
                      const char *key, json_t **out)
{
    char place[PLACE_SIZE];
    *out = json_object_get(object, key);
    if (*out == NULL) {
        return bad(reader, "%s is missing", place_of(place, where, key));
    }
    if (!json_is_array(*out) || json_array_size(*out) == 0) {
        return bad(reader, "%s must be a list with at least one entry, […]",
                   place_of(place, where, key));
    }
    return 0;
}

/* ---- scales ----------------------------------------------------------- */

static int read_variable(const struct reader *reader, const char *where, const char *name,
                         const json_t *value, struct script_constant *out)
{
    static const char *const builtins[] = {"row", "op", "connection", "connections"};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i], name) == 0) {
            return bad(reader, "%s.%s: :%s is a variable of pitot itself, take another name", where,
                       name, name);
        }
    }
    if (!is_name(name, true)) {
        return bad(reader,
                   "%s: \"%.64s\" cannot be a variable: 1 to 64 letters, digits and _, not a digit "
                   "first",
                   where, name);
    }
    if (!json_is_integer(value) || json_integer_value(value) > SCRIPT_INTEGER_MAX ||
        json_integer_value(value) < -SCRIPT_INTEGER_MAX) {
        return bad(reader, "%s.%s must be a whole number within ±9007199254740991", where, name);
    }
    out->value = json_integer_value(value);
    out->name = strdup(name);
    return out->name == NULL ? no_memory(reader) : 0;
}

static int read_variables(const struct reader *reader, const json_t *object, const char *where,
                          struct script_constant **out, size_t *count)
{
    if (!json_is_object(object)) {
        return bad(reader, "%s must be an object of variables, {\"users\": 1000}", where);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        struct script_constant *grown = array_grow(*out, *count, sizeof *grown);
        if (grown == NULL) {
            return no_memory(reader);
        }
        *out = grown;
        int rc = read_variable(reader, where, name, value, &grown[*count]);
        if (rc != 0) {
            return rc;
        }
        (*count)++;
    }
    return 0;
}

static const struct script_constant *find_variable(const struct script_constant *variables,
                                                   size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(variables[i].name, name) == 0) {
            return &variables[i];
        }
    }
    return NULL;
}

/* All scales must give the same names, since scripts are checked once. */
static int check_scale(const struct reader *reader, const struct suite_scale *scale)
{
    const struct suite_scale *first = &reader->suite->scales[0];
    for (size_t i = 0; i < first->variable_count; i++) {
        if (find_variable(scale->variables, scale->variable_count, first->variables[i].name) ==
            NULL) {
            return bad(reader, "scales.%s has no variable \"%s\", but scales.%s has: all scales "
                       "give the same variables",
                       scale->name, first->variables[i].name, first->name);
        }
    }
    for (size_t i = 0; i < scale->variable_count; i++) {
        if (find_variable(first->variables, first->variable_count, scale->variables[i].name) ==
            NULL) {
            return bad(reader, "scales.%s has a variable \"%s\", but scales.%s has not: all scales "
                       "give the same variables",
                       scale->name, scale->variables[i].name, first->name);
        }
    }
    return 0;
}

static int read_scales(const struct reader *reader, const json_t *root)
{
    const json_t *scales = json_object_get(root, "scales");
    if (!json_is_object(scales) || json_object_size(scales) == 0) {
        return bad(reader, "scales %s an object with at least one scale: {\"small\": {\"users\": "
                   "1000}}; the first is the default",
                   scales == NULL ? "is missing: it is" : "must be");
    }
    struct suite *suite = reader->suite;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)scales, name, value) {
        if (!is_name(name, false)) {
            return bad(reader, "scales: \"%.64s\" cannot be a name: letters, digits, _ and -", name);
        }
        struct suite_scale *grown = array_grow(suite->scales, suite->scale_count, sizeof *grown);
        if (grown == NULL) {
            return no_memory(reader);
        }
        suite->scales = grown;
        struct suite_scale *scale = &grown[suite->scale_count++];
        *scale = (struct suite_scale){.name = strdup(name)};
        if (scale->name == NULL) {
            return no_memory(reader);
        }
        char where[PLACE_SIZE];
        int rc = read_variables(reader, value, place_of(where, "scales", name), &scale->variables,
                                &scale->variable_count);
        if (rc == 0) {
            rc = check_scale(reader, scale);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- scripts ---------------------------------------------------------- */

static int read_ignore(const struct reader *reader, const json_t *object, const char *where,
                       struct suite_script *out)
{
    const json_t *ignore = json_object_get(object, "ignore");
    if (ignore == NULL) {
        return 0;
    }
    size_t count = json_array_size(ignore);
    for (size_t i = 0; i < count || !json_is_array(ignore); i++) {
        const char *text = json_string_value(json_array_get(ignore, i));
        const char *dot = text != NULL ? strchr(text, '.') : NULL;
        if (dot == NULL || dot == text || dot[1] == '\0' || strchr(dot + 1, '.') != NULL) {
            return bad(reader, "%s.ignore must be a list of \"table.column\"", where);
        }
        char **grown = array_grow(out->ignore, out->ignore_count, sizeof *grown);
        if (grown == NULL || (out->ignore = grown, grown[out->ignore_count] = strdup(text)) == NULL) {
            return no_memory(reader);
        }
        out->ignore_count++;
    }
    return 0;
}

static int read_script(const struct reader *reader, const json_t *object, const char *where,
                       struct suite_script *out)
{
    static const char *const keys[] = {"name",   "kind",   "compare", "operations",
                                       "ignore", "weight", NULL};
    static const char *const kinds[] = {"read", "write", NULL};
    static const char *const compares[] = {"ordered", "set", "count", NULL};
    int kind, compare;
    int rc = check_object(reader, object, where, keys);
    if (rc == 0) {
        rc = read_name(reader, object, where, "name", &out->name);
    }
    if (rc == 0) {
        rc = read_word(reader, object, where, "kind", kinds, "\"read\" or \"write\"", &kind);
    }
    if (rc == 0) {
        rc = read_word(reader, object, where, "compare", compares,
                       "\"ordered\", \"set\" or \"count\"", &compare);
    }
    if (rc == 0) {
        rc = read_count(reader, object, where, "operations", 1, &out->operations);
    }
    if (rc == 0) {
        rc = read_count(reader, object, where, "weight", 1, &out->weight);
    }
    if (rc == 0) {
        rc = read_ignore(reader, object, where, out);
    }
    if (rc != 0) {
        return rc;
    }
    out->kind = (enum suite_kind)kind;
    out->compare = (enum suite_compare)compare;
    if (strcmp(out->name, "schema") == 0 || strcmp(out->name, "load") == 0) {
        return bad(reader, "%s.name: %s.sql has its own meaning and is not listed", where,
                   out->name);
    }
    return 0;
}

static int read_scripts(const struct reader *reader, const json_t *root)
{
    struct suite *suite = reader->suite;
    json_t *array;
    int rc = read_array(reader, root, "", "scripts", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        struct suite_script *grown = array_grow(suite->scripts, suite->script_count, sizeof *grown);
        if (grown == NULL) {
            return no_memory(reader);
        }
        suite->scripts = grown;
        struct suite_script *script = &grown[suite->script_count++];
        *script = (struct suite_script){0};
        char where[PLACE_SIZE];
        snprintf(where, sizeof where, "scripts[%zu]", i);
        rc = read_script(reader, json_array_get(array, i), where, script);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(grown[j].name, script->name) == 0) {
                rc = bad(reader, "%s.name: \"%s\" is listed already, as scripts[%zu]", where,
                         script->name, j);
            }
        }
    }
    return rc;
}

/* ---- scenarios -------------------------------------------------------- */

static int find_script(const struct reader *reader, const char *where, const char *name,
                       uint32_t *out)
{
    const struct suite *suite = reader->suite;
    for (*out = 0; *out < suite->script_count; (*out)++) {
        if (strcmp(suite->scripts[*out].name, name) == 0) {
            return 0;
        }
    }
    const char **names = calloc(suite->script_count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < suite->script_count; i++) {
        names[i] = suite->scripts[i].name;
    }
    const char *nearest = names != NULL ? text_nearest(name, names) : NULL;
    int rc = bad(reader, "%s.script: no script \"%.64s\" in scripts%s%s%s", where, name,
                 nearest != NULL ? ": did you mean \"" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "\"?" : "");
    free(names);
    return rc;
}

static int share_add(const struct reader *reader, struct suite_role *role, uint32_t script,
                     uint32_t weight)
{
    struct suite_share *grown = array_grow(role->shares, role->share_count, sizeof *grown);
    if (grown == NULL) {
        return no_memory(reader);
    }
    role->shares = grown;
    grown[role->share_count++] = (struct suite_share){.script = script, .weight = weight};
    return 0;
}

static int read_share(const struct reader *reader, const json_t *object, const char *where,
                      struct suite_role *role)
{
    static const char *const keys[] = {"script", "weight", NULL};
    const char *name;
    uint32_t script = 0, weight;
    int rc = check_object(reader, object, where, keys);
    if (rc == 0) {
        rc = read_string(reader, object, where, "script", &name);
    }
    if (rc == 0) {
        rc = find_script(reader, where, name, &script);
    }
    if (rc == 0) {
        rc = read_count(reader, object, where, "weight", reader->suite->scripts[script].weight,
                        &weight);
    }
    for (size_t i = 0; rc == 0 && i < role->share_count; i++) {
        if (role->shares[i].script == script) {
            rc = bad(reader, "%s.script: \"%s\" stands twice in this role", where, name);
        }
    }
    return rc != 0 ? rc : share_add(reader, role, script, weight);
}

/* The scripts of a role; all of the suite, with their own weights, when it lists none. */
static int read_shares(const struct reader *reader, const json_t *object, const char *where,
                       struct suite_role *role)
{
    int rc = 0;
    if (json_object_get(object, "scripts") == NULL) {
        for (uint32_t i = 0; rc == 0 && i < reader->suite->script_count; i++) {
            rc = share_add(reader, role, i, reader->suite->scripts[i].weight);
        }
        return rc;
    }
    json_t *array;
    rc = read_array(reader, object, where, "scripts", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        char place[PLACE_SIZE + 32];
        snprintf(place, sizeof place, "%.200s.scripts[%zu]", where, i);
        rc = read_share(reader, json_array_get(array, i), place, role);
    }
    return rc;
}

static int read_role(const struct reader *reader, const json_t *object, const char *where,
                     struct suite_role *role)
{
    static const char *const keys[] = {"name", "connections", "scripts", NULL};
    int rc = check_object(reader, object, where, keys);
    if (rc == 0) {
        rc = read_name(reader, object, where, "name", &role->name);
    }
    if (rc != 0) {
        return rc;
    }
    const json_t *connections = json_object_get(object, "connections");
    const char *text = json_string_value(connections);
    if (text == NULL || strcmp(text, "N") != 0) {
        if (!json_is_integer(connections) || json_integer_value(connections) < 1 ||
            json_integer_value(connections) > COUNT_MAX) {
            return bad(reader, "%s.connections %s a number from 1 to %d, or \"N\", as many as the "
                       "command is told",
                       where, connections == NULL ? "is missing: it is" : "must be", COUNT_MAX);
        }
        role->connections = (uint32_t)json_integer_value(connections);
    }
    return read_shares(reader, object, where, role);
}

static int read_roles(const struct reader *reader, const json_t *object, const char *where,
                      struct suite_scenario *scenario)
{
    json_t *array;
    int rc = read_array(reader, object, where, "roles", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        struct suite_role *grown = array_grow(scenario->roles, scenario->role_count, sizeof *grown);
        if (grown == NULL) {
            return no_memory(reader);
        }
        scenario->roles = grown;
        struct suite_role *role = &grown[scenario->role_count++];
        *role = (struct suite_role){0};
        char place[PLACE_SIZE];
        snprintf(place, sizeof place, "%.200s.roles[%zu]", where, i);
        rc = read_role(reader, json_array_get(array, i), place, role);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(grown[j].name, role->name) == 0) {
                rc = bad(reader, "%s.name: \"%s\" is the name of another role", place, role->name);
            }
        }
    }
    return rc;
}

static int read_scenario(const struct reader *reader, const json_t *object, const char *where,
                         struct suite_scenario *scenario)
{
    static const char *const keys[] = {"name", "variables", "roles", NULL};
    int rc = check_object(reader, object, where, keys);
    if (rc == 0) {
        rc = read_name(reader, object, where, "name", &scenario->name);
    }
    const json_t *variables = json_object_get(object, "variables");
    if (rc == 0 && variables != NULL) {
        char place[PLACE_SIZE];
        rc = read_variables(reader, variables, place_of(place, where, "variables"),
                            &scenario->variables, &scenario->variable_count);
    }
    const struct suite_scale *scale = &reader->suite->scales[0];
    for (size_t i = 0; rc == 0 && i < scenario->variable_count; i++) {
        if (find_variable(scale->variables, scale->variable_count, scenario->variables[i].name) ==
            NULL) {
            rc = bad(reader, "%s.variables: the scales have no variable \"%s\"", where,
                     scenario->variables[i].name);
        }
    }
    return rc != 0 ? rc : read_roles(reader, object, where, scenario);
}

static int read_scenarios(const struct reader *reader, const json_t *root)
{
    struct suite *suite = reader->suite;
    json_t *array;
    int rc = read_array(reader, root, "", "scenarios", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        struct suite_scenario *grown =
            array_grow(suite->scenarios, suite->scenario_count, sizeof *grown);
        if (grown == NULL) {
            return no_memory(reader);
        }
        suite->scenarios = grown;
        struct suite_scenario *scenario = &grown[suite->scenario_count++];
        *scenario = (struct suite_scenario){0};
        char where[PLACE_SIZE];
        snprintf(where, sizeof where, "scenarios[%zu]", i);
        rc = read_scenario(reader, json_array_get(array, i), where, scenario);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(grown[j].name, scenario->name) == 0) {
                rc = bad(reader, "%s.name: \"%s\" is the name of another scenario", where,
                         scenario->name);
            }
        }
    }
    return rc;
}

/* A script that no role runs would be left out of every table without a word. */
static int check_used(const struct reader *reader)
{
    const struct suite *suite = reader->suite;
    for (uint32_t i = 0; i < suite->script_count; i++) {
        bool used = false;
        for (size_t s = 0; s < suite->scenario_count; s++) {
            for (size_t r = 0; r < suite->scenarios[s].role_count; r++) {
                const struct suite_role *role = &suite->scenarios[s].roles[r];
                for (size_t k = 0; k < role->share_count; k++) {
                    used = used || role->shares[k].script == i;
                }
            }
        }
        if (!used) {
            return bad(reader, "scripts[%u]: no role of any scenario runs \"%s\"", i,
                       suite->scripts[i].name);
        }
    }
    return 0;
}

static int read_root(const struct reader *reader, const json_t *root)
{
    static const char *const keys[] = {"name", "summary", "scales", "scripts", "scenarios", NULL};
    const char *summary;
    int rc = check_object(reader, root, "", keys);
    if (rc == 0) {
        rc = read_name(reader, root, "", "name", &reader->suite->name);
    }
    if (rc == 0) {
        rc = read_string(reader, root, "", "summary", &summary);
    }
    if (rc == 0 && (reader->suite->summary = strdup(summary)) == NULL) {
        rc = no_memory(reader);
    }
    if (rc == 0) {
        rc = read_scales(reader, root);
    }
    if (rc == 0) {
        rc = read_scripts(reader, root);
    }
    if (rc == 0) {
        rc = read_scenarios(reader, root);
    }
    return rc != 0 ? rc : check_used(reader);
}

int suite_json_read(struct suite *suite, const char *file, const char *bytes, size_t length,
                    struct error *error)
{
    struct reader reader = {.suite = suite, .file = file, .error = error};
    struct error found = ERROR_INIT;
    json_t *root;
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    int rc = json_parse(bytes, length, file, &root, &found);
    if (rc != 0) {
        /* A file of the user, not a worker's line. */
        return error_set(error, rc == ERROR_PROTOCOL ? ERROR_INVALID : found.code, "%s",
                         found.message);
    }
    rc = read_root(&reader, root);
    json_decref(root);
    return rc;
}
