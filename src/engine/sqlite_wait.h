/* Waiting for locks as SQLite does under sqlite3_busy_timeout, but counted; or in small equal
 * steps, which shows how much of a tail is that schedule. */
#ifndef PITOT_ENGINE_SQLITE_WAIT_H
#define PITOT_ENGINE_SQLITE_WAIT_H

#include "engine/lock_wait.h"
#include "engine/sqlite_library.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SQLITE_WAIT_FINE_NS UINT64_C(100000)

struct sqlite_wait {
    const struct sqlite_api *api;
    uint32_t timeout_ms;
    bool fine;         /* sleeps of SQLITE_WAIT_FINE_NS until the timeout has passed */
    uint64_t began_ns; /* fine: when this lock was first found taken */
    struct engine_waits waits;
    atomic_bool interrupted; /* set by another thread, ends the waiting */
};

/* The busy handler; `wait` is a struct sqlite_wait. Sleeps once and returns 1, or 0
 * to give up. */
int sqlite_wait_handler(void *wait, int count);

#endif
