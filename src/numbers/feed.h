/* The library's side: a store, and a source in it that stages rows when it is asked to. */
#ifndef PITOT_NUMBERS_FEED_H
#define PITOT_NUMBERS_FEED_H

#include "core/error.h"
#include "numbers/rows.h"

#include <pitot.h>
#include <stdatomic.h>
#include <stdbool.h>

#define FEED_SOURCE "items"

struct feed {
    struct pitot_store *store;
    struct pitot_source *source;
    struct pitot_source *idle; /* owns no table; NULL until feed_settle() */
    struct rows rows;          /* staged by each pass; changed by others only while none runs */
    atomic_bool again;         /* each pass gives all rows new content and asks for another one */
};

/* Opens the store at `path`, with the one table ROWS_TABLE. The caller owns *store. */
int feed_store_open(const char *path, struct pitot_store **store, struct error *error);

/* Opens a store with a source that owns its table and stages `rows` rows. The feed must not be
 * moved until feed_close(), which is needed also after an error. */
int feed_open(struct feed *feed, const char *path, enum pitot_mode mode, size_t rows,
              struct error *error);
int feed_close(struct feed *feed, struct error *error);

/* One pass, from the request until its result is known. */
int feed_pass(struct feed *feed, struct error *error);

/* What the passes took so far: each sum is of all of them. */
int feed_stats(struct feed *feed, struct pitot_stats *stats, struct error *error);

/* Waits until nothing is done in the store any more: what a pass leaves for later (copying the WAL
 * back) would be measured with what comes next. */
int feed_settle(struct feed *feed, struct error *error);

/* error_set() with what the library said. Returns the code. */
int feed_error(struct error *error, const char *what, const struct pitot_error *found);

#endif
