#include "lib/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int out_of_memory(struct pitot_error *error)
{
    return failure(error, PITOT_ERROR_MEMORY, "out of memory");
}

/* Of a path with a slash. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Makes the folders of `folder`, which is changed on the way and restored. */
static int make_folders(char *folder, struct pitot_error *error)
{
    struct stat status;
    if (stat(folder, &status) == 0) {
        return 0; /* whether it is a folder shows when it is used as one */
    }
    for (char *at = folder + 1;; at++) {
        char kept = *at;
        if (kept != '/' && kept != '\0') {
            continue;
        }
        *at = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST && (kept == '\0' || errno != EACCES)) {
            int result = failure_errno(error, errno, "making folder '%s'", folder);
            *at = kept;
            return result;
        }
        *at = kept;
        if (kept == '\0') {
            return 0;
        }
    }
}

/* What is there must be a file; a symbolic link is followed. */
static int check_target(char **path, struct pitot_error *error)
{
    struct stat status;
    if (lstat(*path, &status) != 0) {
        return errno == ENOENT ? 0 : failure_errno(error, errno, "'%s'", *path);
    }
    if (S_ISLNK(status.st_mode)) {
        char *target = realpath(*path, NULL);
        if (target == NULL) {
            return failure_errno(error, errno, "symbolic link '%s'", *path);
        }
        free(*path);
        *path = target;
        if (stat(*path, &status) != 0) {
            return failure_errno(error, errno, "'%s'", *path);
        }
    }
    if (S_ISDIR(status.st_mode)) {
        return failure(error, PITOT_ERROR_INVALID, "'%s' is a folder; a file was expected", *path);
    }
    if (!S_ISREG(status.st_mode)) {
        return failure(error, PITOT_ERROR_FOREIGN, "'%s' is no regular file; it was left alone",
                       *path);
    }
    return 0;
}

int path_resolve(const char *path, bool make, char **resolved, struct pitot_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return failure(error, PITOT_ERROR_INVALID, "'%s' names no file", path);
    }
    char *folder = slash == NULL ? strdup(".") : folder_of(path);
    if (folder == NULL) {
        return out_of_memory(error);
    }
    int result = make ? make_folders(folder, error) : 0;
    char *real = NULL;
    char *full = NULL;
    if (result == 0) {
        real = realpath(folder, NULL);
        if (real == NULL) {
            result = failure_errno(error, errno, "folder '%s'", folder);
        }
    }
    if (result == 0 && asprintf(&full, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0) {
        full = NULL;
        result = out_of_memory(error);
    }
    if (result == 0) {
        result = check_target(&full, error);
    }
    free(folder);
    free(real);
    if (result != 0) {
        free(full);
        return result;
    }
    *resolved = full;
    return 0;
}

int path_identity(const char *path, struct file_identity *file, struct pitot_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return failure_errno(error, errno, "'%s'", path);
    }
    *file = (struct file_identity){.device = status.st_dev, .inode = status.st_ino};
    return 0;
}

/* The header, and the first bytes of the root page of the schema. */
enum { HEADER_SIZE = 100, LOOKED_AT = 108 };

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum path_content content_of(const unsigned char *header)
{
    if (memcmp(header, "SQLite format 3", 16) != 0) {
        return PATH_OTHER;
    }
    if (big_endian(header + 68) != APPLICATION_ID) {
        return PATH_DATABASE;
    }
    return header[18] == 2 && header[19] == 2 ? PATH_OURS : PATH_OURS_OLD;
}

/* Whether the file is as long as the header says, and the schema's page is one of a table. */
static bool fits(const unsigned char *header, off_t size)
{
    uint32_t page_size = (uint32_t)header[16] << 8 | header[17];
    page_size = page_size == 1 ? 65536 : page_size;
    unsigned char kind = header[HEADER_SIZE];
    return (off_t)big_endian(header + 28) * page_size == size && (kind == 0x0d || kind == 0x05);
}

static bool missing_or_empty(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 ? errno == ENOENT : status.st_size == 0;
}

static int read_header(sqlite3_vfs *vfs, sqlite3_file *file, const char *path, const char *filename,
                       unsigned char *header, struct pitot_error *error)
{
    file->pMethods = NULL;
    int rc = vfs->xOpen(vfs, filename, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
    int errno_value = errno;
    if (rc == SQLITE_OK) {
        rc = file->pMethods->xRead(file, header, LOOKED_AT, 0);
        errno_value = errno;
    }
    if (file->pMethods != NULL) {
        file->pMethods->xClose(file);
    }
    if (rc != SQLITE_OK) {
        int code = sqlite_error_code(rc, errno_value);
        return failure(error, code, "reading '%s': %s", path,
                       code == PITOT_ERROR_PERMISSION ? "no permission" : sqlite3_errstr(rc));
    }
    return 0;
}

int path_look(const char *path, const char *vfs_name, struct path_look *look,
              struct pitot_error *error)
{
    struct stat status;
    *look = (struct path_look){.content = PATH_MISSING};
    if (stat(path, &status) != 0) {
        return errno == ENOENT ? 0 : failure_errno(error, errno, "'%s'", path);
    }
    if (status.st_size < LOOKED_AT) {
        look->content = status.st_size == 0 ? PATH_EMPTY : PATH_OTHER;
        return 0;
    }
    if (sqlite3_initialize() != SQLITE_OK) {
        return failure(error, PITOT_ERROR_MEMORY, "SQLite could not be initialized");
    }
    sqlite3_vfs *vfs = sqlite3_vfs_find(vfs_name);
    if (vfs == NULL) {
        return failure(error, PITOT_ERROR_INVALID, "SQLite has no VFS '%s'", vfs_name);
    }
    sqlite3_file *file = malloc((size_t)vfs->szOsFile);
    char *wal = sqlite3_mprintf("%s-wal", path);
    char *journal = sqlite3_mprintf("%s-journal", path);
    const char *filename = NULL;
    if (wal != NULL && journal != NULL) {
        filename = sqlite3_create_filename(path, journal, wal, 0, NULL);
    }
    unsigned char header[LOOKED_AT];
    int result = file == NULL || filename == NULL
                     ? out_of_memory(error)
                     : read_header(vfs, file, path, filename, header, error);
    if (result == 0) {
        look->content = content_of(header);
        look->user_version = big_endian(header + 60);
        look->settled =
            fits(header, status.st_size) && missing_or_empty(wal) && missing_or_empty(journal);
    }
    sqlite3_free_filename(filename);
    sqlite3_free(journal);
    sqlite3_free(wal);
    free(file);
    return result;
}

/* SQLite's choice. */
static const char *temporary_folder(void)
{
    const char *const folders[] = {sqlite3_temp_directory,
                                   getenv("SQLITE_TMPDIR"),
                                   getenv("TMPDIR"),
                                   "/var/tmp",
                                   "/usr/tmp",
                                   "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        struct stat status;
        if (folders[i] != NULL && stat(folders[i], &status) == 0 && S_ISDIR(status.st_mode) &&
            access(folders[i], W_OK | X_OK) == 0) {
            return folders[i];
        }
    }
    return ".";
}

char *path_full_folder(const char *path)
{
    char *folder = folder_of(path);
    const char *temporary = temporary_folder();
    struct statvfs own;
    struct statvfs other;
    if (folder != NULL && statvfs(folder, &own) == 0 && statvfs(temporary, &other) == 0 &&
        own.f_fsid != other.f_fsid &&
        (uint64_t)other.f_bavail * other.f_frsize < (uint64_t)own.f_bavail * own.f_frsize) {
        free(folder);
        return strdup(temporary);
    }
    return folder;
}

static int write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return -1;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* So that the new name is there after a loss of power. */
static int sync_folder(const char *path)
{
    char *folder = folder_of(path);
    if (folder == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (descriptor < 0) {
        return -1;
    }
    int result = fsync(descriptor);
    int errno_value = errno;
    close(descriptor);
    errno = errno_value;
    /* Some file systems have no sync of folders and no need of one. */
    return result != 0 && errno != EINVAL ? -1 : 0;
}

int path_publish(const char *path, const void *bytes, size_t size, struct pitot_error *error)
{
    char *made;
    if (asprintf(&made, "%s-pitot-new", path) < 0) {
        return out_of_memory(error);
    }
    /* One that a killed process has left is removed: it may be a link or have other rights. */
    unlink(made);
    int result = 0;
    int descriptor = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        result = failure_errno(error, errno, "making '%s'", made);
        goto out;
    }
    /* Before the rename: a file of that name with other content would never be taken for ours. */
    if (write_all(descriptor, bytes, size) != 0 || fdatasync(descriptor) != 0) {
        result = failure_errno(error, errno, "writing '%s'", made);
    }
    if (close(descriptor) != 0 && result == 0) {
        result = failure_errno(error, errno, "writing '%s'", made);
    }
    if (result == 0 && renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE) != 0) {
        result = errno == EEXIST || errno == EINVAL || errno == ENOSYS
                     ? 1
                     : failure_errno(error, errno, "renaming '%s' to '%s'", made, path);
    }
    if (result != 0) {
        unlink(made);
    } else if (sync_folder(path) != 0) {
        result = failure_errno(error, errno, "syncing the folder of '%s'", path);
    }
out:
    free(made);
    return result;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Renames FROM<suffix> to TO<suffix>; a file that is not there is none. */
static int rename_with(const char *from, const char *to, const char *suffix,
                       struct pitot_error *error)
{
    char *old = NULL;
    char *new = NULL;
    int result = 0;
    if (asprintf(&old, "%s%s", from, suffix) < 0) {
        return out_of_memory(error);
    }
    if (asprintf(&new, "%s%s", to, suffix) < 0) {
        free(old);
        return out_of_memory(error);
    }
    if (rename(old, new) != 0 && errno != ENOENT) {
        result = failure_errno(error, errno, "renaming '%s' to '%s'", old, new);
    }
    free(new);
    free(old);
    return result;
}

int path_set_aside(const char *path, char **aside, struct pitot_error *error)
{
    char *name = NULL;
    for (unsigned number = 0; number < UINT_MAX; number++) {
        int length = number == 0 ? asprintf(&name, "%s.corrupt", path)
                                 : asprintf(&name, "%s.corrupt.%u", path, number);
        if (length < 0) {
            return out_of_memory(error);
        }
        if (!exists(name)) {
            break;
        }
        free(name);
    }
    /* The database last: while it is at its place, what is left is set aside by the next attempt.
     * Its shared memory goes along, so that a process that still reads it and one that opens the
     * new database do not meet in one file. */
    static const char *const suffixes[] = {"-wal", "-journal", "-shm", ""};
    int result = 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && result == 0; i++) {
        result = rename_with(path, name, suffixes[i], error);
    }
    if (result != 0) {
        free(name);
        return result;
    }
    *aside = name;
    return 0;
}

int path_remove_orphans(const char *path, struct pitot_error *error)
{
    static const char *const suffixes[] = {"-wal", "-journal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *name;
        if (asprintf(&name, "%s%s", path, suffixes[i]) < 0) {
            return out_of_memory(error);
        }
        int result = unlink(name) != 0 && errno != ENOENT
                         ? failure_errno(error, errno, "removing '%s'", name)
                         : 0;
        free(name);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}
