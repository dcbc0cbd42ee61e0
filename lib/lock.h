/*
 * The writer's lock: a file of its own beside the database, PATH-pitot, locked with fcntl(F_SETLK).
 *
 * Unlike flock(2) this lock is not inherited by a forked child, so it ends with its owner, and
 * F_GETLK names the owner. The file is never removed: whoever waits for it could hold one that is
 * gone. Its text is a state, written by the owner alone:
 *
 *     (empty)              a store was never here: an attempt to open a file that is not ours
 *     "libpitot store"     the database beside it is ours, even if its header cannot be read
 *     "libpitot damaged"   and SQLite called it damaged while it was in use
 */
#ifndef PITOT_LIB_LOCK_H
#define PITOT_LIB_LOCK_H

#include "lib/error.h"
#include "lib/process.h"

enum lock_state { LOCK_UNKNOWN, LOCK_STORE, LOCK_DAMAGED };

struct lock {
    struct process *process;
    char *path; /* of the lock file */
    int descriptor;
    struct file_identity file;
    enum lock_state state; /* as in the file */
};

/* Takes the lock of the database `path` (absolute). With `create` false a lock file that is missing
 * is not made: MISSING. OWNED names the process; IO, FULL, PERMISSION, MEMORY. Adds the lock file
 * to the process's table; nothing is held after an error. */
int lock_take(struct lock *lock, struct process *process, const char *path, bool create,
              struct pitot_error *error);
void lock_release(struct lock *lock);

/* Writes the state. Not synced: what it proves was there before the power went. */
int lock_mark(struct lock *lock, enum lock_state state, struct pitot_error *error);

/* Whether the file locked is still the one at its path. */
bool lock_in_place(const struct lock *lock);

#endif
