/*
 * The account of one script on one connection.
 *
 * Identities, checked by tally_check():
 *     attempted = ok + busy + conflict + failed + skipped + open
 *     latency.count = ok
 *     in an open loop: service.count = lag.count = ok, latency.sum = service.sum + lag.sum
 * Only ok executions feed latency, rows and slow; time_ns sums all attempts.
 *
 * One thread writes it, with plain additions; it is read after that thread has left. Nothing is
 * allocated after tally_init(): messages of failures go to storage of fixed size. A tally is
 * large (111 KB) but lives in memory of mmap(), so buckets that no sample falls into cost nothing.
 */
#ifndef PITOT_WORKER_TALLY_H
#define PITOT_WORKER_TALLY_H

#include "core/error.h"
#include "core/histogram.h"
#include "engine/engine.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The one outcome of an execution. */
enum outcome {
    OUTCOME_OK,
    OUTCOME_BUSY,     /* the engine's own busy timeout ended; no retry */
    OUTCOME_CONFLICT, /* still in conflict after max_tries */
    OUTCOME_FAILED,
    OUTCOME_SKIPPED, /* given up before its first call; this worker never does */
    OUTCOME_OPEN,    /* interrupted after deadline and grace */
    OUTCOME_COUNT
};

enum { TALLY_ERRORS_MAX = 8, TALLY_MESSAGE_SIZE = 240 };

struct tally_error {
    uint32_t statement; /* FAILURE_NOWHERE: begin, commit or rollback */
    int code;
    uint64_t count;
    char message[TALLY_MESSAGE_SIZE]; /* cut when longer */
};

struct tally {
    uint64_t attempted;
    uint64_t outcomes[OUTCOME_COUNT];
    uint64_t retries;
    uint64_t rows_read;
    uint64_t rows_changed;
    uint64_t time_ns;
    uint64_t slow;
    uint64_t *acknowledged; /* rows changed by statement, as far as they were committed */
    uint64_t *pending;      /* the same, of the transaction that is open */
    uint32_t statement_count;
    uint32_t error_count;
    uint64_t errors_beyond; /* failures whose message was the ninth or later */
    struct tally_error errors[TALLY_ERRORS_MAX];
    struct histogram latency;
    /* An open loop counts its latency from when the execution was due, and keeps the parts of it:
     * lag until it began, service from there. Untouched in a closed loop. */
    bool paced;
    struct histogram service;
    struct histogram lag;
};

/* `tally` lies in zeroed memory. ERROR_MEMORY. */
int tally_init(struct tally *tally, uint32_t statement_count, struct error *error);
/* Right after tally_init(): it is for an open loop. */
void tally_pace(struct tally *tally);
void tally_release(struct tally *tally);
/* Empties everything but `acknowledged`: what warm-up wrote stays written. */
void tally_restart(struct tally *tally);

/* Accounts for one execution of which `attempted` has been counted already. */
static inline void tally_add(struct tally *tally, enum outcome outcome,
                             const struct engine_effect *effect, uint64_t time_ns,
                             uint64_t latency_limit_ns)
{
    tally->outcomes[outcome]++;
    tally->time_ns += time_ns;
    if (__builtin_expect(outcome == OUTCOME_OK, 1)) {
        tally->rows_read += effect->rows_read;
        tally->rows_changed += effect->rows_changed;
        tally->slow += time_ns > latency_limit_ns;
        histogram_add(&tally->latency, time_ns);
    }
}

/* The same in an open loop: `time_ns` from its start, `lag_ns` before that. Service time is what
 * time_ns sums; slow is a latency over the limit. */
static inline void tally_add_paced(struct tally *tally, enum outcome outcome,
                                   const struct engine_effect *effect, uint64_t time_ns,
                                   uint64_t lag_ns, uint64_t latency_limit_ns)
{
    tally->outcomes[outcome]++;
    tally->time_ns += time_ns;
    if (outcome == OUTCOME_OK) {
        tally->rows_read += effect->rows_read;
        tally->rows_changed += effect->rows_changed;
        tally->slow += time_ns + lag_ns > latency_limit_ns;
        histogram_add(&tally->latency, time_ns + lag_ns);
        histogram_add(&tally->service, time_ns);
        histogram_add(&tally->lag, lag_ns);
    }
}

/* Keeps the message of a failed execution: the first TALLY_ERRORS_MAX different ones. */
void tally_failed(struct tally *tally, uint32_t statement, int code, const char *message);

/* What was written in a transaction becomes acknowledged, or never was. */
void tally_committed(struct tally *tally);
void tally_rolled_back(struct tally *tally);

void tally_merge(struct tally *into, const struct tally *from);
/* A broken identity is ERROR_PROTOCOL with the words "internal: …". */
int tally_check(const struct tally *tally, const char *script, struct error *error);

/* Puts the counts, "acknowledged", "errors" and "latency" of the protocol into an object.
 * Nonzero: out of memory. */
int tally_to_json(const struct tally *tally, json_t *object);
/* The list `errors` alone; a new reference, NULL: out of memory. */
json_t *tally_errors_to_json(const struct tally *tally);

#endif
