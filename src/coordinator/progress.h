/* How the coordinator tells that it is alive; the command line draws it. */
#ifndef PITOT_COORDINATOR_PROGRESS_H
#define PITOT_COORDINATOR_PROGRESS_H

#include <stdint.h>

#define PROGRESS_UNKNOWN UINT64_MAX

struct progress_state {
    const char *step;      /* "building the template", "select-point, sqlite: round 2 of 3" */
    const char *phase;     /* "load", "warm-up", "run", … */
    uint64_t done, total;  /* units of the phase; total may be PROGRESS_UNKNOWN */
    double per_second;     /* operations or rows a second lately; NAN: not known */
    uint64_t elapsed_ns;   /* of the step */
    uint64_t remaining_ns; /* of the step; PROGRESS_UNKNOWN when not known */
    uint64_t left_ns;      /* of all steps; PROGRESS_UNKNOWN when not known */
};

struct progress {
    void *context;
    /* Called about once a second while a step goes on. */
    void (*update)(void *context, const struct progress_state *state);
    /* A step is over; summary is one line, "template built: 96 MB in 2.1 s". */
    void (*done)(void *context, const char *summary);
    /* Something the user should know at once (waiting for another pitot, a failed engine). */
    void (*note)(void *context, const char *text);
};

#endif
