/*
 * Staged rows as a database: pages in memory that SQLite reads like a file, so that one
 * INSERT … SELECT moves them over, cell by cell where nothing has to be computed.
 *
 * An image is attached to a connection when it is first filled, under a name of its own, and stays
 * until others need its place, of which SQLite has ten or so: what changes from pass to
 * pass is what its pages hold. Between image_fill() and
 * image_empty() it has the rows of a stage, which must not change meanwhile; otherwise
 * its table is empty. Both are called outside transactions only. The connection must
 * have been opened with SQLITE_OPEN_URI.
 */
#ifndef PITOT_LIB_IMAGE_H
#define PITOT_LIB_IMAGE_H

#include "lib/rows.h"

struct image;

/*
 * TRANSFER: the image's table and indexes are declared as the table's are, which lets
 * SQLite move cells; otherwise it has the columns alone. 0 with *OUT NULL: there can
 * be no image for this table. Errors: MEMORY.
 */
int image_new(struct image **out, sqlite3 *db, const struct table *table, bool transfer,
              struct pitot_error *error);

/* Detaches; outside transactions. NULL is allowed. */
void image_free(struct image *image);

/* The name that the image's database has on the connection. */
const char *image_name(const struct image *image);

/*
 * Shows the stage's rows, which are in the table's order (order_stage()). 1: done. 0: an
 * entry of an index is too long for the image's form, or the connection takes no more databases,
 * all images being in use; the image is empty. Errors: CONSTRAINT (two rows agree in a
 * unique index), DUPLICATE (in the primary key), MEMORY and SQLite's; the image is empty.
 */
int image_fill(struct image *image, const struct stage *stage, struct pitot_error *error);
void image_empty(struct image *image);

#endif
