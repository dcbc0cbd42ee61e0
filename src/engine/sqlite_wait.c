#include "engine/sqlite_wait.h"

#include "core/clock.h"

/* The timeout is told by the clock: sleeps this short last longer than asked. */
static int wait_fine(struct sqlite_wait *self, int count)
{
    uint64_t start = clock_now_ns();
    if (count == 0) {
        self->began_ns = start;
    }
    if (start - self->began_ns >= self->timeout_ms * NS_PER_MS ||
        atomic_load_explicit(&self->interrupted, memory_order_relaxed)) {
        return 0;
    }
    clock_sleep_until_ns(start + SQLITE_WAIT_FINE_NS);
    self->waits.slept_ns += clock_now_ns() - start;
    self->waits.count++;
    return !atomic_load_explicit(&self->interrupted, memory_order_relaxed);
}

int sqlite_wait_handler(void *wait, int count)
{
    struct sqlite_wait *self = wait;
    if (self->fine) {
        return wait_fine(self, count);
    }
    uint32_t delay = lock_wait_delay((uint32_t)count, self->timeout_ms);
    if (delay == 0 || atomic_load_explicit(&self->interrupted, memory_order_relaxed)) {
        return 0;
    }
    uint64_t start = clock_now_ns();
    self->api->sleep((int)delay);
    self->waits.slept_ns += clock_now_ns() - start;
    self->waits.count++;
    return !atomic_load_explicit(&self->interrupted, memory_order_relaxed);
}
