/* A thread that writes passes back to back on a plain connection. */
#ifndef PITOT_NUMBERS_PLAIN_WRITER_H
#define PITOT_NUMBERS_PLAIN_WRITER_H

#include "numbers/plain.h"

#include <pthread.h>
#include <stdatomic.h>

struct plain_writer {
    struct plain *plain;
    struct rows *rows; /* all given new content before each pass */
    pthread_t thread;
    atomic_bool stop;
    atomic_uint_fast64_t passes; /* committed */
    uint64_t busy;               /* that failed for a lock; read after the end */
    int status;
    struct error error;
};

/* Starts the thread, to which connection and rows belong until plain_writer_end(). */
int plain_writer_begin(struct plain_writer *writer, struct plain *plain, struct rows *rows,
                       struct error *error);
/* Waits for the pass that runs. Gives the writer's error. */
int plain_writer_end(struct plain_writer *writer, struct error *error);

#endif
