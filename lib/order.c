#include "lib/order.h"

#include <stdlib.h>

#include "lib/compare.h"

void order_values(const struct order *order, const struct row *row, struct pitot_value *values)
{
    struct record_reader reader;
    record_open(&reader, row->record);
    size_t at = 0;
    struct pitot_value value;
    for (size_t i = 0; i < order->keys; i++) {
        if (order->place[i] == TABLE_ROWID) {
            values[i] = pitot_integer(row->rowid);
            continue;
        }
        if (order->place[i] < at) { /* an index may name its columns in any order */
            record_open(&reader, row->record);
            at = 0;
        }
        for (; at <= order->place[i]; at++) {
            record_next(&reader, &value);
        }
        values[i] = value;
    }
}

static int compare_cells(const struct order *order, const uint8_t *one, const uint8_t *other)
{
    struct row row;
    row_read(order->stage, one, &row);
    order_values(order, &row, order->one);
    row_read(order->stage, other, &row);
    order_values(order, &row, order->other);
    return compare_keys(order->key, order->keys, order->one, order->other);
}

static int compare_items(const void *one, const void *other, void *order)
{
    const struct order_item *a = one;
    const struct order_item *b = other;
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix ? -1 : 1;
    }
    return compare_cells(order, a->cell, b->cell);
}

/* By prefix, a byte at a time from the last; bytes that all share are skipped. */
static void sort_prefixes(struct order_item *item, struct order_item *spare, size_t count)
{
    struct order_item *from = item;
    struct order_item *to = spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < count; i++) {
            start[(from[i].prefix >> shift & 0xFF) + 1]++;
        }
        if (start[(from[0].prefix >> shift & 0xFF) + 1] == count) {
            continue;
        }
        for (size_t i = 1; i < 257; i++) {
            start[i] += start[i - 1];
        }
        for (size_t i = 0; i < count; i++) {
            to[start[from[i].prefix >> shift & 0xFF]++] = from[i];
        }
        struct order_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != item) {
        memcpy(item, from, count * sizeof *item);
    }
}

static uint64_t number_prefix(const struct pitot_value *value)
{
    double real = value->type == PITOT_REAL ? value->as.real : (double)value->as.integer;
    uint64_t bits;
    real += 0.0; /* a negative zero becomes the other one */
    memcpy(&bits, &real, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

/* As many bytes as fit, behind the first SKIP ones. */
static uint64_t text_prefix(const struct pitot_value *value, enum collation collation,
                            uint32_t skip)
{
    const uint8_t *text = value->as.bytes;
    uint32_t size = value->size;
    if (collation == COLLATION_RTRIM) {
        while (size > 0 && text[size - 1] == ' ') {
            size--;
        }
    }
    uint64_t prefix = 0;
    for (uint32_t i = skip; i < skip + 7; i++) {
        uint8_t byte = i < size ? text[i] : 0;
        if (collation == COLLATION_NOCASE && byte >= 'A' && byte <= 'Z') {
            byte = (uint8_t)(byte + ('a' - 'A'));
        }
        prefix = prefix << 8 | byte;
    }
    return prefix;
}

static uint64_t value_prefix(const struct pitot_value *value, const struct table_key *key,
                             uint32_t skip)
{
    static const uint8_t classes[] = {0, 1, 1, 2, 3};
    uint64_t prefix = (uint64_t)classes[value->type] << 56;
    if (value->type == PITOT_INTEGER || value->type == PITOT_REAL) {
        prefix |= number_prefix(value) >> 8;
    } else if (value->type != PITOT_NULL) {
        prefix |=
            text_prefix(value, value->type == PITOT_TEXT ? key->collation : COLLATION_BINARY, skip);
    }
    return key->descending ? ~prefix : prefix;
}

/* Bytes that both begin with. 0 when one is no text or blob of the other's kind. */
static uint32_t common(const struct pitot_value *one, const struct pitot_value *other,
                       uint32_t most)
{
    if (one->type != other->type || one->type < PITOT_TEXT) {
        return 0;
    }
    const uint8_t *a = one->as.bytes;
    const uint8_t *b = other->as.bytes;
    most = one->size < most ? one->size : most;
    most = other->size < most ? other->size : most;
    uint32_t i = 0;
    while (i < most && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* The first column in which two rows differ, and how its texts begin in all rows. */
static size_t choose_column(const struct order *order, uint32_t *skip)
{
    size_t count = order->stage->rows;
    struct row row;
    row_read(order->stage, order->item[0].cell, &row);
    order_values(order, &row, order->one);
    for (size_t c = 0; c < order->keys; c++) {
        bool equal = true;
        *skip = UINT32_MAX;
        for (size_t i = 1; i < count; i++) {
            row_read(order->stage, order->item[i].cell, &row);
            order_values(order, &row, order->other);
            equal = equal &&
                    compare_values(&order->one[c], &order->other[c], order->key[c].collation) == 0;
            *skip = common(&order->one[c], &order->other[c], *skip);
            if (!equal && *skip == 0) {
                break;
            }
        }
        if (!equal) {
            return c;
        }
    }
    *skip = 0;
    return 0;
}

static void sort_items(struct order *order, struct order_item *spare)
{
    size_t count = order->stage->rows;
    uint32_t skip = 0;
    size_t column = choose_column(order, &skip);
    for (size_t i = 0; i < count; i++) {
        struct row row;
        row_read(order->stage, order->item[i].cell, &row);
        order_values(order, &row, order->one);
        order->item[i].prefix = value_prefix(&order->one[column], &order->key[column], skip);
    }
    sort_prefixes(order->item, spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && order->item[end].prefix == order->item[i].prefix; end++) {
        }
        if (end - i > 1) {
            qsort_r(order->item + i, end - i, sizeof *order->item, compare_items, order);
        }
    }
}

int order_duplicate(const struct stage *stage, const uint8_t *cell, size_t number,
                    const char *index, struct pitot_error *error)
{
    struct row row;
    char text[300];
    row_read(stage, cell, &row);
    row_describe(stage, &row, number, text, sizeof text);
    if (index == NULL) {
        return failure(error, PITOT_ERROR_DUPLICATE, "%s: two rows were staged with %s",
                       stage->table->name, text);
    }
    return failure(error, PITOT_ERROR_CONSTRAINT,
                   "%s: the row with %s repeats another staged row in the unique index %s",
                   stage->table->name, text, index);
}

/* Two neighbours that agree; the first one's values are in order->one, the second's in other. */
static bool repeats(const struct order *order)
{
    for (size_t i = 0; i < order->unique_keys; i++) {
        if (order->one[i].type == PITOT_NULL) {
            return false;
        }
    }
    return compare_keys(order->key, order->unique_keys, order->one, order->other) == 0;
}

static void swap_values(struct order *order)
{
    struct pitot_value *swap = order->one;
    order->one = order->other;
    order->other = swap;
}

/* Looks through the stage in its own order: 1 it is the key's, 0 it is not, negative: DUPLICATE. */
static int check_stage(struct order *order, const char *index, struct pitot_error *error)
{
    const struct stage *stage = order->stage;
    size_t number = 0;
    for (size_t p = 0; p < stage->pages.count; p++) {
        for (size_t c = 0; c < stage->pages.page[p].cells; c++) {
            const uint8_t *cell = page_cell(&stage->pages.page[p], c);
            struct row row;
            row_read(stage, cell, &row);
            order_values(order, &row, order->other);
            number++;
            if (number > 1) {
                int result = compare_keys(order->key, order->keys, order->one, order->other);
                if (result > 0) {
                    return 0;
                }
                if ((result == 0 || order->unique_keys < order->keys) && repeats(order)) {
                    return order_duplicate(order->stage, cell, number, index, error);
                }
            }
            swap_values(order);
        }
    }
    return 1;
}

static int check_items(struct order *order, const char *index, struct pitot_error *error)
{
    for (size_t i = 0; i < order->stage->rows; i++) {
        struct row row;
        row_read(order->stage, order->item[i].cell, &row);
        order_values(order, &row, order->other);
        if (i > 0 && repeats(order)) {
            return order_duplicate(order->stage, order->item[i].cell, i + 1, index, error);
        }
        swap_values(order);
    }
    return 0;
}

static int out_of_memory(const struct stage *stage, struct pitot_error *error)
{
    return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for sorting %zu rows",
                   stage->table->name, stage->rows);
}

static struct order_item *items_new(const struct stage *stage)
{
    struct order_item *item = malloc((stage->rows + 1) * sizeof *item);
    size_t number = 0;
    for (size_t p = 0; item != NULL && p < stage->pages.count; p++) {
        for (size_t c = 0; c < stage->pages.page[p].cells; c++) {
            item[number++].cell = page_cell(&stage->pages.page[p], c);
        }
    }
    return item;
}

int order_open(struct order *order, const struct stage *stage, const struct table_key *key,
               size_t keys, struct pitot_error *error)
{
    const struct table *table = stage->table;
    *order = (struct order){.stage = stage,
                            .key = key,
                            .keys = keys,
                            .unique_keys = keys,
                            .place = calloc(keys + 1, sizeof *order->place),
                            .one = calloc(keys + 1, sizeof *order->one),
                            .other = calloc(keys + 1, sizeof *order->other)};
    if (order->place == NULL || order->one == NULL || order->other == NULL) {
        return out_of_memory(stage, error);
    }
    for (size_t i = 0; i < keys; i++) {
        order->place[i] = TABLE_ROWID;
        for (size_t p = 0; p < table->columns; p++) {
            if (key[i].column == table->order[p] && key[i].column != table->rowid) {
                order->place[i] = p;
            }
        }
    }
    return 0;
}

int order_rows(struct order *order, const struct stage *stage, const struct table_key *key,
               size_t keys, size_t unique_keys, const char *index, struct pitot_error *error)
{
    int code = order_open(order, stage, key, keys, error);
    if (code != 0) {
        return code;
    }
    order->unique_keys = unique_keys;
    code = check_stage(order, index, error);
    if (code != 0) {
        return code > 0 ? 0 : code;
    }
    order->item = items_new(stage);
    struct order_item *spare = malloc(stage->rows * sizeof *spare);
    if (order->item == NULL || spare == NULL) {
        free(spare);
        return out_of_memory(stage, error);
    }
    sort_items(order, spare);
    free(spare);
    return check_items(order, index, error);
}

void order_release(struct order *order)
{
    free(order->item);
    free(order->place);
    free(order->one);
    free(order->other);
    *order = (struct order){.stage = NULL};
}

/* Moves the cells to new pages in the order of the items. */
static bool rewrite(struct stage *stage, const struct order_item *item)
{
    struct pages pages = {.page = NULL};
    for (size_t i = 0; i < stage->rows; i++) {
        size_t size = row_cell_size(stage->table, item[i].cell);
        uint8_t *out = pages_add(&pages, size, 0);
        if (out == NULL) {
            pages_clear(&pages);
            return false;
        }
        memcpy(out, item[i].cell, size);
    }
    pages_clear(&stage->pages);
    stage->pages = pages;
    return true;
}

/* By rowid: nothing has to be read but the front of the cells. */
static int order_by_rowid(struct stage *stage, struct pitot_error *error)
{
    struct order_item *item = items_new(stage);
    struct order_item *spare = malloc(stage->rows * sizeof *spare);
    int code = item == NULL || spare == NULL ? out_of_memory(stage, error) : 0;
    if (code == 0) {
        for (size_t i = 0; i < stage->rows; i++) {
            struct row row;
            row_read(stage, item[i].cell, &row);
            item[i].prefix = (uint64_t)row.rowid ^ UINT64_C(1) << 63;
        }
        sort_prefixes(item, spare, stage->rows);
        for (size_t i = 1; i < stage->rows && code == 0; i++) {
            if (item[i].prefix == item[i - 1].prefix) {
                code = order_duplicate(stage, item[i].cell, i + 1, NULL, error);
            }
        }
    }
    free(spare);
    if (code == 0 && !rewrite(stage, item)) {
        code = out_of_memory(stage, error);
    }
    free(item);
    stage->ascending = stage->ascending || code == 0;
    return code;
}

int order_stage(struct stage *stage, struct pitot_error *error)
{
    const struct table *table = stage->table;
    if (stage->rows < 2 || stage->without_rowid) {
        return 0;
    }
    if (!table->without_rowid) {
        return table->rowid == TABLE_NONE || stage->ascending ? 0 : order_by_rowid(stage, error);
    }
    struct order order;
    int code = order_rows(&order, stage, table->key, table->keys, table->keys, NULL, error);
    if (code == 0 && order.item != NULL && !rewrite(stage, order.item)) {
        code = out_of_memory(stage, error);
    }
    order_release(&order);
    return code;
}
