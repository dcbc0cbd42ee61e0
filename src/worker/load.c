/*
 * Builds a template: schema, rows, indexes, then one self-contained file.
 *
 * The rows of a `rows` block are inserted in transactions of `chunk` rows. Nothing is measured
 * here, but a user waits for it: the loop over rows evaluates, binds and steps, and stores one
 * number.
 */
#include "worker/tend.h"

#include "base/file.h"
#include "base/json.h"
#include "core/clock.h"
#include "measure/usage.h"
#include "worker/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASE_SCRIPT = 0 }; /* the load script is script 0 of the job */

struct table_rows {
    const char *table; /* the script's */
    uint64_t rows;
};

struct load {
    struct task task; /* first, so that one is the other */
    const struct engine_ops *ops;
    struct engine *engine;
    const struct job *job;
    const struct script *script;
    struct engine_statement **statements; /* prepared when first used: a script may make tables */
    struct evaluation evaluation;
    struct random random;
    struct setting_state *settings;
    struct table_rows *tables;
    uint32_t table_count;
    uint64_t elapsed_ns;
};

static int engine_failure(struct load *load, const char *phase, enum engine_status status,
                          uint32_t statement)
{
    return failure_engine(&load->task.failure, phase, load->ops, load->task.connection, status,
                          strcmp(phase, "load") == 0 ? PHASE_SCRIPT : FAILURE_NOWHERE, statement);
}

/* ---- script ------------------------------------------------------------------ */

static int prepare_statement(struct load *load, uint32_t index)
{
    const struct script_statement *statement = &load->script->statements[index];
    enum engine_status status =
        load->ops->prepare(load->task.connection, statement->sql, &load->statements[index]);
    if (status != ENGINE_OK) {
        load->statements[index] = NULL;
        return engine_failure(load, "load", status, index);
    }
    uint32_t count = load->ops->parameter_count(load->statements[index]);
    if (count != statement->parameter_count) {
        failure_set(&load->task.failure, "load", ERROR_ENGINE,
                    "the engine counts %u parameters in this statement, the script has %u", count,
                    statement->parameter_count);
        load->task.failure.script = PHASE_SCRIPT;
        load->task.failure.statement = index;
        return ERROR_ENGINE;
    }
    return 0;
}

static int run_call(struct load *load, const struct script_call *call)
{
    struct engine_connection *handle = load->task.connection;
    struct engine_effect effect = {0, 0};
    enum engine_status status = ENGINE_OK;
    uint32_t statement = FAILURE_NOWHERE;
    switch (call->kind) {
    case SCRIPT_CALL_STATEMENT:
        statement = call->statement;
        if (__builtin_expect(load->statements[statement] == NULL, 0) &&
            prepare_statement(load, statement) != 0) {
            return load->task.failure.error.code;
        }
        status = load->ops->run(load->statements[statement],
                                load->evaluation.values + call->first_value, call->value_count,
                                load->script->statements[statement].one, &effect, NULL);
        break;
    case SCRIPT_CALL_BEGIN_READ:
    case SCRIPT_CALL_BEGIN_WRITE:
        status = load->ops->begin(handle, call->kind == SCRIPT_CALL_BEGIN_WRITE);
        break;
    case SCRIPT_CALL_COMMIT:
        status = load->ops->commit(handle);
        break;
    }
    return status == ENGINE_OK ? 0 : engine_failure(load, "load", status, statement);
}

/* Draws a block and runs its calls. */
static int run_block(struct load *load, const struct script_block *block)
{
    struct evaluation *evaluation = &load->evaluation;
    struct failure *failure = &load->task.failure;
    if (evaluation_draw(evaluation, block, &load->random, &failure->error) != 0) {
        return failure_evaluation(failure, "load", PHASE_SCRIPT, evaluation);
    }
    for (uint32_t i = 0; i < evaluation->call_count; i++) {
        int status = run_call(load, &evaluation->calls[i]);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static struct table_rows *table_entry(struct load *load, const char *table)
{
    for (uint32_t i = 0; i < load->table_count; i++) {
        if (strcmp(load->tables[i].table, table) == 0) {
            return &load->tables[i];
        }
    }
    struct table_rows *entry = &load->tables[load->table_count++];
    entry->table = table;
    return entry;
}

/* Count and chunk of a rows block, drawn in this order, once. */
static int rows_extent(struct load *load, const struct script_step *step, int64_t *count,
                       int64_t *chunk)
{
    struct failure *failure = &load->task.failure;
    if (evaluation_integer(&load->evaluation, &step->expression, &load->random, count,
                           &failure->error) != 0 ||
        evaluation_integer(&load->evaluation, &step->chunk, &load->random, chunk,
                           &failure->error) != 0) {
        return failure_evaluation(failure, "load", PHASE_SCRIPT, &load->evaluation);
    }
    if (*count < 0 || *chunk < 0) {
        failure_set(failure, "load", ERROR_INVALID,
                    "\\rows %s: count is %lld and chunk %lld, neither can be negative", step->table,
                    (long long)*count, (long long)*chunk);
        failure->script = PHASE_SCRIPT;
        failure->place = step->place;
        return ERROR_INVALID;
    }
    if (*chunk == 0) {
        *chunk = INT64_MAX;
    }
    return 0;
}

static int run_rows(struct load *load, const struct script_step *step)
{
    struct task *task = &load->task;
    struct engine_connection *handle = load->task.connection;
    int row_slot = evaluation_builtin(&load->evaluation, "row");
    int64_t count = 0;
    int64_t chunk = 0;
    int status = rows_extent(load, step, &count, &chunk);
    if (status != 0) {
        return status;
    }
    atomic_store_explicit(&task->done, 0, memory_order_relaxed);
    atomic_store_explicit(&task->total, (uint64_t)count, memory_order_relaxed);
    atomic_store_explicit(&task->table, step->table, memory_order_relaxed);
    for (int64_t row = 0; row < count;) {
        enum engine_status begun = load->ops->begin(handle, true);
        if (begun != ENGINE_OK) {
            return engine_failure(load, "load", begun, FAILURE_NOWHERE);
        }
        int64_t end = count - row < chunk ? count : row + chunk;
        for (; row < end; row++) {
            evaluation_assign(&load->evaluation, row_slot, row + 1);
            status = task_is_cut(&load->task)
                         ? engine_failure(load, "load", ENGINE_INTERRUPTED, FAILURE_NOWHERE)
                         : run_block(load, &step->body);
            if (status != 0) {
                return status;
            }
            atomic_store_explicit(&task->done, (uint64_t)row + 1, memory_order_relaxed);
        }
        enum engine_status committed = load->ops->commit(handle);
        if (committed != ENGINE_OK) {
            return engine_failure(load, "load", committed, FAILURE_NOWHERE);
        }
    }
    table_entry(load, step->table)->rows += (uint64_t)count;
    atomic_store_explicit(&task->table, NULL, memory_order_relaxed);
    return 0;
}

static int run_script(struct load *load)
{
    const struct script_block *body = &load->script->body;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < body->count; i++) {
        struct script_step *step = &body->steps[i];
        if (step->kind == SCRIPT_STEP_ROWS) {
            status = run_rows(load, step);
        } else {
            struct script_block one = {.steps = step, .count = 1};
            status = run_block(load, &one);
        }
    }
    return status;
}

/* ---- the whole ----------------------------------------------------------------- */

static int load_open(struct load *load)
{
    const struct job *job = load->job;
    struct failure *failure = &load->task.failure;
    struct engine_connection *handle = NULL;
    if (load->ops->open(load->engine, job->database, job->busy_timeout_ms, true, &handle,
                        &failure->error) != 0) {
        return failure_phase(failure, "open");
    }
    task_opened(&load->task, handle);
    if (settings_apply(load->ops, handle, &job->settings, load->settings, &failure->error) != 0) {
        return failure_phase(failure, "settings");
    }
    enum engine_status status = load->ops->exec(handle, job->schema);
    if (status != ENGINE_OK) {
        return engine_failure(load, "schema", status, FAILURE_NOWHERE);
    }
    /* Only now: page_size and the like take effect when the first page is written. */
    if (settings_read(load->ops, handle, &job->settings, load->settings, &failure->error) != 0) {
        return failure_phase(failure, "settings");
    }
    return 0;
}

static int prepare_evaluation(struct load *load)
{
    const struct job *job = load->job;
    struct failure *failure = &load->task.failure;
    if (evaluation_init(&load->evaluation, load->script, job->constants, job->constant_count,
                        &failure->error) != 0) {
        failure->script = PHASE_SCRIPT;
        return failure_phase(failure, "load");
    }
    evaluation_assign(&load->evaluation, evaluation_builtin(&load->evaluation, "connections"), 1);
    random_init(&load->random, job->seed, RANDOM_LOAD, 0, PHASE_SCRIPT);
    load->statements = calloc((size_t)load->script->statement_count + 1, sizeof(*load->statements));
    load->tables = calloc((size_t)load->script->body.count + 1, sizeof(*load->tables));
    return load->statements == NULL || load->tables == NULL
               ? failure_set(failure, "load", ERROR_MEMORY, "out of memory for the load")
               : 0;
}

static void load_finalize(struct load *load)
{
    for (uint32_t i = 0; load->statements != NULL && i < load->script->statement_count; i++) {
        if (load->statements[i] != NULL) {
            load->ops->finalize(load->statements[i]);
            load->statements[i] = NULL;
        }
    }
}

/* Does nothing when it is closed already. */
static void load_close(struct load *load)
{
    load_finalize(load);
    struct engine_connection *handle = task_closing(&load->task);
    if (handle != NULL) {
        load->ops->close(handle);
    }
}

/* A copy takes the file alone, so everything must be in it. An engine that keeps its journal mode
 * is fine as long as it leaves nothing beside the file. */
static int make_whole(struct load *load)
{
    static const char *const beside[] = {"-wal", "-journal", "-log"};
    struct engine_connection *handle = load->task.connection;
    struct failure *failure = &load->task.failure;
    load_finalize(load);
    enum engine_status status = load->ops->exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)");
    if (status != ENGINE_OK) {
        return engine_failure(load, "checkpoint", status, FAILURE_NOWHERE);
    }
    struct error refused = ERROR_INIT;
    load->ops->setting_set(handle, "journal_mode", "delete", &refused);
    load_close(load);
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        char *path = NULL;
        if (asprintf(&path, "%s%s", load->job->database, beside[i]) < 0) {
            return failure_set(failure, "checkpoint", ERROR_MEMORY, "out of memory for a path");
        }
        int64_t size = file_size(path);
        free(path);
        if (size > 0) {
            return failure_set(
                failure, "checkpoint", ERROR_ENGINE,
                "%lld bytes of the database stay in its %s file%s%s", (long long)size, beside[i],
                refused.code != ERROR_NONE ? "; journal_mode=delete: " : "", refused.message);
        }
    }
    return 0;
}

static int load_work(struct task *task)
{
    struct load *load = (struct load *)task;
    uint64_t started_ns = clock_now_ns();
    int status = load_open(load);
    if (status == 0) {
        status = prepare_evaluation(load);
    }
    if (status == 0) {
        status = run_script(load);
    }
    if (status == 0) {
        status = make_whole(load);
    }
    load_close(load);
    load->elapsed_ns = clock_now_ns() - started_ns;
    return status;
}

static json_t *load_result(const struct load *load)
{
    json_t *rows = json_object();
    for (uint32_t i = 0; rows != NULL && i < load->table_count; i++) {
        if (json_object_set_new(rows, load->tables[i].table, json_wire_u64(load->tables[i].rows)) !=
            0) {
            json_decref(rows);
            rows = NULL;
        }
    }
    uint64_t peak = usage_peak_memory();
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "kind", "result", "job", "load", "rows",
                     rows, "elapsed_ns", json_wire_u64(load->elapsed_ns), "peak_memory_bytes",
                     peak == USAGE_ABSENT ? json_null() : json_wire_u64(peak), "settings",
                     settings_to_json(&load->job->settings, load->settings));
}

static void load_free(struct load *load)
{
    if (load->evaluation.script != NULL) {
        evaluation_release(&load->evaluation);
    }
    settings_free(&load->job->settings, load->settings);
    free(load->statements);
    free(load->tables);
    free(load);
}

int worker_load(struct worker *worker, const struct job *job, struct failure *failure)
{
    if ((worker->capabilities & ENGINE_CAN_LOAD) == 0) {
        return failure_set(failure, "job", ERROR_UNAVAILABLE, "engine %s cannot load a database",
                           worker->name);
    }
    if (job->database == NULL) {
        return failure_set(failure, "job", ERROR_PROTOCOL, "job: load needs a database");
    }
    if (file_size(job->database) >= 0) {
        return failure_set(failure, "job", ERROR_INVALID,
                           "%s exists already; load makes a new database", job->database);
    }
    struct load *load = calloc(1, sizeof(*load));
    struct setting_state *settings = settings_new(&job->settings);
    if (load == NULL || settings == NULL) {
        free(load);
        free(settings);
        return failure_set(failure, "load", ERROR_MEMORY, "out of memory for the load");
    }
    load->task.work = load_work;
    load->task.ops = worker->ops;
    load->task.phase = "load";
    load->ops = worker->ops;
    load->engine = worker->engine;
    load->job = job;
    load->script = job->scripts[0];
    load->settings = settings;
    int status = tend(worker, &load->task, failure);
    if (worker->gone || worker->abandoned) {
        return status;
    }
    if (status == 0) {
        status = worker_send(worker, load_result(load), "load", failure);
    }
    load_free(load);
    return status;
}
