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

/* Affinities in SQLite's sense; AFFINITY_BLOB leaves every value as it is. */
enum affinity { AFFINITY_BLOB, AFFINITY_TEXT, AFFINITY_NUMERIC, AFFINITY_INTEGER, AFFINITY_REAL };

/* Collations that SQLite brings along; COLLATION_OTHER is the application's own. */
enum collation { COLLATION_BINARY, COLLATION_NOCASE, COLLATION_RTRIM, COLLATION_OTHER };

struct table_column {
    char *name;
    char *type; /* as declared, "" if not */
    enum affinity affinity;
    enum pitot_type strict; /* the only type (but for NULL) that a STRICT table stores here;
                               PITOT_NULL: any */
    enum collation collation;
    bool not_null; /* the INTEGER PRIMARY KEY is not marked */
};

/* A column of a key or index. */
struct table_key {
    size_t column; /* number in `column`, or TABLE_ROWID, or TABLE_EXPRESSION */
    enum collation collation;
    bool descending;
};

#define TABLE_NONE ((size_t)-1)
#define TABLE_ROWID ((size_t)-2)
#define TABLE_EXPRESSION ((size_t)-3)

struct table_index {
    char *name;
    char *sql; /* NULL: made by a constraint */
    bool unique;
    bool primary;          /* it is the primary key's */
    struct table_key *key; /* all columns of its entries, the rowid among them */
    size_t keys;
    size_t unique_keys; /* how many of them must not repeat; `keys` if it is not unique */
};

struct table {
    char *name;
    char *sql; /* CREATE TABLE … */
    enum pitot_mode mode;
    struct table_column *column; /* generated ones left out */
    size_t columns;
    size_t rowid;          /* the column that is the INTEGER PRIMARY KEY, or TABLE_NONE */
    size_t slice;          /* the slice's column, or TABLE_NONE */
    struct table_key *key; /* the primary key; none: the table has no key but its rowid */
    size_t keys;
    size_t *order; /* columns as a record holds them; WITHOUT ROWID puts the key in front */
    struct table_index *index; /* but for the primary key's of a WITHOUT ROWID table */
    size_t indexes;
    int64_t row_limit; /* bytes of a record */
    bool without_rowid;
    bool strict;
    bool triggers;
    bool foreign_keys; /* it refers to others, and they are enforced */
    bool referenced;   /* others refer to it, and they are enforced */
    bool transferable; /* rows can go over as they are: nothing has to be computed or checked */
    bool transferable_beside; /* also while it holds other rows */
    bool unique_beside;       /* it has unique indexes besides the primary key */
};

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

/* After somebody else has changed the schema: SCHEMA when the table has triggers, refers to others
 * or is referred to, and did not when it was read, or the other way round. */
int table_check_relations(const struct table *table, sqlite3 *db, struct pitot_error *error);

const char *table_name(const struct table *table);

/* The number of values that a staged row has: the columns in the order of the CREATE
 * TABLE statement, generated ones left out. */
size_t table_columns(const struct table *table);

/* Whether a column of the key can hold values that differ and yet are one key. */
bool table_key_has_forms(const struct table *table, size_t column);

#endif
