#include "coordinator/verify.h"

#include "base/buffer.h"
#include "coordinator/interrupt.h"
#include "coordinator/verification.h"

#include <stdlib.h>
#include <string.h>

static int check_database(struct measurement *m, struct verify_database *database, size_t index,
                          uint32_t operations, struct error *error)
{
    int status = 0;
    if (measurement_any_database(m->plan)) {
        status = measurement_template(m, &database->whole, &database->template, error);
    }
    if (status == 0 && index == 0) {
        status = verify_settings(m, database, error);
    }
    if (status == 0) {
        status = verify_answers(m, database, operations, error);
    }
    if (status == 0 && interrupt_requested()) {
        status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
    }
    return status;
}

static int sequence(struct measurement *m, const verify_databases *databases, uint32_t operations,
                    struct error *error)
{
    int status = measurement_identify(m, error);
    for (size_t i = 0; i < databases->count && status == 0; i++) {
        if (measurement_count_alive(m) == 0) {
            return measurement_none_left(m, error);
        }
        status = check_database(m, databases->items[i], i, operations, error);
        if (databases->items[i]->template != NULL) {
            m->result->cases.items[i].template =
                measurement_template_index(m, databases->items[i]->template);
        }
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

/* ---- a case a database ---------------------------------------------------------------- */

static int add_databases(const struct plan_case *like, const struct verify_suite *suites,
                         size_t count, verify_databases *out, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        struct plan_case plan_case = *like;
        plan_case.suite = suites[i].suite;
        plan_case.scale = suites[i].scale;
        for (size_t k = 0; k < suites[i].suite->scenario_count && status == 0; k++) {
            struct verify_database *database;
            plan_case.scenario = &suites[i].suite->scenarios[k];
            status = verify_databases_add(&plan_case, out, &database, error);
        }
    }
    return status;
}

static size_t databases_of(const verify_databases *databases, const struct suite *suite)
{
    size_t count = 0;
    for (size_t i = 0; i < databases->count; i++) {
        count += databases->items[i]->whole.suite == suite;
    }
    return count;
}

/* "prod", or "bench insert-single" of a suite with several databases; by database, each owned. */
static char **label_databases(const verify_databases *databases)
{
    char **labels = calloc(databases->count + 1, sizeof *labels);
    for (size_t i = 0; labels != NULL && i < databases->count; i++) {
        const struct plan_case *whole = &databases->items[i]->whole;
        bool several = databases_of(databases, whole->suite) > 1;
        labels[i] = result_text("%s%s%s", whole->suite->name, several ? " " : "",
                                several ? whole->scenario->name : "");
    }
    return labels;
}

/* What the result calls cases here: the databases. */
static struct plan_case *cases_of(const verify_databases *databases, char *const *labels,
                                  uint32_t operations)
{
    struct plan_case *cases = calloc(databases->count + 1, sizeof *cases);
    for (size_t i = 0; cases != NULL && i < databases->count; i++) {
        cases[i] = databases->items[i]->whole;
        cases[i].label = labels[i];
        cases[i].operations = operations;
        if (labels[i] == NULL) {
            free(cases);
            return NULL;
        }
    }
    return cases;
}

static int verify_all(const struct plan *plan, const verify_databases *databases,
                      uint32_t operations, const struct progress *progress, struct result *result,
                      struct error *error)
{
    struct measurement m = {.plan = plan, .progress = progress, .result = result};
    int status = measurement_begin(&m, error);
    if (status != 0) {
        return status;
    }
    status = sequence(&m, databases, operations, error);
    result->partial = status != 0;
    struct error late = ERROR_INIT;
    if ((set_statuses(&m, &late) != 0 || verify_warn(&m, false, &late) != 0) && status == 0) {
        status = error_set(error, late.code, "%s", late.message);
    }
    measurement_end(&m);
    return status;
}

int verify(const struct plan *plan, const struct plan_case *like, const struct verify_suite *suites,
           size_t suite_count, uint32_t operations, const struct progress *progress,
           struct result *result, struct error *error)
{
    verify_databases databases = {NULL, 0};
    struct plan own = *plan;
    char **labels = NULL;
    struct plan_case *cases = NULL;
    int status = add_databases(like, suites, suite_count, &databases, error);
    if (status == 0) {
        labels = label_databases(&databases);
        cases = labels != NULL ? cases_of(&databases, labels, operations) : NULL;
        status = cases != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    }
    if (status == 0) {
        own.cases = cases;
        own.case_count = databases.count;
        status = verify_all(&own, &databases, operations, progress, result, error);
    }
    for (size_t i = 0; labels != NULL && i < databases.count; i++) {
        free(labels[i]);
    }
    free(labels);
    free(cases);
    verify_databases_release(&databases);
    return status;
}

/* ---- before a measurement ----------------------------------------------------------- */

/* What the answers on the database of a case came to; NULL: they were not looked at. */
static const char *answers_status(const struct result_engine *engine, const struct plan_case *of)
{
    for (size_t i = 0; i < engine->verify.databases.count; i++) {
        const struct result_verify_database *database = &engine->verify.databases.items[i];
        for (size_t k = 0; k < database->scenarios.count; k++) {
            if (strcmp(database->suite, of->suite->name) == 0 &&
                strcmp(database->scale, of->scale->name) == 0 &&
                strcmp(database->scenarios.items[k], of->scenario->name) == 0) {
                return database->status;
            }
        }
    }
    return NULL;
}

static int set_differs(char **status, char **reason, const struct result_engine *engine,
                       struct error *error)
{
    free(*status);
    *status = strdup("differs");
    *reason = *reason != NULL ? *reason : verify_reason(engine);
    return *status != NULL && *reason != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

/* An engine that answers otherwise is measured all the same, and marked. */
static int mark_differing(struct measurement *m, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->result->engines.count && status == 0; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        if (engine->verify.status == NULL || strcmp(engine->verify.status, "differs") != 0) {
            continue;
        }
        status = set_differs(&engine->status, &engine->error, engine, error);
        for (size_t of = 0; of < m->plan->case_count && status == 0; of++) {
            const char *found = answers_status(engine, &m->cases[of].plan_case);
            struct result_summary *summary = &engine->summaries.items[of];
            if (found != NULL && strcmp(found, "differs") == 0) {
                status = set_differs(&summary->status, &summary->error, engine, error);
            }
        }
    }
    return status;
}

/* "answers checked: sqlite reference, own equal": of the worst database of each. */
static void tell_done(struct measurement *m)
{
    struct buffer text;
    buffer_init(&text);
    for (size_t i = 0; i < m->result->engines.count; i++) {
        const struct result_engine *engine = &m->result->engines.items[i];
        const char *word = NULL;
        for (size_t k = 0; k < engine->verify.databases.count; k++) {
            const char *status = engine->verify.databases.items[k].status;
            bool worse = word == NULL || strcmp(status, "failed") == 0 ||
                         (strcmp(status, "differs") == 0 && strcmp(word, "failed") != 0);
            word = worse ? status : word;
        }
        if (word != NULL) {
            buffer_printf(&text, "%s%s %s",
                          text.length > 0 ? ", " : "answers checked: ", engine->name, word);
        }
    }
    if (text.length > 0 && !text.failed) {
        m->progress->done(m->progress->context, text.data);
    }
    buffer_release(&text);
}

static int add_databases_of_cases(struct measurement *m, verify_databases *out, struct error *error)
{
    for (size_t i = 0; i < m->plan->case_count; i++) {
        struct measured_case *measured = &m->cases[i];
        struct verify_database *database;
        if (measured->template == NULL) {
            continue;
        }
        int status = verify_databases_add(&measured->plan_case, out, &database, error);
        if (status != 0) {
            return status;
        }
        size_t *index = result_list_add(&database->cases);
        if (index == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        *index = i;
        database->template = measured->template;
    }
    return 0;
}

/* A thousand operations of each script: a batch of many is executed less often, but often enough
 * for the ends of its ranges and some of what lies between. */
static uint32_t executions_of(const struct verify_database *database)
{
    enum { EXECUTIONS_MIN = 10 };
    uint32_t least = VERIFY_OPERATIONS;
    for (size_t i = 0; i < database->suite.script_count; i++) {
        uint32_t each = database->suite.scripts[i].operations;
        least = each < least ? each : least;
    }
    uint32_t executions = (VERIFY_OPERATIONS + least - 1) / least;
    return executions > EXECUTIONS_MIN ? executions : EXECUTIONS_MIN;
}

int measurement_answers(struct measurement *m, struct error *error)
{
    verify_databases databases = {NULL, 0};
    int status = add_databases_of_cases(m, &databases, error);
    for (size_t i = 0; i < databases.count && status == 0; i++) {
        status = verify_answers(m, databases.items[i], executions_of(databases.items[i]), error);
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
