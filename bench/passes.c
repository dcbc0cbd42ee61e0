/*
 * What a pass costs beside a plain loop that does the same: DELETE, an INSERT a row, the
 * sync row, in one transaction, with prepared statements.
 *
 *     pitot-passes [--rows N] [--rounds N] [--dir FOLDER] [--only SHAPE]
 *
 * Every shape of table has a database of its own for the loop and for each kind of pass,
 * in WAL mode with synchronous=NORMAL; a pass's writes its WAL as a store does. A round runs all of
 * them once, in an order that is drawn anew; each figure is the median over the rounds of its ratio
 * to the loop of the same round. lock: from BEGIN IMMEDIATE to the end of COMMIT. whole: with
 * staging, a call a row, and all that is prepared. Checkpoints fall between the measurements.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "lib/apply.h"
#include "lib/wal_vfs.h"

enum kind { KIND_PLAIN, KIND_REPLACE, KIND_SAME, KIND_ONE, KIND_TEN, KIND_HALF, KIND_READ, KINDS };

static const char *const kind_names[KINDS] = {"plain loop",
                                              "replace",
                                              "merge, the same rows",
                                              "merge, 1 % changed",
                                              "merge, 10 % changed",
                                              "merge, 50 % changed",
                                              "merge, the same rows, table read"};

enum { MOST_COLUMNS = 20, ORDERED = 0, SHUFFLED = 1 };

/* Columns by letter: i the row's number, t a short text, k a text that names the row, n a number
 * that changes, l a long text, r a real. */
struct shape {
    const char *name;
    const char *ddl;
    const char *columns;
    int order;
};

static const struct shape shapes[] = {
    {"small", "CREATE TABLE t(id INTEGER PRIMARY KEY, title TEXT, ts INTEGER)", "itn", ORDERED},
    {"small, without rowid",
     "CREATE TABLE t(id INTEGER PRIMARY KEY, title TEXT, ts INTEGER) WITHOUT ROWID", "itn",
     ORDERED},
    {"small, shuffled", "CREATE TABLE t(id INTEGER PRIMARY KEY, title TEXT, ts INTEGER)", "itn",
     SHUFFLED},
    {"text key", "CREATE TABLE t(path TEXT PRIMARY KEY, title TEXT, ts INTEGER)", "ktn", ORDERED},
    {"text key, without rowid",
     "CREATE TABLE t(path TEXT PRIMARY KEY, title TEXT, ts INTEGER) WITHOUT ROWID", "ktn", ORDERED},
    {"3 indexes",
     "CREATE TABLE t(id INTEGER PRIMARY KEY, title TEXT, ts INTEGER, path TEXT);"
     "CREATE INDEX t_title ON t(title); CREATE INDEX t_ts ON t(ts);"
     "CREATE INDEX t_path ON t(path, ts)",
     "itnk", ORDERED},
    {"20 columns",
     "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c TEXT, d REAL, e TEXT, f INTEGER,"
     " g TEXT, h INTEGER, i TEXT, j REAL, k TEXT, l INTEGER, m TEXT, n INTEGER, o TEXT, p INTEGER,"
     " q TEXT, r REAL, s INTEGER)",
     "itntrtntntrtntntntrn", ORDERED},
    {"1 kB texts", "CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT, ts INTEGER)", "iln", ORDERED},
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "pitot-passes: %s: %s\n", what, why);
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        die("memory", "there is none left");
    }
    return memory;
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        die(sql, sqlite3_errmsg(db));
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) {
        die(sql, sqlite3_errmsg(db));
    }
    return statement;
}

static void step(sqlite3 *db, sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE) {
        die(sqlite3_sql(statement), sqlite3_errmsg(db));
    }
    sqlite3_reset(statement);
}

static uint64_t random_state = 88172645463325252;

static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- rows ------------------------------------------------------------------------ */

struct rows {
    size_t count;
    size_t columns;
    struct pitot_value *value;
    char *text; /* of all rows */
};

enum { TEXT_ROOM = 40, LONG_TEXT = 1000 };

/* A text or number that the ROUND changes. */
static void make_value(struct pitot_value *value, char letter, size_t row, uint64_t round,
                       char *text)
{
    uint64_t number = row * UINT64_C(2654435761) % 1000000 + round * 7;
    switch (letter) {
    case 'i':
        *value = pitot_integer((int64_t)row * 3 + 1);
        break;
    case 'n':
        *value = pitot_integer((int64_t)(1700000000 + number));
        break;
    case 'r':
        *value = pitot_real((double)number / 8 + 0.1);
        break;
    case 'k':
        *value = pitot_text(text, (size_t)sprintf(text, "/usr/share/doc/package-%06zu", row));
        break;
    case 'l':
        memset(text, 'a' + (int)(number % 26), LONG_TEXT);
        *value = pitot_text(text, LONG_TEXT);
        break;
    default:
        *value = pitot_text(text,
                            (size_t)sprintf(text, "item %llu of many", (unsigned long long)number));
        break;
    }
}

/* Room for the texts of a row. */
static size_t text_room(const struct shape *shape)
{
    size_t size = 0;
    for (const char *c = shape->columns; *c != '\0'; c++) {
        size += *c == 'l' ? LONG_TEXT : *c == 't' || *c == 'k' ? TEXT_ROOM : 0;
    }
    return size;
}

static void make_row(struct rows *rows, const struct shape *shape, size_t place, size_t row,
                     uint64_t round)
{
    char *text = rows->text + place * text_room(shape);
    for (size_t c = 0; c < rows->columns; c++) {
        struct pitot_value *value = &rows->value[place * rows->columns + c];
        make_value(value, shape->columns[c], row, round, text);
        text += value->type == PITOT_TEXT ? value->size : 0;
    }
}

static void make_rows(struct rows *rows, const struct shape *shape, size_t count)
{
    rows->count = count;
    rows->columns = strlen(shape->columns);
    rows->value = room(count * rows->columns, sizeof *rows->value);
    rows->text = room(count + 1, text_room(shape));
    size_t *order = room(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t i = count; i > 1 && shape->order == SHUFFLED; i--) {
        size_t other = draw() % i;
        size_t swap = order[i - 1];
        order[i - 1] = order[other];
        order[other] = swap;
    }
    for (size_t i = 0; i < count; i++) {
        make_row(rows, shape, i, order[i], 0);
    }
    free(order);
}

/* Gives some rows new content: a part of them, drawn at random. Their keys stay. */
static void change_rows(struct rows *rows, const struct shape *shape, double part, uint64_t round)
{
    size_t wanted = (size_t)((double)rows->count * part);
    for (size_t place = 0; place < rows->count; place++) {
        if (draw() % (rows->count - place) >= wanted) {
            continue;
        }
        wanted--;
        const struct pitot_value *key = &rows->value[place * rows->columns];
        size_t row = key->type == PITOT_INTEGER
                         ? (size_t)(key->as.integer - 1) / 3
                         : strtoull((const char *)key->as.bytes + strlen("/usr/share/doc/package-"),
                                    NULL, 10);
        make_row(rows, shape, place, row, round);
    }
}

/* ---- one database ---------------------------------------------------------------- */

struct work {
    enum kind kind;
    const struct shape *shape;
    char path[512];
    struct wal_vfs *wal; /* NULL: the loop's */
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *sync, *delete, *insert;
    struct table *table;
    struct stage *stage;
    struct apply *apply;
    struct rows rows;
};

struct cost {
    double lock;
    double whole;
    double cpu;
    double staging; /* the calls alone */
};

static void open_work(struct work *work, const struct shape *shape, enum kind kind,
                      const char *folder, size_t rows)
{
    struct pitot_error error = {.code = 0};
    work->kind = kind;
    work->shape = shape;
    snprintf(work->path, sizeof work->path, "%s/%d.db", folder, (int)kind);
    if (kind != KIND_PLAIN && wal_vfs_new(&work->wal, NULL, &error) != 0) {
        die(work->path, error.message);
    }
    if (sqlite3_open_v2(work->path, &work->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                            SQLITE_OPEN_URI,
                        work->wal != NULL ? wal_vfs_name(work->wal) : NULL) != SQLITE_OK) {
        die(work->path, sqlite3_errmsg(work->db));
    }
    if (work->wal != NULL) {
        wal_vfs_watch(work->wal, work->db);
    }
    run(work->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                  "PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON;"
                  "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY");
    run(work->db, shape->ddl);
    run(work->db, "CREATE TABLE sync(source TEXT PRIMARY KEY, pass INTEGER, finished INTEGER);"
                  "INSERT INTO sync VALUES ('a', 0, 0)");
    work->begin = prepare(work->db, "BEGIN IMMEDIATE");
    work->commit = prepare(work->db, "COMMIT");
    work->sync = prepare(work->db, "UPDATE sync SET pass = pass + 1 WHERE source = 'a'");
    make_rows(&work->rows, shape, rows);
    if (kind == KIND_PLAIN) {
        work->delete = prepare(work->db, "DELETE FROM t");
        char sql[200] = "INSERT INTO t VALUES ("; /* zeros behind it */
        size_t used = strlen(sql);
        for (size_t i = 0; i < work->rows.columns; i++) {
            memcpy(sql + used, "?,", 2);
            used += 2;
        }
        sql[used - 1] = ')';
        work->insert = prepare(work->db, sql);
        return;
    }
    enum pitot_mode mode = kind == KIND_REPLACE ? PITOT_REPLACE : PITOT_MERGE;
    if (table_read(&work->table, work->db, "t", NULL, mode, &error) != 0 ||
        stage_new(&work->stage, work->table, NULL, &error) != 0 ||
        apply_new(&work->apply, work->db, work->table, NULL, true, &error) != 0) {
        die(shape->name, error.message);
    }
}

static void close_work(struct work *work)
{
    sqlite3_finalize(work->begin);
    sqlite3_finalize(work->commit);
    sqlite3_finalize(work->sync);
    sqlite3_finalize(work->delete);
    sqlite3_finalize(work->insert);
    apply_free(work->apply);
    stage_free(work->stage);
    table_free(work->table);
    sqlite3_close(work->db);
    wal_vfs_free(work->wal);
    free(work->rows.value);
    free(work->rows.text);
    unlink(work->path);
}

static void plain_rows(struct work *work)
{
    const struct pitot_value *value = work->rows.value;
    const char *columns = work->shape->columns;
    sqlite3_stmt *insert = work->insert;
    step(work->db, work->delete);
    for (size_t i = 0; i < work->rows.count; i++) {
        for (size_t c = 0; c < work->rows.columns; c++, value++) {
            int parameter = (int)c + 1;
            if (columns[c] == 'i' || columns[c] == 'n') {
                sqlite3_bind_int64(insert, parameter, value->as.integer);
            } else if (columns[c] == 'r') {
                sqlite3_bind_double(insert, parameter, value->as.real);
            } else {
                sqlite3_bind_text(insert, parameter, value->as.bytes, (int)value->size,
                                  SQLITE_STATIC);
            }
        }
        step(work->db, insert);
    }
}

static void run_work(struct work *work, struct cost *cost)
{
    struct pitot_error error = {.code = 0};
    struct pitot_counts counts = {0};
    const struct rows *rows = &work->rows;
    uint64_t cpu = clock_thread_cpu_ns();
    uint64_t started = clock_now_ns();
    int code = 0;
    for (size_t i = 0; work->stage != NULL && i < rows->count && code == 0; i++) {
        code = stage_add(work->stage, rows->value + i * rows->columns, rows->columns, &error);
    }
    uint64_t staged = clock_now_ns();
    if (work->stage != NULL && code == 0) {
        code = apply_prepare(work->apply, work->stage, &error);
    }
    uint64_t locked = clock_now_ns();
    step(work->db, work->begin);
    if (work->kind == KIND_PLAIN) {
        plain_rows(work);
    } else if (work->kind == KIND_REPLACE) {
        code = code != 0 ? code : apply_replace(work->apply, work->stage, &counts, &error);
    } else {
        code = code != 0 ? code
                         : apply_merge(work->apply, work->stage, work->kind != KIND_READ, &counts,
                                       &error);
    }
    if (code != 0) {
        die(work->shape->name, error.message);
    }
    step(work->db, work->sync);
    step(work->db, work->commit);
    uint64_t free_again = clock_now_ns();
    if (work->stage != NULL) {
        apply_end(work->apply, true);
        stage_clear(work->stage);
    }
    uint64_t ended = clock_now_ns();
    cost->cpu = (double)(clock_thread_cpu_ns() - cpu);
    cost->staging = (double)(staged - started);
    cost->lock = (double)(free_again - locked);
    cost->whole = (double)(ended - started);
}

/* ---- rounds ---------------------------------------------------------------------- */

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one;
    double b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void show(const struct cost *costs, size_t rounds, size_t rows, enum kind kind)
{
    double *lock = room(rounds, sizeof *lock);
    double *whole = room(rounds, sizeof *whole);
    double *cpu = room(rounds, sizeof *cpu);
    double *staging = room(rounds, sizeof *staging);
    double *time = room(rounds, sizeof *time);
    for (size_t r = 0; r < rounds; r++) {
        const struct cost *plain = &costs[r * KINDS + KIND_PLAIN];
        const struct cost *cost = &costs[r * KINDS + kind];
        lock[r] = cost->lock / plain->lock;
        whole[r] = cost->whole / plain->whole;
        cpu[r] = cost->cpu / plain->cpu;
        staging[r] = cost->staging / (double)rows;
        time[r] = cost->whole / 1e6;
    }
    double whole_ms = median(time, rounds);
    printf("  %-34s lock %6.3f  whole %6.3f  cpu %6.3f  add %5.1f ns/row  whole %8.3f ms\n",
           kind_names[kind], median(lock, rounds), median(whole, rounds), median(cpu, rounds),
           median(staging, rounds), whole_ms);
    free(lock);
    free(whole);
    free(cpu);
    free(staging);
    free(time);
}

static void measure(const struct shape *shape, size_t rows, size_t rounds, const char *folder)
{
    static const double parts[KINDS] = {1, 1, 0, 0.01, 0.1, 0.5, 0};
    enum { WARM = 3 };
    struct work *works = room(KINDS, sizeof *works);
    struct cost *costs = room(rounds * KINDS, sizeof *costs);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        open_work(&works[kind], shape, kind, folder, rows);
    }
    for (size_t r = 0; r < rounds + WARM; r++) {
        enum kind order[KINDS];
        for (size_t i = 0; i < KINDS; i++) {
            size_t other = draw() % (i + 1);
            order[i] = order[other];
            order[other] = (enum kind)i;
        }
        for (size_t i = 0; i < KINDS; i++) {
            struct work *work = &works[order[i]];
            struct cost cost;
            change_rows(&work->rows, shape, parts[order[i]], r + 1);
            run_work(work, &cost);
            /* The first commit after a checkpoint syncs the WAL's header: it is not measured. */
            run(work->db, "PRAGMA wal_checkpoint(PASSIVE);"
                          "UPDATE sync SET finished = finished + 1 WHERE source = 'a'");
            if (r >= WARM) {
                costs[(r - WARM) * KINDS + order[i]] = cost;
            }
        }
    }
    printf("%s\n", shape->name);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        show(costs, rounds, rows, kind);
        close_work(&works[kind]);
    }
    fflush(stdout);
    free(works);
    free(costs);
}

int main(int argc, char **argv)
{
    size_t rows = 10000;
    size_t rounds = 60;
    const char *parent = "/var/tmp";
    const char *only = NULL;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) {
            die(argv[i], "needs a value");
        } else if (strcmp(argv[i], "--rows") == 0) {
            rows = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--rounds") == 0) {
            rounds = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--dir") == 0) {
            parent = argv[i + 1];
        } else if (strcmp(argv[i], "--only") == 0) {
            only = argv[i + 1];
        } else {
            die(argv[i], "known are --rows, --rounds, --dir, --only");
        }
    }
    if (rows < 100 || rounds < 1) {
        die("--rows, --rounds", "at least 100 rows and one round");
    }
    char folder[256];
    snprintf(folder, sizeof folder, "%s/pitot-passes.XXXXXX", parent);
    if (mkdtemp(folder) == NULL) {
        die(folder, "cannot be made");
    }
    printf("SQLite %s, %zu rows, medians over %zu rounds of ratios to the plain loop\n",
           sqlite3_libversion(), rows, rounds);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (only == NULL || strcmp(only, shapes[i].name) == 0) {
            measure(&shapes[i], rows, rounds, folder);
        }
    }
    rmdir(folder);
    return 0;
}
