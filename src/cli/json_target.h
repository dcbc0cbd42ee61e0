/* Where `--json` and `--html` send a result. */
#ifndef PITOT_CLI_JSON_TARGET_H
#define PITOT_CLI_JSON_TARGET_H

#include "core/error.h"
#include "result/result.h"

/* Finds out before anything is measured whether FILE of a flag ("--json") could be written: its
 * folder is tried with a file beside it, which is removed again; of a device or pipe, which is
 * written to as it is, the permission is asked. ERROR_INVALID: a folder, in one that is missing, or
 * "-", which callers that have a meaning for it handle before;
 * UNAVAILABLE, FULL, IO: it cannot be written. What is there is not touched. */
int json_target_check(const char *flag, const char *file, struct error *error);

/* Refuses two names of one file, whether it is there or not: what is written last would be all that
 * is left. `what` says what the other one is. Devices and pipes take both. ERROR_INVALID: they are
 * one file; UNAVAILABLE, MEMORY: it cannot be told. */
int json_target_differs(const char *flag, const char *file, const char *other, const char *what,
                        struct error *error);

/* Writes a result to standard output, in the form of result_write(). */
int json_target_print(const struct result *result, struct error *error);

#endif
