/*
 * SIGINT, SIGTERM, SIGHUP (the terminal was closed) or SIGQUIT asked for the end. The handlers
 * (installed by the command line) only set a number and write to a pipe; whoever waits polls
 * interrupt_fd() beside its own.
 */
#ifndef PITOT_COORDINATOR_INTERRUPT_H
#define PITOT_COORDINATOR_INTERRUPT_H

#include "core/error.h"

#include <stdbool.h>

int interrupt_install(struct error *error);
/* The signal that came first, 0: none. */
int interrupt_signal(void);
bool interrupt_requested(void);
/* A further signal came: whoever waits for a partial result gives it up. */
bool interrupt_repeated(void);
/* Readable once a signal has come; never read from it. -1 before install. */
int interrupt_fd(void);

#endif
