/* The data folder: its lock, its leftovers, and what cannot be one. */
#include "coordinator/data.h"
#include "coordinator/interrupt.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "../folder.h"

static struct data_folder data;
static struct error error;
static char notes[4096];

static void keep_note(void *context, const char *text)
{
    (void)context;
    size_t length = strlen(notes);
    snprintf(notes + length, sizeof notes - length, "%s\n", text);
}

static const struct progress progress = {.note = keep_note};

static int set_up(void **state)
{
    error_clear(&error);
    notes[0] = '\0';
    return make_test_folder(state);
}

static int open_data(const char *path)
{
    error_clear(&error);
    return data_open(&data, path, &progress, &error);
}

static void made_and_removed(void **state)
{
    (void)state;
    const char *path = in_folder("deep/er/d a#t?a%20ü");
    assert_int_equal(open_data(path), 0);
    assert_true(data.made);
    assert_true(exists(in_folder("deep/er/d a#t?a%20ü/template.lock")));
    assert_int_equal(data.path[0], '/');
    data_close(&data);
    assert_false(exists(path));

    /* One that holds anything stays; so does one that was there before. */
    assert_int_equal(open_data(path), 0);
    write_text(in_folder("deep/er/d a#t?a%20ü/note"), "mine");
    data_close(&data);
    assert_true(exists(path));
    assert_true(exists(in_folder("deep/er/d a#t?a%20ü/template.lock")));
    mkdir(in_folder("there"), 0755);
    assert_int_equal(open_data(in_folder("there")), 0);
    assert_false(data.made);
    data_close(&data);
    assert_true(exists(in_folder("there/template.lock")));
    data_close(&data);
}

static void refused(void **state)
{
    (void)state;
    write_text(in_folder("file"), "x");
    char long_path[1024];
    snprintf(long_path, sizeof long_path, "%s/%0200d/%0200d", folder, 0, 0);
    char very_long[6000];
    snprintf(very_long, sizeof very_long, "%s/%05000d", folder, 0);
    const struct {
        const char *path, *first, *second;
    } table[] = {
        {"", "empty", ""},
        {":memory:", ":memory:", "copy"},
        {"file:x?mode=memory", "file:x", "URI"},
        {in_folder("file"), "is a file", folder},
        {in_folder("file/below"), "file", folder},
        {long_path, "bytes long", "at most"},
        {very_long, "too long", "bytes"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (open_data(table[i].path) != ERROR_INVALID) {
            fail_msg("\"%.60s\": %d %s", table[i].path, (int)error.code, error.message);
        }
        assert_holds(error.message, table[i].first);
        assert_holds(error.message, table[i].second);
        assert_null(data.path);
    }
    assert_false(exists(long_path));
    assert_false(exists(":memory:"));
}

static void read_only(void **state)
{
    (void)state;
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(77);
        }
        int status = open_data(folder);
        _exit(status == ERROR_UNAVAILABLE && strstr(error.message, folder) != NULL ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(folder, 0755), 0);
    if (WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_int_equal(status, 0);
}

static void lock_is_no_link(void **state)
{
    (void)state;
    write_text(in_folder("precious"), "keep this");
    assert_int_equal(symlink("precious", in_folder("template.lock")), 0);
    assert_int_not_equal(open_data(folder), 0);
    assert_holds(error.message, "template.lock");
    struct stat status;
    assert_int_equal(stat(in_folder("precious"), &status), 0);
    assert_int_equal(status.st_size, 9);
}

#define HEX "0123456789abcdef"

static const char *const ours[] = {
    "pitot-run-1-sqlite.db",
    "pitot-run-1-sqlite.db-wal",
    "pitot-run-1-sqlite.db-shm",
    "pitot-run-1-sqlite.db-journal",
    "pitot-run-1-sqlite.db-log",
    "pitot-run-1-sqlite.db-tshm",
    "pitot-run-99999-sqlite_2-0badf00d.db",
    "pitot-build-7-prod.db",
    "pitot-build-7-prod.db-journal",
    "template-prod-small-" HEX ".json.tmp.123",
};
static const char *const foreign[] = {
    "pitot-run-sqlite.db",      "pitot-run--sqlite.db",       "pitot-run-1.db",
    "pitot-run-1-.db",          "pitot-run-1-a b.db",         "pitot-run-1-sqlite.db.bak",
    "pitot-run-1-sqlite",       "pitot-run-1-sqlite.db-wal2", "pitot-run-1-a.db-wal-wal",
    "my-pitot-run-1-a.db",      "pitot-result-1-a.db",        "pitot-run-1x-a.db",
    "template-prod-" HEX ".db", "template-prod-" HEX ".json", "template-prod-" HEX ".json.tmp.",
    "template-x.json.tmp.1",    "other.json.tmp.1",           "app.db-wal",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void leftovers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ours); i++) {
        write_text(in_folder(ours[i]), "x");
    }
    for (size_t i = 0; i < COUNT(foreign); i++) {
        write_text(in_folder(foreign[i]), "x");
    }
    mkdir(in_folder("pitot-run-2-folder.db"), 0755);
    assert_int_equal(symlink("app.db-wal", in_folder("pitot-run-2-link.db")), 0);
    assert_int_equal(open_data(folder), 0);
    for (size_t i = 0; i < COUNT(ours); i++) {
        if (exists(in_folder(ours[i]))) {
            fail_msg("%s is still there", ours[i]);
        }
    }
    for (size_t i = 0; i < COUNT(foreign); i++) {
        if (!exists(in_folder(foreign[i]))) {
            fail_msg("%s is gone", foreign[i]);
        }
    }
    assert_true(exists(in_folder("pitot-run-2-folder.db")));
    assert_true(exists(in_folder("pitot-run-2-link.db")));
    assert_holds(notes, "removed 10 files");
    data_close(&data);
}

static void own_names_are_leftovers(void **state)
{
    (void)state;
    static const char *const labels[] = {"sqlite-1", "sqlite=/a/b,c.so", "", "ü",
                                         "0123456789012345678901234567890123456789012345678901234"};
    char *paths[2 * COUNT(labels)];
    assert_int_equal(open_data(folder), 0);
    for (size_t i = 0; i < 2 * COUNT(labels); i++) {
        paths[i] = data_path(&data, i % 2 == 0 ? "run" : "build", labels[i / 2]);
        assert_non_null(paths[i]);
        write_text(paths[i], "x");
        char wal[PATH_MAX];
        snprintf(wal, sizeof wal, "%s-wal", paths[i]);
        write_text(wal, "x");
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(paths[i], paths[j]);
        }
    }
    data_remove_database(paths[0]);
    assert_false(exists(paths[0]));
    data_close(&data);
    assert_int_equal(open_data(folder), 0);
    for (size_t i = 0; i < 2 * COUNT(labels); i++) {
        assert_false(exists(paths[i]));
        free(paths[i]);
    }
    assert_holds(notes, "removed 18 files");
    data_close(&data);
}

static void labels(void **state)
{
    (void)state;
    char a[21], b[21];
    data_label(a, 20, "sqlite-1.x_Y");
    assert_string_equal(a, "sqlite-1.x_Y");
    data_label(a, 20, "12345678901234567890");
    assert_string_equal(a, "12345678901234567890");
    data_label(a, 20, "123456789012345678901");
    assert_int_equal(strlen(a), 20);
    data_label(a, 20, "x=/a/b");
    data_label(b, 20, "x=/a_b");
    assert_int_equal(strncmp(a, "x__a_b-", 7), 0);
    assert_string_not_equal(a, b);
    data_label(a, 20, "");
    assert_int_equal(strlen(a), 9);
}

/* The other process: takes the folder, says so, and keeps it until told or killed. */
struct other {
    pid_t pid;
    int ready[2], leave[2];
};

static void start_other(struct other *other, const char *path)
{
    assert_int_equal(pipe(other->ready), 0);
    assert_int_equal(pipe(other->leave), 0);
    other->pid = fork();
    assert_true(other->pid >= 0);
    if (other->pid == 0) {
        char byte = 0;
        close(other->leave[1]);
        if (data_open(&data, path, NULL, NULL) != 0 || write(other->ready[1], "!", 1) != 1 ||
            read(other->leave[0], &byte, 1) < 0) {
            _exit(1);
        }
        data_close(&data);
        _exit(0);
    }
    char byte;
    close(other->leave[0]);
    assert_int_equal(read(other->ready[0], &byte, 1), 1);
}

static void end_other(struct other *other, int expected)
{
    int status;
    assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
    assert_int_equal(status, expected);
    close(other->ready[0]);
    close(other->ready[1]);
}

static struct other other;

static void let_other_go(void *context, const char *text)
{
    keep_note(context, text);
    if (other.leave[1] >= 0) {
        close(other.leave[1]);
        other.leave[1] = -1;
    }
}

static void second_process_waits(void **state)
{
    (void)state;
    const struct progress waiting = {.note = let_other_go};
    char pid[32];
    start_other(&other, folder);
    snprintf(pid, sizeof pid, "process %ld", (long)other.pid);
    assert_int_equal(data_open(&data, folder, &waiting, &error), 0);
    assert_holds(notes, pid);
    assert_holds(notes, folder);
    end_other(&other, 0);
    data_close(&data);
}

/* The other removes the folder that it made when it leaves: ours is made anew. */
static void folder_removed_while_waiting(void **state)
{
    (void)state;
    const struct progress waiting = {.note = let_other_go};
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder("made"));
    start_other(&other, path);
    assert_int_equal(data_open(&data, path, &waiting, &error), 0);
    end_other(&other, 0);
    assert_true(exists(in_folder("made/template.lock")));
    data_close(&data);
    assert_false(exists(path));
}

static void killed_process_holds_nothing(void **state)
{
    (void)state;
    start_other(&other, folder);
    kill(other.pid, SIGKILL);
    end_other(&other, SIGKILL);
    close(other.leave[1]);
    /* Its number is in the file still, and is that of nobody who matters. */
    assert_int_equal(open_data(folder), 0);
    assert_string_equal(notes, "");
    data_close(&data);
}

static void signal_ends_waiting(void **state)
{
    (void)state;
    start_other(&other, folder);
    pid_t child = fork();
    if (child == 0) {
        if (interrupt_install(&error) != 0) {
            _exit(2);
        }
        raise(SIGTERM);
        _exit(open_data(folder) == ERROR_INTERRUPTED && data.path == NULL ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(other.leave[1]);
    end_other(&other, 0);
}

static void lock_is_not_inherited(void **state)
{
    (void)state;
    assert_int_equal(open_data(folder), 0);
    assert_true(fcntl(data.lock_fd, F_GETFD) & FD_CLOEXEC);
    data_close(&data);
}

static void space(void **state)
{
    (void)state;
    assert_int_equal(open_data(folder), 0);
    assert_int_equal(data_need(&data, 0, "nothing", &error), 0);
    assert_int_equal(data_need(&data, UINT64_C(1) << 60, "a template", &error), ERROR_FULL);
    assert_holds(error.message, "a template");
    assert_holds(error.message, "1152921504606846976 bytes");
    assert_holds(error.message, "are free");
    assert_holds(error.message, folder);
    data_close(&data);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(made_and_removed),
        TEST(refused),
        TEST(read_only),
        TEST(lock_is_no_link),
        TEST(leftovers),
        TEST(own_names_are_leftovers),
        TEST(labels),
        TEST(second_process_waits),
        TEST(folder_removed_while_waiting),
        TEST(killed_process_holds_nothing),
        TEST(signal_ends_waiting),
        TEST(lock_is_not_inherited),
        TEST(space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
