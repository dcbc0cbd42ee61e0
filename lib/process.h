/*
 * What the whole process knows: which stores are open in it, and whether it is the one that opened
 * them.
 *
 * POSIX locks belong to a process and a file. A second descriptor of a lock file would drop the
 * lock when it is closed, so the table of open stores is looked at before a lock file is opened.
 * The files are known by device and inode: a path may have many names.
 *
 * A child of fork(2) has copies of everything but none of the locks and threads. A handler of
 * pthread_atfork() takes the current process away there; a handle remembers its own.
 */
#ifndef PITOT_LIB_PROCESS_H
#define PITOT_LIB_PROCESS_H

#include "lib/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct process;

struct file_identity {
    dev_t device;
    ino_t inode;
};

/* The process for a new handle, which counts until process_leave(). FORKED in the child of a
 * process that had handles: SQLite, too, has inherited what it knows of their files. MEMORY. Any
 * thread. */
int process_enter(struct process **process, struct pitot_error *error);
void process_leave(struct process *process);

/* Whether this process is another one than that of the handle. A load and a comparison. */
bool process_forked(const struct process *process);

/* The table. Between process_lock() and process_unlock() no other thread opens a lock file. */
void process_lock(struct process *process);
void process_unlock(struct process *process);

/* Needs the lock. Each store adds its lock file and its database; `id` tells stores apart. */
bool process_has(const struct process *process, struct file_identity file);
int process_add(struct process *process, const void *id, struct file_identity file,
                struct pitot_error *error);
void process_remove(struct process *process, const void *id);

#endif
