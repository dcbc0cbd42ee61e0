/*
 * A store from within.
 *
 * Two locks, taken in this order:
 *     writing    the writer's connection: one transaction or checkpoint at a time
 *     mutex      everything else that threads share: the lists, what sources are doing, the queues
 *                of events; held for microseconds, never while SQLite or a source's function runs
 *
 * Memory: the store is kept by its handle, by each source whose thread has not ended, by each
 * reader and subscription. What a closed store has left is that memory.
 */
#ifndef PITOT_LIB_STORE_H
#define PITOT_LIB_STORE_H

#include "lib/connection.h"
#include "lib/lock.h"
#include "lib/schema.h"
#include "lib/stats.h"
#include "lib/wal_vfs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { DEFAULT_BUSY_TIMEOUT_MS = 5000 };

struct writer {
    struct connection connection; /* db is NULL once the store is closed */
    bool ready;                   /* the rest is there: from the first source on */
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *rollback;
    sqlite3_stmt *data_version;
    sqlite3_stmt *sync_write;
    uint64_t commit_sequence;
    int64_t schema_cookie; /* as of when the sources' tables were read */
    bool side_effects;     /* a statement on one table may change another */
    int page_size;
    int wal_frames;        /* after the last commit, as SQLite reports it */
    uint64_t outlast_from; /* bytes of the WAL from which on a checkpoint outlasts readers; 0: none
                              has been due since it began anew */
};

struct pitot_store {
    struct process *process;
    atomic_uint references;
    char *path;
    char *set_aside;     /* NULL: nothing was */
    char *vfs;           /* NULL: the default one */
    struct wal_vfs *wal; /* above it, for the writer's connection; NULL until that is opened */
    int outcome;
    int busy_timeout_ms;
    int64_t wal_limit;
    struct schema schema; /* without the DDL */
    struct lock lock;
    bool lock_lost;      /* its file is gone, so another store may be open; with `writing` */
    atomic_bool closing; /* set under mutex; read anywhere */

    pthread_mutex_t writing;
    struct writer writer;

    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a pass or a thread has ended, or the store is closing */
    unsigned waiters;       /* of `changed` */
    bool closed;            /* the database is closed and the lock given up */
    struct pitot_source *sources;
    struct pitot_subscription *subscriptions;
    struct pitot_reader *readers;

    struct stats stats; /* has a lock of its own */
};

void store_retain(struct pitot_store *store);
/* Frees the memory with the last reference. */
void store_release(struct pitot_store *store);

/* Prepares the writer for passes, when the first source comes. With `writing` held. */
int writer_make_ready(struct pitot_store *store, struct pitot_error *error);

/* Bytes of the WAL that were written since it last began anew. */
uint64_t writer_wal_bytes(const struct writer *writer);

/* Finalizes the statements and closes the connection. With `writing` held. */
void writer_close(struct writer *writer);

/* SQLite has found the database to be damaged: the next opening sets it aside. With `writing` held.
 */
void store_note_damage(struct pitot_store *store);

/* What every call begins with: FORKED, or CLOSED when the store is closing. */
int store_check(const struct pitot_store *store, struct pitot_error *error);

/* A condition whose moments are those of the monotonic clock. */
void condition_init(pthread_cond_t *condition);

/* Waits for `changed`, with the mutex held. false: the moment has passed (UINT64_MAX: never). */
bool store_wait(struct pitot_store *store, uint64_t until_ns);

/* The moment of a timeout; UINT64_MAX for PITOT_FOREVER. */
uint64_t timeout_moment(int timeout_ms);

#endif
