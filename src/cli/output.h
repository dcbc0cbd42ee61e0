/*
 * The only way to standard output and standard error.
 *
 * Everything on standard output goes through output_write(), which notices a failure: a full
 * disk must not look like a whole table. A reader that went away (`| head`) is no failure: the
 * rest is thrown away and the status tells of the work alone. One thread.
 */
#ifndef PITOT_CLI_OUTPUT_H
#define PITOT_CLI_OUTPUT_H

#include "base/buffer.h"
#include "core/error.h"

/* Call first: ignores SIGPIPE, and occupies descriptors 0, 1 and 2 if the caller closed
 * them, so that no database file can get their number. */
int output_init(struct error *error);

/* Fails now if standard output was closed by the caller, before long work is done for it. */
int output_check(struct error *error);

/* Writes all bytes, or the buffer (ERROR_MEMORY if it has failed). */
int output_write(const char *bytes, size_t length, struct error *error);
int output_buffer(const struct buffer *buffer, struct error *error);

/* One line "pitot COMMAND: MESSAGE" on standard error (COMMAND may be NULL). Line feeds
 * become spaces, control characters '?'. */
void output_complain(const char *command, const char *message);

/* Writes to any descriptor without a report: for standard error, where there is nobody left to
 * be told. */
void output_raw(int fd, const char *bytes, size_t length);

#endif
