/*
 * The rows of a pass, in memory, until they are applied.
 *
 * A row is checked and encoded when it is added: affinities are applied to its values as SQLite
 * would, and text and blobs become part of its record, borrowed ones too: SQLite moves whole
 * records, and hashes are of whole records. A stage belongs to one thread at a time.
 */
#ifndef PITOT_LIB_STAGE_H
#define PITOT_LIB_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/table.h"

struct stage;

/*
 * A stage without rows for TABLE, which must live as long. SLICE is the slice's value
 * when the table was read with a slice column (copied), NULL otherwise; a value that
 * the column could not hold is PITOT_ERROR_TYPE. *OUT is set only on 0.
 */
int stage_new(struct stage **out, const struct table *table, const struct pitot_value *slice,
              struct pitot_error *error);
void stage_free(struct stage *stage); /* NULL is allowed */

/*
 * Adds a row of COUNT values. PITOT_ERROR_TYPE, with the column named and nothing added:
 * another number of values than the table has columns, a NULL where the table says
 * NOT NULL or in the key of a merge, a value of a type that a STRICT table refuses,
 * an INTEGER PRIMARY KEY that is no integer. PITOT_ERROR_INVALID: not a value at all.
 * PITOT_ERROR_SLICE: a row of another slice. PITOT_ERROR_MEMORY.
 * After an error the stage holds what it held before.
 */
int stage_add(struct stage *stage, const struct pitot_value *values, size_t count,
              struct pitot_error *error);

/* Takes all rows away; some memory is kept for the next pass (stage_memory tells). */
void stage_clear(struct stage *stage);

size_t stage_rows(const struct stage *stage);

/* Bytes of memory that the stage holds now. */
size_t stage_memory(const struct stage *stage);

#endif
