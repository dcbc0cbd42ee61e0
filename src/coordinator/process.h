/*
 * A worker process: started in a process group of its own, spoken to in JSON lines
 * (docs/worker-protocol.md), its log captured, always reaped.
 *
 * One thread owns a worker. A worker that is let down ends by itself: its standard input
 * closes when the coordinator is gone.
 */
#ifndef PITOT_COORDINATOR_PROCESS_H
#define PITOT_COORDINATOR_PROCESS_H

#include "coordinator/registry.h"
#include "core/error.h"
#include "result/result.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define WORKER_LINE_MAX (64u << 20)
#define WORKER_HELLO_NS (30 * UINT64_C(1000000000))

struct worker_process;

/* What hello says of an engine. Strings are owned. */
struct worker_identity {
    char *driver, *version, *source_id, *sync_call, *library, *build;
    char *binding_version, *runtime; /* NULL where the engine is called from C */
    result_strings compile_options;
    result_strings warnings;
    bool can_check;      /* takes check jobs */
    bool can_verify;     /* takes verify jobs */
    bool can_event_loop; /* takes event_loop jobs */
    bool can_rate;       /* takes a run with a rate */
};
/* From a hello line; ERROR_PROTOCOL for another version or a key of a wrong type. What was filled
 * until then is to be released. */
int worker_identity_read(const json_t *hello, struct worker_identity *identity,
                         struct error *error);
void worker_identity_release(struct worker_identity *identity);

/* Starts the worker of an engine and reads its hello (within 30 s). On failure nothing
 * is left running, and the last lines of its log, if any, are in `log`; NULL: the very last one is
 * in the message. */
int worker_start(const struct engine_choice *choice, struct worker_process **out,
                 struct worker_identity *identity, result_strings *log, struct error *error);

/* The same with another limit for hello. */
int worker_start_within(const struct engine_choice *choice, uint64_t hello_ns,
                        struct worker_process **out, struct worker_identity *identity,
                        result_strings *log, struct error *error);

/* Starts, reads hello, ends. */
int worker_identify(const struct engine_choice *choice, struct worker_identity *identity,
                    struct error *error);

/* Sends one line. */
int worker_send(struct worker_process *worker, const json_t *line, struct error *error);

/* The next line, or *line = NULL when `until_ns` passed first (drains the log meanwhile).
 * ERROR_PROTOCOL: garbage or too long; ERROR_ENGINE: it ended, how is said; ERROR_INTERRUPTED:
 * a signal asked for the end (only while `interruptible`). */
int worker_read(struct worker_process *worker, uint64_t until_ns, bool interruptible, json_t **line,
                struct error *error);

/* The same of several workers, of which NULL ones are left out. *which (below `count`) becomes the
 * one whose line it is, or that failed; the search begins behind the one that it was, so that
 * none that talks without end keeps the others from being heard. */
int workers_read(struct worker_process *const *workers, size_t count, uint64_t until_ns,
                 bool interruptible, size_t *which, json_t **line, struct error *error);

/* After the result: closes its input and waits `grace_ns` for its end. ERROR_PROTOCOL: it said more
 * than its result; ERROR_ENGINE: it ended by a signal or with another status than 0;
 * ERROR_TIMEOUT: it did not end. worker_end() must follow in any case. */
int worker_finish(struct worker_process *worker, uint64_t grace_ns, struct error *error);

/* Closes its input, waits `grace_ns` for it to exit, then kills its whole group; frees. The last
 * lines of its log are added to `log` (worker_log.h; may be NULL). */
void worker_end(struct worker_process *worker, uint64_t grace_ns, result_strings *log);

/* Ends at once a worker that failed, and adds the last line of its log to the message, unless that
 * says the same: for those that keep no log. */
void worker_end_failed(struct worker_process *worker, struct error *error);

int worker_pid(const struct worker_process *worker);

#endif
