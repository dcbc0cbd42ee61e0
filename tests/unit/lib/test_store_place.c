/* Where a store lies, who may be there, and who is there already. */
#include "library.h"

#include "lib/path.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void test_relative_paths_and_symbolic_links(void **state)
{
    (void)state;
    char cwd[PATH_MAX];
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(chdir(in_folder("")), 0);
    struct pitot_store *store = NULL;
    assert_ok(pitot_store_open("here.db", 1, ITEMS, NULL, &store, &error));
    assert_int_equal(chdir(cwd), 0);
    assert_string_equal(strrchr(pitot_store_path(store), '/'), "/here.db");
    assert_true(pitot_store_path(store)[0] == '/');

    assert_int_equal(symlink("here.db", in_folder("link.db")), 0);
    assert_open_fails(in_folder("link.db"), 1, ITEMS, PITOT_ERROR_OWNED, "here.db");
    close_store(store);
    store = open_store_as("link.db", 1, ITEMS);
    assert_int_equal(pitot_store_outcome(store), PITOT_OPENED);
    assert_string_equal(strrchr(pitot_store_path(store), '/'), "/here.db");
    assert_false(exists(in_folder("link.db-pitot")));
    assert_int_equal(link(in_folder("here.db"), in_folder("hard.db")), 0);
    assert_open_fails(in_folder("hard.db"), 1, ITEMS, PITOT_ERROR_OWNED, "another name");
    close_store(store);
    assert_int_equal(symlink("nothing", in_folder("dangling.db")), 0);
    assert_open_fails(in_folder("dangling.db"), 1, ITEMS, PITOT_ERROR_MISSING, "dangling.db");
}

static void test_names_that_sqlite_could_misread(void **state)
{
    (void)state;
    static const char *const names[] = {"file:x.db?mode=memory", "a%20b#c.db",
                                        ":memory:", "with 'quotes\" and ü.db"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pitot_store *store = open_store_as(names[i], 1, ITEMS);
        struct pitot_reader *reader = NULL;
        assert_ok(pitot_reader_open(store, "r", &reader, &error));
        pitot_reader_free(reader);
        close_store(store);
        assert_true(exists(in_folder(names[i])));
    }
}

static void test_paths_that_cannot_be(void **state)
{
    (void)state;
    assert_open_fails("", 1, ITEMS, PITOT_ERROR_INVALID, "names no file");
    assert_open_fails(in_folder(""), 1, ITEMS, PITOT_ERROR_INVALID, "names no file");
    assert_open_fails(in_folder(".."), 1, ITEMS, PITOT_ERROR_INVALID, "names no file");
    assert_int_equal(mkdir(in_folder("folder.db"), 0755), 0);
    assert_open_fails(in_folder("folder.db"), 1, ITEMS, PITOT_ERROR_INVALID, "folder.db");
    write_text(in_folder("plain"), "x");
    assert_open_fails(in_folder("plain/below/store.db"), 1, ITEMS, PITOT_ERROR_IO, "plain");
    assert_int_equal(mkfifo(in_folder("fifo.db"), 0600), 0);
    assert_open_fails(in_folder("fifo.db"), 1, ITEMS, PITOT_ERROR_FOREIGN, "fifo.db");
    assert_open_fails("/proc/nobody/store.db", 1, ITEMS, PITOT_ERROR_MISSING, "/proc/nobody");
    assert_int_equal(mkdir(in_folder("lock.db-pitot"), 0755), 0);
    assert_open_fails(in_folder("lock.db"), 1, ITEMS, PITOT_ERROR_IO, "lock.db-pitot");

    char path[5000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    path[0] = '/';
    assert_open_fails(path, 1, ITEMS, PITOT_ERROR_IO, "xxx");
}

static void test_one_store_a_database(void **state)
{
    (void)state;
    struct pitot_store *store = open_store();
    assert_open_fails(in_folder("store.db"), 1, ITEMS, PITOT_ERROR_OWNED, "in this process");
    struct pitot_store *other = open_store_as("other.db", 1, ITEMS);
    close_store(other);
    close_store(store);
    store = open_store();
    close_store(store);
}

/* Another process that holds the store, then is killed. */
static void test_the_owner_is_named_and_its_death_frees_the_store(void **state)
{
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* not left behind by a test that fails */
        struct pitot_store *mine = NULL;
        char told = pitot_store_open(in_folder("store.db"), 1, ITEMS, NULL, &mine, NULL) == 0;
        if (write(ready[1], &told, 1) != 1) {
            _exit(1);
        }
        pause();
        _exit(0);
    }
    char told = 0;
    assert_int_equal(read(ready[0], &told, 1), 1);
    assert_int_equal(told, 1);
    char number[32];
    snprintf(number, sizeof number, "process %ld", (long)child);
    assert_open_fails(in_folder("store.db"), 1, ITEMS, PITOT_ERROR_OWNED, number);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close_store(open_store());
    close(ready[0]);
    close(ready[1]);
}

/* ---- what only root can set up, each in a process of its own --------------------------------- */

enum { SKIPPED = 77 };

/* Runs a part of a test in a child, which may become somebody else: 0 when all was well. */
static void in_a_child(int (*part)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(part());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

/* 1 unless opening fails with that code and that text. */
static int is_refused(const char *name, int code, const char *text)
{
    struct pitot_store *mine = NULL;
    struct pitot_error error = {0};
    int result = pitot_store_open(in_folder(name), 1, ITEMS, NULL, &mine, &error);
    if (result == code && mine == NULL && strstr(error.message, text) != NULL) {
        return 0;
    }
    print_error("%s: %d, '%s'\n", name, result, error.message);
    return 1;
}

/* Mounts are this process's alone, and go with it. */
static bool mount_memory(const char *name, const char *options)
{
    static bool apart;
    if (!apart &&
        (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)) {
        return false;
    }
    apart = true;
    return (mkdir(in_folder(name), 0755) == 0 || exists(in_folder(name))) &&
           mount("none", in_folder(name), "tmpfs", 0, options) == 0;
}

static int as_somebody_else(void)
{
    if (setresuid(65534, 65534, 65534) != 0) {
        return SKIPPED;
    }
    return is_refused("store.db", PITOT_ERROR_PERMISSION, "store.db-pitot") |
           is_refused("sub/store.db", PITOT_ERROR_PERMISSION, "sub") |
           is_refused("mine.db", PITOT_ERROR_PERMISSION, "mine.db") |
           is_refused("read-only.db", PITOT_ERROR_PERMISSION, "read-only.db'");
}

static void test_no_permission(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip(); /* needs to become somebody else */
    }
    fill("store.db", 1, ITEMS, 5);
    fill("read-only.db", 1, ITEMS, 5);
    assert_int_equal(chmod(in_folder(""), 0755), 0);
    /* The lock could be taken, the database not written. */
    assert_int_equal(chown(in_folder("read-only.db-pitot"), 65534, 65534), 0);
    in_a_child(as_somebody_else);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 5);
    assert_int_equal(number_in("read-only.db", "SELECT count(*) FROM items"), 5);
    assert_false(exists(in_folder("mine.db-pitot")));
}

static int on_a_read_only_file_system(void)
{
    if (!mount_memory("disk", "size=4m")) {
        return SKIPPED;
    }
    fill("disk/store.db", 1, ITEMS, 5);
    if (mount("none", in_folder("disk"), NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) {
        return SKIPPED;
    }
    return is_refused("disk/store.db", PITOT_ERROR_PERMISSION, "store.db-pitot") |
           is_refused("disk/new.db", PITOT_ERROR_PERMISSION, "new.db") |
           is_refused("disk/sub/new.db", PITOT_ERROR_PERMISSION, "disk/sub");
}

static void test_a_read_only_file_system(void **state)
{
    (void)state;
    in_a_child(on_a_read_only_file_system);
}

static int64_t rows_of(struct pitot_store *store)
{
    struct pitot_reader *reader = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t rows = -1;
    if (pitot_reader_open(store, "r", &reader, NULL) == 0 &&
        sqlite3_prepare_v2(pitot_reader_sqlite(reader), "SELECT count(*) FROM items", -1,
                           &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        rows = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    pitot_reader_free(reader);
    return rows;
}

/* A pass that has no room keeps the old rows, and the next one, which has, succeeds. */
static int on_a_full_disk(void)
{
    static struct lister lister = {.title = "row", .rows = 100};
    struct pitot_error error = {0};
    struct pitot_store *store = NULL;
    struct pitot_source *source = NULL;
    const struct pitot_source_options options = options_of("list", list, &lister, &items_replaced);
    if (!mount_memory("disk", "size=1m")) {
        return SKIPPED;
    }
    int failed = pitot_store_open(in_folder("disk/store.db"), 1, ITEMS, NULL, &store, NULL) != 0 ||
                 pitot_source_add(store, &options, &source, NULL) != 0 ||
                 sync_now(store, source, NULL) != 0;
    lister.rows = 100000;
    failed |= !failed && (sync_now(store, source, &error) != PITOT_ERROR_FULL ||
                          strstr(error.message, in_folder("disk")) == NULL ||
                          strstr(error.message, "no space in") == NULL);
    failed |= !failed && rows_of(store) != 100;
    lister.rows = 200;
    failed |= !failed && (sync_now(store, source, &error) != 0 || rows_of(store) != 200);
    if (failed) {
        print_error("%d, '%s', %d rows\n", error.code, error.message, (int)rows_of(store));
    }
    pitot_store_free(store);
    return failed;
}

static void test_a_full_disk(void **state)
{
    (void)state;
    in_a_child(on_a_full_disk);
}

static int fill_up(const char *name)
{
    char block[4096] = "";
    FILE *file = fopen(in_folder(name), "wb");
    while (file != NULL && fwrite(block, 1, sizeof block, file) == sizeof block) {
    }
    return file == NULL || fclose(file) == 0;
}

/* A new store has no room, or SQLite's folder for temporary files has none. */
static int in_full_folders(void)
{
    if (!mount_memory("disk", "size=64k") || !mount_memory("temporary", "size=64k")) {
        return SKIPPED;
    }
    fill_up("disk/filler");
    int failed = is_refused("disk/new.db", PITOT_ERROR_FULL, "disk/new.db-pitot") |
                 exists(in_folder("disk/new.db-pitot-new")) | exists(in_folder("disk/new.db"));
    setenv("SQLITE_TMPDIR", in_folder("temporary"), 1);
    static const struct {
        const char *name, *filler, *full;
    } cases[] = {{"store.db", "temporary/filler", "temporary"}, {"disk/store.db", NULL, "disk"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].filler != NULL) {
            fill_up(cases[i].filler);
        } else {
            unlink(in_folder("temporary/filler"));
        }
        char *found = path_full_folder(in_folder(cases[i].name));
        if (found == NULL || strcmp(found, in_folder(cases[i].full)) != 0) {
            print_error("%s: '%s'\n", cases[i].name, found);
            failed = 1;
        }
        free(found);
    }
    return failed;
}

static void test_full_folders_are_named(void **state)
{
    (void)state;
    in_a_child(in_full_folders);
}

/* Whoever else has the database open in this process keeps his locks: closing any descriptor of
 * the file would take them away. */
static void test_locks_of_the_application_stay(void **state)
{
    (void)state;
    fill("store.db", 1, ITEMS, 5);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(in_folder("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM items", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(link(in_folder("store.db"), in_folder("hard.db")), 0);
    struct pitot_reader *reader = NULL;
    struct pitot_store *store = open_store();
    assert_open_fails(in_folder("hard.db"), 1, ITEMS, PITOT_ERROR_OWNED, "another name");
    assert_ok(pitot_reader_open_path(in_folder("store.db"), "r", 0, &reader, &error));
    pitot_reader_free(reader);
    close_store(store);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int descriptor = open(in_folder("store.db"), O_RDWR);
        _exit(fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK ||
              lock.l_pid != getppid());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    sqlite3_close(db);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_relative_paths_and_symbolic_links),
        TEST(test_names_that_sqlite_could_misread),
        TEST(test_paths_that_cannot_be),
        TEST(test_one_store_a_database),
        TEST(test_the_owner_is_named_and_its_death_frees_the_store),
        TEST(test_locks_of_the_application_stay),
        TEST(test_no_permission),
        TEST(test_a_read_only_file_system),
        TEST(test_a_full_disk),
        TEST(test_full_folders_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
