/* Engines that are not run again: in a case, or at all. */
#include "coordinator/measurement.h"

#include <stdlib.h>
#include <string.h>

static void note_failure(struct measurement *m, const char *prefix, const char *engine,
                         const char *message)
{
    char *text = result_text("%s%s failed: %s", prefix, engine, message);
    if (text != NULL) {
        m->progress->note(m->progress->context, text);
    }
    free(text);
}

void measurement_fail(struct measurement *m, size_t index, const char *message)
{
    struct result_engine *engine = &m->result->engines.items[index];
    m->alive[index] = false;
    for (size_t i = 0; i < engine->summaries.count; i++) {
        struct result_summary *summary = &engine->summaries.items[i];
        free(summary->status);
        summary->status = strdup("failed");
        summary->error = summary->error != NULL ? summary->error : strdup(message);
    }
    free(engine->status);
    engine->status = strdup("failed");
    if (engine->error == NULL) {
        engine->error = strdup(message);
    }
    note_failure(m, "", engine->name, message);
}

/* The engine is not run in the case again; with no case left it is over. */
static void leave_case(struct measurement *m, struct measured_case *measured, size_t index,
                       const char *status, const char *message)
{
    struct result_engine *engine = &m->result->engines.items[index];
    struct result_summary *summary = &engine->summaries.items[measured->index];
    bool left = false;
    measured->alive[index] = false;
    free(summary->status);
    summary->status = strdup(status);
    if (summary->error == NULL) {
        summary->error = strdup(message);
    }
    for (size_t i = 0; i < m->plan->case_count; i++) {
        left = left || m->cases[i].alive[index];
    }
    if (!left) {
        m->alive[index] = false;
        free(engine->status);
        /* What failed once is not only unable. */
        engine->status = strdup(engine->error == NULL ? status : "failed");
    }
}

void measurement_fail_case(struct measurement *m, struct measured_case *measured, size_t index,
                           const char *message)
{
    struct result_engine *engine = &m->result->engines.items[index];
    char *prefix = measurement_prefix(m, measured);
    if (engine->error == NULL) {
        engine->error = result_text("%s%s", prefix != NULL ? prefix : "", message);
    }
    leave_case(m, measured, index, "failed", message);
    note_failure(m, prefix != NULL ? prefix : "", engine->name, message);
    free(prefix);
}

int measurement_unable(struct measurement *m, struct measured_case *measured, size_t index,
                       const char *said, struct error *error)
{
    struct result_engine *engine = &m->result->engines.items[index];
    char *prefix = measurement_prefix(m, measured);
    char *message = result_text("it lets no second process open the database: %s", said);
    char *note = result_text("%s%s is left out: %s", prefix != NULL ? prefix : "", engine->name,
                             message != NULL ? message : said);
    int status = message != NULL && note != NULL ? 0 : ERROR_MEMORY;
    if (status == 0) {
        leave_case(m, measured, index, "unable", message);
        m->progress->note(m->progress->context, note);
        status = result_warn(m->result, engine->name,
                             "it lets no second process open the database: it is left out where "
                             "several connections are to be processes of their own");
    }
    if (status == 0 && !m->alive[index] && engine->error == NULL) {
        engine->error = strdup(message);
    }
    free(prefix);
    free(message);
    free(note);
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for the result");
}
