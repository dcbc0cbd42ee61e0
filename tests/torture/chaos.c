/*
 * Calls of every kind, at random, from several threads, on several stores at once.
 *
 *     library-chaos [--calls N] [--threads N] [--seed N] [--dir FOLDER]
 *
 * Stores are opened with this or another version, closed with a short timeout and freed; sources
 * added, stopped and asked; results waited for; events taken; snapshots looked into; somebody else
 * writes. What the header says a call may give it may give, and nothing else. In each snapshot the
 * rows of a table are those of one pass, the one that its sync row names. At the end every database
 * is whole. What a sanitizer finds is what this is for.
 *
 * Status: 0; 1 when something was wrong; 2 for a mistake in the words.
 */
#include "torture.h"

#include <inttypes.h>
#include <pitot.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "library-chaos"

enum { STORES = 3, SOURCES = 4, THREADS_MAX = 32, ROWS_MAX = 150, VERSIONS = 3 };

static const char ddl[] =
    "CREATE TABLE replaced(id INTEGER PRIMARY KEY, title TEXT, pass INTEGER);"
    "CREATE TABLE merged(key TEXT PRIMARY KEY, title TEXT, pass INTEGER) WITHOUT ROWID;"
    "CREATE INDEX by_pass ON merged(pass);"
    "CREATE TABLE sliced(account TEXT, id INTEGER, title TEXT, PRIMARY KEY(account, id));";

static atomic_bool wrong;
static atomic_long calls;
static atomic_long results[32]; /* by code, negated */

static void say_wrong(const char *what, int result, const char *message)
{
    fprintf(stderr, PROGRAM ": %s: %d (%s) %s\n", what, result, pitot_error_name(result), message);
    wrong = true;
}

/* Each thread draws for itself. */
static _Thread_local uint64_t state;

static unsigned below(unsigned limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((state >> 33) % limit);
}

static void sleep_us(unsigned us)
{
    nanosleep(&(const struct timespec){.tv_nsec = (long)us * 1000}, NULL);
}

/* What calls on a store that is open may give here, besides 0 and 1. */
static int expect(const char *what, int result, const struct pitot_error *error)
{
    static const int possible[] = {PITOT_ERROR_TIMEOUT, PITOT_ERROR_CANCELLED, PITOT_ERROR_STUCK,
                                   PITOT_ERROR_SOURCE, PITOT_ERROR_BUSY};
    bool known = result == 0 || result == 1;
    for (size_t i = 0; i < sizeof possible / sizeof possible[0]; i++) {
        known |= result == possible[i];
    }
    atomic_fetch_add(&calls, 1);
    if (!known) {
        say_wrong(what, result, error->message);
    } else if (result < 0) {
        atomic_fetch_add(&results[-result], 1);
    }
    return result;
}

/* --------------------------------------------------------------------------------- sources -- */

struct place {
    pthread_rwlock_t
        lock; /* calls on a store are made with it held; its end by who holds it alone */
    char path[1100];
    int version;
    struct pitot_store *store;
    struct pitot_source *sources[SOURCES];
};

static const struct kind {
    const char *name;
    const char *table;
    const char *slice; /* column */
} kinds[SOURCES] = {{"replaced", "replaced", NULL},
                    {"merged", "merged", NULL},
                    {"a", "sliced", "account"},
                    {"b", "sliced", "account"}};

/* As many rows as it likes, now and then slowly; one in twenty passes fails. */
static int stage(struct pitot_pass *pass, void *context)
{
    const struct kind *kind = context;
    const uint64_t number = pitot_pass_number(pass);
    state ^= number * 77 + (uintptr_t)kind;
    const int rows = (int)below(ROWS_MAX);
    const bool fails = below(20) == 0;
    for (int i = 0; i < rows && !pitot_pass_cancelled(pass); i++) {
        char text[40];
        char key[20];
        int length = snprintf(text, sizeof text, "title %d of %" PRIu64, i, number % 5);
        int key_length = snprintf(key, sizeof key, "key %d", i);
        struct pitot_value title = pitot_text(text, (size_t)length);
        struct pitot_value last = pitot_integer((int64_t)number);
        struct pitot_value row[3] = {pitot_integer(i), title, last};
        if (kind->slice != NULL) {
            row[0] = pitot_text(kind->name, strlen(kind->name));
            row[1] = pitot_integer(i);
            row[2] = title;
        } else if (strcmp(kind->table, "merged") == 0) {
            row[0] = pitot_text(key, (size_t)key_length);
        }
        int result = pitot_pass_add(pass, 0, row, 3);
        if (result != 0) {
            return result;
        }
        if (below(4000) == 0) {
            sleep_us(2000);
        }
    }
    return fails ? pitot_pass_fail(pass, 3, "the source is away") : 0;
}

static void add_source(struct place *place)
{
    const unsigned which = below(SOURCES);
    const struct kind *kind = &kinds[which];
    struct pitot_error error = {0};
    const struct pitot_table table = {.name = kind->table,
                                      .mode = below(2) == 0 ? PITOT_MERGE : PITOT_REPLACE,
                                      .slice_column = kind->slice,
                                      .slice_value = pitot_text(kind->name, strlen(kind->name))};
    const struct pitot_source_options options = {.size = sizeof options,
                                                 .name = kind->name,
                                                 .function = stage,
                                                 .context = (void *)kind,
                                                 .tables = &table,
                                                 .table_count = 1,
                                                 .interval_ms = (int)below(3) * 7,
                                                 .deadline_ms =
                                                     below(3) == 0 ? 1 + (int)below(20) : 0,
                                                 .keep_no_memory = below(2)};
    if (place->sources[which] == NULL) {
        expect("adding a source",
               pitot_source_add(place->store, &options, &place->sources[which], &error), &error);
    }
}

static void stop_source(struct place *place)
{
    struct pitot_source **source = &place->sources[below(SOURCES)];
    struct pitot_error error = {0};
    if (*source != NULL &&
        expect("stopping", pitot_source_stop(*source, (int)below(200), &error), &error) == 0) {
        *source = NULL;
    }
}

static void ask(struct place *place)
{
    struct pitot_source *source = place->sources[below(SOURCES)];
    struct pitot_ticket ticket;
    struct pitot_error error = {0};
    if (source == NULL || expect("asking", pitot_resync(source, &ticket, &error), &error) != 0 ||
        below(2) == 0) {
        return;
    }
    expect("waiting", pitot_ticket_wait(place->store, ticket, (int)below(30), &error), &error);
}

/* ---------------------------------------------------------------------------------- stores -- */

static void open_store(struct place *place)
{
    const struct pitot_store_options options = {.size = sizeof options, .wal_limit = 1 << 16};
    struct pitot_error error = {0};
    if (below(4) == 0) {
        place->version = 1 + (int)below(VERSIONS);
    }
    memset(place->sources, 0, sizeof place->sources);
    atomic_fetch_add(&calls, 1);
    int result =
        pitot_store_open(place->path, place->version, ddl, &options, &place->store, &error);
    if (result != 0) {
        say_wrong("opening", result, error.message);
    } else if (pitot_store_outcome(place->store) == PITOT_REPLACED) {
        say_wrong("opening", PITOT_ERROR_CORRUPT, pitot_store_set_aside(place->store));
    }
}

static void close_store(struct place *place)
{
    struct pitot_error error = {0};
    expect("closing", pitot_store_close(place->store, (int)below(50), &error), &error);
    pitot_store_free(place->store);
    place->store = NULL;
}

static void write_as_others(struct place *place)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(place->path, &db) == SQLITE_OK) {
        sqlite3_busy_timeout(db, 60000);
        sqlite3_exec(db, "UPDATE merged SET title = 'theirs' WHERE key = 'key 3'", NULL, NULL,
                     NULL);
    }
    sqlite3_close(db);
}

/* ----------------------------------------------------------------------------------- looking -- */

/* What a thread keeps of a store, also beyond its end. */
struct visitor {
    struct pitot_reader *reader;
    struct pitot_subscription *events;
};

static void check_snapshot(struct pitot_reader *reader)
{
    struct pitot_sync sync = {.size = sizeof sync};
    struct pitot_error error = {0};
    char sql[200];
    if (expect("a sync row", pitot_reader_sync(reader, "replaced", &sync, &error), &error) == 1 &&
        sync.error_code == 0) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM replaced WHERE pass <> %" PRIu64,
                 sync.pass);
        if (ask_number(pitot_reader_sqlite(reader), sql) != 0) {
            say_wrong("rows of several passes", 0, sql);
        }
    }
}

static void look(struct place *place, struct visitor *visitor)
{
    struct pitot_error error = {0};
    if (visitor->reader == NULL || below(10) == 0) {
        pitot_reader_free(visitor->reader);
        visitor->reader = NULL;
        expect("opening a reader",
               pitot_reader_open(place->store, "chaos", &visitor->reader, &error), &error);
    }
    if (visitor->reader == NULL ||
        expect("a snapshot", pitot_snapshot_begin(visitor->reader, &error), &error) != 0) {
        return;
    }
    check_snapshot(visitor->reader);
    if (below(4) == 0) {
        sleep_us(below(3000));
    }
    expect("a snapshot's end", pitot_snapshot_end(visitor->reader, &error), &error);
}

static void take_events(struct place *place, struct visitor *visitor)
{
    struct pitot_event event = {.size = sizeof event};
    struct pitot_error error = {0};
    if (visitor->events == NULL || below(20) == 0) {
        pitot_subscription_free(visitor->events);
        visitor->events = NULL;
        expect("subscribing", pitot_subscribe(place->store, &visitor->events, &error), &error);
    }
    while (visitor->events != NULL && pitot_event_next(visitor->events, &event) == 1) {
    }
}

/* --------------------------------------------------------------------------------- everything --
 */

static struct place places[STORES];

/* A call that needs the store for itself, or one among others. */
static void call_alone(struct place *place, unsigned what)
{
    pthread_rwlock_wrlock(&place->lock);
    if (place->store == NULL) {
        open_store(place);
    } else if (what < 3) {
        close_store(place);
    } else if (what < 9) {
        add_source(place);
    } else {
        stop_source(place);
    }
    pthread_rwlock_unlock(&place->lock);
}

static void call_beside_others(struct place *place, unsigned what, struct visitor *visitor)
{
    struct pitot_stats stats = {.size = sizeof stats};
    struct pitot_error error = {0};
    pthread_rwlock_rdlock(&place->lock);
    if (place->store == NULL) {
        what = 100;
    }
    if (what < 45) {
        ask(place);
    } else if (what < 70) {
        look(place, visitor);
    } else if (what < 85) {
        take_events(place, visitor);
    } else if (what < 90) {
        expect("statistics", pitot_stats(place->store, &stats, &error), &error);
    } else if (what < 93) {
        write_as_others(place);
    }
    pthread_rwlock_unlock(&place->lock);
}

struct caller {
    uint64_t seed;
    long calls;
};

static void *call(void *argument)
{
    const struct caller *caller = argument;
    struct visitor visitors[STORES] = {{NULL, NULL}};
    state = caller->seed;
    for (long i = 0; i < caller->calls && !wrong; i++) {
        unsigned which = below(STORES);
        unsigned what = below(100);
        if (what < 12) {
            call_alone(&places[which], what);
        } else {
            call_beside_others(&places[which], what, &visitors[which]);
        }
    }
    for (int i = 0; i < STORES; i++) {
        pitot_reader_free(visitors[i].reader);
        pitot_subscription_free(visitors[i].events);
    }
    return NULL;
}

static void check_whole(const struct place *place)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(place->path, &db) != SQLITE_OK ||
        ask_number(db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check") != 1) {
        say_wrong("integrity", PITOT_ERROR_CORRUPT, place->path);
    }
    sqlite3_close(db);
}

static void run(const char *folder, struct caller caller, long threads)
{
    pthread_t thread[THREADS_MAX];
    struct caller callers[THREADS_MAX];
    state = caller.seed;
    for (int i = 0; i < STORES; i++) {
        pthread_rwlock_init(&places[i].lock, NULL);
        snprintf(places[i].path, sizeof places[i].path, "%s/%d.db", folder, i);
        places[i].version = 1;
        open_store(&places[i]);
    }
    for (long i = 0; i < threads; i++) {
        callers[i] = (struct caller){.seed = caller.seed + (uint64_t)i + 1, .calls = caller.calls};
        if (pthread_create(&thread[i], NULL, call, &callers[i]) != 0) {
            say_wrong("starting a thread", PITOT_ERROR_MEMORY, "");
            threads = i;
        }
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    for (int i = 0; i < STORES; i++) {
        if (places[i].store != NULL) {
            pitot_store_close(places[i].store, PITOT_FOREVER, NULL);
            pitot_store_free(places[i].store);
        }
        check_whole(&places[i]);
        pthread_rwlock_destroy(&places[i].lock);
    }
}

int main(int argc, char **argv)
{
    struct caller caller = {.seed = (uint64_t)time(NULL), .calls = 20000};
    long threads = 6;
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char folder[1000];
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--calls") == 0) {
            caller.calls = number_of(PROGRAM, argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--threads") == 0) {
            threads = number_of(PROGRAM, argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            caller.seed = (uint64_t)number_of(PROGRAM, argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--dir") == 0) {
            base = argv[i + 1];
        } else {
            threads = 0;
            break;
        }
    }
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr,
                "usage: " PROGRAM " [--calls N] [--threads 1…%d] [--seed N] [--dir FOLDER]\n",
                THREADS_MAX);
        return 2;
    }
    if (!make_folder(PROGRAM, base, folder, sizeof folder)) {
        return 1;
    }
    printf("libpitot, SQLite %s, seed %" PRIu64 "\n", sqlite3_libversion(), caller.seed);
    fflush(stdout);
    run(folder, caller, threads);
    remove_folder(folder);
    printf("%ld calls", (long)calls);
    for (int i = 0; i < 32; i++) {
        if (results[i] != 0) {
            printf(", %s %ld", pitot_error_name(-i), (long)results[i]);
        }
    }
    printf("\n");
    return wrong ? 1 : 0;
}
