/*
 * One value of a staged row, as the source hands it over.
 */
#ifndef PITOT_LIB_VALUE_H
#define PITOT_LIB_VALUE_H

#include <stdint.h>

enum pitot_type {
    PITOT_NULL = 0,
    PITOT_INTEGER, /* integer */
    PITOT_REAL,    /* real; a NaN is stored as NULL, as SQLite does */
    PITOT_TEXT,    /* size bytes of UTF-8 at bytes; no NUL is needed behind them */
    PITOT_BLOB     /* size bytes at bytes */
};

struct pitot_value {
    uint32_t type; /* enum pitot_type */
    uint32_t size; /* bytes of a text or blob; not looked at otherwise */
    union {
        int64_t integer;
        double real;
        const void *bytes; /* may be NULL when size is 0 */
    } as;
};

#endif
