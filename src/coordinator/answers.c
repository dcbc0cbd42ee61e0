#include "coordinator/answers.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for answers");
}

const char *answers_compare_name(enum suite_compare compare)
{
    switch (compare) {
    case SUITE_ORDERED:
        return "ordered";
    case SUITE_SET:
        return "set";
    case SUITE_COUNT:
        break;
    }
    return "count";
}

/* ---- reading ------------------------------------------------------------------- */

/* Exactly 16 hex digits in lower case. */
static bool read_digest(const json_t *text, uint64_t *out)
{
    const char *digits = json_string_value(text);
    if (digits == NULL || strlen(digits) != 16 || strspn(digits, "0123456789abcdef") != 16) {
        return false;
    }
    *out = strtoull(digits, NULL, 16);
    return true;
}

static int read_digests(const json_t *script, const char *key, uint32_t operations, uint64_t **out,
                        struct error *error)
{
    json_t *array;
    int status = json_get_array(script, key, "verify", &array, error);
    if (status != 0) {
        return status;
    }
    if (json_array_size(array) != operations) {
        return error_set(error, ERROR_PROTOCOL,
                         "verify: %s has %zu digests, %u operations were "
                         "asked for",
                         key, json_array_size(array), operations);
    }
    uint64_t *digests = calloc(operations, sizeof *digests);
    *out = digests;
    if (digests == NULL) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < operations; i++) {
        if (!read_digest(json_array_get(array, i), &digests[i])) {
            return error_set(error, ERROR_PROTOCOL, "verify: %s[%u] is no digest (16 hex digits)",
                             key, i);
        }
    }
    return 0;
}

static int read_errors(const json_t *script, result_strings *out, struct error *error)
{
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(script, "errors"), index, item)
    {
        const char *message = json_string_value(json_object_get(item, "message"));
        char **slot = result_list_add(out);
        if (slot == NULL || (*slot = strdup(message != NULL ? message : "?")) == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

static bool is_given(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value != NULL && !json_is_null(value);
}

static int read_script(const json_t *item, const char *name, uint32_t operations,
                       struct answers_script *out, struct error *error)
{
    const struct {
        const char *key;
        uint64_t *out;
    } numbers[] = {
        {"ok", &out->ok},
        {"busy", &out->busy},
        {"conflict", &out->conflict},
        {"failed", &out->failed},
        {"rows_read", &out->rows_read},
        {"rows_changed", &out->rows_changed},
    };
    int status = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == 0; i++) {
        status = json_get_u64(item, numbers[i].key, "verify", numbers[i].out, error);
    }
    if (status == 0 && (out->ok > operations || out->busy > operations ||
                        out->conflict > operations || out->failed > operations ||
                        out->ok + out->busy + out->conflict + out->failed != operations)) {
        status = error_set(error, ERROR_PROTOCOL,
                           "verify: the outcomes of %s do not add up to %u operations", name,
                           operations);
    }
    if (status == 0) {
        status = read_digests(item, "value", operations, &out->value, error);
    }
    if (status == 0 && is_given(item, "strict")) {
        status = read_digests(item, "strict", operations, &out->strict, error);
    }
    return status == 0 ? read_errors(item, &out->errors, error) : status;
}

static int read_table(const json_t *item, struct answers_table *out, struct error *error)
{
    const char *name;
    int status = json_get_string(item, "table", "verify", &name, error);
    if (status == 0) {
        out->table = strdup(name);
        status = out->table != NULL ? json_get_u64(item, "rows", "verify", &out->rows, error)
                                    : no_memory(error);
    }
    if (status != 0) {
        return status;
    }
    out->has_strict = is_given(item, "strict");
    if (!read_digest(json_object_get(item, "value"), &out->value) ||
        (out->has_strict && !read_digest(json_object_get(item, "strict"), &out->strict))) {
        return error_set(error, ERROR_PROTOCOL,
                         "verify: a digest of the table %s is not 16 hex digits", name);
    }
    return 0;
}

int answers_read(const json_t *result, const struct suite *suite, uint32_t operations,
                 struct answers *out, struct error *error)
{
    json_t *scripts = NULL;
    json_t *tables = NULL;
    *out = (struct answers){.operations = operations};
    int status = json_get_array(result, "scripts", "verify", &scripts, error);
    if (status == 0) {
        status = json_get_array(result, "tables", "verify", &tables, error);
    }
    if (status == 0 && json_array_size(scripts) != suite->script_count) {
        status = error_set(error, ERROR_PROTOCOL, "verify: answers of %zu scripts, asked were %zu",
                           json_array_size(scripts), suite->script_count);
    }
    for (size_t i = 0; status == 0 && i < suite->script_count; i++) {
        struct answers_script *script = result_list_add(&out->scripts);
        status = script != NULL ? read_script(json_array_get(scripts, i), suite->scripts[i].name,
                                              operations, script, error)
                                : no_memory(error);
    }
    for (size_t i = 0; status == 0 && i < json_array_size(tables); i++) {
        struct answers_table *table = result_list_add(&out->tables);
        status =
            table != NULL ? read_table(json_array_get(tables, i), table, error) : no_memory(error);
    }
    return status;
}

void answers_release(struct answers *answers)
{
    for (size_t i = 0; i < answers->scripts.count; i++) {
        struct answers_script *script = &answers->scripts.items[i];
        free(script->value);
        free(script->strict);
        for (size_t k = 0; k < script->errors.count; k++) {
            free(script->errors.items[k]);
        }
        free(script->errors.items);
    }
    free(answers->scripts.items);
    for (size_t i = 0; i < answers->tables.count; i++) {
        free(answers->tables.items[i].table);
    }
    free(answers->tables.items);
    *answers = (struct answers){.operations = 0};
}

/* ---- comparing ------------------------------------------------------------------- */

static int set_text(char **out, const char *text, struct error *error)
{
    *out = strdup(text);
    return *out != NULL ? 0 : no_memory(error);
}

static int copy_texts(const result_strings *from, result_strings *to, struct error *error)
{
    for (size_t i = 0; i < from->count; i++) {
        char **slot = result_list_add(to);
        if (slot == NULL || (*slot = strdup(from->items[i])) == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

static int add_difference(struct result_verify_script *out, uint64_t operation, bool class_only,
                          struct error *error)
{
    struct result_difference *difference = result_list_add(&out->differences);
    if (difference == NULL) {
        return no_memory(error);
    }
    result_difference_init(difference);
    difference->operation = operation;
    difference->storage_class_only = class_only;
    return 0;
}

static int compare_script(const struct answers_script *mine, const struct answers_script *other,
                          uint32_t operations, bool strict, struct result_verify_script *out,
                          struct error *error)
{
    strict = strict && mine->strict != NULL && other->strict != NULL;
    uint64_t first = 0;
    bool class_only = false;
    for (uint32_t i = 0; i < operations; i++) {
        bool values = mine->value[i] == other->value[i];
        if (values && (!strict || mine->strict[i] == other->strict[i])) {
            continue;
        }
        if (out->differing == 0) {
            first = i;
            class_only = values;
        }
        out->differing++;
    }
    int status = set_text(&out->status, out->differing > 0 ? "differs" : "equal", error);
    return status == 0 && out->differing > 0 ? add_difference(out, first, class_only, error)
                                             : status;
}

static int fill_script(const struct suite_script *source, const struct answers_script *mine,
                       struct result_verify_script *out, struct error *error)
{
    out->write = source->kind == SUITE_WRITE;
    out->ok = mine->ok;
    out->busy = mine->busy;
    out->conflict = mine->conflict;
    out->failed = mine->failed;
    out->rows_read = mine->rows_read;
    out->rows_changed = mine->rows_changed;
    int status = set_text(&out->script, source->name, error);
    if (status == 0) {
        status = set_text(&out->compare, answers_compare_name(source->compare), error);
    }
    return status == 0 ? copy_texts(&mine->errors, &out->errors, error) : status;
}

static const struct answers_table *find_table(const struct answers *answers, const char *name)
{
    for (size_t i = 0; i < answers->tables.count; i++) {
        if (strcmp(answers->tables.items[i].table, name) == 0) {
            return &answers->tables.items[i];
        }
    }
    return NULL;
}

static bool table_equal(const struct answers_table *mine, const struct answers_table *other,
                        bool strict)
{
    return mine->rows == other->rows && mine->value == other->value &&
           (!strict || !mine->has_strict || !other->has_strict || mine->strict == other->strict);
}

static int fill_tables(const struct answers *mine, const struct answers *reference, bool strict,
                       struct result_verify_database *out, bool *differs, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < mine->tables.count && status == 0; i++) {
        const struct answers_table *table = &mine->tables.items[i];
        const struct answers_table *other =
            reference != NULL ? find_table(reference, table->table) : NULL;
        struct result_verify_table *entry = result_list_add(&out->tables);
        if (entry == NULL) {
            return no_memory(error);
        }
        bool equal = other != NULL && table_equal(table, other, strict);
        entry->rows = table->rows;
        entry->reference_rows = other != NULL ? other->rows : RESULT_ABSENT;
        *differs = *differs || (reference != NULL && !equal);
        status = set_text(&entry->table, table->table, error);
        if (status == 0) {
            status = set_text(&entry->status,
                              reference == NULL ? "alone"
                              : equal           ? "equal"
                                                : "differs",
                              error);
        }
    }
    return status;
}

/* Tables that only the reference has, as tables without rows. */
static int fill_missing_tables(const struct answers *mine, const struct answers *reference,
                               struct result_verify_database *out, bool *differs,
                               struct error *error)
{
    for (size_t i = 0; i < reference->tables.count; i++) {
        const struct answers_table *table = &reference->tables.items[i];
        if (find_table(mine, table->table) != NULL) {
            continue;
        }
        struct result_verify_table *entry = result_list_add(&out->tables);
        if (entry == NULL) {
            return no_memory(error);
        }
        *differs = true;
        entry->reference_rows = table->rows;
        if (set_text(&entry->table, table->table, error) != 0 ||
            set_text(&entry->status, "differs", error) != 0) {
            return ERROR_MEMORY;
        }
    }
    return 0;
}

int answers_compare(const struct suite *suite, const struct answers *mine,
                    const struct answers *reference, const char *reference_name, bool strict,
                    struct result_verify_database *out, struct error *error)
{
    bool differs = false;
    int status = 0;
    out->operations = mine->operations;
    for (size_t i = 0; i < mine->scripts.count && status == 0; i++) {
        struct result_verify_script *script = result_list_add(&out->scripts);
        status = script != NULL
                     ? fill_script(&suite->scripts[i], &mine->scripts.items[i], script, error)
                     : no_memory(error);
        if (status == 0) {
            status = reference == NULL
                         ? set_text(&script->status, "alone", error)
                         : compare_script(&mine->scripts.items[i], &reference->scripts.items[i],
                                          mine->operations, strict, script, error);
            differs = differs || script->differing > 0;
        }
    }
    if (status == 0) {
        status = fill_tables(mine, reference, strict, out, &differs, error);
    }
    if (status == 0 && reference != NULL) {
        status = fill_missing_tables(mine, reference, out, &differs, error);
        if (status == 0) {
            status = set_text(&out->reference, reference_name, error);
        }
    }
    return status == 0 ? set_text(&out->status,
                                  reference == NULL ? "alone"
                                  : differs         ? "differs"
                                                    : "equal",
                                  error)
                       : status;
}
