/* The report as Markdown, for a comment below a change: what was compared first, the figures of
 * every case below, and what must be known to read them. */
#include "base/text.h"
#include "base/units.h"
#include "report/parts.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Text of a result as text: what Markdown or HTML would take for its own is escaped, a line end
 * is a blank. */
static void put_text(struct buffer *out, const char *text)
{
    struct buffer escaped;
    buffer_init(&escaped);
    text_escape(&escaped, text, strlen(text));
    for (const char *c = escaped.failed ? "" : escaped.data; *c != '\0'; c++) {
        if (*c == '<') {
            buffer_puts(out, "&lt;");
        } else if (*c == '&') {
            buffer_puts(out, "&amp;");
        } else if ((unsigned char)*c < ' ') {
            buffer_putc(out, ' ');
        } else {
            if (strchr("\\`*_[]|#>~", *c) != NULL) {
                buffer_putc(out, '\\');
            }
            buffer_putc(out, *c);
        }
    }
    out->failed = out->failed || escaped.failed;
    buffer_release(&escaped);
}

static void put_cell(struct buffer *out, const char *text)
{
    buffer_puts(out, " ");
    put_text(out, text);
    buffer_puts(out, " |");
}

static void put_ratio(struct buffer *out, double ratio)
{
    if (isfinite(ratio)) {
        buffer_printf(out, "%.3f", ratio);
    } else {
        buffer_puts(out, "–");
    }
}

static void put_ns(struct buffer *out, double ns)
{
    char text[UNITS_TEXT_SIZE];
    units_print_ns(text, ns);
    put_cell(out, text);
}

/* ---- what was compared ----------------------------------------------------------------- */

static void put_measured(struct buffer *out, const struct result_comparison_table *table,
                         double value)
{
    char text[UNITS_TEXT_SIZE];
    if (table->unit != NULL && strcmp(table->unit, "ns") == 0) {
        units_print_ns(text, value);
    } else {
        units_print_count(text, value);
    }
    put_cell(out, text);
}

static void put_row_name(struct buffer *out, const struct result *result,
                         const struct result_comparison_row *row)
{
    const char *label =
        row->case_index < result->cases.count ? result->cases.items[row->case_index].label : "–";
    const char *part = row->script != NULL ? row->script : row->role;
    buffer_puts(out, "| ");
    put_text(out, label);
    if (part != NULL && strcmp(part, label) != 0) {
        buffer_puts(out, ", ");
        put_text(out, part);
    }
    buffer_puts(out, " |");
}

static void put_verdict(struct buffer *out, const char *verdict, const char *note)
{
    buffer_putc(out, ' ');
    if (verdict != NULL) {
        bool sure = strcmp(verdict, "faster") == 0 || strcmp(verdict, "slower") == 0;
        buffer_puts(out, sure ? "**" : "");
        put_text(out, verdict);
        buffer_puts(out, sure ? "**" : "");
    }
    if (note != NULL) {
        buffer_puts(out, verdict != NULL ? ": " : "");
        put_text(out, note);
    }
    buffer_puts(out, " |\n");
}

/* " 0.924 | 0.881 to 0.967 |" */
static void put_ratios(struct buffer *out, double ratio, double low, double high)
{
    buffer_putc(out, ' ');
    put_ratio(out, ratio);
    buffer_puts(out, " | ");
    put_ratio(out, low);
    buffer_puts(out, " to ");
    put_ratio(out, high);
    buffer_puts(out, " |");
}

static void put_table(struct buffer *out, const struct result *result,
                      const struct result_comparison_table *table)
{
    char floor[UNITS_TEXT_SIZE];
    buffer_puts(out, "\n### ");
    put_text(out, table->suite);
    buffer_puts(out, ": ");
    put_text(out, table->metric);
    buffer_puts(out, "\n\n| | engine | median | spread | ratio | interval | |\n"
                     "| --- | --- | ---: | ---: | ---: | ---: | --- |\n");
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_comparison_row *row = &table->rows.items[i];
        for (size_t k = 0; k < row->cells.count; k++) {
            const struct result_comparison_cell *cell = &row->cells.items[k];
            char spread[UNITS_TEXT_SIZE];
            put_row_name(out, result, row);
            put_cell(out, cell->engine);
            put_measured(out, table, cell->median);
            report_share(spread, cell->spread);
            put_cell(out, spread);
            put_ratios(out, cell->ratio, cell->ratio_low, cell->ratio_high);
            put_verdict(out, cell->verdict, cell->note);
        }
    }
    for (size_t i = 0; i < table->geometric_means.count; i++) {
        const struct result_comparison_mean *mean = &table->geometric_means.items[i];
        buffer_puts(out, i == 0 ? "\nGeometric mean of the ratios: " : ", ");
        put_text(out, mean->engine);
        buffer_putc(out, ' ');
        put_ratio(out, mean->ratio);
        buffer_puts(out, " (");
        put_ratio(out, mean->ratio_low);
        buffer_puts(out, " to ");
        put_ratio(out, mean->ratio_high);
        buffer_putc(out, ')');
    }
    report_share(floor, table->floor);
    buffer_printf(out, "%sNoise floor: %s.\n", table->geometric_means.count > 0 ? ". " : "\n",
                  floor);
}

/* Ratios now through those of an older result, and whether any row is slower. */
static void put_against(struct buffer *out, const struct result_comparison *comparison)
{
    const struct result_against *against = &comparison->against;
    for (size_t i = 0; i < against->tables.count; i++) {
        const struct result_against_table *table = &against->tables.items[i];
        buffer_puts(out, "\n### Against ");
        put_text(out, against->file);
        buffer_puts(out, ", ");
        put_text(out, table->suite);
        buffer_puts(out, ": ");
        put_text(out, table->metric);
        buffer_puts(out, "\n\n| | engine | ratio | interval | |\n"
                         "| --- | --- | ---: | ---: | --- |\n");
        for (size_t k = 0; k < table->rows.count; k++) {
            const struct result_against_row *row = &table->rows.items[k];
            buffer_putc(out, '|');
            put_cell(out, row->row);
            put_cell(out, row->engine);
            put_ratios(out, row->ratio, row->ratio_low, row->ratio_high);
            put_verdict(out, row->verdict, row->note);
        }
    }
    if (comparison->slower != RESULT_ABSENT) {
        buffer_printf(out, "\n**Rows that are shown to be slower: %" PRIu64 "**\n",
                      comparison->slower);
    }
}

/* ---- figures of every case ------------------------------------------------------------- */

static void put_engine(struct buffer *out, const struct result *result, size_t engine, size_t of)
{
    const struct result_engine *item = &result->engines.items[engine];
    if (item->summaries.count != result->cases.count) {
        return;
    }
    const struct result_summary *summary = &item->summaries.items[of];
    char text[UNITS_TEXT_SIZE];
    buffer_putc(out, '|');
    put_cell(out, item->name);
    units_print_count(text, summary->operations_per_second.median);
    put_cell(out, text);
    report_spread(text, &summary->operations_per_second, report_engine_rounds(result, engine, of));
    put_cell(out, text);
    put_ns(out, summary->cpu_per_operation_ns.median);
    buffer_printf(out, " %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |",
                  summary->rounds_ok, summary->busy, summary->conflict, summary->failed);
    buffer_puts(out, "\n");
}

static const struct result_script_summary *script_of(const struct result *result, size_t engine,
                                                     size_t of,
                                                     const struct result_script_summary *like)
{
    const struct result_engine *item = &result->engines.items[engine];
    if (item->summaries.count != result->cases.count) {
        return NULL;
    }
    const struct result_summary *summary = &item->summaries.items[of];
    for (size_t i = 0; i < summary->scripts.count; i++) {
        const struct result_script_summary *script = &summary->scripts.items[i];
        if (strcmp(script->role, like->role) == 0 && strcmp(script->script, like->script) == 0) {
            return script;
        }
    }
    return NULL;
}

static void put_latency(struct buffer *out, const char *engine,
                        const struct result_script_summary *script)
{
    static const enum result_point points[] = {RESULT_POINT_p50, RESULT_POINT_p95, RESULT_POINT_p99,
                                               RESULT_POINT_p99_9};
    buffer_putc(out, '|');
    put_cell(out, script->script);
    put_cell(out, engine);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char text[UNITS_TEXT_SIZE];
        units_print_ns(text, script->points_ns[points[i]].median);
        buffer_printf(out, " %s%s |", script->point_thin[points[i]] ? "\\~" : "", text);
    }
    buffer_putc(out, '\n');
}

/* Script after script, its engines one below the other. A script stands where the first engine
 * that ran it has it. */
static void put_latencies(struct buffer *out, const struct result *result, size_t of)
{
    for (size_t first = 0; first < result->engines.count; first++) {
        const struct result_engine *engine = &result->engines.items[first];
        if (engine->summaries.count != result->cases.count) {
            continue;
        }
        const struct result_summary *summary = &engine->summaries.items[of];
        for (size_t i = 0; i < summary->scripts.count; i++) {
            const struct result_script_summary *script = &summary->scripts.items[i];
            bool shown = false;
            for (size_t k = 0; k < first && !shown; k++) {
                shown = script_of(result, k, of, script) != NULL;
            }
            for (size_t k = first; k < result->engines.count && !shown; k++) {
                const struct result_script_summary *same = script_of(result, k, of, script);
                if (same != NULL) {
                    put_latency(out, result->engines.items[k].name, same);
                }
            }
        }
    }
}

static void put_case(struct buffer *out, const struct result *result, size_t of)
{
    buffer_puts(out, "\n### ");
    put_text(out, result->cases.items[of].label);
    buffer_printf(out,
                  "\n\nMedian of %zu rounds; spread is (max − min) / median.\n\n"
                  "| engine | operations/s | spread | CPU an operation | rounds | busy | "
                  "conflict | failed |\n"
                  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
                  report_rounds(result, of));
    for (size_t i = 0; i < result->engines.count; i++) {
        put_engine(out, result, i, of);
    }
    buffer_puts(out, "\n| script | engine | p50 | p95 | p99 | p99.9 |\n"
                     "| --- | --- | ---: | ---: | ---: | ---: |\n");
    put_latencies(out, result, of);
    buffer_puts(out, "\n\\~ fewer than 10 samples above this percentile in a round: not reliable.");
    buffer_puts(out, report_is_open_loop(result, of)
                         ? "\n"
                         : " Closed loop: at different throughput, tails are not comparable.\n");
}

/* ---- what must be known ---------------------------------------------------------------- */

static void put_item(struct buffer *out, const char *subject, const char *lead, const char *text)
{
    buffer_puts(out, "* ");
    if (subject != NULL) {
        buffer_puts(out, "**");
        put_text(out, subject);
        buffer_puts(out, "**: ");
    }
    buffer_puts(out, lead);
    put_text(out, text);
    buffer_putc(out, '\n');
}

static void put_warnings(struct buffer *out, const struct result *result)
{
    buffer_putc(out, '\n');
    if (result->partial) {
        put_item(out, NULL, "", "ended early: this is what was measured until then");
    }
    if (result->build != NULL && strcmp(result->build, "release") != 0) {
        put_item(out, NULL,
                 "these numbers mean nothing: pitot is a build of another kind than "
                 "release: ",
                 result->build);
    }
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        if (engine->status == NULL || strcmp(engine->status, "ok") != 0) {
            put_item(out, engine->name, engine->status != NULL ? engine->status : "failed",
                     engine->error != NULL ? engine->error : "");
        }
        for (size_t k = 0; k < engine->known_faults.count; k++) {
            put_item(out, engine->name, "known fault: ", engine->known_faults.items[k]);
        }
    }
    for (size_t i = 0; i < result->warnings.count; i++) {
        put_item(out, result->warnings.items[i].subject, "", result->warnings.items[i].text);
    }
}

/* Answers, settings and journal of `pitot verify`, or of the check before a run. */
static void put_verified(struct buffer *out, const struct result *result)
{
    bool any = false;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_verify *verify = &result->engines.items[i].verify;
        if (verify->status == NULL) {
            continue;
        }
        buffer_puts(out, any ? "|" : "\n| engine | answers, settings, journal |\n| --- | --- |\n|");
        any = true;
        put_cell(out, result->engines.items[i].name);
        put_cell(out, verify->status);
        buffer_putc(out, '\n');
    }
}

static void put_head(struct buffer *out, const struct result *result)
{
    buffer_puts(out, "## pitot ");
    put_text(out, result->command != NULL ? result->command : "");
    buffer_puts(out, "\n\n");
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        buffer_puts(out, i > 0 ? ", " : "");
        put_text(out, engine->name != NULL ? engine->name : "–");
        if (engine->version != NULL) {
            buffer_putc(out, ' ');
            put_text(out, engine->version);
        }
    }
    buffer_puts(out, "; ");
    put_text(out, result->host.cpu_model != NULL ? result->host.cpu_model : "unknown CPU");
    buffer_printf(out, ", %" PRIu64 " cores; ", result->host.cores);
    put_text(out, result->started != NULL ? result->started : "");
    buffer_putc(out, '\n');
}

void report_markdown(const struct result *result, struct buffer *out)
{
    put_head(out, result);
    put_warnings(out, result);
    put_verified(out, result);
    for (size_t i = 0; i < result->comparison.tables.count; i++) {
        put_table(out, result, &result->comparison.tables.items[i]);
    }
    put_against(out, &result->comparison);
    for (size_t of = 0; of < result->cases.count; of++) {
        put_case(out, result, of);
    }
}
