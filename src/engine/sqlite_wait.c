#include "engine/sqlite_wait.h"

#include "core/clock.h"

int sqlite_wait_handler(void *wait, int count)
{
    struct sqlite_wait *self = wait;
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
