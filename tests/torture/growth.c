/*
 * Runs very many small passes over one store and looks whether anything grows with their number.
 *
 *     library-growth [--passes N] [--dir FOLDER]      a million passes, in memory
 *
 * Sources of every kind run back to back, each pass asking for the next: whole tables and slices,
 * replaced and merged, rows that change, come and go, passes that fail for each of their reasons.
 * Meanwhile one queue of events is read and one never, snapshots are taken, readers and queues come
 * and go, results are waited for, and somebody else writes. After a tenth of the passes, and after
 * all of them, everything stands still and is measured. What is larger then has grown.
 *
 * Status: 0; 1 when something has grown or went wrong; 2 for a mistake in the words.
 */
#include "torture.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <pitot.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "library-growth"

enum { ROWS = 24, WAL_LIMIT = 1 << 20 };

static const char ddl[] =
    "CREATE TABLE replaced(id INTEGER PRIMARY KEY, title TEXT, n INTEGER);"
    "CREATE INDEX by_title ON replaced(title);"
    "CREATE TABLE merged(key TEXT PRIMARY KEY, title TEXT, n INTEGER) WITHOUT ROWID;"
    "CREATE TABLE sliced(account TEXT, id INTEGER, title TEXT, PRIMARY KEY(account, id));"
    "CREATE TABLE failing(id INTEGER PRIMARY KEY, title TEXT NOT NULL, n INTEGER CHECK (n < 5));";

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
    return false;
}

/* -------------------------------------------------------------------------------- the sources --
 */

/* Passes ask for the next while this is set. */
static atomic_bool going;

struct worker {
    const char *name;
    struct pitot_table table; /* name NULL: none */
    pitot_function *function;
    struct pitot_source *source;
};

static void go_on(const struct worker *worker)
{
    if (atomic_load(&going)) {
        pitot_resync(worker->source, NULL, NULL);
    }
}

/* Text as long as `salt` says, so that rows do not only change in place. */
static struct pitot_value title(char text[64], int id, uint64_t salt)
{
    int length = snprintf(text, 64, "title %d of %" PRIu64 " %.*s", id, salt, (int)(salt % 5) * 5,
                          "xxxxxxxxxxxxxxxxxxxxxxxxx");
    return pitot_text(text, (size_t)length);
}

static int replace(struct pitot_pass *pass, void *context)
{
    const uint64_t number = pitot_pass_number(pass);
    char text[64];
    int result = 0;
    for (int i = 0; i < ROWS && result == 0; i++) {
        result = pitot_pass_add(pass, 0,
                                (const struct pitot_value[]){
                                    pitot_integer(i * 7 + (int)(number % 7)),
                                    title(text, i, number % 11), pitot_integer((int64_t)number)},
                                3);
    }
    go_on(context);
    return result;
}

/* A third is always the same, a third changes, a third comes and goes. Now and then all change. */
static int merge(struct pitot_pass *pass, void *context)
{
    const uint64_t number = pitot_pass_number(pass);
    char key[32];
    char text[64];
    int result = 0;
    for (int i = 0; i < ROWS && result == 0; i++) {
        uint64_t salt = i % 3 == 0 && number % 64 != 0 ? 0 : number;
        if (i % 3 == 2 && ((unsigned)i + number) % 4 < 2) {
            continue;
        }
        int length = snprintf(key, sizeof key, "key %d", i);
        result = pitot_pass_add(pass, 0,
                                (const struct pitot_value[]){pitot_text(key, (size_t)length),
                                                             title(text, i, salt % 11),
                                                             pitot_integer((int64_t)salt)},
                                3);
    }
    go_on(context);
    return result;
}

/* The slice's value is the source's name. */
static int fill_slice(struct pitot_pass *pass, void *context)
{
    const struct worker *worker = context;
    const uint64_t number = pitot_pass_number(pass);
    char text[64];
    int result = 0;
    for (int i = 0; i < (int)(number % ROWS) && result == 0; i++) {
        result = pitot_pass_add(
            pass, 0,
            (const struct pitot_value[]){pitot_text(worker->name, strlen(worker->name)),
                                         pitot_integer(i), title(text, i, number % 3)},
            3);
    }
    go_on(worker);
    return result;
}

/* Every second pass fails: by a row of a wrong type, a key twice, a constraint, words of its own,
 * a number. */
static int fail_often(struct pitot_pass *pass, void *context)
{
    const uint64_t number = pitot_pass_number(pass);
    const uint64_t kind = number % 10;
    char text[64];
    int result = 0;
    for (int i = 0; i < ROWS; i++) {
        struct pitot_value row[] = {pitot_integer(kind == 3 ? i / 2 : i),
                                    title(text, i, number % 3),
                                    pitot_integer(kind == 5 ? 5 + i : 1)};
        if (kind == 1 && i == 9) {
            row[1] = pitot_null();
        }
        pitot_pass_add(pass, 0, row, 3);
    }
    if (kind == 7) {
        result = pitot_pass_fail(pass, 503, "the server is down");
    } else if (kind == 9) {
        result = 42;
    }
    go_on(context);
    return result;
}

static int check_only(struct pitot_pass *pass, void *context)
{
    (void)pass;
    go_on(context);
    return 0;
}

static struct worker workers[] = {
    {"replace", {.name = "replaced", .mode = PITOT_REPLACE}, replace, NULL},
    {"merge", {.name = "merged", .mode = PITOT_MERGE}, merge, NULL},
    {"a", {.name = "sliced", .mode = PITOT_REPLACE, .slice_column = "account"}, fill_slice, NULL},
    {"b", {.name = "sliced", .mode = PITOT_MERGE, .slice_column = "account"}, fill_slice, NULL},
    {"fail", {.name = "failing", .mode = PITOT_REPLACE}, fail_often, NULL},
    {"check", {.name = NULL}, check_only, NULL},
};
enum { WORKERS = sizeof workers / sizeof workers[0] };

static bool add_sources(struct pitot_store *store)
{
    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = &workers[i];
        struct pitot_error error = {0};
        const struct pitot_source_options options = {.size = sizeof options,
                                                     .name = worker->name,
                                                     .function = worker->function,
                                                     .context = worker,
                                                     .tables = &worker->table,
                                                     .table_count = worker->table.name != NULL};
        worker->table.slice_value = pitot_text(worker->name, strlen(worker->name));
        if (pitot_source_add(store, &options, &worker->source, &error) != 0) {
            return fail("adding a source", error.message);
        }
    }
    return true;
}

/* --------------------------------------------------------------------------- what is measured --
 */

enum what { HEAP, SQLITE, RESIDENT, DESCRIPTORS, THREADS, DATABASE, WAL, WHATS };

/* May become larger by this between the two measurements, however many passes lie between. */
static const struct {
    const char *name;
    int64_t slack;
} whats[WHATS] = {
    [HEAP] = {"memory allocated", 128 << 10},
    [SQLITE] = {"of it by SQLite", 64 << 10},
    [RESIDENT] = {"resident memory", 4 << 20}, /* pages that the allocator has not given back */
    [DESCRIPTORS] = {"descriptors", 0},
    [THREADS] = {"threads", 0},
    [DATABASE] = {"database", 64 << 10},
    [WAL] = {"WAL", WAL_LIMIT}, /* it breathes up to its limit */
};

static int64_t entries(const char *folder)
{
    DIR *open = opendir(folder);
    int64_t count = 0;
    while (open != NULL && readdir(open) != NULL) {
        count++;
    }
    closedir(open);
    return count;
}

static int64_t resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) {
        pages = -1;
    }
    if (file != NULL) {
        fclose(file);
    }
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int64_t size_of(const char *path, const char *suffix)
{
    char name[1100];
    struct stat status;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &status) == 0 ? (int64_t)status.st_size : 0;
}

static void measure(const char *path, int64_t found[WHATS])
{
    const struct mallinfo2 info = mallinfo2();
    found[HEAP] = (int64_t)(info.uordblks + info.hblkhd);
    found[SQLITE] = sqlite3_memory_used();
    found[RESIDENT] = resident_bytes();
    found[DESCRIPTORS] = entries("/proc/self/fd");
    found[THREADS] = entries("/proc/self/task");
    found[DATABASE] = size_of(path, "");
    found[WAL] = size_of(path, "-wal");
}

/* --------------------------------------------------------------------------------- everything --
 */

struct world {
    char path[1024];
    struct pitot_store *store;
    struct pitot_reader *reader;
    struct pitot_subscription *events; /* that are read */
    struct pitot_subscription *unread;
    sqlite3 *others; /* somebody else's connection */
};

static bool open_world(struct world *world, const char *folder)
{
    const struct pitot_store_options options = {.size = sizeof options, .wal_limit = WAL_LIMIT};
    struct pitot_error error = {0};
    snprintf(world->path, sizeof world->path, "%s/store.db", folder);
    if (pitot_store_open(world->path, 1, ddl, &options, &world->store, &error) != 0 ||
        pitot_subscribe(world->store, &world->events, &error) != 0 ||
        pitot_subscribe(world->store, &world->unread, &error) != 0 ||
        pitot_reader_open(world->store, "screen", &world->reader, &error) != 0) {
        return fail("opening", error.message);
    }
    if (sqlite3_open(world->path, &world->others) != SQLITE_OK ||
        sqlite3_busy_timeout(world->others, 60000) != SQLITE_OK) {
        return fail("opening", sqlite3_errmsg(world->others));
    }
    return add_sources(world->store);
}

static bool close_world(struct world *world)
{
    struct pitot_error error = {0};
    sqlite3_close(world->others);
    pitot_reader_free(world->reader);
    pitot_subscription_free(world->events);
    pitot_subscription_free(world->unread);
    bool closed = world->store == NULL ||
                  pitot_store_close(world->store, PITOT_FOREVER, &error) == 0 ||
                  fail("closing", error.message);
    pitot_store_free(world->store);
    return closed;
}

static uint64_t passes(struct world *world, uint64_t *failed)
{
    struct pitot_stats stats = {.size = sizeof stats};
    pitot_stats(world->store, &stats, NULL);
    *failed = stats.passes_failed;
    return stats.passes;
}

/* What comes and goes while passes run. */
static bool visit(struct world *world, unsigned round)
{
    struct pitot_error error = {0};
    struct pitot_sync sync = {.size = sizeof sync};
    struct pitot_reader *reader = NULL;
    struct pitot_subscription *events = NULL;
    if (pitot_snapshot_begin(world->reader, &error) != 0 ||
        pitot_reader_sync(world->reader, workers[round % WORKERS].name, &sync, &error) < 0) {
        return fail("a snapshot", error.message);
    }
    ask_number(pitot_reader_sqlite(world->reader), "SELECT count(*) FROM merged WHERE n > 3");
    if (pitot_snapshot_end(world->reader, &error) != 0) {
        return fail("a snapshot", error.message);
    }
    if (round % 16 == 0 && (pitot_reader_open(world->store, "guest", &reader, &error) != 0 ||
                            pitot_subscribe(world->store, &events, &error) != 0)) {
        return fail("a guest", error.message);
    }
    pitot_reader_free(reader);
    pitot_subscription_free(events);
    if (round % 32 == 0 &&
        sqlite3_exec(world->others, "UPDATE merged SET n = -1 WHERE key = 'key 0'", NULL, NULL,
                     NULL) != SQLITE_OK) {
        return fail("somebody else's write", sqlite3_errmsg(world->others));
    }
    return true;
}

/* Each pass asked for now sees that it is the last. */
static bool stand_still(struct world *world)
{
    struct pitot_error error = {0};
    atomic_store(&going, false);
    for (int i = 0; i < WORKERS; i++) {
        struct pitot_ticket ticket;
        if (pitot_resync(workers[i].source, &ticket, &error) != 0) {
            return fail("asking for a pass", error.message);
        }
        int result = pitot_ticket_wait(world->store, ticket, PITOT_FOREVER, &error);
        if (result != 0 && workers[i].function != fail_often) {
            return fail("a pass", error.message);
        }
    }
    return true;
}

/* Takes what events there are. Passes fail in the one source that is made to. */
static bool take_events(struct world *world)
{
    struct pitot_event event = {.size = sizeof event};
    while (pitot_event_next(world->events, &event) == 1) {
        if (event.failed > 0 && strcmp(event.source_name, "fail") != 0) {
            return fail(event.source_name, event.error_text);
        }
    }
    return true;
}

/* Until so many passes have ended, and all of them. */
static bool run_until(struct world *world, uint64_t wanted)
{
    struct pollfd ready = {.fd = pitot_subscription_descriptor(world->events), .events = POLLIN};
    uint64_t failed;
    atomic_store(&going, true);
    for (int i = 0; i < WORKERS; i++) {
        pitot_resync(workers[i].source, NULL, NULL);
    }
    for (unsigned round = 0; passes(world, &failed) < wanted; round++) {
        poll(&ready, 1, 1000);
        if (!take_events(world) || !visit(world, round)) {
            stand_still(world);
            return false;
        }
        nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return stand_still(world) && take_events(world);
}

static bool tell(const int64_t early[WHATS], const int64_t late[WHATS])
{
    bool grown = false;
    for (int i = 0; i < WHATS; i++) {
        bool grew = late[i] > early[i] + whats[i].slack;
        printf("%-16s %10" PRId64 " %10" PRId64 "%s\n", whats[i].name, early[i], late[i],
               grew ? "  has grown" : "");
        grown |= grew;
    }
    return !grown;
}

static bool run(const char *folder, uint64_t wanted)
{
    struct world world = {.store = NULL};
    int64_t early[WHATS];
    int64_t late[WHATS];
    uint64_t failed = 0;
    bool good = open_world(&world, folder) && run_until(&world, wanted / 10);
    if (good) {
        uint64_t first = passes(&world, &failed);
        measure(world.path, early);
        good = run_until(&world, wanted);
        if (good) {
            measure(world.path, late);
            printf("passes           %10" PRIu64 " %10" PRIu64 "\n", first,
                   passes(&world, &failed));
            good = tell(early, late);
            printf("failed, as told  %10s %10" PRIu64 "\n", "", failed);
        }
    }
    return close_world(&world) && good;
}

int main(int argc, char **argv)
{
    long wanted = 1000000;
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char folder[1000];
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--passes") == 0) {
            wanted = number_of(PROGRAM, argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--dir") == 0) {
            base = argv[i + 1];
        } else {
            fprintf(stderr, "usage: " PROGRAM " [--passes N] [--dir FOLDER]\n");
            return 2;
        }
    }
    if (!make_folder(PROGRAM, base, folder, sizeof folder)) {
        return 1;
    }
    printf("libpitot, SQLite %s: bytes and numbers after a tenth of the passes and at the end\n",
           sqlite3_libversion());
    fflush(stdout);
    bool good = run(folder, (uint64_t)wanted);
    remove_folder(folder);
    return good ? 0 : 1;
}
