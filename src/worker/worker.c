#include "worker/worker.h"

#include "base/json.h"
#include "core/clock.h"

#include <string.h>

int worker_send(struct worker *worker, json_t *line, const char *phase, struct failure *failure)
{
    return wire_send(&worker->wire, line, &failure->error) != 0 ? failure_phase(failure, phase) : 0;
}

void worker_progress_begin(struct worker_progress *progress, const char *phase)
{
    uint64_t now = clock_now_ns();
    *progress =
        (struct worker_progress){.phase = phase, .started_ns = now, .next_ns = now + NS_PER_S};
}

int worker_progress_send(struct worker *worker, struct worker_progress *progress, uint64_t done,
                         uint64_t total, const char *table, struct failure *failure)
{
    uint64_t now = clock_now_ns();
    if (now < progress->next_ns) {
        return 0;
    }
    progress->next_ns = now + NS_PER_S;
    json_t *line = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "kind", "progress", "phase",
                             progress->phase, "done", json_wire_u64(done), "total",
                             total == UINT64_MAX ? json_null() : json_wire_u64(total), "table",
                             table == NULL ? json_null() : json_text(table), "elapsed_ns",
                             json_wire_u64(now - progress->started_ns));
    return worker_send(worker, line, progress->phase, failure);
}

int worker_take_line(json_t *line, bool *stopped, struct failure *failure)
{
    const char *kind = json_string_value(json_object_get(line, "kind"));
    int status = 0;
    if (kind != NULL && strcmp(kind, "stop") == 0) {
        *stopped = true;
    } else {
        status = failure_set(failure, "protocol", ERROR_PROTOCOL,
                             "line '%s' is not expected now; 'stop' is", kind ? kind : "?");
    }
    json_decref(line);
    return status;
}
