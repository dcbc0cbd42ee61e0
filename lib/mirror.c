#include <stdlib.h>

#include "lib/plan.h"

void mirror_clear(struct mirror *mirror)
{
    free(mirror->key);
    free(mirror->row);
    mirror->key = NULL;
    mirror->row = NULL;
    mirror->rows = 0;
}

static int out_of_memory(const struct stage *stage, struct pitot_error *error)
{
    return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for what is remembered of it",
                   stage->table->name);
}

static bool allocate(struct mirror *mirror, size_t rows)
{
    mirror->key = malloc((rows + 1) * sizeof *mirror->key);
    mirror->row = malloc((rows + 1) * sizeof *mirror->row);
    mirror->rows = rows;
    return mirror->key != NULL && mirror->row != NULL;
}

/* Whether the cells of a table are what its rows hold, the key among it. Otherwise a cell has the
 * place of the row, which is no part of it. */
static bool cells_tell(const struct table *table)
{
    return table->rowid != TABLE_NONE || table->without_rowid;
}

/* Where cells tell, the hash is of the whole cell, unless the record has its end elsewhere. */
static struct hash hash_row(const uint64_t *secret, const struct stage *stage, const uint8_t *cell,
                            const struct row *row)
{
    if (!cells_tell(stage->table) || row->size > rows_most_local(stage->table)) {
        return hash_bytes(secret, row->record, row->size);
    }
    size_t size = (size_t)(row->record - cell) + row->size;
    return hash_bytes(secret, cell, size < PAGES_CELL ? PAGES_CELL : size);
}

/* The walk of a comparison. */
struct walk {
    const struct stage *stage;
    const uint64_t *secret;
    const struct mirror *old; /* the last pass */
    struct mirror *new;       /* this one; the same as long as all keys are where they were */
    struct mirror grown;      /* where it stands once they are not */
    struct plan *plan;
    struct order key; /* of hashed keys */
    size_t at;        /* staged rows so far */
    size_t next;      /* the remembered row that is expected */
    uint32_t *lookup; /* hashed keys: number of a remembered row, plus 1; made when needed */
    size_t mask;
    bool *used;
    bool doubt;
};

/* The keys have moved: what is remembered from here on goes to memory of its own. */
static bool leave(struct walk *walk)
{
    if (walk->new == &walk->grown) {
        return true;
    }
    if (!allocate(&walk->grown, walk->stage->rows)) {
        return false;
    }
    memcpy(walk->grown.key, walk->old->key, walk->at * sizeof *walk->old->key);
    memcpy(walk->grown.row, walk->old->row, walk->at * sizeof *walk->old->row);
    walk->new = &walk->grown;
    return true;
}

static void put(struct walk *walk, uint64_t key, struct hash row)
{
    walk->new->key[walk->at] = key;
    walk->new->row[walk->at] = row;
}

/* The staged row has the key of the remembered row MATCH. */
static bool meet(struct walk *walk, size_t match, uint64_t key, struct hash row,
                 const uint8_t *cell)
{
    bool same = hash_same(walk->old->row[match], row);
    if (same) {
        walk->plan->unchanged++;
    } else if (!plan_add(&walk->plan->changed, cell)) {
        return false;
    }
    if (match != walk->at && !leave(walk)) {
        return false;
    }
    if (!same || walk->new == &walk->grown) {
        put(walk, key, row);
    }
    return true;
}

static bool add(struct walk *walk, uint64_t key, struct hash row, const uint8_t *cell)
{
    if (!plan_add(&walk->plan->added, cell) || !leave(walk)) {
        return false;
    }
    put(walk, key, row);
    return true;
}

/* Both sides are in the order of their rowids. */
static bool step_ordered(struct walk *walk, const struct row *row, struct hash hash,
                         const uint8_t *cell)
{
    while (walk->next < walk->old->rows && (int64_t)walk->old->key[walk->next] < row->rowid) {
        if (!plan_gone_rowid(walk->plan, (int64_t)walk->old->key[walk->next++])) {
            return false;
        }
    }
    uint64_t key = (uint64_t)row->rowid;
    if (walk->next < walk->old->rows && walk->old->key[walk->next] == key) {
        return meet(walk, walk->next++, key, hash, cell);
    }
    return add(walk, key, hash, cell);
}

/* All remembered keys, to be found by their hash. */
static bool make_lookup(struct walk *walk)
{
    size_t size = 16;
    while (size < 2 * walk->old->rows) {
        size *= 2;
    }
    walk->mask = size - 1;
    walk->lookup = calloc(size, sizeof *walk->lookup);
    walk->used = calloc(walk->old->rows + 1, sizeof *walk->used);
    if (walk->lookup == NULL || walk->used == NULL) {
        return false;
    }
    for (size_t i = 0; i < walk->old->rows; i++) {
        size_t slot = walk->old->key[i] & walk->mask;
        while (walk->lookup[slot] != 0) {
            slot = (slot + 1) & walk->mask;
        }
        walk->lookup[slot] = (uint32_t)i + 1;
    }
    memset(walk->used, 1, walk->at * sizeof *walk->used);
    return true;
}

static bool find(const struct walk *walk, uint64_t key, size_t *match)
{
    for (size_t slot = key & walk->mask; walk->lookup[slot] != 0; slot = (slot + 1) & walk->mask) {
        *match = walk->lookup[slot] - 1;
        if (walk->old->key[*match] == key) {
            return true;
        }
    }
    return false;
}

/* In whatever order; usually that of the last pass. */
static bool step_hashed(struct walk *walk, const struct row *row, struct hash hash,
                        const uint8_t *cell)
{
    size_t match = walk->next;
    /* The hash of a row is also one of its key. */
    if (match < walk->old->rows && hash_same(walk->old->row[match], hash) &&
        (walk->used == NULL || !walk->used[match])) {
        if (walk->used != NULL) {
            walk->used[match] = true;
        }
        walk->next++;
        return meet(walk, match, walk->old->key[match], hash, cell);
    }
    order_values(&walk->key, row, walk->key.one);
    uint64_t key = hash_key(walk->secret, walk->key.key, walk->key.keys, walk->key.one);
    bool found = match < walk->old->rows && walk->old->key[match] == key;
    if (!found) {
        if (walk->lookup == NULL && !make_lookup(walk)) {
            return false;
        }
        found = find(walk, key, &match);
    }
    if (!found) {
        return add(walk, key, hash, cell);
    }
    if (walk->used != NULL) {
        /* Two rows with one key, or with one hash: the table's way tells them apart. */
        walk->doubt = walk->doubt || walk->used[match];
        walk->used[match] = true;
    }
    walk->next = match + 1;
    return meet(walk, match, key, hash, cell);
}

/* How many rows from cell FROM of a page on may stand where they stood. */
static size_t in_place(const struct walk *walk, const struct page *page, size_t from)
{
    if (walk->new != walk->old || walk->next != walk->at) {
        return 0; /* the slow way keeps the books */
    }
    size_t rows = page->cells - from;
    return rows < walk->old->rows - walk->next ? rows : walk->old->rows - walk->next;
}

/* Where the cells end that begin before this one. */
static const uint8_t *cell_end(const struct page *page, size_t cell)
{
    return cell == 0 ? page->memory + PAGES_SIZE : page_cell(page, cell - 1);
}

/* The usual case in few instructions: from cell FROM of a page on, rows that are what and where
 * they were. Returns the first one that is not. */
static size_t walk_unchanged(struct walk *walk, const struct page *page, size_t from)
{
    const struct stage *stage = walk->stage;
    const uint64_t *secret = walk->secret;
    const struct hash *expected = walk->old->row + walk->next;
    size_t end = from + in_place(walk, page, from);
    size_t c = from;
    if (cells_tell(stage->table) && stage->bigs == 0) {
        const uint8_t *cell_before = cell_end(page, from);
        for (; c < end; c++, expected++) {
            /* Cells lie one before the other: their sizes need not be read. */
            const uint8_t *cell = page_cell(page, c);
            size_t size = (size_t)(cell_before - cell);
            if (!hash_same(hash_bytes(secret, cell, size), *expected)) {
                break;
            }
            cell_before = cell;
        }
    } else {
        for (; c < end; c++, expected++) {
            const uint8_t *cell = page_cell(page, c);
            struct row row;
            row_read(stage, cell, &row);
            if (!hash_same(hash_row(secret, stage, cell, &row), *expected)) {
                break;
            }
        }
    }
    walk->plan->unchanged += c - from;
    walk->next += c - from;
    walk->at += c - from;
    return c;
}

/*
 * Behind a row that is another: up to MOST rows whose rowids are where they were, whatever they
 * hold. Without a branch on what is the same, which no processor could foretell. Sets *CELL to the
 * first row that is elsewhere. False: out of memory.
 */
static bool walk_mixed(struct walk *walk, const struct page *page, size_t *cell, size_t most)
{
    const struct stage *stage = walk->stage;
    const uint64_t *secret = walk->secret;
    struct plan_cells *changed = &walk->plan->changed;
    size_t rows = in_place(walk, page, *cell);
    rows = rows < most ? rows : most;
    if (!plan_reserve(changed, rows)) {
        return false;
    }
    struct hash *expected = walk->new->row + walk->next;
    const uint64_t *rowid = walk->old->key + walk->next;
    const uint8_t **out = changed->cell + changed->count;
    size_t found = 0;
    size_t i = 0;
    for (; i < rows; i++) {
        const uint8_t *at = page_cell(page, *cell + i);
        struct row row;
        row_read(stage, at, &row);
        if (rowid[i] != (uint64_t)row.rowid) {
            break;
        }
        struct hash hash = hash_row(secret, stage, at, &row);
        uint64_t differs = (hash.low ^ expected[i].low) | (hash.high ^ expected[i].high);
        out[found] = at;
        found += differs != 0;
        expected[i] = hash;
    }
    changed->count += found;
    walk->plan->unchanged += i - found;
    walk->next += i;
    walk->at += i;
    *cell += i;
    return true;
}

static bool walk_rows(struct walk *walk)
{
    const struct stage *stage = walk->stage;
    enum { FAR = 8, MOST_MIXED = 64 };
    bool ordered = stage->table->rowid != TABLE_NONE;
    size_t mixed = 1;
    for (size_t p = 0; p < stage->pages.count; p++) {
        const struct page *page = &stage->pages.page[p];
        size_t c = 0;
        for (;;) {
            size_t run = c;
            c = walk_unchanged(walk, page, c);
            if (c == page->cells) {
                break;
            }
            /* The closer the changes, the longer the stretch in which some more are expected. */
            mixed = c - run >= FAR ? 1 : mixed < MOST_MIXED ? 2 * mixed : mixed;
            size_t before = c;
            if (ordered && !walk_mixed(walk, page, &c, mixed)) {
                return false;
            }
            if (c > before) {
                continue;
            }
            const uint8_t *cell = page_cell(page, c++);
            struct row row;
            row_read(stage, cell, &row);
            struct hash hash = hash_row(walk->secret, stage, cell, &row);
            if (!(ordered ? step_ordered : step_hashed)(walk, &row, hash, cell)) {
                return false;
            }
            walk->at++;
        }
    }
    if (ordered) {
        while (walk->next < walk->old->rows) {
            if (!plan_gone_rowid(walk->plan, (int64_t)walk->old->key[walk->next++])) {
                return false;
            }
        }
        return true;
    }
    size_t met = walk->plan->unchanged + walk->plan->changed.count;
    walk->doubt = walk->doubt || met < walk->old->rows;
    return true;
}

int mirror_compare(struct mirror *mirror, const struct stage *stage, struct plan *plan,
                   struct pitot_error *error)
{
    const struct table *table = stage->table;
    struct walk walk = {
        .stage = stage, .secret = hash_secret(), .old = mirror, .new = mirror, .plan = plan};
    int code = order_open(&walk.key, stage, table->key, table->keys, error);
    bool walked = code == 0 && walk.secret != NULL && walk_rows(&walk);
    order_release(&walk.key);
    free(walk.lookup);
    free(walk.used);
    if (!walked) {
        mirror_clear(&walk.grown);
        mirror_clear(mirror);
        return code != 0 ? code : out_of_memory(stage, error);
    }
    if (walk.new == &walk.grown) {
        mirror_clear(mirror);
        *mirror = walk.grown;
    }
    mirror->rows = stage->rows;
    return walk.doubt ? 0 : 1;
}

int mirror_build(struct mirror *mirror, const struct stage *stage, struct pitot_error *error)
{
    const struct table *table = stage->table;
    const uint64_t *secret = hash_secret();
    struct order key;
    mirror_clear(mirror);
    int code = order_open(&key, stage, table->key, table->keys, error);
    if (code != 0 || secret == NULL || !allocate(mirror, stage->rows)) {
        order_release(&key);
        mirror_clear(mirror);
        return code != 0 ? code : out_of_memory(stage, error);
    }
    size_t at = 0;
    for (size_t p = 0; p < stage->pages.count; p++) {
        for (size_t c = 0; c < stage->pages.page[p].cells; c++, at++) {
            const uint8_t *cell = page_cell(&stage->pages.page[p], c);
            struct row row;
            row_read(stage, cell, &row);
            mirror->row[at] = hash_row(secret, stage, cell, &row);
            if (table->rowid != TABLE_NONE) {
                mirror->key[at] = (uint64_t)row.rowid;
            } else {
                order_values(&key, &row, key.one);
                mirror->key[at] = hash_key(secret, table->key, table->keys, key.one);
            }
        }
    }
    order_release(&key);
    return 0;
}
