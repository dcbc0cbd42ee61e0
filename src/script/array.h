/* Arrays that grow one by one while a script or suite is read. */
#ifndef PITOT_SCRIPT_ARRAY_H
#define PITOT_SCRIPT_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* Room for one more behind `count` elements: the capacity is the next power of
 * two, so nothing but the count is kept. NULL: no memory, the old array stays. */
static inline void *array_grow(void *array, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0) {
        return array;
    }
    size_t capacity = count == 0 ? 1 : count * 2;
    return capacity > (size_t)-1 / size ? NULL : realloc(array, capacity * size);
}

#endif
