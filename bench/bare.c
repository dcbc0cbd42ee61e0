/*
 * What a C programmer would write without pitot: the yardstick of `make bench-harness`.
 *
 *     pitot-bare QUERY LIBRARY DATABASE SECONDS         operations/s of it, one connection
 *     pitot-bare QUERY-thread LIBRARY DATABASE SECONDS  the same on a second thread
 *     pitot-bare load LIBRARY TEMPLATE TARGET           seconds to insert the template's rows anew
 *
 * QUERY is a script of a built-in workload: user_by_id, select-point, select-range-indexed. Each
 * prints one JSON line, with the CPU time of its thread for an operation. Nothing is measured
 * inside the loops; that of a query looks at the clock every hundred operations. `load` reads all
 * rows into memory first, so that only inserting, the indexes and the final sync are timed.
 * `-thread` is what an application has that does anything beside its queries, and what a worker
 * must have: with a second thread, the kernel and the C library lock what a process with one thread
 * need not.
 */
#include "base/random.h"
#include "core/clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

enum { ROW = 100, DONE = 101, INTEGER = 1, TEXT = 3, READWRITE_CREATE_NOMUTEX = 0x8006 };

static struct {
    int (*open_v2)(const char *, sqlite3 **, int, const char *);
    int (*close)(sqlite3 *);
    int (*exec)(sqlite3 *, const char *, void *, void *, char **);
    int (*prepare_v2)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
    int (*bind_int64)(sqlite3_stmt *, int, int64_t);
    int (*bind_text)(sqlite3_stmt *, int, const char *, int, void (*)(void *));
    int (*bind_null)(sqlite3_stmt *, int);
    int (*step)(sqlite3_stmt *);
    int (*reset)(sqlite3_stmt *);
    int (*finalize)(sqlite3_stmt *);
    int (*column_type)(sqlite3_stmt *, int);
    int64_t (*column_int64)(sqlite3_stmt *, int);
    const unsigned char *(*column_text)(sqlite3_stmt *, int);
    int (*column_bytes)(sqlite3_stmt *, int);
    const char *(*errmsg)(sqlite3 *);
} lite;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "pitot-bare: %s: %s\n", what, why);
    exit(1);
}

static void load_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        die(path, dlerror());
    }
    const struct {
        const char *name;
        void **slot;
    } symbols[] = {
        {"sqlite3_open_v2", (void **)&lite.open_v2},
        {"sqlite3_close", (void **)&lite.close},
        {"sqlite3_exec", (void **)&lite.exec},
        {"sqlite3_prepare_v2", (void **)&lite.prepare_v2},
        {"sqlite3_bind_int64", (void **)&lite.bind_int64},
        {"sqlite3_bind_text", (void **)&lite.bind_text},
        {"sqlite3_bind_null", (void **)&lite.bind_null},
        {"sqlite3_step", (void **)&lite.step},
        {"sqlite3_reset", (void **)&lite.reset},
        {"sqlite3_finalize", (void **)&lite.finalize},
        {"sqlite3_column_type", (void **)&lite.column_type},
        {"sqlite3_column_int64", (void **)&lite.column_int64},
        {"sqlite3_column_text", (void **)&lite.column_text},
        {"sqlite3_column_bytes", (void **)&lite.column_bytes},
        {"sqlite3_errmsg", (void **)&lite.errmsg},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].slot = dlsym(library, symbols[i].name);
        if (*symbols[i].slot == NULL) {
            die(symbols[i].name, "missing from the library");
        }
    }
}

static sqlite3 *open_database(const char *path)
{
    sqlite3 *db;
    if (lite.open_v2(path, &db, READWRITE_CREATE_NOMUTEX, NULL) != 0) {
        die(path, "cannot be opened");
    }
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    if (lite.exec(db, sql, NULL, NULL, NULL) != 0) {
        die(sql, lite.errmsg(db));
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    if (lite.prepare_v2(db, sql, -1, &statement, NULL) != 0) {
        die(sql, lite.errmsg(db));
    }
    return statement;
}

static int64_t count(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = prepare(db, sql);
    if (lite.step(statement) != ROW) {
        die(sql, lite.errmsg(db));
    }
    int64_t value = lite.column_int64(statement, 0);
    lite.finalize(statement);
    return value;
}

/* ---- queries ------------------------------------------------------------------- */

/* As the driver touches columns: type, typed getter, every byte. */
static uint64_t touch(sqlite3_stmt *statement, int columns)
{
    uint64_t sum = 0;
    for (int i = 0; i < columns; i++) {
        if (lite.column_type(statement, i) == TEXT) {
            const unsigned char *text = lite.column_text(statement, i);
            int length = lite.column_bytes(statement, i);
            for (int k = 0; k < length; k++) {
                sum += text[k];
            }
        } else {
            sum += (uint64_t)lite.column_int64(statement, i);
        }
    }
    return sum;
}

/* What a loop draws its parameters from. */
struct source {
    struct random random;
    uint64_t users, op;
};

static void bind_random_user(sqlite3_stmt *statement, struct source *source)
{
    lite.bind_int64(statement, 1, 1 + (int64_t)random_below(&source->random, source->users));
}

static void bind_next_user(sqlite3_stmt *statement, struct source *source)
{
    lite.bind_int64(statement, 1, 1 + (int64_t)(source->op++ % source->users));
}

static void bind_ages(sqlite3_stmt *statement, struct source *source)
{
    int64_t low = 18 + (int64_t)(source->op++ % 50);
    lite.bind_int64(statement, 1, low);
    lite.bind_int64(statement, 2, low + 2);
}

static const struct query {
    const char *name, *sql;
    int columns;
    void (*bind)(sqlite3_stmt *statement, struct source *source);
} queries[] = {
    {"user_by_id", "SELECT id, email, name, plan, country, created_at FROM users WHERE id = ?", 6,
     bind_random_user},
    {"select-point", "SELECT id, name, email, age FROM users WHERE id = ?", 4, bind_next_user},
    {"select-range-indexed", "SELECT id, name, age FROM users WHERE age BETWEEN ? AND ? LIMIT 50",
     3, bind_ages},
};

/* `mode` is its name, with "-thread" behind it or not; NULL: it is no query. */
static const struct query *find_query(const char *mode, bool *on_thread)
{
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        size_t length = strlen(queries[i].name);
        if (strncmp(mode, queries[i].name, length) == 0) {
            *on_thread = strcmp(mode + length, "-thread") == 0;
            return *on_thread || mode[length] == '\0' ? &queries[i] : NULL;
        }
    }
    return NULL;
}

/* Of this thread. */
static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void loop(const struct query *query, const char *database, double seconds)
{
    sqlite3 *db = open_database(database);
    run(db, "PRAGMA journal_mode=wal; PRAGMA synchronous=normal; PRAGMA cache_size=-65536");
    struct source source = {.users = (uint64_t)count(db, "SELECT count(*) FROM users")};
    sqlite3_stmt *statement = prepare(db, query->sql);
    random_init(&source.random, 1, RANDOM_PARAMETERS, 0, 0);
    volatile uint64_t sink = 0;
    uint64_t operations = 0;
    uint64_t started = 0;
    uint64_t now = clock_now_ns();
    uint64_t warm = now + 3 * NS_PER_S;
    uint64_t until = UINT64_MAX;
    uint64_t cpu = 0;
    while (now < until) {
        for (int i = 0; i < 100; i++) {
            query->bind(statement, &source);
            while (lite.step(statement) == ROW) {
                sink += touch(statement, query->columns);
            }
            lite.reset(statement);
        }
        now = clock_now_ns();
        if (started == 0 && now >= warm) {
            started = now;
            cpu = cpu_ns();
            until = now + (uint64_t)(seconds * 1e9);
        } else if (started != 0) {
            operations += 100;
        }
    }
    printf("{\"operations_per_second\": %.1f, \"cpu_ns\": %.3f}\n",
           (double)operations * 1e9 / (double)(now - started),
           (double)(cpu_ns() - cpu) / (double)operations);
    (void)sink;
    lite.finalize(statement);
    lite.close(db);
}

/* ---- load ------------------------------------------------------------------------ */

struct cell {
    int64_t integer;
    char *text; /* NULL: integer */
};

struct table {
    const char *select;
    const char *insert;
    int columns;
    int64_t rows;
    struct cell *cells;
};

static void read_table(sqlite3 *db, struct table *table, const char *count_sql)
{
    table->rows = count(db, count_sql);
    table->cells = calloc((size_t)table->rows * (size_t)table->columns, sizeof *table->cells);
    if (table->cells == NULL) {
        die("load", "out of memory");
    }
    sqlite3_stmt *statement = prepare(db, table->select);
    struct cell *cell = table->cells;
    while (lite.step(statement) == ROW) {
        for (int i = 0; i < table->columns; i++, cell++) {
            if (lite.column_type(statement, i) == TEXT) {
                cell->text = strdup((const char *)lite.column_text(statement, i));
            } else {
                cell->integer = lite.column_int64(statement, i);
            }
        }
    }
    lite.finalize(statement);
}

static void insert_row(sqlite3 *db, sqlite3_stmt *statement, const struct cell *cells, int columns)
{
    for (int i = 0; i < columns; i++) {
        if (cells[i].text != NULL) {
            lite.bind_text(statement, i + 1, cells[i].text, (int)strlen(cells[i].text), NULL);
        } else {
            lite.bind_int64(statement, i + 1, cells[i].integer);
        }
    }
    if (lite.step(statement) != DONE) {
        die("INSERT", lite.errmsg(db));
    }
    lite.reset(statement);
}

static void load(const char *template, const char *target)
{
    struct table users = {.select = "SELECT * FROM users ORDER BY id",
                          .insert = "INSERT INTO users VALUES (?,?,?,?,?,?,?)",
                          .columns = 7};
    struct table orders = {.select = "SELECT * FROM orders ORDER BY id",
                           .insert = "INSERT INTO orders VALUES (?,?,?,?,?,?,?)",
                           .columns = 7};
    sqlite3 *from = open_database(template);
    read_table(from, &users, "SELECT count(*) FROM users");
    read_table(from, &orders, "SELECT count(*) FROM orders");
    /* The DDL is the template's own. */
    char *ddl[16];
    bool index[16];
    int statements = 0;
    sqlite3_stmt *schema = prepare(
        from, "SELECT sql, type = 'index' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
    while (lite.step(schema) == ROW && statements < 16) {
        ddl[statements] = strdup((const char *)lite.column_text(schema, 0));
        index[statements++] = lite.column_int64(schema, 1) != 0;
    }
    lite.finalize(schema);
    lite.close(from);

    uint64_t started = clock_now_ns();
    sqlite3 *db = open_database(target);
    run(db, "PRAGMA journal_mode=off; PRAGMA synchronous=off; PRAGMA cache_size=-65536");
    for (int i = 0; i < statements; i++) {
        if (!index[i]) {
            run(db, ddl[i]);
        }
    }
    sqlite3_stmt *insert_user = prepare(db, users.insert);
    sqlite3_stmt *insert_order = prepare(db, orders.insert);
    int64_t each = orders.rows / users.rows;
    for (int64_t user = 0; user < users.rows; user++) {
        if (user % 25000 == 0) {
            run(db, user == 0 ? "BEGIN IMMEDIATE" : "COMMIT; BEGIN IMMEDIATE");
        }
        insert_row(db, insert_user, users.cells + user * users.columns, users.columns);
        for (int64_t i = 0; i < each; i++) {
            insert_row(db, insert_order, orders.cells + (user * each + i) * orders.columns,
                       orders.columns);
        }
    }
    run(db, "COMMIT");
    lite.finalize(insert_user);
    lite.finalize(insert_order);
    for (int i = 0; i < statements; i++) {
        if (index[i]) {
            run(db, ddl[i]);
        }
    }
    lite.close(db);
    int fd = open(target, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        die(target, "cannot be synced");
    }
    close(fd);
    printf("{\"seconds\": %.4f}\n", (double)(clock_now_ns() - started) / 1e9);
}

static void *loop_main(void *arguments)
{
    char **argv = arguments;
    bool on_thread;
    loop(find_query(argv[1], &on_thread), argv[3], atof(argv[4]));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bool on_thread = false;
    bool queries_it = argc == 5 && find_query(argv[1], &on_thread) != NULL;
    if (argc != 5 || (!queries_it && strcmp(argv[1], "load") != 0)) {
        fprintf(stderr, "usage: pitot-bare QUERY[-thread] LIBRARY DATABASE SECONDS\n"
                        "       pitot-bare load LIBRARY TEMPLATE TARGET\n"
                        "QUERY: user_by_id, select-point, select-range-indexed\n");
        return 2;
    }
    load_library(argv[2]);
    if (!queries_it) {
        load(argv[3], argv[4]);
    } else if (!on_thread) {
        loop_main(argv);
    } else {
        if (pthread_create(&thread, NULL, loop_main, argv) != 0) {
            die("thread", "cannot be started");
        }
        pthread_join(thread, NULL);
    }
    return 0;
}
