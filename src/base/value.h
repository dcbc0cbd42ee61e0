/* A value that is bound to a statement or read from a row. */
#ifndef PITOT_BASE_VALUE_H
#define PITOT_BASE_VALUE_H

#include <stdint.h>

enum value_type { VALUE_NULL, VALUE_INTEGER, VALUE_DOUBLE, VALUE_TEXT, VALUE_BLOB };

/* Text and blobs are borrowed: bytes, not necessarily NUL-terminated. Who makes
 * the value says how long the bytes live. */
struct value {
    enum value_type type;
    uint32_t length; /* bytes of text or blob */
    union {
        int64_t integer;
        double real;
        const char *bytes;
    };
};

#endif
