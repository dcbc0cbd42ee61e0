#include "base/file.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static const char *at(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/test-file-XXXXXX", TEST_BINARY_DIR);
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *bytes, size_t length)
{
    struct buffer buffer;
    struct error error = ERROR_INIT;
    buffer_init(&buffer);
    assert_int_equal(file_read(path, length, &buffer, &error), 0);
    assert_int_equal(buffer.length, length);
    assert_memory_equal(buffer.data, bytes, length);
    buffer_release(&buffer);
}

static void reading_keeps_to_the_limit(void **state)
{
    (void)state;
    write_bytes(at("five"), "a\0b\nc", 5);
    assert_holds(at("five"), "a\0b\nc", 5);
    struct buffer buffer;
    struct error error = ERROR_INIT;
    buffer_init(&buffer);
    buffer_puts(&buffer, "before:");
    assert_int_equal(file_read(at("five"), 5, &buffer, &error), 0);
    assert_int_equal(buffer.length, 12);
    buffer_clear(&buffer);
    assert_int_equal(file_read(at("five"), 4, &buffer, &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "five is larger than 4 bytes"));
    buffer_release(&buffer);
    assert_int_equal(file_size(at("five")), 5);
    assert_int_equal(file_size(at("none")), -1);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    const struct {
        const char *path;
        int status;
        const char *words;
    } cases[] = {
        {at("missing"), ERROR_IO, "missing: No such file"},
        {folder, ERROR_INVALID, "is a folder"},
        {at("pipe"), ERROR_INVALID, "must be a regular file"}, /* and nothing waits for a writer */
        {"/dev/null", ERROR_INVALID, "must be a regular file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer buffer;
        struct error error = ERROR_INIT;
        buffer_init(&buffer);
        assert_int_equal(file_read(cases[i].path, 100, &buffer, &error), cases[i].status);
        assert_non_null(strstr(error.message, cases[i].words));
        assert_int_equal(buffer.length, 0);
        buffer_release(&buffer);
    }
    /* A file of the kernel's says that it has 0 bytes. */
    struct buffer buffer;
    buffer_init(&buffer);
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &buffer, NULL), 0);
    assert_true(buffer.length > 0);
    buffer_release(&buffer);
}

static int entries(const char *path)
{
    int count = 0;
    char *command = NULL;
    assert_true(asprintf(&command, "ls -A '%s' | wc -l", path) > 0);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    assert_int_equal(pclose(pipe), 0);
    free(command);
    return count;
}

static void replacing_leaves_one_whole_file(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(mkdir(at("replace"), 0777), 0);
    assert_int_equal(file_replace(at("replace/r"), "first", 5, &error), 0);
    assert_holds(at("replace/r"), "first", 5);
    assert_int_equal(file_replace(at("replace/r"), "2", 1, &error), 0);
    assert_holds(at("replace/r"), "2", 1);
    assert_int_equal(file_replace(at("replace/r"), "", 0, &error), 0);
    assert_int_equal(file_size(at("replace/r")), 0);
    assert_int_equal(entries(at("replace")), 1);

    assert_int_equal(file_replace(at("none/r"), "x", 1, &error), ERROR_IO);
    assert_non_null(strstr(error.message, "none/r"));
    error_clear(&error);
    assert_int_equal(file_replace(folder, "x", 1, &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "is a folder"));
}

static void replacing_respects_links_and_devices(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct stat status;
    write_bytes(at("target"), "old", 3);
    assert_int_equal(symlink("target", at("link")), 0);
    assert_int_equal(file_replace(at("link"), "new", 3, &error), 0);
    assert_holds(at("target"), "new", 3);
    assert_int_equal(lstat(at("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));

    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    int reader = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(file_replace(at("fifo"), "piped", 5, &error), 0);
    char got[8];
    assert_int_equal(read(reader, got, sizeof got), 5);
    close(reader);
    assert_int_equal(stat(at("fifo"), &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(file_make_folder(at("a/b//c/"), &error), 0);
    assert_int_equal(file_make_folder(at("a/b/c"), &error), 0);
    assert_int_equal(file_sync_folder(at("a/b/c"), &error), 0);
    assert_int_equal(file_make_folder("/", &error), 0);
    write_bytes(at("a/file"), "", 0);
    assert_int_equal(file_make_folder(at("a/file"), &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "a/file exists and is no folder"));
    error_clear(&error);
    assert_int_equal(file_make_folder(at("a/file/below"), &error), ERROR_INVALID);
    error_clear(&error);
    assert_int_equal(file_make_folder("", &error), ERROR_INVALID);
    error_clear(&error);
    assert_int_equal(file_sync_folder(at("a/none"), &error), ERROR_IO);
}

static void removing_what_is_missing_is_no_error(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    write_bytes(at("gone"), "x", 1);
    assert_int_equal(file_remove(at("gone"), &error), 0);
    assert_int_equal(file_size(at("gone")), -1);
    assert_int_equal(file_remove(at("gone"), &error), 0);
    assert_int_not_equal(file_remove(folder, &error), 0);
    assert_non_null(strstr(error.message, folder));
}

static int questions;

static bool cancel_at_second(void)
{
    return ++questions >= 2;
}

static void copies_are_exact(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    static const size_t sizes[] = {0, 1, 4096, 4097, (1 << 20) + 1, (17 << 20) + 3};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *bytes = malloc(sizes[s] + 1);
        assert_non_null(bytes);
        for (size_t i = 0; i < sizes[s]; i++) {
            bytes[i] = (char)(i * 2654435761u >> 13);
        }
        write_bytes(at("from"), bytes, sizes[s]);
        assert_int_equal(file_copy(at("from"), at("to"), NULL, &error), 0);
        assert_holds(at("to"), bytes, sizes[s]);
        assert_int_equal(file_copy(at("from"), at("to"), NULL, &error), ERROR_IO);
        assert_non_null(strstr(error.message, "/to: File exists"));
        assert_holds(at("to"), bytes, sizes[s]); /* what was there is not removed */
        error_clear(&error);
        assert_int_equal(file_remove(at("to"), &error), 0);
        free(bytes);
    }
    /* A source of which copy_file_range gives nothing is read. */
    assert_int_equal(file_copy("/proc/self/status", at("to"), NULL, &error), 0);
    assert_true(file_size(at("to")) > 0);
    assert_int_equal(file_remove(at("to"), &error), 0);
}

static bool cancel_at_once(void)
{
    return true;
}

static void a_cancelled_copy_leaves_nothing(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    write_bytes(at("from"), "x", 1);
    assert_int_equal(file_copy(at("from"), at("to"), cancel_at_once, &error), ERROR_INTERRUPTED);
    assert_int_equal(file_size(at("to")), -1);
    error_clear(&error);
    /* At the second question, unless the file system cloned the file whole. */
    int status = file_copy(at("from"), at("to"), cancel_at_second, &error);
    assert_int_equal(status, questions >= 2 ? ERROR_INTERRUPTED : 0);
    assert_int_equal(file_size(at("to")), questions >= 2 ? -1 : 1);
    error_clear(&error);
    file_remove(at("to"), NULL);
    assert_int_equal(file_copy(at("missing"), at("to"), NULL, &error), ERROR_IO);
    assert_int_equal(file_size(at("to")), -1);
    error_clear(&error);
    assert_int_equal(file_copy(folder, at("to"), NULL, &error), ERROR_INVALID);
}

/* A device of the test's own: as root, a mistake would put a file where /dev/full is. */
static void a_full_device_is_told_apart(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    int fd = -1;
    if (mknod(at("full"), S_IFCHR | 0600, makedev(1, 7)) == 0) {
        fd = open(at("full"), O_WRONLY | O_CLOEXEC);
    }
    if (fd < 0) {
        print_message("this account or file system has no devices\n");
        skip();
    }
    close(fd);
    assert_int_equal(file_replace(at("full"), "x", 1, &error), ERROR_FULL);
    assert_non_null(strstr(error.message, "/full"));
}

static void paths_are_joined_by_one_slash(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"},    {"/", "b", "/b"},
        {"", "b", "b"},    {"a/b", "c", "a/b/c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = file_join(cases[i][0], cases[i][1]);
        assert_string_equal(path, cases[i][2]);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_keeps_to_the_limit),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(replacing_leaves_one_whole_file),
        cmocka_unit_test(replacing_respects_links_and_devices),
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test(removing_what_is_missing_is_no_error),
        cmocka_unit_test(copies_are_exact),
        cmocka_unit_test(a_cancelled_copy_leaves_nothing),
        cmocka_unit_test(a_full_device_is_told_apart),
        cmocka_unit_test(paths_are_joined_by_one_slash),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
