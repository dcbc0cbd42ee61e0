#include "script/format.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* *at stands behind the percent sign. */
static void directive(const char **at, const char *end, struct format_piece *piece)
{
    const char *begin = *at - 1;
    *piece = (struct format_piece){.kind = FORMAT_WRONG, .bytes = begin};
    const char *c = *at;
    bool padded = c < end && *c == '0';
    if (padded) {
        for (c++; c < end && is_digit(*c) && piece->width <= FORMAT_WIDTH_MAX; c++) {
            piece->width = piece->width * 10 + (uint32_t)(*c - '0');
        }
    }
    bool width_fits = !padded || (piece->width >= 1 && piece->width <= FORMAT_WIDTH_MAX);
    if (c < end && width_fits) {
        if (*c == 'd') {
            piece->kind = FORMAT_DECIMAL;
        } else if (*c == 's' && !padded) {
            piece->kind = FORMAT_TEXT;
        } else if (*c == 'x' && !padded) {
            piece->kind = FORMAT_HEX;
        } else if (*c == '%' && !padded) {
            piece->kind = FORMAT_LITERAL;
        }
    }
    *at = c < end ? c + 1 : end;
    piece->length = piece->kind == FORMAT_LITERAL ? 1 : (uint32_t)(*at - begin);
}

bool format_next(const char **at, const char *end, struct format_piece *piece)
{
    if (*at == end) {
        return false;
    }
    if (**at == '%') {
        (*at)++;
        directive(at, end, piece);
        return true;
    }
    const char *percent = memchr(*at, '%', (size_t)(end - *at));
    const char *stop = percent == NULL ? end : percent;
    *piece = (struct format_piece){
        .kind = FORMAT_LITERAL, .bytes = *at, .length = (uint32_t)(stop - *at)};
    *at = stop;
    return true;
}

uint32_t format_integer(char *out, const struct format_piece *piece, int64_t value)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char reversed[FORMAT_INTEGER_SIZE];
    uint32_t digits = 0;
    if (piece->kind == FORMAT_HEX) {
        do {
            reversed[digits++] = "0123456789abcdef"[magnitude & 15];
            magnitude >>= 4;
        } while (magnitude != 0);
    } else {
        do {
            reversed[digits++] = (char)('0' + magnitude % 10);
            magnitude /= 10;
        } while (magnitude != 0);
    }
    uint32_t length = 0;
    if (value < 0) {
        out[length++] = '-';
    }
    for (uint32_t zeros = length + digits; zeros < piece->width; zeros++) {
        out[length++] = '0';
    }
    while (digits > 0) {
        out[length++] = reversed[--digits];
    }
    return length;
}
