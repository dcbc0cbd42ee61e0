/* What the files of a suite's reading share. */
#ifndef PITOT_SCRIPT_SUITE_INTERNAL_H
#define PITOT_SCRIPT_SUITE_INTERNAL_H

#include "base/buffer.h"
#include "script/suite.h"

/* Where a suite's files come from: a folder, or what was embedded at build. */
struct suite_files {
    const char *folder;  /* NULL: embedded */
    const char *builtin; /* name of the embedded suite */
};

/* "folder/name", as messages show it; free(). NULL: no memory. */
char *suite_files_path(const struct suite_files *files, const char *name);
/* Reads one file; a missing one is ERROR_INVALID. */
int suite_files_read(const struct suite_files *files, const char *name, struct buffer *out,
                     struct error *error);
/* The names that end in .sql, sorted; each and the array are the caller's. */
int suite_files_list(const struct suite_files *files, char ***names, size_t *count,
                     struct error *error);

/* A suite.json that is read into suite->… (everything but files and hashes). `file`
 * names it in messages. */
int suite_json_read(struct suite *suite, const char *file, const char *bytes, size_t length,
                    struct error *error);

#endif
