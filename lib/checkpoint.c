#include "lib/checkpoint.h"

#include "core/clock.h"
#include "lib/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* How long a checkpoint that must have the WAL to itself waits for readers. */
#define READERS_LEAVE_NS (5 * NS_PER_MS)

uint64_t checkpoint_wal_bytes(const struct pitot_store *store)
{
    char *path;
    struct stat status;
    if (asprintf(&path, "%s-wal", store->path) < 0) {
        return 0;
    }
    uint64_t size = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    free(path);
    return size;
}

void checkpoint_if_due(struct pitot_store *store)
{
    struct writer *writer = &store->writer;
    if (writer_wal_bytes(writer) < (uint64_t)store->wal_limit) {
        writer->unfinished = 0; /* it has begun anew */
        return;
    }
    struct patience kept = writer->connection.patience;
    int mode = SQLITE_CHECKPOINT_PASSIVE;
    if (writer->unfinished > 0) {
        mode = SQLITE_CHECKPOINT_RESTART;
        if (kept.limit_ns > READERS_LEAVE_NS) {
            writer->connection.patience.limit_ns = READERS_LEAVE_NS;
        }
    }
    int frames = 0;
    int copied = 0;
    uint64_t start_ns = clock_now_ns();
    int rc = sqlite3_wal_checkpoint_v2(writer->connection.db, "main", mode, &frames, &copied);
    uint64_t duration_ns = clock_now_ns() - start_ns;
    writer->connection.patience = kept;
    writer->unfinished++;
    stats_add_checkpoint(&store->stats, duration_ns,
                         rc == SQLITE_OK ? (copied < frames ? CHECKPOINT_BLOCKED : CHECKPOINT_DONE)
                         : (rc & 0xff) == SQLITE_BUSY ? CHECKPOINT_BLOCKED
                                                      : CHECKPOINT_FAILED);
}

void checkpoint_last(struct pitot_store *store)
{
    /* The store is closing, so this waits for nobody. */
    sqlite3_wal_checkpoint_v2(store->writer.connection.db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                              NULL);
}
