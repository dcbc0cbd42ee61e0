/*
 * A merge's comparison with the table itself: every row that the source owns is read
 * once. By rowid both sides are walked in their order; by other keys the staged rows
 * are found by the hash of their key, and compared as SQLite compares.
 */
#include <stdlib.h>

#include "lib/compare.h"
#include "lib/plan.h"

struct entry {
    uint64_t hash;
    const uint8_t *cell; /* NULL: free */
    bool met;
};

struct comparison {
    struct apply *apply;
    const struct stage *stage;
    struct plan *plan;
    struct pitot_value *values; /* of the table's row */
    struct order key;
    const uint64_t *secret;
    struct entry *entry;
    size_t mask;
    /* The staged row that comes next in the order of rowids. */
    size_t page;
    size_t number;
};

static int out_of_memory(const struct stage *stage, struct pitot_error *error)
{
    return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for comparing",
                   stage->table->name);
}

static const uint8_t *current(struct comparison *c)
{
    while (c->page < c->stage->pages.count && c->number == c->stage->pages.page[c->page].cells) {
        c->page++;
        c->number = 0;
    }
    return c->page < c->stage->pages.count ? page_cell(&c->stage->pages.page[c->page], c->number)
                                           : NULL;
}

/* The table has the key of this staged row. */
static bool meet(struct comparison *c, const uint8_t *cell)
{
    struct row row;
    row_read(c->stage, cell, &row);
    row_values(c->stage, &row, c->apply->values);
    for (size_t i = 0; i < c->stage->table->columns; i++) {
        if (!compare_same(&c->values[i], &c->apply->values[i])) {
            return plan_add(&c->plan->changed, cell);
        }
    }
    c->plan->unchanged++;
    return true;
}

static bool step_ordered(struct comparison *c)
{
    int64_t rowid = c->values[c->stage->table->rowid].as.integer;
    const uint8_t *cell;
    while ((cell = current(c)) != NULL) {
        struct row row;
        row_read(c->stage, cell, &row);
        if (row.rowid > rowid) {
            break;
        }
        c->number++;
        if (row.rowid == rowid) {
            return meet(c, cell);
        }
        if (!plan_add(&c->plan->added, cell)) {
            return false;
        }
    }
    return plan_gone_rowid(c->plan, rowid);
}

/* Where a key stands, or would stand. The values are those of the key's columns. */
static struct entry *find(struct comparison *c, uint64_t hash, const struct pitot_value *values)
{
    size_t at = hash & c->mask;
    for (; c->entry[at].cell != NULL; at = (at + 1) & c->mask) {
        if (c->entry[at].hash == hash) {
            struct row row;
            row_read(c->stage, c->entry[at].cell, &row);
            order_values(&c->key, &row, c->key.other);
            if (compare_keys(c->key.key, c->key.keys, values, c->key.other) == 0) {
                break;
            }
        }
    }
    return &c->entry[at];
}

static int index_stage(struct comparison *c, struct pitot_error *error)
{
    size_t size = 16;
    while (size < 2 * c->stage->rows) {
        size *= 2;
    }
    c->mask = size - 1;
    c->entry = calloc(size, sizeof *c->entry);
    if (c->entry == NULL) {
        return out_of_memory(c->stage, error);
    }
    size_t number = 0;
    for (size_t p = 0; p < c->stage->pages.count; p++) {
        for (size_t i = 0; i < c->stage->pages.page[p].cells; i++) {
            const uint8_t *cell = page_cell(&c->stage->pages.page[p], i);
            struct row row;
            row_read(c->stage, cell, &row);
            order_values(&c->key, &row, c->key.one);
            uint64_t hash = hash_key(c->secret, c->key.key, c->key.keys, c->key.one);
            struct entry *entry = find(c, hash, c->key.one);
            number++;
            if (entry->cell != NULL) {
                return order_duplicate(c->stage, cell, number, NULL, error);
            }
            *entry = (struct entry){.hash = hash, .cell = cell};
        }
    }
    return 0;
}

static bool step_hashed(struct comparison *c)
{
    for (size_t i = 0; i < c->key.keys; i++) {
        c->key.one[i] = c->values[c->key.key[i].column];
    }
    uint64_t hash = hash_key(c->secret, c->key.key, c->key.keys, c->key.one);
    struct entry *entry = find(c, hash, c->key.one);
    if (entry->cell == NULL) {
        return plan_gone_key(c->plan, c->key.one, c->key.keys);
    }
    entry->met = true;
    return meet(c, entry->cell);
}

/* Staged rows whose key the table does not have. */
static bool add_rest(struct comparison *c)
{
    if (c->entry == NULL) {
        for (const uint8_t *cell; (cell = current(c)) != NULL; c->number++) {
            if (!plan_add(&c->plan->added, cell)) {
                return false;
            }
        }
        return true;
    }
    /* In the order in which they were staged, for that is the order of the table's own pages. */
    for (const uint8_t *cell; (cell = current(c)) != NULL; c->number++) {
        struct row row;
        row_read(c->stage, cell, &row);
        order_values(&c->key, &row, c->key.one);
        uint64_t hash = hash_key(c->secret, c->key.key, c->key.keys, c->key.one);
        if (!find(c, hash, c->key.one)->met && !plan_add(&c->plan->added, cell)) {
            return false;
        }
    }
    return true;
}

static int read_table(struct comparison *c, struct pitot_error *error)
{
    const struct table *table = c->stage->table;
    sqlite3_stmt *read;
    int code = apply_statement(c->apply, APPLY_READ, &read, error);
    if (code != 0) {
        return code;
    }
    int rc = table->slice != TABLE_NONE ? convert_bind(read, 1, &c->apply->slice) : SQLITE_OK;
    bool memory = true;
    while (rc == SQLITE_OK && memory && (rc = sqlite3_step(read)) == SQLITE_ROW) {
        for (size_t i = 0; i < table->columns && memory; i++) {
            memory = convert_column(read, (int)i, &c->values[i]);
        }
        memory = memory && (table->rowid != TABLE_NONE ? step_ordered(c) : step_hashed(c));
        rc = SQLITE_OK;
    }
    code = !memory ? out_of_memory(c->stage, error) : 0;
    if (memory && rc != SQLITE_DONE) {
        code = failure_sqlite(error, c->apply->db, rc, "%s: reading", table->name);
    }
    sqlite3_reset(read);
    sqlite3_clear_bindings(read);
    return code;
}

int table_compare(struct apply *apply, const struct stage *stage, struct plan *plan,
                  struct pitot_error *error)
{
    const struct table *table = stage->table;
    struct comparison c = {.apply = apply,
                           .stage = stage,
                           .plan = plan,
                           .secret = hash_secret(),
                           .values = calloc(table->columns, sizeof *c.values)};
    plan_clear(plan, table->keys);
    int code = order_open(&c.key, stage, table->key, table->keys, error);
    if (code == 0 && (c.values == NULL || c.secret == NULL)) {
        code = out_of_memory(stage, error);
    }
    if (code == 0 && table->rowid == TABLE_NONE) {
        code = index_stage(&c, error);
    }
    code = code != 0 ? code : read_table(&c, error);
    if (code == 0 && !add_rest(&c)) {
        code = out_of_memory(stage, error);
    }
    order_release(&c.key);
    free(c.entry);
    free(c.values);
    return code;
}
