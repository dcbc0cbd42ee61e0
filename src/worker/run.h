/* A run as the main thread sees it; for run.c and run_result.c. */
#ifndef PITOT_WORKER_RUN_H
#define PITOT_WORKER_RUN_H

#include "worker/connection.h"
#include "worker/worker.h"

struct run {
    struct run_shared shared;
    struct worker *worker;
    struct connection *connections;
    uint32_t count;   /* of connections */
    uint32_t started; /* threads that were started and not yet joined */

    uint64_t warmup_ns;  /* until the last connection was through */
    bool measured;       /* `go` came, and the measured part took place */
    bool partial;        /* `stop` came before its end */
    uint64_t stopped_ns; /* when it came; 0: it did not */
    uint64_t close_ns;
    uint64_t peak_memory_bytes; /* taken before the result is made */
    struct usage usage_start;
};

/* The lines `ready` and `result`; new references. NULL: `failure` is filled. Only while every
 * thread waits or has left. */
json_t *run_ready(struct run *run, struct failure *failure);
json_t *run_result(struct run *run, struct failure *failure);

#endif
