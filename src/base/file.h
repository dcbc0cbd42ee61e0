/* Files and folders. Paths are bytes; messages name them. */
#ifndef PITOT_BASE_FILE_H
#define PITOT_BASE_FILE_H

#include "base/buffer.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends a whole regular file of at most `max` bytes to out. ERROR_INVALID when it is
 * larger or not regular; out may then hold a part of it. */
int file_read(const char *path, size_t max, struct buffer *out, struct error *error);
/* Writes path.tmp.PID, fsyncs, renames over path, fsyncs the folder. A symbolic link
 * stays, and what it names is replaced. What exists and is no regular file
 * (/dev/stdout, a pipe) is written to instead; a folder is ERROR_INVALID. */
int file_replace(const char *path, const char *bytes, size_t length, struct error *error);
/* Makes a folder and its parents. A path that exists and is no folder is
 * ERROR_INVALID. */
int file_make_folder(const char *path, struct error *error);
int file_sync_folder(const char *path, struct error *error);
/* Size by stat(2); -1 when there is none. */
int64_t file_size(const char *path);
/* Removes a file; a missing one is no error. */
int file_remove(const char *path, struct error *error);
/* Copies a file by FICLONE, else copy_file_range, else read and write; the target
 * is new (O_EXCL), fsynced, and removed again on failure. `cancelled` is asked
 * between parts (may be NULL) and ends the copy with ERROR_INTERRUPTED. */
int file_copy(const char *from, const char *to, bool (*cancelled)(void), struct error *error);
/* folder/name as a new string (free()); NULL: no memory. */
char *file_join(const char *folder, const char *name);
/* A name that an engine takes for exactly this file: a relative path could be ":memory:" or a
 * "file:" URI to it. A new string; NULL: no memory. */
char *file_plain_name(const char *path);

#endif
