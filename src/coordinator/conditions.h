/*
 * Fair start: what must hold on the machine before an engine is released, and what
 * the machine did meanwhile.
 */
#ifndef PITOT_COORDINATOR_CONDITIONS_H
#define PITOT_COORDINATOR_CONDITIONS_H

#include "core/error.h"
#include "measure/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the wait looks at; conditions_init() takes the real ones, a test its own. */
struct conditions_source {
    uint64_t (*dirty_bytes)(void *context); /* Dirty + Writeback, or USAGE_ABSENT */
    uint64_t (*now_ns)(void *context);
    void (*pause)(void *context, uint64_t ns); /* or until a signal asks for the end */
    void *context;
};

struct conditions {
    struct conditions_source source;
    uint64_t dirty_at_start; /* Dirty + Writeback when the command started; USAGE_ABSENT */
    uint32_t timeouts;       /* times that the wait ended without success */
};

/* Above its value at the start, Dirty + Writeback may be this much at `go`: a copy that is
 * written back in the next engine's window would be charged to that engine. */
#define CONDITIONS_DIRTY_MAX (16u << 20)

void conditions_init(struct conditions *conditions);
/* The same with another source. */
void conditions_init_with(struct conditions *conditions, const struct conditions_source *source);

/* Waits until Dirty + Writeback is low enough, up to 30 s (2 s after two time-outs). False: it
 * never was. `dirty` gets the last excess in bytes. A signal ends the wait. */
bool conditions_settle(struct conditions *conditions, uint64_t *dirty);

/* Reads a file once through, so that every engine finds the same page cache. */
int conditions_read_through(const char *path, struct error *error);

/* CPU of others and steal between two moments, as shares of all cores; of the same `count` workers,
 * by their process ids, at both. */
struct conditions_watch {
    struct usage_machine machine;
    uint64_t workers_cpu_ns;
    uint64_t own_cpu_ns;
    bool known;
};
void conditions_watch_begin(struct conditions_watch *watch, const int *pids, size_t count);
/* NAN where it cannot be told. */
void conditions_watch_end(const struct conditions_watch *watch, const int *pids, size_t count,
                          double *others, double *steal);

#endif
