#include "coordinator/verify.h"

#include "base/buffer.h"
#include "coordinator/interrupt.h"
#include "coordinator/verification.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void forget(char **text)
{
    free(*text);
    *text = NULL;
}

/* Several databases have no one template that the result could name. */
static void forget_template(struct result_template *template)
{
    forget(&template->path);
    forget(&template->identity);
    forget(&template->engine);
    forget(&template->engine_version);
    template->bytes = RESULT_ABSENT;
    template->reused = false;
    template->build_seconds = (double)NAN;
}

static int check_database(struct measurement *m, const struct verify_database *database,
                          bool settings_too, uint32_t operations, struct error *error)
{
    int status = settings_too ? verify_settings(m, database, error) : 0;
    if (status == 0) {
        status = verify_answers(m, database, operations, error);
    }
    if (status == 0 && interrupt_requested()) {
        status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
    }
    return status;
}

/* The databases from `first` on that are copies of one template; *next is the one behind them. m's
 * engines, folder and result are shared, plan and template are these databases'. */
static int with_template(struct measurement *m, const verify_databases *databases, size_t first,
                         size_t *next, uint32_t operations, struct error *error)
{
    struct measurement own = *m;
    own.plan = &databases->items[first]->plan;
    own.has_template = false;
    forget_template(&m->result->template);
    int status = measurement_any_database(own.plan) ? measurement_template(&own, error) : 0;
    size_t i = first;
    while (status == 0 && i < databases->count &&
           verify_same_template(databases->items[first], databases->items[i])) {
        own.plan = &databases->items[i]->plan;
        status = check_database(&own, databases->items[i], i == 0, operations, error);
        i++;
    }
    *next = i;
    if (own.has_template) {
        template_release(&own.template);
    }
    return status;
}

static int sequence(struct measurement *m, const verify_databases *databases, uint32_t operations,
                    struct error *error)
{
    int status = measurement_identify(m, error);
    for (size_t i = 0; i < databases->count && status == 0;) {
        if (measurement_count_alive(m) == 0) {
            return measurement_none_left(m, error);
        }
        status = with_template(m, databases, i, &i, operations, error);
    }
    if (status == 0 && databases->count > 1) {
        forget_template(&m->result->template);
    }
    return status;
}

/* Status of the engines; the words are those of a measurement. */
static int set_statuses(struct measurement *m, struct error *error)
{
    int status = verify_judge(m, error);
    for (size_t i = 0; i < m->result->engines.count && status == 0; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        const char *found = engine->verify.status;
        const char *word = found == NULL                   ? "partial"
                           : strcmp(found, "failed") == 0  ? "failed"
                           : strcmp(found, "differs") == 0 ? "differs"
                                                           : "ok";
        free(engine->status);
        engine->status = strdup(word);
        bool good = found == NULL || strcmp(word, "ok") == 0;
        if (!good && engine->error == NULL) {
            engine->error = verify_reason(engine);
            good = engine->error != NULL;
        } else {
            good = true;
        }
        if (engine->status == NULL || !good) {
            status = error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    return status;
}

static int add_databases(const struct plan *plan, const struct verify_suite *suites, size_t count,
                         verify_databases *out, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = verify_databases_add(plan, suites[i].suite, suites[i].scale, NULL, out, error);
    }
    return status;
}

int verify(const struct plan *plan, const struct verify_suite *suites, size_t suite_count,
           uint32_t operations, const struct progress *progress, struct result *result,
           struct error *error)
{
    verify_databases databases = {NULL, 0};
    struct measurement m = {.plan = plan, .progress = progress, .result = result};
    int status = add_databases(plan, suites, suite_count, &databases, error);
    if (status == 0 && databases.count == 1) {
        m.plan = &databases.items[0]->whole; /* the result can name all of it */
    }
    if (status == 0) {
        status = measurement_begin(&m, error);
    }
    if (status == 0) {
        result->plan.operations = operations;
        status = sequence(&m, &databases, operations, error);
        result->partial = status != 0;
        struct error late = ERROR_INIT;
        if ((set_statuses(&m, &late) != 0 || verify_warn(&m, false, &late) != 0) && status == 0) {
            status = error_set(error, late.code, "%s", late.message);
        }
        measurement_end(&m);
    }
    verify_databases_release(&databases);
    return status;
}

/* ---- before a measurement ----------------------------------------------------------- */

/* An engine that answers otherwise is measured all the same, and marked. */
static int mark_differing(struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->result->engines.count; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        if (engine->verify.status == NULL || strcmp(engine->verify.status, "differs") != 0) {
            continue;
        }
        free(engine->status);
        engine->status = strdup("differs");
        engine->error = engine->error != NULL ? engine->error : verify_reason(engine);
        if (engine->status == NULL || engine->error == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    return 0;
}

static void tell_done(struct measurement *m)
{
    struct buffer text;
    buffer_init(&text);
    for (size_t i = 0; i < m->result->engines.count; i++) {
        const struct result_engine *engine = &m->result->engines.items[i];
        if (engine->verify.databases.count > 0) {
            buffer_printf(&text, "%s%s %s",
                          text.length > 0 ? ", " : "answers checked: ", engine->name,
                          engine->verify.databases.items[0].status);
        }
    }
    if (text.length > 0 && !text.failed) {
        m->progress->done(m->progress->context, text.data);
    }
    buffer_release(&text);
}

int measurement_answers(struct measurement *m, struct error *error)
{
    verify_databases databases = {NULL, 0};
    int status = 0;
    if (m->has_template) {
        status = verify_databases_add(m->plan, m->plan->suite, m->plan->scale, m->plan->scenario,
                                      &databases, error);
    }
    for (size_t i = 0; i < databases.count && status == 0; i++) {
        status = verify_answers(m, databases.items[i], VERIFY_OPERATIONS, error);
    }
    if (status == 0) {
        status = verify_judge(m, error);
    }
    if (status == 0) {
        status = mark_differing(m, error);
    }
    if (status == 0) {
        status = verify_warn(m, true, error);
    }
    if (status == 0) {
        tell_done(m);
    }
    verify_databases_release(&databases);
    return status;
}
