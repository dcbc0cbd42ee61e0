/*
 * Files that are damaged at random: cut, grown, pages of noise, bytes changed, in the database or
 * its WAL. Nothing crashes; what is met is told as damage, the next opening sets the file aside,
 * and then all works.
 */
#include "library.h"

#include <fcntl.h>
#include <unistd.h>

enum { TRIES = 400, ROWS = 300, PAGE = 4096, LEFT_ALONE = 1 };

static const char ddl[] = ITEMS "CREATE INDEX by_title ON items(title);";

static uint64_t state = 20;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((state >> 33) % below);
}

static void copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *file = fopen(in_folder(from), "rb");
    size_t length = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    if (file != NULL) {
        fclose(file);
        write_bytes(in_folder(to), bytes, length);
    }
}

/* A store of whose rows a part is still in the WAL, as after a kill, and one that was closed. */
static void make_samples(void)
{
    struct lister lister = {.title = "a title that is long enough for some pages", .rows = ROWS};
    struct pitot_store *store = open_store_as("sample.db", 1, ddl);
    struct pitot_source *source = add_source(store, "list", &lister);
    assert_ok(sync_now(store, source, &error));
    lister.n = 1;
    assert_ok(sync_now(store, source, &error));
    copy("sample.db", "killed.db");
    copy("sample.db-wal", "killed.db-wal");
    copy("sample.db-pitot", "killed.db-pitot");
    close_store(store);
}

static void take_sample(const char *name)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-pitot"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char from[64];
        char to[64];
        snprintf(from, sizeof from, "%s%s", name, suffixes[i]);
        snprintf(to, sizeof to, "store.db%s", suffixes[i]);
        unlink(in_folder(to));
        copy(from, to);
    }
}

static void damage(const char *name)
{
    struct stat status;
    int descriptor = open(in_folder(name), O_RDWR);
    assert_true(descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0);
    const unsigned size = (unsigned)status.st_size;
    unsigned char noise[PAGE];
    const unsigned how = draw(5);
    memset(noise, draw(2) == 0 ? 0 : 0xa5, sizeof noise);
    if (how == 0) {
        assert_int_equal(ftruncate(descriptor, draw(size)), 0);
    } else if (how == 1) {
        assert_int_equal(ftruncate(descriptor, size + 1 + draw(10000)), 0);
    } else if (how == 2) {
        assert_int_equal(pwrite(descriptor, noise, PAGE, draw(size) & ~(PAGE - 1U)), PAGE);
    } else {
        for (unsigned left = how == 3 ? 1 : 30; left > 0; left--) {
            unsigned at = draw(draw(3) == 0 && size > PAGE ? PAGE : size); /* often the schema */
            noise[0] = (unsigned char)draw(256);
            assert_int_equal(pwrite(descriptor, noise, 1, at), 1);
        }
    }
    close(descriptor);
}

/* Opens, writes passes of either mode, reads. 0, or the first error. */
static int use(struct pitot_error *found)
{
    struct pitot_store *store = NULL;
    struct pitot_source *source = NULL;
    struct pitot_reader *reader = NULL;
    struct pitot_sync sync = {.size = sizeof sync};
    struct lister lister = {.title = "new", .rows = ROWS};
    const struct pitot_source_options options =
        options_of("list", list, &lister, draw(2) == 0 ? &items_replaced : &items_merged);
    int result = pitot_store_open(in_folder("store.db"), 1, ddl, NULL, &store, found);
    if (result != 0) {
        return result;
    }
    result = pitot_source_add(store, &options, &source, found);
    for (int i = 0; i < 2 && result == 0; i++) {
        result = sync_now(store, source, found);
        lister.n++;
    }
    if (result == 0) {
        result = pitot_reader_open(store, "r", &reader, found);
    }
    if (result == 0) {
        result = pitot_reader_sync(reader, "list", &sync, found);
        result = result == 1 ? 0 : result;
    }
    pitot_reader_free(reader);
    assert_ok(pitot_store_close(store, PATIENCE_MS, &error));
    pitot_store_free(store);
    return result;
}

/* What it came to: 0, or LEFT_ALONE when it could be somebody else's now. */
static int use_until_it_works(int number)
{
    for (int round = 0; round < 3; round++) {
        struct pitot_error error = {0};
        int result = use(&error);
        if (result == 0) {
            return 0;
        }
        if (result == PITOT_ERROR_FOREIGN && round == 0) {
            return LEFT_ALONE;
        }
        if (result != PITOT_ERROR_CORRUPT && result != PITOT_ERROR_SQLITE) {
            fail_msg("damage %d: %d, %s", number, result, error.message);
        }
    }
    fail_msg("damage %d: it does not work again", number);
    return 0;
}

static void test_random_damage(void **unused)
{
    (void)unused;
    int alone = 0;
    make_samples();
    for (int i = 0; i < TRIES; i++) {
        bool killed = draw(2) == 0;
        take_sample(killed ? "killed.db" : "sample.db");
        damage(killed && draw(2) == 0 ? "store.db-wal" : "store.db");
        int found = use_until_it_works(i);
        alone += found == LEFT_ALONE;
        if (found == 0) {
            assert_int_equal(number_in("store.db", "SELECT count(*) FROM items WHERE n = 1"), ROWS);
        }
    }
    /* Only where the application id was hit, the rest of the header being SQLite's. */
    assert_true(alone < TRIES / 20);
}

/* What this library does not find as it has made it is damage, too. */
static void test_own_tables(void **unused)
{
    (void)unused;
    static const char *const changes[] = {
        "DROP TABLE pitot_sync",
        "DROP TABLE pitot_sync; CREATE TABLE pitot_sync(source TEXT PRIMARY KEY)",
        "UPDATE pitot_schema SET ddl_hash = 1",
        "DROP TABLE pitot_schema",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct pitot_store *store = NULL;
        struct pitot_reader *reader = NULL;
        struct pitot_source *source = NULL;
        struct lister lister = {.title = "row", .rows = 3};
        const struct pitot_source_options options =
            options_of("list", list, &lister, &items_replaced);
        fill("store.db", 1, ITEMS, 5);
        run_in("store.db", changes[i]);
        store = open_store();
        if (i < 2) {
            assert_fails(pitot_reader_open(store, "r", &reader, &error), PITOT_ERROR_CORRUPT,
                         "sync rows");
        }
        assert_fails(pitot_source_add(store, &options, &source, &error), PITOT_ERROR_CORRUPT,
                     "own tables");
        close_store(store);
        store = open_store();
        assert_int_equal(pitot_store_outcome(store), PITOT_REPLACED);
        assert_ok(sync_now(store, add_source(store, "list", &lister), &error));
        close_store(store);
        assert_int_equal(unlink(in_folder("store.db")), 0);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_random_damage),
        TEST(test_own_tables),
    };
    return cmocka_run_group_tests(tests, use_memory, NULL);
}
