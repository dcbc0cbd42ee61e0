#include "lib/stats.h"

#include "core/clock.h"
#include "lib/checkpoint.h"
#include "lib/extend.h"
#include "lib/reader.h"
#include "lib/source.h"
#include "lib/store.h"

#include <string.h>

#define HISTOGRAMS(X) X(pass) X(staging) X(lock) X(commit) X(snapshot) X(checkpoint)

void stats_init(struct stats *stats)
{
    pthread_mutex_init(&stats->mutex, NULL);
#define RESET(name) histogram_reset(&stats->name);
    HISTOGRAMS(RESET)
#undef RESET
}

void stats_release(struct stats *stats)
{
    pthread_mutex_destroy(&stats->mutex);
}

static void add_reached(struct histogram *histogram, uint64_t value)
{
    if (value != 0) {
        histogram_add(histogram, value);
    }
}

void stats_add_pass(struct stats *stats, const struct pass_figures *figures, bool failed,
                    const struct pitot_counts *counts)
{
    pthread_mutex_lock(&stats->mutex);
    stats->passes++;
    stats->passes_failed += failed;
    stats->rows_staged += figures->rows;
    stats->staging_cpu_ns += figures->staging_cpu_ns;
    stats->writing_cpu_ns += figures->writing_cpu_ns;
    stats->counts.inserted += counts->inserted;
    stats->counts.updated += counts->updated;
    stats->counts.deleted += counts->deleted;
    stats->counts.unchanged += counts->unchanged;
    if (figures->memory > stats->memory_staged) {
        stats->memory_staged = figures->memory;
    }
    add_reached(&stats->pass, figures->pass_ns);
    add_reached(&stats->staging, figures->staging_ns);
    add_reached(&stats->lock, figures->lock_ns);
    add_reached(&stats->commit, figures->commit_ns);
    pthread_mutex_unlock(&stats->mutex);
}

void stats_add_snapshot(struct stats *stats, uint64_t duration_ns)
{
    pthread_mutex_lock(&stats->mutex);
    histogram_add(&stats->snapshot, duration_ns);
    pthread_mutex_unlock(&stats->mutex);
}

void stats_add_checkpoint(struct stats *stats, uint64_t duration_ns, enum checkpoint_end end)
{
    pthread_mutex_lock(&stats->mutex);
    histogram_add(&stats->checkpoint, duration_ns);
    stats->checkpoints_blocked += end == CHECKPOINT_BLOCKED;
    stats->checkpoints_failed += end == CHECKPOINT_FAILED;
    pthread_mutex_unlock(&stats->mutex);
}

void stats_add_joined(struct stats *stats, uint64_t events)
{
    pthread_mutex_lock(&stats->mutex);
    stats->events_joined += events;
    pthread_mutex_unlock(&stats->mutex);
}

void stats_set_commit(struct stats *stats, uint64_t commit_sequence, uint64_t wal_bytes)
{
    pthread_mutex_lock(&stats->mutex);
    stats->commit_sequence = commit_sequence;
    if (wal_bytes > stats->wal_bytes_max) {
        stats->wal_bytes_max = wal_bytes;
    }
    pthread_mutex_unlock(&stats->mutex);
}

static struct pitot_times times_of(const struct histogram *histogram)
{
    if (histogram->count == 0) {
        return (struct pitot_times){0};
    }
    return (struct pitot_times){.count = histogram->count,
                                .sum_ns = histogram->sum,
                                .min_ns = histogram->min,
                                .p50_ns = histogram_percentile(histogram, 1, 2),
                                .p90_ns = histogram_percentile(histogram, 9, 10),
                                .p99_ns = histogram_percentile(histogram, 99, 100),
                                .p999_ns = histogram_percentile(histogram, 999, 1000),
                                .max_ns = histogram->max};
}

static uint64_t age(uint64_t now_ns, uint64_t began_ns)
{
    return now_ns > began_ns ? now_ns - began_ns : 1; /* began between the two readings */
}

static void add_oldest(struct pitot_store *store, struct pitot_stats *out)
{
    pthread_mutex_lock(&store->mutex);
    uint64_t now_ns = clock_now_ns();
    for (const struct pitot_reader *at = store->readers; at != NULL; at = at->next) {
        uint64_t began_ns = atomic_load(&at->snapshot_ns);
        if (began_ns != 0 && age(now_ns, began_ns) > out->oldest_snapshot_ns) {
            out->oldest_snapshot_ns = age(now_ns, began_ns);
            memcpy(out->oldest_snapshot_reader, at->name, PITOT_NAME_SIZE);
        }
    }
    for (const struct pitot_source *at = store->sources; at != NULL; at = at->next) {
        if (at->started_ns != 0 && age(now_ns, at->started_ns) > out->oldest_pass_ns) {
            out->oldest_pass_ns = age(now_ns, at->started_ns);
            memcpy(out->oldest_pass_source, at->name, PITOT_NAME_SIZE);
        }
        out->memory_kept += at->memory_kept;
        out->rows_kept += at->rows_kept;
    }
    pthread_mutex_unlock(&store->mutex);
}

int pitot_stats(struct pitot_store *store, struct pitot_stats *out, struct pitot_error *error)
{
    if (store == NULL || out == NULL || out->size < sizeof *out) {
        return failure(error, PITOT_ERROR_INVALID, "no store, or stats->size is not set");
    }
    int result = store_check(store, error);
    if (result != 0) {
        return result;
    }
    struct stats *stats = &store->stats;
    pthread_mutex_lock(&stats->mutex);
    struct pitot_stats filled = {
        .passes = stats->passes,
        .passes_failed = stats->passes_failed,
        .rows_staged = stats->rows_staged,
        .counts = stats->counts,
#define TIMES(name) .name = times_of(&stats->name),
        HISTOGRAMS(TIMES)
#undef TIMES
            .staging_cpu_ns = stats->staging_cpu_ns,
        .writing_cpu_ns = stats->writing_cpu_ns,
        .memory_staged = stats->memory_staged,
        .wal_bytes_max = stats->wal_bytes_max,
        .checkpoints_blocked = stats->checkpoints_blocked,
        .checkpoints_failed = stats->checkpoints_failed,
        .commit_sequence = stats->commit_sequence,
        .events_joined = stats->events_joined,
    };
    pthread_mutex_unlock(&stats->mutex);
    filled.wal_bytes = checkpoint_wal_bytes(store);
    if (filled.wal_bytes > filled.wal_bytes_max) {
        filled.wal_bytes_max = filled.wal_bytes;
    }
    add_oldest(store, &filled);
    extend_out(out, out->size, &filled, sizeof filled);
    return 0;
}
