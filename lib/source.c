#include "lib/source.h"

#include "core/clock.h"
#include "lib/event.h"
#include "lib/extend.h"
#include "lib/pass.h"
#include "lib/sync.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { TABLES_MAX = 64 };
#define BACKOFF_MAX_NS (300 * NS_PER_S)

static atomic_uint_fast64_t last_id;
static _Thread_local struct pitot_source *current;

struct pitot_source *source_current(void)
{
    return current;
}

/* ------------------------------------------------------------------------------ the thread -- */

/* Until something is asked of the source, or the moment; with the store's mutex held. */
static void sleep_until(struct pitot_source *source, uint64_t due_ns)
{
    pthread_mutex_t *mutex = &source->store->mutex;
    if (due_ns == UINT64_MAX) {
        pthread_cond_wait(&source->wake, mutex);
    } else {
        const struct timespec due = {.tv_sec = (time_t)(due_ns / NS_PER_S),
                                     .tv_nsec = (long)(due_ns % NS_PER_S)};
        pthread_cond_timedwait(&source->wake, mutex, &due);
    }
}

/* The opening event of a pass, once. With the store's mutex held. */
static void open_pass(struct pitot_source *source, uint64_t number)
{
    if (source->opened < number) {
        source->opened = number;
        event_post_opening(source->store, source, number);
    }
}

/* When the next pass is due by itself, after `failures` failed ones in a row. */
static uint64_t next_due(const struct pitot_source *source, uint64_t started_ns, unsigned failures)
{
    if (failures == 0) {
        return source->interval_ns == 0 ? UINT64_MAX : started_ns + source->interval_ns;
    }
    if (source->backoff_ns == 0) {
        return UINT64_MAX;
    }
    uint64_t delay_ns = source->backoff_ns;
    for (unsigned i = 1; i < failures && delay_ns < source->backoff_max_ns; i++) {
        delay_ns *= 2;
    }
    if (delay_ns > source->backoff_max_ns) {
        delay_ns = source->backoff_max_ns;
    }
    return clock_now_ns() + delay_ns;
}

static void *source_main(void *argument)
{
    struct pitot_source *source = argument;
    struct pitot_store *store = source->store;
    char thread_name[16];
    snprintf(thread_name, sizeof thread_name, "pitot:%.9s", source->name);
    pthread_setname_np(pthread_self(), thread_name);
    current = source;

    uint64_t due_ns = source->interval_ns == 0 ? UINT64_MAX : 0;
    unsigned failures = 0;
    pthread_mutex_lock(&store->mutex);
    while (!source->stopping) {
        uint64_t now_ns = clock_now_ns();
        if (!source->requested && now_ns < due_ns) {
            sleep_until(source, due_ns);
            continue;
        }
        source->requested = false;
        source->started_ns = now_ns;
        uint64_t number = ++source->begun;
        open_pass(source, number);
        pthread_mutex_unlock(&store->mutex);
        bool failed = pass_run(source, number);
        if (process_forked(store->process)) {
            return NULL; /* the function has forked, and this is the child */
        }
        failures = !failed ? 0 : failures < UINT32_MAX ? failures + 1 : failures;
        due_ns = next_due(source, now_ns, failures);
        pthread_mutex_lock(&store->mutex);
    }
    if (source->opened > source->begun) { /* asked for, and stopped before it began */
        uint64_t number = ++source->begun;
        pthread_mutex_unlock(&store->mutex);
        pass_cancel(source, number);
        pthread_mutex_lock(&store->mutex);
    }
    source->stopped = true;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->mutex);
    store_release(store);
    return NULL;
}

/* The library's threads take no signals. */
static int start_thread(struct pitot_source *source)
{
    sigset_t all;
    sigset_t kept;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    int result = pthread_create(&source->thread, NULL, source_main, source);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return result;
}

/* ---------------------------------------------------------------------------------- adding -- */

static int check_options(const struct pitot_source_options *options, struct pitot_error *error)
{
    if (options->name == NULL || options->name[0] == '\0' ||
        strlen(options->name) >= PITOT_NAME_SIZE) {
        return failure(error, PITOT_ERROR_INVALID, "a source's name has 1 to %d bytes",
                       PITOT_NAME_SIZE - 1);
    }
    if (options->function == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "source '%s' has no function", options->name);
    }
    if (options->table_count > TABLES_MAX ||
        (options->table_count > 0 && options->tables == NULL)) {
        return failure(error, PITOT_ERROR_INVALID,
                       "source '%s' has %zu tables; 0 to %d are possible", options->name,
                       options->table_count, TABLES_MAX);
    }
    if (options->interval_ms < 0 || options->deadline_ms < 0 || options->backoff_ms < 0 ||
        options->backoff_max_ms < 0) {
        return failure(error, PITOT_ERROR_INVALID, "source '%s': a time is negative",
                       options->name);
    }
    for (size_t i = 0; i < options->table_count; i++) {
        const struct pitot_table *table = &options->tables[i];
        if (table->name == NULL || (table->mode != PITOT_REPLACE && table->mode != PITOT_MERGE)) {
            return failure(error, PITOT_ERROR_INVALID,
                           "source '%s': table %zu has no name, or a mode that is neither "
                           "PITOT_REPLACE nor PITOT_MERGE",
                           options->name, i);
        }
    }
    return 0;
}

static int source_new(struct pitot_store *store, const struct pitot_source_options *options,
                      struct pitot_source **out, struct pitot_error *error)
{
    struct pitot_source *source = calloc(1, sizeof *source);
    struct source_table *tables =
        calloc(options->table_count == 0 ? 1 : options->table_count, sizeof *tables);
    if (source == NULL || tables == NULL) {
        free(source);
        free(tables);
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    source->store = store;
    source->id = atomic_fetch_add(&last_id, 1) + 1;
    copy_cut(source->name, sizeof source->name, options->name, strlen(options->name));
    source->function = options->function;
    source->context = options->context;
    source->interval_ns = (uint64_t)options->interval_ms * NS_PER_MS;
    source->deadline_ns = (uint64_t)options->deadline_ms * NS_PER_MS;
    source->backoff_ns =
        options->backoff_ms == 0 ? source->interval_ns : (uint64_t)options->backoff_ms * NS_PER_MS;
    source->backoff_max_ns = (uint64_t)options->backoff_max_ms * NS_PER_MS;
    if (source->backoff_max_ns == 0) {
        source->backoff_max_ns =
            source->interval_ns > BACKOFF_MAX_NS ? source->interval_ns : BACKOFF_MAX_NS;
    }
    source->tables = tables;
    source->pass.source = source;
    condition_init(&source->wake);
    source->cancel_descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (source->cancel_descriptor < 0) {
        int result =
            failure_errno(error, errno, "making a descriptor for source '%s'", source->name);
        source_free(source);
        return result;
    }
    *out = source;
    return 0;
}

void source_leave_database(struct pitot_source *source)
{
    for (size_t i = 0; i < source->table_count; i++) {
        apply_free(source->tables[i].apply);
        source->tables[i].apply = NULL;
    }
}

/* All but the handle. */
static void release(struct pitot_source *source)
{
    for (size_t i = 0; i < source->table_count; i++) {
        stage_free(source->tables[i].stage);
        table_free(source->tables[i].table);
    }
    source->table_count = 0;
    if (source->cancel_descriptor >= 0) {
        close(source->cancel_descriptor);
        source->cancel_descriptor = -1;
    }
}

void source_free(struct pitot_source *source)
{
    release(source);
    pthread_cond_destroy(&source->wake);
    free(source->tables);
    free(source);
}

/* Reads the tables, with `writing` held. table_count counts those that are whole. */
static int add_tables(struct pitot_source *source, const struct pitot_source_options *options,
                      struct pitot_error *error)
{
    sqlite3 *db = source->store->writer.connection.db;
    for (size_t i = 0; i < options->table_count; i++) {
        const struct pitot_table *given = &options->tables[i];
        struct source_table *table = &source->tables[i];
        const struct pitot_value *slice = given->slice_column == NULL ? NULL : &given->slice_value;
        source->table_count = i + 1;
        table->mode = given->mode;
        int result =
            table_read(&table->table, db, given->name, given->slice_column, given->mode, error);
        if (result == 0) {
            result = schema_definition(&source->store->writer.connection, given->name,
                                       &table->definition, error);
        }
        if (result == 0) {
            result = stage_new(&table->stage, table->table, slice, error);
        }
        if (result == 0) {
            result = apply_new(&table->apply, db, table->table, slice, options->keep_no_memory == 0,
                               error);
        }
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

/* With `writing` and the mutex held: nobody else may own what it owns. */
static int check_owners(const struct pitot_source *source, struct pitot_error *error)
{
    for (const struct pitot_source *other = source->store->sources; other != NULL;
         other = other->next) {
        if (other->stopped) {
            continue;
        }
        if (strcmp(other->name, source->name) == 0) {
            return failure(error, PITOT_ERROR_SCHEMA, "there is a source '%s' already",
                           source->name);
        }
        for (size_t i = 0; i < source->table_count; i++) {
            for (size_t j = 0; j < other->table_count; j++) {
                if (apply_overlaps(source->tables[i].apply, other->tables[j].apply)) {
                    return failure(error, PITOT_ERROR_SCHEMA,
                                   "table '%s' or this slice of it is owned by source '%s'",
                                   table_name(source->tables[i].table), other->name);
                }
            }
        }
    }
    for (size_t i = 0; i < source->table_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (apply_overlaps(source->tables[i].apply, source->tables[j].apply)) {
                return failure(error, PITOT_ERROR_SCHEMA, "source '%s' names table '%s' twice",
                               source->name, table_name(source->tables[i].table));
            }
        }
    }
    return 0;
}

/* Where its passes go on from. */
static int read_sync(struct pitot_source *source, struct pitot_error *error)
{
    struct connection *connection = &source->store->writer.connection;
    sqlite3_stmt *select = NULL;
    int result = connection_prepare(connection, SYNC_SELECT, &select, error);
    if (result == 0) {
        result = sync_read(connection, select, source->name, &source->sync, error);
    }
    sqlite3_finalize(select);
    source->opened = source->begun = source->ended = source->sync.pass;
    return result < 0 ? result : 0;
}

/* The source becomes visible, and its thread begins. With `writing` held. */
static int publish(struct pitot_source *source, struct pitot_error *error)
{
    struct pitot_store *store = source->store;
    pthread_mutex_lock(&store->mutex);
    int result = store_check(store, error);
    if (result == 0) {
        result = check_owners(source, error);
    }
    if (result == 0) {
        result = event_add_source(store, source, error);
    }
    if (result == 0) {
        store_retain(store);
        int started = start_thread(source);
        if (started != 0) {
            result =
                failure_errno(error, started, "starting a thread for source '%s'", source->name);
            event_remove_source(store, source);
            store_release(store);
        } else {
            source->threaded = true;
            source->next = store->sources;
            store->sources = source;
        }
    }
    pthread_mutex_unlock(&store->mutex);
    return result;
}

int pitot_source_add(struct pitot_store *store, const struct pitot_source_options *given,
                     struct pitot_source **source, struct pitot_error *error)
{
    struct pitot_source_options options;
    if (store == NULL || given == NULL || source == NULL ||
        !extend_in(&options, sizeof options, given, given->size, sizeof options)) {
        return failure(error, PITOT_ERROR_INVALID,
                       "no store, no place for the source, or options->size is not set");
    }
    *source = NULL;
    int result = store_check(store, error);
    if (result == 0) {
        result = check_options(&options, error);
    }
    if (result != 0) {
        return result;
    }
    struct pitot_source *made = NULL;
    result = source_new(store, &options, &made, error);
    if (result != 0) {
        return result;
    }
    pthread_mutex_lock(&store->writing);
    result = writer_make_ready(store, error);
    if (result == 0) {
        result = connection_in_place(&store->writer.connection, error);
    }
    if (result == 0) {
        result = add_tables(made, &options, error);
    }
    if (result == 0) {
        result = read_sync(made, error);
    }
    if (result == 0) {
        result = publish(made, error);
    }
    if (result == PITOT_ERROR_CORRUPT) {
        store_note_damage(store);
    }
    if (result != 0) {
        failure_prefix(error, "source '%s'", made->name);
        source_leave_database(made);
        source_free(made);
        made = NULL;
    }
    pthread_mutex_unlock(&store->writing);
    *source = made;
    return result;
}

const char *pitot_source_name(const struct pitot_source *source)
{
    return source->name;
}

/* -------------------------------------------------------------------------------- stopping -- */

void source_ask_to_stop(struct pitot_source *source)
{
    if (source->stopping) {
        return;
    }
    const struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};
    source->stopping = true;
    atomic_store(&source->cancelled, true);
    timerfd_settime(source->cancel_descriptor, 0, &at_once, NULL);
    pthread_cond_signal(&source->wake);
}

/* What only a running source needs; with `writing` held. Its handle stays valid until the store is
 * freed. */
static void give_back(struct pitot_source *source)
{
    release(source);
    pthread_mutex_lock(&source->store->mutex);
    source->memory_kept = 0;
    source->rows_kept = 0;
    pthread_mutex_unlock(&source->store->mutex);
}

int pitot_source_stop(struct pitot_source *source, int timeout_ms, struct pitot_error *error)
{
    if (source == NULL || timeout_ms < PITOT_FOREVER) {
        return failure(error, PITOT_ERROR_INVALID, "no source, or a negative timeout");
    }
    struct pitot_store *store = source->store;
    int result = store_check(store, error);
    if (result != 0) {
        return result;
    }
    uint64_t until_ns = timeout_moment(timeout_ms);
    bool join = false;
    pthread_mutex_lock(&store->mutex);
    source_ask_to_stop(source);
    pthread_cond_broadcast(&store->changed);
    if (current == source && timeout_ms != 0) {
        result = failure(error, PITOT_ERROR_DEADLOCK,
                         "source '%s' cannot wait for the end of its own function", source->name);
    }
    while (result == 0 && !source->stopped) {
        if (!store_wait(store, until_ns)) {
            result = failure(error, PITOT_ERROR_STUCK,
                             "the function of source '%s' has not returned", source->name);
        }
    }
    if (result == 0) {
        join = source->threaded;
        source->threaded = false;
    }
    pthread_mutex_unlock(&store->mutex);
    if (join) {
        pthread_join(source->thread, NULL);
        pthread_mutex_lock(&store->writing);
        source_leave_database(source);
        give_back(source);
        pthread_mutex_unlock(&store->writing);
    }
    return result;
}

/* --------------------------------------------------------------------------------- tickets -- */

int pitot_resync(struct pitot_source *source, struct pitot_ticket *ticket,
                 struct pitot_error *error)
{
    if (source == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no source");
    }
    struct pitot_store *store = source->store;
    int result = store_check(store, error);
    if (result != 0) {
        return result;
    }
    bool asleep = false;
    pthread_mutex_lock(&store->mutex);
    if (source->stopping) {
        result = atomic_load(&store->closing) ? store_check(store, error)
                                              : failure(error, PITOT_ERROR_CANCELLED,
                                                        "source '%s' was stopped", source->name);
    } else {
        asleep = !source->requested && source->started_ns == 0;
        source->requested = true;
        if (asleep) {
            /* Who waits for events is then not woken once more while the pass runs. */
            open_pass(source, source->begun + 1);
        }
        if (ticket != NULL) {
            *ticket = (struct pitot_ticket){.source = source->id, .pass = source->begun + 1};
        }
    }
    pthread_mutex_unlock(&store->mutex);
    if (asleep) {
        pthread_cond_signal(&source->wake);
    }
    return result;
}

static struct pitot_source *find(struct pitot_store *store, struct pitot_ticket ticket)
{
    struct pitot_source *source = store->sources;
    while (source != NULL && source->id != ticket.source) {
        source = source->next;
    }
    return source;
}

/* The result of a pass that has ended, or of the oldest one known. */
static int result_of(const struct pitot_source *source, uint64_t pass, struct pitot_error *error)
{
    if (source->ended - pass >= RESULTS_KEPT) {
        pass = source->ended - (RESULTS_KEPT - 1);
    }
    const struct pitot_error *found = &source->results[pass % RESULTS_KEPT].error;
    if (found->code == 0) {
        return 0;
    }
    if (error != NULL) {
        *error = *found;
    }
    return found->code > 0 ? PITOT_ERROR_SOURCE : found->code;
}

/* 1 while the pass has not ended, or the result. With the mutex held. */
static int look(struct pitot_store *store, struct pitot_ticket ticket, struct pitot_error *error)
{
    const struct pitot_source *source = find(store, ticket);
    if (source == NULL || ticket.pass == 0 || ticket.pass > source->begun + 1) {
        return failure(error, PITOT_ERROR_INVALID, "no ticket of this store");
    }
    if (source->ended >= ticket.pass) {
        return result_of(source, ticket.pass, error);
    }
    int result = store_check(store, error);
    if (result == 0 && source->stopping) {
        result = failure(error, PITOT_ERROR_CANCELLED, "source '%s' was stopped", source->name);
    }
    return result == 0 ? 1 : result;
}

int pitot_ticket_ask(struct pitot_store *store, struct pitot_ticket ticket,
                     struct pitot_error *error)
{
    if (store == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "no store");
    }
    int result = store_check(store, error);
    if (result == PITOT_ERROR_FORKED) {
        return result;
    }
    pthread_mutex_lock(&store->mutex);
    result = look(store, ticket, error);
    pthread_mutex_unlock(&store->mutex);
    return result;
}

int pitot_ticket_wait(struct pitot_store *store, struct pitot_ticket ticket, int timeout_ms,
                      struct pitot_error *error)
{
    if (store == NULL || timeout_ms < PITOT_FOREVER) {
        return failure(error, PITOT_ERROR_INVALID, "no store, or a negative timeout");
    }
    int result = store_check(store, error);
    if (result == PITOT_ERROR_FORKED) {
        return result;
    }
    if (current != NULL && current->store == store && current->id == ticket.source) {
        return failure(error, PITOT_ERROR_DEADLOCK, "source '%s' cannot wait for its own pass",
                       current->name);
    }
    uint64_t until_ns = timeout_moment(timeout_ms);
    pthread_mutex_lock(&store->mutex);
    while ((result = look(store, ticket, error)) == 1) {
        if (!store_wait(store, until_ns)) {
            result = failure(
                error, PITOT_ERROR_TIMEOUT, "pass %llu of source '%s' has not ended after %d ms",
                (unsigned long long)ticket.pass, find(store, ticket)->name, timeout_ms);
            break;
        }
    }
    pthread_mutex_unlock(&store->mutex);
    return result;
}
