/*
 * The answers of an engine: every script run with the same parameters on every engine, then every
 * table read, all of it told as digests. One connection, nothing timed.
 */
#include "base/digest.h"
#include "base/json.h"
#include "core/clock.h"
#include "worker/answer.h"
#include "worker/detail.h"
#include "worker/loop.h"
#include "worker/query.h"
#include "worker/settings.h"
#include "worker/tend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The operation that draws beyond every range. */
enum { OPERATION_BEYOND = 2 };

struct verify_table {
    uint64_t rows;
    uint64_t sums[2]; /* of the hashes of its rows, by digest_kind */
};

struct verify {
    struct task task; /* first, so that one is the other */
    struct engine *engine;
    const struct job *job;
    struct setting_state *settings;
    struct loop loop;     /* its one connection has every script */
    uint64_t *digests[2]; /* by digest_kind: [script][operation] */
    struct texts tables;
    struct verify_table *sums; /* by table */
    bool *ignored;             /* entries of the job's `ignore` that named a column */
    struct detail detail;
    enum outcome outcome; /* of the execution in detail */
    uint64_t elapsed_ns;
};

static int no_memory(struct verify *verify)
{
    return failure_set(&verify->task.failure, "verify", ERROR_MEMORY,
                       "out of memory for the answers");
}

/* ---- scripts ------------------------------------------------------------------- */

static char outcome_byte(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_OK:
        return 'o';
    case OUTCOME_BUSY:
        return 'y';
    case OUTCOME_CONFLICT:
        return 'c';
    case OUTCOME_FAILED:
    case OUTCOME_SKIPPED:
    case OUTCOME_OPEN:
    case OUTCOME_COUNT:
        break;
    }
    return 'f';
}

static enum script_draw draw_of(uint64_t operation)
{
    static const enum script_draw ends[] = {SCRIPT_DRAW_LOW, SCRIPT_DRAW_HIGH, SCRIPT_DRAW_BEYOND};
    return operation < 3 ? ends[operation] : SCRIPT_DRAW_RANDOM;
}

/* Draws the parameters. A mistake of the script is an error of the job, but not beyond the ranges,
 * where no run ever is: *drawn is then false, and the execution has failed. */
static int draw(struct verify *verify, struct loop_entry *entry, uint64_t operation, bool *drawn)
{
    struct failure *failure = &verify->task.failure;
    evaluation_assign(&entry->evaluation, entry->op_slot, (int64_t)verify->loop.op);
    entry->evaluation.draw = draw_of(operation);
    *drawn = evaluation_draw(&entry->evaluation, &entry->script->body, &entry->random,
                             &failure->error) == 0;
    if (*drawn) {
        return 0;
    }
    int status = failure_evaluation(failure, "verify", entry->index, &entry->evaluation);
    if (status != ERROR_INVALID || operation != OPERATION_BEYOND) {
        return status;
    }
    entry->tally->attempted++;
    tally_failed(entry->tally, FAILURE_NOWHERE, 0, failure->error.message);
    failure_init(failure);
    return 0;
}

/* Nonzero: the job ends here. */
static int execute(struct verify *verify, struct loop_entry *entry, uint64_t operation,
                   const struct operation_observer *observer, enum outcome *outcome)
{
    struct engine_effect effect = {0, 0};
    bool drawn = false;
    *outcome = OUTCOME_FAILED;
    int status = draw(verify, entry, operation, &drawn);
    if (status != 0) {
        return status;
    }
    if (drawn) {
        *outcome = operation_observe(&verify->loop.operation, &entry->evaluation, entry->statements,
                                     entry->tally, &effect, observer);
    }
    tally_add(entry->tally, *outcome, &effect, 0, UINT64_MAX);
    verify->loop.op++;
    atomic_fetch_add_explicit(&verify->task.done, 1, memory_order_relaxed);
    if (task_is_cut(&verify->task)) {
        return failure_set(&verify->task.failure, "verify", ERROR_INTERRUPTED, "interrupted");
    }
    return 0;
}

static int answer_script(struct verify *verify, struct loop_entry *entry, struct answer *answer,
                         uint64_t operations)
{
    const struct operation_observer observer = answer_observer(answer);
    uint64_t *digests[2] = {verify->digests[DIGEST_VALUE], verify->digests[DIGEST_STRICT]};
    size_t first = entry->index * verify->job->operations;
    for (uint64_t i = 0; i < operations; i++) {
        enum outcome outcome;
        answer_clear(answer);
        int status = execute(verify, entry, i, &observer, &outcome);
        if (status != 0) {
            return status;
        }
        if (answer->no_memory) {
            return no_memory(verify);
        }
        for (int kind = 0; kind < 2; kind++) {
            digests[kind][first + i] =
                answer_digest(answer, (enum digest_kind)kind, outcome_byte(outcome));
        }
    }
    return 0;
}

static int show(struct verify *verify, struct loop_entry *entry, uint64_t operation)
{
    const struct operation_observer observer = detail_observer(&verify->detail);
    verify->detail.evaluation = &entry->evaluation;
    verify->detail.rows_max = verify->job->detail.rows;
    tally_restart(entry->tally); /* so that a message is this execution's */
    int status = execute(verify, entry, operation, &observer, &verify->outcome);
    return status == 0 && verify->detail.no_memory ? no_memory(verify) : status;
}

/* All scripts, or those before the execution in detail and that one. */
static int run_scripts(struct verify *verify)
{
    const struct job *job = verify->job;
    const struct job_detail *detail = &job->detail;
    uint32_t last = detail->wanted ? detail->script : job->script_count - 1;
    int status = 0;
    atomic_store_explicit(&verify->task.total,
                          detail->wanted ? last * job->operations + detail->operation + 1
                                         : job->script_count * job->operations,
                          memory_order_relaxed);
    for (uint32_t i = 0; status == 0 && i <= last; i++) {
        struct loop_entry *entry = &verify->loop.entries[i];
        struct answer answer = {.compare = job->compare[i]};
        bool shown = detail->wanted && i == detail->script;
        random_init(&entry->random, job->seed, RANDOM_VERIFY, 0, entry->index);
        status = answer_script(verify, entry, &answer, shown ? detail->operation : job->operations);
        answer_release(&answer);
        if (status == 0 && shown) {
            status = show(verify, entry, detail->operation);
        }
        if (status == 0 &&
            tally_check(entry->tally, entry->script->name, &verify->task.failure.error) != 0) {
            status = failure_phase(&verify->task.failure, "internal");
        }
    }
    return status;
}

/* ---- tables -------------------------------------------------------------------- */

static struct query query_of(struct verify *verify)
{
    return (struct query){verify->task.ops, verify->task.connection, "verify",
                          &verify->task.failure};
}

/* Whether the job leaves the column out; names of SQL know no case. */
static bool is_ignored(const struct verify *verify, const char *table, const char *column)
{
    size_t length = strlen(table);
    bool found = false;
    for (size_t i = 0; i < verify->job->ignore_count; i++) {
        const char *entry = verify->job->ignore[i];
        if (strncasecmp(entry, table, length) == 0 && entry[length] == '.' &&
            strcasecmp(entry + length + 1, column) == 0) {
            verify->ignored[i] = true;
            found = true;
        }
    }
    return found;
}

static bool mentions(const struct job *job, const char *table)
{
    size_t length = strlen(table);
    for (size_t i = 0; i < job->ignore_count; i++) {
        if (strncasecmp(job->ignore[i], table, length) == 0 && job->ignore[i][length] == '.') {
            return true;
        }
    }
    return false;
}

/* A row of PRAGMA table_info or table_xinfo: number, name, … and only in the latter, as the
 * seventh: 0, 1 hidden, 2 or 3 generated. SELECT * gives all but the hidden ones. */
static int take_column(void *context, const struct value *columns, uint32_t count)
{
    if (count > 6 && columns[6].type == VALUE_INTEGER && columns[6].integer == 1) {
        return 0;
    }
    return texts_take_second(context, columns, count);
}

/* The names of the columns. Versions before 3.26 have no table_xinfo, nor generated columns. */
static int list_columns(struct verify *verify, const char *table, struct texts *columns)
{
    static const char *const pragmas[] = {"PRAGMA table_xinfo(", "PRAGMA table_info("};
    const struct query query = query_of(verify);
    const struct engine_sink sink = {take_column, columns};
    int status = 0;
    for (size_t i = 0; i < 2 && status == 0 && columns->count == 0; i++) {
        struct buffer pragma;
        buffer_init(&pragma);
        buffer_puts(&pragma, pragmas[i]);
        query_quote(&pragma, table);
        buffer_putc(&pragma, ')');
        if (pragma.failed) {
            status = no_memory(verify);
        } else {
            status = i == 0 ? query_run_if_known(&query, pragma.data, &sink)
                            : query_run(&query, pragma.data, &sink);
        }
        buffer_release(&pragma);
    }
    return status;
}

/* The columns that are read, or * when all are. */
static int put_columns(struct verify *verify, const char *table, struct buffer *sql)
{
    if (!mentions(verify->job, table)) {
        buffer_putc(sql, '*');
        return 0;
    }
    struct texts columns = {.max = SIZE_MAX};
    int status = list_columns(verify, table, &columns);
    size_t kept = 0;
    for (size_t i = 0; status == 0 && i < columns.count; i++) {
        if (!is_ignored(verify, table, columns.items[i])) {
            buffer_puts(sql, kept++ == 0 ? "" : ", ");
            query_quote(sql, columns.items[i]);
        }
    }
    if (kept == 0) {
        buffer_puts(sql, "NULL"); /* the number of rows is left */
    }
    texts_free(&columns);
    return status;
}

struct table_reader {
    struct task *task;
    struct verify_table *table;
};

static int take_row(void *context, const struct value *columns, uint32_t count)
{
    struct table_reader *reader = context;
    struct verify_table *table = reader->table;
    table->rows++;
    table->sums[DIGEST_VALUE] += digest_row(DIGEST_VALUE, columns, count);
    table->sums[DIGEST_STRICT] += digest_row(DIGEST_STRICT, columns, count);
    atomic_store_explicit(&reader->task->done, table->rows, memory_order_relaxed);
    return task_is_cut(reader->task) ? ERROR_INTERRUPTED : 0;
}

static int read_table(struct verify *verify, size_t index)
{
    const char *name = verify->tables.items[index];
    const struct query query = query_of(verify);
    struct table_reader reader = {&verify->task, &verify->sums[index]};
    const struct engine_sink sink = {take_row, &reader};
    struct buffer sql;
    atomic_store_explicit(&verify->task.done, 0, memory_order_relaxed);
    atomic_store_explicit(&verify->task.table, name, memory_order_relaxed);
    buffer_init(&sql);
    buffer_puts(&sql, "SELECT ");
    int status = put_columns(verify, name, &sql);
    buffer_puts(&sql, " FROM ");
    query_quote(&sql, name);
    if (status == 0) {
        status = sql.failed ? no_memory(verify) : query_run(&query, sql.data, &sink);
    }
    buffer_release(&sql);
    return status;
}

/* A misspelt name would leave nothing out, and the answers would differ for no visible reason. */
static int check_ignored(struct verify *verify)
{
    for (size_t i = 0; i < verify->job->ignore_count; i++) {
        if (!verify->ignored[i]) {
            return failure_set(&verify->task.failure, "verify", ERROR_INVALID,
                               "ignore names %s, but the database has no such column",
                               verify->job->ignore[i]);
        }
    }
    return 0;
}

static int read_tables(struct verify *verify)
{
    const struct query query = query_of(verify);
    verify->tables.max = JOB_TABLES_MAX;
    atomic_store_explicit(&verify->task.total, 0, memory_order_relaxed);
    int status = query_tables(&query, &verify->tables);
    verify->sums = calloc(verify->tables.count + 1, sizeof(*verify->sums));
    verify->ignored = calloc(verify->job->ignore_count + 1, sizeof(*verify->ignored));
    if (verify->sums == NULL || verify->ignored == NULL) {
        return no_memory(verify);
    }
    for (size_t i = 0; status == 0 && i < verify->tables.count; i++) {
        status = read_table(verify, i);
    }
    atomic_store_explicit(&verify->task.table, NULL, memory_order_relaxed);
    return status != 0 ? status : check_ignored(verify);
}

/* ---- the whole ----------------------------------------------------------------- */

static int verify_open(struct verify *verify)
{
    const struct job *job = verify->job;
    const struct engine_ops *ops = verify->task.ops;
    struct failure *failure = &verify->task.failure;
    struct engine_connection *handle = NULL;
    if (ops->open(verify->engine, job->database, job->busy_timeout_ms, false, &handle,
                  &failure->error) != 0) {
        return failure_phase(failure, "open");
    }
    task_opened(&verify->task, handle);
    if (settings_apply(ops, handle, &job->settings, verify->settings, &failure->error) != 0) {
        return failure_phase(failure, "settings");
    }
    const atomic_bool *cut = &verify->task.cut;
    int status = loop_init(&verify->loop, job, 0, 0, cut, cut, failure);
    return status != 0 ? status : loop_prepare(&verify->loop, ops, handle, failure);
}

static int verify_work(struct task *task)
{
    struct verify *verify = (struct verify *)task;
    uint64_t started_ns = clock_now_ns();
    int status = verify_open(verify);
    if (status == 0) {
        status = run_scripts(verify);
    }
    if (status == 0 && !verify->job->detail.wanted) {
        status = read_tables(verify);
    }
    loop_finalize(&verify->loop);
    struct engine_connection *handle = task_closing(task);
    if (handle != NULL) {
        task->ops->close(handle);
    }
    verify->elapsed_ns = clock_now_ns() - started_ns;
    return status;
}

/* ---- the result ---------------------------------------------------------------- */

static json_t *digest_json(uint64_t digest)
{
    char text[17];
    snprintf(text, sizeof(text), "%016" PRIx64, digest);
    return json_string(text);
}

static json_t *digests_json(const uint64_t *digests, uint64_t count)
{
    json_t *list = json_array();
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        if (json_array_append_new(list, digest_json(digests[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *script_json(const struct verify *verify, const struct loop_entry *entry)
{
    uint64_t count = verify->job->operations;
    const struct tally *tally = entry->tally;
    const uint64_t *outcomes = tally->outcomes;
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "script", (json_int_t)entry->index,
        "ok", json_wire_u64(outcomes[OUTCOME_OK]), "busy", json_wire_u64(outcomes[OUTCOME_BUSY]),
        "conflict", json_wire_u64(outcomes[OUTCOME_CONFLICT]), "failed",
        json_wire_u64(outcomes[OUTCOME_FAILED]), "rows_read", json_wire_u64(tally->rows_read),
        "rows_changed", json_wire_u64(tally->rows_changed), "value",
        digests_json(verify->digests[DIGEST_VALUE] + entry->index * count, count), "strict",
        digests_json(verify->digests[DIGEST_STRICT] + entry->index * count, count), "errors",
        tally_errors_to_json(tally));
}

static json_t *table_digest_json(const struct verify_table *table, enum digest_kind kind)
{
    struct digest digest;
    digest_init(&digest);
    digest_u64(&digest, table->rows);
    digest_u64(&digest, table->sums[kind]);
    return digest_json(digest_end(&digest));
}

static json_t *verify_result(const struct verify *verify)
{
    json_t *scripts = json_array();
    json_t *tables = json_array();
    int status = 0;
    for (uint32_t i = 0; i < verify->loop.entry_count; i++) {
        status |= json_array_append_new(scripts, script_json(verify, &verify->loop.entries[i]));
    }
    for (size_t i = 0; i < verify->tables.count; i++) {
        const struct verify_table *table = &verify->sums[i];
        status |= json_array_append_new(
            tables,
            json_pack("{s:o, s:o, s:o, s:o}", "table", json_text(verify->tables.items[i]), "rows",
                      json_wire_u64(table->rows), "value", table_digest_json(table, DIGEST_VALUE),
                      "strict", table_digest_json(table, DIGEST_STRICT)));
    }
    json_t *result =
        json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "result", "job", "verify", "elapsed_ns",
                  json_wire_u64(verify->elapsed_ns), "scripts", scripts, "tables", tables);
    if (status != 0) {
        json_decref(result);
        return NULL;
    }
    return result;
}

static json_t *shown_result(const struct verify *verify)
{
    static const char *const names[OUTCOME_COUNT] = {[OUTCOME_OK] = "ok",
                                                     [OUTCOME_BUSY] = "busy",
                                                     [OUTCOME_CONFLICT] = "conflict",
                                                     [OUTCOME_FAILED] = "failed"};
    const struct tally *tally = verify->loop.entries[verify->job->detail.script].tally;
    return detail_result(&verify->detail, names[verify->outcome],
                         tally->error_count > 0 ? tally->errors[0].message : NULL);
}

static void verify_free(struct verify *verify)
{
    detail_release(&verify->detail);
    loop_release(&verify->loop);
    settings_free(&verify->job->settings, verify->settings);
    texts_free(&verify->tables);
    free(verify->digests[DIGEST_VALUE]);
    free(verify->digests[DIGEST_STRICT]);
    free(verify->sums);
    free(verify->ignored);
    free(verify);
}

static struct verify *verify_new(const struct worker *worker, const struct job *job)
{
    struct verify *verify = calloc(1, sizeof(*verify));
    if (verify == NULL) {
        return NULL;
    }
    size_t count = job->script_count * job->operations;
    verify->job = job;
    verify->engine = worker->engine;
    verify->task.work = verify_work;
    verify->task.ops = worker->ops;
    verify->task.phase = "verify";
    verify->settings = settings_new(&job->settings);
    verify->digests[DIGEST_VALUE] = calloc(count, sizeof(uint64_t));
    verify->digests[DIGEST_STRICT] = calloc(count, sizeof(uint64_t));
    if (verify->settings == NULL || verify->digests[DIGEST_VALUE] == NULL ||
        verify->digests[DIGEST_STRICT] == NULL) {
        verify_free(verify);
        return NULL;
    }
    return verify;
}

int worker_verify(struct worker *worker, const struct job *job, struct failure *failure)
{
    if ((worker->capabilities & ENGINE_HAS_NO_DATABASE) != 0) {
        return failure_set(failure, "job", ERROR_UNAVAILABLE,
                           "engine %s stores nothing and has no answers to verify", worker->name);
    }
    if (job->database == NULL) {
        return failure_set(failure, "job", ERROR_PROTOCOL, "job: verify needs a database");
    }
    struct verify *verify = verify_new(worker, job);
    if (verify == NULL) {
        return failure_set(failure, "verify", ERROR_MEMORY, "out of memory for the answers");
    }
    int status = tend(worker, &verify->task, failure);
    if (worker->gone || worker->abandoned) {
        return status;
    }
    if (status == 0) {
        status =
            worker_send(worker, job->detail.wanted ? shown_result(verify) : verify_result(verify),
                        "verify", failure);
    }
    verify_free(verify);
    return status;
}
