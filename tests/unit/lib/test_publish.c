/*
 * Making a new store: each call of the operating system that it takes fails once, for each of the
 * reasons that it may have. The error names the file, nothing that is half made is left, and the
 * next opening makes the store.
 */
#include "library.h"

#include <errno.h>
#include <sys/syscall.h>

enum call { WRITE, SYNC_FILE, RENAME, SYNC_FOLDER, MARK, CALLS };

static struct {
    enum call call; /* that fails, once; CALLS: none */
    int errno_value;
    const char *appears; /* a file with this text lies at the path when it is renamed to */
} fault = {.call = CALLS};

static bool fails(enum call call)
{
    if (fault.call != call) {
        return false;
    }
    fault.call = CALLS;
    errno = fault.errno_value;
    return true;
}

/* Instead of the C library's; SQLite has its own. */
ssize_t write(int descriptor, const void *bytes, size_t size)
{
    return fails(WRITE) ? -1 : syscall(SYS_write, descriptor, bytes, size);
}

int fdatasync(int descriptor)
{
    return fails(SYNC_FILE) ? -1 : (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor)
{
    return fails(SYNC_FOLDER) ? -1 : (int)syscall(SYS_fsync, descriptor);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t at)
{
    return fails(MARK) ? -1 : syscall(SYS_pwrite64, descriptor, bytes, size, at);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    if (fault.call == RENAME && fault.appears != NULL) {
        write_text(new, fault.appears);
    }
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

static int open_with(enum call call, int errno_value, const char *appears,
                     struct pitot_store **store, struct pitot_error *error)
{
    fault.errno_value = errno_value;
    fault.appears = appears;
    fault.call = call;
    int result = pitot_store_open(in_folder("new.db"), 1, ITEMS, NULL, store, error);
    assert_int_equal(fault.call, CALLS); /* it was met */
    return result;
}

static void remove_store(void)
{
    static const char *const names[] = {"new.db", "new.db-wal", "new.db-shm", "new.db-pitot"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unlink(in_folder(names[i]));
    }
}

static void assert_good(struct pitot_store *store, int outcome)
{
    struct lister lister = {.title = "row", .rows = 3};
    assert_int_equal(pitot_store_outcome(store), outcome);
    assert_ok(sync_now(store, add_source(store, "list", &lister), &error));
    close_store(store);
    assert_int_equal(number_in("new.db", "SELECT count(*) FROM items"), 3);
    assert_int_equal(number_in("new.db", "SELECT journal_mode = 'wal' FROM pragma_journal_mode"),
                     1);
}

static void test_calls_that_fail(void **state)
{
    (void)state;
    static const struct {
        enum call call;
        const char *text;
    } calls[] = {{WRITE, "new.db-pitot-new"},
                 {SYNC_FILE, "new.db-pitot-new"},
                 {RENAME, "new.db"},
                 {SYNC_FOLDER, "new.db"},
                 {MARK, "new.db-pitot"}};
    static const struct {
        int errno_value;
        int code;
    } reasons[] = {{EIO, PITOT_ERROR_IO},
                   {ENOSPC, PITOT_ERROR_FULL},
                   {EDQUOT, PITOT_ERROR_FULL},
                   {EROFS, PITOT_ERROR_PERMISSION},
                   {EACCES, PITOT_ERROR_PERMISSION}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (size_t k = 0; k < sizeof reasons / sizeof reasons[0]; k++) {
            struct pitot_store *store = NULL;
            assert_fails(open_with(calls[i].call, reasons[k].errno_value, NULL, &store, &error),
                         reasons[k].code, calls[i].text);
            assert_null(store);
            assert_false(exists(in_folder("new.db-pitot-new")));
            /* Once it has its name it is whole, whatever comes after. */
            bool named = calls[i].call == SYNC_FOLDER || calls[i].call == MARK;
            assert_int_equal(exists(in_folder("new.db")), named);
            assert_good(open_store_as("new.db", 1, ITEMS), named ? PITOT_OPENED : PITOT_CREATED);
            remove_store();
        }
    }
}

/* Some cannot rename without replacing: the store is then made in its place. */
static void test_file_systems_that_can_less(void **state)
{
    (void)state;
    static const int reasons[] = {EINVAL, ENOSYS};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        struct pitot_store *store = NULL;
        assert_ok(open_with(RENAME, reasons[i], NULL, &store, &error));
        assert_good(store, PITOT_CREATED);
        assert_false(exists(in_folder("new.db-pitot-new")));
        remove_store();
    }
    /* And some have no sync of folders. */
    struct pitot_store *store = NULL;
    assert_ok(open_with(SYNC_FOLDER, EINVAL, NULL, &store, &error));
    assert_good(store, PITOT_CREATED);
}

/* Somebody else makes a file at the path in the last moment. */
static void test_a_file_that_appears(void **state)
{
    (void)state;
    static const char text[] = "Dear diary, this is no database at all, and it is long enough to "
                               "hold what looks like a header of one hundred bytes.";
    struct pitot_store *store = NULL;
    assert_fails(open_with(RENAME, EEXIST, text, &store, &error), PITOT_ERROR_FOREIGN, "new.db");
    assert_fails(pitot_store_open(in_folder("new.db"), 1, ITEMS, NULL, &store, &error),
                 PITOT_ERROR_FOREIGN, "new.db");
    assert_false(exists(in_folder("new.db.corrupt")));
    assert_int_equal(unlink(in_folder("new.db")), 0);
    /* An empty one is nobody's. */
    assert_ok(open_with(RENAME, EEXIST, "", &store, &error));
    assert_good(store, PITOT_CREATED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_calls_that_fail),
        TEST(test_file_systems_that_can_less),
        TEST(test_a_file_that_appears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
