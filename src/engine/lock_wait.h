/*
 * The schedule by which SQLite's own busy handler waits for a lock, and Turso's, which copies it:
 * sleeps of 1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50 ms, then 100 ms each time; the sleep
 * that would pass the timeout is cut, so that the sum of the sleeps is the timeout exactly. A
 * write tail of 5 ms under contention is this schedule, not I/O: hence waits are counted.
 */
#ifndef PITOT_ENGINE_LOCK_WAIT_H
#define PITOT_ENGINE_LOCK_WAIT_H

#include <stdint.h>

/* Milliseconds to sleep before try `count` (from 0) of one lock, of a timeout of
 * timeout_ms in all; 0: give up. */
uint32_t lock_wait_delay(uint32_t count, uint32_t timeout_ms);

#endif
