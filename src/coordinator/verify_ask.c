/* One worker, one job, one copy of the template. */
#include "coordinator/exchange.h"
#include "coordinator/interrupt.h"
#include "coordinator/settings.h"
#include "coordinator/verification.h"

#include "core/clock.h"

#include <stdlib.h>
#include <string.h>

/* Reading a table is one step for a worker. It may take as long as reading the file takes, slowly.
 */
#define SLOWEST_BYTES_PER_S (UINT64_C(4) << 20)

static int talk(struct verify_question *question, const char *path, struct exchange *exchange,
                json_t **line, struct error *failure)
{
    question->unable = question->able != NULL && !question->able(&exchange->workers[0].identity);
    if (question->unable) {
        return error_set(failure, ERROR_UNAVAILABLE, "%s", question->unable_reason);
    }
    json_t *job = question->job(question, path != NULL ? path : NO_DATABASE, &exchange->settings);
    int status = exchange_send(exchange, 0, job, failure);
    if (status == 0) {
        status = exchange_await(exchange, question->kind, line, failure);
    }
    if (status == 0 && question->look != NULL && path != NULL) {
        question->look(question->look_context, path, &exchange->settings);
    }
    question->script_at_fault = exchange->script_at_fault;
    return status;
}

int verify_ask(struct measurement *m, size_t index, struct verify_question *question, json_t **line,
               result_strings *log, struct error *failure, struct error *error)
{
    const struct engine_choice *choice = &m->plan->engines->items[index];
    struct exchange exchange = exchange_about(question->plan_case, question->step, m->progress);
    char *path = NULL;
    int answered = ERROR_UNAVAILABLE;
    *line = NULL;
    if (question->template != NULL) {
        exchange.headway_ns += question->template->file.bytes / SLOWEST_BYTES_PER_S * NS_PER_S;
    }
    int status = settings_of_plan(m->plan, choice->manifest, &exchange.settings, error);
    if (status == 0 && question->template != NULL && !choice->manifest->no_database) {
        status = measurement_copy(m, question->template, "verify", &path, error);
    }
    uint64_t dirty_bytes;
    if (status == 0 && question->settled && !conditions_settle(&m->conditions, &dirty_bytes) &&
        interrupt_requested()) {
        status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
    }
    if (status == 0) {
        answered = exchange_begin(&exchange, choice, 1, log, failure);
        answered = answered == 0 ? talk(question, path, &exchange, line, failure) : answered;
        if (failure->code == ERROR_INTERRUPTED || failure->code == ERROR_MEMORY) {
            status = error_set(error, failure->code, "%s", failure->message);
        }
    }
    exchange_end(&exchange, answered == 0, log);
    if (path != NULL) {
        data_remove_database(path);
        free(path);
    }
    return status;
}
