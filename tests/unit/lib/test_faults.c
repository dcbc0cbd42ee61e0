/* Every n-th operation of the file system fails, once or from then on: an error is told, the rows
 * are those of one whole pass, the sync row agrees with them, and all goes on when the fault is
 * over. */
#include "library.h"

#include "faulty_vfs.h"
#include "lib/store.h"

enum { ROWS = 40 };

struct fault {
    enum faulty_kind kind;
    int result;
    const char *name;
};

static const struct fault faults[] = {
    {FAULTY_OPEN, SQLITE_CANTOPEN, "open"},
    {FAULTY_READ, SQLITE_IOERR_READ, "read"},
    {FAULTY_WRITE, SQLITE_IOERR_WRITE, "write"},
    {FAULTY_WRITE, SQLITE_FULL, "write (disk full)"},
    {FAULTY_SYNC, SQLITE_IOERR_FSYNC, "sync"},
    {FAULTY_TRUNCATE, SQLITE_IOERR_TRUNCATE, "truncate"},
    {FAULTY_SHM_MAP, SQLITE_IOERR_SHMMAP, "map of shared memory"},
    {FAULTY_SHM_LOCK, SQLITE_IOERR_SHMLOCK, "lock in shared memory"},
    {FAULTY_LOCK, SQLITE_IOERR_LOCK, "lock of the file"},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

static const struct pitot_store_options faulty_options = {
    .size = sizeof(struct pitot_store_options),
    .busy_timeout_ms = 1,
    .wal_limit = 1 << 16, /* so that passes copy it back */
    .vfs = "faulty"};

static bool is_expected(int code)
{
    /* MISSING: SQLite's errno is that of the last call that really failed. */
    return code == PITOT_ERROR_IO || code == PITOT_ERROR_MISSING || code == PITOT_ERROR_FULL ||
           code == PITOT_ERROR_BUSY || code == PITOT_ERROR_SQLITE;
}

/* Few rows change from pass to pass: those whose id ends with 5. */
static int list_few(struct pitot_pass *pass, void *context)
{
    struct lister *lister = context;
    int result = 0;
    for (int i = 0; i < ROWS && result == 0; i++) {
        result = add_item(pass, i, lister->title, i % 10 == 5 ? lister->n : 0);
    }
    return result;
}

/* What a pass does: n of all rows, or of few, is the number that the test has set. */
static const struct way {
    pitot_function *function;
    const struct pitot_table *table;
    int changed;
} ways[] = {{list, &items_replaced, ROWS},
            {list, &items_merged, ROWS},
            {list_few, &items_merged, ROWS / 10}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Rows and sync row are those of a whole pass: all n that change are alike, and no row is untold.
 */
static int64_t assert_whole(const char *name, const struct way *way)
{
    int64_t n = number_in(name, "SELECT n FROM items WHERE id = 5");
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM items WHERE n = %lld AND (id %% 10 = 5 OR %d)",
             (long long)n, way->changed == ROWS);
    assert_int_equal(number_in(name, sql), way->changed);
    assert_int_equal(number_in(name, "SELECT count(*) FROM items"), ROWS);
    assert_int_equal(number_in(name, "SELECT inserted + updated + unchanged FROM pitot_sync"),
                     ROWS);
    assert_int_equal(number_in(name, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"),
                     1);
    return n;
}

/* Until the source's thread has let go of the connection. */
static void await_writer(struct pitot_store *store)
{
    pthread_mutex_lock(&store->writing);
    pthread_mutex_unlock(&store->writing);
}

static void remove_store(const char *name)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-pitot"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%s", in_folder(name), suffixes[i]);
        unlink(path);
    }
}

static void fault_in_a_pass(const struct fault *fault, bool for_ever, const struct way *way)
{
    struct pitot_store *store = NULL;
    struct pitot_source *source = NULL;
    struct lister lister = {.title = "row", .rows = ROWS};
    const struct pitot_source_options options =
        options_of("list", way->function, &lister, way->table);
    remove_store("pass.db");
    assert_ok(pitot_store_open(in_folder("pass.db"), 1, ITEMS, &faulty_options, &store, &error));
    assert_ok(pitot_source_add(store, &options, &source, &error));
    assert_ok(sync_now(store, source, &error));
    long nth = 1;
    do {
        int n = atomic_fetch_add(&lister.n, 1) + 1;
        faulty_arm(fault->kind, nth++, for_ever, fault->result);
        struct pitot_error found = {0};
        int result = sync_now(store, source, &found);
        await_writer(store); /* the checkpoint belongs to the pass as well */
        faulty_disarm();
        if (result != 0 && !is_expected(result)) {
            fail_msg("%s %ld: %d, %s", fault->name, nth - 1, result, found.message);
        }
        assert_int_equal(assert_whole("pass.db", way) == n, result == 0);
        result = sync_now(store, source, &found);
        if (result != 0) {
            fail_msg("after %s %ld: %d, %s", fault->name, nth - 1, result, found.message);
        }
        assert_int_equal(assert_whole("pass.db", way), n);
    } while (faulty.failed > 0);
    close_store(store);
}

static void test_passes(void **state)
{
    (void)state;
    for (int i = 0; i < FAULTS * WAYS; i++) {
        fault_in_a_pass(&faults[i / WAYS], false, &ways[i % WAYS]);
        fault_in_a_pass(&faults[i / WAYS], true, &ways[i % WAYS]);
    }
}

/* Opening a store that is new, there, or of an old version, and one pass. */
static void fault_in_opening(const struct fault *fault, bool for_ever, int old_version)
{
    long nth = 1;
    bool failed;
    do {
        remove_store("open.db");
        if (old_version != 0) {
            struct lister first = {.title = "row", .rows = ROWS, .n = 1};
            struct pitot_store *old = open_store_as("open.db", old_version, ITEMS);
            assert_ok(sync_now(old, add_source(old, "list", &first), &error));
            close_store(old);
        }
        struct pitot_store *store = NULL;
        struct pitot_error found = {0};
        faulty_arm(fault->kind, nth++, for_ever, fault->result);
        int result =
            pitot_store_open(in_folder("open.db"), 2, ITEMS, &faulty_options, &store, &found);
        failed = faulty.failed > 0;
        faulty_disarm();
        if (result != 0) {
            assert_null(store);
            assert_true(failed);
            if (!is_expected(result)) {
                fail_msg("%s %ld: %d, %s", fault->name, nth - 1, result, found.message);
            }
            result =
                pitot_store_open(in_folder("open.db"), 2, ITEMS, &faulty_options, &store, &found);
            if (result != 0) {
                fail_msg("after %s %ld: %d, %s", fault->name, nth - 1, result, found.message);
            }
        }
        assert_int_not_equal(pitot_store_outcome(store), PITOT_REPLACED);
        if (old_version == 2) {
            assert_int_equal(assert_whole("open.db", &ways[0]), 1);
        }
        struct lister lister = {.title = "row", .rows = ROWS, .n = 2};
        assert_ok(sync_now(store, add_source(store, "list", &lister), &error));
        assert_int_equal(assert_whole("open.db", &ways[0]), 2);
        close_store(store);
    } while (failed);
}

static void test_opening(void **state)
{
    (void)state;
    for (int i = 0; i < FAULTS; i++) {
        for (int old_version = 0; old_version <= 2; old_version++) {
            fault_in_opening(&faults[i], false, old_version);
            fault_in_opening(&faults[i], true, old_version);
        }
    }
}

static void fault_in_reading(const struct fault *fault, bool for_ever)
{
    struct pitot_store *store = NULL;
    struct lister lister = {.title = "row", .rows = ROWS, .n = 1};
    assert_ok(pitot_store_open(in_folder("read.db"), 1, ITEMS, &faulty_options, &store, &error));
    struct pitot_source *source = add_source(store, "list", &lister);
    assert_ok(sync_now(store, source, &error));
    long nth = 1;
    do {
        struct pitot_reader *reader = NULL;
        struct pitot_sync sync = {.size = sizeof sync};
        faulty_arm(fault->kind, nth++, for_ever, fault->result);
        int result = pitot_reader_open(store, "r", &reader, NULL);
        if (result == 0) {
            result = pitot_snapshot_begin(reader, NULL);
        }
        if (result == 0) {
            int found = pitot_reader_sync(reader, "list", &sync, NULL);
            assert_true(found == 1 ? sync.counts.inserted == ROWS : is_expected(found));
            result = pitot_snapshot_end(reader, NULL);
        }
        faulty_disarm();
        if (result != 0 && !is_expected(result)) {
            fail_msg("%s %ld: %d", fault->name, nth - 1, result);
        }
        pitot_reader_free(reader);
        assert_ok(pitot_reader_open(store, "r", &reader, &error));
        assert_int_equal(pitot_reader_sync(reader, "list", &sync, NULL), 1);
        pitot_reader_free(reader);
    } while (faulty.failed > 0);
    close_store(store);
}

static void test_reading(void **state)
{
    (void)state;
    for (int i = 0; i < FAULTS; i++) {
        fault_in_reading(&faults[i], false);
        fault_in_reading(&faults[i], true);
    }
}

static void test_a_full_disk_is_named(void **state)
{
    (void)state;
    struct pitot_store *store = NULL;
    struct lister lister = {.title = "row", .rows = ROWS};
    assert_ok(pitot_store_open(in_folder("full.db"), 1, ITEMS, &faulty_options, &store, &error));
    struct pitot_source *source = add_source(store, "list", &lister);
    assert_ok(sync_now(store, source, &error));
    faulty_arm(FAULTY_WRITE, 1, true, SQLITE_FULL);
    assert_fails(sync_now(store, source, &error), PITOT_ERROR_FULL, "no space in '/");
    faulty_disarm();
    struct pitot_reader *reader = NULL;
    struct pitot_sync sync = {.size = sizeof sync};
    assert_ok(pitot_reader_open(store, "r", &reader, &error));
    assert_int_equal(pitot_reader_sync(reader, "list", &sync, NULL), 1);
    assert_int_equal(sync.pass, 1); /* there was no room for the second, nor for its error */
    pitot_reader_free(reader);
    close_store(store);
}

static int register_vfs(void **state)
{
    faulty_register();
    return use_memory(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_passes),
        TEST(test_opening),
        TEST(test_reading),
        TEST(test_a_full_disk_is_named),
    };
    return cmocka_run_group_tests(tests, register_vfs, NULL);
}
