/* A source from within: its thread, its schedule, the results of its passes. */
#ifndef PITOT_LIB_SOURCE_H
#define PITOT_LIB_SOURCE_H

#include "lib/apply.h"
#include "lib/stage.h"
#include "lib/store.h"
#include "lib/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { RESULTS_KEPT = 16 };

struct source_table {
    enum pitot_mode mode;
    struct table *table;
    struct stage *stage; /* the source's thread */
    struct apply *apply; /* the store's `writing`; NULL once the store is closed */
    uint64_t definition; /* hash of the CREATE statement that `table` was read from */
};

/* One run of the function, reused from pass to pass; the source's thread. */
struct pitot_pass {
    struct pitot_source *source;
    uint64_t number;
    uint64_t deadline_ns;       /* UINT64_MAX: none */
    struct pitot_error failure; /* the first; code 0: none */
};

struct pitot_source {
    struct pitot_store *store;
    struct pitot_source *next;
    uint64_t id; /* of all sources of the process */
    char name[PITOT_NAME_SIZE];
    pitot_function *function;
    void *context;
    uint64_t interval_ns; /* 0: when asked only */
    uint64_t deadline_ns; /* 0: none */
    uint64_t backoff_ns;
    uint64_t backoff_max_ns;
    struct source_table *tables;
    size_t table_count;
    pthread_t thread;
    pthread_cond_t wake;   /* look at what is asked; with the store's mutex */
    int cancel_descriptor; /* timerfd: readable when the pass is to end */
    atomic_bool cancelled; /* stopped or closing; set under the store's mutex */
    struct pitot_pass pass;
    struct pitot_sync sync; /* as last written; the source's thread */
    int64_t seen_version;   /* data_version at the end of its last transaction; with `writing` */

    /* Under the store's mutex: */
    uint64_t opened;     /* number of the last pass whose opening was posted */
    uint64_t begun;      /* of the last one that has begun */
    uint64_t ended;      /* and of the last one that has ended */
    uint64_t started_ns; /* of the running one; 0: none is running */
    bool requested;
    bool stopping;
    bool threaded;        /* the thread has not been joined */
    bool stopped;         /* the thread touches nothing of the store any more */
    uint64_t memory_kept; /* between passes */
    uint64_t rows_kept;
    struct {
        uint64_t pass;
        struct pitot_error error;
    } results[RESULTS_KEPT]; /* of pass n in n % RESULTS_KEPT */
};

/* The source whose function the calling thread is in, or NULL. */
struct pitot_source *source_current(void);

/* Asks the thread to end. With the store's mutex held. */
void source_ask_to_stop(struct pitot_source *source);

/* Frees statements on the writer's connection; with `writing` held. */
void source_leave_database(struct pitot_source *source);

/* After its thread has ended. */
void source_free(struct pitot_source *source);

#endif
