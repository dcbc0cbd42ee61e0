/* Where a database lies, and what lies there. */
#ifndef PITOT_LIB_PATH_H
#define PITOT_LIB_PATH_H

#include "lib/error.h"
#include "lib/process.h"

#include <stdbool.h>
#include <stdint.h>

/* "PiTo" in ASCII: what makes a database ours (bytes 68 to 71 of its header). */
#define APPLICATION_ID 0x5069546f

/* The absolute path without symbolic links, allocated. With `make_folders` missing folders are made
 * (0777 less the umask). INVALID: an empty path, or one that names a folder; FOREIGN: something
 * that is no file; IO, FULL, PERMISSION, MISSING name the folder. */
int path_resolve(const char *path, bool make_folders, char **resolved, struct pitot_error *error);

enum path_content {
    PATH_MISSING,
    PATH_EMPTY,
    PATH_OURS,     /* an SQLite header with APPLICATION_ID, in WAL mode */
    PATH_OURS_OLD, /* the same, not in WAL mode: its making was broken off */
    PATH_DATABASE, /* an SQLite header without it */
    PATH_OTHER
};

struct path_look {
    enum path_content content;
    /* Of a database: */
    uint32_t user_version; /* as the header has it */
    bool settled;          /* the header has the last word: it fits the file, and there is no WAL or
                              journal beside it */
};

/* Looks at the header of a file through SQLite's VFS (NULL: the default one), which knows what to
 * do about POSIX locks; nothing is written. */
int path_look(const char *path, const char *vfs, struct path_look *look, struct pitot_error *error);

/* Device and inode. */
int path_identity(const char *path, struct file_identity *file, struct pitot_error *error);

/* The folder that is full when writing the database fails for want of space: its own or SQLite's
 * for temporary files, allocated; NULL without memory. */
char *path_full_folder(const char *path);

/* Makes a file that holds the bytes and appears whole or not at all, and syncs it and its folder.
 * 1: there is a file of that name already, or the file system cannot do it; nothing was done. */
int path_publish(const char *path, const void *bytes, size_t size, struct pitot_error *error);

/* Renames a damaged database with its WAL to PATH.corrupt, or PATH.corrupt.1, …; *aside is its new
 * path, allocated. */
int path_set_aside(const char *path, char **aside, struct pitot_error *error);

/* Removes the WAL, journal and shared memory of a database that is not there: they could be taken
 * for those of the one that is made. */
int path_remove_orphans(const char *path, struct pitot_error *error);

#endif
