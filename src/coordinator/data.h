/*
 * The data folder: templates, their copies, and the lock that keeps two pitots
 * from building or cleaning the same thing.
 *
 *     template.lock                    stays; flock; the PID in it only serves a message
 *     template-WORKLOAD-SCALE-HASH.db  and .json beside it
 *     pitot-build-PID-….db             a template being built   (leftover after a kill)
 *     pitot-run-PID-….db               a copy being measured    (leftover after a kill)
 *     kept-PID-….db                    a copy that --keep left; never touched again
 *     pitot-numbers-PID/               a folder of files         (leftover after a kill)
 *
 * The lock is held while anything of ours is made, used or cleaned in the folder, so every
 * pitot-* file found once it is held is a leftover and is removed.
 */
#ifndef PITOT_COORDINATOR_DATA_H
#define PITOT_COORDINATOR_DATA_H

#include "coordinator/progress.h"
#include "core/error.h"
#include "script/script.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data_folder {
    char *path;  /* absolute */
    int lock_fd; /* close-on-exec */
    bool made;   /* we made the folder; an empty one of ours is removed again on close */
};

/* Makes the folder if missing, takes the lock (waits and says for whom through progress->note;
 * a signal ends the wait), removes leftovers. */
int data_open(struct data_folder *folder, const char *path, const struct progress *progress,
              struct error *error);
void data_close(struct data_folder *folder);

/* Fails with ERROR_FULL when fewer than `needed` bytes are free, both numbers named. */
int data_need(const struct data_folder *folder, uint64_t needed, const char *what_for,
              struct error *error);

/* Writes a label that is safe in a file name: other bytes than letters, digits, '.', '_' and '-'
 * become '_', and one that was changed or was longer than `most` (>= 16) characters gets a hash
 * of the whole behind it, so that different labels stay different. out needs most + 1 bytes. */
void data_label(char *out, size_t most, const char *label);
/* New path of a copy or build: folder/pitot-KIND-PID-LABEL.db, kind "run" or "build" (label made
 * harmless). NULL: no memory. */
char *data_path(const struct data_folder *folder, const char *kind, const char *label);
/* Removes a database of ours with -wal, -shm, -log, -journal, -tshm and the like beside it. */
void data_remove_database(const char *path);

/* Makes the folder FOLDER/pitot-numbers-PID; *path is new (free()) also after an error. */
int data_own_folder(const struct data_folder *folder, char **path, struct error *error);
/* Removes such a folder with the files in it. Returns whether it is gone. */
bool data_remove_own_folder(const char *path);

struct template_key {
    const char *workload; /* suite name */
    const char *scale;
    uint64_t load_hash; /* suite.load_hash */
    uint32_t seed;
    const struct script_constant *variables; /* the scale's with the scenario's over them */
    size_t variable_count;
    const char *const *file_settings; /* "page_size=512", sorted by name */
    size_t file_setting_count;
};
/* Part of every identity: raised when the same inputs would give other bytes. */
#define TEMPLATE_FORMAT 1

struct template_file {
    char *path;
    char identity[17];
    uint64_t bytes;
    bool reused;
    double build_seconds;
    char *engine, *engine_version;
    /* row counts by table, as the load said */
    size_t table_count;
    char **tables;
    uint64_t *rows;
};

/* What building gives back. */
struct template_built {
    char *engine, *engine_version;
    size_t table_count;
    char **tables;
    uint64_t *rows;
};

/* Finds a whole template of that key (its .json agrees with key, size and format; otherwise it
 * is set aside and built anew, and said so) or builds it: build(context, path, built, error) makes
 * the database at path; it is fsynced, renamed, and its .json written last. `fresh` builds always.
 */
int template_prepare(struct data_folder *folder, const struct template_key *key,
                     uint64_t expected_bytes, bool fresh,
                     int (*build)(void *context, const char *path, struct template_built *built,
                                  struct error *error),
                     void *context, const struct progress *progress, struct template_file *out,
                     struct error *error);
void template_release(struct template_file *file);

#endif
