#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* One part of a copy: small enough that a cancel is noticed at once. */
#define COPY_PART ((size_t)16 << 20)

/* Opens for reading and refuses what is no regular file. Non-blocking, so that a
 * pipe without a writer is refused and not waited for. */
static int open_regular(const char *path, struct stat *status, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return error_errno(error, errno, "cannot open %s", path);
    }
    int code = 0;
    if (fstat(fd, status) != 0) {
        code = error_errno(error, errno, "cannot look at %s", path);
    } else if (!S_ISREG(status->st_mode)) {
        code = error_set(error, ERROR_INVALID, "%s is %s, it must be a regular file", path,
                         S_ISDIR(status->st_mode) ? "a folder" : "a device, pipe or socket");
    }
    if (code != 0) {
        close(fd);
        return code;
    }
    return fd;
}

int file_read(const char *path, size_t max, struct buffer *out, struct error *error)
{
    struct stat status;
    int fd = open_regular(path, &status, error);
    if (fd < 0) {
        return fd;
    }
    int code = 0;
    size_t start = out->length;
    char part[16384];
    for (;;) { /* until the end, not st_size: files of /proc say 0 */
        ssize_t got = read(fd, part, sizeof part);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            code = error_errno(error, errno, "cannot read %s", path);
            break;
        }
        if (got == 0) {
            break;
        }
        if ((size_t)got > max - (out->length - start)) {
            code = error_set(error, ERROR_INVALID, "%s is larger than %zu bytes, the most allowed",
                             path, max);
            break;
        }
        buffer_append(out, part, (size_t)got);
        if (out->failed) {
            code = error_set(error, ERROR_MEMORY, "%s: out of memory while reading it", path);
            break;
        }
    }
    close(fd);
    return code;
}

static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return -1;
        }
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

/* The folder in which a path lies, as a new string; NULL without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return strdup(".");
    }
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

int file_sync_folder(const char *path, struct error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return error_errno(error, errno, "cannot open the folder %s", path);
    }
    int code = 0;
    /* EINVAL: this file system has no such thing as syncing a folder. */
    if (fsync(fd) != 0 && errno != EINVAL) {
        code = error_errno(error, errno, "cannot sync the folder %s", path);
    }
    close(fd);
    return code;
}

/* A new file, synced; messages call it `named`. It has the mode of the file that it replaces. */
static int write_new(const char *path, const char *bytes, size_t length, const char *named,
                     struct error *error)
{
    struct stat before;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return error_errno(error, errno, "cannot open %s to write %s", path, named);
    }
    int code = 0;
    if (stat(named, &before) == 0 && fchmod(fd, before.st_mode & 07777) != 0) {
        code = error_errno(error, errno, "cannot give %s its mode", named);
    }
    if (write_all(fd, bytes, length) != 0 || fsync(fd) != 0) {
        code = error_errno(error, errno, "cannot write %s", named);
    }
    if (close(fd) != 0 && code == 0) {
        code = error_errno(error, errno, "cannot write %s", named);
    }
    return code;
}

static int replace_regular(const char *path, const char *bytes, size_t length, struct error *error)
{
    int code = 0;
    char *temporary = NULL;
    char *folder = folder_of(path);
    if (folder == NULL || asprintf(&temporary, "%s.tmp.%ld", path, (long)getpid()) < 0) {
        temporary = NULL;
        code = error_set(error, ERROR_MEMORY, "%s: out of memory while writing it", path);
        goto out;
    }
    code = write_new(temporary, bytes, length, path, error);
    if (code == 0 && rename(temporary, path) != 0) {
        code = error_errno(error, errno, "cannot rename %s to %s", temporary, path);
    }
    if (code != 0) {
        unlink(temporary);
        goto out;
    }
    code = file_sync_folder(folder, error);
out:
    free(temporary);
    free(folder);
    return code;
}

/* A device or a pipe, written in place. */
static int write_pipe(const char *path, const char *bytes, size_t length, struct error *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENXIO) {
        return error_set(error, ERROR_UNAVAILABLE, "%s is a pipe that nobody reads", path);
    }
    if (fd < 0) {
        return error_errno(error, errno, "cannot open %s", path);
    }
    int code = 0;
    if (fcntl(fd, F_SETFL, 0) != 0 || write_all(fd, bytes, length) != 0) {
        code = error_errno(error, errno, "cannot write %s", path);
    }
    if (close(fd) != 0 && code == 0) {
        code = error_errno(error, errno, "cannot write %s", path);
    }
    return code;
}

int file_replace(const char *path, const char *bytes, size_t length, struct error *error)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return replace_regular(path, bytes, length, error);
    }
    if (S_ISDIR(status.st_mode)) {
        return error_set(error, ERROR_INVALID, "%s is a folder, it must be the name of a file",
                         path);
    }
    if (!S_ISREG(status.st_mode)) {
        /* A rename would put a file where /dev/stdout was. Without a reader, opening a pipe would
         * wait for ever. */
        return write_pipe(path, bytes, length, error);
    }
    char *real = realpath(path, NULL); /* a link stays, what it names is replaced */
    if (real == NULL) {
        return error_errno(error, errno, "cannot resolve %s", path);
    }
    int code = replace_regular(real, bytes, length, error);
    free(real);
    return code;
}

static int make_one_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0777) == 0) {
        return 0;
    }
    int reason = errno;
    struct stat status;
    if (stat(path, &status) == 0) {
        /* mkdir of what exists may also fail with EROFS or EACCES. */
        return S_ISDIR(status.st_mode)
                   ? 0
                   : error_set(error, ERROR_INVALID, "%s exists and is no folder", path);
    }
    return error_errno(error, reason, "cannot make the folder %s", path);
}

int file_make_folder(const char *path, struct error *error)
{
    if (path[0] == '\0') {
        return error_set(error, ERROR_INVALID, "an empty path cannot be a folder");
    }
    char *part = strdup(path);
    if (part == NULL) {
        return error_set(error, ERROR_MEMORY, "%s: out of memory while making the folder", path);
    }
    int code = 0;
    for (char *slash = part + 1; code == 0 && *slash != '\0'; slash++) {
        if (*slash == '/') {
            *slash = '\0';
            code = make_one_folder(part, error);
            *slash = '/';
        }
    }
    if (code == 0) {
        code = make_one_folder(part, error);
    }
    free(part);
    return code;
}

int64_t file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

int file_remove(const char *path, struct error *error)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return error_errno(error, errno, "cannot remove %s", path);
    }
    return 0;
}

struct copy {
    int from_fd, to_fd;
    const char *from, *to;
    bool (*cancelled)(void);
};

static bool copy_cancelled(const struct copy *copy)
{
    return copy->cancelled != NULL && copy->cancelled();
}

static int copy_interrupted(const struct copy *copy, struct error *error)
{
    return error_set(error, ERROR_INTERRUPTED, "copying %s to %s was ended", copy->from, copy->to);
}

/* Copies from both file offsets to the end of the source through a buffer. */
static int copy_by_reading(const struct copy *copy, struct error *error)
{
    const size_t size = 1 << 20;
    char *part = malloc(size);
    if (part == NULL) {
        return error_set(error, ERROR_MEMORY, "%s: out of memory while copying it", copy->from);
    }
    int code = 0;
    while (code == 0) {
        if (copy_cancelled(copy)) {
            code = copy_interrupted(copy, error);
            break;
        }
        ssize_t got = read(copy->from_fd, part, size);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            code = error_errno(error, errno, "cannot read %s", copy->from);
        } else if (got > 0 && write_all(copy->to_fd, part, (size_t)got) != 0) {
            code = error_errno(error, errno, "cannot write %s", copy->to);
        }
    }
    free(part);
    return code;
}

static bool is_unsupported(int errno_value)
{
    switch (errno_value) {
    case ENOSYS:
    case EXDEV:
    case EINVAL:
    case EOPNOTSUPP:
    case EPERM:
    case EBADF:
        return true;
    default:
        return false;
    }
}

/* Copies in the kernel; what that cannot do goes on by reading from where it stopped
 * (both file offsets stand there). */
static int copy_in_kernel(const struct copy *copy, struct error *error)
{
    for (;;) {
        if (copy_cancelled(copy)) {
            return copy_interrupted(copy, error);
        }
        ssize_t got = copy_file_range(copy->from_fd, NULL, copy->to_fd, NULL, COPY_PART, 0);
        if (got == 0 || (got < 0 && is_unsupported(errno))) {
            /* 0 is the end, or a file system that says 0 for every file. */
            return copy_by_reading(copy, error);
        }
        if (got < 0 && errno != EINTR) {
            return error_errno(error, errno, "cannot copy %s to %s", copy->from, copy->to);
        }
    }
}

int file_copy(const char *from, const char *to, bool (*cancelled)(void), struct error *error)
{
    struct stat status;
    struct copy copy = {.from = from, .to = to, .cancelled = cancelled, .to_fd = -1};
    copy.from_fd = open_regular(from, &status, error);
    if (copy.from_fd < 0) {
        return copy.from_fd;
    }
    int code = 0;
    mode_t mode = (status.st_mode & 0777) | S_IRUSR | S_IWUSR;
    copy.to_fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (copy.to_fd < 0) {
        code = error_errno(error, errno, "cannot make %s", to);
        goto out;
    }
    if (copy_cancelled(&copy)) {
        code = copy_interrupted(&copy, error);
    } else if (ioctl(copy.to_fd, FICLONE, copy.from_fd) != 0) {
        code = copy_in_kernel(&copy, error);
    }
    if (code == 0 && fsync(copy.to_fd) != 0) {
        code = error_errno(error, errno, "cannot sync %s", to);
    }
    if (close(copy.to_fd) != 0 && code == 0) {
        code = error_errno(error, errno, "cannot write %s", to);
    }
    if (code != 0) {
        unlink(to);
    }
out:
    close(copy.from_fd);
    return code;
}

char *file_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    const char *separator = length == 0 || folder[length - 1] == '/' ? "" : "/";
    char *path = NULL;
    return asprintf(&path, "%s%s%s", folder, separator, name) < 0 ? NULL : path;
}

char *file_plain_name(const char *path)
{
    char *name = NULL;
    if (path[0] == '/') {
        return strdup(path);
    }
    return asprintf(&name, "./%s", path) < 0 ? NULL : name;
}
