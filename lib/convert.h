/*
 * What SQLite makes of a value that a column's affinity changes, where the rules are
 * long or differ between its versions (texts that look like numbers, large doubles,
 * doubles as text): it is asked itself, in an empty database in memory.
 */
#ifndef PITOT_LIB_CONVERT_H
#define PITOT_LIB_CONVERT_H

#include <sqlite3.h>

#include "lib/error.h"
#include "lib/table.h"

struct convert;

/*
 * Stores VALUE as a column of that affinity does, and reads it back. *CONVERT is made
 * when it is NULL. *OUT is the caller's: sqlite3_value_free(). Errors: MEMORY, SQLITE.
 */
int convert_value(struct convert **convert, enum affinity affinity, const struct pitot_value *value,
                  sqlite3_value **out, struct pitot_error *error);
void convert_free(struct convert *convert); /* NULL is allowed */

/* Binds a value to a parameter of a statement, numbered from 1. The bytes of a text or
 * blob must stay until the statement has run. Returns a result code of SQLite. */
int convert_bind(sqlite3_stmt *statement, int parameter, const struct pitot_value *value);

/* The value in a column of the statement's row, numbered from 0, whose bytes are SQLite's until the
 * next step. False: out of memory. */
bool convert_column(sqlite3_stmt *statement, int column, struct pitot_value *value);

#endif
