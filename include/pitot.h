/*
 * libpitot: background sources fill a local SQLite database, and the screen reads it without
 * ever waiting for them.
 *
 *     store          one database file, which this library makes and keeps
 *     source         a function of yours on a thread of the library; it lists what there is
 *                    outside
 *     pass           one run of a source: rows are staged in memory for as long as it takes,
 *                    then written in one short transaction together with the sync row, or not
 *                    at all
 *     sync row       in the table pitot_sync, one a source: when it ran last, what changed,
 *                    what failed
 *     reader         a read-only connection of its own, for your own SQL
 *     subscription   a queue of events with a descriptor for poll(2): a pass began, a pass
 *                    ended
 *
 * Read this first:
 *
 *  - A store is a cache. A store whose schema version or DDL differs from the one given is
 *    emptied and built anew; a damaged one is set aside and replaced by an empty one. Keep
 *    nothing in it that cannot be got again.
 *  - One process opens the store; any number of processes may read
 *    (pitot_reader_open_path). Write to the tables of a source in no other way. What
 *    somebody else writes there all the same is overwritten by the source's next pass.
 *  - After a loss of power the last passes may be gone (synchronous=NORMAL), never a part
 *    of one. A process that is killed loses nothing that was committed.
 *  - Never open(2) the database, NAME-wal, NAME-shm or NAME-pitot (the lock file) yourself,
 *    not even to read: closing any descriptor drops all POSIX locks that this process has
 *    on the file. Use SQLite. For the same reason the process must hold one copy of SQLite,
 *    this library's and yours. Local file systems only: WAL needs shared memory and locks
 *    that work.
 *  - A snapshot that stays open keeps the WAL from being used again, and the WAL then grows
 *    with every pass. Readers are never broken off; pitot_stats() names the oldest.
 *  - Nothing can stop a function that does not return. pitot_store_close() names its
 *    source, and neither its thread nor what it uses can be taken away before it has
 *    returned.
 *  - After fork(2) the child must leave everything alone until exec: each call from it
 *    returns PITOT_ERROR_FORKED and touches nothing, what it inherited is never closed. A
 *    child of a process that has no store and no reader open may use the library.
 *  - Versions of SQLite before 3.51.3 (but for 3.44.6 and 3.50.7) can damage a WAL database
 *    when one connection checkpoints while another commits. Here one connection does both,
 *    one after the other; with such a version leave all writing to this library.
 *  - Threads of the library block all signals. It prints nothing, never exits, and neither
 *    reads nor changes the locale.
 *
 * Rules for all calls:
 *
 *  - Result: 0, or a negative PITOT_ERROR_… (positive results are named where there are
 *    any). A `struct pitot_error *` may be NULL; it is filled when a call fails, and
 *    untouched otherwise.
 *  - Every call can return PITOT_ERROR_INVALID (an argument is wrong; nothing was done) and
 *    PITOT_ERROR_FORKED, and every call on a store or what belongs to it
 *    PITOT_ERROR_CLOSED. Further errors are listed with each call.
 *  - Threads: any thread, any time, where nothing else is said.
 *  - Ownership: strings and structs given are copied before a call returns, where nothing
 *    else is said. NULL may be given to every _free.
 *  - Timeouts are milliseconds of the monotonic clock: 0 does not wait, PITOT_FOREVER has
 *    no end. Setting the wall clock changes nothing but the times recorded in sync rows.
 *  - A struct whose first member is `size` is given with size = sizeof of it and zeros for
 *    what is left to the default, so that a program built earlier runs with a library that
 *    knows more.
 */
#ifndef PITOT_H
#define PITOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PITOT_API __attribute__((visibility("default")))
#else
#define PITOT_API
#endif

struct sqlite3;
struct pitot_store;
struct pitot_source;
struct pitot_pass;
struct pitot_reader;
struct pitot_subscription;

/* "0.1.0": the version of the library that is running. Never fails. */
PITOT_API const char *pitot_version(void);

/* ---- errors -------------------------------------------------------------------------------- */

/* X(NAME, number, what it means) */
#define PITOT_ERRORS(X)                                                                            \
    X(INVALID, 1, "an argument is wrong, or the call does not fit here")                           \
    X(MEMORY, 2, "out of memory")                                                                  \
    X(IO, 3, "a file could not be read or written")                                                \
    X(FULL, 4, "no space is left")                                                                 \
    X(PERMISSION, 5, "not permitted, or read-only")                                                \
    X(MISSING, 6, "there is no such file")                                                         \
    X(BUSY, 7, "another connection held a lock for longer than the busy timeout")                  \
    X(OWNED, 8, "another store has this database open for writing")                                \
    X(FOREIGN, 9, "not a database of this library; it was left alone")                             \
    X(CORRUPT, 10, "the database is damaged")                                                      \
    X(SCHEMA, 11, "the DDL is wrong, or does not fit what is there")                               \
    X(TYPE, 12, "a value or a row does not fit its table")                                         \
    X(SLICE, 13, "a row belongs to another slice of its table")                                    \
    X(DUPLICATE, 14, "a key was staged twice")                                                     \
    X(CONSTRAINT, 15, "a constraint of the schema does not hold")                                  \
    X(SOURCE, 16, "the source's function reported an error")                                       \
    X(TIMEOUT, 17, "not done in the time given")                                                   \
    X(CANCELLED, 18, "the source was stopped")                                                     \
    X(CLOSED, 19, "the store was closed")                                                          \
    X(STUCK, 20, "a source's function has not returned")                                           \
    X(DEADLOCK, 21, "the caller would wait for itself")                                            \
    X(FORKED, 22, "called in the child of a fork")                                                 \
    X(REPLACED, 23, "the file was removed or replaced while it was open")                          \
    X(SQLITE, 24, "SQLite reported another error")

enum pitot_error_code {
    PITOT_OK = 0,
#define PITOT_ERROR_LINE(name, number, text) PITOT_ERROR_##name = -(number),
    PITOT_ERRORS(PITOT_ERROR_LINE)
#undef PITOT_ERROR_LINE
};

enum {
    PITOT_MESSAGE_SIZE = 512, /* bytes of a message, with the NUL; UTF-8, cut at a character */
    PITOT_NAME_SIZE = 64,     /* bytes of a source's or reader's name, with the NUL */
    PITOT_FOREVER = -1        /* as a timeout */
};

struct pitot_error {
    int code; /* PITOT_ERROR_…; of a pass's failure also the source's own number, positive */
    int sqlite_code;                  /* SQLite's extended result code behind it, or 0 */
    char message[PITOT_MESSAGE_SIZE]; /* what, what was found, what would be right */
};

/* "INVALID", … and what it means; "OK" / "no error" for 0, "SOURCE" for positive numbers, "?" for
 * any other. Constant strings; also after a fork. */
PITOT_API const char *pitot_error_name(int code);
PITOT_API const char *pitot_error_text(int code);

/* ---- store --------------------------------------------------------------------------------- */

struct pitot_store_options {
    size_t size;
    int busy_timeout_ms; /* longest wait for a lock of somebody else's; 0: 5000 */
    int64_t wal_limit; /* bytes at which the WAL is copied back; 0: 4 MiB; at least 64 KiB. While no
                          snapshot is in the way the WAL stays below this plus two passes */
    const char *vfs;   /* name of a registered VFS of SQLite; NULL: the default one */
};

/*
 * Opens the database at `path`, and makes what is missing: folders (mode 0777 less the umask),
 * file, schema. `ddl` is SQL: CREATE statements and, if you like, first rows; no transaction,
 * ATTACH or PRAGMA; no names that begin with "pitot_". `version` counts your schema's changes of
 * meaning; a change of the DDL's text is noticed without it.
 *
 * A database of this library with another version or DDL is rebuilt in one transaction: all that
 * its old DDL made is dropped; other tables are kept, or, where one is in the way, SCHEMA names it.
 * Readers in other processes see the old content or the new. Damaged ones are renamed to
 * PATH.corrupt (or PATH.corrupt.1, …) with their WAL. pitot_store_outcome() tells which it was. Any
 * other file that is not empty is FOREIGN and left alone. SQLite reads a database that was closed
 * properly when the first source or reader comes; damage that is found then, or by a pass, is
 * CORRUPT, and the next opening sets the file aside.
 *
 * Errors: MEMORY; IO, FULL, PERMISSION with the name of the file or folder; BUSY; OWNED with the
 * number of the process; FOREIGN; SCHEMA with SQLite's message; SQLITE. After an error *store is
 * NULL, and an existing database is as it was. The caller owns *store: pitot_store_free().
 */
PITOT_API int pitot_store_open(const char *path, int version, const char *ddl,
                               const struct pitot_store_options *options,
                               struct pitot_store **store, struct pitot_error *error);

enum pitot_outcome {
    PITOT_OPENED = 1, /* it was there */
    PITOT_CREATED,    /* there was none */
    PITOT_REBUILT,    /* another version or DDL: empty now */
    PITOT_REPLACED    /* damaged: set aside, a new one made */
};

/* What opening has found: an enum pitot_outcome. Never fails. */
PITOT_API int pitot_store_outcome(const struct pitot_store *store);

/* Full path of the database; and of the damaged one that was set aside, or NULL. Valid until
 * pitot_store_free(). Never fail. */
PITOT_API const char *pitot_store_path(const struct pitot_store *store);
PITOT_API const char *pitot_store_set_aside(const struct pitot_store *store);

/*
 * Ends the store: asks all sources to stop, ends all waits with CLOSED, waits for running passes to
 * give way for at most `timeout_ms`, closes the database and gives up the lock. What a source has
 * staged is thrown away; a transaction that has begun is finished.
 * All later calls return CLOSED; readers go on to work until they are freed. Closing again waits
 * again. Errors: STUCK with the name of a source whose function has not returned: the database is
 * closed all the same, the store may be opened again, and that pass ends without effect when it
 * returns. DEADLOCK from a source's own function (nothing was done).
 */
PITOT_API int pitot_store_close(struct pitot_store *store, int timeout_ms,
                                struct pitot_error *error);

/* Closes without waiting for functions of sources, and gives the handle up: no thread may use it or
 * its sources again. Memory is returned when the last of store, readers, subscriptions and running
 * functions is gone. Must not be called from a source's function. Does nothing after a fork. */
PITOT_API void pitot_store_free(struct pitot_store *store);

/* ---- values -------------------------------------------------------------------------------- */

enum pitot_type { PITOT_NULL = 0, PITOT_INTEGER, PITOT_REAL, PITOT_TEXT, PITOT_BLOB };

/* A column's value. Text and blob are copied into the pass when the row is added, unless `borrowed`
 * is 1: then the bytes must stay as they are until the source's function has returned and its pass
 * has ended (until the next call of the function, say, or for ever: literals, mapped files, an
 * arena of your own that the next pass clears). */
struct pitot_value {
    uint8_t type; /* enum pitot_type */
    uint8_t borrowed;
    uint16_t reserved; /* 0 */
    uint32_t size;     /* bytes of text (without a NUL) or blob, below 2^31 */
    union {
        int64_t integer;
        double real; /* NaN is NULL, as everywhere in SQLite */
        const void *bytes;
    } as;
};

static inline struct pitot_value pitot_null(void)
{
    struct pitot_value value = {PITOT_NULL, 0, 0, 0, {0}};
    return value;
}

static inline struct pitot_value pitot_integer(int64_t integer)
{
    struct pitot_value value = {PITOT_INTEGER, 0, 0, 0, {0}};
    value.as.integer = integer;
    return value;
}

static inline struct pitot_value pitot_real(double real)
{
    struct pitot_value value = {PITOT_REAL, 0, 0, 0, {0}};
    value.as.real = real;
    return value;
}

/* UTF-8; may hold NUL bytes. */
static inline struct pitot_value pitot_text(const char *text, size_t length)
{
    struct pitot_value value = {PITOT_TEXT, 0, 0, 0, {0}};
    value.size = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length; /* refused when added */
    value.as.bytes = text;
    return value;
}

static inline struct pitot_value pitot_blob(const void *bytes, size_t length)
{
    struct pitot_value value = pitot_text((const char *)bytes, length);
    value.type = PITOT_BLOB;
    return value;
}

static inline struct pitot_value pitot_borrowed(struct pitot_value value)
{
    value.borrowed = 1;
    return value;
}

/* ---- sources ------------------------------------------------------------------------------- */

enum pitot_mode {
    PITOT_REPLACE = 1, /* delete what is there, insert what was staged */
    PITOT_MERGE        /* compare by primary key; write, and count, only what differs */
};

/* What a source owns: a whole table, or the rows of it in which a column has one value. */
struct pitot_table {
    const char *name;
    enum pitot_mode mode;
    const char
        *slice_column; /* the first column of an index or primary key; NULL: the whole table */
    struct pitot_value slice_value;
};

/*
 * A source's function: stages rows with pitot_pass_add() and returns
 *     0                   all rows were staged: write them
 *     a positive number   its own error; pitot_pass_fail() adds words
 *     a negative number   an error of this library that it met
 * Whatever it returns, a row that could not be added fails the pass. A failed pass changes no row;
 * its error, the time and the last success go into the sync row. Called on the source's own thread,
 * never twice at once. It may use readers and subscriptions, resync (also itself: one more pass
 * follows), and wait for other sources. It must not close its store, and not wait for itself: both
 * return DEADLOCK.
 */
typedef int pitot_function(struct pitot_pass *pass, void *context);

struct pitot_source_options {
    size_t size;
    const char *name; /* not empty, UTF-8, below PITOT_NAME_SIZE bytes; unique in the store */
    pitot_function *function;
    void *context; /* handed to the function; stays yours, must live until the source has stopped */
    const struct pitot_table *tables;
    size_t table_count; /* 0 to 64; 0: a source that only checks something */
    int interval_ms;    /* from the start of one pass to the next, the first at once; 0: only when
                           asked */
    int deadline_ms;    /* of one pass's staging: then pitot_pass_cancelled(), and TIMEOUT is its
                           error;    0: none */
    int backoff_ms; /* after a failed pass the next one is tried after this, then after twice, four
                       times … this; 0: the interval (asked only: not tried again) */
    int backoff_max_ms; /* but never more than this; 0: the larger of five minutes and the interval
                         */
    unsigned
        keep_no_memory; /* 1: nothing is remembered between passes (merge then reads the table) */
};

/*
 * Adds a source and starts its thread. Its sync row, if there is one from earlier, stays as it is
 * until the first pass has ended; pass numbers go on from it. Errors: MEMORY (also: no thread could
 * be started); SCHEMA: no such table, no primary key (merge), a slice's column that leads no index,
 * a table that others reference with ON DELETE actions (replace), a table or slice that another
 * source owns, a name that is taken; TYPE: a slice's value; BUSY, IO, FULL, CORRUPT, REPLACED,
 * SQLITE from reading the schema. After an error nothing was added. The store owns *source; the
 * handle is valid until pitot_store_free().
 */
PITOT_API int pitot_source_add(struct pitot_store *store,
                               const struct pitot_source_options *options,
                               struct pitot_source **source, struct pitot_error *error);

/* The name given. Never fails. */
PITOT_API const char *pitot_source_name(const struct pitot_source *source);

/* Stops a source for good: no further pass, a running one is cancelled (see pitot_pass_cancelled)
 * and its rows are thrown away, tickets end with CANCELLED. Waits until the function has returned;
 * after that the tables are free for another source. Errors: STUCK after timeout_ms, naming the
 * source: it is asked all the same. DEADLOCK from its own function, unless timeout_ms is 0; it is
 * asked all the same. */
PITOT_API int pitot_source_stop(struct pitot_source *source, int timeout_ms,
                                struct pitot_error *error);

/* ---- passes -------------------------------------------------------------------------------- */

/* The calls of this section belong to the source's function: while it runs, one thread at a time.
 */

/*
 * Stages one row: `count` values for the columns of tables[table] of the options, in the order of
 * CREATE TABLE, without generated ones. In a table with AUTOINCREMENT or INTEGER PRIMARY KEY
 * (replace), NULL there lets SQLite choose. Errors: INVALID, TYPE, SLICE, MEMORY: the row was not
 * staged, and the pass will fail with this error even if the function goes on; CANCELLED, TIMEOUT,
 * CLOSED are not noticed here.
 */
PITOT_API int pitot_pass_add(struct pitot_pass *pass, size_t table,
                             const struct pitot_value *values, size_t count);

/* States why the pass fails: `code` > 0 is yours (0 or less becomes 1), `text` UTF-8 of which
 * PITOT_MESSAGE_SIZE - 1 bytes are kept, or NULL. The first failure stands. Returns the code, for
 * `return`. */
PITOT_API int pitot_pass_fail(struct pitot_pass *pass, int code, const char *text);

/* 1 when the pass is to end (source stopped, store closing, deadline past): return soon, with any
 * number; otherwise 0. Costs some ten nanoseconds. */
PITOT_API int pitot_pass_cancelled(struct pitot_pass *pass);

/* Becomes readable for poll(2) when pitot_pass_cancelled() becomes 1. Do not read or close it. */
PITOT_API int pitot_pass_descriptor(struct pitot_pass *pass);

/* The pass's number: 1 for a source's first, kept over restarts of the program. */
PITOT_API uint64_t pitot_pass_number(const struct pitot_pass *pass);

/* ---- resync -------------------------------------------------------------------------------- */

/* A value: copy it, drop it, ask as often as you like. */
struct pitot_ticket {
    uint64_t source;
    uint64_t pass; /* satisfied by this pass, which begins after the request */
};

/* Asks for a pass as soon as may be, whatever the interval or back-off. At most one is pending:
 * requests before it begins share it, and get the same ticket. *ticket may be NULL. Never waits for
 * a pass. Errors: CANCELLED (the source was stopped). */
PITOT_API int pitot_resync(struct pitot_source *source, struct pitot_ticket *ticket,
                           struct pitot_error *error);

/*
 * Waits until the ticket's pass has ended, its commit is visible to readers, and its closing event
 * is in every queue. Returns 0, or that pass's error, negative, with the source's own number in
 * error->code if the result is PITOT_ERROR_SOURCE. The results of a source's last 16 passes are
 * known; a ticket older than that gets the oldest known one, of a pass that began after the
 * request, too. Errors of the wait itself: TIMEOUT; CANCELLED; CLOSED; DEADLOCK inside the same
 * source's pass.
 */
PITOT_API int pitot_ticket_wait(struct pitot_store *store, struct pitot_ticket ticket,
                                int timeout_ms, struct pitot_error *error);

/* As a wait of no length, but 1 when the pass has not ended yet. */
PITOT_API int pitot_ticket_ask(struct pitot_store *store, struct pitot_ticket ticket,
                               struct pitot_error *error);

/* ---- events -------------------------------------------------------------------------------- */

struct pitot_counts {
    uint64_t inserted;
    uint64_t updated;
    uint64_t deleted;
    uint64_t unchanged; /* replace: always 0 */
};

enum pitot_event_kind {
    PITOT_OPENING = 1, /* a pass begins: it was asked for, or is due, and nothing holds it up */
    PITOT_CLOSING      /* passes ended: rows and sync row are committed (or the pass failed) */
};

struct pitot_event {
    size_t size;
    int kind; /* enum pitot_event_kind */
    struct pitot_source *source;
    const char *source_name; /* valid as long as the subscription */
    uint64_t first_pass;     /* an opening: both the same */
    uint64_t last_pass;
    uint64_t commit_sequence;   /* closing: of the last of these commits, 0: none was possible */
    struct pitot_counts counts; /* closing: summed over these passes */
    uint64_t failed;            /* closing: how many of them failed */
    int error_code;             /* the last failure's code, as in struct pitot_error; 0: none */
    char error_text[PITOT_MESSAGE_SIZE];
};

/*
 * A queue of the events of all sources from now on. It holds at most two events a source, so it
 * cannot overflow however rarely it is read: passes that end unread are joined into one closing
 * event, and an opening makes room when its pass has been joined. An opening never displaces a
 * closing. Errors: MEMORY; IO (no descriptor left). The caller owns *subscription.
 */
PITOT_API int pitot_subscribe(struct pitot_store *store, struct pitot_subscription **subscription,
                              struct pitot_error *error);

/* For poll, epoll, GLib: readable while an event waits, and for ever once the store is closed.
 * Owned by the subscription: do not read, write or close it. Never fails. */
PITOT_API int pitot_subscription_descriptor(const struct pitot_subscription *subscription);

/* Takes the oldest event. 1: *event is filled; 0: there is none. Never waits. event->size must be
 * set. Errors: CLOSED, when the store is closed and all events were taken. */
PITOT_API int pitot_event_next(struct pitot_subscription *subscription, struct pitot_event *event);

/* Ends a subscription, before or after its store. No other thread may be using it. */
PITOT_API void pitot_subscription_free(struct pitot_subscription *subscription);

/* ---- readers ------------------------------------------------------------------------------- */

/* The calls on a reader, and those on its connection, belong to one thread at a time. */

/*
 * A read-only connection to the store's database. `name` (below PITOT_NAME_SIZE bytes, not empty)
 * tells in pitot_stats() whose snapshot is the oldest. Errors: MEMORY, IO, PERMISSION, BUSY,
 * REPLACED, SQLITE. The caller owns *reader; it may outlive the store.
 */
PITOT_API int pitot_reader_open(struct pitot_store *store, const char *name,
                                struct pitot_reader **reader, struct pitot_error *error);

/* The same without a store, in another process: `path` must be a database of this library. Learn of
 * changes with pitot_reader_changed(). busy_timeout_ms 0: 5000. Errors besides: MISSING, FOREIGN,
 * CORRUPT. */
PITOT_API int pitot_reader_open_path(const char *path, const char *name, int busy_timeout_ms,
                                     struct pitot_reader **reader, struct pitot_error *error);

/* The connection, for statements of your own. Prepare them once: preparing costs more than reading
 * 50 rows. Finalize them before pitot_reader_free(). Outside of a snapshot each statement sees the
 * newest commit. Do not close it; begin and end transactions with the calls below. NULL after a
 * fork. */
PITOT_API struct sqlite3 *pitot_reader_sqlite(struct pitot_reader *reader);

/* Begins a snapshot: until its end all statements see the database as of now, rows and sync rows of
 * the same commits. Never waits for a writer. Errors: INVALID (one is open); REPLACED (the database
 * file is no longer at its path: open a new reader); BUSY, IO, CORRUPT, SQLITE. After an error no
 * snapshot is open. */
PITOT_API int pitot_snapshot_begin(struct pitot_reader *reader, struct pitot_error *error);

/* Ends it. Reset your statements before: one in mid-step keeps the snapshot, then INVALID is
 * returned and it is still open. */
PITOT_API int pitot_snapshot_end(struct pitot_reader *reader, struct pitot_error *error);

/* A sync row. Times are milliseconds since 1970 by the wall clock as it was set then; 0: never. */
struct pitot_sync {
    size_t size;
    uint64_t pass;            /* number of the pass that wrote the row */
    uint64_t commit_sequence; /* counts the commits of the whole store */
    int64_t started_ms;
    int64_t finished_ms;
    int64_t last_success_ms;    /* `finished` of the last pass that did not fail */
    struct pitot_counts counts; /* of the last pass that did not fail */
    int error_code;             /* 0: the last pass succeeded */
    char error_text[PITOT_MESSAGE_SIZE];
};

/* Reads the sync row of a source, in the snapshot if one is open. 1: *sync is filled; 0: there is
 * none (no pass has ended yet). sync->size must be set. Errors: BUSY, IO, CORRUPT, SQLITE. */
PITOT_API int pitot_reader_sync(struct pitot_reader *reader, const char *source,
                                struct pitot_sync *sync, struct pitot_error *error);

/* 1: something was committed since the last call (or the opening), by whomever; 0: nothing was.
 * About a microsecond: other processes call it from a timer, every 100 ms, say. Within a snapshot
 * always 0. Errors: REPLACED, BUSY, IO, CORRUPT, SQLITE. */
PITOT_API int pitot_reader_changed(struct pitot_reader *reader, struct pitot_error *error);

/* Ends the snapshot, closes the connection. With statements of yours not finalized the connection
 * stays until they are. */
PITOT_API void pitot_reader_free(struct pitot_reader *reader);

/* ---- statistics ---------------------------------------------------------------------------- */

/* Durations in nanoseconds since the store was opened; percentiles at most 0.8 % too high or low;
 * all 0 while count is 0. */
struct pitot_times {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t min_ns;
    uint64_t p50_ns;
    uint64_t p90_ns;
    uint64_t p99_ns;
    uint64_t p999_ns;
    uint64_t max_ns;
};

struct pitot_stats {
    size_t size;
    uint64_t passes; /* that have ended, failed ones included */
    uint64_t passes_failed;
    uint64_t rows_staged;
    struct pitot_counts counts; /* summed */
    struct pitot_times pass;    /* from the call of the function to the closing event */
    struct pitot_times staging; /* in the function */
    struct pitot_times lock;    /* the write lock held: from BEGIN IMMEDIATE to the end of COMMIT */
    struct pitot_times commit;  /* COMMIT alone */
    struct pitot_times snapshot; /* of this store's readers, begin to end */
    struct pitot_times checkpoint;
    uint64_t staging_cpu_ns; /* CPU time in functions, and in writing: divide by rows_staged */
    uint64_t writing_cpu_ns;
    uint64_t memory_staged; /* bytes: the largest pass so far */
    uint64_t memory_kept;   /* bytes kept between passes now, and for how many rows */
    uint64_t rows_kept;
    uint64_t wal_bytes; /* size of the WAL after the last commit or checkpoint */
    uint64_t wal_bytes_max;
    uint64_t checkpoints_blocked; /* that a snapshot kept from finishing */
    uint64_t checkpoints_failed;  /* by an error; the next pass tries again */
    uint64_t commit_sequence;
    uint64_t events_joined;      /* closings that were joined to an unread one */
    uint64_t oldest_snapshot_ns; /* age; 0: none is open in this process */
    char oldest_snapshot_reader[PITOT_NAME_SIZE];
    uint64_t
        oldest_pass_ns; /* how long the longest running function has been running; 0: none is */
    char oldest_pass_source[PITOT_NAME_SIZE];
};

/* Fills *stats; stats->size must be set. Takes some 100 µs. */
PITOT_API int pitot_stats(struct pitot_store *store, struct pitot_stats *stats,
                          struct pitot_error *error);

#ifdef __cplusplus
}
#endif

#endif
