/*
 * The answer of one execution, as two digests (docs/worker-protocol.md, "verify"): its outcome,
 * then for each statement that ran to its end in the last try the number of rows changed and what
 * came back: hashes of rows as they came, or sorted, or their number alone.
 *
 * The outcome stands first and is known last, so the numbers of one execution are kept: 16 bytes a
 * row read. The memory is used again by the next execution.
 */
#ifndef PITOT_WORKER_ANSWER_H
#define PITOT_WORKER_ANSWER_H

#include "base/digest.h"
#include "worker/job.h"
#include "worker/operation.h"

/* Zeroed memory with `compare` set. */
struct answer {
    enum job_compare compare;
    uint64_t *numbers[2]; /* what is hashed, by digest_kind */
    size_t count;         /* of each */
    size_t capacity;
    size_t whole;   /* of them, those of statements that ran to their end */
    uint64_t rows;  /* that the statement behind them gave so far */
    bool no_memory; /* the answer is not whole: the job must fail */
};

void answer_release(struct answer *answer);

/* Sees executions into `answer`. */
struct operation_observer answer_observer(struct answer *answer);
/* An execution that made no call at all; else the observer does this. */
void answer_clear(struct answer *answer);
/* The digest of what was seen, with the outcome ('o', 'f', 'y', 'c') before it. */
uint64_t answer_digest(const struct answer *answer, enum digest_kind kind, char outcome);

#endif
