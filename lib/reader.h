/* A reader from within: what the statistics look at. */
#ifndef PITOT_LIB_READER_H
#define PITOT_LIB_READER_H

#include "lib/connection.h"
#include "lib/process.h"

struct pitot_reader {
    struct process *process;
    struct pitot_store *store; /* NULL: opened by its path */
    struct pitot_reader *next; /* under the store's mutex */
    char name[PITOT_NAME_SIZE];
    struct connection connection;
    sqlite3_stmt *begin;
    sqlite3_stmt *end;
    sqlite3_stmt *data_version;
    sqlite3_stmt *sync;
    int64_t seen_version;
    _Atomic uint64_t snapshot_ns; /* when it began; 0: none is open. Read by pitot_stats() */
};

#endif
