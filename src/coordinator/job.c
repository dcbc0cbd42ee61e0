#include "coordinator/job.h"

#include "base/json.h"
#include "coordinator/answers.h"
#include "coordinator/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t role_connections(const struct plan_case *plan_case, const struct suite_role *role)
{
    return role->connections != 0 ? role->connections : plan_case->threads;
}

uint32_t job_connections(const struct plan_case *plan_case)
{
    uint32_t total = 0;
    for (size_t i = 0; i < plan_case->scenario->role_count; i++) {
        total += role_connections(plan_case, &plan_case->scenario->roles[i]);
    }
    return total;
}

bool job_is_paced(const struct plan_case *plan_case)
{
    return plan_case->rate > 0; /* false for NAN */
}

/* Operations that an execution of the role counts for on average: each script has its weight in
 * them. */
static double operations_of_role(const struct plan_case *plan_case, const struct suite_role *role)
{
    double operations = 0;
    double weights = 0;
    for (size_t k = 0; k < role->share_count; k++) {
        double weight = (double)role->shares[k].weight;
        weights += weight;
        operations += weight * (double)plan_case->suite->scripts[role->shares[k].script].operations;
    }
    return operations / weights;
}

/* The same of all connections, of which each has the same share of the executions. */
static double operations_each(const struct plan_case *plan_case)
{
    double sum = 0;
    for (size_t i = 0; i < plan_case->scenario->role_count; i++) {
        const struct suite_role *role = &plan_case->scenario->roles[i];
        sum += (double)role_connections(plan_case, role) * operations_of_role(plan_case, role);
    }
    return sum / (double)job_connections(plan_case);
}

double job_rate(const struct plan_case *plan_case)
{
    return plan_case->rate / operations_each(plan_case);
}

size_t job_part_count(const struct plan_case *plan_case)
{
    return plan_case->processes ? job_connections(plan_case) : 1;
}

void job_part_init(struct job_part *part, const struct plan_case *whole, size_t index)
{
    memset(part, 0, sizeof *part);
    part->plan_case = *whole;
    if (!whole->processes) {
        return;
    }
    const struct suite_role *role = whole->scenario->roles;
    for (size_t first = 0; index >= first + role_connections(whole, role); role++) {
        first += role_connections(whole, role);
    }
    part->role = *role;
    part->role.connections = 1;
    part->scenario = *whole->scenario;
    part->scenario.roles = &part->role;
    part->scenario.role_count = 1;
    part->plan_case.scenario = &part->scenario;
    part->plan_case.processes = false;
    part->plan_case.first_connection = (uint32_t)index;
    part->plan_case.connections_total = job_connections(whole);
    /* A job names the rate of all connections, in executions. */
    part->plan_case.rate = job_rate(whole) * operations_each(&part->plan_case);
}

static uint32_t connections_total(const struct plan_case *plan_case)
{
    return plan_case->connections_total != 0 ? plan_case->connections_total
                                             : job_connections(plan_case);
}

static json_t *settings_json(const result_pairs *settings)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < settings->count; i++) {
        const struct result_pair *pair = &settings->items[i];
        json_t *item =
            json_pack("{s:o, s:o, s:b}", "name", json_text(pair->name), "value",
                      json_text(pair->value), "required", (int)setting_is_required(pair->name));
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *variables_json(const struct plan_case *plan_case)
{
    size_t count;
    struct script_constant *constants =
        suite_variables(plan_case->suite, plan_case->scale, plan_case->scenario, &count);
    json_t *object = constants != NULL ? json_object() : NULL;
    for (size_t i = 0; object != NULL && i < count; i++) {
        if (json_object_set_new(object, constants[i].name, json_wire_i64(constants[i].value)) !=
            0) {
            json_decref(object);
            object = NULL;
        }
    }
    free(constants);
    return object;
}

static json_t *common(const struct plan_case *plan_case, const char *kind, const char *database,
                      const result_pairs *settings)
{
    return json_pack("{s:s, s:i, s:s, s:o, s:I, s:o, s:o, s:I}", "kind", "job", "protocol", 1,
                     "job", kind, "database", json_text(database), "busy_timeout_ms",
                     (json_int_t)plan_case->plan->busy_timeout_ms, "settings",
                     settings_json(settings), "variables", variables_json(plan_case), "seed",
                     (json_int_t)plan_case->plan->seed);
}

/* Puts a new reference into a job; the job is given up when either is missing. */
static json_t *with(json_t *job, const char *key, json_t *value)
{
    if (job != NULL && json_object_set_new(job, key, value) != 0) {
        json_decref(job);
        return NULL;
    }
    if (job == NULL) {
        json_decref(value);
    }
    return job;
}

json_t *job_load(const struct plan_case *plan_case, const char *database,
                 const result_pairs *settings)
{
    json_t *job = common(plan_case, "load", database, settings);
    job = with(job, "schema",
               json_stringn(plan_case->suite->schema, plan_case->suite->schema_length));
    return with(job, "script", script_to_json(plan_case->suite->load));
}

static json_t *scripts_json(const struct plan_case *plan_case)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < plan_case->suite->script_count; i++) {
        const struct suite_script *script = &plan_case->suite->scripts[i];
        json_t *tree = script_to_json(script->script);
        tree = with(tree, "kind", json_string(script->kind == SUITE_WRITE ? "write" : "read"));
        tree = with(tree, "operations", json_integer(script->operations));
        tree = with(tree, "compare", json_string(answers_compare_name(script->compare)));
        if (json_array_append_new(array, tree) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool role_writes(const struct plan_case *plan_case, const struct suite_role *role)
{
    for (size_t i = 0; i < role->share_count; i++) {
        if (plan_case->suite->scripts[role->shares[i].script].kind == SUITE_WRITE) {
            return true;
        }
    }
    return false;
}

/* `writing`: only its write scripts, if it has any. */
static json_t *role_json(const struct plan_case *plan_case, const struct suite_role *role,
                         uint32_t connections, bool writing)
{
    json_t *shares = json_array();
    bool only_writes = writing && role_writes(plan_case, role);
    for (size_t k = 0; shares != NULL && k < role->share_count; k++) {
        if (only_writes && plan_case->suite->scripts[role->shares[k].script].kind != SUITE_WRITE) {
            continue;
        }
        json_t *share = json_pack("{s:I, s:I}", "script", (json_int_t)role->shares[k].script,
                                  "weight", (json_int_t)role->shares[k].weight);
        if (json_array_append_new(shares, share) != 0) {
            json_decref(shares);
            shares = NULL;
        }
    }
    return json_pack("{s:o, s:I, s:o}", "name", json_text(role->name), "connections",
                     (json_int_t)connections, "scripts", shares);
}

uint64_t job_role_executions(const struct plan_case *plan_case, const struct suite_role *role)
{
    if (!plan_case->count_operations) {
        return plan_case->operations;
    }
    double each = operations_of_role(plan_case, role);
    return (uint64_t)ceil((double)plan_case->operations / each);
}

static json_t *roles_json(const struct plan_case *plan_case, bool writing)
{
    bool counted = plan_case->count_operations && plan_case->operations != RESULT_ABSENT;
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < plan_case->scenario->role_count; i++) {
        const struct suite_role *role = &plan_case->scenario->roles[i];
        json_t *item = role_json(plan_case, role, role_connections(plan_case, role), writing);
        if (counted) {
            item = with(item, "operations", json_wire_u64(job_role_executions(plan_case, role)));
        }
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *run_with(const struct plan_case *plan_case, const char *database,
                        const result_pairs *settings, json_t *roles, json_t *warmup,
                        const char *length_key, uint64_t length)
{
    json_t *job = common(plan_case, "run", database, settings);
    job = with(job, "scripts", scripts_json(plan_case));
    job = with(job, "roles", roles);
    job = with(job, "first_connection", json_integer(plan_case->first_connection));
    job = with(job, "connections_total", json_integer(connections_total(plan_case)));
    job = with(job, "warmup", warmup);
    job = with(job, length_key, json_wire_u64(length));
    job = with(job, "grace_ns", json_wire_u64(plan_case->plan->grace_ns));
    job = with(job, "max_tries", json_integer(plan_case->plan->max_tries));
    return with(job, "latency_limit_ns", json_wire_u64(plan_case->plan->latency_limit_ns));
}

static json_t *warmup_json(const struct plan_case *plan_case)
{
    return plan_case->warmup_ns != RESULT_ABSENT
               ? json_pack("{s:o}", "ns", json_wire_u64(plan_case->warmup_ns))
               : json_pack("{s:o}", "operations", json_wire_u64(plan_case->warmup_operations));
}

json_t *job_event_loop(const struct plan_case *plan_case, const char *database,
                       const result_pairs *settings, uint64_t length_ns)
{
    json_t *job = common(plan_case, "event_loop", database, settings);
    job = with(job, "scripts", scripts_json(plan_case));
    job = with(job, "roles",
               json_pack("[o]", role_json(plan_case, &plan_case->scenario->roles[0], 1, false)));
    job = with(job, "warmup", warmup_json(plan_case));
    job = with(job, "duration_ns", json_wire_u64(length_ns));
    job = with(job, "in_flight", json_pack("[i, i, i]", 1, 4, 16));
    return with(job, "max_tries", json_integer(plan_case->plan->max_tries));
}

json_t *job_run(const struct plan_case *plan_case, const char *database,
                const result_pairs *settings, uint32_t seed)
{
    bool timed = plan_case->duration_ns != RESULT_ABSENT;
    json_t *job = run_with(plan_case, database, settings, roles_json(plan_case, false),
                           warmup_json(plan_case), timed ? "duration_ns" : "operations",
                           timed ? plan_case->duration_ns : plan_case->operations);
    if (job_is_paced(plan_case)) {
        job = with(job, "rate", json_real(job_rate(plan_case)));
    }
    return with(job, "seed", json_integer(seed));
}

json_t *job_preflight(const struct plan_case *plan_case, const char *database,
                      const result_pairs *settings)
{
    return run_with(plan_case, database, settings, roles_json(plan_case, false),
                    json_pack("{s:i}", "operations", 0), "operations", 1);
}

json_t *job_settings(const struct plan_case *plan_case, const char *database,
                     const result_pairs *settings, uint32_t writes)
{
    return run_with(plan_case, database, settings, roles_json(plan_case, true),
                    json_pack("{s:I}", "operations", (json_int_t)writes), "operations", 1);
}

/* Columns that no digest holds, each once. */
static json_t *ignored_json(const struct suite *suite)
{
    json_t *array = json_array();
    for (size_t i = 0; i < suite->script_count; i++) {
        for (size_t k = 0; array != NULL && k < suite->scripts[i].ignore_count; k++) {
            const char *column = suite->scripts[i].ignore[k];
            bool there = false;
            for (size_t n = 0; n < json_array_size(array); n++) {
                there = there || strcmp(json_string_value(json_array_get(array, n)), column) == 0;
            }
            if (!there && json_array_append_new(array, json_string(column)) != 0) {
                json_decref(array);
                array = NULL;
            }
        }
    }
    return array;
}

json_t *job_verify(const struct plan_case *plan_case, const char *database,
                   const result_pairs *settings, uint32_t operations,
                   const struct job_detail *detail)
{
    json_t *job = common(plan_case, "verify", database, settings);
    job = with(job, "scripts", scripts_json(plan_case));
    job = with(job, "operations", json_integer(operations));
    job = with(job, "max_tries", json_integer(plan_case->plan->max_tries));
    job = with(job, "ignore", ignored_json(plan_case->suite));
    if (detail != NULL) {
        job = with(job, "detail",
                   json_pack("{s:I, s:I, s:I}", "script", (json_int_t)detail->script, "operation",
                             (json_int_t)detail->operation, "rows", (json_int_t)detail->rows));
    }
    return job;
}

json_t *job_check(const struct plan_case *plan_case, const char *database,
                  const result_pairs *settings, const char *kind)
{
    json_t *job = common(plan_case, "check", database, settings);
    job = with(job, "tables", json_array());
    return with(job, "integrity", json_string(strcmp(kind, "counts") == 0 ? "none" : kind));
}

json_t *job_go(uint64_t at_ns)
{
    return json_pack("{s:s, s:o}", "kind", "go", "at_ns", json_wire_u64(at_ns));
}

json_t *job_stop(void)
{
    return json_pack("{s:s}", "kind", "stop");
}
