/* What a store counts and times. The struct has a lock of its own, the last in the order; times are
 * histograms of src/core. */
#ifndef PITOT_LIB_STATS_H
#define PITOT_LIB_STATS_H

#include "core/histogram.h"
#include "lib/error.h"

#include <pthread.h>
#include <stdbool.h>

struct stats {
    pthread_mutex_t mutex;
    uint64_t passes;
    uint64_t passes_failed;
    uint64_t rows_staged;
    struct pitot_counts counts;
    uint64_t staging_cpu_ns;
    uint64_t writing_cpu_ns;
    uint64_t memory_staged;
    uint64_t wal_bytes_max;
    uint64_t checkpoints_blocked;
    uint64_t checkpoints_failed;
    uint64_t commit_sequence;
    uint64_t events_joined;
    struct histogram pass;
    struct histogram staging;
    struct histogram lock;
    struct histogram commit;
    struct histogram snapshot;
    struct histogram checkpoint;
};

/* One pass's part. A time that is 0 was not reached and is not counted. */
struct pass_figures {
    uint64_t pass_ns;
    uint64_t staging_ns;
    uint64_t lock_ns;
    uint64_t commit_ns;
    uint64_t staging_cpu_ns;
    uint64_t writing_cpu_ns;
    uint64_t rows;
    uint64_t memory;
};

void stats_init(struct stats *stats);
void stats_release(struct stats *stats);

void stats_add_pass(struct stats *stats, const struct pass_figures *figures, bool failed,
                    const struct pitot_counts *counts);
void stats_add_snapshot(struct stats *stats, uint64_t duration_ns);

enum checkpoint_end { CHECKPOINT_DONE, CHECKPOINT_BLOCKED, CHECKPOINT_FAILED };
void stats_add_checkpoint(struct stats *stats, uint64_t duration_ns, enum checkpoint_end end);
void stats_add_joined(struct stats *stats, uint64_t events);

/* After a commit; `wal_bytes` is the size of the WAL. */
void stats_set_commit(struct stats *stats, uint64_t commit_sequence, uint64_t wal_bytes);

#endif
