/*
 * Waiting for locks as SQLite does under sqlite3_busy_timeout, but counted.
 *
 * SQLite's own handler sleeps 1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50 ms, then
 * 100 ms each time, and cuts the sleep that would pass the timeout so that the sum
 * of the sleeps is the timeout exactly. A write tail of 5 ms under contention is
 * this schedule, not I/O: hence the count.
 */
#ifndef PITOT_ENGINE_SQLITE_WAIT_H
#define PITOT_ENGINE_SQLITE_WAIT_H

#include "engine/sqlite_library.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sqlite_wait {
    const struct sqlite_api *api;
    uint32_t timeout_ms;
    struct engine_waits waits;
    atomic_bool interrupted; /* set by another thread, ends the waiting */
};

/* Milliseconds to sleep before try `count` (from 0) of one lock, of a timeout of
 * timeout_ms in all; 0: give up. */
uint32_t sqlite_wait_delay(uint32_t count, uint32_t timeout_ms);

/* The busy handler; `wait` is a struct sqlite_wait. Sleeps once and returns 1, or 0
 * to give up. */
int sqlite_wait_handler(void *wait, int count);

#endif
