/* One execution of a script: its calls, its tries, its one outcome. */
#ifndef PITOT_WORKER_OPERATION_H
#define PITOT_WORKER_OPERATION_H

#include "engine/engine.h"
#include "script/script.h"
#include "worker/tally.h"

#include <stdatomic.h>

/* What the executions of a connection have in common. */
struct operation {
    const struct engine_ops *ops;
    struct engine_connection *connection;
    /* Set by the main thread before it interrupts: no further call is made. */
    const atomic_bool *cut;
    uint32_t max_tries; /* >= 1 */
};

/* Runs the calls of an evaluation, in the thread that owns the connection. No transaction is open
 * afterwards. `statements` are the script's, prepared. `effect` receives the rows of the last
 * try. Counts in `tally`: the attempt, retries, acknowledged rows and messages of failures; the
 * caller adds the outcome and the time (tally_add). */
enum outcome operation_run(const struct operation *operation, const struct evaluation *evaluation,
                           struct engine_statement *const *statements, struct tally *tally,
                           struct engine_effect *effect);

/* Sees the answers of an execution: a try begins, its statements give their rows and then are
 * told to have run to their end. When a statement or a commit does not end well, the try is over,
 * and what its last statement gave is void; another try may begin. */
struct operation_observer {
    void (*begin)(void *context);
    void (*ran)(void *context, const struct script_call *call, uint64_t rows_changed);
    struct engine_sink sink; /* takes the rows; its context is everyone's */
};

/* As operation_run, for answers that are checked: never timed. */
enum outcome operation_observe(const struct operation *operation,
                               const struct evaluation *evaluation,
                               struct engine_statement *const *statements, struct tally *tally,
                               struct engine_effect *effect,
                               const struct operation_observer *observer);

#endif
