#include "worker/seconds.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static size_t row_size(const struct seconds *seconds)
{
    return (size_t)2 * seconds->entries;
}

int seconds_init(struct seconds *seconds, uint32_t entries, uint64_t limit_ns, struct error *error)
{
    *seconds = (struct seconds){.entries = entries, .capacity = SECONDS_CAPACITY};
    if (limit_ns / NS_PER_S + 2 < SECONDS_CAPACITY) {
        seconds->capacity = (uint32_t)(limit_ns / NS_PER_S + 2 + 1) & ~UINT32_C(1);
    }
    seconds->bytes = seconds->capacity * row_size(seconds) * sizeof(uint64_t);
    void *memory =
        mmap(NULL, seconds->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        seconds->bytes = 0;
        return error_errno(error, errno, "no memory for the counts of each second");
    }
    seconds->counts = memory;
    seconds_restart(seconds, 0);
    return 0;
}

void seconds_release(struct seconds *seconds)
{
    if (seconds->counts != NULL) {
        munmap(seconds->counts, seconds->bytes);
        seconds->counts = NULL;
    }
}

void seconds_restart(struct seconds *seconds, uint64_t start_ns)
{
    memset(seconds->counts, 0, ((size_t)seconds->index + 1) * row_size(seconds) * sizeof(uint64_t));
    seconds->index = 0;
    seconds->width_ns = NS_PER_S;
    seconds->start_ns = start_ns;
    seconds->end_ns = start_ns + NS_PER_S;
}

/* Each two intervals become one; the one counted in is among them. */
static void halve(struct seconds *seconds)
{
    size_t row = row_size(seconds);
    uint32_t used = seconds->index + 1;
    for (uint32_t i = 0; i < used; i++) {
        uint64_t *into = seconds->counts + (size_t)(i / 2) * row;
        const uint64_t *from = seconds->counts + (size_t)i * row;
        for (size_t k = 0; k < row; k++) {
            into[k] = from[k] + (i % 2 == 0 ? 0 : into[k]);
        }
    }
    uint32_t kept = (used + 1) / 2;
    memset(seconds->counts + (size_t)kept * row, 0, (used - kept) * row * sizeof(uint64_t));
    seconds->width_ns *= 2;
    seconds->index /= 2;
    seconds->end_ns = seconds->start_ns + (seconds->index + UINT64_C(1)) * seconds->width_ns;
}

void seconds_move(struct seconds *seconds, uint64_t now_ns)
{
    while (now_ns >= seconds->end_ns) {
        if (seconds->index + 1 == seconds->capacity) {
            halve(seconds);
            continue;
        }
        seconds->index++;
        seconds->end_ns += seconds->width_ns;
    }
}

void seconds_widen(struct seconds *seconds, uint64_t width_ns)
{
    while (seconds->width_ns < width_ns) {
        halve(seconds);
    }
}
