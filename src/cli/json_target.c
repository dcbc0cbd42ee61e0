#include "cli/json_target.h"

#include "base/json.h"
#include "cli/output.h"
#include "result/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a file in the folder of `path`: the only test that holds for every file system and account.
 * It has no name, so that nothing is left behind if this is the moment in which pitot is killed;
 * where the file system has no such files, one with a name of its own is made and removed. */
static int try_folder(const char *flag, const char *file, const char *path, struct error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? result_text(".")
                   : slash == path ? result_text("/")
                                   : result_text("%.*s", (int)(slash - path), path);
    char *probe = result_text("%s.try.XXXXXX", path);
    char *written = result_text("%s.tmp.%d", path, 4194304);
    int code = 0;
    if (folder == NULL || probe == NULL || written == NULL) {
        code = error_set(error, ERROR_MEMORY, "out of memory for %s", flag);
        goto out;
    }
    /* The file is written under its name with ".tmp." and a process number behind it. */
    struct stat status;
    if (lstat(written, &status) != 0 && errno == ENAMETOOLONG) {
        code = error_errno(error, errno, "%s %s: cannot be written", flag, file);
        goto out;
    }
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        fd = mkostemp(probe, O_CLOEXEC);
        if (fd >= 0) {
            unlink(probe);
        }
    }
    if (fd >= 0) {
        close(fd);
    } else if (errno == ENOENT || errno == ENOTDIR) {
        code = error_set(error, ERROR_INVALID, "%s %s: its folder does not exist", flag, file);
    } else {
        code = error_errno(error, errno, "%s %s: cannot be written", flag, file);
    }
out:
    free(folder);
    free(probe);
    free(written);
    return code;
}

int json_target_check(const char *flag, const char *file, struct error *error)
{
    struct stat status;
    if (strcmp(file, "-") == 0) {
        return error_set(error, ERROR_INVALID,
                         "%s -: needs the name of a file (./- is the one called \"-\")", flag);
    }
    bool exists = stat(file, &status) == 0;
    size_t length = strlen(file);
    if ((exists && S_ISDIR(status.st_mode)) || (length > 0 && file[length - 1] == '/')) {
        return error_set(error, ERROR_INVALID, "%s %s: is a folder; name a file", flag, file);
    }
    if (exists && !S_ISREG(status.st_mode)) {
        return access(file, W_OK) == 0
                   ? 0
                   : error_errno(error, errno, "%s %s: cannot be written", flag, file);
    }
    /* A link is followed: the new file is made beside the one that it names. */
    char *real = exists ? realpath(file, NULL) : strdup(file);
    if (real == NULL) {
        return error_errno(error, errno, "%s %s", flag, file);
    }
    int code = try_folder(flag, file, real, error);
    free(real);
    return code;
}

/* The real path of the folder of `file`; NULL with errno. */
static char *real_folder(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *folder =
        slash == NULL ? strdup(".") : strndup(file, slash == file ? 1 : (size_t)(slash - file));
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    free(folder);
    return real;
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

int json_target_differs(const char *flag, const char *file, const char *other, const char *what,
                        struct error *error)
{
    struct stat status;
    struct stat of_other;
    bool exists = stat(file, &status) == 0;
    bool other_exists = stat(other, &of_other) == 0;
    bool same = false;
    if (exists && other_exists) {
        same = S_ISREG(status.st_mode) && status.st_dev == of_other.st_dev &&
               status.st_ino == of_other.st_ino;
    } else if (!exists && !other_exists && strcmp(name_of(file), name_of(other)) == 0) {
        char *folder = real_folder(file);
        char *folder_of_other = folder != NULL ? real_folder(other) : NULL;
        int reason = errno;
        same = folder_of_other != NULL && strcmp(folder, folder_of_other) == 0;
        bool told = folder_of_other != NULL;
        free(folder);
        free(folder_of_other);
        if (!told) {
            return error_errno(error, reason, "%s %s", flag, file);
        }
    }
    return same ? error_set(error, ERROR_INVALID, "%s %s: is also %s; name another file", flag,
                            file, what)
                : 0;
}

int json_target_print(const struct result *result, struct error *error)
{
    json_t *json = result_to_json(result);
    char *text = json != NULL ? json_dump_text(json, JSON_COMPACT) : NULL;
    int code = 0;
    if (text == NULL) {
        code = error_set(error, ERROR_MEMORY, "out of memory for the result as JSON");
    }
    if (code == 0) {
        code = output_write(text, strlen(text), error);
    }
    if (code == 0) {
        code = output_write("\n", 1, error);
    }
    free(text);
    json_decref(json);
    return code;
}
