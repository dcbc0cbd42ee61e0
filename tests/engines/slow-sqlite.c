/*
 * A library with the SQLite C ABI that forwards to the system's libsqlite3.so.0 and is slower than
 * it by a known amount, which its own file name says:
 *
 *     slow-percent-5.so    5 % more time for every execution of a statement, from its first bind or
 *                          step to its reset
 *     slow-every-50.so     1 ms more for every 50th execution
 *     slow-percent-0.so    nothing: what the two are to be compared with, as forwarding and looking
 *                          at the clock cost something, too
 *
 * The time is spent by the processor, not slept, after the statement has ended its transaction.
 */
#include "forward-sqlite.h"

#include "core/clock.h"

#include <stdatomic.h>

static bool every;        /* slow-every, not slow-percent */
static uint64_t amount;   /* percent, or which execution */
static double turns_a_ns; /* of spin() */

static atomic_uint_fast64_t executions;

/* The execution under way; one at a time, as the driver does. */
static _Thread_local struct sqlite3_stmt *running;
static _Thread_local uint64_t start_ns;

/* Looking at the clock takes as long as 5 % of a short statement, so that time is spent by
 * counting. */
static void spin(uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++) {
        __asm__ volatile("" ::: "memory");
    }
}

/* The fastest of several tries: the others were interrupted. */
static void calibrate(void)
{
    enum { TRIES = 9, TURNS = 1000000 };
    for (int i = 0; i < TRIES; i++) {
        uint64_t start = clock_now_ns();
        spin(TURNS);
        double found = (double)TURNS / (double)(clock_now_ns() - start);
        turns_a_ns = found > turns_a_ns ? found : turns_a_ns;
    }
}

__attribute__((constructor)) static void begin(void)
{
    char word[64];
    if (forward_open()) {
        forward_name("slow", word, &amount);
        every = strcmp(word, "every") == 0;
        calibrate();
    }
}

static inline void started(struct sqlite3_stmt *stmt)
{
    if (running != stmt) {
        running = stmt;
        start_ns = clock_now_ns();
    }
}

static void ended(struct sqlite3_stmt *stmt)
{
    if (running != stmt) {
        return;
    }
    running = NULL;
    uint64_t now = clock_now_ns();
    if (!every) {
        spin((uint64_t)((double)((now - start_ns) * amount) / 100 * turns_a_ns));
    } else if (atomic_fetch_add(&executions, 1) % amount == amount - 1) {
        while (clock_now_ns() < now + NS_PER_MS) {
        }
    }
}

int sqlite3_step(struct sqlite3_stmt *stmt)
{
    started(stmt);
    return real.step(stmt);
}

int sqlite3_reset(struct sqlite3_stmt *stmt)
{
    int code = real.reset(stmt);
    ended(stmt);
    return code;
}

int sqlite3_finalize(struct sqlite3_stmt *stmt)
{
    running = running == stmt ? NULL : running;
    return real.finalize(stmt);
}

#define FORWARD_BIND(name, declared, passed)                                                       \
    int sqlite3_bind_##name declared                                                               \
    {                                                                                              \
        started(stmt);                                                                             \
        return real.bind_##name passed;                                                            \
    }

FORWARD_BIND(null, (struct sqlite3_stmt * stmt, int n), (stmt, n))
FORWARD_BIND(int64, (struct sqlite3_stmt * stmt, int n, int64_t value), (stmt, n, value))
FORWARD_BIND(double, (struct sqlite3_stmt * stmt, int n, double value), (stmt, n, value))
FORWARD_BIND(text,
             (struct sqlite3_stmt * stmt, int n, const char *text, int length,
              void (*release)(void *)),
             (stmt, n, text, length, release))
FORWARD_BIND(blob,
             (struct sqlite3_stmt * stmt, int n, const void *bytes, int length,
              void (*release)(void *)),
             (stmt, n, bytes, length, release))

FORWARD(int, open_v2, (const char *path, struct sqlite3 **db, int flags, const char *vfs),
        (path, db, flags, vfs))
FORWARD(int, close, (struct sqlite3 * db), (db))
FORWARD(int, exec,
        (struct sqlite3 * db, const char *sql, int (*row)(void *, int, char **, char **),
         void *context, char **message),
        (db, sql, row, context, message))
FORWARD(int, prepare_v2,
        (struct sqlite3 * db, const char *sql, int length, struct sqlite3_stmt **stmt,
         const char **tail),
        (db, sql, length, stmt, tail))
FORWARD(int, prepare_v3,
        (struct sqlite3 * db, const char *sql, int length, unsigned flags,
         struct sqlite3_stmt **stmt, const char **tail),
        (db, sql, length, flags, stmt, tail))
FORWARD(int, changes, (struct sqlite3 * db), (db))
FORWARD(int, total_changes, (struct sqlite3 * db), (db))
FORWARD(int, column_type, (struct sqlite3_stmt * stmt, int column), (stmt, column))
FORWARD(int64_t, column_int64, (struct sqlite3_stmt * stmt, int column), (stmt, column))
FORWARD(double, column_double, (struct sqlite3_stmt * stmt, int column), (stmt, column))
FORWARD(const unsigned char *, column_text, (struct sqlite3_stmt * stmt, int column),
        (stmt, column))
FORWARD(const void *, column_blob, (struct sqlite3_stmt * stmt, int column), (stmt, column))
FORWARD(int, column_bytes, (struct sqlite3_stmt * stmt, int column), (stmt, column))
