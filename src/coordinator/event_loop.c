/* One connection on the main thread of its worker, in a run of its own after the rounds: what an
 * engine does to the event loop of a program. */
#include "coordinator/event_loop.h"

#include "base/json.h"
#include "coordinator/job.h"
#include "coordinator/verification.h"
#include "core/clock.h"
#include "result/latency.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A thousand timers are needed for their p99; those that are late come less often than each ms. */
#define LENGTH_NS (3 * NS_PER_S)

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for a result");
}

/* ---- reading ---------------------------------------------------------------------------- */

static int read_tail(const json_t *object, const char *key, const char *where,
                     struct result_tail *out, struct error *error)
{
    struct error cause = ERROR_INIT;
    int status =
        latency_from_json(json_object_get(object, key), key, &out->latency.histogram, &cause);
    if (status != 0) {
        return error_set(error, status == ERROR_MEMORY ? ERROR_MEMORY : ERROR_PROTOCOL, "%s: %s",
                         where, cause.message);
    }
    const struct histogram *histogram = out->latency.histogram;
    uint64_t count = histogram != NULL ? histogram->count : 0;
    out->p99_thin = histogram_thin(count, 99, 100);
    if (count > 0) {
        out->p50_ns = (double)histogram_percentile(histogram, 50, 100);
        out->p99_ns = (double)histogram_percentile(histogram, 99, 100);
        out->max_ns = (double)histogram->max;
    }
    return 0;
}

static int read_errors(const json_t *part, result_strings *out, struct error *error)
{
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(part, "errors"), index, item)
    {
        const char *message = json_string_value(json_object_get(item, "message"));
        char **slot = result_list_add(out);
        if (slot == NULL || (*slot = strdup(message != NULL ? message : "?")) == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

static int read_part(const json_t *part, const char *where, uint64_t in_flight,
                     struct result_loop_part *out, struct error *error)
{
    const struct {
        const char *key;
        uint64_t *out;
    } numbers[] = {
        {"elapsed_ns", &out->elapsed_ns},
        {"attempted", &out->attempted},
        {"ok", &out->ok},
        {"busy", &out->busy},
        {"conflict", &out->conflict},
        {"failed", &out->failed},
        {"retries", &out->retries},
    };
    int status = 0;
    out->in_flight = in_flight;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == 0; i++) {
        status = json_get_u64(part, numbers[i].key, where, numbers[i].out, error);
    }
    if (status == 0) {
        status = read_tail(part, "latency", where, &out->tail, error);
    }
    if (status != 0) {
        return status;
    }
    const struct histogram *latency = out->tail.latency.histogram;
    /* Each is a count of its own: none is taken from the others. */
    if (out->ok > out->attempted || out->busy > out->attempted || out->conflict > out->attempted ||
        out->failed > out->attempted ||
        out->ok + out->busy + out->conflict + out->failed != out->attempted) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s: %" PRIu64 " attempts, but the outcomes do not add up to them", where,
                         out->attempted);
    }
    if ((latency != NULL ? latency->count : 0) != out->ok) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s: latency counts other executions than the %" PRIu64 " that were ok",
                         where, out->ok);
    }
    if (out->elapsed_ns > 0) {
        out->executions_per_second = (double)out->ok * 1e9 / (double)out->elapsed_ns;
    }
    return read_errors(part, &out->errors, error);
}

static int get_part(const json_t *result, const char *key, const json_t **out, struct error *error)
{
    *out = json_object_get(result, key);
    return json_is_object(*out)
               ? 0
               : error_set(error, ERROR_PROTOCOL, "event_loop: %s is missing or no object", key);
}

static int read_in_flight(const json_t *result, struct result_event_loop *out, struct error *error)
{
    json_t *array;
    int status = json_get_array(result, "in_flight", "event_loop", &array, error);
    for (size_t i = 0; status == 0 && i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        uint64_t depth = 0;
        struct result_loop_part *part = result_list_add(&out->in_flight);
        if (part == NULL) {
            return no_memory(error);
        }
        result_loop_part_init(part);
        status = json_get_u64(item, "in_flight", "event_loop", &depth, error);
        if (status == 0) {
            status = read_part(item, "event_loop: in_flight", depth, part, error);
        }
    }
    return status;
}

int event_loop_read(const json_t *result, struct result_event_loop *out, struct error *error)
{
    const json_t *closed;
    const json_t *bare;
    const json_t *paced;
    int status = get_part(result, "closed", &closed, error);
    if (status == 0) {
        status = get_part(result, "bare", &bare, error);
    }
    if (status == 0) {
        status = get_part(result, "paced", &paced, error);
    }
    if (status == 0) {
        status = read_part(closed, "event_loop: closed", 1, &out->closed, error);
    }
    if (status == 0) {
        status = read_tail(bare, "lateness", "event_loop: bare", &out->bare_lateness, error);
    }
    if (status == 0) {
        status = json_get_u64(paced, "interval_ns", "event_loop: paced", &out->interval_ns, error);
    }
    if (status == 0) {
        status = read_part(paced, "event_loop: paced", 1, &out->paced, error);
    }
    if (status == 0) {
        status = read_tail(paced, "lateness", "event_loop: paced", &out->lateness, error);
    }
    return status == 0 ? read_in_flight(result, out, error) : status;
}

/* ---- asking ------------------------------------------------------------------------------ */

static json_t *ask(const struct verify_question *question, const char *database,
                   const result_pairs *settings)
{
    return job_event_loop(question->plan_case, database, settings, LENGTH_NS);
}

static bool able(const struct worker_identity *identity)
{
    return identity->can_event_loop;
}

static int note(struct measurement *m, struct result_event_loop *out, const char *engine,
                const char *status, const char *reason, struct error *error)
{
    out->status = strdup(status);
    out->error = reason != NULL ? strdup(reason) : NULL;
    if (out->status == NULL || (reason != NULL && out->error == NULL)) {
        return no_memory(error);
    }
    if (strcmp(status, "failed") == 0 &&
        result_warn(m->result, engine, "its run on the event loop failed: %s", reason) != 0) {
        return no_memory(error);
    }
    return 0;
}

static int measure_one(struct measurement *m, size_t index, struct error *error)
{
    struct result_engine *engine = &m->result->engines.items[index];
    struct result_event_loop *out = &engine->event_loop;
    struct error failure = ERROR_INIT;
    json_t *line = NULL;
    char *step = result_text("%s: event loop", engine->name);
    struct verify_question question = {
        .plan_case = &m->cases[0].plan_case,
        .template = m->cases[0].template,
        .step = step,
        .kind = "result",
        .job = ask,
        .able = able,
        .unable_reason = "its worker has no event loop",
        .settled = true,
    };
    int status = step != NULL ? verify_ask(m, index, &question, &line, &out->log, &failure, error)
                              : no_memory(error);
    if (status == 0 && failure.code == ERROR_NONE &&
        event_loop_read(line, out, &failure) == ERROR_MEMORY) {
        status = no_memory(error);
    }
    if (status == 0 && failure.code == ERROR_NONE) {
        status = note(m, out, engine->name, "ok", NULL, error);
    } else if (status == 0) {
        result_event_loop_forget(out);
        status = note(m, out, engine->name, question.unable ? "unable" : "failed", failure.message,
                      error);
    }
    json_decref(line);
    free(step);
    return status;
}

int measurement_event_loops(struct measurement *m, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->plan->engines->count && status == 0; i++) {
        status = m->alive[i] ? measure_one(m, i, error) : 0;
    }
    return status;
}
