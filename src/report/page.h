/* Lines of a report: wrapped to the window and coloured if allowed, or the same as Markdown.
 * Internal to the layer. */
#ifndef PITOT_REPORT_PAGE_H
#define PITOT_REPORT_PAGE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Colour is sparing: headings, what must be read, what failed. Nothing is coloured as the better
 * one, since that would be a verdict. */
enum tone { TONE_PLAIN, TONE_BOLD, TONE_WARNING, TONE_FAILED };

struct page {
    struct buffer *out;
    size_t width;  /* 20 or more; of Markdown SIZE_MAX, since whoever shows it breaks its lines */
    bool colour;   /* never of Markdown */
    bool markdown; /* GitHub's */
};

void page_tone_on(const struct page *page, enum tone tone);
void page_tone_off(const struct page *page, enum tone tone);
void page_blank(const struct page *page);
void page_spaces(const struct page *page, size_t count);

/* One paragraph and a line feed, wrapped; `lead` starts the first line, and later lines are
 * indented by its width (at most 10 columns, printable ASCII). Text from outside may be in it: it
 * is made printable.
 * In Markdown a paragraph without a lead, bold unless its tone is plain, or with "~ " before it;
 * with any other lead an item of a list, "* Load: …". */
void page_text(const struct page *page, enum tone tone, const char *lead, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "label      value" with the value at the right of a window of at most 48 columns; the value
 * takes a line of its own where both do not fit. */
void page_pair(const struct page *page, const char *label, const char *value, enum tone tone);

/* Appends text as text: what Markdown or HTML would take for its own is escaped, and no name in it
 * calls anybody. */
void page_append_escaped(struct buffer *out, const char *text);

#endif
