#include "base/layout.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the longest run of whole characters that is at most `columns` wide. Combining
 * characters stay with the one before them, since they add no width. The width is summed character
 * by character, so that a long text costs no more than its length. */
static size_t fitting_bytes(const char *text, size_t length, size_t columns)
{
    size_t start = 0;
    size_t width = 0;
    while (start < length) {
        size_t end = start + 1;
        while (end < length && ((unsigned char)text[end] & 0xc0u) == 0x80u) {
            end++;
        }
        width += text_width(text + start, end - start);
        if (width > columns) {
            break;
        }
        start = end;
    }
    return start;
}

void layout_cut(struct buffer *out, const char *text, size_t columns)
{
    struct buffer printable;
    buffer_init(&printable);
    text_printable(&printable, text, strlen(text));
    if (printable.failed) {
        out->failed = true;
    } else if (text_width(printable.data, printable.length) <= columns) {
        buffer_append(out, printable.data, printable.length);
    } else if (columns > 0) {
        buffer_append(out, printable.data,
                      fitting_bytes(printable.data, printable.length, columns - 1));
        buffer_puts(out, "…");
    }
    buffer_release(&printable);
}

void layout_cut_middle(struct buffer *out, const char *text, size_t head, size_t columns)
{
    enum { END_MIN = 10 };
    struct buffer printable;
    buffer_init(&printable);
    text_printable(&printable, text, strlen(text));
    size_t before = text_width(printable.data, head < printable.length ? head : printable.length);
    if (printable.failed || head >= printable.length || columns < before + 1 + END_MIN ||
        text_width(printable.data, printable.length) <= columns) {
        out->failed = out->failed || printable.failed;
        layout_cut(out, text, columns);
    } else {
        const char *end = printable.data + head;
        while (*end != '\0' && text_width(end, strlen(end)) + before + 1 > columns) {
            do {
                end++;
            } while (((unsigned char)*end & 0xc0u) == 0x80u);
        }
        buffer_append(out, printable.data, head);
        buffer_puts(out, "…");
        buffer_puts(out, end);
    }
    buffer_release(&printable);
}

/* Bytes of the next line: up to the last space that fits, or all of the rest. */
static size_t line_bytes(const char *text, size_t length, size_t columns)
{
    size_t fits = fitting_bytes(text, length, columns);
    if (fits == length || text[fits] == ' ') {
        return fits;
    }
    for (size_t i = fits; i > 0; i--) {
        if (text[i - 1] == ' ') {
            return i - 1;
        }
    }
    return fits > 0 ? fits : 1;
}

static void wrap_paragraph(struct buffer *out, const char *text, size_t length, size_t indent,
                           size_t room)
{
    struct buffer printable;
    buffer_init(&printable);
    text_printable(&printable, text, length);
    const char *rest = printable.data;
    size_t left = printable.length;
    bool first = true;
    while (left > 0) {
        size_t bytes = line_bytes(rest, left, room);
        if (!first) {
            buffer_printf(out, "\n%*s", (int)indent, "");
        }
        first = false;
        buffer_append(out, rest, bytes);
        rest += bytes;
        left -= bytes;
        while (left > 0 && *rest == ' ') {
            rest++;
            left--;
        }
    }
    out->failed = out->failed || printable.failed;
    buffer_release(&printable);
}

void layout_wrap(struct buffer *out, const char *text, size_t indent, size_t columns)
{
    size_t room = columns < indent + 10 ? 10 : columns - indent;
    for (;;) {
        const char *end = strchr(text, '\n');
        wrap_paragraph(out, text, end != NULL ? (size_t)(end - text) : strlen(text), indent, room);
        if (end == NULL) {
            return;
        }
        buffer_printf(out, "\n%*s", (int)indent, "");
        text = end + 1;
    }
}
