#include "lib/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one length, so that one write replaces one by the other. */
static const char *const texts[] = {
    [LOCK_UNKNOWN] = "",
    [LOCK_STORE] = "libpitot store  \n",
    [LOCK_DAMAGED] = "libpitot damaged\n",
};

/* A lock that is given up between F_SETLK and F_GETLK, or a lock file that is exchanged. */
enum { TRIES = 100 };

static struct file_identity identity_of(const struct stat *status)
{
    return (struct file_identity){.device = status->st_dev, .inode = status->st_ino};
}

static bool same(struct file_identity one, struct file_identity other)
{
    return one.device == other.device && one.inode == other.inode;
}

bool lock_in_place(const struct lock *lock)
{
    struct stat status;
    return stat(lock->path, &status) == 0 && same(identity_of(&status), lock->file);
}

static int here(const struct lock *lock, struct pitot_error *error)
{
    return failure(error, PITOT_ERROR_OWNED, "'%.*s' is open in this process already",
                   (int)(strlen(lock->path) - strlen("-pitot")), lock->path);
}

/* 0, 1 when another try is due, or an error. */
static int take_once(struct lock *lock, bool create, struct pitot_error *error)
{
    struct stat status;
    if (stat(lock->path, &status) == 0 && process_has(lock->process, identity_of(&status))) {
        return here(lock, error);
    }
    lock->descriptor = open(
        lock->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0), 0666);
    if (lock->descriptor < 0) {
        return failure_errno(error, errno, "lock file '%s'", lock->path);
    }
    if (fstat(lock->descriptor, &status) != 0) {
        return failure_errno(error, errno, "lock file '%s'", lock->path);
    }
    lock->file = identity_of(&status);
    if (process_has(lock->process, lock->file)) {
        /* Exchanged between stat and open. To close it would drop that store's lock. */
        lock->descriptor = -1;
        return here(lock, error);
    }
    if (!S_ISREG(status.st_mode)) {
        return failure(error, PITOT_ERROR_FOREIGN, "'%s' is no file; it would be the lock file",
                       lock->path);
    }
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(lock->descriptor, F_SETLK, &range) != 0) {
        if (errno != EACCES && errno != EAGAIN) {
            return failure_errno(error, errno, "locking '%s'", lock->path);
        }
        range.l_type = F_WRLCK;
        if (fcntl(lock->descriptor, F_GETLK, &range) != 0 || range.l_type == F_UNLCK) {
            return 1;
        }
        return failure(error, PITOT_ERROR_OWNED, "'%.*s' is open for writing in process %ld%s",
                       (int)(strlen(lock->path) - strlen("-pitot")), lock->path, (long)range.l_pid,
                       range.l_pid == 0 ? " of another PID namespace" : "");
    }
    return lock_in_place(lock) ? 0 : 1;
}

static int read_state(struct lock *lock, struct pitot_error *error)
{
    char text[32] = "";
    ssize_t length = pread(lock->descriptor, text, sizeof text - 1, 0);
    if (length < 0) {
        return failure_errno(error, errno, "lock file '%s'", lock->path);
    }
    for (int state = LOCK_UNKNOWN; state <= LOCK_DAMAGED; state++) {
        if (strcmp(text, texts[state]) == 0) {
            lock->state = (enum lock_state)state;
            return 0;
        }
    }
    return failure(error, PITOT_ERROR_FOREIGN,
                   "'%s' is no lock file of this library; it was left alone", lock->path);
}

static void drop(struct lock *lock)
{
    if (lock->descriptor >= 0) {
        close(lock->descriptor);
        lock->descriptor = -1;
    }
}

int lock_take(struct lock *lock, struct process *process, const char *path, bool create,
              struct pitot_error *error)
{
    *lock = (struct lock){.process = process, .descriptor = -1};
    if (asprintf(&lock->path, "%s-pitot", path) < 0) {
        lock->path = NULL;
        return failure(error, PITOT_ERROR_MEMORY, "out of memory");
    }
    process_lock(process);
    int result = 1;
    for (int i = 0; i < TRIES && result == 1; i++) {
        result = take_once(lock, create, error);
        if (result != 0) {
            drop(lock);
        }
    }
    if (result == 1) {
        result = failure(error, PITOT_ERROR_BUSY, "'%s' changes hands all the time", lock->path);
    }
    if (result == 0) {
        result = read_state(lock, error);
    }
    if (result == 0) {
        result = process_add(process, lock, lock->file, error);
    }
    if (result != 0) {
        drop(lock);
        free(lock->path);
        lock->path = NULL;
    }
    process_unlock(process);
    return result;
}

void lock_release(struct lock *lock)
{
    if (lock->path == NULL) {
        return;
    }
    process_lock(lock->process);
    process_remove(lock->process, lock);
    drop(lock);
    process_unlock(lock->process);
    free(lock->path);
    lock->path = NULL;
}

int lock_mark(struct lock *lock, enum lock_state state, struct pitot_error *error)
{
    const char *text = texts[state];
    size_t length = strlen(text);
    if (lock->state == state) {
        return 0;
    }
    ssize_t written = pwrite(lock->descriptor, text, length, 0);
    if (written != (ssize_t)length) {
        return failure_errno(error, written >= 0 ? ENOSPC : errno, "lock file '%s'", lock->path);
    }
    lock->state = state;
    return 0;
}
