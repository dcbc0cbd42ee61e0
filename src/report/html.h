/*
 * The report as one page of HTML that needs nothing beside itself. The page is bundled from
 * report-page/ at build; this side only puts results into it.
 */
#ifndef PITOT_REPORT_HTML_H
#define PITOT_REPORT_HTML_H

#include "base/buffer.h"
#include "core/error.h"
#include "result/result.h"

struct report_source {
    const char *label; /* the name of its file, as the page shows it */
    const struct result *result;
};

/* Whether this build has the page, and how to get it where it has not. */
bool report_html_ready(void);
#define REPORT_HTML_MISSING                                                                        \
    "this pitot was built without the report page, which needs Node and npm at build: install "    \
    "them (Debian: apt-get install nodejs npm), then make build or make install again"

/* Appends the page with the results, first to last beside each other. UNAVAILABLE: this build has
 * no page; ERROR_MEMORY. */
int report_html(const struct report_source *sources, size_t count, struct buffer *out,
                struct error *error);

#endif
