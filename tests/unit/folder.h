/* A folder of its own for each test, and what tests do with files in it. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static inline int remove_entry(const char *path, const struct stat *status, int kind,
                               struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

/* cmocka's set-up and tear-down. */
static inline int make_test_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/pitot-test-XXXXXX", base == NULL ? "/tmp" : base);
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static inline int remove_test_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of a file below the folder; the last four stay valid. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static inline void write_bytes(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static inline int exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static inline void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" does not hold \"%s\"", text, part);
    }
}

#endif
