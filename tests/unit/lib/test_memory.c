/*
 * Every n-th allocation fails, once or from then on, in opening, a rebuild, a pass, a merge,
 * reading and closing, in this library and in SQLite alike: an error is told, the rows stay whole,
 * nothing leaks.
 *
 * Allocations are the C library's with a count before them; a sanitizer has an allocator of its
 * own, and with it only the calls are made.
 */
#include "library.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 0
#else
#define OWN_ALLOCATOR 1
#endif

static atomic_long left; /* allocations until one fails; 0 or less: none does */
static atomic_bool for_ever;
static atomic_bool armed;
static atomic_long failed;
static atomic_long live; /* blocks allocated */

#if OWN_ALLOCATOR
#define EXPORTED __attribute__((visibility("default"))) /* SQLite's, too */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static bool fails(void)
{
    if (!armed) {
        return false;
    }
    long number = atomic_fetch_sub(&left, 1);
    if (number > 1 || (number < 1 && !for_ever)) {
        return false;
    }
    atomic_fetch_add(&failed, 1);
    return true;
}

static void *counted(void *memory)
{
    atomic_fetch_add(&live, memory != NULL);
    return memory;
}

EXPORTED void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

EXPORTED void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

EXPORTED void *realloc(void *memory, size_t size)
{
    if (fails()) {
        return NULL;
    }
    void *grown = __libc_realloc(memory, size);
    return memory == NULL ? counted(grown) : grown;
}

EXPORTED void free(void *memory)
{
    atomic_fetch_sub(&live, memory != NULL);
    __libc_free(memory);
}
#endif

static void arm(long nth, bool ever)
{
    left = nth;
    for_ever = ever;
    failed = 0;
    armed = true;
}

enum { ROWS = 30 };

struct script {
    struct lister lister;
    int mode; /* enum pitot_mode */
    int version;
};

static int run_pass(struct pitot_store *store, struct pitot_source *source)
{
    struct pitot_ticket ticket;
    int result = pitot_resync(source, &ticket, NULL);
    return result == 0 ? pitot_ticket_wait(store, ticket, PATIENCE_MS, NULL) : result;
}

/* Everything once; the first error. */
static int run_all(const char *path, struct script *script)
{
    struct pitot_store *store = NULL;
    struct pitot_source *source = NULL;
    struct pitot_subscription *subscription = NULL;
    struct pitot_reader *reader = NULL;
    struct pitot_event event = {.size = sizeof event};
    struct pitot_sync sync = {.size = sizeof sync};
    const struct pitot_table table = {.name = "items", .mode = (enum pitot_mode)script->mode};
    const struct pitot_source_options options = options_of("list", list, &script->lister, &table);
    int result = pitot_store_open(path, script->version, ITEMS, NULL, &store, NULL);
    if (result == 0) {
        result = pitot_subscribe(store, &subscription, NULL);
    }
    if (result == 0) {
        result = pitot_source_add(store, &options, &source, NULL);
    }
    for (int i = 0; i < 2 && result == 0; i++) {
        result = run_pass(store, source);
        script->lister.n++;
    }
    while (subscription != NULL && pitot_event_next(subscription, &event) == 1) {
    }
    if (result == 0) {
        result = pitot_reader_open(store, "r", &reader, NULL);
    }
    if (result == 0) {
        result = pitot_snapshot_begin(reader, NULL);
    }
    if (result == 0) {
        result = pitot_reader_sync(reader, "list", &sync, NULL);
        result = result == 1 ? 0 : result;
    }
    pitot_reader_free(reader);
    pitot_subscription_free(subscription);
    int closed = store == NULL ? 0 : pitot_store_close(store, PATIENCE_MS, NULL);
    pitot_store_free(store);
    return result == 0 ? closed : result;
}

static void assert_whole(const char *name)
{
    if (!exists(in_folder(name))) {
        return;
    }
    assert_int_equal(number_in(name, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"),
                     1);
    if (number_in(name, "SELECT count(*) FROM pitot_sync WHERE last_success_ms <> 0") == 1) {
        assert_int_equal(number_in(name, "SELECT count(*) FROM items"), ROWS);
        assert_int_equal(number_in(name, "SELECT count(DISTINCT n) FROM items"), 1);
    } else {
        assert_int_equal(number_in(name, "SELECT count(*) FROM items"), 0);
    }
}

/* What lies at the path. */
enum start { THERE, NEW, OLD };

static void sweep(int mode, bool ever, enum start start)
{
    struct script script = {.lister = {.title = "row", .rows = ROWS}, .mode = mode, .version = 1};
    static char path[PATH_MAX];
    static const char *const suffixes[] = {"", "-wal", "-shm", "-pitot"};
    snprintf(path, sizeof path, "%s", in_folder("sweep.db"));
    /* Twice without a fault: what is kept once for all is there. */
    assert_int_equal(run_all(path, &script), 0);
    assert_whole("sweep.db");
    assert_int_equal(run_all(path, &script), 0);
    long kept = live;
    bool met = true;
    long nth;
    /* When all after it fail, too, one is much like the next. */
    for (nth = 1; met; nth += ever ? 5 : 1) {
        for (size_t i = 0; start == NEW && i < sizeof suffixes / sizeof suffixes[0]; i++) {
            char name[PATH_MAX + 8];
            snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
            unlink(name);
        }
        script.version += start == OLD;
        arm(nth, ever);
        int result = run_all(path, &script);
        armed = false;
        met = failed > 0;
        if (result != 0 && result != PITOT_ERROR_MEMORY && result != PITOT_ERROR_IO &&
            result != PITOT_ERROR_BUSY) {
            fail_msg("allocation %ld: %d (%s)", nth, result, pitot_error_name(result));
        }
        if (!met) {
            assert_int_equal(result, 0);
        }
        if (live > kept) {
            fail_msg("allocation %ld: %ld blocks leaked", nth, live - kept);
        }
        assert_whole("sweep.db");
    }
    /* SQLite's are among them. */
    assert_true(!OWN_ALLOCATOR || nth > 500);
    assert_int_equal(run_all(path, &script), 0);
    assert_whole("sweep.db");
}

static void test_replace(void **state)
{
    (void)state;
    sweep(PITOT_REPLACE, false, THERE);
    sweep(PITOT_REPLACE, true, THERE);
}

static void test_merge(void **state)
{
    (void)state;
    sweep(PITOT_MERGE, false, THERE);
    sweep(PITOT_MERGE, true, THERE);
}

static void test_new_stores(void **state)
{
    (void)state;
    sweep(PITOT_REPLACE, false, NEW);
    sweep(PITOT_REPLACE, true, NEW);
}

static void test_rebuilds(void **state)
{
    (void)state;
    sweep(PITOT_REPLACE, false, OLD);
    sweep(PITOT_REPLACE, true, OLD);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_replace),
        TEST(test_merge),
        TEST(test_new_stores),
        TEST(test_rebuilds),
    };
    return cmocka_run_group_tests(tests, use_memory, NULL);
}
