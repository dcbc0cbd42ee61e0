/* Counts rows and asks the engine for the integrity of a database. */
#include "worker/tend.h"

#include "base/json.h"
#include "core/clock.h"
#include "worker/query.h"
#include "worker/settings.h"

#include <stdlib.h>
#include <string.h>

/* Lines of an integrity check that are kept. */
enum { INTEGRITY_LINES_MAX = 100 };

struct check {
    struct task task; /* first, so that one is the other */
    const struct engine_ops *ops;
    struct engine *engine;
    const struct job *job;
    struct setting_state *settings;
    struct texts tables;
    uint64_t *rows; /* by table */
    struct texts integrity;
    uint64_t elapsed_ns;
};

static int no_memory(struct check *check)
{
    return failure_set(&check->task.failure, "check", ERROR_MEMORY, "out of memory for the check");
}

static int take_integer(void *context, const struct value *columns, uint32_t count)
{
    uint64_t *out = context;
    if (count == 1 && columns[0].type == VALUE_INTEGER && columns[0].integer >= 0) {
        *out = (uint64_t)columns[0].integer;
    }
    return 0;
}

static struct query query_of(struct check *check)
{
    return (struct query){check->ops, check->task.connection, "check", &check->task.failure};
}

static int list_tables(struct check *check)
{
    const struct job *job = check->job;
    check->tables.max = JOB_TABLES_MAX;
    for (size_t i = 0; i < job->table_count; i++) {
        if (texts_add(&check->tables, job->tables[i], strlen(job->tables[i])) != 0) {
            return no_memory(check);
        }
    }
    int status = 0;
    if (job->table_count == 0) {
        const struct query query = query_of(check);
        status = query_tables(&query, &check->tables);
    }
    if (status == 0) {
        check->rows = calloc(check->tables.count + 1, sizeof(*check->rows));
        status = check->rows == NULL ? no_memory(check) : 0;
    }
    return status;
}

static int count_rows(struct check *check, size_t index)
{
    struct buffer sql;
    buffer_init(&sql);
    buffer_puts(&sql, "SELECT count(*) FROM ");
    query_quote(&sql, check->tables.items[index]);
    check->rows[index] = UINT64_MAX;
    const struct engine_sink sink = {take_integer, &check->rows[index]};
    const struct query query = query_of(check);
    int status = sql.failed ? no_memory(check) : query_run(&query, sql.data, &sink);
    if (status == 0 && check->rows[index] == UINT64_MAX) {
        status = failure_set(&check->task.failure, "check", ERROR_ENGINE,
                             "%s: expected one integer", sql.data);
    }
    buffer_release(&sql);
    return status;
}

static int check_open(struct check *check)
{
    const struct job *job = check->job;
    struct failure *failure = &check->task.failure;
    struct engine_connection *handle = NULL;
    if (check->ops->open(check->engine, job->database, job->busy_timeout_ms, false, &handle,
                         &failure->error) != 0) {
        return failure_phase(failure, "open");
    }
    task_opened(&check->task, handle);
    if (settings_apply(check->ops, handle, &job->settings, check->settings, &failure->error) != 0) {
        return failure_phase(failure, "settings");
    }
    return 0;
}

/* A check that breaks off has found damage: what the engine says then is its last line. */
static int check_integrity(struct check *check)
{
    const struct engine_sink sink = {texts_take, &check->integrity};
    const struct query query = query_of(check);
    struct failure *failure = &check->task.failure;
    check->integrity.max = INTEGRITY_LINES_MAX;
    if (check->job->integrity == JOB_INTEGRITY_NONE) {
        return 0;
    }
    int status = query_run(&query,
                           check->job->integrity == JOB_INTEGRITY_FULL ? "PRAGMA integrity_check"
                                                                       : "PRAGMA quick_check",
                           &sink);
    if (status != ERROR_ENGINE) {
        return status;
    }
    status = texts_add(&check->integrity, failure->error.message, strlen(failure->error.message));
    failure_init(failure);
    return status != 0 ? no_memory(check) : 0;
}

static int check_work(struct task *task)
{
    struct check *check = (struct check *)task;
    uint64_t started_ns = clock_now_ns();
    int status = check_open(check);
    if (status == 0) {
        status = list_tables(check);
    }
    uint64_t steps = check->tables.count + (check->job->integrity != JOB_INTEGRITY_NONE);
    atomic_store_explicit(&task->total, steps, memory_order_relaxed);
    for (size_t i = 0; status == 0 && i < check->tables.count; i++) {
        atomic_store_explicit(&task->table, check->tables.items[i], memory_order_relaxed);
        status = count_rows(check, i);
        atomic_store_explicit(&task->done, i + 1, memory_order_relaxed);
    }
    atomic_store_explicit(&task->table, NULL, memory_order_relaxed);
    if (status == 0) {
        status = check_integrity(check);
    }
    struct engine_connection *handle = task_closing(task);
    if (handle != NULL) {
        check->ops->close(handle);
    }
    check->elapsed_ns = clock_now_ns() - started_ns;
    return status;
}

static json_t *check_result(const struct check *check)
{
    json_t *rows = json_object();
    json_t *integrity = json_array();
    int status = 0;
    for (size_t i = 0; i < check->tables.count; i++) {
        json_t *name = json_text(check->tables.items[i]);
        status |= name == NULL || json_object_set_new(rows, json_string_value(name),
                                                      json_wire_u64(check->rows[i])) != 0;
        json_decref(name);
    }
    for (size_t i = 0; i < check->integrity.count; i++) {
        status |= json_array_append_new(integrity, json_text(check->integrity.items[i]));
    }
    json_t *result =
        json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "result", "job", "check", "rows", rows,
                  "integrity", integrity, "elapsed_ns", json_wire_u64(check->elapsed_ns));
    if (status != 0) {
        json_decref(result);
        return NULL;
    }
    return result;
}

static void check_free(struct check *check)
{
    settings_free(&check->job->settings, check->settings);
    texts_free(&check->tables);
    texts_free(&check->integrity);
    free(check->rows);
    free(check);
}

int worker_check(struct worker *worker, const struct job *job, struct failure *failure)
{
    if ((worker->capabilities & ENGINE_CAN_CHECK) == 0) {
        return failure_set(failure, "job", ERROR_UNAVAILABLE, "engine %s cannot check a database",
                           worker->name);
    }
    if (job->database == NULL) {
        return failure_set(failure, "job", ERROR_PROTOCOL, "job: check needs a database");
    }
    struct check *check = calloc(1, sizeof(*check));
    struct setting_state *settings = settings_new(&job->settings);
    if (check == NULL || settings == NULL) {
        free(check);
        free(settings);
        return failure_set(failure, "check", ERROR_MEMORY, "out of memory for the check");
    }
    check->task.work = check_work;
    check->task.ops = worker->ops;
    check->task.phase = "check";
    check->ops = worker->ops;
    check->engine = worker->engine;
    check->job = job;
    check->settings = settings;
    int status = tend(worker, &check->task, failure);
    if (worker->gone || worker->abandoned) {
        return status;
    }
    if (status == 0) {
        status = worker_send(worker, check_result(check), "check", failure);
    }
    check_free(check);
    return status;
}
