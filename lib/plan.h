/*
 * What a merge has to write, and the ways to find it: against what is remembered of the
 * last pass, or against the table.
 */
#ifndef PITOT_LIB_PLAN_H
#define PITOT_LIB_PLAN_H

#include "lib/applying.h"
#include "lib/hash.h"
#include "lib/order.h"

struct plan_cells {
    const uint8_t **cell;
    size_t count;
    size_t capacity;
};

struct plan {
    struct plan_cells changed; /* staged rows whose key is there with other content */
    struct plan_cells added;   /* staged rows whose key is not there */
    /* Keys that are there and not staged: rowids, or copies of their values, one after the other.
     */
    int64_t *gone_rowid;
    struct pitot_value *gone_value;
    size_t gone;
    size_t gone_capacity;
    size_t unchanged;
};

/* False: out of memory. plan_reserve: room for so many more. */
bool plan_reserve(struct plan_cells *cells, size_t more);
bool plan_add(struct plan_cells *cells, const uint8_t *cell);
bool plan_gone_rowid(struct plan *plan, int64_t rowid);
bool plan_gone_key(struct plan *plan, const struct pitot_value *values, size_t keys);

/* Empties it. KEYS: columns of the key. */
void plan_clear(struct plan *plan, size_t keys);

/* What is remembered: the rows of the last pass in its order, 24 bytes each. */
struct mirror {
    uint64_t *key; /* the rowid, or the key's hash */
    struct hash *row;
    size_t rows;
};

void mirror_clear(struct mirror *mirror);

/* Remembers the stage's rows instead. MEMORY. */
int mirror_build(struct mirror *mirror, const struct stage *stage, struct pitot_error *error);

/* Finds what differs from what is remembered, which then is the stage. 1: the plan is whole. 0:
 * the table must be asked, for keys that are gone are known by their hash only, or may be double.
 * MEMORY: nothing is remembered any more. */
int mirror_compare(struct mirror *mirror, const struct stage *stage, struct plan *plan,
                   struct pitot_error *error);

/* Finds what differs from the table. DUPLICATE, MEMORY, and what SQLite reports. */
int table_compare(struct apply *apply, const struct stage *stage, struct plan *plan,
                  struct pitot_error *error);

/* Writes changed rows of a table that update_can_walk(), by one statement that ends the transaction
 * when it fails. 0; 1: some are not there, and the others may be written; or what SQLite
 * reports. */
int update_rows(struct apply *apply, const struct stage *stage, const struct plan_cells *cells,
                struct pitot_error *error);
bool update_can_walk(const struct table *table);

#endif
