/*
 * One execution shown: its parameters, and what each statement of its last try was given and gave,
 * as SQL literals. What is shown is bounded, so that it fits one line of the protocol; the rest is
 * counted.
 */
#ifndef PITOT_WORKER_DETAIL_H
#define PITOT_WORKER_DETAIL_H

#include "base/buffer.h"
#include "script/script.h"
#include "worker/operation.h"

#include <jansson.h>

enum {
    DETAIL_STATEMENTS_MAX = 10000,
    DETAIL_BYTES_MAX = 4 << 20, /* of literals, and of texts among the parameters */
};

/* Zeroed memory with the first two set. */
struct detail {
    const struct evaluation *evaluation; /* drawn; outlives this */
    uint32_t rows_max;                   /* shown of a statement */
    json_t *statements;
    json_t *rows; /* of the statement that runs */
    uint64_t more;
    uint64_t statements_more;
    size_t bytes; /* of literals so far */
    struct buffer literal;
    bool no_memory; /* not whole: the job must fail */
};

void detail_release(struct detail *detail);

/* Sees an execution into `detail`. */
struct operation_observer detail_observer(struct detail *detail);

/* The `result` line; a new reference, NULL: out of memory. `message` may be NULL. */
json_t *detail_result(const struct detail *detail, const char *outcome, const char *message);

#endif
