/*
 * What becomes of a call, and then of the execution:
 *
 *     busy         roll back               -> busy
 *     conflict     roll back, all again    -> conflict after max_tries
 *     failed       roll back               -> failed, message kept
 *     cut          roll back               -> open, whatever the engine said
 *
 * The text of a failure is taken before the rollback, which would replace it.
 *
 * Acknowledged rows are counted by what the engine has committed, not by outcome: a statement that
 * stands outside a transaction stays written although a later one of its script fails, and the
 * count of rows after the run must agree.
 *
 * Everything is compiled twice: without an observer, where its being NULL is known and leaves no
 * trace in what is timed, and with one.
 */
#include "worker/operation.h"

#include "worker/failure.h"

#include <stdbool.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static inline bool is_cut(const struct operation *operation)
{
    return __builtin_expect(atomic_load_explicit(operation->cut, memory_order_relaxed), 0);
}

/* One run of a statement; its rows go to the open transaction or are acknowledged at once. */
ALWAYS_INLINE enum engine_status run_statement(const struct operation *operation,
                                               const struct evaluation *evaluation,
                                               const struct script_call *call,
                                               struct engine_statement *const *statements,
                                               uint64_t *written, struct engine_effect *effect,
                                               const struct operation_observer *observer)
{
    uint64_t before = effect->rows_changed;
    enum engine_status status =
        operation->ops->run(statements[call->statement], evaluation->values + call->first_value,
                            call->value_count, evaluation->script->statements[call->statement].one,
                            effect, observer != NULL ? &observer->sink : NULL);
    if (__builtin_expect(status == ENGINE_OK, 1)) {
        written[call->statement] += effect->rows_changed - before;
        if (observer != NULL) {
            observer->ran(observer->sink.context, call, effect->rows_changed - before);
        }
    }
    return status;
}

/* All calls once. On failure *statement names the culprit. */
ALWAYS_INLINE enum engine_status try_once(const struct operation *operation,
                                          const struct evaluation *evaluation,
                                          struct engine_statement *const *statements,
                                          struct tally *tally, struct engine_effect *effect,
                                          uint32_t *statement,
                                          const struct operation_observer *observer)
{
    uint64_t *written = tally->acknowledged;
    enum engine_status status = ENGINE_OK;
    *effect = (struct engine_effect){0, 0};
    if (observer != NULL) {
        observer->begin(observer->sink.context);
    }
    for (uint32_t i = 0; i < evaluation->call_count; i++) {
        const struct script_call *call = &evaluation->calls[i];
        if (is_cut(operation)) {
            return ENGINE_INTERRUPTED;
        }
        *statement = FAILURE_NOWHERE;
        switch (call->kind) {
        case SCRIPT_CALL_STATEMENT:
            *statement = call->statement;
            status =
                run_statement(operation, evaluation, call, statements, written, effect, observer);
            break;
        case SCRIPT_CALL_BEGIN_READ:
        case SCRIPT_CALL_BEGIN_WRITE:
            status =
                operation->ops->begin(operation->connection, call->kind == SCRIPT_CALL_BEGIN_WRITE);
            written = tally->pending;
            break;
        case SCRIPT_CALL_COMMIT:
            status = operation->ops->commit(operation->connection);
            if (status == ENGINE_OK) {
                tally_committed(tally);
                written = tally->acknowledged;
            }
            break;
        }
        if (status != ENGINE_OK) {
            return status;
        }
    }
    return ENGINE_OK;
}

static enum outcome failed(const struct operation *operation, struct tally *tally,
                           uint32_t statement)
{
    int code = 0;
    const char *text = operation->ops->error_text(operation->connection, &code);
    tally_failed(tally, statement, code,
                 text != NULL && text[0] != '\0' ? text : "failed without a message");
    return OUTCOME_FAILED;
}

/* Ends the transaction after a try that was not ok. A rollback that fails makes the execution a
 * failed one: what comes after it on this connection cannot be trusted to be a fresh start. */
static enum outcome roll_back(const struct operation *operation, struct tally *tally,
                              enum outcome outcome)
{
    tally_rolled_back(tally);
    enum engine_status status = operation->ops->rollback(operation->connection);
    if (status == ENGINE_OK || outcome == OUTCOME_FAILED || outcome == OUTCOME_OPEN) {
        return outcome;
    }
    return is_cut(operation) ? OUTCOME_OPEN : failed(operation, tally, FAILURE_NOWHERE);
}

ALWAYS_INLINE enum outcome run_tries(const struct operation *operation,
                                     const struct evaluation *evaluation,
                                     struct engine_statement *const *statements,
                                     struct tally *tally, struct engine_effect *effect,
                                     const struct operation_observer *observer)
{
    tally->attempted++;
    for (uint32_t tries = 1;; tries++) {
        uint32_t statement = FAILURE_NOWHERE;
        enum engine_status status =
            try_once(operation, evaluation, statements, tally, effect, &statement, observer);
        if (__builtin_expect(status == ENGINE_OK, 1)) {
            return OUTCOME_OK;
        }
        enum outcome outcome;
        if (is_cut(operation)) {
            outcome = OUTCOME_OPEN;
        } else if (status == ENGINE_BUSY) {
            outcome = OUTCOME_BUSY;
        } else if (status == ENGINE_CONFLICT) {
            outcome = OUTCOME_CONFLICT;
        } else {
            outcome = failed(operation, tally, statement);
        }
        outcome = roll_back(operation, tally, outcome);
        if (outcome != OUTCOME_CONFLICT || tries >= operation->max_tries) {
            return outcome;
        }
        tally->retries++;
    }
}

enum outcome operation_run(const struct operation *operation, const struct evaluation *evaluation,
                           struct engine_statement *const *statements, struct tally *tally,
                           struct engine_effect *effect)
{
    return run_tries(operation, evaluation, statements, tally, effect, NULL);
}

enum outcome operation_observe(const struct operation *operation,
                               const struct evaluation *evaluation,
                               struct engine_statement *const *statements, struct tally *tally,
                               struct engine_effect *effect,
                               const struct operation_observer *observer)
{
    return run_tries(operation, evaluation, statements, tally, effect, observer);
}
