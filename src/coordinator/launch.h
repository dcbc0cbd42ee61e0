/* Starts the program of a worker: its arguments, its descriptors, a process group of its own. */
#ifndef PITOT_COORDINATOR_LAUNCH_H
#define PITOT_COORDINATOR_LAUNCH_H

#include "coordinator/registry.h"

#include <sys/types.h>

/* A process that was started, and our ends of its pipes, which do not block. */
struct launched {
    pid_t pid;  /* also its process group */
    int pidfd;  /* readable once it has ended; -1 where the kernel has none */
    int input;  /* its standard input */
    int output; /* its descriptor 3 */
    int log;    /* its standard output and error */
};

/* The caller closes the descriptors and reaps the process. On failure nothing was started. */
int launch_worker(const struct engine_choice *choice, struct launched *out, struct error *error);

#endif
