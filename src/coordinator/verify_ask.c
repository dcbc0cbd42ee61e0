/* One worker, one job, one copy of the template. */
#include "coordinator/exchange.h"
#include "coordinator/interrupt.h"
#include "coordinator/settings.h"
#include "coordinator/verification.h"

#include "core/clock.h"

#include <stdlib.h>
#include <string.h>

/* A worker that has answered ends within this. */
#define END_WAIT_NS (5 * NS_PER_S)
/* Reading a table is one step for a worker. It may take as long as reading the file takes, slowly.
 */
#define SLOWEST_BYTES_PER_S (UINT64_C(4) << 20)

static int talk(const struct measurement *m, const struct engine_choice *choice,
                struct verify_question *question, const char *path, const result_pairs *settings,
                json_t **line, result_strings *log, struct error *failure)
{
    struct worker_identity identity;
    struct worker_process *worker;
    const char *database = path != NULL ? path : NO_DATABASE;
    int status = worker_start(choice, &worker, &identity, log, failure);
    if (status != 0) {
        return status;
    }
    struct exchange exchange = {
        .plan_case = question->plan_case,
        .worker = worker,
        .engine = choice->name,
        .step = question->step,
        .progress = m->progress,
        .started_ns = clock_now_ns(),
        .expected_ns = PROGRESS_UNKNOWN,
        .after_ns = PROGRESS_UNKNOWN,
        .headway_ns = measurement_headway_ns(question->plan_case->plan),
        .deadline_ns = UINT64_MAX,
    };
    if (question->template != NULL) {
        exchange.headway_ns += question->template->file.bytes / SLOWEST_BYTES_PER_S * NS_PER_S;
    }
    json_t *job = NULL;
    question->unable = question->able != NULL && !question->able(&identity);
    if (question->unable) {
        status = error_set(failure, ERROR_UNAVAILABLE, "%s", question->unable_reason);
    } else {
        job = question->job(question, database, settings);
        status = job != NULL ? worker_send(worker, job, failure)
                             : error_set(failure, ERROR_MEMORY, "out of memory for a job");
    }
    if (status == 0) {
        status = exchange_await(&exchange, question->kind, line, failure);
    }
    if (status == 0 && question->look != NULL && path != NULL) {
        question->look(question->look_context, path, settings);
    }
    question->script_at_fault = exchange.script_at_fault;
    json_decref(job);
    worker_end(worker, status == 0 ? END_WAIT_NS : 0, status == 0 ? NULL : log);
    worker_identity_release(&identity);
    return status;
}

int verify_ask(struct measurement *m, size_t index, struct verify_question *question, json_t **line,
               result_strings *log, struct error *failure, struct error *error)
{
    const struct engine_choice *choice = &m->plan->engines->items[index];
    result_pairs settings = {NULL, 0};
    char *path = NULL;
    *line = NULL;
    int status = settings_of_plan(m->plan, choice->manifest, &settings, error);
    if (status == 0 && question->template != NULL && !choice->manifest->no_database) {
        status = measurement_copy(m, question->template, "verify", &path, error);
    }
    uint64_t dirty_bytes;
    if (status == 0 && question->settled && !conditions_settle(&m->conditions, &dirty_bytes) &&
        interrupt_requested()) {
        status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
    }
    if (status == 0) {
        talk(m, choice, question, path, &settings, line, log, failure);
        if (failure->code == ERROR_INTERRUPTED || failure->code == ERROR_MEMORY) {
            status = error_set(error, failure->code, "%s", failure->message);
        }
    }
    if (path != NULL) {
        data_remove_database(path);
        free(path);
    }
    settings_release(&settings);
    return status;
}
