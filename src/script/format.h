/* The text that format() takes: literal parts, %d, %0Nd, %s, %x and %%. */
#ifndef PITOT_SCRIPT_FORMAT_H
#define PITOT_SCRIPT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Arguments behind the text. */
enum { FORMAT_ARGUMENTS_MAX = 16, FORMAT_WIDTH_MAX = 99 };

enum format_kind { FORMAT_LITERAL, FORMAT_DECIMAL, FORMAT_TEXT, FORMAT_HEX, FORMAT_WRONG };

struct format_piece {
    enum format_kind kind;
    const char *bytes; /* LITERAL: what to copy; WRONG: the directive */
    uint32_t length;
    uint32_t width; /* DECIMAL: digits and sign at least, zeros in front; 0: as many as needed */
};

/* Takes the next piece from *at; false at the end. */
bool format_next(const char **at, const char *end, struct format_piece *piece);

/* Bytes of an integer written by format_integer() at most. */
enum { FORMAT_INTEGER_SIZE = FORMAT_WIDTH_MAX + 1 };

/* Writes an integer of the language as %d, %0Nd or %x say; returns the length.
 * A negative number is '-' and its magnitude, in %x too; the sign counts in the width. */
uint32_t format_integer(char *out, const struct format_piece *piece, int64_t value);

#endif
