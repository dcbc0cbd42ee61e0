/* A value as the literal that SQL knows it by: for people who compare two answers. */
#ifndef PITOT_BASE_LITERAL_H
#define PITOT_BASE_LITERAL_H

#include "base/buffer.h"
#include "base/value.h"

/* Appends NULL, 17, 2.5, 'it''s' or x'00ff'. A double has a point or an exponent and as many digits
 * as give it back; infinity is 9e999, a NaN is NaN (SQL has no literal for it). A text that holds a
 * NUL byte is CAST(x'…' AS TEXT), as literals end there. Other bytes of a text stand as they are,
 * whether they are UTF-8 or not. Wants the "C" locale. */
void literal_append(struct buffer *out, const struct value *value);

#endif
