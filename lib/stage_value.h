/*
 * A value on its way into a staged row: what is done with it, by its type and its column, as SQLite
 * would when it stored the value there.
 */
#ifndef PITOT_LIB_STAGE_VALUE_H
#define PITOT_LIB_STAGE_VALUE_H

#include "lib/rows.h"

enum action {
    ACTION_NULL,
    ACTION_INTEGER,
    ACTION_REAL,
    ACTION_TEXT,
    ACTION_BLOB,
    ACTION_ROWID,
    ACTION_REAL_COLUMN,     /* a double where whole numbers are stored as integers */
    ACTION_INTEGER_TO_REAL, /* the same for an integer */
    ACTION_REAL_TO_NUMERIC, /* a double that becomes an integer if it is whole */
    ACTION_TEXT_TO_NUMERIC, /* a text that may look like a number */
    ACTION_INTEGER_TO_TEXT,
    ACTION_CONVERT,   /* SQLite's affinity */
    ACTION_AUTOMATIC, /* NULL for the rowid: SQLite chooses */
    ACTION_REFUSE_NULL,
    ACTION_REFUSE_TYPE,
    ACTION_INVALID /* no type at all */
};

/* What is done with values of a type in a column. */
enum action value_action(const struct table *table, size_t column, enum pitot_type type);

/* As value_take(), for values that are not stored as they are. */
int value_take_other(struct stage *stage, size_t number, enum action action,
                     const struct pitot_value *value, struct record_slot *slot,
                     struct pitot_error *error);

/* The value for place NUMBER of the record. Texts and blobs stay where they are; what SQLite made
 * of a value lives until the row is written. Errors: TYPE, INVALID, MEMORY, SQLITE, named by row
 * and column. */
static inline int value_take(struct stage *stage, size_t number, enum action action,
                             const struct pitot_value *value, struct record_slot *slot,
                             struct pitot_error *error)
{
    switch (action) {
    case ACTION_ROWID:
        stage->rowid = value->as.integer;
        record_slot_bytes(slot, SERIAL_NULL, NULL, 0);
        return 0;
    case ACTION_NULL:
        record_slot_bytes(slot, SERIAL_NULL, NULL, 0);
        return 0;
    case ACTION_INTEGER:
        record_slot_integer(slot, value->as.integer);
        return 0;
    case ACTION_TEXT:
    case ACTION_BLOB:
        if (value->size > stage->table->row_limit) {
            break;
        }
        record_slot_bytes(slot, action == ACTION_TEXT ? SERIAL_TEXT : SERIAL_BLOB, value->as.bytes,
                          value->size);
        return 0;
    default:
        break;
    }
    return value_take_other(stage, number, action, value, slot, error);
}

/* The error CODE of a value of the row being added, for WHAT in this column. */
int value_refuse(const struct stage *stage, size_t column, int code, const char *what,
                 struct pitot_error *error);

#endif
