/* Reading what an engine hands out, as an application would: the sum of it all is kept by the
 * connection, so that no compiler leaves the reading out. */
#ifndef PITOT_ENGINE_TOUCH_H
#define PITOT_ENGINE_TOUCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads every byte. */
static inline uint64_t touch_bytes(const unsigned char *bytes, size_t length)
{
    uint64_t sum = length;
    while (length >= sizeof sum) {
        uint64_t part;
        memcpy(&part, bytes, sizeof part);
        sum += part;
        bytes += sizeof part;
        length -= sizeof part;
    }
    while (length > 0) {
        sum += *bytes++;
        length--;
    }
    return sum;
}

static inline uint64_t touch_double(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

#endif
