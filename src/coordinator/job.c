#include "coordinator/job.h"

#include "base/json.h"
#include "coordinator/settings.h"

#include <stdlib.h>

static uint32_t role_connections(const struct plan *plan, const struct suite_role *role)
{
    return role->connections != 0 ? role->connections : plan->threads;
}

uint32_t job_connections(const struct plan *plan)
{
    uint32_t total = 0;
    for (size_t i = 0; i < plan->scenario->role_count; i++) {
        total += role_connections(plan, &plan->scenario->roles[i]);
    }
    return total;
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

static json_t *variables_json(const struct plan *plan)
{
    size_t count;
    struct script_constant *constants =
        suite_variables(plan->suite, plan->scale, plan->scenario, &count);
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

static json_t *common(const struct plan *plan, const char *kind, const char *database,
                      const result_pairs *settings)
{
    return json_pack("{s:s, s:i, s:s, s:o, s:I, s:o, s:o, s:I}", "kind", "job", "protocol", 1,
                     "job", kind, "database", json_text(database), "busy_timeout_ms",
                     (json_int_t)plan->busy_timeout_ms, "settings", settings_json(settings),
                     "variables", variables_json(plan), "seed", (json_int_t)plan->seed);
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

json_t *job_load(const struct plan *plan, const char *database, const result_pairs *settings)
{
    json_t *job = common(plan, "load", database, settings);
    job = with(job, "schema", json_stringn(plan->suite->schema, plan->suite->schema_length));
    return with(job, "script", script_to_json(plan->suite->load));
}

static json_t *scripts_json(const struct plan *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < plan->suite->script_count; i++) {
        const struct suite_script *script = &plan->suite->scripts[i];
        json_t *tree = script_to_json(script->script);
        tree = with(tree, "kind", json_string(script->kind == SUITE_WRITE ? "write" : "read"));
        tree = with(tree, "operations", json_integer(script->operations));
        if (json_array_append_new(array, tree) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *roles_json(const struct plan *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < plan->scenario->role_count; i++) {
        const struct suite_role *role = &plan->scenario->roles[i];
        json_t *shares = json_array();
        for (size_t k = 0; shares != NULL && k < role->share_count; k++) {
            json_t *share = json_pack("{s:I, s:I}", "script", (json_int_t)role->shares[k].script,
                                      "weight", (json_int_t)role->shares[k].weight);
            if (json_array_append_new(shares, share) != 0) {
                json_decref(shares);
                shares = NULL;
            }
        }
        json_t *item = json_pack("{s:o, s:I, s:o}", "name", json_text(role->name), "connections",
                                 (json_int_t)role_connections(plan, role), "scripts", shares);
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *run_with(const struct plan *plan, const char *database, const result_pairs *settings,
                        json_t *warmup, const char *length_key, uint64_t length)
{
    json_t *job = common(plan, "run", database, settings);
    job = with(job, "scripts", scripts_json(plan));
    job = with(job, "roles", roles_json(plan));
    job = with(job, "first_connection", json_integer(0));
    job = with(job, "connections_total", json_integer(job_connections(plan)));
    job = with(job, "warmup", warmup);
    job = with(job, length_key, json_wire_u64(length));
    job = with(job, "grace_ns", json_wire_u64(plan->grace_ns));
    job = with(job, "max_tries", json_integer(plan->max_tries));
    return with(job, "latency_limit_ns", json_wire_u64(plan->latency_limit_ns));
}

json_t *job_run(const struct plan *plan, const char *database, const result_pairs *settings)
{
    json_t *warmup = plan->warmup_ns != RESULT_ABSENT
                         ? json_pack("{s:o}", "ns", json_wire_u64(plan->warmup_ns))
                         : json_pack("{s:o}", "operations", json_wire_u64(plan->warmup_operations));
    bool timed = plan->duration_ns != RESULT_ABSENT;
    return run_with(plan, database, settings, warmup, timed ? "duration_ns" : "operations",
                    timed ? plan->duration_ns : plan->operations);
}

json_t *job_preflight(const struct plan *plan, const char *database, const result_pairs *settings)
{
    return run_with(plan, database, settings, json_pack("{s:i}", "operations", 0), "operations", 1);
}

json_t *job_go(uint64_t at_ns)
{
    return json_pack("{s:s, s:o}", "kind", "go", "at_ns", json_wire_u64(at_ns));
}

json_t *job_stop(void)
{
    return json_pack("{s:s}", "kind", "stop");
}
