/* Reading what only a `verify` job holds. */
#include "worker/job.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the job");
}

static int read_compare(const json_t *line, struct job *job, struct error *error)
{
    static const char *const names[] = {"ordered", "set", "count"};
    json_t *list = NULL;
    int status = json_get_array(line, "scripts", "job", &list, error);
    job->compare = calloc(job->script_count, sizeof(*job->compare));
    if (job->compare == NULL) {
        return no_memory(error);
    }
    for (uint32_t i = 0; status == 0 && i < job->script_count; i++) {
        int compare = JOB_COMPARE_ORDERED;
        status = job_read_choice(json_array_get(list, i), "compare", "job: script", names, 3,
                                 &compare, error);
        job->compare[i] = (enum job_compare)compare;
    }
    return status;
}

static int read_ignore(const json_t *line, struct job *job, struct error *error)
{
    int status =
        job_read_texts(line, "ignore", JOB_IGNORE_MAX, &job->ignore, &job->ignore_count, error);
    for (size_t i = 0; status == 0 && i < job->ignore_count; i++) {
        const char *dot = strchr(job->ignore[i], '.');
        if (dot == NULL || dot == job->ignore[i] || dot[1] == '\0') {
            status = error_set(error, ERROR_PROTOCOL,
                               "job: ignore holds '%s', must be table.column", job->ignore[i]);
        }
    }
    return status;
}

static int read_operations(const json_t *line, struct job *job, struct error *error)
{
    int status =
        job_read_number(line, "operations", "job", 1, JOB_VERIFY_MAX, &job->operations, error);
    if (status == 0 && job->operations * job->script_count > JOB_VERIFY_MAX) {
        status =
            error_set(error, ERROR_PROTOCOL,
                      "job: %llu operations of each of %u scripts, at most %d in all are taken",
                      (unsigned long long)job->operations, job->script_count, JOB_VERIFY_MAX);
    }
    return status;
}

static int read_tries(const json_t *line, struct job *job, struct error *error)
{
    uint64_t tries = JOB_VERIFY_TRIES;
    const json_t *value = json_object_get(line, "max_tries");
    int status = 0;
    if (value != NULL && !json_is_null(value)) {
        status = job_read_number(line, "max_tries", "job", 1, JOB_TRIES_MAX, &tries, error);
    }
    job->max_tries = (uint32_t)tries;
    return status;
}

static int read_detail(const json_t *line, struct job *job, struct error *error)
{
    const char *where = "job: detail";
    json_t *object = json_object_get(line, "detail");
    uint64_t script = 0;
    uint64_t operation = 0;
    uint64_t rows = 0;
    if (object == NULL || json_is_null(object)) {
        return 0;
    }
    int status = json_get_object(line, "detail", "job", &object, error);
    if (status == 0) {
        status = job_read_number(object, "script", where, 0, job->script_count - 1, &script, error);
    }
    if (status == 0) {
        status =
            job_read_number(object, "operation", where, 0, job->operations - 1, &operation, error);
    }
    if (status == 0) {
        status = job_read_number(object, "rows", where, 0, JOB_DETAIL_ROWS_MAX, &rows, error);
    }
    job->detail = (struct job_detail){.wanted = true,
                                      .script = (uint32_t)script,
                                      .operation = (uint32_t)operation,
                                      .rows = (uint32_t)rows};
    return status;
}

/* The one connection that runs every script. */
static int make_role(struct job *job, struct error *error)
{
    job->roles = calloc(1, sizeof(*job->roles));
    if (job->roles == NULL) {
        return no_memory(error);
    }
    job->role_count = 1;
    struct job_role *role = &job->roles[0];
    role->connections = 1;
    role->name = strdup("verify");
    role->shares = calloc(job->script_count, sizeof(*role->shares));
    if (role->name == NULL || role->shares == NULL) {
        return no_memory(error);
    }
    for (; role->share_count < job->script_count; role->share_count++) {
        role->shares[role->share_count] =
            (struct job_share){.script = role->share_count, .weight = 1};
    }
    job->connection_count = 1;
    job->connections_total = 1;
    job->warmup_ns = JOB_UNLIMITED;
    job->duration_ns = JOB_UNLIMITED;
    job->latency_limit_ns = JOB_TIME_MAX_NS;
    return 0;
}

int job_read_verify(const json_t *line, struct job *job, struct error *error)
{
    int status = job_read_scripts(line, job, error);
    if (status == 0) {
        status = read_compare(line, job, error);
    }
    if (status == 0) {
        status = read_operations(line, job, error);
    }
    if (status == 0) {
        status = read_ignore(line, job, error);
    }
    if (status == 0) {
        status = read_tries(line, job, error);
    }
    if (status == 0) {
        status = read_detail(line, job, error);
    }
    return status != 0 ? status : make_role(job, error);
}
