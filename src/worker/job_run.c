/* Reading what only a `run` job holds. */
#include "worker/job.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the job");
}

int job_read_scripts(const json_t *line, struct job *job, struct error *error)
{
    json_t *list = NULL;
    int status = json_get_array(line, "scripts", "job", &list, error);
    if (status != 0) {
        return status;
    }
    size_t count = json_array_size(list);
    if (count == 0 || count > JOB_SCRIPTS_MAX) {
        return error_set(error, ERROR_PROTOCOL, "job: %zu scripts, must be 1 to %d", count,
                         JOB_SCRIPTS_MAX);
    }
    job->scripts = calloc(count, sizeof(*job->scripts));
    if (job->scripts == NULL) {
        return no_memory(error);
    }
    job->reads = calloc(count, sizeof(*job->reads));
    if (job->reads == NULL) {
        return no_memory(error);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        const json_t *tree = json_array_get(list, i);
        static const char *const kinds[] = {"write", "read"};
        int kind = 0;
        if (json_object_get(tree, "kind") != NULL) {
            status = job_read_choice(tree, "kind", "job: script", kinds, 2, &kind, error);
        }
        job->reads[i] = kind == 1;
        if (status == 0) {
            status = job_read_script(tree, job, false, error);
        }
    }
    return status;
}

static int read_share(const json_t *entry, const struct job *job, struct job_role *role,
                      struct error *error)
{
    const char *where = "job: entry of a role's scripts";
    uint64_t script = 0;
    uint64_t weight = 0;
    int status = job_read_number(entry, "script", where, 0, job->script_count - 1, &script, error);
    if (status == 0) {
        status = job_read_number(entry, "weight", where, 1, JOB_WEIGHT_MAX, &weight, error);
    }
    if (status != 0) {
        return status;
    }
    /* Twice the same script would be two rows that draw the same random numbers. */
    for (uint32_t i = 0; i < role->share_count; i++) {
        if (role->shares[i].script == script) {
            return error_set(error, ERROR_PROTOCOL,
                             "job: role %s lists script %llu twice; add the weights up", role->name,
                             (unsigned long long)script);
        }
    }
    role->shares[role->share_count++] =
        (struct job_share){.script = (uint32_t)script, .weight = (uint32_t)weight};
    return 0;
}

static int read_role(const json_t *entry, struct job *job, struct job_role *role,
                     struct error *error)
{
    const char *name = NULL;
    uint64_t connections = 0;
    json_t *list = NULL;
    int status = json_get_string(entry, "name", "job: role", &name, error);
    if (status == 0) {
        status = job_read_number(entry, "connections", "job: role", 1, JOB_CONNECTIONS_MAX,
                                 &connections, error);
    }
    if (status == 0) {
        status = json_get_u64_or(entry, "operations", "job: role", JOB_UNLIMITED, &role->operations,
                                 error);
    }
    if (status == 0) {
        status = json_get_array(entry, "scripts", "job: role", &list, error);
    }
    if (status != 0) {
        return status;
    }
    size_t count = json_array_size(list);
    if (count == 0 || count > job->script_count) {
        return error_set(error, ERROR_PROTOCOL,
                         "job: role %s has %zu scripts, must be 1 to the job's %u", name, count,
                         job->script_count);
    }
    role->connections = (uint32_t)connections;
    role->name = strdup(name);
    role->shares = calloc(count, sizeof(*role->shares));
    if (role->name == NULL || role->shares == NULL) {
        return no_memory(error);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        status = read_share(json_array_get(list, i), job, role, error);
    }
    return status;
}

static int read_roles(const json_t *line, struct job *job, struct error *error)
{
    json_t *list = NULL;
    int status = json_get_array(line, "roles", "job", &list, error);
    if (status != 0) {
        return status;
    }
    size_t count = json_array_size(list);
    if (count == 0 || count > JOB_CONNECTIONS_MAX) {
        return error_set(error, ERROR_PROTOCOL, "job: %zu roles, must be 1 to %d", count,
                         JOB_CONNECTIONS_MAX);
    }
    job->roles = calloc(count, sizeof(*job->roles));
    if (job->roles == NULL) {
        return no_memory(error);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        job->role_count++;
        status = read_role(json_array_get(list, i), job, &job->roles[i], error);
        if (status == 0) {
            job->connection_count += job->roles[i].connections;
            if (job->connection_count > JOB_CONNECTIONS_MAX) {
                status = error_set(error, ERROR_PROTOCOL,
                                   "job: more than %d connections in all roles together",
                                   JOB_CONNECTIONS_MAX);
            }
        }
    }
    return status;
}

/* Connections are numbered over all workers of a run. */
static int read_numbering(const json_t *line, struct job *job, struct error *error)
{
    uint64_t first = 0;
    uint64_t total = 0;
    int status = job_read_number(line, "first_connection", "job", 0, UINT32_MAX, &first, error);
    if (status == 0) {
        status = job_read_number(line, "connections_total", "job", 1, UINT32_MAX, &total, error);
    }
    if (status == 0 && first + job->connection_count > total) {
        status = error_set(error, ERROR_PROTOCOL,
                           "job: connections %llu to %llu do not fit connections_total, %llu",
                           (unsigned long long)first,
                           (unsigned long long)first + job->connection_count - 1,
                           (unsigned long long)total);
    }
    job->first_connection = (uint32_t)first;
    job->connections_total = (uint32_t)total;
    return status;
}

/* Exactly one of a time and a number of executions. */
static int read_extent(const json_t *object, const char *where, const char *time_key,
                       uint64_t minimum, uint64_t *time_ns, uint64_t *operations,
                       struct error *error)
{
    int status = json_get_u64_or(object, time_key, where, JOB_UNLIMITED, time_ns, error);
    if (status == 0) {
        status = json_get_u64_or(object, "operations", where, JOB_UNLIMITED, operations, error);
    }
    if (status != 0) {
        return status;
    }
    if ((*time_ns == JOB_UNLIMITED) == (*operations == JOB_UNLIMITED)) {
        return error_set(error, ERROR_PROTOCOL, "%s: exactly one of %s and operations is needed",
                         where, time_key);
    }
    if (*time_ns != JOB_UNLIMITED && (*time_ns < minimum || *time_ns > JOB_TIME_MAX_NS)) {
        return error_set(error, ERROR_PROTOCOL, "%s: %s must lie within %llu and 10^15", where,
                         time_key, (unsigned long long)minimum);
    }
    if (*operations != JOB_UNLIMITED &&
        (*operations < minimum || *operations > JOB_OPERATIONS_MAX)) {
        return error_set(error, ERROR_PROTOCOL, "%s: operations must lie within %llu and 10^12",
                         where, (unsigned long long)minimum);
    }
    return 0;
}

/* A role's own number of executions, or the job's. */
static int settle_operations(struct job *job, struct error *error)
{
    for (uint32_t i = 0; i < job->role_count; i++) {
        struct job_role *role = &job->roles[i];
        if (role->operations == JOB_UNLIMITED) {
            role->operations = job->operations;
        } else if (job->operations == JOB_UNLIMITED) {
            return error_set(error, ERROR_PROTOCOL,
                             "job: role %s has operations, but the job lasts for a time",
                             role->name);
        } else if (role->operations < 1 || role->operations > JOB_OPERATIONS_MAX) {
            return error_set(error, ERROR_PROTOCOL,
                             "job: role %s: operations must lie within 1 and 10^12", role->name);
        }
    }
    return 0;
}

static int read_rate(const json_t *line, struct job *job, struct error *error)
{
    const json_t *rate = json_object_get(line, "rate");
    if (rate == NULL || json_is_null(rate)) {
        return 0;
    }
    int status = json_get_double(line, "rate", "job", &job->rate, error);
    if (status == 0 && !(job->rate >= JOB_RATE_MIN && job->rate <= JOB_RATE_MAX)) {
        status = error_set(error, ERROR_PROTOCOL, "job: rate is %g, must lie within %g and %g",
                           job->rate, JOB_RATE_MIN, JOB_RATE_MAX);
    }
    return status;
}

int job_read_run(const json_t *line, struct job *job, struct error *error)
{
    json_t *warmup = NULL;
    uint64_t tries = 0;
    int status = job_read_scripts(line, job, error);
    if (status == 0) {
        status = read_roles(line, job, error);
    }
    if (status == 0) {
        status = read_numbering(line, job, error);
    }
    if (status == 0) {
        status = json_get_object(line, "warmup", "job", &warmup, error);
    }
    if (status == 0) {
        status = read_extent(warmup, "job: warmup", "ns", 0, &job->warmup_ns,
                             &job->warmup_operations, error);
    }
    if (status == 0) {
        status =
            read_extent(line, "job", "duration_ns", 1, &job->duration_ns, &job->operations, error);
    }
    if (status == 0) {
        status = settle_operations(job, error);
    }
    if (status == 0) {
        status =
            job_read_number(line, "grace_ns", "job", 0, JOB_TIME_MAX_NS, &job->grace_ns, error);
    }
    if (status == 0) {
        status = job_read_number(line, "latency_limit_ns", "job", 0, JOB_TIME_MAX_NS,
                                 &job->latency_limit_ns, error);
    }
    if (status == 0) {
        status = job_read_number(line, "max_tries", "job", 1, JOB_TRIES_MAX, &tries, error);
    }
    job->max_tries = (uint32_t)tries;
    return status == 0 ? read_rate(line, job, error) : status;
}
