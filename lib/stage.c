#include "lib/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stage_value.h"

static bool same_slot(const struct record_slot *one, const struct record_slot *other)
{
    if (one->serial != other->serial) {
        return false;
    }
    if (one->serial >= SERIAL_BLOB) {
        return one->size == 0 || memcmp(one->as.bytes, other->as.bytes, one->size) == 0;
    }
    return one->size == 0 || one->as.word == other->as.word;
}

/* A row whose end goes to overflow pages: its record stands by itself, the cell has the
 * beginning of it. */
static int add_big(struct stage *stage, size_t header, size_t body, struct pitot_error *error)
{
    size_t payload = header + body;
    size_t count = stage->table->columns;
    if ((int64_t)payload > stage->table->row_limit || payload > INT32_MAX) {
        return failure(error, PITOT_ERROR_TYPE, "row %zu for %s: %zu bytes; SQLite takes %lld",
                       stage->rows + 1, stage->table->name, payload,
                       (long long)stage->table->row_limit);
    }
    /* Room for twice as many whenever their number is a power of two. */
    struct rows_big *big = (stage->bigs & (stage->bigs - 1)) != 0
                               ? stage->big
                               : realloc(stage->big, (2 * stage->bigs + 1) * sizeof *big);
    uint8_t *memory = malloc(payload + RECORD_SLACK);
    if (big != NULL) {
        stage->big = big;
    }
    uint8_t cell[2 * VARINT_MAX];
    size_t before = varint_write(cell, payload);
    before += stage->table->without_rowid ? 0 : varint_write(cell + before, (uint64_t)stage->rowid);
    size_t local = rows_local(stage->table, payload);
    uint8_t *out =
        big == NULL || memory == NULL ? NULL : pages_add(&stage->pages, before + local + 4, 0);
    if (out == NULL) {
        free(memory);
        return failure(error, PITOT_ERROR_MEMORY, "row %zu for %s: out of memory", stage->rows + 1,
                       stage->table->name);
    }
    record_write(memory + RECORD_SLACK, stage->slot, count, header, body);
    big += stage->bigs;
    *big = (struct rows_big){
        .record = memory + RECORD_SLACK, .size = payload, .local = local, .first = ROWS_BIG_PAGE};
    if (stage->bigs > 0) {
        big->first = big[-1].first + rows_big_pages(&big[-1]);
    }
    stage->bigs++;
    stage->big_bytes += payload;
    memcpy(out, cell, before);
    memcpy(out + before, big->record, local);
    put_u32(out + before + local, big->first);
    return 0;
}

/* What a row that was written leaves behind. */
static inline void count_row(struct stage *stage, int64_t rowid)
{
    stage->rows++;
    if (stage->table->rowid == TABLE_NONE) {
        stage->rowid = rowid + 1;
    } else {
        stage->ascending = stage->ascending & (rowid > stage->last);
        stage->last = rowid;
    }
}

/* Stores the last SIZE bytes of a word before END, and rubbish before them. */
static inline uint8_t *put_before(uint8_t *end, uint64_t word, size_t size)
{
    word = __builtin_bswap64(word);
    memcpy(end - sizeof word, &word, sizeof word);
    return end - size;
}

/* The last page, if a quick row will fit into it whatever it holds; otherwise NULL. */
static inline struct page *quick_page(const struct pages *pages, size_t columns)
{
    if (pages->count == 0) {
        return NULL;
    }
    struct page *page = &pages->page[pages->count - 1];
    size_t most = 2 * VARINT_MAX + 1 + columns + columns * STAGE_QUICK_TEXT;
    return page_has_room(page, most, RECORD_SLACK) ? page : NULL;
}

/* Whether the row is of the stage's slice, if its value is one that is stored as it is. */
static bool quick_slice(const struct stage *stage, const struct pitot_value *values)
{
    const struct stage_column *column = &stage->column[stage->slice_number];
    const struct pitot_value *value = &values[column->from];
    struct record_slot slot;
    unsigned action = value->type <= PITOT_BLOB ? column->action[value->type] : ACTION_INVALID;
    if (action == ACTION_INTEGER) {
        record_slot_integer(&slot, value->as.integer);
    } else if (action == ACTION_TEXT && value->size <= STAGE_QUICK_TEXT) {
        record_slot_bytes(&slot, SERIAL_TEXT, value->as.bytes, value->size);
    } else {
        return false;
    }
    return same_slot(&slot, &stage->slice);
}

/* The cell's beginning, before the record: its size, and the rowid. Returns where it starts. */
static inline uint8_t *put_front(uint8_t *record, bool without_rowid, uint64_t payload,
                                 uint64_t rowid)
{
    if (without_rowid) {
        *--record = (uint8_t)payload;
        return record;
    }
    if (rowid < 128) {
        return put_before(record, payload << 8 | rowid, 2);
    }
    if (rowid < 1 << 14) {
        return put_before(record, payload << 16 | (rowid << 1 & 0x7F00) | 0x8000 | (rowid & 0x7F),
                          3);
    }
    if (rowid < 1 << 21) {
        uint64_t varint =
            (rowid << 2 & 0x7F0000) | (rowid << 1 & 0x7F00) | 0x808000 | (rowid & 0x7F);
        return put_before(record, payload << 24 | varint, 4);
    }
    record -= varint_size(rowid);
    varint_write(record, rowid);
    *--record = (uint8_t)payload;
    return record;
}

/*
 * The usual rows, in a third of the instructions: few columns, values that are stored as they are,
 * short texts, so that every serial type and every size is one byte. The cell is written from its
 * end, where the page has its cells, to its beginning, as the values are looked at. FEW: less than
 * 8 columns, whose serial types fit a word. False: nothing was done, the row is not one of these.
 */
static inline __attribute__((always_inline)) bool add_quick(struct stage *stage, struct page *page,
                                                            const struct pitot_value *values,
                                                            size_t count, bool few)
{
    const struct table *table = stage->table;
    const struct stage_column *const columns = stage->column;
    if (table->slice != TABLE_NONE && !quick_slice(stage, values)) {
        return false; /* the long way tells what is wrong with a slice */
    }
    uint8_t *const cell_end = page->memory + page->top;
    uint8_t *end = cell_end;
    uint8_t serial[STAGE_QUICK_COLUMNS];
    uint64_t rowid = (uint64_t)stage->rowid;
    uint64_t types = 0;
    for (size_t i = count; i-- > 0;) {
        const struct pitot_value *value = &values[columns[i].from];
        if (value->type > PITOT_BLOB) {
            return false;
        }
        unsigned action = columns[i].action[value->type];
        uint64_t type;
        if (action == ACTION_INTEGER) {
            uint64_t word = (uint64_t)value->as.integer;
            type = SERIAL_ZERO + word;
            if (word >= 2) {
                const struct record_form *form = record_form(word);
                type = form->serial;
                end = put_before(end, word, form->size);
            }
        } else if (action == ACTION_TEXT && value->size <= STAGE_QUICK_TEXT) {
            type = SERIAL_TEXT + 2 * value->size;
            end -= value->size;
            record_copy(end, value->as.bytes, value->size);
        } else if (action == ACTION_ROWID) {
            rowid = (uint64_t)value->as.integer;
            type = SERIAL_NULL;
        } else if (action == ACTION_NULL) {
            type = SERIAL_NULL;
        } else {
            return false;
        }
        if (few) {
            types = types >> 8 | type << 56;
        } else {
            serial[i] = (uint8_t)type;
        }
    }
    size_t payload = 1 + count + (size_t)(cell_end - end);
    if (payload > STAGE_QUICK_PAYLOAD) {
        return false;
    }
    if (few) {
        types = types >> (64 - 8 * count) | (uint64_t)(1 + count) << 8 * count;
        end = put_before(end, types, 1 + count);
    } else {
        end -= count;
        memcpy(end, serial, count);
        *--end = (uint8_t)(1 + count);
    }
    end = put_front(end, table->without_rowid, payload, rowid);
    page_take(page, end);
    count_row(stage, (int64_t)rowid);
    return true;
}

/* Any row. */
static __attribute__((noinline)) int add_slowly(struct stage *stage,
                                                const struct pitot_value *values, size_t count,
                                                struct pitot_error *error)
{
    const struct table *table = stage->table;
    if (count != table->columns) {
        return failure(error, PITOT_ERROR_TYPE, "row %zu for %s: %zu values for %zu columns",
                       stage->rows + 1, table->name, count, table->columns);
    }
    struct record_slot *slot = stage->slot;
    const struct stage_column *column = stage->column;
    size_t types = 0;
    size_t body = 0;
    int code = 0;
    bool without_rowid = stage->without_rowid;
    for (size_t i = 0; i < count; i++) {
        const struct pitot_value *value = &values[column[i].from];
        enum action action =
            value->type <= PITOT_BLOB ? (enum action)column[i].action[value->type] : ACTION_INVALID;
        code = value_take(stage, i, action, value, &slot[i], error);
        if (code != 0) {
            break;
        }
        types += varint_size(slot[i].serial);
        body += slot[i].size;
    }
    if (code == 0 && table->slice != TABLE_NONE &&
        !same_slot(&slot[stage->slice_number], &stage->slice)) {
        code = value_refuse(stage, table->slice, PITOT_ERROR_SLICE, "the row is of another slice",
                            error);
    }
    size_t header = types < 127 ? types + 1 : types + varint_size(types + 2);
    size_t payload = header + body;
    if (code == 0 && payload > rows_most_local(table)) {
        code = add_big(stage, header, body, error);
    } else if (code == 0) {
        size_t before = varint_size(payload);
        before += table->without_rowid ? 0 : varint_size((uint64_t)stage->rowid);
        size_t cell = before + payload < PAGES_CELL ? PAGES_CELL : before + payload;
        uint8_t *out = pages_add(&stage->pages, cell, RECORD_SLACK);
        if (out == NULL) {
            code = failure(error, PITOT_ERROR_MEMORY, "row %zu for %s: out of memory",
                           stage->rows + 1, table->name);
        } else {
            out[cell - 1] = 0; /* what fills it up is hashed with it */
            record_write(out + before, slot, count, header, body);
            out += varint_write(out, payload);
            if (!table->without_rowid) {
                varint_write(out, (uint64_t)stage->rowid);
            }
        }
    }
    for (; stage->conversions > 0; stage->conversions--) {
        sqlite3_value_free(stage->converted[stage->conversions - 1]);
    }
    if (code != 0) {
        stage->without_rowid = without_rowid;
        return code;
    }
    count_row(stage, stage->rowid);
    return 0;
}

int stage_add(struct stage *stage, const struct pitot_value *values, size_t count,
              struct pitot_error *error)
{
    /* A row that is not quick is rarely alone, and to find that out may cost as much as the row. */
    enum { SLOW_ROWS = 15 };
    if (stage->slow > 0) {
        stage->slow--;
    } else if (count == stage->table->columns && count > 1 && count <= STAGE_QUICK_COLUMNS) {
        struct page *page = quick_page(&stage->pages, count);
        if (page != NULL) {
            if (count < 8 ? add_quick(stage, page, values, count, true)
                          : add_quick(stage, page, values, count, false)) {
                return 0;
            }
            stage->slow = SLOW_ROWS;
        }
    }
    return add_slowly(stage, values, count, error);
}

/* Applies the column's affinity to the slice's value and keeps it. */
static int take_slice(struct stage *stage, const struct pitot_value *slice,
                      struct pitot_error *error)
{
    const struct table *table = stage->table;
    size_t number = 0;
    while (table->order[number] != table->slice) {
        number++;
    }
    stage->slice_number = number;
    if (table->slice == table->rowid) {
        return value_refuse(stage, table->slice, PITOT_ERROR_TYPE,
                            "it is the primary key, so that a slice would be one row", error);
    }
    enum action action = slice->type > PITOT_BLOB
                             ? ACTION_INVALID
                             : (enum action)stage->column[number].action[slice->type];
    int code = value_take(stage, number, action, slice, &stage->slice, error);
    if (code == 0 && stage->slice.serial == SERIAL_NULL) {
        code = value_refuse(stage, table->slice, PITOT_ERROR_TYPE, "NULL is no slice", error);
    }
    if (code == 0 && stage->slice.serial >= SERIAL_BLOB) {
        stage->slice_bytes = malloc(stage->slice.size + 1);
        if (stage->slice_bytes == NULL) {
            code = value_refuse(stage, table->slice, PITOT_ERROR_MEMORY, "out of memory", error);
        } else if (stage->slice.size > 0) {
            memcpy(stage->slice_bytes, stage->slice.as.bytes, stage->slice.size);
        }
        stage->slice.as.bytes = stage->slice_bytes;
    }
    for (; stage->conversions > 0; stage->conversions--) {
        sqlite3_value_free(stage->converted[stage->conversions - 1]);
    }
    return code;
}

int stage_new(struct stage **out, const struct table *table, const struct pitot_value *slice,
              struct pitot_error *error)
{
    struct stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory", table->name);
    }
    stage->table = table;
    stage->slice_number = TABLE_NONE;
    stage->slot = calloc(table->columns, sizeof *stage->slot);
    stage->column = calloc(table->columns, sizeof *stage->column);
    stage->digits = malloc(table->columns * STAGE_DIGITS);
    if (stage->slot == NULL || stage->column == NULL || stage->digits == NULL) {
        stage_free(stage);
        return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory", table->name);
    }
    for (size_t i = 0; i < table->columns; i++) {
        stage->column[i].from = (uint32_t)table->order[i];
        for (unsigned type = PITOT_NULL; type <= PITOT_BLOB; type++) {
            stage->column[i].action[type] = (uint8_t)value_action(table, table->order[i], type);
        }
    }
    stage_clear(stage);
    int code = table->slice == TABLE_NONE ? 0 : take_slice(stage, slice, error);
    if (code != 0) {
        stage_free(stage);
        return code;
    }
    *out = stage;
    return 0;
}

void stage_free(struct stage *stage)
{
    if (stage == NULL) {
        return;
    }
    stage_clear(stage);
    convert_free(stage->convert);
    free(stage->converted);
    free(stage->slice_bytes);
    free(stage->slot);
    free(stage->column);
    free(stage->digits);
    free(stage);
}

void stage_clear(struct stage *stage)
{
    pages_clear(&stage->pages);
    for (size_t i = 0; i < stage->bigs; i++) {
        free(stage->big[i].record - RECORD_SLACK);
    }
    free(stage->big);
    stage->big = NULL;
    stage->bigs = 0;
    stage->big_bytes = 0;
    stage->rows = 0;
    stage->rowid = 1;
    stage->last = INT64_MIN;
    stage->slow = 0;
    stage->ascending = true;
    stage->without_rowid = false;
}

size_t stage_rows(const struct stage *stage)
{
    return stage->rows;
}

size_t stage_memory(const struct stage *stage)
{
    return pages_memory(&stage->pages) + stage->big_bytes + stage->bigs * sizeof *stage->big;
}
