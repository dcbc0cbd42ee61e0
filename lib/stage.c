#include "lib/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows.h"

/* What is done with a value of some type in some column. */
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

static const char *const type_names[] = {"NULL", "an integer", "a real", "a text", "a blob"};

static enum action action_of(const struct table *table, size_t number, enum pitot_type type)
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

static int refuse(const struct stage *stage, size_t column, int code, const char *what,
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
    return refuse(stage, column, PITOT_ERROR_TYPE, what, error);
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
            return refuse(stage, column, PITOT_ERROR_MEMORY, "out of memory", error);
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
            return refuse(stage, column, PITOT_ERROR_MEMORY, "out of memory", error);
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
        return refuse(stage, column, PITOT_ERROR_TYPE,
                      column == stage->table->rowid || !stage->table->column[column].not_null
                          ? "NULL in the primary key, by which merge compares"
                          : "NULL, and it is NOT NULL",
                      error);
    default:
        return refuse_type(stage, column, value->type, error);
    }
}

static int take_value(struct stage *stage, size_t number, enum action action,
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
        return refuse(stage, column->from, PITOT_ERROR_TYPE, what, error);
    }
    if (value->type == PITOT_REAL && isnan(value->as.real)) {
        value = &null;
        action = column->action[PITOT_NULL];
    }
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
    case ACTION_REAL:
        record_slot_real(slot, value->as.real);
        return 0;
    case ACTION_REAL_COLUMN:
        real_slot(slot, value->as.real);
        return 0;
    case ACTION_TEXT:
        record_slot_bytes(slot, SERIAL_TEXT, value->as.bytes, value->size);
        return 0;
    case ACTION_BLOB:
        record_slot_bytes(slot, SERIAL_BLOB, value->as.bytes, value->size);
        return 0;
    case ACTION_INVALID: {
        char what[60];
        snprintf(what, sizeof what, "type %u, which is not one of enum pitot_type", value->type);
        return refuse(stage, column->from, PITOT_ERROR_INVALID, what, error);
    }
    default:
        return take_changed(stage, number, action, value, slot, error);
    }
}

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

/* What add_quick() keeps of a value. */
union quick_value {
    uint64_t word;
    const void *bytes;
};

/* As same_slot() for what add_quick() has of a value. */
static inline bool quick_slice(const struct stage *stage, const union quick_value *content,
                               uint8_t serial)
{
    const struct record_slot *slice = &stage->slice;
    if (serial != slice->serial) {
        return false;
    }
    if (serial >= SERIAL_BLOB) {
        return slice->size == 0 || memcmp(content->bytes, slice->as.bytes, slice->size) == 0;
    }
    return slice->size == 0 || content->word == slice->as.word;
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
static inline void count_row(struct stage *stage)
{
    if (stage->table->rowid == TABLE_NONE) {
        stage->rowid++;
    } else {
        stage->ascending = stage->ascending & ((stage->rows == 0) | (stage->rowid > stage->last));
        stage->last = stage->rowid;
    }
    stage->rows++;
}

/* Stores the last SIZE bytes of a word before END, and rubbish before them. */
static inline uint8_t *put_before(uint8_t *end, uint64_t word, size_t size)
{
    word = __builtin_bswap64(word);
    memcpy(end - sizeof word, &word, sizeof word);
    return end - size;
}

/*
 * The usual rows, in a third of the instructions: few columns, values that are stored as they are,
 * short texts, so that every serial type and every size is one byte. The cell is written from its
 * end to its beginning. False: nothing was done, the row is not one of these.
 */
static inline bool add_quick(struct stage *stage, const struct pitot_value *values, size_t count)
{
    const struct table *table = stage->table;
    const struct stage_column *column = stage->column;
    union quick_value content[STAGE_QUICK_COLUMNS];
    uint8_t serial[STAGE_QUICK_COLUMNS];
    uint64_t rowid = (uint64_t)stage->rowid;
    uint64_t types = 1 + count; /* the header's last 8 bytes, its size before the types */
    size_t body = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pitot_value *value = &values[column[i].from];
        if (value->type > PITOT_BLOB) {
            return false;
        }
        enum action action = (enum action)column[i].action[value->type];
        uint8_t type;
        if (action == ACTION_INTEGER) {
            uint64_t word = (uint64_t)value->as.integer;
            content[i].word = word;
            if (word < 2) {
                type = (uint8_t)(SERIAL_ZERO + word);
            } else {
                const struct record_form *form = record_form(word);
                type = form->serial;
                body += form->size;
            }
        } else if (action == ACTION_TEXT && value->size <= STAGE_QUICK_TEXT) {
            content[i].bytes = value->as.bytes;
            type = (uint8_t)(SERIAL_TEXT + 2 * value->size);
            body += value->size;
        } else if (action == ACTION_ROWID) {
            rowid = (uint64_t)value->as.integer;
            type = SERIAL_NULL;
        } else if (action == ACTION_NULL) {
            type = SERIAL_NULL;
        } else {
            return false;
        }
        serial[i] = type;
        types = types << 8 | type;
    }
    size_t payload = 1 + count + body;
    if (payload > 127 ||
        (table->slice != TABLE_NONE &&
         !quick_slice(stage, &content[stage->slice_number], serial[stage->slice_number]))) {
        return false; /* the long way tells what is wrong with the slice */
    }
    /* The cell's beginning: the size, and the rowid as a varint of up to three bytes. */
    uint64_t begin = payload;
    size_t before = 1;
    if (!table->without_rowid) {
        if (rowid < 128) {
            begin = begin << 8 | rowid;
            before = 2;
        } else if (rowid < 1 << 14) {
            begin = begin << 16 | (rowid << 1 & 0x7F00) | 0x8000 | (rowid & 0x7F);
            before = 3;
        } else if (rowid < 1 << 21) {
            begin = begin << 24 | (rowid << 2 & 0x7F0000) | (rowid << 1 & 0x7F00) | 0x808000 |
                    (rowid & 0x7F);
            before = 4;
        } else {
            before = 1 + varint_size(rowid);
        }
    }
    size_t cell = before + payload < 4 ? 4 : before + payload;
    uint8_t *out = pages_add(&stage->pages, cell, RECORD_SLACK);
    if (out == NULL) {
        return false;
    }
    uint8_t *end = out + before + payload;
    for (size_t i = count; i-- > 0;) {
        if (serial[i] >= SERIAL_BLOB) {
            size_t size = (serial[i] - SERIAL_BLOB) / 2u;
            end -= size;
            record_copy(end, content[i].bytes, size);
        } else if (serial[i] != SERIAL_NULL) {
            end = put_before(end, content[i].word, record_sizes[serial[i]]);
        }
    }
    if (count < 8) {
        end = put_before(end, types, 1 + count);
    } else {
        end -= count;
        memcpy(end, serial, count);
        *--end = (uint8_t)(1 + count);
    }
    if (before <= 4) {
        put_before(end, begin, before);
    } else {
        out[0] = (uint8_t)payload;
        varint_write(out + 1, rowid);
    }
    stage->rowid = (int64_t)rowid;
    count_row(stage);
    return true;
}

int stage_add(struct stage *stage, const struct pitot_value *values, size_t count,
              struct pitot_error *error)
{
    const struct table *table = stage->table;
    if (count != table->columns) {
        return failure(error, PITOT_ERROR_TYPE, "row %zu for %s: %zu values for %zu columns",
                       stage->rows + 1, table->name, count, table->columns);
    }
    if (count <= STAGE_QUICK_COLUMNS && add_quick(stage, values, count)) {
        return 0;
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
        code = take_value(stage, i, action, value, &slot[i], error);
        if (code != 0) {
            break;
        }
        types += varint_size(slot[i].serial);
        body += slot[i].size;
    }
    if (code == 0 && table->slice != TABLE_NONE &&
        !same_slot(&slot[stage->slice_number], &stage->slice)) {
        code = refuse(stage, table->slice, PITOT_ERROR_SLICE, "the row is of another slice", error);
    }
    size_t header = types < 127 ? types + 1 : types + varint_size(types + 2);
    size_t payload = header + body;
    if (code == 0 && payload > rows_most_local(table)) {
        code = add_big(stage, header, body, error);
    } else if (code == 0) {
        size_t before = varint_size(payload);
        before += table->without_rowid ? 0 : varint_size((uint64_t)stage->rowid);
        size_t cell = before + payload < 4 ? 4 : before + payload;
        uint8_t *out = pages_add(&stage->pages, cell, RECORD_SLACK);
        if (out == NULL) {
            code = failure(error, PITOT_ERROR_MEMORY, "row %zu for %s: out of memory",
                           stage->rows + 1, table->name);
        } else {
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
    count_row(stage);
    return 0;
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
        return refuse(stage, table->slice, PITOT_ERROR_TYPE,
                      "it is the primary key, so that a slice would be one row", error);
    }
    enum action action = slice->type > PITOT_BLOB
                             ? ACTION_INVALID
                             : (enum action)stage->column[number].action[slice->type];
    int code = take_value(stage, number, action, slice, &stage->slice, error);
    if (code == 0 && stage->slice.serial == SERIAL_NULL) {
        code = refuse(stage, table->slice, PITOT_ERROR_TYPE, "NULL is no slice", error);
    }
    if (code == 0 && stage->slice.serial >= SERIAL_BLOB) {
        stage->slice_bytes = malloc(stage->slice.size + 1);
        if (stage->slice_bytes == NULL) {
            code = refuse(stage, table->slice, PITOT_ERROR_MEMORY, "out of memory", error);
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
            stage->column[i].action[type] = (uint8_t)action_of(table, table->order[i], type);
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
