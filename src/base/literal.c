#include "base/literal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append_real(struct buffer *out, double real)
{
    if (isnan(real)) {
        buffer_puts(out, "NaN");
        return;
    }
    if (isinf(real)) {
        buffer_puts(out, real < 0 ? "-9e999" : "9e999");
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, real);
        if (strtod(text, NULL) == real) {
            break;
        }
    }
    buffer_puts(out, text);
    if (strpbrk(text, ".e") == NULL) {
        buffer_puts(out, ".0");
    }
}

static void append_blob(struct buffer *out, const char *bytes, uint32_t length)
{
    static const char digits[] = "0123456789abcdef";
    buffer_puts(out, "x'");
    for (uint32_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        buffer_putc(out, digits[byte >> 4]);
        buffer_putc(out, digits[byte & 15]);
    }
    buffer_putc(out, '\'');
}

static void append_text(struct buffer *out, const char *bytes, uint32_t length)
{
    if (memchr(bytes, '\0', length) != NULL) {
        buffer_puts(out, "CAST(");
        append_blob(out, bytes, length);
        buffer_puts(out, " AS TEXT)");
        return;
    }
    buffer_putc(out, '\'');
    for (uint32_t i = 0; i < length; i++) {
        if (bytes[i] == '\'') {
            buffer_putc(out, '\'');
        }
        buffer_putc(out, bytes[i]);
    }
    buffer_putc(out, '\'');
}

void literal_append(struct buffer *out, const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL:
        buffer_puts(out, "NULL");
        break;
    case VALUE_INTEGER:
        buffer_printf(out, "%" PRId64, value->integer);
        break;
    case VALUE_DOUBLE:
        append_real(out, value->real);
        break;
    case VALUE_TEXT:
        append_text(out, value->bytes, value->length);
        break;
    case VALUE_BLOB:
        append_blob(out, value->bytes, value->length);
        break;
    }
}
