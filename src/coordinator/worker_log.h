/* What of a worker's log is worth keeping. */
#ifndef PITOT_COORDINATOR_WORKER_LOG_H
#define PITOT_COORDINATOR_WORKER_LOG_H

#include "result/result.h"

#include <stddef.h>

enum { WORKER_LOG_LINES = 10, WORKER_LOG_LINE_BYTES = 1000 };

/* Adds the last WORKER_LOG_LINES lines of `text` to `log`, each cut after WORKER_LOG_LINE_BYTES,
 * without empty ones and without what interpreters and panics put around their message (the frames
 * of a stack, rules, notes on themselves), which would push it out; a log of nothing else keeps
 * these. What finds no memory is left out. */
void worker_log_keep(const char *text, size_t length, result_strings *log);

#endif
