/* What the coordinator sees of a run from outside: sizes of the files by stat(2), and what the
 * machine does meanwhile. */
#ifndef PITOT_COORDINATOR_RUN_WATCH_H
#define PITOT_COORDINATOR_RUN_WATCH_H

#include "coordinator/conditions.h"
#include "result/result.h"

/* It is looked so often, and a size is kept once a second. */
#define RUN_WATCH_EVERY_NS (100 * UINT64_C(1000000))

struct run_watch {
    struct result_run *run; /* gets largest_wal_bytes, seconds (sizes only), cpu_others, steal */
    const char *database;   /* NULL: the engine has none */
    uint64_t at_ns;         /* the moment of go */
    uint64_t duration_ns;   /* RESULT_ABSENT: until run_watch_end() */
    const int *pids;        /* of the workers */
    size_t pid_count;
    bool out_of_memory; /* out */
    /* private */
    uint64_t seconds_seen;
    bool watching, watched;
    struct conditions_watch machine;
};

/* From go on, every RUN_WATCH_EVERY_NS; `context` is the struct run_watch. */
void run_watch_look(void *context, uint64_t now_ns);
/* When the results are there. What others did is of interest until the deadline only: closing and
 * its checkpoint come after. */
void run_watch_end(struct run_watch *watch);

/* Bytes of the file `path` with `suffix` behind it; RESULT_ABSENT: it is not there. */
uint64_t run_watch_size(const char *path, const char *suffix);

#endif
