/* What tables of all cases of a command, a line a case and engine, have in common. */
#include "base/units.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAME_MAX_COLUMNS = 28 };

static bool is(const char *status, const char *expected)
{
    return status != NULL && strcmp(status, expected) == 0;
}

void cases_append_label(struct buffer *out, const struct result *result, size_t engine, size_t of)
{
    const struct result_summary *summary = &result->engines.items[engine].summaries.items[of];
    report_engine_label(out, result, engine, NAME_MAX_COLUMNS);
    if (is(summary->status, "ok")) {
        return;
    }
    if (is(summary->status, "partial") && summary->rounds_ok > 0) {
        buffer_printf(out, " (%" PRIu64 " of %" PRIu64 " rounds)", summary->rounds_ok,
                      result->plan.rounds);
    } else {
        buffer_printf(out, " (%s)", summary->status != NULL ? summary->status : "failed");
    }
}

enum tone cases_tone(const struct result_summary *summary)
{
    return is(summary->status, "ok")        ? TONE_PLAIN
           : is(summary->status, "partial") ? TONE_WARNING
                                            : TONE_FAILED;
}

bool report_point(char *out, const struct result_script_summary *script, enum result_point point)
{
    double ns = script->points_ns[point].median;
    bool thin = script->point_thin[point] && isfinite(ns);
    out[0] = '~';
    units_print_ns(out + (thin ? 1 : 0), ns);
    return thin;
}

static size_t most_rounds(const struct result *result)
{
    size_t most = 0;
    for (size_t of = 0; of < result->cases.count; of++) {
        size_t rounds = report_rounds(result, of);
        most = rounds > most ? rounds : most;
    }
    return most;
}

void cases_print_rounds(const struct page *page, const struct result *result)
{
    size_t rounds = most_rounds(result);
    page_blank(page);
    if (rounds > 1) {
        page_text(page, TONE_BOLD, "",
                  "Median of %zu rounds; spread of ops/s is (max − min) / median", rounds);
    } else if (rounds == 1) {
        page_text(page, TONE_BOLD, "", "One run: no difference is claimed");
    } else {
        page_text(page, TONE_BOLD, "", "No run ended well: nothing was measured");
    }
}

void report_thin_note(const struct page *page)
{
    page_text(page, TONE_PLAIN, "~ ",
              "fewer than 10 samples above this percentile in a round: not reliable");
}
