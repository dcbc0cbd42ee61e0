/* The plain way: a program's own connections and prepared statements, without the library. */
#ifndef PITOT_NUMBERS_PLAIN_H
#define PITOT_NUMBERS_PLAIN_H

#include "core/error.h"
#include "numbers/rows.h"

#include <sqlite3.h>
#include <stdbool.h>

enum plain_settings {
    PLAIN_WAL,     /* journal_mode=WAL, synchronous=NORMAL */
    PLAIN_DEFAULTS /* nothing but the busy timeout: a rollback journal, synchronous=FULL */
};

struct plain {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *delete, *insert, *sync; /* prepared when it is opened */
    sqlite3_stmt *begin_read, *read, *read_sync;           /* by the first read */
};

/* Opens the database, makes it if it is missing, prepares the five statements of a pass. The caller
 * owns it also after an error: plain_close(). */
int plain_open(struct plain *plain, const char *path, enum plain_settings settings,
               struct error *error);
void plain_close(struct plain *plain);

/* One transaction: all rows deleted, `rows` inserted, the sync row written. *busy instead of an
 * error when another connection held a lock for longer than the busy timeout; then it was rolled
 * back. */
int plain_pass(struct plain *plain, const struct rows *rows, bool *busy, struct error *error);

/* One transaction: 50 rows from an id on, and the sync row. *busy as above. */
int plain_read(struct plain *plain, int64_t from, bool *busy, struct error *error);

/* Steps through the 50 rows of ROWS_READ and reads their values. Returns SQLite's code. */
int plain_step_rows(sqlite3_stmt *read, int64_t from);

#endif
