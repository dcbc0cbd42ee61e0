#include "lib/rows.h"

#include <stdio.h>

const struct rows_big *rows_find_big(const struct stage *stage, uint32_t page)
{
    size_t low = 0;
    size_t high = stage->bigs;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (stage->big[middle].first <= page) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &stage->big[low];
}

size_t row_cell_size(const struct table *table, const uint8_t *cell)
{
    uint64_t payload;
    uint64_t rowid;
    size_t size = varint_read(cell, &payload);
    if (!table->without_rowid) {
        size += varint_read(cell + size, &rowid);
    }
    size += payload <= rows_most_local(table) ? payload : rows_local(table, payload) + 4;
    return size < PAGES_CELL ? PAGES_CELL : size;
}

void row_values(const struct stage *stage, const struct row *row, struct pitot_value *values)
{
    const struct table *table = stage->table;
    struct record_reader reader;
    record_open(&reader, row->record);
    for (size_t i = 0; i < table->columns; i++) {
        size_t column = table->order[i];
        struct pitot_value *value = &values[column];
        record_next(&reader, value);
        if (column == table->rowid) {
            if (value->type == PITOT_NULL) {
                *value = pitot_integer(row->rowid);
            } else {
                value->type = PITOT_NULL;
            }
        } else if (value->type == PITOT_INTEGER &&
                   table->column[column].affinity == AFFINITY_REAL) {
            *value = pitot_real((double)value->as.integer);
        }
    }
}

void rows_slice(const struct stage *stage, struct pitot_value *value)
{
    const struct record_slot *slot = &stage->slice;
    bool real = stage->table->column[stage->table->slice].affinity == AFFINITY_REAL;
    if (slot->serial >= SERIAL_BLOB) {
        *value = pitot_blob(slot->as.bytes, slot->size);
        value->type = slot->serial % 2 == 0 ? PITOT_BLOB : PITOT_TEXT;
    } else if (slot->serial == SERIAL_REAL) {
        *value = pitot_real(0);
        memcpy(&value->as.real, &slot->as.word, sizeof value->as.real);
    } else {
        int64_t integer = slot->serial >= SERIAL_ZERO ? (int64_t)(slot->serial - SERIAL_ZERO)
                                                      : (int64_t)slot->as.word;
        *value = real ? pitot_real((double)integer) : pitot_integer(integer);
    }
}

/* One value as SQL would write it, long texts cut. */
static void describe_value(const struct pitot_value *value, char *out, size_t size)
{
    const char *bytes = value->as.bytes;
    switch (value->type) {
    case PITOT_INTEGER:
        snprintf(out, size, "%lld", (long long)value->as.integer);
        break;
    case PITOT_REAL: /* SQLite's own knows no locale */
        sqlite3_snprintf((int)size, out, "%!.17g", value->as.real);
        break;
    case PITOT_TEXT: {
        /* Not in the middle of a character. */
        uint32_t length = value->size < 60 ? value->size : 60;
        while (length < value->size && length > 0 && (bytes[length] & 0xC0) == 0x80) {
            length--;
        }
        snprintf(out, size, "'%.*s%s'", (int)length, length > 0 ? bytes : "",
                 length < value->size ? "…" : "");
        break;
    }
    case PITOT_BLOB:
        snprintf(out, size, "a blob of %u bytes", value->size);
        break;
    default:
        snprintf(out, size, "NULL");
        break;
    }
}

/* The value of one column. */
static void row_value(const struct stage *stage, const struct row *row, size_t column,
                      struct pitot_value *value)
{
    const struct table *table = stage->table;
    struct record_reader reader;
    record_open(&reader, row->record);
    for (size_t place = 0; place < table->columns; place++) {
        record_next(&reader, value);
        if (table->order[place] == column) {
            break;
        }
    }
    if (column == table->rowid) {
        *value = value->type == PITOT_NULL ? pitot_integer(row->rowid) : pitot_null();
    }
}

const char *row_describe(const struct stage *stage, const struct row *row, size_t number, char *out,
                         size_t size)
{
    const struct table *table = stage->table;
    snprintf(out, size, "row %zu", number);
    size_t used = 0;
    for (size_t i = 0; i < table->keys && used + 1 < size; i++) {
        size_t column = table->key[i].column;
        if (column < table->columns) {
            struct pitot_value value;
            char text[80];
            row_value(stage, row, column, &value);
            describe_value(&value, text, sizeof text);
            snprintf(out + used, size - used, "%s%s = %s", used > 0 ? ", " : "",
                     table->column[column].name, text);
            used += strlen(out + used);
        }
    }
    return out;
}
