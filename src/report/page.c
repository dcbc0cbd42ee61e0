#include "report/page.h"

#include "base/layout.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

/* In a window narrower than this a long lead stands on a line of its own. */
enum { PAIR_COLUMNS = 48, NARROW_COLUMNS = 40, NARROW_INDENT = 4 };

static const char *const tone_codes[] = {
    [TONE_PLAIN] = NULL,
    [TONE_BOLD] = "\x1b[1m",
    [TONE_WARNING] = "\x1b[33m",
    [TONE_FAILED] = "\x1b[31m",
};

/* ---- Markdown ---------------------------------------------------------------------------- */

void page_append_escaped(struct buffer *out, const char *text)
{
    struct buffer printable;
    buffer_init(&printable);
    text_printable(&printable, text, strlen(text));
    for (const char *c = printable.data; *c != '\0'; c++) {
        bool first = c == printable.data;
        if (*c == '<') {
            buffer_puts(out, "&lt;");
        } else if (*c == '&') {
            buffer_puts(out, "&amp;");
        } else if (*c == '@') {
            buffer_puts(out, "@<!-- -->"); /* a mention would call somebody */
        } else {
            if (strchr("\\`*_[]|#>~", *c) != NULL || (first && strchr("-+=", *c) != NULL)) {
                buffer_putc(out, '\\');
            }
            buffer_putc(out, *c);
        }
    }
    out->failed = out->failed || printable.failed;
    buffer_release(&printable);
}

/* The line before the end is an item of a list. */
static bool ends_with_item(const struct buffer *out)
{
    const char *end = out->data + out->length - (out->length > 0 ? 1 : 0);
    const char *line = end;
    while (line > out->data && line[-1] != '\n') {
        line--;
    }
    line += strspn(line, " ");
    return line < end && *line == '*' && line[1] == ' ';
}

static void put_item(struct buffer *out, const char *lead, const char *text)
{
    size_t blanks = strspn(lead, " ");
    size_t word = strcspn(lead + blanks, " !|");
    buffer_puts(out, ends_with_item(out) ? "" : "\n");
    buffer_puts(out, lead[blanks] == '|' ? "  * " : "* "); /* a line of a log belongs to an item */
    if (word > 0) {
        buffer_printf(out, "%.*s: ", (int)word, lead + blanks);
    }
    page_append_escaped(out, text);
    buffer_putc(out, '\n');
}

static void put_markdown(const struct page *page, enum tone tone, const char *lead,
                         const char *text)
{
    bool note = lead[0] == '~';
    bool bold = lead[0] == '\0' && tone != TONE_PLAIN;
    if (lead[0] != '\0' && !note) {
        put_item(page->out, lead, text);
        return;
    }
    buffer_puts(page->out, bold ? "\n**" : note ? "\n\\~ " : "\n");
    page_append_escaped(page->out, text);
    buffer_puts(page->out, bold ? "**\n" : "\n");
}

/* ---- lines --------------------------------------------------------------------------------- */

void page_tone_on(const struct page *page, enum tone tone)
{
    if (page->colour && tone_codes[tone] != NULL) {
        buffer_puts(page->out, tone_codes[tone]);
    }
}

void page_tone_off(const struct page *page, enum tone tone)
{
    if (page->colour && tone_codes[tone] != NULL) {
        buffer_puts(page->out, "\x1b[0m");
    }
}

void page_blank(const struct page *page)
{
    if (!page->markdown) { /* every part begins with one there */
        buffer_putc(page->out, '\n');
    }
}

void page_spaces(const struct page *page, size_t count)
{
    buffer_printf(page->out, "%*s", (int)count, "");
}

/* The text without the blanks at its end, and a line feed; nothing for blanks alone. */
static void put_trimmed_line(struct buffer *out, const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length > 0) {
        buffer_append(out, text, length);
        buffer_putc(out, '\n');
    }
}

void page_text(const struct page *page, enum tone tone, const char *lead, const char *format, ...)
{
    struct buffer text;
    va_list arguments;

    buffer_init(&text);
    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    page->out->failed = page->out->failed || text.failed;
    if (page->markdown) {
        put_markdown(page, tone, lead, text.data);
        buffer_release(&text);
        return;
    }
    page_tone_on(page, tone);
    size_t indent = strlen(lead);
    if (page->width < NARROW_COLUMNS && indent > NARROW_INDENT) {
        put_trimmed_line(page->out, lead);
        indent = NARROW_INDENT;
        page_spaces(page, indent);
    } else {
        buffer_puts(page->out, lead);
    }
    layout_wrap(page->out, text.data, indent, page->width);
    page_tone_off(page, tone);
    buffer_putc(page->out, '\n');
    buffer_release(&text);
}

void page_pair(const struct page *page, const char *label, const char *value, enum tone tone)
{
    size_t columns = page->width < PAIR_COLUMNS ? page->width : PAIR_COLUMNS;
    size_t label_width = text_width(label, strlen(label));
    size_t value_width = text_width(value, strlen(value));

    page_tone_on(page, tone);
    if (label_width + 2 + value_width <= columns) {
        layout_cut(page->out, label, columns);
        page_spaces(page, columns - label_width - value_width);
    } else {
        layout_cut(page->out, label, columns);
        buffer_putc(page->out, '\n');
        page_spaces(page, value_width < columns ? columns - value_width : 0);
    }
    layout_cut(page->out, value, columns);
    page_tone_off(page, tone);
    buffer_putc(page->out, '\n');
}
