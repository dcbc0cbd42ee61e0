/* What tests tell the library fake-turso, and what it tells them: fake_turso() of the loaded file
 * hands out the one struct. */
#ifndef PITOT_TESTS_FAKE_TURSO_H
#define PITOT_TESTS_FAKE_TURSO_H

#include "base/value.h"
#include "engine/turso_library.h"

enum { FAKE_COLUMNS_MAX = 8, FAKE_CALLS_SIZE = 4096 };

struct fake_turso {
    /* ---- told by the test */
    char abi_version[32], version[32]; /* of the C ABI, and of the engine under it */
    char journal_mode[32];
    int open_code, connect_code, prepare_code, bind_code; /* of the next such calls; 0: they work */
    unsigned open_ios; /* how often opening a database wants input and output first */
    /* The result of a step; `steps` counts from 1 since the last reset. *text is its message. NULL,
     * or a result of FAKE_DEFAULT: a row for a PRAGMA that is known, then the end. */
    int (*step)(const char *sql, unsigned steps, const char **text);
    int reset_code, run_io_code;
    bool in_transaction;
    struct value row[FAKE_COLUMNS_MAX];
    uint32_t columns;
    int64_t n_change;

    /* ---- told by the library */
    struct turso_database_config config;                  /* the last */
    char path[256], vfs[32];                              /* of it */
    unsigned databases, connections, statements, strings; /* handed out and not given back */
    unsigned run_ios, resets;
    struct value bound[FAKE_COLUMNS_MAX]; /* as passed: the pointers, not the bytes */
    char calls[FAKE_CALLS_SIZE];          /* connect, timeout MS, prepare SQL, step SQL: by lines */
};

enum { FAKE_DEFAULT = -1 };

struct fake_turso *fake_turso(void);

#endif
