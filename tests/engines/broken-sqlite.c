/*
 * A library with the SQLite C ABI that forwards to the system's libsqlite3.so.0 and
 * misbehaves by its own file name: broken-drop-row.so drops rows, broken-busy-40.so is busy 40
 * times. Tests copy the one file that is built under the name that they need, so that
 * several faults fit into one run. A name that is not known (broken-sound.so) misbehaves nowhere.
 */
#include "forward-sqlite.h"

#include "core/clock.h"

#include <stdatomic.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static char fault[64];      /* of the file name, "" without one */
static uint64_t amount = 1; /* the number behind it */

/* Executions of a workload's statements while several connections are open: the checks before
 * and after a run have one, and are not what the number in a file name counts. */
static atomic_uint_fast64_t steps;
static atomic_int connections;

enum { CELLS_MAX = 64, FORGET_EVERY = 10, PRINT_EVERY = 1000, STALL_MS = 500 };

/* Until then the whole engine stands still: "freeze". */
static atomic_uint_fast64_t frozen_until_ns;

struct cell {
    int type;
    int64_t integer;
    double number;
    char *bytes;
    int length;
};

/* The statement that this thread steps through: one at a time, as the driver does. */
static _Thread_local struct walk {
    struct sqlite3_stmt *stmt;
    uint64_t rows;
    struct cell cells[CELLS_MAX]; /* the row that is held back */
    int columns;
    bool holding, showing;
    int next; /* what comes after the row shown; 0: ask */
} walk;

static _Thread_local int forgotten;
static _Thread_local bool forgot_last;

/* ---- which fault ------------------------------------------------------------- */

static bool is(const char *name)
{
    return strcmp(fault, name) == 0;
}

static void print(const char *when)
{
    printf("the engine prints %s\n{\"kind\":\"result\",\"job\":\"run\"}\n", when);
    fflush(stdout);
}

__attribute__((constructor)) static void begin(void)
{
    if (!forward_open()) {
        return;
    }
    forward_name("broken", fault, &amount);
    if (is("print-load")) {
        print("at load");
    }
    if (is("abort-load")) {
        fprintf(stderr, "the engine aborts at load\n");
        abort();
    }
}

__attribute__((destructor)) static void end(void)
{
    if (is("print-exit")) {
        print("at exit");
    }
    if (is("abort-exit")) {
        fprintf(stderr, "the engine aborts at exit\n");
        abort();
    }
}

/* ---- rows --------------------------------------------------------------------- */

static void release_cells(void)
{
    for (int i = 0; i < walk.columns; i++) {
        free(walk.cells[i].bytes);
        walk.cells[i].bytes = NULL;
    }
    walk.columns = 0;
    walk.holding = walk.showing = false;
}

static void forget_walk(struct sqlite3_stmt *stmt)
{
    if (walk.stmt == stmt) {
        release_cells();
        memset(&walk, 0, sizeof walk);
    }
}

static void hold_row(struct sqlite3_stmt *stmt)
{
    int columns = real.column_count(stmt);
    walk.columns = columns < CELLS_MAX ? columns : CELLS_MAX;
    for (int i = 0; i < walk.columns; i++) {
        struct cell *cell = &walk.cells[i];
        cell->type = real.column_type(stmt, i);
        cell->integer = real.column_int64(stmt, i);
        cell->number = real.column_double(stmt, i);
        const void *bytes = cell->type == SQLITE_BLOB ? real.column_blob(stmt, i)
                                                      : (const void *)real.column_text(stmt, i);
        cell->length = real.column_bytes(stmt, i);
        cell->bytes = calloc(1, (size_t)cell->length + 1);
        if (bytes != NULL && cell->bytes != NULL) {
            memcpy(cell->bytes, bytes, (size_t)cell->length);
        }
    }
    walk.holding = true;
}

static const struct cell *shown(struct sqlite3_stmt *stmt, int column)
{
    return walk.showing && walk.stmt == stmt && column < walk.columns ? &walk.cells[column] : NULL;
}

/* The first two rows change places. */
static int step_reordered(struct sqlite3_stmt *stmt)
{
    if (walk.showing) {
        release_cells();
        if (walk.next != 0) {
            return walk.next;
        }
    }
    if (walk.holding) {
        walk.showing = true;
        return SQLITE_ROW;
    }
    int code = real.step(stmt);
    if (code != SQLITE_ROW || walk.rows++ > 0) {
        return code;
    }
    hold_row(stmt);
    code = real.step(stmt);
    if (code == SQLITE_ROW) {
        return code;
    }
    walk.next = code; /* there is no second one */
    walk.showing = true;
    return SQLITE_ROW;
}

static int step_dropping(struct sqlite3_stmt *stmt)
{
    int code = real.step(stmt);
    if (code == SQLITE_ROW && ++walk.rows == 2) {
        code = real.step(stmt);
    }
    return code;
}

/* ---- calls ------------------------------------------------------------------------ */

static bool begins(const char *sql, const char *word)
{
    return sql != NULL && strncasecmp(sql, word, strlen(word)) == 0;
}

/* 0: go on. */
static int forget(const char *sql)
{
    static atomic_uint_fast64_t inserts;
    if (!is("forget-insert") || !begins(sql, "INSERT") ||
        atomic_fetch_add(&inserts, 1) % FORGET_EVERY != FORGET_EVERY - 1) {
        return 0;
    }
    forgotten++;
    forgot_last = true;
    return SQLITE_DONE;
}

/* Whatever the process is for. */
static void abort_at_insert(const char *sql)
{
    static atomic_uint_fast64_t inserts;
    if (is("abort-insert") && begins(sql, "INSERT") &&
        atomic_fetch_add(&inserts, 1) + 1 == amount) {
        fprintf(stderr, "the engine aborts at an insert\n");
        abort();
    }
}

static void stand_still(void)
{
    for (;;) {
        uint64_t now = clock_now_ns();
        uint64_t until = atomic_load(&frozen_until_ns);
        if (now >= until) {
            return;
        }
        const struct timespec pause_of = {.tv_nsec = (long)(until - now)};
        nanosleep(&pause_of, NULL);
    }
}

/* What happens at the amount-th execution. 0: go on. */
static int disturb(struct sqlite3_stmt *stmt)
{
    if (atomic_load(&connections) < 2) {
        return 0;
    }
    uint64_t number = atomic_fetch_add(&steps, 1) + 1;
    if (is("abort") && number == amount) {
        fprintf(stderr, "the engine aborts at a call\n");
        abort();
    }
    if (is("hang") && number == amount) {
        for (;;) {
            pause();
        }
    }
    if (is("stall") && number == amount) {
        const struct timespec pause_of = {.tv_nsec = STALL_MS * (long)NS_PER_MS};
        nanosleep(&pause_of, NULL);
    }
    if (is("freeze")) {
        if (number == amount) {
            atomic_store(&frozen_until_ns, clock_now_ns() + STALL_MS * NS_PER_MS);
        }
        stand_still();
    }
    if (is("print-call") && number % PRINT_EVERY == 1) {
        print("at a call");
    }
    if (is("busy") && !real.stmt_readonly(stmt)) {
        static atomic_uint_fast64_t busy;
        if (atomic_fetch_add(&busy, 1) < amount) {
            return SQLITE_BUSY;
        }
    }
    return 0;
}

int sqlite3_step(struct sqlite3_stmt *stmt)
{
    const char *sql = stmt != NULL ? real_sql(stmt) : NULL;
    if (walk.stmt != stmt) {
        forget_walk(walk.stmt);
        walk.stmt = stmt;
        forgot_last = false;
        if (begins(sql, "SELECT") || begins(sql, "INSERT") || begins(sql, "UPDATE") ||
            begins(sql, "DELETE")) {
            abort_at_insert(sql);
            int code = forget(sql);
            code = code == 0 ? disturb(stmt) : code;
            if (code != 0) {
                return code;
            }
        }
    }
    if (is("reorder")) {
        return step_reordered(stmt);
    }
    if (is("drop-row")) {
        return step_dropping(stmt);
    }
    return real.step(stmt);
}

int sqlite3_reset(struct sqlite3_stmt *stmt)
{
    forget_walk(stmt);
    return real.reset(stmt);
}

int sqlite3_finalize(struct sqlite3_stmt *stmt)
{
    forget_walk(stmt);
    return real.finalize(stmt);
}

int sqlite3_changes(struct sqlite3 *db)
{
    return forgot_last ? 1 : real.changes(db);
}

int sqlite3_total_changes(struct sqlite3 *db)
{
    return real.total_changes(db) + forgotten;
}

int sqlite3_column_type(struct sqlite3_stmt *stmt, int column)
{
    const struct cell *cell = shown(stmt, column);
    int type = cell != NULL ? cell->type : real.column_type(stmt, column);
    bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    return number && is("text-numbers") ? SQLITE_TEXT : type;
}

int64_t sqlite3_column_int64(struct sqlite3_stmt *stmt, int column)
{
    const struct cell *cell = shown(stmt, column);
    return cell != NULL ? cell->integer : real.column_int64(stmt, column);
}

double sqlite3_column_double(struct sqlite3_stmt *stmt, int column)
{
    const struct cell *cell = shown(stmt, column);
    return cell != NULL ? cell->number : real.column_double(stmt, column);
}

const unsigned char *sqlite3_column_text(struct sqlite3_stmt *stmt, int column)
{
    const struct cell *cell = shown(stmt, column);
    return cell != NULL ? (const unsigned char *)cell->bytes : real.column_text(stmt, column);
}

const void *sqlite3_column_blob(struct sqlite3_stmt *stmt, int column)
{
    const struct cell *cell = shown(stmt, column);
    return cell != NULL ? cell->bytes : real.column_blob(stmt, column);
}

int sqlite3_column_bytes(struct sqlite3_stmt *stmt, int column)
{
    const struct cell *cell = shown(stmt, column);
    return cell != NULL ? cell->length : real.column_bytes(stmt, column);
}

int sqlite3_open_v2(const char *path, struct sqlite3 **db, int flags, const char *vfs)
{
    if (atomic_fetch_add(&connections, 1) > 0 && is("one-connection")) {
        atomic_fetch_sub(&connections, 1);
        *db = NULL;
        return SQLITE_ERROR;
    }
    return real.open_v2(path, db, flags, vfs);
}

int sqlite3_close(struct sqlite3 *db)
{
    if (db != NULL) {
        atomic_fetch_sub(&connections, 1);
    }
    return real.close(db);
}

int sqlite3_exec(struct sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
                 void *context, char **message)
{
    if ((is("ignore-cache") && begins(sql, "PRAGMA cache_size")) ||
        (is("no-wal") && begins(sql, "PRAGMA journal_mode"))) {
        return SQLITE_OK;
    }
    return real.exec(db, sql, row, context, message);
}

/* Which SQL is prepared instead. */
static const char *instead(const char *sql)
{
    if (is("wrong-pragma") && begins(sql, "PRAGMA synchronous")) {
        return "SELECT 0";
    }
    if (is("no-wal") && begins(sql, "PRAGMA journal_mode")) {
        return "SELECT 'wal'";
    }
    return sql;
}

int sqlite3_prepare_v2(struct sqlite3 *db, const char *sql, int length, struct sqlite3_stmt **stmt,
                       const char **tail)
{
    return real.prepare_v2(db, instead(sql), length, stmt, tail);
}

int sqlite3_prepare_v3(struct sqlite3 *db, const char *sql, int length, unsigned flags,
                       struct sqlite3_stmt **stmt, const char **tail)
{
    return real.prepare_v3(db, instead(sql), length, flags, stmt, tail);
}

/* ---- nothing but forwarded ------------------------------------------------------------ */

FORWARD(int, bind_null, (struct sqlite3_stmt * stmt, int n), (stmt, n))
FORWARD(int, bind_int64, (struct sqlite3_stmt * stmt, int n, int64_t value), (stmt, n, value))
FORWARD(int, bind_double, (struct sqlite3_stmt * stmt, int n, double value), (stmt, n, value))
FORWARD(int, bind_text,
        (struct sqlite3_stmt * stmt, int n, const char *text, int length, void (*release)(void *)),
        (stmt, n, text, length, release))
FORWARD(int, bind_blob,
        (struct sqlite3_stmt * stmt, int n, const void *bytes, int length, void (*release)(void *)),
        (stmt, n, bytes, length, release))
