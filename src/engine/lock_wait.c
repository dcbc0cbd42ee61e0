#include "engine/lock_wait.h"

uint32_t lock_wait_delay(uint32_t count, uint32_t timeout_ms)
{
    static const uint8_t delays[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
    enum { LAST = sizeof delays / sizeof delays[0] - 1 };
    uint64_t slept = 0;
    for (uint32_t i = 0; i < count && i < LAST; i++) {
        slept += delays[i];
    }
    if (count > LAST) {
        slept += (uint64_t)(count - LAST) * delays[LAST];
    }
    uint32_t delay = delays[count < LAST ? count : LAST];
    if (slept >= timeout_ms) {
        return 0;
    }
    return slept + delay > timeout_ms ? (uint32_t)(timeout_ms - slept) : delay;
}
