/* What is known of the terminal behind a descriptor. */
#ifndef PITOT_CLI_TERMINAL_H
#define PITOT_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Columns of the terminal's window now; 0 when it is no terminal or does not say. */
size_t terminal_window(int fd);

/* Columns to lay text out for: the window's, else $COLUMNS, else `otherwise`. */
size_t terminal_columns(int fd, size_t otherwise);

/* True when control sequences are understood: a terminal, and TERM is neither unset, empty
 * nor "dumb". */
bool terminal_understands(int fd);

/* True when colour is welcome: as above, and NO_COLOR is unset or empty. */
bool terminal_colour(int fd);

#endif
