#include "base/layout.h"
#include "base/units.h"
#include "report/parts.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 20 };

size_t report_rounds_with(const struct result_engine *engine, size_t of, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const char *found = engine->runs.items[i].status;
        count +=
            engine->runs.items[i].case_index == of && found != NULL && strcmp(found, status) == 0;
    }
    return count;
}

size_t report_engine_rounds(const struct result *result, size_t engine, size_t of)
{
    const struct result_engine *item = &result->engines.items[engine];
    size_t ok = report_rounds_with(item, of, "ok");
    return ok > 0 ? ok : report_rounds_with(item, of, "partial");
}

size_t report_rounds(const struct result *result, size_t of)
{
    size_t most = 0;
    for (size_t i = 0; i < result->engines.count; i++) {
        size_t used = report_engine_rounds(result, i, of);
        most = used > most ? used : most;
    }
    return most;
}

bool report_is_open_loop(const struct result *result, size_t of)
{
    return isfinite(result->cases.items[of].rate);
}

void report_share(char *out, double share)
{
    if (!isfinite(share) || share < 0) {
        snprintf(out, UNITS_TEXT_SIZE, "–");
    } else if (share < 10) {
        unsigned tenths = (unsigned)(share * 1000 + 0.5);
        snprintf(out, UNITS_TEXT_SIZE, "%u.%u %%", tenths / 10, tenths % 10);
    } else {
        snprintf(out, UNITS_TEXT_SIZE, "> 999 %%");
    }
}

void report_spread(char *out, const struct result_figure *figure, size_t rounds)
{
    double spread = (figure->max - figure->min) / figure->median;
    report_share(out, rounds > 1 ? spread : (double)NAN);
}

/* A name in `columns`; of a path the end tells more than the beginning. */
static void append_name(struct buffer *out, const struct result *result, size_t engine,
                        size_t columns)
{
    const char *name = result->engines.items[engine].name;
    name = name == NULL ? "–" : name;
    const char *path = strstr(name, "=/");
    if (path != NULL) {
        layout_cut_middle(out, name, (size_t)(path + 1 - name), columns);
    } else {
        layout_cut(out, name, columns);
    }
}

static void cut_name(struct buffer *out, const struct result *result, size_t engine, size_t columns)
{
    buffer_init(out);
    append_name(out, result, engine, columns);
}

void report_engine_label(struct buffer *out, const struct result *result, size_t engine,
                         size_t columns)
{
    struct buffer mine;
    bool same = false;
    cut_name(&mine, result, engine, columns);
    for (size_t i = 0; i < result->engines.count && !same; i++) {
        struct buffer other;
        cut_name(&other, result, i, columns);
        same = i != engine && strcmp(other.data, mine.data) == 0;
        buffer_release(&other);
    }
    if (same) {
        struct buffer number;
        buffer_init(&number);
        buffer_printf(&number, "#%zu ", engine + 1);
        buffer_puts(out, number.data);
        buffer_clear(&mine);
        append_name(&mine, result, engine, columns > number.length ? columns - number.length : 0);
        buffer_release(&number);
    }
    buffer_append(out, mine.data, mine.length);
    out->failed = out->failed || mine.failed;
    buffer_release(&mine);
}

/* Summaries are there for every engine, or for none when nothing was to be timed. */
static bool has_figures(const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        if (result->engines.items[i].summaries.count != result->cases.count) {
            return false;
        }
    }
    return result->engines.count > 0;
}

static void print_case(const struct page *page, const struct result *result, size_t of)
{
    if (result->cases.count > 1) {
        struct buffer load;
        buffer_init(&load);
        case_append_load(&load, result, of);
        page_blank(page);
        page_text(page, TONE_BOLD, "", "%s", result->cases.items[of].label);
        page_text(page, TONE_PLAIN, "", "%s", load.data);
        buffer_release(&load);
    }
    figures_print(page, result, of);
    latency_print(page, result, of);
}

static bool is_command(const struct result *result, const char *name)
{
    return result->command != NULL && strcmp(result->command, name) == 0;
}

void report_print_head(const struct page *page, const struct result *result)
{
    if (is_command(result, "verify")) {
        head_print_verify(page, result);
    } else if (is_command(result, "numbers")) {
        head_print_numbers(page, result);
    } else {
        head_print(page, result);
    }
}

void report_print_figures(const struct page *page, const struct result *result)
{
    if (is_command(result, "verify")) {
        verify_print(page, result);
    } else if (has_figures(result) && is_command(result, "bench")) {
        bench_print(page, result);
    } else if (has_figures(result) && is_command(result, "concurrent")) {
        concurrent_print(page, result);
    } else if (has_figures(result) && !is_command(result, "compare")) {
        for (size_t of = 0; of < result->cases.count; of++) {
            print_case(page, result, of);
        }
    }
    numbers_print(page, result);
}

static void print_table(const struct result *result, const struct report_style *style,
                        struct buffer *out)
{
    size_t width = style->width == 0 ? WIDTH_DEFAULT : style->width;
    const struct page page = {
        .out = out,
        .width = width < WIDTH_MIN ? WIDTH_MIN : width,
        .colour = style->colour,
    };
    report_print_head(&page, result);
    size_t warnings = warnings_print(&page, result);
    report_print_figures(&page, result);
    comparison_print(&page, result);
    event_loop_print(&page, result);
    if (warnings > 0 && result->cases.count > 0 && !is_command(result, "verify")) {
        page_blank(&page);
        page_text(&page, TONE_WARNING, "", "%zu warning%s: see above the numbers.", warnings,
                  warnings == 1 ? "" : "s");
    }
}

void report_table(const struct result *result, const struct report_style *style, struct buffer *out)
{
    unsigned long failures = buffer_failures();
    print_table(result, style, out);
    /* Lines are made of many small texts: a table that lacks one is not to pass for whole. */
    out->failed = out->failed || buffer_failures() != failures;
}
