/* Queries about a database as a whole: outside any script, never timed. */
#ifndef PITOT_WORKER_QUERY_H
#define PITOT_WORKER_QUERY_H

#include "base/buffer.h"
#include "worker/failure.h"

/* Where queries go, and the phase that their failures name. */
struct query {
    const struct engine_ops *ops;
    struct engine_connection *connection;
    const char *phase;
    struct failure *failure;
};

/* Runs one statement with its rows given to `sink`. The message of a failure begins with `sql`. */
int query_run(const struct query *query, const char *sql, const struct engine_sink *sink);

/* The same, but a statement that the engine fails at, as one it does not know, is one without rows:
 * what the sink was given before stays. Still fails with ERROR_BUSY and ERROR_INTERRUPTED. */
int query_run_if_known(const struct query *query, const char *sql, const struct engine_sink *sink);

/* Appends a name in double quotes. */
void query_quote(struct buffer *sql, const char *name);

/* Texts, owned. Zeroed memory is an empty list. */
struct texts {
    char **items;
    size_t count;
    size_t max; /* texts_take() keeps no more */
};
/* ERROR_MEMORY. */
int texts_add(struct texts *texts, const char *bytes, size_t length);
void texts_free(struct texts *texts);
/* For a sink whose context is the list: adds column 0, or 1, of each row if it is a text. */
int texts_take(void *context, const struct value *columns, uint32_t count);
int texts_take_second(void *context, const struct value *columns, uint32_t count);

/* Adds the names of the tables, sorted as bytes. SQLite's own are left out, and so are the shadow
 * tables, in which a virtual table keeps its data: what they hold differs between versions that
 * give the same answers. Which ones these are the engine says (PRAGMA table_list, SQLite 3.37 and
 * later); of an older one their names do, by the suffixes of fts3, fts4, fts5 and rtree. */
int query_tables(const struct query *query, struct texts *tables);

#endif
