/*
 * Preloaded into pitot by the tests: allocations that fail on purpose.
 *
 *     PITOT_FAIL_AT=n     the n-th allocation of the process fails, counted from 1
 *     PITOT_FAIL_ALL=1    and all after it
 *     PITOT_FAIL_COUNT=f  the number of allocations is written to the file f at the end
 *
 * Only processes that are called "pitot" are meant: workers inherit the environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The C library's own, under the names that it keeps for this purpose. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

EXPORTED void *malloc(size_t size);
EXPORTED void *calloc(size_t count, size_t size);
EXPORTED void *realloc(void *memory, size_t size);

static atomic_ulong allocations;
static unsigned long fail_at; /* 0: never */
static bool fail_all;
static const char *count_file;

__attribute__((constructor)) static void begin(void)
{
    if (strcmp(program_invocation_short_name, "pitot") != 0) {
        return;
    }
    const char *at = getenv("PITOT_FAIL_AT");
    fail_all = getenv("PITOT_FAIL_ALL") != NULL;
    count_file = getenv("PITOT_FAIL_COUNT");
    atomic_store(&allocations, 0); /* what came before was the dynamic linker's */
    fail_at = at != NULL ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int fd = count_file != NULL ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd >= 0) {
        int length = snprintf(text, sizeof text, "%lu\n", atomic_load(&allocations));
        ssize_t written = write(fd, text, (size_t)length);
        (void)written; /* the test reads the file and sees */
        close(fd);
    }
}

static bool fails(void)
{
    unsigned long number = atomic_fetch_add(&allocations, 1) + 1;
    if (fail_at == 0 || number < fail_at || (number > fail_at && !fail_all)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}
