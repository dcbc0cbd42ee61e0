#include "lib/pass.h"

#include "core/clock.h"
#include "lib/checkpoint.h"
#include "lib/event.h"
#include "lib/path.h"
#include "lib/sync.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

/* ------------------------------------------------------------------- what a function calls -- */

static int refuse(struct pitot_pass *pass, const struct pitot_error *error)
{
    if (pass->failure.code == 0) {
        pass->failure = *error;
    }
    return error->code;
}

int pitot_pass_add(struct pitot_pass *pass, size_t table, const struct pitot_value *values,
                   size_t count)
{
    struct pitot_error error;
    struct pitot_source *source = pass->source;
    if (__builtin_expect(table >= source->table_count || values == NULL, 0)) {
        failure(&error, PITOT_ERROR_INVALID, "a row for table %zu of %zu, or no values", table,
                source->table_count);
        return refuse(pass, &error);
    }
    int result = stage_add(source->tables[table].stage, values, count, &error);
    return __builtin_expect(result != 0, 0) ? refuse(pass, &error) : 0;
}

int pitot_pass_fail(struct pitot_pass *pass, int code, const char *text)
{
    code = code > 0 ? code : 1;
    if (pass->failure.code == 0) {
        pass->failure.code = code;
        pass->failure.sqlite_code = 0;
        text = text == NULL ? "" : text;
        copy_cut(pass->failure.message, sizeof pass->failure.message, text, strlen(text));
    }
    return code;
}

int pitot_pass_cancelled(struct pitot_pass *pass)
{
    return atomic_load_explicit(&pass->source->cancelled, memory_order_relaxed) ||
           (pass->deadline_ns != UINT64_MAX && clock_now_ns() >= pass->deadline_ns);
}

int pitot_pass_descriptor(struct pitot_pass *pass)
{
    return pass->source->cancel_descriptor;
}

uint64_t pitot_pass_number(const struct pitot_pass *pass)
{
    return pass->number;
}

/* --------------------------------------------------------------------------------- staging -- */

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Sets the descriptor's timer to the pass's deadline, or takes it away. Not once the source is to
 * stop: then the descriptor is readable for good. */
static void set_timer(struct pitot_source *source, uint64_t moment_ns)
{
    const struct itimerspec timer = {.it_value = {.tv_sec = (time_t)(moment_ns / NS_PER_S),
                                                  .tv_nsec = (long)(moment_ns % NS_PER_S)}};
    pthread_mutex_lock(&source->store->mutex);
    if (!source->stopping) {
        timerfd_settime(source->cancel_descriptor, TFD_TIMER_ABSTIME, &timer, NULL);
    }
    pthread_mutex_unlock(&source->store->mutex);
}

/* Why a pass whose function has returned `returned` fails, if it does. */
static void judge(struct pitot_pass *pass, int returned)
{
    struct pitot_source *source = pass->source;
    struct pitot_error *failed = &pass->failure;
    if (atomic_load(&source->cancelled)) {
        if (store_check(source->store, failed) == 0) {
            failure(failed, PITOT_ERROR_CANCELLED, "source '%s' was stopped", source->name);
        }
    } else if (pass->deadline_ns != UINT64_MAX && clock_now_ns() >= pass->deadline_ns) {
        failure(failed, PITOT_ERROR_TIMEOUT, "source '%s' took longer than its deadline of %llu ms",
                source->name, (unsigned long long)(source->deadline_ns / NS_PER_MS));
    } else if (failed->code == 0 && returned != 0) {
        failure(failed, returned, "the function of source '%s' returned %d%s%s", source->name,
                returned, returned < 0 ? ": " : "", returned < 0 ? pitot_error_text(returned) : "");
    }
}

static void stage(struct pitot_pass *pass, struct pass_figures *figures)
{
    struct pitot_source *source = pass->source;
    uint64_t start_ns = clock_now_ns();
    pass->failure.code = 0;
    pass->deadline_ns = source->deadline_ns == 0 ? UINT64_MAX : start_ns + source->deadline_ns;
    if (source->deadline_ns != 0) {
        set_timer(source, pass->deadline_ns);
    }
    int returned = source->function(pass, source->context);
    if (process_forked(source->store->process)) {
        return;
    }
    judge(pass, returned);
    if (source->deadline_ns != 0) {
        set_timer(source, 0);
    }
    figures->staging_ns = clock_now_ns() - start_ns;
    for (size_t i = 0; i < source->table_count; i++) {
        figures->rows += stage_rows(source->tables[i].stage);
        figures->memory += stage_memory(source->tables[i].stage);
    }
}

/* --------------------------------------------------------------------------------- writing -- */

static void roll_back(struct writer *writer)
{
    if (!sqlite3_get_autocommit(writer->connection.db)) {
        statement_run(writer->rollback);
    }
}

static int begin(struct pitot_store *store, struct pitot_error *error)
{
    struct connection *connection = &store->writer.connection;
    int result = connection_in_place(connection, error);
    if (result == 0 && store->lock_lost) {
        result = failure(error, PITOT_ERROR_REPLACED,
                         "the lock file '%s' was removed or replaced; close and open again",
                         store->lock.path);
    }
    if (result != 0) {
        return result;
    }
    int rc = statement_run(store->writer.begin);
    return rc == SQLITE_OK
               ? 0
               : failure_sqlite(error, connection->db, rc, "beginning to write '%s'", store->path);
}

/* The sync row, and COMMIT. */
static int commit(struct pitot_source *source, struct pitot_sync *sync,
                  struct pass_figures *figures, struct pitot_error *error)
{
    struct pitot_store *store = source->store;
    struct writer *writer = &store->writer;
    sync->finished_ms = wall_ms();
    sync->commit_sequence = writer->commit_sequence + 1;
    if (sync->error_code == 0) {
        sync->last_success_ms = sync->finished_ms;
    }
    int rc = sync_write(writer->sync_write, source->name, sync);
    uint64_t start_ns = clock_now_ns();
    if (rc == SQLITE_OK) {
        rc = statement_run(writer->commit);
    }
    if (rc != SQLITE_OK) {
        return failure_sqlite(error, writer->connection.db, rc, "writing '%s'", store->path);
    }
    figures->commit_ns = clock_now_ns() - start_ns;
    writer->commit_sequence = sync->commit_sequence;
    source->sync = *sync;
    stats_set_commit(&store->stats, writer->commit_sequence, writer_wal_bytes(writer));
    return 0;
}

/* Somebody else has changed a schema, perhaps only that of a table of his own. */
static int check_definitions(struct pitot_source *source, struct pitot_error *error)
{
    struct writer *writer = &source->store->writer;
    for (size_t i = 0; i < source->table_count; i++) {
        const char *name = table_name(source->tables[i].table);
        uint64_t definition;
        int result = schema_definition(&writer->connection, name, &definition, error);
        if (result != 0) {
            return result;
        }
        if (definition != source->tables[i].definition) {
            return failure(error, PITOT_ERROR_SCHEMA,
                           "somebody else has changed or dropped table '%s'; close the store and "
                           "open it again",
                           name);
        }
        /* His tables may refer to ours, and a replace would reach them. */
        result = table_check_relations(source->tables[i].table, writer->connection.db, error);
        if (result != 0) {
            return result;
        }
    }
    return schema_has_side_effects(&writer->connection, &writer->side_effects, error);
}

/* Whether nobody else has written since this source's last transaction. Within the transaction. */
static int read_trusted(struct pitot_source *source, int64_t *version, bool *trusted,
                        struct pitot_error *error)
{
    struct writer *writer = &source->store->writer;
    int rc = sqlite3_step(writer->data_version);
    *version = sqlite3_column_int64(writer->data_version, 0);
    int reset = sqlite3_reset(writer->data_version);
    if (rc != SQLITE_ROW) {
        return failure_sqlite(error, writer->connection.db, reset, "reading '%s'",
                              source->store->path);
    }
    bool same = *version == source->seen_version;
    if (!same) {
        int64_t cookie = 0;
        int result = schema_cookie(&writer->connection, &cookie, error);
        if (result == 0 && cookie != writer->schema_cookie) {
            result = check_definitions(source, error);
        }
        if (result != 0) {
            return result;
        }
    }
    *trusted = same && !writer->side_effects;
    return 0;
}

static int apply_tables(struct pitot_source *source, bool trusted, struct pitot_counts *sum,
                        struct pitot_error *error)
{
    for (size_t i = 0; i < source->table_count; i++) {
        struct source_table *table = &source->tables[i];
        struct pitot_counts counts;
        int result = table->mode == PITOT_REPLACE
                         ? apply_replace(table->apply, table->stage, &counts, error)
                         : apply_merge(table->apply, table->stage, trusted, &counts, error);
        if (result != 0) {
            return result;
        }
        sum->inserted += counts.inserted;
        sum->updated += counts.updated;
        sum->deleted += counts.deleted;
        sum->unchanged += counts.unchanged;
    }
    return source->table_count == 0 ? 0 : apply_check(source->store->writer.connection.db, error);
}

/* Rows and sync row in one transaction, or nothing. */
static int write_rows(struct pitot_source *source, struct pitot_sync *sync,
                      struct pass_figures *figures, struct pitot_error *error)
{
    size_t prepared = 0;
    int result = 0;
    while (result == 0 && prepared < source->table_count) {
        struct source_table *table = &source->tables[prepared++];
        result = apply_prepare(table->apply, table->stage, error);
    }
    int64_t version = 0;
    bool trusted = false;
    if (result == 0) {
        result = begin(source->store, error);
        uint64_t start_ns = clock_now_ns();
        if (result == 0) {
            result = read_trusted(source, &version, &trusted, error);
        }
        if (result == 0) {
            result = apply_tables(source, trusted, &sync->counts, error);
        }
        if (result == 0) {
            result = commit(source, sync, figures, error);
        }
        if (result != 0) {
            roll_back(&source->store->writer);
        }
        figures->lock_ns = clock_now_ns() - start_ns;
    }
    for (size_t i = 0; i < prepared; i++) {
        apply_end(source->tables[i].apply, result == 0);
    }
    if (result == 0) {
        source->seen_version = version;
    }
    return result;
}

/* The sync row of a failed pass; the rows stay. That it cannot be written is no new error. */
static bool write_failure(struct pitot_source *source, struct pitot_sync *sync,
                          struct pass_figures *figures, const struct pitot_error *error)
{
    sync->counts = source->sync.counts;
    sync->last_success_ms = source->sync.last_success_ms;
    sync->error_code = error->code;
    memcpy(sync->error_text, error->message, sizeof sync->error_text);
    if (begin(source->store, NULL) != 0) {
        return false;
    }
    if (commit(source, sync, figures, NULL) != 0) {
        roll_back(&source->store->writer);
        return false;
    }
    return true;
}

/* With `writing` held. Returns the commit's sequence, 0 when there was none. */
static uint64_t write_pass(struct pitot_pass *pass, struct pitot_sync *sync,
                           struct pass_figures *figures)
{
    struct pitot_source *source = pass->source;
    struct pitot_store *store = source->store;
    struct pitot_error *failed = &pass->failure;
    if (failed->code == 0 && write_rows(source, sync, figures, failed) == 0) {
        return sync->commit_sequence;
    }
    if (failed->code == PITOT_ERROR_CORRUPT) {
        store_note_damage(store);
    }
    if (failed->code == PITOT_ERROR_FULL) {
        char *folder = path_full_folder(store->path);
        failure_prefix(failed, "no space in '%s'", folder == NULL ? store->path : folder);
        free(folder);
    }
    if (store_check(store, failed) != 0) {
        return 0; /* that the program ended is no error of the source */
    }
    return write_failure(source, sync, figures, failed) ? sync->commit_sequence : 0;
}

/* The end of a pass as the others see it. */
static void publish(struct pitot_pass *pass, uint64_t commit_sequence,
                    const struct pitot_counts *counts)
{
    struct pitot_source *source = pass->source;
    struct pitot_store *store = source->store;
    const struct pass_end end = {.pass = pass->number,
                                 .commit_sequence = commit_sequence,
                                 .counts = *counts,
                                 .error = &pass->failure};
    uint64_t memory = 0;
    uint64_t rows = 0;
    for (size_t i = 0; i < source->table_count; i++) {
        if (source->tables[i].apply != NULL) {
            memory += apply_memory(source->tables[i].apply);
            rows += apply_rows_kept(source->tables[i].apply);
        }
        memory += stage_memory(source->tables[i].stage);
    }
    pthread_mutex_lock(&store->mutex);
    source->memory_kept = memory;
    source->rows_kept = rows;
    source->ended = pass->number;
    source->started_ns = 0;
    source->results[pass->number % RESULTS_KEPT].pass = pass->number;
    source->results[pass->number % RESULTS_KEPT].error = pass->failure;
    stats_add_joined(&store->stats, event_post_closing(store, source, &end));
    if (store->waiters > 0) {
        pthread_cond_broadcast(&store->changed);
    }
    pthread_mutex_unlock(&store->mutex);
}

bool pass_run(struct pitot_source *source, uint64_t number)
{
    struct pitot_store *store = source->store;
    struct pitot_pass *pass = &source->pass;
    struct pass_figures figures = {0};
    struct pitot_sync sync = {.size = sizeof sync, .pass = number, .started_ms = wall_ms()};
    uint64_t start_ns = clock_now_ns();
    uint64_t start_cpu_ns = clock_thread_cpu_ns();
    pass->number = number;
    stage(pass, &figures);
    if (process_forked(store->process)) {
        return true;
    }
    uint64_t staged_cpu_ns = clock_thread_cpu_ns();
    figures.staging_cpu_ns = staged_cpu_ns - start_cpu_ns;
    sync.last_success_ms = source->sync.last_success_ms;

    uint64_t commit_sequence = 0;
    pthread_mutex_lock(&store->writing);
    if (store->writer.connection.db != NULL) {
        commit_sequence = write_pass(pass, &sync, &figures);
    } else if (pass->failure.code == 0) {
        store_check(store, &pass->failure);
    }
    for (size_t i = 0; i < source->table_count; i++) {
        stage_clear(source->tables[i].stage);
    }
    bool failed = pass->failure.code != 0;
    if (failed) {
        sync.counts = (struct pitot_counts){0};
    }
    figures.writing_cpu_ns = clock_thread_cpu_ns() - staged_cpu_ns;
    figures.pass_ns = clock_now_ns() - start_ns;
    stats_add_pass(&store->stats, &figures, failed, &sync.counts);
    publish(pass, commit_sequence, &sync.counts);
    /* What can wait until the others know. */
    if (store->writer.connection.db != NULL) {
        checkpoint_if_due(store);
        store->lock_lost = !lock_in_place(&store->lock);
    }
    pthread_mutex_unlock(&store->writing);
    return failed;
}

void pass_cancel(struct pitot_source *source, uint64_t number)
{
    struct pitot_store *store = source->store;
    static const struct pitot_counts none;
    source->pass.number = number;
    judge(&source->pass, 0);
    pthread_mutex_lock(&store->writing);
    publish(&source->pass, 0, &none);
    pthread_mutex_unlock(&store->writing);
}
