/* --json is tried before anything is measured, and trying changes nothing. */
#include "cli/json_target.h"

#include "base/file.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 256 };
static char folder[PATH_SIZE / 2];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/pitot-json-target-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static size_t entries_in_folder(void)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    while (readdir(open) != NULL) {
        count++;
    }
    closedir(open);
    return count - 2; /* . and .. */
}

static int check(const char *name, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s%s", folder, name);
    error_clear(error);
    return json_target_check("--json", path, error);
}

static void test_new_file(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(check("/new.json", &error), 0);
    assert_int_equal(entries_in_folder(), 0);
}

static void test_existing_file_is_not_touched(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/old.json", folder);
    assert_int_equal(file_replace(path, "precious", 8, &error), 0);
    struct stat before;
    struct stat after;
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(check("/old.json", &error), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino);
    assert_int_equal(after.st_size, 8);
    assert_int_equal(entries_in_folder(), 1);
    unlink(path);
}

static void test_refusals(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(check("", &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "is a folder"));
    assert_int_equal(check("/sub/", &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "is a folder"));
    assert_int_equal(check("/missing/new.json", &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "its folder does not exist"));
    error_clear(&error);
    assert_int_equal(json_target_check("--json", "/proc/new.json", &error), ERROR_INVALID);
    assert_int_equal(entries_in_folder(), 0);
}

static void test_devices_are_written_to_as_they_are(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(json_target_check("--json", "/dev/null", &error), 0);
}

/* Two names of one file are found whether it is there or not. */
static void test_differs(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    char file[PATH_SIZE];
    char same[PATH_SIZE];
    char other[PATH_SIZE];
    snprintf(file, sizeof file, "%s/a.json", folder);
    snprintf(same, sizeof same, "%s/./a.json", folder);
    snprintf(other, sizeof other, "%s/b.html", folder);
    for (int exists = 0; exists < 2; exists++) {
        if (exists == 1) {
            assert_int_equal(file_replace(file, "{}", 2, &error), 0);
        }
        error_clear(&error);
        assert_int_equal(json_target_differs("--html", file, other, "that", &error), 0);
        assert_int_equal(json_target_differs("--html", other, file, "that", &error), 0);
        assert_int_equal(json_target_differs("--html", same, file, "that", &error), ERROR_INVALID);
        assert_non_null(strstr(error.message, "is also that; name another file"));
    }
    assert_int_equal(symlink(file, other), 0);
    error_clear(&error);
    assert_int_equal(json_target_differs("--html", other, file, "that", &error), ERROR_INVALID);
    error_clear(&error);
    assert_int_equal(json_target_differs("--html", "/dev/null", "/dev/null", "that", &error), 0);
    unlink(other);
    unlink(file);
}

static void test_dash(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_int_equal(json_target_check("--html", "-", &error), ERROR_INVALID);
    assert_non_null(strstr(error.message, "--html -: needs the name of a file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file), cmocka_unit_test(test_existing_file_is_not_touched),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_differs),
        cmocka_unit_test(test_dash),     cmocka_unit_test(test_devices_are_written_to_as_they_are),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
