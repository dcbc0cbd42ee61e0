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
    result_strings compile_options;
    result_strings warnings;
};
void worker_identity_release(struct worker_identity *identity);

/* Starts the worker of an engine and reads its hello (within 30 s). On failure nothing
 * is left running, and the last lines of its log, if any, are in `log` (may be NULL). */
int worker_start(const struct engine_choice *choice, struct worker_process **out,
                 struct worker_identity *identity, result_strings *log, struct error *error);

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

/* Closes its input, waits `grace_ns` for it to exit, then kills its whole group; frees. The last
 * lines of its log are added to `log` (may be NULL). */
void worker_end(struct worker_process *worker, uint64_t grace_ns, result_strings *log);

int worker_pid(const struct worker_process *worker);

#endif
