#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_follower(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t text_character(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (length == 0) {
        return 0;
    }
    unsigned char lead = bytes[0];
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || length < size) {
        return 0;
    }
    uint32_t value = lead & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if (!is_follower(bytes[i])) {
            return 0;
        }
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    /* Overlong forms, surrogates, and what lies behind Unicode's end. */
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[size] || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) {
        return 0;
    }
    *code = value;
    return size;
}

static void put_escaped(struct buffer *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    const char escaped[4] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    buffer_append(out, escaped, sizeof escaped);
}

void text_escape(struct buffer *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        size_t size = text_character(bytes + i, length - i, &code);
        if (size == 0 || (code == '\\' && i + 1 < length && bytes[i + 1] == 'x')) {
            put_escaped(out, (unsigned char)bytes[i]);
            i++;
        } else {
            buffer_append(out, bytes + i, size);
            i += size;
        }
    }
}

/* Value of a lower-case hex digit, -1 for anything else. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void text_unescape(struct buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        int high = -1, low = -1;
        if (length - i >= 4 && text[i] == '\\' && text[i + 1] == 'x') {
            high = hex_value(text[i + 2]);
            low = hex_value(text[i + 3]);
        }
        if (high >= 0 && low >= 0) {
            buffer_putc(out, (char)(high * 16 + low));
            i += 4;
        } else {
            buffer_putc(out, text[i]);
            i++;
        }
    }
}

/* Longer words are no slips of the keyboard. */
enum { NEAREST_MAX = 64 };

/* Optimal string alignment: insertions, deletions, substitutions and swaps of
 * neighbours, each of cost 1. Both lengths at most NEAREST_MAX. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NEAREST_MAX + 1];
    size_t *before = rows[0], *previous = rows[1], *current = rows[2];
    for (size_t j = 0; j <= b_length; j++) {
        previous[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        current[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = previous[j - 1] + (a[i - 1] != b[j - 1]);
            best = previous[j] + 1 < best ? previous[j] + 1 : best;
            best = current[j - 1] + 1 < best ? current[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            current[j] = best;
        }
        size_t *oldest = before;
        before = previous;
        previous = current;
        current = oldest;
    }
    return previous[b_length];
}

const char *text_nearest(const char *word, const char *const *candidates)
{
    size_t length = strlen(word);
    if (length > NEAREST_MAX) {
        return NULL;
    }
    size_t limit = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    for (; *candidates != NULL; candidates++) {
        size_t candidate_length = strlen(*candidates);
        if (candidate_length > NEAREST_MAX) {
            continue;
        }
        size_t distance = edit_distance(word, length, *candidates, candidate_length);
        size_t shared = length < candidate_length ? length : candidate_length;
        if (distance <= limit && (distance == 0 || distance < shared)) {
            nearest = *candidates;
            limit = distance == 0 ? 0 : distance - 1;
            if (distance == 0) {
                break;
            }
        }
    }
    return nearest;
}

/* Control characters, and those that turn the direction of what follows: they could make a line
 * read as another. */
static bool is_unprintable(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void text_printable(struct buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        size_t size = text_character(text + i, length - i, &code);
        if (size == 0 || is_unprintable(code)) {
            buffer_putc(out, '?');
            i += size == 0 ? 1 : size;
        } else {
            buffer_append(out, text + i, size);
            i += size;
        }
    }
}

void text_one_line(struct buffer *out, const char *text)
{
    for (;;) {
        size_t length = strcspn(text, "\n");
        text_printable(out, text, length);
        if (text[length] == '\0') {
            return;
        }
        buffer_putc(out, ' ');
        text += length + 1;
    }
}
