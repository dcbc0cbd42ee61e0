/*
 * Staged rows in the order of a key, as the b-tree of a table or index has them.
 */
#ifndef PITOT_LIB_ORDER_H
#define PITOT_LIB_ORDER_H

#include "lib/rows.h"

struct order_item {
    uint64_t prefix; /* sorts before anything else */
    const uint8_t *cell;
};

struct order {
    const struct stage *stage;
    const struct table_key *key;
    size_t keys;
    size_t unique_keys;
    struct order_item *item; /* NULL: the stage's own order is right */
    size_t *place;           /* by column of the key: place in the record, or TABLE_ROWID */
    struct pitot_value *one; /* keys values each */
    struct pitot_value *other;
};

/*
 * Orders the rows of the stage by a key of SQLite's own collations, whose columns are
 * the table's or the rowid. UNIQUE_KEYS: no two rows may agree in so many columns of
 * it, unless there is a NULL among them; DUPLICATE, naming the row, otherwise. INDEX
 * is named with it, if it is not NULL. Other errors: MEMORY. The caller ends it with
 * order_release(), also after an error.
 */
int order_rows(struct order *order, const struct stage *stage, const struct table_key *key,
               size_t keys, size_t unique_keys, const char *index, struct pitot_error *error);
void order_release(struct order *order);

/* As order_rows() without ordering anything: for order_values(). MEMORY. */
int order_open(struct order *order, const struct stage *stage, const struct table_key *key,
               size_t keys, struct pitot_error *error);

/* The values of the key's columns of a row. */
void order_values(const struct order *order, const struct row *row, struct pitot_value *values);

/* The error of two rows with one key, or, if INDEX is named, with one entry of it. */
int order_duplicate(const struct stage *stage, const uint8_t *cell, size_t number,
                    const char *index, struct pitot_error *error);

/* Puts the stage's rows in the order of the table itself: by rowid, or by the primary
 * key of a WITHOUT ROWID table. DUPLICATE and MEMORY: the stage is as it was. */
int order_stage(struct stage *stage, struct pitot_error *error);

#endif
