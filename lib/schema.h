/*
 * The schema of a store: the caller's DDL and three tables of the library's own.
 *
 *     pitot_schema   one row: format of these tables, the caller's version, hash of the DDL
 *     pitot_made     what the DDL has made, so that a rebuild drops that and nothing else
 *     pitot_sync     the sync rows (lib/sync.h)
 */
#ifndef PITOT_LIB_SCHEMA_H
#define PITOT_LIB_SCHEMA_H

#include "lib/connection.h"

#include <stdbool.h>

struct schema {
    int version;
    const char *ddl;
    uint64_t hash; /* of the DDL */
    uint32_t mark; /* of both and the format: the database's user_version, for a first look */
};

struct schema schema_of(int version, const char *ddl);

/* Whether the database is built by this schema, and the library's own tables are there. Errors:
 * CORRUPT and what reading gives. */
int schema_matches(struct connection *connection, const struct schema *schema, bool *matches,
                   struct pitot_error *error);

/* A database with this schema, in WAL mode, as the bytes of a file; sqlite3_free(). SCHEMA with
 * SQLite's message, MEMORY. No file is touched. */
int schema_image(const struct schema *schema, unsigned char **bytes, size_t *size,
                 struct pitot_error *error);

/* Builds the schema in an empty database that is not yet in WAL mode, in one transaction. FOREIGN
 * when it is not empty after all. */
int schema_create(struct connection *connection, const struct schema *schema,
                  struct pitot_error *error);

/* Drops what the old DDL has made and builds the schema, in one transaction: 0, or an error and the
 * database is as it was. *rebuilt is false when it already matches. */
int schema_rebuild(struct connection *connection, const struct schema *schema, bool *rebuilt,
                   struct pitot_error *error);

/* Switches to WAL, which does not heed the busy timeout. */
int schema_use_wal(struct connection *connection, struct pitot_error *error);

/* The CREATE statement of a table as a hash, and what changes with every change of any schema. 0
 * for a table that is not there. */
int schema_definition(struct connection *connection, const char *table, uint64_t *hash,
                      struct pitot_error *error);
int schema_cookie(struct connection *connection, int64_t *cookie, struct pitot_error *error);

/* Whether a statement on one table can change another: triggers, actions of foreign keys. */
int schema_has_side_effects(struct connection *connection, bool *has, struct pitot_error *error);

#endif
