/* One connection of a run and the thread that owns it. */
#ifndef PITOT_WORKER_CONNECTION_H
#define PITOT_WORKER_CONNECTION_H

#include "measure/usage.h"
#include "worker/gate.h"
#include "worker/loop.h"
#include "worker/settings.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the connections of a run share. The main thread writes the moments before it opens the
 * stage that reads them; the flags at any time. */
struct run_shared {
    const struct engine_ops *ops;
    struct engine *engine;
    const struct job *job;
    struct gate gate;
    uint64_t warmup_deadline_ns; /* UINT64_MAX: by operations */
    uint64_t at_ns;              /* when the measured part starts */
    uint64_t deadline_ns;        /* no operation begins from then on; UINT64_MAX: none */
    atomic_bool stop;            /* begin no further operation */
    atomic_bool cut;             /* end the operation that runs */
    atomic_uint running;         /* threads whose measured part has not ended */
    atomic_uint opened;          /* connections that are open and set */
    struct usage usage_end;      /* taken by the thread that ended last */
};

/* Written by its own thread until that has left (but for `number` to `thread`). */
struct connection {
    struct run_shared *shared;
    uint32_t number; /* over all workers */
    uint32_t role;
    pthread_t thread;
    _Atomic(struct engine_connection *) handle; /* NULL until open; the main thread closes it */
    atomic_bool ended; /* its last operation is over: it need not be interrupted */
    struct loop loop;
    struct setting_state *settings;
    uint64_t warmup_operations;
    uint64_t cpu_ns;       /* of the measured part */
    uint64_t run_queue_ns; /* USAGE_ABSENT: not known */
    struct engine_waits waits;
    struct failure failure;
};

/* The thread's function; the argument is a struct connection. */
void *connection_main(void *argument);

#endif
