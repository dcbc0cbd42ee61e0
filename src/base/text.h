/* Small text rules that everything shares. */
#ifndef PITOT_BASE_TEXT_H
#define PITOT_BASE_TEXT_H

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* The UTF-8 character at the start of text: its code point and its size in bytes;
 * 0 when there is none (no bytes, or no valid sequence). */
size_t text_character(const char *text, size_t length, uint32_t *code);

/* Appends bytes as UTF-8: bytes that are no part of a valid sequence become \xNN
 * (two lower-case hex digits), and a backslash followed by 'x' becomes \x5c, so
 * that the rule can be undone. The one rule for JSON strings. */
void text_escape(struct buffer *out, const char *bytes, size_t length);
/* The reverse; bytes are exactly what text_escape was given. */
void text_unescape(struct buffer *out, const char *text, size_t length);

/* The candidate nearest to `word` (Damerau-Levenshtein, at most a third of its
 * length, at least 1), the first of equals, or NULL. Words that share nothing are
 * not near. `candidates` ends with NULL. */
const char *text_nearest(const char *word, const char *const *candidates);

/* Columns that a terminal uses for UTF-8 text (combining 0, East Asian wide 2),
 * independent of the locale; what text_printable() shows as '?' counts 1. */
size_t text_width(const char *text, size_t length);
/* Appends text for a terminal or a log: control characters (escape byte, DEL, C1), those that turn
 * the direction of writing, and invalid bytes become '?'. */
void text_printable(struct buffer *out, const char *text, size_t length);
/* The same of a text that may have several lines, in one: a blank for each line feed. */
void text_one_line(struct buffer *out, const char *text);

#endif
