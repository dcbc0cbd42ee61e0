/*
 * What a source may know of a table that it owns: read once, when the source is
 * registered, and constant from then on. A change of the schema makes a new one.
 */
#ifndef PITOT_LIB_TABLE_H
#define PITOT_LIB_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

struct table;

/*
 * Reads table NAME of the main database of DB. SLICE_COLUMN names the column whose
 * value makes a slice, NULL when the whole table is owned. Refuses with the reason
 * (PITOT_ERROR_SCHEMA): no such table, a view, a virtual table or one of SQLite's own; a
 * database that is not UTF-8; a slice column that leads no index; replace of a table
 * that another one references with an ON DELETE action; merge without a primary key,
 * or with one whose collation SQLite does not bring along.
 * Other errors: MEMORY and what SQLite reports. Returns 0 or the code; *OUT is
 * set only on 0 and is the caller's, to be freed with table_free(). Needs no
 * transaction; the thread that uses DB.
 */
int table_read(struct table **out, sqlite3 *db, const char *name, const char *slice_column,
               enum pitot_mode mode, struct pitot_error *error);
void table_free(struct table *table); /* NULL is allowed */

const char *table_name(const struct table *table);

/* The number of values that a staged row has: the columns in the order of the CREATE
 * TABLE statement, generated ones left out. */
size_t table_columns(const struct table *table);

/* The name of the column that a value of that number (from 0) is for. */
const char *table_column_name(const struct table *table, size_t number);

#endif
