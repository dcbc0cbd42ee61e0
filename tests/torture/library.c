/*
 * Kills a process that fills a store, with -9, at random moments of every phase, and looks at what
 * is left.
 *
 *     library-torture [--kills N] [--seed N] [--dir FOLDER]
 *
 * The writer is this program again. It tells its phase in a page of shared memory, where it can be
 * read after its death: that is the phase which is counted.
 *
 *     open        a new store is made, or one is opened whose WAL was left behind
 *     rebuild     a store is opened with another version
 *     replace     a damaged store is opened: it is set aside, and a new one made
 *     staging     a source's function stages rows
 *     commit      the rows are written
 *     checkpoint  the WAL is copied back
 *
 * After each kill the store is opened again: it must open, not as damaged, each table must hold the
 * rows of one pass and no others, and its sync row must name that pass; a damaged file must still
 * be there. N kills (100) are made in each phase. Prints counts by phase. Status: 0, or 1 if
 * anything was wrong.
 */
#include "torture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pitot.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum phase { NONE, OPEN, REBUILD, REPLACE, STAGING, COMMIT, CHECKPOINT, PHASES };
static const char *const phase_names[PHASES] = {"none",    "open",   "rebuild",   "replace",
                                                "staging", "commit", "checkpoint"};

enum { ROWS = 400, TABLES = 2 };

static const char ddl[] = "CREATE TABLE replaced(id INTEGER PRIMARY KEY, pass INTEGER, text TEXT);"
                          "CREATE TABLE merged(key TEXT PRIMARY KEY, pass INTEGER, n INTEGER);"
                          "CREATE INDEX by_pass ON merged(pass);";
static const char *const table_names[TABLES] = {"replaced", "merged"};

struct shared {
    _Atomic int phase;
    _Atomic int failed;       /* the writer could not do something */
    _Atomic unsigned damaged; /* number in the damaged file that must not be lost; 0: none */
};
static struct shared *shared;

static void say_failed(const char *what, const struct pitot_error *error)
{
    fprintf(stderr, "library-torture: %s: %d, %s\n", what, error->code, error->message);
    shared->failed = 1;
}

/* ---------------------------------------------- a VFS that tells commit and checkpoint apart -- */

/* In WAL mode only a checkpoint writes the database file itself. */
static sqlite3_vfs *real_vfs;
static sqlite3_vfs phase_vfs;
static sqlite3_io_methods phase_methods;
static const sqlite3_io_methods *real_methods;

static int phase_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    shared->phase = CHECKPOINT;
    return real_methods->xWrite(file, bytes, size, at);
}

static int phase_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                      int *out)
{
    (void)vfs;
    int rc = real_vfs->xOpen(real_vfs, name, file, flags, out);
    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 &&
        (flags & SQLITE_OPEN_READWRITE) != 0) {
        real_methods = file->pMethods;
        phase_methods = *real_methods;
        phase_methods.xWrite = phase_write;
        file->pMethods = &phase_methods;
    }
    return rc;
}

static void register_vfs(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    phase_vfs = *real_vfs;
    phase_vfs.zName = "phase";
    phase_vfs.xOpen = phase_open;
    phase_vfs.pNext = NULL;
    sqlite3_vfs_register(&phase_vfs, 0);
}

/* -------------------------------------------------------------------------------- the writer -- */

/* What pass `pass` makes of row `i` of the merged table: a third of the rows come and go, a third
 * change. */
static bool merged_row(uint64_t pass, int i, int64_t *n)
{
    *n = i % 3 == 0 ? (int64_t)pass : i;
    return i % 3 != 1 || (pass + (uint64_t)i) % 2 == 0;
}

static int stage(struct pitot_pass *pass, void *context)
{
    const int table = (int)(intptr_t)context;
    const uint64_t number = pitot_pass_number(pass);
    char text[200];
    shared->phase = STAGING;
    memset(text, 'x', sizeof text);
    for (int i = 0; i < ROWS; i++) {
        struct pitot_value values[3];
        int64_t n;
        int length = snprintf(text, 32, "key %d", i);
        if (table == 0) {
            values[0] = pitot_integer((int64_t)number * 7 + i);
            values[1] = pitot_integer((int64_t)number);
            values[2] = pitot_text(text, sizeof text);
        } else if (merged_row(number, i, &n)) {
            values[0] = pitot_text(text, (size_t)length);
            values[1] = pitot_integer(n);
            values[2] = pitot_integer(n);
        } else {
            continue;
        }
        int result = pitot_pass_add(pass, 0, values, 3);
        if (result != 0) {
            return result;
        }
    }
    shared->phase = COMMIT;
    return 0;
}

static void run_passes(const char *path, bool for_ever)
{
    struct pitot_error error = {0};
    struct pitot_store *store = NULL;
    struct pitot_source *sources[TABLES];
    const struct pitot_store_options options = {
        .size = sizeof options, .wal_limit = 1 << 16, .vfs = for_ever ? "phase" : NULL};
    if (pitot_store_open(path, 1, ddl, &options, &store, &error) != 0) {
        say_failed("opening", &error);
        return;
    }
    for (int i = 0; i < TABLES; i++) {
        const struct pitot_table table = {.name = table_names[i],
                                          .mode = i == 0 ? PITOT_REPLACE : PITOT_MERGE};
        const struct pitot_source_options source = {.size = sizeof source,
                                                    .name = table_names[i],
                                                    .function = stage,
                                                    .context = (void *)(intptr_t)i,
                                                    .tables = &table,
                                                    .table_count = 1};
        if (pitot_source_add(store, &source, &sources[i], &error) != 0) {
            say_failed("adding a source", &error);
            return;
        }
    }
    /* One pass at a time, so that the phase is that of the whole process. */
    for (int i = 0; for_ever || i < TABLES; i++) {
        struct pitot_ticket ticket;
        if (pitot_resync(sources[i % TABLES], &ticket, &error) != 0 ||
            pitot_ticket_wait(store, ticket, PITOT_FOREVER, &error) != 0) {
            say_failed("a pass", &error);
            return;
        }
    }
    if (pitot_store_close(store, PITOT_FOREVER, &error) != 0) {
        say_failed("closing", &error);
    }
    pitot_store_free(store);
}

static void open_for_ever(const char *path, bool rebuild, unsigned seed)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    struct pitot_error error = {0};
    for (unsigned round = seed;; round++) {
        struct pitot_store *store = NULL;
        if (!rebuild && round % 2 == 0) {
            for (int i = 0; i < 3; i++) {
                char name[4096];
                snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
                unlink(name);
            }
        }
        shared->phase = rebuild ? REBUILD : OPEN;
        int version = rebuild ? (int)(round % 2) + 2 : 1;
        if (pitot_store_open(path, version, ddl, NULL, &store, &error) != 0) {
            say_failed("opening", &error);
            return;
        }
        shared->phase = NONE;
        pitot_store_free(store);
    }
}

/* A file without a header, which the lock file beside it proves to be the store's. */
static bool damage(const char *path, unsigned number)
{
    unsigned noise[2048];
    memset(noise, 0xa5, sizeof noise);
    noise[0] = number;
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(noise, sizeof noise, 1, file) == 1;
    return file != NULL && fclose(file) == 0 && written;
}

static void replace_for_ever(const char *path)
{
    struct pitot_error error = {0};
    for (unsigned round = 1; damage(path, round); round++) {
        struct pitot_store *store = NULL;
        shared->damaged = round;
        shared->phase = REPLACE;
        if (pitot_store_open(path, 1, ddl, NULL, &store, &error) != 0 ||
            pitot_store_outcome(store) != PITOT_REPLACED) {
            say_failed("replacing", &error);
            return;
        }
        shared->phase = NONE;
        shared->damaged = 0;
        unlink(pitot_store_set_aside(store));
        pitot_store_free(store);
    }
}

static int write_until_killed(const char *path, enum phase wanted, unsigned seed)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (wanted == OPEN || wanted == REBUILD) {
        open_for_ever(path, wanted == REBUILD, seed);
    } else if (wanted == REPLACE) {
        replace_for_ever(path);
    } else {
        run_passes(path, true);
    }
    return 1; /* only a failure gets here */
}

/* ------------------------------------------------------------------------------- looking -- */

/* The rows of `merged` that pass `pass` leaves. */
static bool merged_is(sqlite3 *db, uint64_t pass)
{
    sqlite3_stmt *statement = NULL;
    int expected = 0;
    bool right = sqlite3_prepare_v2(db, "SELECT pass = ?2 AND n = ?2 FROM merged WHERE key = ?1",
                                    -1, &statement, NULL) == SQLITE_OK;
    for (int i = 0; i < ROWS && right; i++) {
        char key[32];
        int64_t n;
        if (!merged_row(pass, i, &n)) {
            continue;
        }
        expected++;
        snprintf(key, sizeof key, "key %d", i);
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, n);
        right = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return right && ask_number(db, "SELECT count(*) FROM merged") == expected;
}

/* Whether a table holds what its sync row says. */
static bool agrees(struct pitot_reader *reader, int table)
{
    struct pitot_sync sync = {.size = sizeof sync};
    struct pitot_error error = {0};
    sqlite3 *db = pitot_reader_sqlite(reader);
    int found = pitot_reader_sync(reader, table_names[table], &sync, &error);
    char sql[160];
    if (found < 0) {
        say_failed("reading a sync row", &error);
        return false;
    }
    if (found == 0) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table_names[table]);
        return ask_number(db, sql) == 0;
    }
    if (sync.error_code != 0) {
        fprintf(stderr, "library-torture: a pass has failed: %s\n", sync.error_text);
        return false;
    }
    if (table == 1) {
        return merged_is(db, sync.pass);
    }
    snprintf(sql, sizeof sql,
             "SELECT count(*) = %d AND min(pass) = %" PRIu64 " AND max(pass) = %" PRIu64
             " AND min(id) = %" PRIu64 " FROM replaced",
             ROWS, sync.pass, sync.pass, sync.pass * 7);
    return ask_number(db, sql) == 1;
}

/* The version that the store has, as SQLite alone sees it. */
static int version_of(const char *path)
{
    sqlite3 *db = NULL;
    int version = 1;
    struct stat status;
    if (stat(path, &status) == 0 && sqlite3_open(path, &db) == SQLITE_OK) {
        version = (int)ask_number(db, "SELECT version FROM pitot_schema");
    }
    sqlite3_close(db);
    return version;
}

/* Removes what was set aside; false: the damaged file is not among it. */
static bool take_set_aside(const char *path)
{
    bool found = shared->damaged == 0;
    for (int i = 0; i < 3; i++) { /* at most that of the killed writer, and that of the look */
        char name[4200];
        unsigned number = 0;
        snprintf(name, sizeof name, i == 0 ? "%s.corrupt" : "%s.corrupt.%d", path, i);
        FILE *file = fopen(name, "rb");
        if (file != NULL) {
            found |= fread(&number, sizeof number, 1, file) == 1 && number == shared->damaged;
            fclose(file);
            unlink(name);
        }
    }
    if (!found) {
        fprintf(stderr, "library-torture: the damaged file is gone\n");
    }
    shared->damaged = 0;
    return found;
}

static bool look(const char *path, enum phase wanted, enum phase phase)
{
    struct pitot_error error = {0};
    /* SQLite would tidy up what the library is to find: only where the version is not known. */
    int version = wanted == REBUILD ? version_of(path) : 1;
    struct pitot_store *store = NULL;
    struct pitot_reader *reader = NULL;
    if (pitot_store_open(path, version, ddl, NULL, &store, &error) != 0) {
        say_failed("opening after a kill", &error);
        return false;
    }
    bool right = pitot_store_outcome(store) == PITOT_OPENED || wanted == REPLACE ||
                 (wanted == OPEN && pitot_store_outcome(store) == PITOT_CREATED);
    if (!right) {
        fprintf(stderr, "library-torture: opening gave outcome %d\n", pitot_store_outcome(store));
    }
    if (pitot_reader_open(store, "look", &reader, &error) != 0) {
        say_failed("opening a reader after a kill", &error);
        right = false;
    } else {
        for (int i = 0; i < TABLES; i++) {
            if (!agrees(reader, i)) {
                fprintf(stderr, "library-torture: %s does not agree with its sync row\n",
                        table_names[i]);
                right = false;
            }
        }
        if (ask_number(pitot_reader_sqlite(reader),
                       "SELECT integrity_check = 'ok' FROM pragma_integrity_check") != 1) {
            fprintf(stderr, "library-torture: integrity_check fails\n");
            right = false;
        }
        pitot_reader_free(reader);
    }
    right = take_set_aside(path) && right;
    if (!right) {
        fprintf(stderr, "library-torture: after a kill in phase %s\n", phase_names[phase]);
    }
    pitot_store_free(store);
    return right;
}

/* ---------------------------------------------------------------------------------- killing -- */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % limit;
}

static void sleep_us(uint64_t us)
{
    const struct timespec time = {.tv_sec = (time_t)(us / 1000000),
                                  .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&time, NULL);
}

/* One writer, killed in about the phase wanted; the phase it was killed in, or NONE when it failed.
 */
static enum phase kill_one(const char *self, const char *path, enum phase wanted, int descriptor)
{
    char phase[16];
    char seed[16];
    char page[16];
    snprintf(phase, sizeof phase, "%d", (int)wanted);
    snprintf(seed, sizeof seed, "%u", (unsigned)random_below(1000));
    snprintf(page, sizeof page, "%d", descriptor);
    shared->phase = NONE;
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, "--write", path, phase, seed, page, (char *)NULL);
        _exit(127);
    }
    /* The longest delay is that of many rounds: moments of the first are no others. */
    const uint64_t longest = wanted == STAGING ? 300 : wanted == COMMIT ? 400 : 3000;
    sleep_us(random_below(20000));
    for (int i = 0; i < 1000000 && shared->phase != (int)wanted && !shared->failed; i++) {
        if (i % 64 == 63) {
            sleep_us(1);
        }
    }
    uint64_t delay = random_below(longest);
    if (delay > 60) {
        sleep_us(delay - 60); /* what a sleep takes at least */
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? (enum phase)shared->phase : NONE;
}

static int torture(const char *self, const char *folder, long kills, int descriptor)
{
    long counts[PHASES] = {0};
    long wrong = 0;
    long strays = 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/store.db", folder);
    for (int wanted = OPEN; wanted < PHASES; wanted++) {
        while (counts[wanted] < kills && !shared->failed && strays < 100 * kills + 1000) {
            if (wanted == REBUILD || (wanted == REPLACE && counts[REPLACE] == 0)) {
                run_passes(path, false); /* something to be rebuilt; a lock file */
            }
            enum phase phase = kill_one(self, path, (enum phase)wanted, descriptor);
            if (phase == (enum phase)wanted) {
                counts[phase]++;
            } else {
                strays++;
            }
            wrong += !look(path, (enum phase)wanted, phase);
        }
    }
    for (int phase = OPEN; phase < PHASES; phase++) {
        printf("%-10s %5ld kills\n", phase_names[phase], counts[phase]);
        wrong += counts[phase] < kills;
    }
    printf("%-10s %5ld kills\nwrong      %5ld\n", "others", strays, wrong);
    return wrong != 0 || shared->failed;
}

int main(int argc, char **argv)
{
    long kills = 100;
    long seed = (long)time(NULL);
    const char *base = "/tmp";
    register_vfs();
    if (argc == 6 && strcmp(argv[1], "--write") == 0) {
        int descriptor = (int)number_of("library-torture", argv[5]);
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        return shared == MAP_FAILED
                   ? 1
                   : write_until_killed(argv[2], (enum phase)number_of("library-torture", argv[3]),
                                        (unsigned)number_of("library-torture", argv[4]));
    }
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--kills") == 0) {
            kills = number_of("library-torture", argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = number_of("library-torture", argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--dir") == 0) {
            base = argv[i + 1];
        } else {
            fprintf(stderr, "usage: library-torture [--kills N] [--seed N] [--dir FOLDER]\n");
            return 2;
        }
    }
    int descriptor = memfd_create("library-torture", 0);
    char folder[1024];
    if (descriptor < 0 || ftruncate(descriptor, sizeof *shared) != 0) {
        perror("library-torture");
        return 1;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (shared == MAP_FAILED) {
        perror("library-torture");
        return 1;
    }
    if (!make_folder("library-torture", base, folder, sizeof folder)) {
        return 1;
    }
    random_state = (uint64_t)seed;
    printf("libpitot, SQLite %s, seed %ld\n", sqlite3_libversion(), seed);
    fflush(stdout);
    int result = torture("/proc/self/exe", folder, kills, descriptor);
    remove_folder(folder);
    return result;
}
