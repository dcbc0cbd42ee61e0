/*
 * The worker's side of the protocol's channels. One thread (the main one) reads and writes
 * lines; all others only set numbers that it looks at, and wake it through an eventfd. So
 * nothing is locked, and no measuring thread ever waits for a pipe.
 */
#ifndef PITOT_WORKER_WIRE_H
#define PITOT_WORKER_WIRE_H

#include "base/buffer.h"
#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define WIRE_LINE_MAX (UINT64_C(64) * 1024 * 1024) /* bytes of a line, line feed included */

struct wire {
    int in;
    int out;
    struct buffer pending; /* bytes read and not yet given out */
    size_t scanned;        /* of pending: known to hold no line feed */
    bool ended;            /* end of input was seen */
};

enum wire_event {
    WIRE_LINE, /* a line came */
    WIRE_WAKE, /* wake_fd was written to (and has been read empty) */
    WIRE_TIME, /* the moment came */
    WIRE_END,  /* the coordinator is gone */
};

/* The descriptors stay the caller's. */
void wire_init(struct wire *wire, int in, int out);
void wire_release(struct wire *wire);

/* Waits for the first of: a line, a write to `wake_fd` (an eventfd; -1: none), `until_ns`
 * (monotonic; UINT64_MAX: never). For WIRE_LINE, *line is a new reference to an object that has
 * a text "kind". ERROR_PROTOCOL: a line that is too long or no such object. */
int wire_wait(struct wire *wire, int wake_fd, uint64_t until_ns, enum wire_event *event,
              json_t **line, struct error *error);

/* Writes one line and drops the reference; NULL is ERROR_MEMORY. */
int wire_send(struct wire *wire, json_t *line, struct error *error);

#endif
