#include "coordinator/run_check.h"

#include "base/json.h"
#include "coordinator/job.h"
#include "coordinator/settings.h"

#include <inttypes.h>
#include <string.h>

static const struct result_setting *find_setting(const result_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->items[i].name, name) == 0) {
            return &settings->items[i];
        }
    }
    return NULL;
}

static int check_settings(const result_pairs *asked, const struct result_connection *connection,
                          struct error *error)
{
    for (size_t i = 0; i < asked->count; i++) {
        const struct result_pair *pair = &asked->items[i];
        const struct result_setting *setting = find_setting(&connection->settings, pair->name);
        bool required = setting_is_required(pair->name);
        if (setting == NULL) {
            return error_set(error, ERROR_PROTOCOL,
                             "ready: connection %" PRIu64
                             " did not read back %s, which was asked to be %s",
                             connection->connection, pair->name, pair->value);
        }
        if (strcmp(setting->asked, pair->value) != 0) {
            return error_set(error, ERROR_PROTOCOL,
                             "ready: connection %" PRIu64
                             " says that %s was asked to be %s; it was %s",
                             connection->connection, pair->name, setting->asked, pair->value);
        }
        if (setting->required != required) {
            return error_set(error, ERROR_PROTOCOL,
                             "ready: connection %" PRIu64 " says that %s is %srequired; it is%s",
                             connection->connection, pair->name, setting->required ? "" : "not ",
                             required ? "" : " not");
        }
    }
    return 0;
}

int run_check_ready(const struct plan_case *plan_case, const result_pairs *asked,
                    const struct result_run *run, struct error *error)
{
    const struct suite_scenario *scenario = plan_case->scenario;
    uint64_t number = plan_case->first_connection;
    size_t next = 0;
    for (size_t role = 0; role < scenario->role_count; role++) {
        const struct suite_role *wanted = &scenario->roles[role];
        uint64_t count = wanted->connections != 0 ? wanted->connections : plan_case->threads;
        for (uint64_t i = 0; i < count; i++, number++, next++) {
            const struct result_connection *connection =
                next < run->connections.count ? &run->connections.items[next] : NULL;
            if (connection == NULL || connection->connection != number ||
                strcmp(connection->role, wanted->name) != 0) {
                return error_set(error, ERROR_PROTOCOL,
                                 "ready: connection %" PRIu64
                                 " of role %s is missing or not in its place",
                                 number, wanted->name);
            }
            int status = check_settings(asked, connection, error);
            if (status != 0) {
                return status;
            }
        }
    }
    return 0;
}

static int check_scripts(const struct plan_case *plan_case, const struct result_run *run,
                         struct error *error)
{
    const struct suite_scenario *scenario = plan_case->scenario;
    size_t next = 0;
    for (size_t role = 0; role < scenario->role_count; role++) {
        const struct suite_role *wanted = &scenario->roles[role];
        for (size_t i = 0; i < wanted->share_count; i++, next++) {
            const char *name = plan_case->suite->scripts[wanted->shares[i].script].name;
            if (next >= run->scripts.count || strcmp(run->scripts.items[next].script, name) != 0 ||
                strcmp(run->scripts.items[next].role, wanted->name) != 0) {
                return error_set(error, ERROR_PROTOCOL,
                                 "the result has no entry for script %s of role %s in its place",
                                 name, wanted->name);
            }
        }
    }
    if (run->scripts.count != next) {
        return error_set(error, ERROR_PROTOCOL,
                         "the result has %zu entries of scripts, the job %zu", run->scripts.count,
                         next);
    }
    return 0;
}

static int check_seconds(const struct result_run *run, struct error *error)
{
    for (size_t s = 0; s < run->scripts.count; s++) {
        const struct result_script *script = &run->scripts.items[s];
        uint64_t operations = 0;
        uint64_t slow = 0;
        for (size_t i = 0; i < run->seconds.count; i++) {
            const struct result_second *second = &run->seconds.items[i];
            operations += s < second->operations.count ? second->operations.items[s] : 0;
            slow += s < second->slow.count ? second->slow.items[s] : 0;
        }
        if (operations != script->ok || slow != script->slow) {
            return error_set(error, ERROR_PROTOCOL,
                             "%s: its seconds count %" PRIu64 " executions and %" PRIu64
                             " slow ones, in all there were %" PRIu64 " and %" PRIu64,
                             script->script, operations, slow, script->ok, script->slow);
        }
    }
    return 0;
}

static int check_offered(const struct result_run *run, struct error *error)
{
    uint64_t begun = 0;
    uint64_t attempted = 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (connection->unstarted > connection->offered) {
            return error_set(error, ERROR_PROTOCOL,
                             "connection %" PRIu64 ": %" PRIu64 " executions never began, only "
                             "%" PRIu64 " were due",
                             connection->connection, connection->unstarted, connection->offered);
        }
        begun += connection->offered - connection->unstarted;
    }
    for (size_t i = 0; i < run->scripts.count; i++) {
        attempted += run->scripts.items[i].attempted;
    }
    if (begun != attempted) {
        return error_set(error, ERROR_PROTOCOL,
                         "%" PRIu64 " executions that were due began, but %" PRIu64
                         " were attempted",
                         begun, attempted);
    }
    return 0;
}

/* By a number of executions every engine does exactly as many. */
static int check_executions(const struct plan_case *plan_case, const struct result_run *run,
                            struct error *error)
{
    for (size_t i = 0; i < plan_case->scenario->role_count; i++) {
        const struct suite_role *role = &plan_case->scenario->roles[i];
        uint64_t expected = job_role_executions(plan_case, role);
        uint64_t attempted = 0;
        uint64_t connections = 0;
        for (size_t k = 0; k < run->scripts.count; k++) {
            const struct result_script *script = &run->scripts.items[k];
            attempted += strcmp(script->role, role->name) == 0 ? script->attempted : 0;
        }
        for (size_t k = 0; k < run->connections.count; k++) {
            connections += strcmp(run->connections.items[k].role, role->name) == 0;
        }
        if (attempted != expected * connections) {
            return error_set(error, ERROR_PROTOCOL,
                             "role %s: %" PRIu64 " executions, the job asked for %" PRIu64
                             " of each of %" PRIu64 " connections",
                             role->name, attempted, expected, connections);
        }
    }
    return 0;
}

int run_check_result(const struct plan_case *plan_case, const struct result_run *run,
                     struct error *error)
{
    uint64_t ok = 0;
    uint64_t operations = 0;
    for (size_t i = 0; i < run->scripts.count; i++) {
        ok += run->scripts.items[i].ok;
    }
    for (size_t i = 0; i < run->connections.count; i++) {
        operations += run->connections.items[i].operations;
    }
    int status = check_scripts(plan_case, run, error);
    if (status == 0 && operations != ok) {
        status = error_set(error, ERROR_PROTOCOL,
                           "the connections count %" PRIu64 " executions, the scripts %" PRIu64,
                           operations, ok);
    }
    if (status == 0 && plan_case->operations != RESULT_ABSENT && strcmp(run->status, "ok") == 0) {
        status = check_executions(plan_case, run, error);
    }
    if (status == 0 && job_is_paced(plan_case)) {
        status = check_offered(run, error);
    }
    return status == 0 ? check_seconds(run, error) : status;
}

int run_check_window(const json_t *line, uint64_t at_ns, uint64_t now_ns, struct error *error)
{
    uint64_t started = 0;
    uint64_t ended = 0;
    int status = json_get_u64(line, "started_ns", "result", &started, error);
    if (status == 0) {
        status = json_get_u64(line, "ended_ns", "result", &ended, error);
    }
    if (status == 0 && started != at_ns) {
        status = error_set(error, ERROR_PROTOCOL,
                           "the result began at %" PRIu64 " ns, go said %" PRIu64, started, at_ns);
    }
    if (status == 0 && ended > now_ns) {
        status = error_set(error, ERROR_PROTOCOL,
                           "the result ended at %" PRIu64 " ns, which is still to come (%" PRIu64
                           " now)",
                           ended, now_ns);
    }
    return status;
}
