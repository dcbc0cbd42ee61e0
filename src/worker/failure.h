/* Why a job ended without a result: what the protocol's `error` line says. */
#ifndef PITOT_WORKER_FAILURE_H
#define PITOT_WORKER_FAILURE_H

#include "core/error.h"
#include "engine/engine.h"
#include "script/script.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define FAILURE_NOWHERE UINT32_MAX

/* `phase` is a literal. The message is in `error`; as there, the first failure wins. */
struct failure {
    struct error error;
    const char *phase;
    uint32_t script;    /* index into the job's scripts; FAILURE_NOWHERE: none */
    uint32_t statement; /* index into that script's statements; FAILURE_NOWHERE: none */
    bool has_code;
    int code;                  /* the engine's own */
    struct script_place place; /* line 0: none */
};

void failure_init(struct failure *failure);
static inline bool failure_is_set(const struct failure *failure)
{
    return failure->error.code != ERROR_NONE;
}

/* Sets message and phase unless a failure is set already; returns the code given. */
int failure_set(struct failure *failure, const char *phase, enum error_code code,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Names the phase of an error that was set through &failure->error. Returns its code. */
int failure_phase(struct failure *failure, const char *phase);
/* Takes text and code of the last failure of a connection, with `status` named where the
 * engine says nothing. Returns ERROR_ENGINE, ERROR_BUSY or ERROR_INTERRUPTED. */
int failure_engine(struct failure *failure, const char *phase, const struct engine_ops *ops,
                   struct engine_connection *connection, enum engine_status status, uint32_t script,
                   uint32_t statement);
/* After a failed draw: names the script, and moves a leading "file:line:column: " of the message
 * into `place`. `script` indexes the job's scripts. Returns the error's code. */
int failure_evaluation(struct failure *failure, const char *phase, uint32_t script,
                       const struct evaluation *evaluation);

/* The `error` line; a new reference, NULL when out of memory. */
json_t *failure_to_json(const struct failure *failure);

#endif
