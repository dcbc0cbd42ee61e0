/* Finds the row in which two answers to one operation differ. */
#include "base/buffer.h"
#include "base/json.h"
#include "coordinator/answers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for answers");
}

/* ---- values ----------------------------------------------------------------------- */

static bool is_number(const char *literal, double *out)
{
    char *end;
    if (literal[0] == '\0' || strchr("+-.0123456789", literal[0]) == NULL) {
        return false;
    }
    *out = strtod(literal, &end);
    return *end == '\0' && isfinite(*out);
}

static bool is_integer(const char *literal)
{
    const char *digits = literal[0] == '-' || literal[0] == '+' ? literal + 1 : literal;
    return digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

/* Two that are too large for 64 bits are equal only as texts, which they are not here. */
static bool integer_equal(const char *a, const char *b)
{
    errno = 0;
    long long x = strtoll(a, NULL, 10);
    long long y = strtoll(b, NULL, 10);
    return errno == 0 && x == y;
}

/* SQL literals, equal where the digests are: integers exactly, as a double does not hold all of
 * them. Where only values are compared, 1 and 1.0 are one value; -0.0 and 0.0 always are. */
static bool literal_equal(const char *a, const char *b, bool strict)
{
    double x;
    double y;
    if (strcmp(a, b) == 0) {
        return true;
    }
    bool a_integer = is_integer(a);
    bool b_integer = is_integer(b);
    if (a_integer && b_integer) {
        return integer_equal(a, b);
    }
    if (strict && a_integer != b_integer) {
        return false;
    }
    return is_number(a, &x) && is_number(b, &y) && !(x < y) && !(x > y);
}

static const char *literal_at(const json_t *row, size_t index)
{
    const char *text = json_string_value(json_array_get(row, index));
    return text != NULL ? text : "";
}

static bool row_equal(const json_t *a, const json_t *b, bool strict)
{
    if (json_array_size(a) != json_array_size(b)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(a); i++) {
        if (!literal_equal(literal_at(a, i), literal_at(b, i), strict)) {
            return false;
        }
    }
    return true;
}

static int keep_row(const json_t *row, result_strings *out, struct error *error)
{
    for (size_t i = 0; i < json_array_size(row); i++) {
        char **slot = result_list_add(out);
        if (slot == NULL || (*slot = strdup(literal_at(row, i))) == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* A row that the other list does not hold, each row of which stands for one; the size of the list
 * when there is none. */
static size_t row_alone(const json_t *rows, const json_t *others, bool strict, bool *failed)
{
    size_t count = json_array_size(rows);
    size_t other_count = json_array_size(others);
    bool *taken = calloc(other_count + 1, sizeof *taken);
    *failed = taken == NULL;
    for (size_t i = 0; taken != NULL && i < count; i++) {
        size_t k = 0;
        while (k < other_count && (taken[k] || !row_equal(json_array_get(rows, i),
                                                          json_array_get(others, k), strict))) {
            k++;
        }
        if (k == other_count) {
            free(taken);
            return i;
        }
        taken[k] = true;
    }
    free(taken);
    return count;
}

/* Which row of each differs; indices at or beyond the end: it has none there. */
struct place {
    bool found;
    size_t mine, other;
};

static int find_row(enum suite_compare compare, const json_t *mine, const json_t *other,
                    bool strict, struct place *out, struct error *error)
{
    size_t counts[2] = {json_array_size(mine), json_array_size(other)};
    size_t fewer = counts[0] < counts[1] ? counts[0] : counts[1];
    *out = (struct place){.found = false};
    if (compare == SUITE_SET) {
        bool failed[2];
        out->mine = row_alone(mine, other, strict, &failed[0]);
        out->other = row_alone(other, mine, strict, &failed[1]);
        out->found = out->mine < counts[0] || out->other < counts[1];
        return failed[0] || failed[1] ? no_memory(error) : 0;
    }
    size_t i = compare == SUITE_COUNT ? fewer : 0;
    while (i < fewer && row_equal(json_array_get(mine, i), json_array_get(other, i), strict)) {
        i++;
    }
    out->mine = out->other = i;
    out->found = i < counts[0] || i < counts[1];
    return 0;
}

/* ---- one operation ------------------------------------------------------------------- */

static int read_changed(const json_t *statement, uint64_t *out, struct error *error)
{
    *out = RESULT_ABSENT;
    return statement == NULL ? 0 : json_get_u64(statement, "rows_changed", "detail", out, error);
}

/* One statement of both; NULL where one of them did not run it. */
static int compare_statement(enum suite_compare compare, const json_t *mine, const json_t *other,
                             struct result_difference *out, bool *found, struct error *error)
{
    uint64_t changed[2] = {RESULT_ABSENT, RESULT_ABSENT};
    const json_t *rows[2] = {json_object_get(mine, "rows"), json_object_get(other, "rows")};
    struct place place;
    int status = read_changed(mine, &changed[0], error);
    if (status == 0) {
        status = read_changed(other, &changed[1], error);
    }
    if (status != 0) {
        return status;
    }
    status = find_row(compare, rows[0], rows[1], out->storage_class_only, &place, error);
    if (status != 0 ||
        (!place.found && changed[0] == changed[1] && mine != NULL && other != NULL)) {
        return status;
    }
    *found = true;
    out->rows_changed = changed[0];
    out->reference_rows_changed = changed[1];
    if (!place.found) {
        return 0;
    }
    out->row = (place.mine < json_array_size(rows[0]) ? place.mine : place.other) + 1;
    status = keep_row(json_array_get(rows[0], place.mine), &out->answer, error);
    return status == 0
               ? keep_row(json_array_get(rows[1], place.other), &out->reference_answer, error)
               : status;
}

static int compare_statements(enum suite_compare compare, const json_t *mine, const json_t *other,
                              struct result_difference *out, bool *found, struct error *error)
{
    size_t most = json_array_size(mine) > json_array_size(other) ? json_array_size(mine)
                                                                 : json_array_size(other);
    int status = 0;
    for (size_t i = 0; i < most && status == 0 && !*found; i++) {
        const json_t *one = json_array_get(mine, i);
        const json_t *two = json_array_get(other, i);
        status = compare_statement(compare, one, two, out, found, error);
        if (status == 0 && *found) {
            status = json_get_u64(one != NULL ? one : two, "statement", "detail", &out->statement,
                                  error);
        }
    }
    return status;
}

static int keep_text(const json_t *line, const char *key, char **out, struct error *error)
{
    const char *text;
    int status = json_get_string_or_null(line, key, "detail", &text, error);
    if (status == 0 && text != NULL && (*out = strdup(text)) == NULL) {
        status = no_memory(error);
    }
    return status;
}

static char *parameter_text(const json_t *value)
{
    if (json_is_string(value)) {
        return result_text("'%s'", json_string_value(value));
    }
    if (json_is_integer(value)) {
        return result_text("%lld", (long long)json_integer_value(value));
    }
    return json_is_real(value) ? result_text("%.17g", json_real_value(value)) : strdup("NULL");
}

static int keep_parameters(const json_t *line, result_pairs *out, struct error *error)
{
    const char *name;
    json_t *value;
    json_t *parameters;
    int status = json_get_object(line, "parameters", "detail", &parameters, error);
    if (status != 0) {
        return status;
    }
    json_object_foreach(parameters, name, value)
    {
        struct result_pair *pair = result_list_add(out);
        if (pair == NULL || (pair->name = strdup(name)) == NULL ||
            (pair->value = parameter_text(value)) == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

/* What a reader must know besides; NULL: nothing. */
static const char *note_of(const json_t *mine, const json_t *other, bool found)
{
    if (!json_equal(json_object_get(mine, "parameters"), json_object_get(other, "parameters"))) {
        return "the two drew different parameters: one of the workers is wrong";
    }
    if (found) {
        return NULL;
    }
    return "asked again, both gave the same rows as far as they were looked at: the answer changes "
           "from run to run, or differs further on";
}

int answers_explain(enum suite_compare compare, const json_t *mine, const json_t *other,
                    struct result_difference *out, struct error *error)
{
    json_t *statements[2] = {NULL, NULL};
    bool found = false;
    int status = json_get_array(mine, "statements", "detail", &statements[0], error);
    if (status == 0) {
        status = json_get_array(other, "statements", "detail", &statements[1], error);
    }
    if (status == 0) {
        status = keep_parameters(mine, &out->parameters, error);
    }
    if (status == 0) {
        status = keep_text(mine, "outcome", &out->outcome, error);
    }
    if (status == 0) {
        status = keep_text(other, "outcome", &out->reference_outcome, error);
    }
    if (status == 0) {
        status = keep_text(mine, "message", &out->message, error);
    }
    if (status == 0) {
        status = keep_text(other, "message", &out->reference_message, error);
    }
    if (status == 0) {
        status = compare_statements(compare, statements[0], statements[1], out, &found, error);
    }
    if (status != 0) {
        return status;
    }
    found = found || (out->outcome != NULL && out->reference_outcome != NULL &&
                      strcmp(out->outcome, out->reference_outcome) != 0);
    const char *note = note_of(mine, other, found);
    out->note = note != NULL ? strdup(note) : NULL;
    return note == NULL || out->note != NULL ? 0 : no_memory(error);
}
