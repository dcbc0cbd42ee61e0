/*
 * What the exit status of pitot means:
 *
 *     0    done
 *     1    an engine failed, differed or was cut short, the others were measured; or a row is
 * slower by more than compare's --threshold 2    a mistake in the usage, or in a name, script,
 * manifest or file given 3    it cannot run here, or no engine was left 130  ended by SIGINT, 143
 * by SIGTERM: what was measured until then was shown
 *
 * Pure functions: the signal is passed in.
 */
#ifndef PITOT_CLI_EXIT_STATUS_H
#define PITOT_CLI_EXIT_STATUS_H

#include "result/result.h"

enum exit_status {
    STATUS_DONE = 0,
    STATUS_ENGINE = 1,
    STATUS_USAGE = 2,
    STATUS_UNABLE = 3,
};

/* Status for an error that ended a command. `signal` is the one that came, 0: none. */
int exit_status_of_error(enum error_code code, int signal);

/* The same for reading a file or folder that the user named: one that is missing or broken
 * is the user's mistake, one that may not be read is not. */
int exit_status_of_input_error(enum error_code code, int signal);

/* Status after a measurement that ran to its end, or was ended by `signal`. */
int exit_status_of_result(const struct result *result, int signal);

#endif
