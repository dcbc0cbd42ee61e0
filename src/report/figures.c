#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_MIN = 16, NAME_MAX_COLUMNS = 20 };

enum unit { UNIT_NS, UNIT_BYTES, UNIT_COUNT, UNIT_SHARE };

struct figure_row {
    const char *label;
    size_t offset; /* of a struct result_figure in a summary */
    enum unit unit;
    bool spread;    /* shown beside throughput */
    bool open_only; /* of open loops */
};

#define SUMMARY(field) offsetof(struct result_summary, field)

static const struct figure_row figure_rows[] = {
    {"reads/s", SUMMARY(reads_per_second), UNIT_COUNT, true, false},
    {"writes/s", SUMMARY(writes_per_second), UNIT_COUNT, true, false},
    {"all operations/s", SUMMARY(operations_per_second), UNIT_COUNT, true, false},
    {"begun of what was due", SUMMARY(begun_share), UNIT_SHARE, false, true},
    {"CPU of others", SUMMARY(cpu_others), UNIT_SHARE, false, false},
    {"steal", SUMMARY(steal), UNIT_SHARE, false, false},
    {"CPU an operation", SUMMARY(cpu_per_operation_ns), UNIT_NS, false, false},
    {"peak memory", SUMMARY(peak_memory_bytes), UNIT_BYTES, false, false},
    {"bytes written", SUMMARY(write_bytes), UNIT_BYTES, false, false},
    {"largest WAL", SUMMARY(largest_wal_bytes), UNIT_BYTES, false, false},
    {"final size", SUMMARY(final_bytes), UNIT_BYTES, false, false},
    {"off CPU", SUMMARY(off_cpu_ns), UNIT_NS, false, false},
    {"slept waiting for locks", SUMMARY(slept_ns), UNIT_NS, false, false},
    {"waited for a core", SUMMARY(run_queue_ns), UNIT_NS, false, false},
    {"closing", SUMMARY(close_ns), UNIT_NS, false, false},
};

/* Outcomes of all rounds. */
struct outcome_row {
    const char *label;
    size_t offset; /* of a uint64_t in a summary */
    bool only_if_any;
    bool open_only; /* of open loops */
};

static const struct outcome_row outcome_rows[] = {
    {"due, all rounds", SUMMARY(offered), false, true},
    {"never begun", SUMMARY(unstarted), false, true},
    {"ok, all rounds", SUMMARY(ok), false, false},
    {"busy", SUMMARY(busy), false, false},
    {"conflict", SUMMARY(conflict), false, false},
    {"failed", SUMMARY(failed), false, false},
    {"skipped", SUMMARY(skipped), true, false},
    {"open at the end", SUMMARY(open), false, false},
    {"retries", SUMMARY(retries), false, false},
};

enum {
    FIGURE_ROWS = sizeof(figure_rows) / sizeof(figure_rows[0]),
    OUTCOME_ROWS = sizeof(outcome_rows) / sizeof(outcome_rows[0]),
};

/* An engine in the case that is printed. */
static const struct result_summary *summary_of(const struct result *result, size_t of,
                                               size_t engine)
{
    return &result->engines.items[engine].summaries.items[of];
}

static const struct result_figure *summary_figure(const struct result_summary *summary,
                                                  const struct figure_row *row)
{
    return (const struct result_figure *)((const char *)summary + row->offset);
}

static uint64_t summary_outcome(const struct result_summary *summary, const struct outcome_row *row)
{
    uint64_t value;
    memcpy(&value, (const char *)summary + row->offset, sizeof(value));
    return value;
}

static void print_unit(char out[UNITS_TEXT_SIZE], double value, enum unit unit)
{
    switch (unit) {
    case UNIT_NS:
        units_print_ns(out, value);
        break;
    case UNIT_BYTES:
        units_print_bytes(out, value);
        break;
    case UNIT_COUNT:
        units_print_count(out, value);
        break;
    case UNIT_SHARE:
        report_share(out, value);
        break;
    }
}

/* Anything ran at all: a failed engine's outcomes are not 0 but unknown. */
static bool has_runs(const struct result_summary *summary)
{
    return summary->attempted > 0 || summary->rounds_ok > 0;
}

static void print_outcome(char out[UNITS_TEXT_SIZE], const struct result_summary *summary,
                          const struct outcome_row *row)
{
    if (has_runs(summary) && summary_outcome(summary, row) != RESULT_ABSENT) {
        units_print_count(out, (double)summary_outcome(summary, row));
    } else {
        snprintf(out, UNITS_TEXT_SIZE, "–");
    }
}

/* A row is shown for all engines or for none, so that blocks of engines can be set side by side. */
static bool outcome_shown(const struct result *result, size_t of, const struct outcome_row *row)
{
    if (row->open_only) {
        return report_is_open_loop(result, of);
    }
    if (!row->only_if_any) {
        return true;
    }
    for (size_t i = 0; i < result->engines.count; i++) {
        if (summary_outcome(summary_of(result, of, i), row) > 0) {
            return true;
        }
    }
    return false;
}

static bool figure_shown(const struct result *result, size_t of, const struct figure_row *row)
{
    return !row->open_only || report_is_open_loop(result, of);
}

/* "3 of 3". */
static void print_rounds(char out[UNITS_TEXT_SIZE], const struct result *result, size_t of,
                         size_t engine)
{
    const struct result_summary *summary = summary_of(result, of, engine);
    const struct result_engine *measured = &result->engines.items[engine];
    size_t runs = 0;
    for (size_t i = 0; i < measured->runs.count; i++) {
        runs += measured->runs.items[i].case_index == of;
    }
    if (summary->status != NULL && strcmp(summary->status, "failed") == 0) {
        snprintf(out, UNITS_TEXT_SIZE, "failed");
    } else {
        snprintf(out, UNITS_TEXT_SIZE, "%" PRIu64 " of %zu", summary->rounds_ok, runs);
    }
}

/* Whether any engine has fewer rounds than were asked for, or is not to be taken as it is. */
static bool rounds_shown(const struct result *result, size_t of)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_summary *summary = summary_of(result, of, i);
        if (summary->rounds_ok != result->plan.rounds || summary->status == NULL ||
            strcmp(summary->status, "ok") != 0) {
            return true;
        }
    }
    return false;
}

/* What the checks after the runs found: "ok", "differs", or "–" where nothing was checked. */
static const char *data_text(const struct result_engine *engine, size_t of)
{
    const char *text = "–";
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_check *check = &engine->runs.items[i].check;
        if (engine->runs.items[i].case_index != of) {
            continue;
        }
        if (check->problem != NULL) {
            return "differs";
        }
        text = check->kind != NULL ? "ok" : text;
    }
    return text;
}

static enum tone data_tone(const struct result_engine *engine, size_t of)
{
    return strcmp(data_text(engine, of), "differs") == 0 ? TONE_FAILED : TONE_PLAIN;
}

static enum tone outcome_tone(const struct result_summary *summary, const struct outcome_row *row)
{
    bool is_failed = row->offset == SUMMARY(failed);
    return is_failed && summary_outcome(summary, row) > 0 ? TONE_FAILED : TONE_PLAIN;
}

/* The engines [first, first + count) as columns, each with its spread beside it if there is one. */
struct columns {
    const struct result *result;
    size_t of; /* the case */
    size_t first, count;
    bool spread;
};

/* One engine's cells of a row. */
static void add_cells(struct grid *grid, const struct columns *columns, enum tone tone,
                      const char *text, const char *spread)
{
    grid_add(grid, tone, text);
    if (columns->spread) {
        grid_add(grid, TONE_PLAIN, spread);
    }
}

static void add_heading(struct grid *grid, const struct columns *columns)
{
    grid_add(grid, TONE_BOLD, "");
    for (size_t i = 0; i < columns->count; i++) {
        struct buffer name;
        buffer_init(&name);
        report_engine_label(&name, columns->result, columns->first + i, NAME_MAX_COLUMNS);
        add_cells(grid, columns, TONE_BOLD, name.data, "spread");
        grid->failed = grid->failed || name.failed;
        buffer_release(&name);
    }
}

static void add_rounds(struct grid *grid, const struct columns *columns)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, TONE_PLAIN, "rounds");
    for (size_t i = 0; i < columns->count; i++) {
        print_rounds(text, columns->result, columns->of, columns->first + i);
        add_cells(grid, columns, strcmp(text, "failed") == 0 ? TONE_FAILED : TONE_PLAIN, text, "");
    }
}

static void add_figure(struct grid *grid, const struct columns *columns,
                       const struct figure_row *row)
{
    char text[UNITS_TEXT_SIZE];
    char spread[UNITS_TEXT_SIZE] = "";
    grid_add(grid, TONE_PLAIN, row->label);
    for (size_t i = 0; i < columns->count; i++) {
        const struct result_figure *figure =
            summary_figure(summary_of(columns->result, columns->of, columns->first + i), row);
        print_unit(text, figure->median, row->unit);
        if (row->spread) {
            report_spread(spread, figure,
                          report_engine_rounds(columns->result, columns->first + i, columns->of));
        }
        add_cells(grid, columns, TONE_PLAIN, text, spread);
    }
}

static void add_outcome(struct grid *grid, const struct columns *columns,
                        const struct outcome_row *row)
{
    char text[UNITS_TEXT_SIZE];
    grid_add(grid, TONE_PLAIN, row->label);
    for (size_t i = 0; i < columns->count; i++) {
        const struct result_summary *summary =
            summary_of(columns->result, columns->of, columns->first + i);
        print_outcome(text, summary, row);
        add_cells(grid, columns, outcome_tone(summary, row), text, "");
    }
}

static void add_data(struct grid *grid, const struct columns *columns)
{
    grid_add(grid, TONE_PLAIN, "data after the runs");
    for (size_t i = 0; i < columns->count; i++) {
        const struct result_engine *engine = &columns->result->engines.items[columns->first + i];
        add_cells(grid, columns, data_tone(engine, columns->of), data_text(engine, columns->of),
                  "");
    }
}

static void fill_grid(struct grid *grid, const struct columns *columns)
{
    grid_init(grid, 1 + columns->count * (columns->spread ? 2 : 1));
    add_heading(grid, columns);
    if (rounds_shown(columns->result, columns->of)) {
        add_rounds(grid, columns);
    }
    for (size_t row = 0; row < FIGURE_ROWS; row++) {
        if (figure_shown(columns->result, columns->of, &figure_rows[row])) {
            add_figure(grid, columns, &figure_rows[row]);
        }
    }
    for (size_t row = 0; row < OUTCOME_ROWS; row++) {
        if (outcome_shown(columns->result, columns->of, &outcome_rows[row])) {
            add_outcome(grid, columns, &outcome_rows[row]);
        }
    }
    add_data(grid, columns);
}

/* For a window in which not even one engine's column fits. */
static void print_block(const struct page *page, const struct result *result, size_t of,
                        size_t index, bool spread)
{
    const struct result_engine *engine = &result->engines.items[index];
    const struct result_summary *summary = summary_of(result, of, index);
    char text[UNITS_TEXT_SIZE];

    page_blank(page);
    page_text(page, TONE_BOLD, "", "%s", engine->name == NULL ? "–" : engine->name);
    if (rounds_shown(result, of)) {
        print_rounds(text, result, of, index);
        page_pair(page, "rounds", text, TONE_PLAIN);
    }
    for (size_t row = 0; row < FIGURE_ROWS; row++) {
        const struct result_figure *figure = summary_figure(summary, &figure_rows[row]);
        if (!figure_shown(result, of, &figure_rows[row])) {
            continue;
        }
        print_unit(text, figure->median, figure_rows[row].unit);
        page_pair(page, figure_rows[row].label, text, TONE_PLAIN);
        if (spread && figure_rows[row].spread) {
            report_spread(text, figure, report_engine_rounds(result, index, of));
            page_pair(page, "  spread", text, TONE_PLAIN);
        }
    }
    for (size_t row = 0; row < OUTCOME_ROWS; row++) {
        if (outcome_shown(result, of, &outcome_rows[row])) {
            print_outcome(text, summary, &outcome_rows[row]);
            page_pair(page, outcome_rows[row].label, text,
                      outcome_tone(summary, &outcome_rows[row]));
        }
    }
    page_pair(page, "data after the runs", data_text(engine, of), data_tone(engine, of));
}

/* As many engines side by side as the window holds; returns how many were printed. */
static size_t print_chunk(const struct page *page, const struct result *result, size_t of,
                          size_t first, bool spread)
{
    size_t most = (GRID_COLUMNS_MAX - 1) / (spread ? 2 : 1);
    size_t left = result->engines.count - first;
    for (size_t count = left < most ? left : most; count > 0; count--) {
        struct grid grid;
        fill_grid(&grid, &(struct columns){result, of, first, count, spread});
        bool fits = grid_fits(&grid, page->width, LABEL_MIN);
        if (fits) {
            if (first > 0) {
                page_blank(page);
            }
            grid_print(&grid, page);
        }
        grid_release(&grid);
        if (fits) {
            return count;
        }
    }
    print_block(page, result, of, first, spread);
    return 1;
}

void figures_print(const struct page *page, const struct result *result, size_t of)
{
    size_t rounds = report_rounds(result, of);
    bool spread = rounds > 1;

    page_blank(page);
    if (rounds > 1) {
        page_text(page, TONE_BOLD, "", "Median of %zu rounds; spread is (max − min) / median",
                  rounds);
    } else if (rounds == 1) {
        page_text(page, TONE_BOLD, "", "One run: no difference is claimed");
    } else {
        page_text(page, TONE_BOLD, "", "No run ended well: nothing was measured");
    }
    for (size_t first = 0; first < result->engines.count;) {
        first += print_chunk(page, result, of, first, spread);
    }
}
