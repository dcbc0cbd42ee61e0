/* Text fitted into the columns of a window. Pure functions. */
#ifndef PITOT_BASE_LAYOUT_H
#define PITOT_BASE_LAYOUT_H

#include "base/buffer.h"

#include <stddef.h>

/* Appends the printable form of `text`, at most `columns` wide. What does not fit is replaced
 * by "…" at its end, never in the middle of a character. */
void layout_cut(struct buffer *out, const char *text, size_t columns);

/* As layout_cut, but keeps the first `head` bytes and the end, where paths differ:
 * "sqlite=…/new.so". Where not even ten columns are left for the end, it is cut like any text. */
void layout_cut_middle(struct buffer *out, const char *text, size_t head, size_t columns);

/* Appends the printable form of `text` in lines of at most `columns`, each but the first after a
 * line feed and `indent` spaces; the cursor is taken to stand at column `indent` already. Lines are
 * broken at spaces; a longer word at a character. A line feed in the text starts a new line. No
 * line feed at the end. `columns` is raised to at least `indent` + 10. */
void layout_wrap(struct buffer *out, const char *text, size_t indent, size_t columns);

#endif
