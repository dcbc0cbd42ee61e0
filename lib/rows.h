/*
 * The inside of a stage, for what applies its rows: the cells as they will stand in
 * b-tree pages, and how to read them again.
 *
 * In a table with rowids a cell is (size of the record, rowid, record); the record has
 * NULL in place of the INTEGER PRIMARY KEY, and 0 where SQLite is to choose it: a
 * stage with such a row is never made into pages. In a WITHOUT ROWID table it is
 * (size, record) with the key's columns first. A record above rows_most_local() stands
 * in memory of its own; the cell has its beginning and the number of the page where
 * the rest begins, as if the pages from ROWS_BIG_PAGE on held it.
 */
#ifndef PITOT_LIB_ROWS_H
#define PITOT_LIB_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/convert.h"
#include "lib/pages.h"
#include "lib/record.h"
#include "lib/stage.h"

#define ROWS_BIG_PAGE (UINT32_C(1) << 28)

struct rows_big {
    uint8_t *record;
    size_t size;
    size_t local;   /* bytes in the cell */
    uint32_t first; /* number of its first page */
};

struct stage_column {
    uint32_t from;     /* number of the value */
    uint8_t action[5]; /* by type: enum action */
};

enum {
    STAGE_DIGITS = 24,
    /* add_quick(): from 2 columns on, so that no cell has less than 4 bytes; a text's serial type,
     * 13
     * + 2 * 57, is below 128, and so is the size of the record. */
    STAGE_QUICK_COLUMNS = 32,
    STAGE_QUICK_TEXT = 57,
    STAGE_QUICK_PAYLOAD = 127
};

struct stage {
    const struct table *table;
    struct pages pages;
    struct rows_big *big;
    size_t bigs;
    size_t big_bytes;
    size_t rows;
    unsigned slow;      /* so many rows are added without asking whether they are quick */
    int64_t rowid;      /* of the row being added; without an INTEGER PRIMARY KEY counted from 1 */
    int64_t last;       /* of the row before */
    bool ascending;     /* by rowid */
    bool without_rowid; /* a row leaves its INTEGER PRIMARY KEY to SQLite */

    /* By place in the record. */
    struct stage_column *column;
    struct record_slot *slot;
    char *digits;

    struct record_slot slice;
    void *slice_bytes;
    size_t slice_number;

    struct convert *convert; /* NULL until it is needed, as the next */
    sqlite3_value **converted;
    size_t conversions;
};

/* The largest record that is wholly in its cell. */
static inline size_t rows_most_local(const struct table *table)
{
    return table->without_rowid ? PAGES_INDEX_LOCAL : PAGES_TABLE_LOCAL;
}

/* How much of a larger one is. */
static inline size_t rows_local(const struct table *table, size_t payload)
{
    size_t local = PAGES_LEAST_LOCAL + (payload - PAGES_LEAST_LOCAL) % PAGES_OVERFLOW;
    return local <= rows_most_local(table) ? local : PAGES_LEAST_LOCAL;
}

static inline uint32_t rows_big_pages(const struct rows_big *big)
{
    return (uint32_t)((big->size - big->local + PAGES_OVERFLOW - 1) / PAGES_OVERFLOW);
}

/* The large row whose pages PAGE is one of. There must be large rows. */
const struct rows_big *rows_find_big(const struct stage *stage, uint32_t page);

/* A staged row. */
struct row {
    int64_t rowid;
    const uint8_t *record;
    size_t size;
};

/* Reads a cell of the stage. */
static inline void row_read(const struct stage *stage, const uint8_t *cell, struct row *row)
{
    uint64_t payload;
    uint64_t rowid = 0;
    cell += varint_read(cell, &payload);
    if (!stage->table->without_rowid) {
        cell += varint_read(cell, &rowid);
    }
    row->rowid = (int64_t)rowid;
    row->size = payload;
    row->record = cell;
    if (payload > rows_most_local(stage->table)) {
        row->record =
            rows_find_big(stage, get_u32(cell + rows_local(stage->table, payload)))->record;
    }
}

/* Bytes of a cell. */
size_t row_cell_size(const struct table *table, const uint8_t *cell);

/* The row's values in the order of the table's columns, as the table will hold them;
 * texts and blobs lie in the record. */
void row_values(const struct stage *stage, const struct row *row, struct pitot_value *values);

/* The value that makes the slice. */
void rows_slice(const struct stage *stage, struct pitot_value *value);

/* "id = 5", or "row 5" without a key, into out, cut to its size. Returns out. */
const char *row_describe(const struct stage *stage, const struct row *row, size_t number, char *out,
                         size_t size);

#endif
