/*
 * Checkpoints: copying the WAL back into the database.
 *
 * They have one owner, the writer's connection between two passes, after the closing event. A
 * thread of its own beside a busy writer never finds the moment at which the WAL can begin anew,
 * and SQLite's automatic checkpoint would run within COMMIT.
 *
 * A WAL that was copied back begins anew with the next commit if no reader uses it. One that goes
 * on growing all the same met a reader in that moment; then the next checkpoint goes on for some
 * milliseconds until readers have left the WAL (those that come meanwhile read the database, which
 * is complete). If that fails it is tried again when the WAL has grown by a quarter of its limit.
 */
#ifndef PITOT_LIB_CHECKPOINT_H
#define PITOT_LIB_CHECKPOINT_H

#include <stdint.h>

struct pitot_store;

/* The size of the WAL file now, in bytes; 0 when there is none. Any thread. */
uint64_t checkpoint_wal_bytes(const struct pitot_store *store);

/* With `writing` held, no transaction open. An error is counted in the statistics, not reported:
 * the WAL is whole, and the next pass tries again. */
void checkpoint_if_due(struct pitot_store *store);

/* When the store closes. SQLite does this itself with the last connection, but readers may still be
 * there, and they leave the WAL alone: whoever opens the store next would have to read through it.
 */
void checkpoint_last(struct pitot_store *store);

#endif
