#include "lib/stage_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"NULL", "an integer", "a real", "a text", "a blob"};

enum action value_action(const struct table *table, size_t number, enum pitot_type type)
{
    const struct table_column *column = &table->column[number];
    if (number == table->rowid) {
        switch (type) {
        case PITOT_NULL:
            return table->mode == PITOT_MERGE ? ACTION_REFUSE_NULL : ACTION_AUTOMATIC;
        case PITOT_INTEGER:
            return ACTION_ROWID;
        default:
            return type == PITOT_BLOB ? ACTION_REFUSE_TYPE : ACTION_CONVERT;
        }
    }
    if (type == PITOT_NULL) {
        bool key = false;
        for (size_t i = 0; i < table->keys; i++) {
            key = key || table->key[i].column == number;
        }
        bool refuse = column->not_null || (key && table->mode == PITOT_MERGE);
        return refuse ? ACTION_REFUSE_NULL : ACTION_NULL;
    }
    if (type == PITOT_BLOB) {
        bool fits = column->strict == PITOT_NULL || column->strict == PITOT_BLOB;
        return fits ? ACTION_BLOB : ACTION_REFUSE_TYPE;
    }
    if (column->strict == PITOT_BLOB) {
        return ACTION_REFUSE_TYPE;
    }
    bool numeric = column->affinity == AFFINITY_NUMERIC || column->affinity == AFFINITY_INTEGER;
    switch (type) {
    case PITOT_INTEGER:
        return column->affinity == AFFINITY_REAL   ? ACTION_INTEGER_TO_REAL
               : column->affinity == AFFINITY_TEXT ? ACTION_INTEGER_TO_TEXT
                                                   : ACTION_INTEGER;
    case PITOT_REAL:
        return column->affinity == AFFINITY_REAL   ? ACTION_REAL_COLUMN
               : column->affinity == AFFINITY_TEXT ? ACTION_CONVERT
               : numeric                           ? ACTION_REAL_TO_NUMERIC
                                                   : ACTION_REAL;
    default:
        return numeric || column->affinity == AFFINITY_REAL ? ACTION_TEXT_TO_NUMERIC : ACTION_TEXT;
    }
}

int value_refuse(const struct stage *stage, size_t column, int code, const char *what,
                 struct pitot_error *error)
{
    return failure(error, code, "row %zu for %s: column %s: %s", stage->rows + 1,
                   stage->table->name, stage->table->column[column].name, what);
}

static int refuse_type(const struct stage *stage, size_t column, unsigned type,
                       struct pitot_error *error)
{
    const struct table_column *c = &stage->table->column[column];
    char what[200];
    snprintf(what, sizeof what, "%s, which %s %.100s does not take", type_names[type],
             column == stage->table->rowid ? "an INTEGER PRIMARY KEY" : "STRICT",
             column == stage->table->rowid ? "" : c->type);
    return value_refuse(stage, column, PITOT_ERROR_TYPE, what, error);
}

/* Whole numbers of less than 48 bits in a REAL column are stored as integers. */
static void real_slot(struct record_slot *slot, double real)
{
    if (fabs(real) < 0x1p47 && real == (double)(int64_t)real) {
        record_slot_integer(slot, (int64_t)real);
    } else {
        record_slot_real(slot, real);
    }
}

/* Whether SQLite would see a number in it; only its first character is looked at. */
static bool may_be_number(const struct pitot_value *value)
{
    const char *text = value->as.bytes;
    uint32_t i = 0;
    while (i < value->size && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))) {
        i++;
    }
    return i < value->size && (text[i] == '+' || text[i] == '-' || text[i] == '.' ||
                               (text[i] >= '0' && text[i] <= '9'));
}

/* Has SQLite convert the value; what comes of it lives until the row is written. */
static int convert_slot(struct stage *stage, size_t column, const struct pitot_value *value,
                        struct record_slot *slot, struct pitot_error *error)
{
    const struct table_column *c = &stage->table->column[column];
    enum affinity affinity = column == stage->table->rowid ? AFFINITY_INTEGER : c->affinity;
    if (stage->converted == NULL) {
        stage->converted = calloc(stage->table->columns, sizeof *stage->converted);
        if (stage->converted == NULL) {
            return value_refuse(stage, column, PITOT_ERROR_MEMORY, "out of memory", error);
        }
    }
    sqlite3_value **kept = &stage->converted[stage->conversions];
    int code = convert_value(&stage->convert, affinity, value, kept, error);
    if (code != 0) {
        return code;
    }
    stage->conversions++;
    enum pitot_type type = PITOT_TEXT;
    switch (sqlite3_value_type(*kept)) {
    case SQLITE_INTEGER:
        type = PITOT_INTEGER;
        record_slot_integer(slot, sqlite3_value_int64(*kept));
        break;
    case SQLITE_FLOAT:
        type = PITOT_REAL;
        if (affinity == AFFINITY_REAL) {
            real_slot(slot, sqlite3_value_double(*kept));
        } else {
            record_slot_real(slot, sqlite3_value_double(*kept));
        }
        break;
    default: {
        const void *text = sqlite3_value_text(*kept);
        if (text == NULL) {
            return value_refuse(stage, column, PITOT_ERROR_MEMORY, "out of memory", error);
        }
        record_slot_bytes(slot, SERIAL_TEXT, text, (uint32_t)sqlite3_value_bytes(*kept));
        break;
    }
    }
    if (column == stage->table->rowid) {
        stage->rowid = sqlite3_value_int64(*kept);
        record_slot_bytes(slot, SERIAL_NULL, NULL, 0);
        return type == PITOT_INTEGER ? 0 : refuse_type(stage, column, value->type, error);
    }
    bool fits = c->strict == PITOT_NULL || c->strict == type;
    return fits ? 0 : refuse_type(stage, column, value->type, error);
}

/* An integer as text, in memory that lasts until the row is written. */
static void integer_text_slot(struct stage *stage, size_t number, int64_t integer,
                              struct record_slot *slot)
{
    char *digits = stage->digits + number * STAGE_DIGITS;
    int size = snprintf(digits, STAGE_DIGITS, "%lld", (long long)integer);
    record_slot_bytes(slot, SERIAL_TEXT, digits, (uint32_t)size);
}

/* All that is not the value as it is. */
static int take_changed(struct stage *stage, size_t number, enum action action,
                        const struct pitot_value *value, struct record_slot *slot,
                        struct pitot_error *error)
{
    size_t column = stage->column[number].from;
    switch (action) {
    case ACTION_AUTOMATIC:
        record_slot_integer(slot, 0); /* marks the row, and is never written: see rows.h */
        stage->without_rowid = true;
        return 0;
    case ACTION_INTEGER_TO_REAL:
        if (value->as.integer < INT64_C(1) << 47 && value->as.integer > -(INT64_C(1) << 47)) {
            record_slot_integer(slot, value->as.integer);
        } else {
            record_slot_real(slot, (double)value->as.integer);
        }
        return 0;
    case ACTION_INTEGER_TO_TEXT:
        integer_text_slot(stage, number, value->as.integer, slot);
        return 0;
    case ACTION_REAL_TO_NUMERIC:
        if (fabs(value->as.real) >= 0x1p51) {
            return convert_slot(stage, column, value, slot, error);
        }
        if (value->as.real == (double)(int64_t)value->as.real) {
            record_slot_integer(slot, (int64_t)value->as.real);
            return 0;
        }
        record_slot_real(slot, value->as.real);
        return stage->table->column[column].strict == PITOT_INTEGER
                   ? refuse_type(stage, column, PITOT_REAL, error)
                   : 0;
    case ACTION_TEXT_TO_NUMERIC:
        if (may_be_number(value)) {
            return convert_slot(stage, column, value, slot, error);
        }
        record_slot_bytes(slot, SERIAL_TEXT, value->as.bytes, value->size);
        return stage->table->column[column].strict != PITOT_NULL
                   ? refuse_type(stage, column, PITOT_TEXT, error)
                   : 0;
    case ACTION_CONVERT:
        return convert_slot(stage, column, value, slot, error);
    case ACTION_REFUSE_NULL:
        return value_refuse(stage, column, PITOT_ERROR_TYPE,
                            column == stage->table->rowid || !stage->table->column[column].not_null
                                ? "NULL in the primary key, by which merge compares"
                                : "NULL, and it is NOT NULL",
                            error);
    default:
        return refuse_type(stage, column, value->type, error);
    }
}

int value_take_other(struct stage *stage, size_t number, enum action action,
                     const struct pitot_value *value, struct record_slot *slot,
                     struct pitot_error *error)
{
    static const struct pitot_value null = {.type = PITOT_NULL};
    const struct stage_column *column = &stage->column[number];
    if (value->type >= PITOT_TEXT && value->type <= PITOT_BLOB &&
        value->size > stage->table->row_limit) {
        char what[80];
        snprintf(what, sizeof what, "%u bytes; SQLite takes %lld here", value->size,
                 (long long)stage->table->row_limit);
        return value_refuse(stage, column->from, PITOT_ERROR_TYPE, what, error);
    }
    if (value->type == PITOT_REAL && isnan(value->as.real)) {
        return value_take(stage, number, (enum action)column->action[PITOT_NULL], &null, slot,
                          error);
    }
    switch (action) {
    case ACTION_REAL:
        record_slot_real(slot, value->as.real);
        return 0;
    case ACTION_REAL_COLUMN:
        real_slot(slot, value->as.real);
        return 0;
    case ACTION_INVALID: {
        char what[60];
        snprintf(what, sizeof what, "type %u, which is not one of enum pitot_type", value->type);
        return value_refuse(stage, column->from, PITOT_ERROR_INVALID, what, error);
    }
    default:
        return take_changed(stage, number, action, value, slot, error);
    }
}
