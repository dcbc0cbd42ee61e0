/*
 * From staged rows to the table: what the store calls around one write transaction.
 *
 *     apply_prepare(apply, stage)            no lock held: sorts, looks for duplicates,
 *                                            builds, compares with what is remembered
 *     BEGIN IMMEDIATE
 *     apply_replace(apply, stage, …) or apply_merge(apply, stage, trusted, …)
 *     apply_check(db, …)                     once, when all tables of the pass are applied
 *     the sync row; COMMIT, or ROLLBACK when anything failed
 *     apply_end(apply, committed)            no transaction open any more
 *
 * One struct apply for each table or slice that a source owns, all on the store's one
 * writing connection, by one thread at a time. Several may take part in one
 * transaction. apply_end is due after every apply_prepare, whatever failed between.
 *
 * A failure leaves the transaction for the caller to roll back. SQLite may have ended
 * it already (some statements run OR ROLLBACK): ask sqlite3_get_autocommit() first.
 * Errors are PITOT_ERROR_…: DUPLICATE (a key was staged twice), SLICE (a key that another slice
 * owns), CONSTRAINT and TYPE for rows that the table refuses (the row is named by its key, or by
 * its place when it has none), and what failure_sqlite() makes of SQLite's own.
 */
#ifndef PITOT_LIB_APPLY_H
#define PITOT_LIB_APPLY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/stage.h"
#include "lib/table.h"

/*
 * The counts (struct pitot_counts) say what a pass did to the rows that the source owns.
 * inserted + updated + unchanged are the rows staged; deleted + updated + unchanged the rows that
 * were there before. A replace deletes and inserts all: updated and unchanged are 0. Rows of a
 * table with triggers are counted as the source's own statements touch them.
 */
struct apply;

/*
 * Prepares the statements for TABLE on DB; both must live as long. DB must have been opened with
 * SQLITE_OPEN_URI (and its own file by an absolute path, which is then no URI): images of staged
 * rows are attached to it. SLICE as for
 * stage_new. REMEMBER: after a merge 24 bytes a row are kept, so that the next one
 * finds what has changed without reading the table. *OUT is set only on 0.
 */
int apply_new(struct apply **out, sqlite3 *db, const struct table *table,
              const struct pitot_value *slice, bool remember, struct pitot_error *error);
void apply_free(struct apply *apply); /* NULL is allowed */

/* Does all that needs no lock. Must be called outside a transaction. DUPLICATE: two staged
 * rows with one key. */
int apply_prepare(struct apply *apply, struct stage *stage, struct pitot_error *error);

/* Inside a write transaction, after apply_prepare with the same stage. *COUNTS is
 * written on 0 only. */
int apply_replace(struct apply *apply, struct stage *stage, struct pitot_counts *counts,
                  struct pitot_error *error);

/* As apply_replace. TRUSTED: nobody but this struct apply has written to the table since
 * the last apply_end(…, true); only then what is remembered is believed, otherwise
 * the table is read. */
int apply_merge(struct apply *apply, struct stage *stage, bool trusted, struct pitot_counts *counts,
                struct pitot_error *error);

/* Whether COMMIT would fail on foreign keys (CONSTRAINT). Inside the transaction. */
int apply_check(sqlite3 *db, struct pitot_error *error);

/* After COMMIT (COMMITTED) or ROLLBACK. Lets go of what apply_prepare made. */
void apply_end(struct apply *apply, bool committed);

/* Forgets what is remembered: the next merge reads the table. */
void apply_forget(struct apply *apply);

/* Bytes kept between passes, and for how many rows. */
size_t apply_memory(const struct apply *apply);
uint64_t apply_rows_kept(const struct apply *apply);

/* Whether both own some row: the same table, and one of them whole or both the same slice by the
 * column's affinity and collation. */
bool apply_overlaps(const struct apply *one, const struct apply *other);

#endif
