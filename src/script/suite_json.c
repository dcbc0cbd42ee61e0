/* suite.json: checked key by key, so that a misspelt one is a message and not a
 * default. */
#include "script/suite_fields.h"
#include "script/suite_internal.h"

#include "base/json.h"
#include "base/text.h"
#include "script/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scales ----------------------------------------------------------- */

static int read_variable(const struct fields *fields, const char *where, const char *name,
                         const json_t *value, struct script_constant *out)
{
    static const char *const builtins[] = {"row", "op", "connection", "connections"};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i], name) == 0) {
            return field_bad(fields, "%s.%s: :%s is a variable of pitot itself, take another name",
                             where, name, name);
        }
    }
    if (!field_is_name(name, true)) {
        return field_bad(
            fields,
            "%s: \"%.64s\" cannot be a variable: 1 to 64 letters, digits and _, not a digit "
            "first",
            where, name);
    }
    if (!json_is_integer(value) || json_integer_value(value) > SCRIPT_INTEGER_MAX ||
        json_integer_value(value) < -SCRIPT_INTEGER_MAX) {
        return field_bad(fields, "%s.%s must be a whole number within ±9007199254740991", where,
                         name);
    }
    out->value = json_integer_value(value);
    out->name = strdup(name);
    return out->name == NULL ? field_no_memory(fields) : 0;
}

static int read_variables(const struct fields *fields, const json_t *object, const char *where,
                          struct script_constant **out, size_t *count)
{
    if (!json_is_object(object)) {
        return field_bad(fields, "%s must be an object of variables, {\"users\": 1000}", where);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        struct script_constant *grown = array_grow(*out, *count, sizeof *grown);
        if (grown == NULL) {
            return field_no_memory(fields);
        }
        *out = grown;
        int rc = read_variable(fields, where, name, value, &grown[*count]);
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
static int check_scale(const struct fields *fields, const struct suite_scale *scale)
{
    const struct suite_scale *first = &fields->suite->scales[0];
    for (size_t i = 0; i < first->variable_count; i++) {
        if (find_variable(scale->variables, scale->variable_count, first->variables[i].name) ==
            NULL) {
            return field_bad(fields,
                             "scales.%s has no variable \"%s\", but scales.%s has: all scales "
                             "give the same variables",
                             scale->name, first->variables[i].name, first->name);
        }
    }
    for (size_t i = 0; i < scale->variable_count; i++) {
        if (find_variable(first->variables, first->variable_count, scale->variables[i].name) ==
            NULL) {
            return field_bad(fields,
                             "scales.%s has a variable \"%s\", but scales.%s has not: all scales "
                             "give the same variables",
                             scale->name, scale->variables[i].name, first->name);
        }
    }
    return 0;
}

/* "bytes" beside the variables is about the size of the loaded database, so that a disk which is
 * too small is found before the load. */
static int read_bytes(const struct fields *fields, const json_t *object, const char *where,
                      uint64_t *out)
{
    const json_t *bytes = json_object_get(object, "bytes");
    if (bytes == NULL) {
        return 0;
    }
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0) {
        return field_bad(fields,
                         "%s.bytes must be a whole number of bytes: about what the loaded "
                         "database takes",
                         where);
    }
    *out = (uint64_t)json_integer_value(bytes);
    return 0;
}

static int read_scale(const struct fields *fields, const json_t *object, const char *where,
                      struct suite_scale *scale)
{
    int rc = read_bytes(fields, object, where, &scale->bytes);
    if (rc != 0 || !json_is_object(object)) {
        return rc != 0 ? rc
                       : read_variables(fields, object, where, &scale->variables,
                                        &scale->variable_count);
    }
    json_t *variables = json_copy((json_t *)object);
    /* Out of memory, json_copy leaves keys out without a word. */
    if (json_object_size(variables) != json_object_size(object)) {
        json_decref(variables);
        return field_no_memory(fields);
    }
    json_object_del(variables, "bytes");
    rc = read_variables(fields, variables, where, &scale->variables, &scale->variable_count);
    json_decref(variables);
    return rc;
}

static int read_scales(const struct fields *fields, const json_t *root)
{
    const json_t *scales = json_object_get(root, "scales");
    if (!json_is_object(scales) || json_object_size(scales) == 0) {
        return field_bad(fields,
                         "scales %s an object with at least one scale: {\"small\": {\"users\": "
                         "1000}}; the first is the default",
                         scales == NULL ? "is missing: it is" : "must be");
    }
    struct suite *suite = fields->suite;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)scales, name, value)
    {
        if (!field_is_name(name, false)) {
            return field_bad(fields, "scales: \"%.64s\" cannot be a name: letters, digits, _ and -",
                             name);
        }
        struct suite_scale *grown = array_grow(suite->scales, suite->scale_count, sizeof *grown);
        if (grown == NULL) {
            return field_no_memory(fields);
        }
        suite->scales = grown;
        struct suite_scale *scale = &grown[suite->scale_count++];
        *scale = (struct suite_scale){.name = strdup(name)};
        if (scale->name == NULL) {
            return field_no_memory(fields);
        }
        char where[FIELD_PLACE_SIZE];
        int rc = read_scale(fields, value, field_place(where, "scales", name), scale);
        if (rc == 0) {
            rc = check_scale(fields, scale);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- scripts ---------------------------------------------------------- */

static int read_ignore(const struct fields *fields, const json_t *object, const char *where,
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
            return field_bad(fields, "%s.ignore must be a list of \"table.column\"", where);
        }
        char **grown = array_grow(out->ignore, out->ignore_count, sizeof *grown);
        if (grown == NULL ||
            (out->ignore = grown, grown[out->ignore_count] = strdup(text)) == NULL) {
            return field_no_memory(fields);
        }
        out->ignore_count++;
    }
    return 0;
}

static int read_script(const struct fields *fields, const json_t *object, const char *where,
                       struct suite_script *out)
{
    static const char *const keys[] = {"name",   "kind",   "compare", "operations",
                                       "ignore", "weight", NULL};
    static const char *const kinds[] = {"read", "write", NULL};
    static const char *const compares[] = {"ordered", "set", "count", NULL};
    int kind, compare;
    int rc = field_object(fields, object, where, keys);
    if (rc == 0) {
        rc = field_name(fields, object, where, "name", &out->name);
    }
    if (rc == 0) {
        rc = field_word(fields, object, where, "kind", kinds, "\"read\" or \"write\"", &kind);
    }
    if (rc == 0) {
        rc = field_word(fields, object, where, "compare", compares,
                        "\"ordered\", \"set\" or \"count\"", &compare);
    }
    if (rc == 0) {
        rc = field_count(fields, object, where, "operations", 1, &out->operations);
    }
    if (rc == 0) {
        rc = field_count(fields, object, where, "weight", 1, &out->weight);
    }
    if (rc == 0) {
        rc = read_ignore(fields, object, where, out);
    }
    if (rc != 0) {
        return rc;
    }
    out->kind = (enum suite_kind)kind;
    out->compare = (enum suite_compare)compare;
    if (strcmp(out->name, "schema") == 0 || strcmp(out->name, "load") == 0) {
        return field_bad(fields, "%s.name: %s.sql has its own meaning and is not listed", where,
                         out->name);
    }
    return 0;
}

static int read_scripts(const struct fields *fields, const json_t *root)
{
    struct suite *suite = fields->suite;
    json_t *array;
    int rc = field_array(fields, root, "", "scripts", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        struct suite_script *grown = array_grow(suite->scripts, suite->script_count, sizeof *grown);
        if (grown == NULL) {
            return field_no_memory(fields);
        }
        suite->scripts = grown;
        struct suite_script *script = &grown[suite->script_count++];
        *script = (struct suite_script){0};
        char where[FIELD_PLACE_SIZE];
        snprintf(where, sizeof where, "scripts[%zu]", i);
        rc = read_script(fields, json_array_get(array, i), where, script);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(grown[j].name, script->name) == 0) {
                rc = field_bad(fields, "%s.name: \"%s\" is listed already, as scripts[%zu]", where,
                               script->name, j);
            }
        }
    }
    return rc;
}

/* ---- scenarios -------------------------------------------------------- */

static int find_script(const struct fields *fields, const char *where, const char *name,
                       uint32_t *out)
{
    const struct suite *suite = fields->suite;
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
    int rc = field_bad(fields, "%s.script: no script \"%.64s\" in scripts%s%s%s", where, name,
                       nearest != NULL ? ": did you mean \"" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "\"?" : "");
    free(names);
    return rc;
}

static int share_add(const struct fields *fields, struct suite_role *role, uint32_t script,
                     uint32_t weight)
{
    struct suite_share *grown = array_grow(role->shares, role->share_count, sizeof *grown);
    if (grown == NULL) {
        return field_no_memory(fields);
    }
    role->shares = grown;
    grown[role->share_count++] = (struct suite_share){.script = script, .weight = weight};
    return 0;
}

static int read_share(const struct fields *fields, const json_t *object, const char *where,
                      struct suite_role *role)
{
    static const char *const keys[] = {"script", "weight", NULL};
    const char *name;
    uint32_t script = 0, weight;
    int rc = field_object(fields, object, where, keys);
    if (rc == 0) {
        rc = field_string(fields, object, where, "script", &name);
    }
    if (rc == 0) {
        rc = find_script(fields, where, name, &script);
    }
    if (rc == 0) {
        rc = field_count(fields, object, where, "weight", fields->suite->scripts[script].weight,
                         &weight);
    }
    for (size_t i = 0; rc == 0 && i < role->share_count; i++) {
        if (role->shares[i].script == script) {
            rc = field_bad(fields, "%s.script: \"%s\" stands twice in this role", where, name);
        }
    }
    return rc != 0 ? rc : share_add(fields, role, script, weight);
}

/* The scripts of a role; all of the suite, with their own weights, when it lists none. */
static int read_shares(const struct fields *fields, const json_t *object, const char *where,
                       struct suite_role *role)
{
    int rc = 0;
    if (json_object_get(object, "scripts") == NULL) {
        for (uint32_t i = 0; rc == 0 && i < fields->suite->script_count; i++) {
            rc = share_add(fields, role, i, fields->suite->scripts[i].weight);
        }
        return rc;
    }
    json_t *array;
    rc = field_array(fields, object, where, "scripts", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        char place[FIELD_PLACE_SIZE + 32];
        snprintf(place, sizeof place, "%.200s.scripts[%zu]", where, i);
        rc = read_share(fields, json_array_get(array, i), place, role);
    }
    return rc;
}

static int read_role(const struct fields *fields, const json_t *object, const char *where,
                     struct suite_role *role)
{
    static const char *const keys[] = {"name", "connections", "scripts", NULL};
    int rc = field_object(fields, object, where, keys);
    if (rc == 0) {
        rc = field_name(fields, object, where, "name", &role->name);
    }
    if (rc != 0) {
        return rc;
    }
    const json_t *connections = json_object_get(object, "connections");
    const char *text = json_string_value(connections);
    if (text == NULL || strcmp(text, "N") != 0) {
        if (!json_is_integer(connections) || json_integer_value(connections) < 1 ||
            json_integer_value(connections) > FIELD_COUNT_MAX) {
            return field_bad(fields,
                             "%s.connections %s a number from 1 to %d, or \"N\", as many as the "
                             "command is told",
                             where, connections == NULL ? "is missing: it is" : "must be",
                             FIELD_COUNT_MAX);
        }
        role->connections = (uint32_t)json_integer_value(connections);
    }
    return read_shares(fields, object, where, role);
}

static int read_roles(const struct fields *fields, const json_t *object, const char *where,
                      struct suite_scenario *scenario)
{
    json_t *array;
    int rc = field_array(fields, object, where, "roles", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        struct suite_role *grown = array_grow(scenario->roles, scenario->role_count, sizeof *grown);
        if (grown == NULL) {
            return field_no_memory(fields);
        }
        scenario->roles = grown;
        struct suite_role *role = &grown[scenario->role_count++];
        *role = (struct suite_role){0};
        char place[FIELD_PLACE_SIZE];
        snprintf(place, sizeof place, "%.200s.roles[%zu]", where, i);
        rc = read_role(fields, json_array_get(array, i), place, role);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(grown[j].name, role->name) == 0) {
                rc = field_bad(fields, "%s.name: \"%s\" is the name of another role", place,
                               role->name);
            }
        }
    }
    return rc;
}

static int read_scenario(const struct fields *fields, const json_t *object, const char *where,
                         struct suite_scenario *scenario)
{
    static const char *const keys[] = {"name", "variables", "roles", NULL};
    int rc = field_object(fields, object, where, keys);
    if (rc == 0) {
        rc = field_name(fields, object, where, "name", &scenario->name);
    }
    const json_t *variables = json_object_get(object, "variables");
    if (rc == 0 && variables != NULL) {
        char place[FIELD_PLACE_SIZE];
        rc = read_variables(fields, variables, field_place(place, where, "variables"),
                            &scenario->variables, &scenario->variable_count);
    }
    const struct suite_scale *scale = &fields->suite->scales[0];
    for (size_t i = 0; rc == 0 && i < scenario->variable_count; i++) {
        if (find_variable(scale->variables, scale->variable_count, scenario->variables[i].name) ==
            NULL) {
            rc = field_bad(fields, "%s.variables: the scales have no variable \"%s\"", where,
                           scenario->variables[i].name);
        }
    }
    return rc != 0 ? rc : read_roles(fields, object, where, scenario);
}

static int read_scenarios(const struct fields *fields, const json_t *root)
{
    struct suite *suite = fields->suite;
    json_t *array;
    int rc = field_array(fields, root, "", "scenarios", &array);
    for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
        struct suite_scenario *grown =
            array_grow(suite->scenarios, suite->scenario_count, sizeof *grown);
        if (grown == NULL) {
            return field_no_memory(fields);
        }
        suite->scenarios = grown;
        struct suite_scenario *scenario = &grown[suite->scenario_count++];
        *scenario = (struct suite_scenario){0};
        char where[FIELD_PLACE_SIZE];
        snprintf(where, sizeof where, "scenarios[%zu]", i);
        rc = read_scenario(fields, json_array_get(array, i), where, scenario);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (strcmp(grown[j].name, scenario->name) == 0) {
                rc = field_bad(fields, "%s.name: \"%s\" is the name of another scenario", where,
                               scenario->name);
            }
        }
    }
    return rc;
}

/* A script that no role runs would be left out of every table without a word. */
static int check_used(const struct fields *fields)
{
    const struct suite *suite = fields->suite;
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
            return field_bad(fields, "scripts[%u]: no role of any scenario runs \"%s\"", i,
                             suite->scripts[i].name);
        }
    }
    return 0;
}

static int read_root(const struct fields *fields, const json_t *root)
{
    static const char *const keys[] = {"name", "summary", "scales", "scripts", "scenarios", NULL};
    const char *summary;
    int rc = field_object(fields, root, "", keys);
    if (rc == 0) {
        rc = field_name(fields, root, "", "name", &fields->suite->name);
    }
    if (rc == 0) {
        rc = field_string(fields, root, "", "summary", &summary);
    }
    if (rc == 0 && (fields->suite->summary = strdup(summary)) == NULL) {
        rc = field_no_memory(fields);
    }
    if (rc == 0) {
        rc = read_scales(fields, root);
    }
    if (rc == 0) {
        rc = read_scripts(fields, root);
    }
    if (rc == 0) {
        rc = read_scenarios(fields, root);
    }
    return rc != 0 ? rc : check_used(fields);
}

int suite_json_read(struct suite *suite, const char *file, const char *bytes, size_t length,
                    struct error *error)
{
    struct fields fields = {.suite = suite, .file = file, .error = error};
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
    rc = read_root(&fields, root);
    json_decref(root);
    return rc;
}
