/* Structs of the public header that may grow: their first member says how much of them the caller
 * knows. */
#ifndef PITOT_LIB_EXTEND_H
#define PITOT_LIB_EXTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copies options in. A caller that knows less is given zeros; one that knows more must have left
 * the rest at 0. false: that is not so, or the size cannot be right (less than `smallest`, the
 * first version's). */
static inline bool extend_in(void *known, size_t size, const void *given, size_t given_size,
                             size_t smallest)
{
    if (given_size < smallest) {
        return false;
    }
    for (size_t i = size; i < given_size; i++) {
        if (((const unsigned char *)given)[i] != 0) {
            return false;
        }
    }
    memset(known, 0, size);
    memcpy(known, given, given_size < size ? given_size : size);
    return true;
}

/* Copies results out into `room` bytes; what the library does not know becomes 0. The first member,
 * the size, stays the caller's. */
static inline void extend_out(void *out, size_t room, const void *known, size_t size)
{
    size_t common = room < size ? room : size;
    memcpy((char *)out + sizeof(size_t), (const char *)known + sizeof(size_t),
           common - sizeof(size_t));
    memset((char *)out + common, 0, room - common);
}

#endif
