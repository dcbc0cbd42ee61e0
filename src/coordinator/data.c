#include "coordinator/data.h"

#include "base/file.h"
#include "base/units.h"
#include "coordinator/interrupt.h"
#include "core/hash.h"
#include "result/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOCK_NAME "template.lock"
#define OWN_FOLDER "pitot-numbers-"

enum {
    LABEL_MAX = 48,
    LABEL_HASH = 9, /* '-' and 8 hex digits */
    /* The longest name that is ever made here, with what an engine hangs on it. */
    NAME_LONGEST = 112,
    /* SQLite opens no path of more than 512 bytes, eight of them kept for "-journal". */
    ENGINE_PATH_MAX = 504,
    WAIT_MS = 200,
    PID_TEXT = 11,
};

/* What SQLite and Turso put beside a database. */
static const char *const companions[] = {"-wal", "-shm", "-journal", "-log", "-tshm"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- names ---- */

static bool harmless(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

void data_label(char *out, size_t most, const char *label)
{
    size_t length = strlen(label);
    bool changed = length > most || length == 0;
    for (size_t i = 0; i < length && !changed; i++) {
        changed = !harmless(label[i]);
    }
    size_t kept = !changed ? length : length < most - LABEL_HASH ? length : most - LABEL_HASH;
    for (size_t i = 0; i < kept; i++) {
        out[i] = harmless(label[i]) ? label[i] : '_';
    }
    out[kept] = '\0';
    if (changed) {
        uint32_t hash = (uint32_t)hash_bytes(HASH_START, label, length);
        snprintf(out + kept, LABEL_HASH + 1, "-%08x", hash);
    }
}

char *data_path(const struct data_folder *folder, const char *kind, const char *label)
{
    char safe[LABEL_MAX + 1];
    data_label(safe, LABEL_MAX, label);
    return result_text("%s/pitot-%s-%ld-%s.db", folder->path, kind, (long)getpid(), safe);
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* Length without a run of decimal digits at the end; 0 when there are none. */
static size_t without_digits(const char *text, size_t length)
{
    size_t at = length;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') {
        at--;
    }
    return at == length ? 0 : at;
}

/* pitot-run-PID-LABEL.db or pitot-build-PID-LABEL.db, perhaps with a companion's end. */
static bool is_leftover_database(const char *name)
{
    size_t prefix = strncmp(name, "pitot-run-", 10) == 0     ? 10
                    : strncmp(name, "pitot-build-", 12) == 0 ? 12
                                                             : 0;
    size_t digits = strspn(name + prefix, "0123456789");
    if (prefix == 0 || digits == 0 || name[prefix + digits] != '-') {
        return false;
    }
    const char *label = name + prefix + digits + 1;
    size_t length = strlen(label);
    for (size_t i = 0; i < COUNT(companions); i++) {
        if (ends_with(label, length, companions[i])) {
            length -= strlen(companions[i]);
            break;
        }
    }
    if (length <= 3 || length - 3 > LABEL_MAX || !ends_with(label, length, ".db")) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!harmless(label[i])) {
            return false;
        }
    }
    return true;
}

/* pitot-numbers-PID, a folder. */
static bool is_leftover_folder(const char *name)
{
    size_t prefix = strlen(OWN_FOLDER);
    size_t digits =
        strncmp(name, OWN_FOLDER, prefix) == 0 ? strspn(name + prefix, "0123456789") : 0;
    return digits > 0 && name[prefix + digits] == '\0';
}

/* template-…-16 hex digits.json.tmp.PID: what file_replace() leaves after a kill. */
static bool is_leftover_json(const char *name)
{
    static const char middle[] = ".json.tmp.";
    size_t length = without_digits(name, strlen(name));
    if (strncmp(name, "template-", 9) != 0 || !ends_with(name, length, middle)) {
        return false;
    }
    length -= strlen(middle);
    if (length < 9 + 17 || name[length - 17] != '-') {
        return false;
    }
    return strspn(name + length - 16, "0123456789abcdef") == 16;
}

void data_remove_database(const char *path)
{
    char companion[PATH_MAX]; /* not allocated: nothing is to be left when memory is short */
    unlink(path);
    for (size_t i = 0; i < COUNT(companions); i++) {
        int length = snprintf(companion, sizeof companion, "%s%s", path, companions[i]);
        if (length > 0 && (size_t)length < sizeof companion) {
            unlink(companion);
        }
    }
}

int data_own_folder(const struct data_folder *folder, char **path, struct error *error)
{
    *path = result_text("%s/" OWN_FOLDER "%ld", folder->path, (long)getpid());
    if (*path == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    return mkdir(*path, 0777) == 0 ? 0 : error_errno(error, errno, "cannot make %s", *path);
}

/* Also at a link or a file of that name nothing else is touched. */
bool data_remove_own_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (entries == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    closedir(entries);
    return rmdir(path) == 0;
}

/* ---- the folder ---- */

static void note(const struct progress *progress, const char *text)
{
    if (progress != NULL && progress->note != NULL && text != NULL) {
        progress->note(progress->context, text);
    }
}

static int check_path(const char *path, struct error *error)
{
    if (*path == '\0') {
        return error_set(error, ERROR_INVALID, "the data folder has an empty name");
    }
    if (strcmp(path, ":memory:") == 0) {
        return error_set(error, ERROR_INVALID,
                         "the data folder cannot be :memory:, since a database in memory measures "
                         "something else: every engine gets a copy of one template file; name a "
                         "folder (one on a tmpfs is allowed, and said in the result)");
    }
    if (strncmp(path, "file:", 5) == 0) {
        return error_set(error, ERROR_INVALID,
                         "the data folder is the URI \"%s\"; name a folder by its path, since "
                         "every engine gets a copy of one template file in it (./%s for a folder "
                         "of that name)",
                         path, path);
    }
    return 0;
}

static int too_long(const char *path, size_t length, struct error *error)
{
    return error_set(error, ERROR_INVALID,
                     "the data folder's path is %zu bytes long; at most %d are right, since "
                     "SQLite opens no database with a longer path: %s",
                     length, ENGINE_PATH_MAX - NAME_LONGEST, path);
}

/* Of a folder that is to be made: a path that is too long must not leave half of itself. */
static int check_length(const char *path, struct error *error)
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL) {
        return error_errno(error, errno, "the current folder");
    }
    size_t length = strlen(path) + (path[0] == '/' ? 0 : strlen(here) + 1);
    return length > ENGINE_PATH_MAX - NAME_LONGEST ? too_long(path, length, error) : 0;
}

static int make_if_missing(struct data_folder *folder, const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) == 0) {
        return S_ISDIR(status.st_mode)
                   ? 0
                   : error_set(error, ERROR_INVALID, "the data folder %s is a file; name a folder",
                               path);
    }
    switch (errno) {
    case ENOENT:
        break;
    case ENAMETOOLONG:
        return error_set(error, ERROR_INVALID, "the data folder's path is too long (%zu bytes): %s",
                         strlen(path), path);
    case ENOTDIR:
        return error_set(error, ERROR_INVALID,
                         "the data folder %s lies below a file; name a folder", path);
    default:
        return error_errno(error, errno, "the data folder %s", path);
    }
    int result = check_length(path, error);
    if (result != 0) {
        return result;
    }
    result = file_make_folder(path, error);
    if (result != 0) {
        error_prefix(error, "the data folder");
        return result;
    }
    folder->made = true;
    return 0;
}

static int check_folder(const char *path, char *real, struct error *error)
{
    if (realpath(path, real) == NULL) {
        return error_errno(error, errno, "the data folder %s", path);
    }
    size_t length = strlen(real);
    if (length > ENGINE_PATH_MAX - NAME_LONGEST) {
        return too_long(real, length, error);
    }
    if (faccessat(AT_FDCWD, real, R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
        return error_set(error, ERROR_UNAVAILABLE,
                         "the data folder %s cannot be written by this account: %s", real,
                         strerror(errno));
    }
    return 0;
}

/* Sets folder->path to the real path of a folder that can be used. */
static int make_folder(struct data_folder *folder, const char *path, struct error *error)
{
    char real[PATH_MAX];
    int status = make_if_missing(folder, path, error);
    if (status != 0) {
        return status;
    }
    if ((status = check_folder(path, real, error)) == 0) {
        free(folder->path);
        folder->path = strdup(real);
        status = folder->path == NULL ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
    }
    if (status != 0 && folder->made) {
        rmdir(path); /* empty, or somebody else uses it: then it stays */
    }
    return status;
}

/* ---- the lock ---- */

static int open_lock(const char *path, int *out, struct error *error)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd < 0) {
        return error_errno(error, errno, "the lock of the data folder, %s", path);
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return error_set(error, ERROR_INVALID, "%s is no regular file; remove it", path);
    }
    *out = fd;
    return 0;
}

/* The PID in the lock file, for a message only; 0: none to be read. */
static long holder_of(int fd)
{
    char text[PID_TEXT + 1];
    ssize_t length = pread(fd, text, PID_TEXT, 0);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    long pid = strtol(text, NULL, 10);
    return pid > 0 ? pid : 0;
}

/* Another text only when another process is waited for. */
static void tell_waiting(const struct data_folder *folder, int fd, long *told,
                         const struct progress *progress)
{
    long holder = holder_of(fd);
    if (holder == *told) {
        return;
    }
    *told = holder;
    char *text =
        holder == 0
            ? result_text("waiting for another pitot, which uses the data folder %s", folder->path)
            : result_text("waiting for another pitot (process %ld), which uses the data folder %s",
                          holder, folder->path);
    note(progress, text);
    free(text);
}

static int wait_for_lock(const struct data_folder *folder, int fd, const struct progress *progress,
                         struct error *error)
{
    long told = -1;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return error_errno(error, errno, "the lock of the data folder %s", folder->path);
        }
        if (interrupt_requested()) {
            return error_set(error, ERROR_INTERRUPTED,
                             "ended by a signal while waiting for the data folder %s",
                             folder->path);
        }
        tell_waiting(folder, fd, &told, progress);
        /* Nothing tells when a flock is given up, so it is asked for again and again. */
        struct pollfd signal = {.fd = interrupt_fd(), .events = POLLIN};
        poll(&signal, 1, WAIT_MS);
    }
    return 0;
}

/* The one who held the lock may have removed the file with its folder: then this lock is on a
 * file that nobody else will ever open. */
static bool still_there(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

static int take_lock(struct data_folder *folder, const char *path, const struct progress *progress,
                     struct error *error)
{
    for (;;) {
        int fd = -1;
        int status = make_folder(folder, path, error);
        if (status != 0) {
            return status;
        }
        char *lock = file_join(folder->path, LOCK_NAME);
        if (lock == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        struct error problem = ERROR_INIT;
        status = open_lock(lock, &fd, &problem);
        if (status != 0 && access(folder->path, F_OK) != 0 && errno == ENOENT) {
            free(lock); /* removed since it was made: once more */
            continue;
        }
        if (status != 0) {
            error_set(error, (enum error_code)status, "%s", problem.message);
        } else {
            status = wait_for_lock(folder, fd, progress, error);
        }
        bool there = status == 0 && still_there(fd, lock);
        free(lock);
        if (there) {
            folder->lock_fd = fd;
            return 0;
        }
        if (fd >= 0) {
            close(fd);
        }
        if (status != 0) {
            return status;
        }
    }
}

/* Of a fixed width, so that it replaces what was there without a moment of emptiness. */
static bool write_holder(int fd)
{
    char text[PID_TEXT + 1];
    int length = snprintf(text, sizeof text, "%-10ld\n", (long)getpid());
    return length == PID_TEXT && pwrite(fd, text, PID_TEXT, 0) == PID_TEXT &&
           ftruncate(fd, PID_TEXT) == 0;
}

/* ---- leftovers ---- */

static int remove_leftovers(const struct data_folder *folder, const struct progress *progress,
                            struct error *error)
{
    DIR *entries = opendir(folder->path);
    if (entries == NULL) {
        return error_errno(error, errno, "the data folder %s cannot be read", folder->path);
    }
    unsigned removed = 0;
    uint64_t bytes = 0;
    struct dirent *entry;
    while ((errno = 0, entry = readdir(entries)) != NULL) {
        struct stat status;
        if (is_leftover_folder(entry->d_name)) {
            char *path = file_join(folder->path, entry->d_name);
            removed += path != NULL && data_remove_own_folder(path) ? 1 : 0;
            free(path);
            continue;
        }
        if ((!is_leftover_database(entry->d_name) && !is_leftover_json(entry->d_name)) ||
            fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode)) {
            continue;
        }
        if (unlinkat(dirfd(entries), entry->d_name, 0) == 0) {
            removed++;
            bytes += (uint64_t)status.st_blocks * 512;
        } else {
            char *text = result_text("cannot remove %s/%s, left by an earlier run: %s",
                                     folder->path, entry->d_name, strerror(errno));
            note(progress, text);
            free(text);
        }
    }
    int failed = errno;
    closedir(entries);
    if (failed != 0) {
        return error_errno(error, failed, "the data folder %s cannot be read", folder->path);
    }
    if (removed > 0) {
        char size[UNITS_TEXT_SIZE];
        units_print_bytes(size, (double)bytes);
        char *text = result_text("removed %u file%s (%s) that an earlier run left in %s", removed,
                                 removed == 1 ? "" : "s", size, folder->path);
        note(progress, text);
        free(text);
    }
    return 0;
}

/* ---- the calls ---- */

int data_open(struct data_folder *folder, const char *path, const struct progress *progress,
              struct error *error)
{
    *folder = (struct data_folder){.lock_fd = -1};
    int status = check_path(path, error);
    if (status == 0) {
        status = take_lock(folder, path, progress, error);
    }
    if (status == 0) {
        /* A kill may have left the disk full: its files go first, then space is asked for. */
        bool told = write_holder(folder->lock_fd);
        status = remove_leftovers(folder, progress, error);
        if (status == 0 && !told && !write_holder(folder->lock_fd)) {
            status = error_errno(error, errno, "cannot write %s/" LOCK_NAME, folder->path);
        }
    }
    if (status != 0) {
        data_close(folder);
    }
    return status;
}

static bool holds_only_lock(const char *path)
{
    DIR *entries = opendir(path);
    if (entries == NULL) {
        return false;
    }
    bool only = true;
    struct dirent *entry;
    while (only && (errno = 0, entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        only = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, LOCK_NAME) == 0;
    }
    only = only && errno == 0;
    closedir(entries);
    return only;
}

void data_close(struct data_folder *folder)
{
    /* Only while it is locked: another pitot may be about to use it. */
    if (folder->path != NULL && folder->lock_fd >= 0 && folder->made &&
        holds_only_lock(folder->path)) {
        char *lock = file_join(folder->path, LOCK_NAME);
        if (lock != NULL && unlink(lock) == 0) {
            rmdir(folder->path);
        }
        free(lock);
    }
    if (folder->path != NULL && folder->lock_fd >= 0) {
        close(folder->lock_fd);
    }
    free(folder->path);
    *folder = (struct data_folder){.lock_fd = -1};
}

int data_need(const struct data_folder *folder, uint64_t needed, const char *what_for,
              struct error *error)
{
    struct statvfs status;
    int result;
    do {
        result = statvfs(folder->path, &status);
    } while (result != 0 && errno == EINTR);
    if (result != 0) {
        return error_errno(error, errno, "cannot ask for the free space of %s", folder->path);
    }
    /* Some file systems do not say. */
    if (status.f_blocks == 0) {
        return 0;
    }
    uint64_t free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
    if (free_bytes >= needed) {
        return 0;
    }
    char needed_text[UNITS_TEXT_SIZE], free_text[UNITS_TEXT_SIZE];
    units_print_bytes(needed_text, (double)needed);
    units_print_bytes(free_text, (double)free_bytes);
    return error_set(error, ERROR_FULL,
                     "%s needs %s (%llu bytes), but only %s (%llu bytes) are free in %s", what_for,
                     needed_text, (unsigned long long)needed, free_text,
                     (unsigned long long)free_bytes, folder->path);
}
