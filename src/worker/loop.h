/*
 * The hot loop of one connection, and all that it needs made beforehand.
 *
 * An operation is: pick a script, draw its parameters, read the clock, run, read the clock,
 * account. Two clock reads an operation; no system call of ours, no allocation after the first
 * draws, no output, no atomic but one relaxed store of the number of executions (for progress).
 * In an open loop (pace.h) there is the wait for the moment in which the operation is due between
 * the draws and the first reading; its latency counts from that moment.
 *
 * Random streams: the mix draws from (seed, MIX, connection, 0), the parameters of a script from
 * (seed, PARAMETERS, connection, its index in the job); warm-up has streams of its own. A script
 * is picked by one random_below(sum of weights): the first script in the role's order for which
 * the sum of weights up to and including its own is larger. With one script nothing is drawn.
 */
#ifndef PITOT_WORKER_LOOP_H
#define PITOT_WORKER_LOOP_H

#include "worker/failure.h"
#include "worker/job.h"
#include "worker/operation.h"
#include "worker/pace.h"
#include "worker/seconds.h"

#include <stdatomic.h>

/* A script as this connection runs it. */
struct loop_entry {
    const struct script *script;
    uint32_t index; /* in the job's scripts */
    bool read;      /* its statements must not write */
    int op_slot;
    struct evaluation evaluation;
    struct random random;
    struct engine_statement **statements; /* NULL until prepared */
    struct tally *tally;
};

struct loop {
    struct operation operation;
    const atomic_bool *stop; /* set by the main thread: begin no further operation */
    uint32_t connection;     /* its number */
    uint32_t seed;

    struct loop_entry *entries; /* one a share of the role, in its order */
    uint32_t entry_count;
    uint64_t total_weight;
    uint64_t *weight_up_to; /* sums of weights */
    uint16_t *picks;        /* entry by draw; NULL when the weights are large */
    struct random mix;

    struct tally *tallies; /* of the entries, in memory of mmap() */
    size_t tallies_bytes;
    struct seconds seconds;
    uint64_t latency_limit_ns;

    struct pace pace;    /* only its use of cores until a paced span starts */
    double gap_ns;       /* between two arrivals, mean; 0: there is no open loop */
    uint64_t horizon_ns; /* what was due before it should have begun; 0: nothing */

    uint64_t op;           /* `:op` of the next operation */
    uint64_t first_ns;     /* start of the first operation of the last loop_run; 0: none */
    uint64_t ended_ns;     /* end of the last one; the start of the span if there was none */
    uint64_t settled_ns;   /* the same of the last one that was not still open at the end */
    _Atomic uint64_t done; /* executions of the last loop_run so far; for other threads */
};

/* `loop` is zeroed memory; loop_release() may be called whatever this returns. The flags and the
 * job outlive the loop. Not yet usable: the connection and the statements are missing. */
int loop_init(struct loop *loop, const struct job *job, uint32_t role, uint32_t connection,
              const atomic_bool *stop, const atomic_bool *cut, struct failure *failure);
/* Statements must have been finalized. */
void loop_release(struct loop *loop);

/* Prepares every statement on a connection and checks its number of parameters. */
int loop_prepare(struct loop *loop, const struct engine_ops *ops,
                 struct engine_connection *connection, struct failure *failure);
/* Finalizes them. */
void loop_finalize(struct loop *loop);

/* Empties the account (but for what is acknowledged) and starts the random streams. */
void loop_restart(struct loop *loop, bool warmup);

/* For how long a loop runs. */
struct loop_span {
    const char *phase;    /* for failures */
    uint64_t start_ns;    /* the seconds are counted from here */
    uint64_t deadline_ns; /* no operation begins from here on; UINT64_MAX: none */
    uint64_t operations;  /* executions, whatever their outcome; UINT64_MAX: no limit */
    bool paced;           /* an open loop; until the deadline even if nothing is due any more */
};
/* Runs until the span is over or `stop` is set. Nonzero: a script could not be evaluated. */
int loop_run(struct loop *loop, const struct loop_span *span, struct failure *failure);

/* After a paced span: how many operations were due within it and never began. `count_max` as in
 * pace_backlog(). To be asked once. */
uint64_t loop_backlog(struct loop *loop, uint64_t count_max);

#endif
