/*
 * Executions and slow executions in each second of the measured part, by script, on one
 * connection. An interval ends at (index + 1) * width after the start.
 *
 * Memory is fixed: when the intervals are used up (an hour), each two become one of twice the
 * width, so a run may last for any time. That costs some ten microseconds between two operations,
 * once an hour.
 */
#ifndef PITOT_WORKER_SECONDS_H
#define PITOT_WORKER_SECONDS_H

#include "core/clock.h"
#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

enum { SECONDS_CAPACITY = 3600 }; /* even */

struct seconds {
    uint64_t *counts; /* [capacity][2][entries] in memory of mmap(): operations, then slow */
    size_t bytes;
    uint32_t entries;
    uint32_t capacity; /* even */
    uint32_t index;    /* the interval that is counted in */
    uint64_t width_ns;
    uint64_t start_ns;
    uint64_t end_ns; /* of the interval at `index` */
};

/* `limit_ns`: how long the measured part can last, grace included; UINT64_MAX: not known. */
int seconds_init(struct seconds *seconds, uint32_t entries, uint64_t limit_ns, struct error *error);
void seconds_release(struct seconds *seconds);
/* Empties it and sets the start. */
void seconds_restart(struct seconds *seconds, uint64_t start_ns);

/* For seconds_add() alone: moves on to the interval that `now_ns` lies in. */
void seconds_move(struct seconds *seconds, uint64_t now_ns);

/* Counts one ok execution that ended at `now_ns`, which never goes back. */
static inline void seconds_add(struct seconds *seconds, uint32_t entry, uint64_t slow,
                               uint64_t now_ns)
{
    if (__builtin_expect(now_ns >= seconds->end_ns, 0)) {
        seconds_move(seconds, now_ns);
    }
    uint64_t *counts = seconds->counts + (size_t)seconds->index * 2 * seconds->entries + entry;
    counts[0]++;
    counts[seconds->entries] += slow;
}

/* Makes the intervals at least `width_ns` wide (a power of two of seconds). */
void seconds_widen(struct seconds *seconds, uint64_t width_ns);

static inline uint64_t seconds_operations(const struct seconds *seconds, uint32_t index,
                                          uint32_t entry)
{
    return seconds->counts[(size_t)index * 2 * seconds->entries + entry];
}
static inline uint64_t seconds_slow(const struct seconds *seconds, uint32_t index, uint32_t entry)
{
    return seconds->counts[((size_t)index * 2 + 1) * seconds->entries + entry];
}

#endif
