#include "coordinator/measurement.h"

#include <stdlib.h>
#include <string.h>

/* ---- engines ----------------------------------------------------------------------------- */

size_t measurement_count_alive(const struct measurement *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->plan->engines->count; i++) {
        count += m->alive[i] ? 1 : 0;
    }
    return count;
}

/* Nothing can be measured: the first failure is the reason. */
int measurement_none_left(const struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->result->engines.count; i++) {
        if (m->result->engines.items[i].error != NULL) {
            return error_set(error, ERROR_UNAVAILABLE, "no engine is left: %s: %s",
                             m->result->engines.items[i].name, m->result->engines.items[i].error);
        }
    }
    return error_set(error, ERROR_UNAVAILABLE, "no engine is left");
}

bool measurement_any_database(const struct plan *plan)
{
    for (size_t i = 0; i < plan->engines->count; i++) {
        if (!plan->engines->items[i].manifest->no_database) {
            return true;
        }
    }
    return false;
}

size_t measurement_count_running(const struct measurement *m, const struct measured_case *measured)
{
    size_t count = 0;
    for (size_t i = 0; i < m->plan->engines->count; i++) {
        count += m->alive[i] && measured->alive[i] ? 1 : 0;
    }
    return count;
}

char *measurement_prefix(const struct measurement *m, const struct measured_case *measured)
{
    return m->plan->case_count > 1 ? result_text("%s, ", measured->plan_case.label) : strdup("");
}

/* ---- what became of it ------------------------------------------------------------------- */

static bool is(const char *status, const char *expected)
{
    return status != NULL && strcmp(status, expected) == 0;
}

static int set_status(char **status, const char *word, struct error *error)
{
    free(*status);
    *status = strdup(word);
    return *status != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory for the result");
}

/* All rounds of an engine in a case are there and ok. */
static bool case_whole(const struct measurement *m, const struct result_engine *engine, size_t of)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (run->case_index != of) {
            continue;
        }
        if (!is(run->status, "ok")) {
            return false;
        }
        runs++;
    }
    return runs == m->plan->rounds;
}

/* Failed, unable and, once it is whole, differing stay so. */
static int judge_one(char **status, bool whole, struct error *error)
{
    if (is(*status, "failed") || is(*status, "unable") || (is(*status, "differs") && whole)) {
        return 0;
    }
    return set_status(status, whole ? "ok" : "partial", error);
}

static int judge(struct measurement *m, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->result->engines.count && status == 0; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        bool all = true;
        for (size_t of = 0; of < engine->summaries.count && status == 0; of++) {
            struct result_summary *summary = &engine->summaries.items[of];
            bool whole = case_whole(m, engine, of);
            all = all && (whole || is(summary->status, "unable"));
            status = judge_one(&summary->status, whole, error);
        }
        status = status == 0 ? judge_one(&engine->status, all, error) : status;
    }
    return status;
}

static int add_summaries(struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->result->engines.count; i++) {
        for (size_t of = 0; of < m->plan->case_count; of++) {
            struct result_summary *summary =
                result_list_add(&m->result->engines.items[i].summaries);
            if (summary == NULL) {
                return error_set(error, ERROR_MEMORY, "out of memory for the result");
            }
            result_summary_init(summary);
        }
    }
    return 0;
}

/* ---- the sequence ------------------------------------------------------------------------ */

/* Template, its rows, and whether every engine can do what a case asks. */
static int prepare_case(struct measurement *m, struct measured_case *measured, struct error *error)
{
    int status = 0;
    if (measurement_any_database(m->plan)) {
        status = measurement_template(m, &measured->plan_case, &measured->template, error);
    }
    if (status == 0 && measured->template != NULL) {
        m->result->cases.items[measured->index].template =
            measurement_template_index(m, measured->template);
    }
    if (status == 0 && measured->template != NULL) {
        status = measurement_count_template(m, measured, error);
    }
    return status == 0 ? measurement_preflight(m, measured, error) : status;
}

static int sequence(struct measurement *m, struct error *error)
{
    int status = measurement_look_back(m, error);
    status = status == 0 ? measurement_identify(m, error) : status;
    status = status == 0 ? measurement_same_baseline(m, error) : status;
    for (size_t i = 0; i < m->plan->case_count && status == 0; i++) {
        if (measurement_count_alive(m) == 0) {
            return measurement_none_left(m, error);
        }
        status = prepare_case(m, &m->cases[i], error);
    }
    if (status == 0 && measurement_count_alive(m) == 0) {
        status = measurement_none_left(m, error);
    }
    if (status == 0) {
        status = measurement_resume(m, error);
    }
    if (status == 0) {
        status = measurement_answers(m, error);
    }
    if (status == 0 && measurement_count_alive(m) == 0) {
        status = measurement_none_left(m, error);
    }
    if (status == 0) {
        status = measurement_size_cases(m, error);
    }
    if (status == 0) {
        status = measurement_rates(m, error);
    }
    if (status == 0 && measurement_count_alive(m) == 0) {
        status = measurement_none_left(m, error);
    }
    if (status == 0) {
        status = measurement_rounds(m, error);
    }
    if (status == 0 && m->plan->event_loop) {
        status = measurement_event_loops(m, error);
    }
    return status;
}

int measure(const struct plan *plan, const struct progress *progress, struct result *result,
            struct error *error)
{
    struct measurement m = {.plan = plan, .progress = progress, .result = result};
    int status = measurement_begin(&m, error);
    if (status != 0) {
        return status;
    }
    status = add_summaries(&m, error);
    status = status == 0 ? sequence(&m, error) : status;
    result->partial = status != 0;
    struct error late = ERROR_INIT;
    if ((judge(&m, &late) != 0 || measurement_warn(&m, &late) != 0) && status == 0) {
        status = error_set(error, late.code, "%s", late.message);
    }
    measurement_end(&m);
    return status;
}
