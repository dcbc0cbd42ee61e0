#include "base/layout.h"
#include "base/text.h"
#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MIN = 12, LABEL_MAX = 28 };

/* The points that a table has room for; JSON and CSV hold all. */
static const enum result_point shown_points[] = {RESULT_POINT_p50, RESULT_POINT_p95,
                                                 RESULT_POINT_p99, RESULT_POINT_p99_9};
static const char *const point_labels[RESULT_POINT_COUNT] = {
#define X(id, label, numerator, denominator) label,
    RESULT_POINTS(X)
#undef X
};

enum {
    POINTS_SHOWN = sizeof(shown_points) / sizeof(shown_points[0]),
    VALUES = POINTS_SHOWN + 4,  /* and max, share, rows, the spread of p99 */
    VALUES_OF_ONE = VALUES - 1, /* without a spread: one round, or a window too narrow for it */
};

/* Texts of one line, in the order of value_label(). */
struct line {
    char text[VALUES][UNITS_TEXT_SIZE + 1];
    bool thin;
};

static const char *value_label(size_t value)
{
    static const char *const others[] = {"max", "share", "rows", "p99 spread"};
    return value < POINTS_SHOWN ? point_labels[shown_points[value]] : others[value - POINTS_SHOWN];
}

/* "12.3" and a suffix; large numbers in their own unit. */
static void print_tenths(char *out, double value, const char *suffix)
{
    if (!isfinite(value) || value < 0) {
        snprintf(out, UNITS_TEXT_SIZE, "–");
    } else if (value >= 100000) {
        units_print_count(out, value);
    } else {
        unsigned tenths = (unsigned)(value * 10 + 0.5);
        snprintf(out, UNITS_TEXT_SIZE, "%u.%u%s", tenths / 10, tenths % 10, suffix);
    }
}

static void line_fill(struct line *line, const struct result_script_summary *script, size_t rounds)
{
    line->thin = false;
    for (size_t i = 0; i < POINTS_SHOWN; i++) {
        double value = script->points_ns[shown_points[i]].median;
        bool thin = script->point_thin[shown_points[i]] && isfinite(value);
        line->text[i][0] = '~';
        units_print_ns(line->text[i] + (thin ? 1 : 0), value);
        line->thin = line->thin || thin;
    }
    units_print_ns(line->text[POINTS_SHOWN], script->max_ns.max);
    print_tenths(line->text[POINTS_SHOWN + 1], script->time_share.median * 100, " %");
    const struct result_figure *rows =
        script->write ? &script->rows_changed_each : &script->rows_read_each;
    print_tenths(line->text[POINTS_SHOWN + 2], rows->median, "");
    report_spread(line->text[POINTS_SHOWN + 3], &script->points_ns[RESULT_POINT_p99], rounds);
}

/* The parts of a latency in an open loop. Share and rows are those of the line above. */
static const struct {
    const char *label;
    size_t offset; /* of a struct result_times in a summary of a script */
} parts[] = {
    {"service time", offsetof(struct result_script_summary, service)},
    {"lag", offsetof(struct result_script_summary, lag)},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* As thin as the latencies, which are as many. */
static void line_fill_part(struct line *line, const struct result_script_summary *script,
                           size_t part, size_t rounds)
{
    const struct result_times *times =
        (const struct result_times *)((const char *)script + parts[part].offset);
    memset(line, 0, sizeof(*line));
    for (size_t i = 0; i < POINTS_SHOWN; i++) {
        double value = times->points_ns[shown_points[i]].median;
        bool thin = script->point_thin[shown_points[i]] && isfinite(value);
        line->text[i][0] = '~';
        units_print_ns(line->text[i] + (thin ? 1 : 0), value);
    }
    units_print_ns(line->text[POINTS_SHOWN], times->max_ns.max);
    report_spread(line->text[VALUES - 1], &times->points_ns[RESULT_POINT_p99], rounds);
}

static bool same_script(const struct result_script_summary *a,
                        const struct result_script_summary *b)
{
    return strcmp(a->role, b->role) == 0 && strcmp(a->script, b->script) == 0;
}

static const struct result_script_summary *find_script(const struct result_summary *summary,
                                                       const struct result_script_summary *like)
{
    for (size_t i = 0; i < summary->scripts.count; i++) {
        if (same_script(&summary->scripts.items[i], like)) {
            return &summary->scripts.items[i];
        }
    }
    return NULL;
}

/* The scripts of all engines, in the order in which they first occur. */
typedef RESULT_LIST(const struct result_script_summary *) script_list;

static bool list_scripts(const struct result *result, size_t of, script_list *list)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_summary *summary = &result->engines.items[i].summaries.items[of];
        for (size_t j = 0; j < summary->scripts.count; j++) {
            bool known = false;
            for (size_t k = 0; k < list->count && !known; k++) {
                known = same_script(list->items[k], &summary->scripts.items[j]);
            }
            if (!known) {
                const struct result_script_summary **added = result_list_add(list);
                if (added == NULL) {
                    return false;
                }
                *added = &summary->scripts.items[j];
            }
        }
    }
    return true;
}

static bool several_roles(const script_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(list->items[i]->role, list->items[0]->role) != 0) {
            return true;
        }
    }
    return false;
}

/* "user_by_id", or "reader: user_by_id" where there are several roles. */
static void script_label(struct buffer *out, const struct result_script_summary *script, bool roles)
{
    buffer_init(out);
    if (roles) {
        buffer_printf(out, "%s: ", script->role);
    }
    buffer_puts(out, script->script);
}

static void add_part(struct grid *grid, const struct result_script_summary *script, size_t part,
                     size_t rounds, const char *indent, size_t values)
{
    struct line line;
    struct buffer label;
    buffer_init(&label);
    buffer_printf(&label, "%s%s", indent, parts[part].label);
    grid_add(grid, TONE_PLAIN, label.data);
    grid->failed = grid->failed || label.failed;
    buffer_release(&label);
    line_fill_part(&line, script, part, rounds);
    for (size_t i = 0; i < values; i++) {
        grid_add(grid, TONE_PLAIN, line.text[i]);
    }
}

/* One engine: a line a script. Several: the script's name, and a line an engine below it, so that
 * what is compared stands in one column. Returns whether anything thin is shown. */
static bool fill_grid(struct grid *grid, const struct result *result, size_t of,
                      const script_list *list, size_t values)
{
    bool open = report_is_open_loop(result, of);
    bool roles = several_roles(list);
    bool several = result->engines.count > 1;
    bool thin = false;

    grid_init(grid, 1 + values);
    grid_add(grid, TONE_BOLD, "");
    for (size_t i = 0; i < values; i++) {
        grid_add(grid, TONE_BOLD, value_label(i));
    }
    for (size_t i = 0; i < list->count; i++) {
        struct buffer label;
        script_label(&label, list->items[i], roles);
        if (several) {
            grid_add_title(grid, TONE_PLAIN, label.data);
        }
        for (size_t j = 0; j < result->engines.count; j++) {
            const struct result_script_summary *script =
                find_script(&result->engines.items[j].summaries.items[of], list->items[i]);
            struct line line;
            if (several) {
                buffer_clear(&label);
                buffer_puts(&label, "  ");
                report_engine_label(&label, result, j, LABEL_MAX - 2);
            }
            grid_add(grid, TONE_PLAIN, label.data);
            if (script != NULL) {
                line_fill(&line, script, report_engine_rounds(result, j, of));
                thin = thin || line.thin;
            }
            for (size_t k = 0; k < values; k++) {
                grid_add(grid, TONE_PLAIN, script == NULL ? "–" : line.text[k]);
            }
            for (size_t part = 0; open && script != NULL && part < PARTS; part++) {
                add_part(grid, script, part, report_engine_rounds(result, j, of),
                         several ? "    " : "  ", values);
            }
        }
        grid->failed = grid->failed || label.failed;
        buffer_release(&label);
    }
    return thin;
}

/* For a narrow window: "p50 5.20 µs  p95 …", as many on a line as fit. */
static void print_flow(const struct page *page, const struct line *line, size_t values)
{
    size_t used = 0;
    for (size_t i = 0; i < values; i++) {
        struct buffer item;
        if (line->text[i][0] == '\0') {
            continue;
        }
        buffer_init(&item);
        buffer_printf(&item, "%s %s", value_label(i), line->text[i]);
        size_t width = text_width(item.data, item.length);
        if (used > 0 && used + 2 + width > page->width) {
            page_blank(page);
            used = 0;
        }
        page_spaces(page, 2);
        layout_cut(page->out, item.data, page->width - 2);
        used += 2 + width;
        page->out->failed = page->out->failed || item.failed;
        buffer_release(&item);
    }
    page_blank(page);
}

static void print_blocks(const struct page *page, const struct result *result, size_t of,
                         const script_list *list, size_t values)
{
    bool roles = several_roles(list);
    for (size_t i = 0; i < list->count; i++) {
        struct buffer label;
        script_label(&label, list->items[i], roles);
        page_text(page, TONE_BOLD, "", "%s", label.data);
        buffer_release(&label);
        for (size_t j = 0; j < result->engines.count; j++) {
            const struct result_script_summary *script =
                find_script(&result->engines.items[j].summaries.items[of], list->items[i]);
            if (result->engines.count > 1) {
                struct buffer name;
                buffer_init(&name);
                report_engine_label(&name, result, j, page->width - 1);
                page_text(page, TONE_PLAIN, " ", "%s", name.data);
                buffer_release(&name);
            }
            if (script == NULL) {
                page_text(page, TONE_PLAIN, "  ", "–");
                continue;
            }
            struct line line;
            line_fill(&line, script, report_engine_rounds(result, j, of));
            print_flow(page, &line, values);
            for (size_t part = 0; report_is_open_loop(result, of) && part < PARTS; part++) {
                page_text(page, TONE_PLAIN, "  ", "%s", parts[part].label);
                line_fill_part(&line, script, part, report_engine_rounds(result, j, of));
                print_flow(page, &line, values);
            }
        }
    }
}

/* True when any engine was under load from more than one connection, or that is not known. */
static bool contended(const struct result *result, size_t of)
{
    bool any = false;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t j = 0; j < engine->runs.count; j++) {
            if (engine->runs.items[j].case_index != of) {
                continue;
            }
            if (engine->runs.items[j].connections.count > 1) {
                return true;
            }
            any = any || engine->runs.items[j].connections.count == 1;
        }
    }
    return !any;
}

/* Whatever waited for a core did so in the middle of an execution, most of the time. */
static void print_run_queue(const struct page *page, const struct result *result, size_t of)
{
    struct buffer text;
    size_t known = 0;
    buffer_init(&text);
    for (size_t i = 0; i < result->engines.count; i++) {
        double share = result->engines.items[i].summaries.items[of].run_queue_share.median;
        char number[UNITS_TEXT_SIZE];
        if (!isfinite(share)) {
            continue;
        }
        report_share(number, share);
        buffer_puts(&text, known++ > 0 ? ", " : "");
        if (result->engines.count > 1) {
            report_engine_label(&text, result, i, LABEL_MAX);
            buffer_putc(&text, ' ');
        }
        buffer_puts(&text, number);
    }
    if (known > 0) {
        page_text(page, TONE_PLAIN, "",
                  "Waited for a core, as a share of the connections' time: %s", text.data);
    }
    page->out->failed = page->out->failed || text.failed;
    buffer_release(&text);
}

/* The spread takes part where rounds give one and the window is wide enough. */
static bool fill_widest(struct grid *grid, const struct page *page, const struct result *result,
                        size_t of, const script_list *list)
{
    bool thin;
    if (report_rounds(result, of) > 1) {
        thin = fill_grid(grid, result, of, list, VALUES);
        if (grid_fits(grid, page->width, LABEL_MIN)) {
            return thin;
        }
        grid_release(grid);
    }
    return fill_grid(grid, result, of, list, VALUES_OF_ONE);
}

void latency_print(const struct page *page, const struct result *result, size_t of)
{
    script_list list = {0};
    struct grid grid;

    if (!list_scripts(result, of, &list)) {
        page->out->failed = true;
    } else if (list.count > 0) {
        page_blank(page);
        bool open = report_is_open_loop(result, of);
        page_text(page, TONE_BOLD, "",
                  open ? "Latency of one execution from when it was due, share of the connections' "
                         "time, rows an operation"
                       : "Latency of one execution, share of the connections' time, rows an "
                         "operation");
        print_run_queue(page, result, of);
        bool thin = fill_widest(&grid, page, result, of, &list);
        if (grid_fits(&grid, page->width, LABEL_MIN)) {
            grid_print(&grid, page);
        } else {
            print_blocks(page, result, of, &list,
                         report_rounds(result, of) > 1 ? VALUES : VALUES_OF_ONE);
        }
        grid_release(&grid);
        if (thin) {
            report_thin_note(page);
        }
        if (open) {
            page_text(page, TONE_PLAIN, "",
                      "Open loop: all engines were asked for the same operations at the same "
                      "moments, so their tails are comparable. Service time counts from the start "
                      "of an execution; its lag is what it waited before.");
        } else if (result->engines.count > 1 && contended(result, of)) {
            page_text(
                page, TONE_PLAIN, "",
                "Closed loop: the engines ran at different throughput, so their tails are not "
                "comparable.");
        }
    }
    free(list.items);
}
