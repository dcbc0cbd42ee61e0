/* Where `--json` and `--html` send a result. */
#ifndef PITOT_CLI_JSON_TARGET_H
#define PITOT_CLI_JSON_TARGET_H

#include "core/error.h"
#include "result/result.h"

/* Finds out before anything is measured whether FILE of a flag ("--json") could be written: its
 * folder is tried with a file beside it, which is removed again; of a device or pipe, which is
 * written to as it is, the permission is asked. ERROR_INVALID: a folder, or in one that is missing;
 * UNAVAILABLE, FULL, IO: it cannot be written. What is there is not touched. */
int json_target_check(const char *flag, const char *file, struct error *error);

/* Writes a result to standard output, in the form of result_write(). */
int json_target_print(const struct result *result, struct error *error);

#endif
