#include "lib/checkpoint.h"

#include "core/clock.h"
#include "lib/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* How long a checkpoint goes on for readers to leave, and how often it looks. */
#define READERS_LEAVE_NS (10 * NS_PER_MS)
#define LOOK_AGAIN_NS (100 * NS_PER_US)

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

static enum checkpoint_end end_of(int rc, bool done)
{
    return rc == SQLITE_OK              ? done ? CHECKPOINT_DONE : CHECKPOINT_BLOCKED
           : (rc & 0xff) == SQLITE_BUSY ? CHECKPOINT_BLOCKED
                                        : CHECKPOINT_FAILED;
}

/* Copies what no snapshot forbids, and waits for nobody. Done: nothing is left. */
static enum checkpoint_end copy(struct writer *writer)
{
    int frames = 0;
    int copied = 0;
    int rc = sqlite3_wal_checkpoint_v2(writer->connection.db, "main", SQLITE_CHECKPOINT_PASSIVE,
                                       &frames, &copied);
    return end_of(rc, copied == frames);
}

/* Once all is copied: the next commit begins the WAL anew, unless a snapshot still reads it. */
static enum checkpoint_end restart(struct writer *writer)
{
    struct patience kept = writer->connection.patience;
    writer->connection.patience.limit_ns = 0;
    int rc = sqlite3_wal_checkpoint_v2(writer->connection.db, "main", SQLITE_CHECKPOINT_RESTART,
                                       NULL, NULL);
    writer->connection.patience = kept;
    return end_of(rc, true);
}

/*
 * Readers that come one after the other and leave no gap: nothing is committed meanwhile, so each
 * snapshot that begins sees all there is, and soon everything may be copied; those that begin then
 * need the WAL no more. SQLite's own way to wait for them would need a moment without any.
 */
static enum checkpoint_end outlast_readers(struct pitot_store *store)
{
    const uint64_t until_ns = clock_now_ns() + READERS_LEAVE_NS;
    for (;;) {
        enum checkpoint_end end = copy(&store->writer);
        end = end == CHECKPOINT_DONE ? restart(&store->writer) : end;
        uint64_t now_ns = clock_now_ns();
        if (end != CHECKPOINT_BLOCKED || now_ns >= until_ns || atomic_load(&store->closing)) {
            return end;
        }
        clock_sleep_until_ns(now_ns + LOOK_AGAIN_NS);
    }
}

void checkpoint_if_due(struct pitot_store *store)
{
    struct writer *writer = &store->writer;
    const uint64_t bytes = writer_wal_bytes(writer);
    if (bytes < (uint64_t)store->wal_limit) {
        writer->outlast_from = 0; /* it has begun anew */
        return;
    }
    uint64_t start_ns = clock_now_ns();
    enum checkpoint_end end;
    if (writer->outlast_from == 0) {
        end = copy(writer);
        writer->outlast_from = bytes;
    } else if (bytes < writer->outlast_from) {
        end = copy(writer);
    } else {
        end = outlast_readers(store);
        /* A snapshot that stays would make each pass wait in vain. */
        writer->outlast_from = bytes + (uint64_t)store->wal_limit / 4;
    }
    stats_add_checkpoint(&store->stats, clock_now_ns() - start_ns, end);
}

void checkpoint_last(struct pitot_store *store)
{
    /* The store is closing, so this waits for nobody. */
    sqlite3_wal_checkpoint_v2(store->writer.connection.db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                              NULL);
}
