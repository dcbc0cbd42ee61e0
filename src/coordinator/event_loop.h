/* The run of one connection on the main thread of its worker (--event-loop). */
#ifndef PITOT_COORDINATOR_EVENT_LOOP_H
#define PITOT_COORDINATOR_EVENT_LOOP_H

#include "core/error.h"
#include "result/result.h"

#include <jansson.h>

/* `result` of an event_loop job into an empty `out`, percentiles computed. ERROR_PROTOCOL when an
 * identity does not hold; what was read until then stays, for result_event_loop_forget(). */
int event_loop_read(const json_t *result, struct result_event_loop *out, struct error *error);

#endif
