/* The table of `pitot bench`: a line a workload and engine. */
#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <stdio.h>

enum { NAME_MIN = 12 };

enum value { VALUE_RATE, VALUE_SPREAD, VALUE_P50, VALUE_P95, VALUE_P99, VALUE_CPU, VALUES };

static const char *const headings[VALUES] = {"ops/s", "spread", "p50", "p95", "p99", "CPU/op"};

struct line {
    char text[VALUES][UNITS_TEXT_SIZE + 1]; /* one for "~" */
    bool thin;
};

/* What bench shows is a script alone; with several the first one stands for the case. */
static void put_point(struct line *line, enum value value,
                      const struct result_script_summary *script, enum result_point point)
{
    bool thin = report_point(line->text[value], script, point);
    line->thin = line->thin || thin;
}

static void line_fill(struct line *line, const struct result *result, size_t engine, size_t of)
{
    const struct result_summary *summary = &result->engines.items[engine].summaries.items[of];
    for (size_t i = 0; i < VALUES; i++) {
        snprintf(line->text[i], sizeof line->text[i], "–");
    }
    line->thin = false;
    units_print_count(line->text[VALUE_RATE], summary->operations_per_second.median);
    report_spread(line->text[VALUE_SPREAD], &summary->operations_per_second,
                  report_engine_rounds(result, engine, of));
    units_print_ns(line->text[VALUE_CPU], summary->cpu_per_operation_ns.median);
    if (summary->scripts.count > 0) {
        put_point(line, VALUE_P50, &summary->scripts.items[0], RESULT_POINT_p50);
        put_point(line, VALUE_P95, &summary->scripts.items[0], RESULT_POINT_p95);
        put_point(line, VALUE_P99, &summary->scripts.items[0], RESULT_POINT_p99);
    }
}

/* Operations of an execution of the case, as the engines' runs tell. */
static uint64_t operations_each(const struct result *result, size_t of)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            const struct result_run *run = &engine->runs.items[k];
            if (run->case_index == of && run->scripts.count > 0) {
                return run->scripts.items[0].operations_each;
            }
        }
    }
    return 1;
}

/* "insert-tx-batch: 92 iterations of 1,000 operations, warm-up 10" */
static void title_of(struct buffer *out, const struct result *result, size_t of)
{
    const struct result_case *item = &result->cases.items[of];
    char number[UNITS_TEXT_SIZE];
    uint64_t each = operations_each(result, of);
    buffer_puts(out, item->label);
    if (item->operations != RESULT_ABSENT) {
        units_print_count(number, (double)item->operations);
        buffer_printf(out, ": %s iteration%s", number, item->operations == 1 ? "" : "s");
    }
    if (each > 1) {
        units_print_count(number, (double)each);
        buffer_printf(out, " of %s operations", number);
    }
    if (item->warmup_operations != RESULT_ABSENT) {
        units_print_count(number, (double)item->warmup_operations);
        buffer_printf(out, ", warm-up %s", number);
    } else if (item->warmup_ns != RESULT_ABSENT) {
        units_print_ns(number, (double)item->warmup_ns);
        buffer_printf(out, ", warm-up %s", number);
    }
}

static bool add_line(struct grid *grid, const struct result *result, size_t engine, size_t of)
{
    const struct result_summary *summary = &result->engines.items[engine].summaries.items[of];
    struct buffer label;
    struct line line;
    buffer_init(&label);
    buffer_puts(&label, "  ");
    cases_append_label(&label, result, engine, of);
    line_fill(&line, result, engine, of);
    grid_add(grid, cases_tone(summary), label.data);
    for (size_t i = 0; i < VALUES; i++) {
        grid_add(grid, TONE_PLAIN, line.text[i]);
    }
    grid->failed = grid->failed || label.failed;
    buffer_release(&label);
    return line.thin;
}

/* Returns whether a percentile in it says little. */
static bool fill_grid(struct grid *grid, const struct result *result)
{
    bool thin = false;
    grid_init(grid, 1 + VALUES);
    grid_add(grid, TONE_BOLD, "");
    for (size_t i = 0; i < VALUES; i++) {
        grid_add(grid, TONE_BOLD, headings[i]);
    }
    for (size_t of = 0; of < result->cases.count; of++) {
        struct buffer title;
        buffer_init(&title);
        title_of(&title, result, of);
        grid_add_title(grid, TONE_PLAIN, title.data);
        grid->failed = grid->failed || title.failed;
        buffer_release(&title);
        for (size_t i = 0; i < result->engines.count; i++) {
            thin = add_line(grid, result, i, of) || thin;
        }
    }
    return thin;
}

/* For a window in which the columns do not fit. */
static void print_blocks(const struct page *page, const struct result *result)
{
    for (size_t of = 0; of < result->cases.count; of++) {
        struct buffer text;
        buffer_init(&text);
        title_of(&text, result, of);
        page_text(page, TONE_BOLD, "", "%s", text.data);
        for (size_t i = 0; i < result->engines.count; i++) {
            const struct result_summary *summary = &result->engines.items[i].summaries.items[of];
            struct line line;
            buffer_clear(&text);
            cases_append_label(&text, result, i, of);
            page_text(page, cases_tone(summary), "", "%s", text.data);
            line_fill(&line, result, i, of);
            for (size_t k = 0; k < VALUES; k++) {
                page_pair(page, headings[k], line.text[k], TONE_PLAIN);
            }
        }
        page->out->failed = page->out->failed || text.failed;
        buffer_release(&text);
    }
}

void bench_print(const struct page *page, const struct result *result)
{
    struct grid grid;
    cases_print_rounds(page, result);
    bool thin = fill_grid(&grid, result);
    if (grid_fits(&grid, page->width, NAME_MIN)) {
        grid_print(&grid, page);
    } else {
        print_blocks(page, result);
    }
    grid_release(&grid);
    page_text(page, TONE_PLAIN, "",
              "p50 to p99 are of one iteration, CPU is the process's for an operation.");
    if (thin) {
        report_thin_note(page);
    }
}
