/*
 * Where the threads of a run wait for each other and for the main thread.
 *
 * Stages follow each other; the main thread opens them. A thread arrives and waits until the
 * stage that it asks for is open, or until the gate is ended: then it goes away. Whenever
 * the last thread arrives, or one leaves, the main thread is woken through `wake_fd`, so that it
 * can wait for that and for the coordinator's lines at the same time.
 */
#ifndef PITOT_WORKER_GATE_H
#define PITOT_WORKER_GATE_H

#include "core/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum gate_stage { GATE_CLOSED, GATE_OPENING, GATE_WARMUP, GATE_RUN };

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum gate_stage stage;
    bool ended;
    uint32_t threads;   /* that take part */
    uint32_t waiting;   /* arrived for the next stage */
    uint32_t left;      /* gone for good */
    void *first_failed; /* what the first thread that left in failure gave; NULL: none */
    int wake_fd;        /* eventfd */
};

int gate_init(struct gate *gate, struct error *error);
void gate_release(struct gate *gate);

/* ---- for the threads */
/* True: the stage is open. False: the gate was ended. */
bool gate_wait(struct gate *gate, enum gate_stage stage);
/* The last thing that a thread does. `failed`: what failed, NULL: nothing. */
void gate_leave(struct gate *gate, void *failed);

/* ---- for the main thread */
void gate_open(struct gate *gate, enum gate_stage stage);
void gate_end(struct gate *gate);
struct gate_count {
    uint32_t waiting, left;
    void *first_failed;
};
struct gate_count gate_look(struct gate *gate);

#endif
