/* What the tests of the engines share: temporary folders and SQLite libraries. */
#ifndef PITOT_TESTS_ENGINE_TEST_H
#define PITOT_TESTS_ENGINE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"

enum { PATH_SIZE = 1024, FOLDER_SIZE = 512 };

/* A new folder; remove it with folder_remove(). */
static inline void folder_make(char out[FOLDER_SIZE])
{
    const char *base = getenv("TMPDIR");
    snprintf(out, FOLDER_SIZE, "%s/pitot-engine-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(out));
}

static inline void folder_remove(const char *folder)
{
    char command[PATH_SIZE + 32];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

enum { LIBRARIES_MAX = 2 };

/* Real paths of the libraries to test with: the system's, and the one that
 * scripts/build-engine-sqlite built, if it did. */
static inline size_t libraries(char out[LIBRARIES_MAX][PATH_SIZE])
{
    static const char *const system_paths[] = {
        "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
        "/usr/lib/aarch64-linux-gnu/libsqlite3.so.0",
        "/usr/lib64/libsqlite3.so.0",
        "/usr/lib/libsqlite3.so.0",
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof system_paths / sizeof system_paths[0] && count == 0; i++) {
        char *real = realpath(system_paths[i], NULL);
        if (real != NULL) {
            snprintf(out[count++], PATH_SIZE, "%s", real);
        }
        free(real);
    }
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s/pitot/engines/sqlite/libsqlite3.so.0",
             cache != NULL ? cache : (home != NULL ? home : ""), cache != NULL ? "" : "/.cache");
    char *real = realpath(path, NULL);
    if (real != NULL) {
        snprintf(out[count++], PATH_SIZE, "%s", real);
    }
    free(real);
    if (count == 0) {
        print_error("these tests need libsqlite3.so.0 (Debian: apt-get install libsqlite3-0)\n");
    }
    return count;
}

#endif
