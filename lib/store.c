#include "lib/store.h"

#include "core/clock.h"
#include "lib/checkpoint.h"
#include "lib/event.h"
#include "lib/source.h"

#include <errno.h>
#include <stdlib.h>

void store_retain(struct pitot_store *store)
{
    atomic_fetch_add(&store->references, 1);
}

void store_release(struct pitot_store *store)
{
    if (atomic_fetch_sub(&store->references, 1) != 1) {
        return;
    }
    while (store->sources != NULL) {
        struct pitot_source *source = store->sources;
        store->sources = source->next;
        source_free(source);
    }
    stats_release(&store->stats);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->mutex);
    pthread_mutex_destroy(&store->writing);
    process_leave(store->process);
    wal_vfs_free(store->wal);
    free(store->vfs);
    free(store->set_aside);
    free(store->path);
    free(store);
}

int store_check(const struct pitot_store *store, struct pitot_error *error)
{
    if (process_forked(store->process)) {
        return failure(error, PITOT_ERROR_FORKED,
                       "this process is a child of the one that opened the store");
    }
    if (atomic_load(&store->closing)) {
        return failure(error, PITOT_ERROR_CLOSED, "store '%s' was closed", store->path);
    }
    return 0;
}

void store_note_damage(struct pitot_store *store)
{
    if (store->writer.connection.db != NULL) { /* else the lock was given up */
        lock_mark(&store->lock, LOCK_DAMAGED, NULL);
    }
}

uint64_t timeout_moment(int timeout_ms)
{
    return timeout_ms == PITOT_FOREVER ? UINT64_MAX
                                       : clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
}

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool store_wait(struct pitot_store *store, uint64_t until_ns)
{
    int result = 0;
    store->waiters++;
    if (until_ns == UINT64_MAX) {
        pthread_cond_wait(&store->changed, &store->mutex);
    } else {
        const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                       .tv_nsec = (long)(until_ns % NS_PER_S)};
        result = pthread_cond_timedwait(&store->changed, &store->mutex, &until);
    }
    store->waiters--;
    return result != ETIMEDOUT;
}

int pitot_store_outcome(const struct pitot_store *store)
{
    return store->outcome;
}

const char *pitot_store_path(const struct pitot_store *store)
{
    return store->path;
}

const char *pitot_store_set_aside(const struct pitot_store *store)
{
    return store->set_aside;
}

/* Waits for the threads. STUCK names one that has not ended. With the mutex held. */
static int await_sources(struct pitot_store *store, uint64_t until_ns, struct pitot_error *error)
{
    for (;;) {
        const struct pitot_source *running = store->sources;
        while (running != NULL && running->stopped) {
            running = running->next;
        }
        if (running == NULL) {
            return 0;
        }
        if (!store_wait(store, until_ns)) {
            return failure(error, PITOT_ERROR_STUCK, "the function of source '%s' has not returned",
                           running->name);
        }
    }
}

/* Closes the database; a source whose function is still running finds that out when it returns. */
static void close_database(struct pitot_store *store)
{
    pthread_mutex_lock(&store->writing);
    bool open = store->writer.connection.db != NULL;
    if (open) {
        pthread_mutex_lock(&store->mutex);
        struct pitot_source *first = store->sources;
        pthread_mutex_unlock(&store->mutex);
        /* None is added any more. */
        for (struct pitot_source *at = first; at != NULL; at = at->next) {
            source_leave_database(at);
        }
        if (store->lock.state == LOCK_DAMAGED) {
            connection_keep_wal(&store->writer.connection, true); /* it is set aside as it is */
        } else {
            checkpoint_last(store);
        }
        writer_close(&store->writer);
        process_lock(store->process);
        process_remove(store->process, store);
        process_unlock(store->process);
        lock_release(&store->lock);
        pthread_mutex_lock(&store->mutex);
        store->closed = true;
        event_post_closed(store);
        pthread_mutex_unlock(&store->mutex);
    }
    pthread_mutex_unlock(&store->writing);
}

/* Threads that have ended. */
static void join_sources(struct pitot_store *store)
{
    for (struct pitot_source *at = store->sources; at != NULL; at = at->next) {
        pthread_mutex_lock(&store->mutex);
        bool join = at->threaded && at->stopped;
        at->threaded = at->threaded && !join;
        pthread_mutex_unlock(&store->mutex);
        if (join) {
            pthread_join(at->thread, NULL);
        }
    }
}

int pitot_store_close(struct pitot_store *store, int timeout_ms, struct pitot_error *error)
{
    if (store == NULL || timeout_ms < PITOT_FOREVER) {
        return failure(error, PITOT_ERROR_INVALID, "no store, or a negative timeout");
    }
    if (process_forked(store->process)) {
        return store_check(store, error);
    }
    if (source_current() != NULL && source_current()->store == store) {
        return failure(error, PITOT_ERROR_DEADLOCK,
                       "source '%s' cannot close its own store from its function",
                       source_current()->name);
    }
    uint64_t until_ns = timeout_moment(timeout_ms);
    pthread_mutex_lock(&store->mutex);
    atomic_store(&store->closing, true);
    for (struct pitot_source *at = store->sources; at != NULL; at = at->next) {
        source_ask_to_stop(at);
    }
    pthread_cond_broadcast(&store->changed);
    int result = await_sources(store, until_ns, error);
    pthread_mutex_unlock(&store->mutex);
    close_database(store);
    join_sources(store);
    return result;
}

void pitot_store_free(struct pitot_store *store)
{
    if (store == NULL || process_forked(store->process)) {
        return;
    }
    if (pitot_store_close(store, 0, NULL) == PITOT_ERROR_DEADLOCK) {
        return;
    }
    for (struct pitot_source *at = store->sources; at != NULL; at = at->next) {
        pthread_mutex_lock(&store->mutex);
        bool detach = at->threaded;
        at->threaded = false;
        pthread_mutex_unlock(&store->mutex);
        if (detach) {
            pthread_detach(at->thread);
        }
    }
    store_release(store);
}
