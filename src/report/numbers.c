/* The lines of `pitot numbers`: the library and the plain way below each other. */
#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MIN = 12, COLUMNS = 6 };

static const char *const headings[COLUMNS] = {"", "median", "p99", "slowest", "samples", "ratio"};

static const char *known(const char *text)
{
    return text != NULL ? text : "–";
}

/* "3.1 M/s" of a rate, a time otherwise. */
static void print_value(char out[UNITS_TEXT_SIZE + 8], const struct result_numbers_line *line,
                        double value, bool thin)
{
    char text[UNITS_TEXT_SIZE];
    bool rate = strcmp(line->unit, "1/s") == 0;
    if (rate) {
        units_print_count(text, value);
    } else {
        units_print_ns(text, value);
    }
    snprintf(out, UNITS_TEXT_SIZE + 8, "%s%s%s", thin && isfinite(value) ? "~" : "", text,
             rate && isfinite(value) ? "/s" : "");
}

static void add_side(struct grid *grid, const struct result_numbers_line *line, const char *label,
                     const struct result_numbers_side *side, double ratio)
{
    char text[UNITS_TEXT_SIZE + 8];
    grid_add(grid, TONE_PLAIN, label);
    print_value(text, line, side->median, false);
    grid_add(grid, TONE_PLAIN, text);
    print_value(text, line, side->p99, side->p99_thin);
    grid_add(grid, TONE_PLAIN, text);
    print_value(text, line, side->slowest, false);
    grid_add(grid, TONE_PLAIN, text);
    units_print_count(text, (double)side->count);
    grid_add(grid, TONE_PLAIN, text);
    if (isfinite(ratio)) {
        snprintf(text, sizeof text, "%.3f", ratio);
        grid_add(grid, TONE_PLAIN, text);
    } else {
        grid_add(grid, TONE_PLAIN, "");
    }
}

static void fill_grid(struct grid *grid, const struct result_numbers *numbers)
{
    grid_init(grid, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++) {
        grid_add(grid, TONE_BOLD, headings[i]);
    }
    for (size_t i = 0; i < numbers->lines.count; i++) {
        const struct result_numbers_line *line = &numbers->lines.items[i];
        char title[200];
        snprintf(title, sizeof title, "%s: %s", line->group, line->name);
        grid_add_title(grid, TONE_PLAIN, title);
        add_side(grid, line, "  libpitot", &line->pitot, line->ratio);
        add_side(grid, line, "  plain", &line->plain, (double)NAN);
    }
}

/* For a window in which the columns do not fit. */
static void print_blocks(const struct page *page, const struct result_numbers *numbers)
{
    for (size_t i = 0; i < numbers->lines.count; i++) {
        const struct result_numbers_line *line = &numbers->lines.items[i];
        const struct result_numbers_side *const sides[] = {&line->pitot, &line->plain};
        static const char *const names[] = {"libpitot", "plain"};
        char text[UNITS_TEXT_SIZE + 8];
        page_text(page, TONE_BOLD, "", "%s: %s", line->group, line->name);
        for (size_t k = 0; k < 2; k++) {
            page_text(page, TONE_PLAIN, "", "%s", names[k]);
            print_value(text, line, sides[k]->median, false);
            page_pair(page, headings[1], text, TONE_PLAIN);
            print_value(text, line, sides[k]->p99, sides[k]->p99_thin);
            page_pair(page, headings[2], text, TONE_PLAIN);
            print_value(text, line, sides[k]->slowest, false);
            page_pair(page, headings[3], text, TONE_PLAIN);
            units_print_count(text, (double)sides[k]->count);
            page_pair(page, headings[4], text, TONE_PLAIN);
        }
        snprintf(text, sizeof text, "%.3f", line->ratio);
        page_pair(page, headings[5], isfinite(line->ratio) ? text : "–", TONE_PLAIN);
    }
}

/* "2,998 of 3,000 due reads done, 2 missed, 0 failed for a lock, beside 812 passes" */
static void append_paced(struct buffer *out, const char *label,
                         const struct result_numbers_side *side)
{
    if (side->due == RESULT_ABSENT) {
        return;
    }
    char text[UNITS_TEXT_SIZE];
    units_print_count(text, (double)side->count);
    buffer_printf(out, "%s%s: %s", out->length > 0 ? "; " : "", label, text);
    units_print_count(text, (double)side->due);
    buffer_printf(out, " of %s due reads done", text);
    units_print_count(text, side->missed == RESULT_ABSENT ? (double)NAN : (double)side->missed);
    buffer_printf(out, ", %s missed", text);
    units_print_count(text, side->busy == RESULT_ABSENT ? (double)NAN : (double)side->busy);
    buffer_printf(out, ", %s failed for a lock", text);
    if (side->passes != RESULT_ABSENT) {
        units_print_count(text, (double)side->passes);
        buffer_printf(out, ", beside %s passes", text);
    }
}

static void print_notes(const struct page *page, const struct result_numbers *numbers)
{
    bool thin = false;
    for (size_t i = 0; i < numbers->lines.count; i++) {
        const struct result_numbers_line *line = &numbers->lines.items[i];
        struct buffer text;
        buffer_init(&text);
        append_paced(&text, "libpitot", &line->pitot);
        append_paced(&text, "plain", &line->plain);
        if (line->note != NULL) {
            buffer_printf(&text, "%s%s", text.length > 0 ? "; " : "", line->note);
        }
        if (text.length > 0) {
            page_text(page, TONE_PLAIN, "  ", "%s: %s. %s", line->group, line->name, text.data);
        }
        thin = thin || line->pitot.p99_thin || line->plain.p99_thin;
        page->out->failed = page->out->failed || text.failed;
        buffer_release(&text);
    }
    if (thin) {
        page_text(page, TONE_PLAIN, "~ ",
                  "fewer than 10 samples above this percentile: not reliable");
    }
}

static void print_memory(const struct page *page, const struct result_numbers *numbers)
{
    char own[UNITS_TEXT_SIZE];
    char staged[UNITS_TEXT_SIZE];
    char kept[UNITS_TEXT_SIZE];
    if (numbers->own_bytes == RESULT_ABSENT || numbers->staged_bytes == RESULT_ABSENT ||
        numbers->own_bytes == 0) {
        return;
    }
    units_print_bytes(own, (double)numbers->own_bytes);
    units_print_bytes(staged, (double)numbers->staged_bytes);
    page_text(page, TONE_PLAIN, "  ", "memory: %s of values are staged in %s (%.2f)", own, staged,
              (double)numbers->staged_bytes / (double)numbers->own_bytes);
    if (numbers->kept_bytes != RESULT_ABSENT && numbers->kept_rows != RESULT_ABSENT &&
        numbers->kept_rows > 0) {
        units_print_bytes(kept, (double)numbers->kept_bytes);
        page_text(page, TONE_PLAIN, "  ", "memory: merge keeps %s between passes (%.1f B a row)",
                  kept, (double)numbers->kept_bytes / (double)numbers->kept_rows);
    }
}

static void print_library(const struct page *page, const struct result_numbers *numbers)
{
    struct buffer options;
    struct grid grid;
    char number[UNITS_TEXT_SIZE];
    page_blank(page);
    page_text(page, TONE_BOLD, "", "SQLite %s (%s), %s", known(numbers->version), numbers->name,
              known(numbers->library));
    buffer_init(&options);
    for (size_t i = 0; i < numbers->compile_options.count; i++) {
        buffer_printf(&options, "%s%s", i > 0 ? ", " : "", numbers->compile_options.items[i]);
    }
    page_text(page, TONE_PLAIN, "Options   ", "%s", options.length > 0 ? options.data : "–");
    page->out->failed = page->out->failed || options.failed;
    buffer_release(&options);
    if (numbers->error != NULL) {
        page_text(page, TONE_FAILED, "", "failed: %s", numbers->error);
        for (size_t i = 0; i < numbers->log.count; i++) {
            page_text(page, TONE_PLAIN, "  | ", "%s", numbers->log.items[i]);
        }
        return;
    }
    units_print_count(number, (double)numbers->rows);
    page_text(page, TONE_PLAIN, "",
              "Passes of %s rows; ratio: median over rounds of libpitot's "
              "time to the plain way's in the same round",
              number);
    fill_grid(&grid, numbers);
    if (grid_fits(&grid, page->width, NAME_MIN)) {
        grid_print(&grid, page);
    } else {
        print_blocks(page, numbers);
    }
    grid_release(&grid);
    print_notes(page, numbers);
    if (isfinite(numbers->busy_p50) && isfinite(numbers->busy_p99)) {
        page_text(page, TONE_PLAIN, "  ",
                  "read: libpitot's beside a busy writer to those beside an idle one in the same "
                  "round: p50 %.2f, p99 %.2f",
                  numbers->busy_p50, numbers->busy_p99);
    }
    print_memory(page, numbers);
}

void numbers_print(const struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->numbers.count; i++) {
        print_library(page, &result->numbers.items[i]);
    }
}
