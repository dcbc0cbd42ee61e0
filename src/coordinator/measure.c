#include "coordinator/measurement.h"

#include "coordinator/interrupt.h"
#include "coordinator/job.h"
#include "coordinator/order.h"
#include "coordinator/settings.h"
#include "core/clock.h"
#include "measure/host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the result says of the plan and the host ---------------------------------- */

static char *copy(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

static int fill_pairs(result_pairs *out, const char *name, char *value, struct error *error)
{
    struct result_pair *pair = value != NULL ? result_list_add(out) : NULL;
    if (pair == NULL || (pair->name = strdup(name)) == NULL) {
        free(value);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    pair->value = value;
    return 0;
}

static int fill_suite(const struct plan *plan, struct result_plan *out, struct error *error)
{
    size_t count = 0;
    struct script_constant *variables =
        suite_variables(plan->suite, plan->scale, plan->scenario, &count);
    out->suite = copy(plan->suite->name);
    out->suite_folder = copy(plan->suite->folder);
    out->suite_hash = result_text("%016" PRIx64, plan->suite->hash);
    out->scale = copy(plan->scale->name);
    out->scenario = copy(plan->scenario->name);
    int status = variables != NULL && out->suite && out->suite_hash && out->scale && out->scenario
                     ? 0
                     : error_set(error, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < count && status == 0; i++) {
        status = fill_pairs(&out->variables, variables[i].name,
                            result_text("%" PRId64, variables[i].value), error);
    }
    free(variables);
    return status;
}

static int fill_plan(const struct plan *plan, struct result_plan *out, struct error *error)
{
    out->threads = plan->threads;
    out->duration_ns = plan->duration_ns;
    out->operations = plan->operations;
    out->warmup_ns = plan->warmup_ns;
    out->warmup_operations = plan->warmup_operations;
    out->cache_size = plan->cache_size;
    out->busy_timeout_ms = plan->busy_timeout_ms;
    out->grace_ns = plan->grace_ns;
    out->latency_limit_ns = plan->latency_limit_ns;
    out->max_tries = plan->max_tries;
    out->rounds = plan->rounds;
    out->seed = plan->seed;
    int status = plan->suite != NULL ? fill_suite(plan, out, error) : 0;
    return status == 0 ? settings_of_plan(plan, NULL, &out->settings, error) : status;
}

static void fill_host(const char *folder, struct result_host *out)
{
    struct host host;
    host_read(&host, folder);
    out->cpu_model = copy(host.cpu_model);
    out->cores = host.cores;
    out->cores_online = host.cores_online;
    out->virtual_machine = copy(host.virtual_machine);
    out->kernel = copy(host.kernel);
    out->operating_system = copy(host.operating_system);
    out->memory_total_bytes = host.memory_total_bytes;
    out->memory_available_bytes = host.memory_available_bytes;
    out->load_average = host.load_average;
    out->clock_source = copy(host.clock_source);
    out->clock_cost_ns = host.clock_cost_ns;
    out->clock_resolution_ns = host.clock_resolution_ns;
    out->data_folder = copy(folder);
    out->file_system = copy(host.file_system);
    out->device = copy(host.device);
    host_release(&host);
}

static int copy_options(const result_pairs *options, result_pairs *out, struct error *error)
{
    for (size_t i = 0; i < options->count; i++) {
        struct result_pair *pair = result_list_add(out);
        if (pair == NULL || (pair->name = strdup(options->items[i].name)) == NULL ||
            (pair->value = strdup(options->items[i].value)) == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    return 0;
}

static int fill_engines(struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->plan->engines->count; i++) {
        struct result_engine *engine = result_list_add(&m->result->engines);
        if (engine == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        result_engine_init(engine);
        const struct engine_choice *choice = &m->plan->engines->items[i];
        engine->name = strdup(choice->name);
        if (engine->name == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        int status = copy_options(&choice->options, &engine->options, error);
        if (status != 0) {
            return status;
        }
        m->alive[i] = true;
    }
    return 0;
}

/* ---- the sequence ------------------------------------------------------------------------ */

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

static int rounds(struct measurement *m, struct error *error)
{
    size_t engines = m->plan->engines->count;
    size_t *order = calloc(engines, sizeof *order);
    int status = order != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    for (uint32_t round = 0; round < m->plan->rounds && status == 0; round++) {
        order_of_round(m->plan->seed, engines, round, order);
        uint64_t position = 0;
        for (size_t i = 0; i < engines && status == 0; i++) {
            if (m->alive[order[i]]) {
                status = measurement_run(m, order[i], (uint64_t)round + 1, ++position, error);
            }
            if (status == 0 && interrupt_requested()) {
                status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
            }
        }
        if (status == 0 && measurement_count_alive(m) == 0) {
            break; /* what each engine died of is in the result */
        }
    }
    free(order);
    return status;
}

static int judge(struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->result->engines.count; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        bool whole = engine->runs.count == m->plan->rounds;
        for (size_t k = 0; k < engine->runs.count; k++) {
            const char *status = engine->runs.items[k].status;
            whole = whole && status != NULL && strcmp(status, "ok") == 0;
        }
        bool failed = engine->status != NULL && strcmp(engine->status, "failed") == 0;
        bool differs = engine->status != NULL && strcmp(engine->status, "differs") == 0;
        if (!failed && !(differs && whole)) {
            free(engine->status);
            engine->status = strdup(whole ? "ok" : "partial");
            if (engine->status == NULL) {
                return error_set(error, ERROR_MEMORY, "out of memory for the result");
            }
        }
    }
    return 0;
}

static int sequence(struct measurement *m, struct error *error)
{
    int status = measurement_identify(m, error);
    if (status == 0 && measurement_count_alive(m) == 0) {
        status = measurement_none_left(m, error);
    }
    if (status == 0 && measurement_any_database(m->plan)) {
        status = measurement_template(m, error);
    }
    if (status == 0 && m->has_template) {
        status = measurement_count_template(m, error);
    }
    if (status == 0) {
        status = measurement_preflight(m, error);
    }
    if (status == 0 && measurement_count_alive(m) == 0) {
        status = measurement_none_left(m, error);
    }
    if (status == 0) {
        status = measurement_answers(m, error);
    }
    if (status == 0 && measurement_count_alive(m) == 0) {
        status = measurement_none_left(m, error);
    }
    if (status == 0) {
        status = rounds(m, error);
    }
    if (status == 0 && m->plan->event_loop) {
        status = measurement_event_loops(m, error);
    }
    return status;
}

int measurement_begin(struct measurement *m, struct error *error)
{
    m->alive = calloc(m->plan->engines->count, sizeof *m->alive);
    if (m->alive == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    int status = data_open(&m->folder, m->plan->data_folder, m->progress, error);
    if (status != 0) {
        free(m->alive);
        return status;
    }
    conditions_init(&m->conditions);
    fill_host(m->folder.path, &m->result->host);
    status = fill_plan(m->plan, &m->result->plan, error);
    if (status == 0) {
        status = fill_engines(m, error);
    }
    if (status != 0) {
        measurement_end(m);
    }
    return status;
}

void measurement_end(struct measurement *m)
{
    if (m->has_template) {
        template_release(&m->template);
    }
    row_counts_release(&m->rows);
    data_close(&m->folder);
    free(m->alive);
}

int measure(const struct plan *plan, const struct progress *progress, struct result *result,
            struct error *error)
{
    struct measurement m = {.plan = plan, .progress = progress, .result = result};
    int status = measurement_begin(&m, error);
    if (status != 0) {
        return status;
    }
    status = sequence(&m, error);
    result->partial = status != 0;
    struct error late = ERROR_INIT;
    if ((judge(&m, &late) != 0 || measurement_warn(&m, &late) != 0) && status == 0) {
        status = error_set(error, late.code, "%s", late.message);
    }
    measurement_end(&m);
    return status;
}
