/* Printers of a result. They read it and compute nothing but units. */
#ifndef PITOT_REPORT_REPORT_H
#define PITOT_REPORT_REPORT_H

#include "base/buffer.h"
#include "result/result.h"

struct report_style {
    size_t width; /* columns of the window; no line is wider; at least 20; 0: 100 */
    bool colour;  /* escape sequences for colour allowed */
};

/* Appends the whole report. */
void report_table(const struct result *result, const struct report_style *style,
                  struct buffer *out);
/* RFC 4180, CR LF, header row, one row an engine, case, script and metric:
 * engine,version,case,role,script,metric,unit,median,min,max,note
 * `note` holds words: of a verdict, a status, a warning. A library of `pitot numbers` is an engine,
 * a group of lines a case, a side a role, a line a script. */
void report_csv(const struct result *result, struct buffer *out);
/* The table as GitHub's Markdown, for a comment below a change: what was compared first, what it
 * was measured on folded at the end. Nothing of a result is taken for markup. What is beyond the
 * 65,536 characters that a comment holds is left out, and that is said. */
void report_markdown(const struct result *result, struct buffer *out);

#endif
