/*
 * The VFS of a store's writer: the one below it, except that what a transaction writes to the WAL
 * goes there in few large pieces. SQLite writes each page in two calls of its own.
 *
 * A transaction counts from the moment that its last frame is written and the WAL's index says so.
 * What is held back goes out within the write of that last frame, before SQLite comes to the index:
 * nobody is ever told of a page that is not in the file. Until then it is needed by nobody but the
 * connection itself, which is given it when it reads. A transaction that is rolled back, a
 * connection that ends, or a process that is killed leaves out what it held: frames of no
 * transaction. It must not be written later, for by then the place may be another writer's.
 */
#ifndef PITOT_LIB_WAL_VFS_H
#define PITOT_LIB_WAL_VFS_H

#include "lib/error.h"

#include <sqlite3.h>

struct wal_vfs;

/* Makes one above the VFS of that name (NULL: the default one) and registers it, under a name that
 * nobody else has. It serves one connection at a time, and holds 64 KiB. *OUT NULL and 0: there is
 * no VFS of that name. Errors: MEMORY. Any thread. */
int wal_vfs_new(struct wal_vfs **out, const char *below, struct pitot_error *error);

const char *wal_vfs_name(const struct wal_vfs *wal);

/* For a connection that was opened with it, before anything is written. Takes its rollback hook. */
void wal_vfs_watch(struct wal_vfs *wal, sqlite3 *db);

/* After the connection was closed. NULL is allowed. */
void wal_vfs_free(struct wal_vfs *wal);

#endif
