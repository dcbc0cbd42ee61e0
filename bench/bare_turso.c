/*
 * What a C programmer would write over Turso's C ABI without pitot: the yardstick of
 * `make bench-harness` for the turso driver.
 *
 *     pitot-bare-turso MODE LIBRARY DATABASE SECONDS
 *
 * user_by_id: operations/s of that query, one connection; user_by_id-thread: the same on a second
 * thread. driver: the driver without the rest of pitot. Short blocks of the bare loop and of the
 * driver in turn, in one process and by CPU time, so that what else the machine does weighs on
 * both; the median of bare / driver.
 */
#include "base/random.h"
#include "core/clock.h"
#include "engine/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, DONE = 1, ROW = 2, INTEGER = 1, TEXT = 3 };

typedef struct {
    uint64_t async_io;
    const char *path, *experimental_features, *vfs, *encryption_cipher, *encryption_hexkey;
    const void *page_codec;
    uint32_t open_flags;
} config;
typedef struct turso_database database;
typedef struct turso_connection connection;
typedef struct turso_statement statement;

static struct {
    int (*database_new)(const config *, const database **, const char **);
    int (*database_open)(const database *, const char **);
    int (*database_connect)(const database *, connection **, const char **);
    int (*connection_prepare_first)(const connection *, const char *, statement **, size_t *,
                                    const char **);
    int (*statement_bind_positional_int)(const statement *, size_t, int64_t);
    int (*statement_step)(const statement *, const char **);
    int (*statement_reset)(const statement *, const char **);
    int (*statement_row_value_kind)(const statement *, size_t);
    int64_t (*statement_row_value_int)(const statement *, size_t);
    const char *(*statement_row_value_bytes_ptr)(const statement *, size_t);
    int64_t (*statement_row_value_bytes_count)(const statement *, size_t);
    void (*statement_deinit)(const statement *);
    void (*connection_deinit)(const connection *);
    void (*database_deinit)(const database *);
} turso;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "pitot-bare-turso: %s: %s\n", what, why != NULL ? why : "no reason given");
    exit(1);
}

static void load_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        die(path, dlerror());
    }
#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "turso_" #name, (void **)&turso.name                                                       \
    }
    const struct {
        const char *name;
        void **slot;
    } symbols[] = {
        SYMBOL(database_new),
        SYMBOL(database_open),
        SYMBOL(database_connect),
        SYMBOL(connection_prepare_first),
        SYMBOL(statement_bind_positional_int),
        SYMBOL(statement_step),
        SYMBOL(statement_reset),
        SYMBOL(statement_row_value_kind),
        SYMBOL(statement_row_value_int),
        SYMBOL(statement_row_value_bytes_ptr),
        SYMBOL(statement_row_value_bytes_count),
        SYMBOL(statement_deinit),
        SYMBOL(connection_deinit),
        SYMBOL(database_deinit),
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].slot = dlsym(library, symbols[i].name);
        if (*symbols[i].slot == NULL) {
            die(symbols[i].name, "missing from the library");
        }
    }
}

static statement *prepare(const connection *line, const char *sql)
{
    statement *prepared = NULL;
    const char *why = NULL;
    size_t tail;
    if (turso.connection_prepare_first(line, sql, &prepared, &tail, &why) != OK ||
        prepared == NULL) {
        die(sql, why);
    }
    return prepared;
}

/* Runs it to its end; the integer in the first column of the last row. */
static int64_t run(const connection *line, const char *sql)
{
    statement *prepared = prepare(line, sql);
    const char *why = NULL;
    int64_t value = 0;
    int code;
    while ((code = turso.statement_step(prepared, &why)) == ROW) {
        value = turso.statement_row_value_int(prepared, 0);
    }
    if (code != DONE) {
        die(sql, why);
    }
    turso.statement_deinit(prepared);
    return value;
}

/* As the driver touches columns: type, typed getter, every byte. */
static uint64_t touch(const statement *prepared, size_t columns)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < columns; i++) {
        if (turso.statement_row_value_kind(prepared, i) == TEXT) {
            const char *text = turso.statement_row_value_bytes_ptr(prepared, i);
            int64_t length = turso.statement_row_value_bytes_count(prepared, i);
            for (int64_t k = 0; k < length; k++) {
                sum += (unsigned char)text[k];
            }
        } else {
            sum += (uint64_t)turso.statement_row_value_int(prepared, i);
        }
    }
    return sum;
}

struct query {
    statement *prepared;
    volatile uint64_t sink;
};

static void one(void *context, int64_t id)
{
    struct query *query = context;
    turso.statement_bind_positional_int(query->prepared, 1, id);
    while (turso.statement_step(query->prepared, NULL) == ROW) {
        query->sink += touch(query->prepared, 6);
    }
    turso.statement_reset(query->prepared, NULL);
}

#define USER_BY_ID "SELECT id, email, name, plan, country, created_at FROM users WHERE id = ?"

struct opened {
    const database *database;
    connection *line;
    int64_t users;
    struct query query;
};

static void open_bare(struct opened *opened, const char *path)
{
    const config options = {.path = path};
    const char *why = NULL;
    if (turso.database_new(&options, &opened->database, &why) != OK ||
        turso.database_open(opened->database, &why) != OK ||
        turso.database_connect(opened->database, &opened->line, &why) != OK) {
        die(path, why);
    }
    run(opened->line, "PRAGMA journal_mode=wal");
    run(opened->line, "PRAGMA synchronous=normal");
    run(opened->line, "PRAGMA cache_size=-65536");
    opened->users = run(opened->line, "SELECT count(*) FROM users");
    opened->query.prepared = prepare(opened->line, USER_BY_ID);
}

static void close_bare(struct opened *opened)
{
    turso.statement_deinit(opened->query.prepared);
    turso.connection_deinit(opened->line);
    turso.database_deinit(opened->database);
}

static void point(const char *path, double seconds)
{
    struct opened opened = {.users = 0};
    open_bare(&opened, path);
    struct random random;
    random_init(&random, 1, RANDOM_PARAMETERS, 0, 0);
    uint64_t operations = 0;
    uint64_t started = 0;
    uint64_t now = clock_now_ns();
    uint64_t warm = now + 3 * NS_PER_S;
    uint64_t until = UINT64_MAX;
    while (now < until) {
        for (int i = 0; i < 1000; i++) {
            one(&opened.query, 1 + (int64_t)random_below(&random, (uint64_t)opened.users));
        }
        now = clock_now_ns();
        if (started == 0 && now >= warm) {
            started = now;
            until = now + (uint64_t)(seconds * 1e9);
        } else if (started != 0) {
            operations += 1000;
        }
    }
    printf("{\"operations_per_second\": %.1f}\n",
           (double)operations * 1e9 / (double)(now - started));
    close_bare(&opened);
}

/* ---- driver ------------------------------------------------------------------------ */

enum { BLOCK = 300, BLOCKS_MAX = 100000 };

/* CPU time of one operation of a block; through the driver where there is a statement of it. */
static double block_ns(struct opened *opened, struct engine_statement *driven,
                       struct random *random)
{
    uint64_t started = clock_thread_cpu_ns();
    for (int i = 0; i < BLOCK; i++) {
        int64_t id = 1 + (int64_t)random_below(random, (uint64_t)opened->users);
        if (driven != NULL) {
            struct value value = {.type = VALUE_INTEGER, .integer = id};
            struct engine_effect effect = {0, 0};
            engine_turso.run(driven, &value, 1, false, &effect, NULL);
        } else {
            one(&opened->query, id);
        }
    }
    return (double)(clock_thread_cpu_ns() - started) / BLOCK;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of bare / driven; blocks go first in turn. */
static double compare(struct opened *opened, struct engine_statement *driven, double seconds)
{
    static double ratios[BLOCKS_MAX];
    size_t count = 0;
    struct random random;
    random_init(&random, 1, RANDOM_PARAMETERS, 0, 0);
    uint64_t warm = clock_now_ns() + NS_PER_S;
    uint64_t until = warm + (uint64_t)(seconds * 1e9);
    for (int turn = 0; count < BLOCKS_MAX && clock_now_ns() < until; turn++) {
        double ns[2]; /* bare, driven */
        for (int i = 0; i < 2; i++) {
            int which = (i + turn) % 2;
            ns[which] = block_ns(opened, which == 1 ? driven : NULL, &random);
        }
        if (clock_now_ns() >= warm) {
            ratios[count++] = ns[0] / ns[1];
        }
    }
    qsort(ratios, count, sizeof *ratios, by_size);
    return count > 0 ? ratios[count / 2] : 0;
}

static void driver(const char *library, const char *path, double seconds)
{
    const struct engine_config loading = {.name = "turso", .library = library};
    const struct engine_identity *identity;
    struct error error = ERROR_INIT;
    struct engine *engine;
    struct engine_connection *line = NULL;
    struct engine_statement *driven;
    struct opened opened = {.users = 0};
    open_bare(&opened, path);
    if (engine_turso.load(&loading, &engine, &identity, &error) != 0 ||
        engine_turso.open(engine, path, 0, false, &line, &error) != 0 ||
        engine_turso.setting_set(line, "cache_size", "-65536", &error) != 0) {
        die(path, error.message);
    }
    if (engine_turso.prepare(line, USER_BY_ID, &driven) != ENGINE_OK) {
        die(USER_BY_ID, "cannot be prepared");
    }
    printf("{\"ratio\": %.4f}\n", compare(&opened, driven, seconds));
    engine_turso.finalize(driven);
    engine_turso.close(line);
    engine_turso.unload(engine);
    close_bare(&opened);
}

static void *point_main(void *arguments)
{
    char **argv = arguments;
    if (strcmp(argv[1], "driver") == 0) {
        driver(argv[2], argv[3], atof(argv[4]));
    } else {
        point(argv[3], atof(argv[4]));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bool alone = argc == 5 && strcmp(argv[1], "user_by_id") == 0;
    if (argc != 5 ||
        (!alone && strcmp(argv[1], "user_by_id-thread") != 0 && strcmp(argv[1], "driver") != 0)) {
        fprintf(stderr,
                "usage: pitot-bare-turso user_by_id|user_by_id-thread|driver LIBRARY DATABASE "
                "SECONDS\n");
        return 2;
    }
    load_library(argv[2]);
    if (alone) {
        point_main(argv);
    } else if (pthread_create(&thread, NULL, point_main, argv) != 0) {
        die("thread", "cannot be started");
    } else {
        pthread_join(thread, NULL);
    }
    return 0;
}
