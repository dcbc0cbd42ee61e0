/*
 * Values compared as SQLite compares them in a key: NULLs first, then numbers, texts
 * by the collation, blobs.
 */
#ifndef PITOT_LIB_COMPARE_H
#define PITOT_LIB_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/table.h"

/* Below 0, 0, above 0. The collation is one of SQLite's own. */
int compare_values(const struct pitot_value *one, const struct pitot_value *other,
                   enum collation collation);

/* By the first `keys` columns of a key; one and other hold a value for each of them. */
int compare_keys(const struct table_key *key, size_t keys, const struct pitot_value *one,
                 const struct pitot_value *other);

/* Whether a column of a table would hold the same: type, and every byte. */
bool compare_same(const struct pitot_value *one, const struct pitot_value *other);

#endif
