/*
 * Asking workers of one engine: they are started, told what to do, and a line is awaited from each
 * of them under the rules for life signs. Mostly it is one worker; the connections of a run may
 * also be workers of their own.
 *
 *     struct exchange exchange = exchange_about(plan_case, step, progress);
 *     settings_of_plan(…, &exchange.settings, …)
 *     exchange_begin(), exchange_send() to each, exchange_await(), perhaps exchange_finish()
 *     exchange_end(), whatever has failed
 */
#ifndef PITOT_COORDINATOR_EXCHANGE_H
#define PITOT_COORDINATOR_EXCHANGE_H

#include "coordinator/measure.h"
#include "coordinator/process.h"

/* A worker that has answered ends within this. */
#define EXCHANGE_END_NS (5 * UINT64_C(1000000000))

struct exchange_worker {
    struct worker_process *process;
    struct worker_identity identity;
    uint64_t connection; /* for messages of an exchange with several: the first that it serves */
    /* private: of its last progress line */
    uint64_t done, done_at_ns, total;
};

struct exchange {
    const struct plan_case *plan_case;
    const char *step; /* for progress: "sqlite: round 1 of 3" */
    const struct progress *progress;
    result_pairs settings; /* that the jobs ask for; owned */
    uint64_t started_ns;   /* of the step */
    uint64_t expected_ns;  /* how long the step may last; PROGRESS_UNKNOWN */
    uint64_t after_ns;     /* what comes after the step; PROGRESS_UNKNOWN */
    /* A worker is given up when `done` of its progress lines stands still for so long. Lines
     * alone are no sign of life: they come from a thread that measures nothing. UINT64_MAX: no
     * limit. */
    uint64_t headway_ns;
    bool lines_are_life; /* but here they are: one step may count nothing for as long as it takes */
    uint64_t deadline_ns; /* absolute; UINT64_MAX: none */
    bool loading;         /* errors are about load.sql */
    bool uninterruptible;
    bool until_repeated; /* uninterruptible, but a further signal ends it */
    /* Called at tick_at_ns, then every tick_every_ns. */
    void (*tick)(void *context, uint64_t now_ns);
    void *tick_context;
    uint64_t tick_at_ns;
    uint64_t tick_every_ns;

    const char *engine; /* its name, for messages */
    struct exchange_worker *workers;
    size_t count;
    size_t at_fault;      /* out: the worker that failed last */
    bool error_said;      /* out: it said so itself, by an error line */
    bool script_at_fault; /* out: which blames a script */
    /* private */
    bool closing;
    uint64_t told_ns, told_done; /* progress that was passed on */
    double per_second;
};

/* One that has not begun: without a deadline, with the headway that the plan gives. */
struct exchange exchange_about(const struct plan_case *plan_case, const char *step,
                               const struct progress *progress);

/* Starts `count` workers of an engine, and `log` as of worker_start(). "Could start 3 of 8 workers"
 * where several were to be. */
int exchange_begin(struct exchange *exchange, const struct engine_choice *choice, size_t count,
                   result_strings *log, struct error *error);

/* Sends a line and takes its reference; NULL: out of memory. */
int exchange_send(struct exchange *exchange, size_t worker, json_t *line, struct error *error);

/* Waits for a line of that kind from every worker whose entry in `lines` (one a worker) is NULL,
 * and puts a new reference there; progress lines are passed on. An `error` line, a wrong line, a
 * worker's end, no headway, the deadline: an error that says so; lines that came until then stay.
 */
int exchange_await(struct exchange *exchange, const char *kind, json_t **lines,
                   struct error *error);

/* After their results: waits for the end of all workers, as worker_finish(). */
int exchange_finish(struct exchange *exchange, struct error *error);

/* Ends all workers, after a success within EXCHANGE_END_NS, otherwise at once; releases everything.
 * After a failure the last lines of the log of the worker at fault are added to `log` (may be
 * NULL). */
void exchange_end(struct exchange *exchange, bool success, result_strings *log);
/* The same after a failure; the last line of that log is added to the message. */
void exchange_end_failed(struct exchange *exchange, struct error *error);

#endif
