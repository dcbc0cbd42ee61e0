/*
 * Draws the coordinator's progress on standard error.
 *
 * On a terminal: one line that is rewritten, cut to the window as it is at that moment (a
 * resize is seen at the next drawing). The cursor is never hidden, so nothing has to be
 * restored. Elsewhere (a file, a pipe, TERM unset or "dumb", a window of 0 columns): plain lines,
 * a step's progress at most once in `every_ns`, and no control byte.
 * --quiet: nothing. One thread.
 */
#ifndef PITOT_CLI_PROGRESS_H
#define PITOT_CLI_PROGRESS_H

#include "base/buffer.h"
#include "coordinator/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_view {
    int fd;
    bool quiet;
    bool live;         /* the terminal understands control sequences */
    uint64_t every_ns; /* between plain lines */
    uint64_t last_ns;  /* moment of the last plain line; 0: none yet */
    bool drawn;        /* a line of ours stands under the cursor */
    /* Replaced by tests. */
    uint64_t (*now_ns)(void);
    size_t (*window)(int fd);
};

void progress_view_init(struct progress_view *view, int fd, bool quiet, uint64_t every_ns);

/* Callbacks that draw into `view`, which must live as long. */
struct progress progress_view_callbacks(struct progress_view *view);

/* Wipes the line that is being rewritten: before anything else is printed. */
void progress_view_finish(struct progress_view *view);

/* Appends "STEP, PHASE 45 %, 6,543/s, 8 s left": what is not known is left out. */
void progress_describe(const struct progress_state *state, struct buffer *out);

#endif
