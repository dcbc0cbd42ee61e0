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

#endif
