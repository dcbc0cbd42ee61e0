/* What a measurement begins and ends with: the data folder, and what the result says of plan,
 * cases, host and engines. */
#include "coordinator/measurement.h"

#include "coordinator/settings.h"
#include "measure/host.h"

#include <inttypes.h>
#include <math.h>
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

int measurement_variables(const struct plan_case *plan_case, result_pairs *out, struct error *error)
{
    size_t count = 0;
    struct script_constant *variables =
        suite_variables(plan_case->suite, plan_case->scale, plan_case->scenario, &count);
    int status = variables != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < count && status == 0; i++) {
        status =
            fill_pairs(out, variables[i].name, result_text("%" PRId64, variables[i].value), error);
    }
    free(variables);
    return status;
}

static int fill_case(const struct plan_case *plan_case, struct result_case *out,
                     struct error *error)
{
    out->label = copy(plan_case->label);
    out->suite = copy(plan_case->suite->name);
    out->suite_folder = copy(plan_case->suite->folder);
    out->suite_hash = result_text("%016" PRIx64, plan_case->suite->hash);
    out->scale = copy(plan_case->scale->name);
    out->scenario = copy(plan_case->scenario->name);
    out->isolation = copy(plan_case->processes ? "processes" : "threads");
    out->threads = plan_case->threads;
    out->duration_ns = plan_case->duration_ns;
    out->operations = plan_case->operations;
    out->warmup_ns = plan_case->warmup_ns;
    out->warmup_operations = plan_case->warmup_operations;
    out->rate = plan_case->rate;
    out->rate_share = plan_case->rate_share > 0 ? plan_case->rate_share : (double)NAN;
    if (!out->label || !out->suite || !out->suite_hash || !out->scale || !out->scenario ||
        !out->isolation || (plan_case->suite->folder != NULL && !out->suite_folder)) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    return measurement_variables(plan_case, &out->variables, error);
}

static uint64_t expected_ns(const struct plan_case *plan_case)
{
    if (plan_case->duration_ns == RESULT_ABSENT || plan_case->warmup_ns == RESULT_ABSENT) {
        return PROGRESS_UNKNOWN;
    }
    return plan_case->warmup_ns + plan_case->duration_ns;
}

static int fill_cases(struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->plan->case_count; i++) {
        struct measured_case *measured = &m->cases[i];
        struct result_case *out = result_list_add(&m->result->cases);
        if (out == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        result_case_init(out);
        measured->plan_case = m->plan->cases[i];
        measured->index = i;
        measured->again = m->plan->comparison.again;
        measured->expected_ns = expected_ns(&measured->plan_case);
        measured->alive = calloc(m->plan->engines->count, sizeof *measured->alive);
        if (measured->alive == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        for (size_t k = 0; k < m->plan->engines->count; k++) {
            measured->alive[k] = true;
        }
        int status = fill_case(&measured->plan_case, out, error);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int fill_plan(const struct plan *plan, struct result_plan *out, struct error *error)
{
    out->cache_size = plan->cache_size;
    out->busy_timeout_ms = plan->busy_timeout_ms;
    out->grace_ns = plan->grace_ns;
    out->latency_limit_ns = plan->latency_limit_ns;
    out->max_tries = plan->max_tries;
    out->rounds = plan->rounds;
    out->seed = plan->seed;
    return settings_of_plan(plan, NULL, &out->settings, error);
}

void measurement_fill_host(const char *folder, struct result_host *out)
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

int measurement_begin(struct measurement *m, struct error *error)
{
    m->alive = calloc(m->plan->engines->count, sizeof *m->alive);
    m->cases = calloc(m->plan->case_count, sizeof *m->cases);
    if (m->alive == NULL || m->cases == NULL) {
        free(m->alive);
        free(m->cases);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    int status = data_open(&m->folder, m->plan->data_folder, m->progress, error);
    if (status != 0) {
        free(m->alive);
        free(m->cases);
        return status;
    }
    conditions_init(&m->conditions);
    measurement_fill_host(m->folder.path, &m->result->host);
    status = fill_plan(m->plan, &m->result->plan, error);
    status = status == 0 ? fill_cases(m, error) : status;
    status = status == 0 ? fill_engines(m, error) : status;
    if (status != 0) {
        measurement_end(m);
    }
    return status;
}

void measurement_end(struct measurement *m)
{
    for (size_t i = 0; i < m->templates.count; i++) {
        if (m->templates.items[i] != NULL) {
            template_release(&m->templates.items[i]->file);
            row_counts_release(&m->templates.items[i]->rows);
            free(m->templates.items[i]);
        }
    }
    free(m->templates.items);
    for (size_t i = 0; i < m->plan->case_count; i++) {
        free(m->cases[i].alive);
    }
    free(m->cases);
    data_close(&m->folder);
    free(m->alive);
}
