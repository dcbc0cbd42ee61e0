/* Engines beside each other: ratios to the baseline, their intervals, and what they show. */
#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MIN = 12, NAME_MAX_COLUMNS = 28, INTERVAL_SIZE = 2 * UNITS_TEXT_SIZE + 8 };

enum { ROUNDS_FOR_VERDICT = 3 };

enum value {
    VALUE_MEDIAN,
    VALUE_SPREAD,
    VALUE_RATIO,
    VALUE_INTERVAL,
    VALUE_SMALLEST,
    VALUE_VERDICT,
    VALUES
};

static const char *const headings[VALUES] = {"median",   "spread",     "ratio",
                                             "interval", "could show", "verdict"};

struct line {
    char text[VALUES][INTERVAL_SIZE];
};

/* ---- numbers ---------------------------------------------------------------------- */

/* Three digits behind the point below 10, none from 100 on. */
static void print_ratio(char out[UNITS_TEXT_SIZE], double ratio)
{
    if (!isfinite(ratio)) {
        snprintf(out, UNITS_TEXT_SIZE, "–");
    } else if (ratio >= 1e6) {
        snprintf(out, UNITS_TEXT_SIZE, "> 10^6");
    } else {
        unsigned decimals = ratio < 9.9995 ? 3 : ratio < 99.5 ? 1 : 0;
        unsigned long scale = decimals == 3 ? 1000 : decimals == 1 ? 10 : 1;
        unsigned long number = (unsigned long)(ratio * (double)scale + 0.5);
        if (scale == 1) {
            snprintf(out, UNITS_TEXT_SIZE, "%lu", number);
        } else {
            snprintf(out, UNITS_TEXT_SIZE, "%lu.%0*lu", number / scale, (int)decimals,
                     number % scale);
        }
    }
}

static void print_interval(char out[INTERVAL_SIZE], double low, double high)
{
    char from[UNITS_TEXT_SIZE];
    char to[UNITS_TEXT_SIZE];
    print_ratio(from, low);
    print_ratio(to, high);
    if (isnan(low) || isnan(high)) {
        snprintf(out, INTERVAL_SIZE, "–");
    } else {
        snprintf(out, INTERVAL_SIZE, "%s to %s", from, to);
    }
}

static void print_median(char out[INTERVAL_SIZE], const struct result_comparison_table *table,
                         const struct result_comparison_cell *cell)
{
    char number[UNITS_TEXT_SIZE];
    if (strcmp(table->unit, "ns") == 0) {
        units_print_ns(number, cell->median);
    } else {
        units_print_count(number, cell->median);
    }
    snprintf(out, INTERVAL_SIZE, "%s%s", cell->thin && isfinite(cell->median) ? "~" : "", number);
}

/* The first words of a note: "not comparable" of "not comparable: threads: 4, here 8". */
static void print_word(char out[INTERVAL_SIZE], const char *verdict, const char *note)
{
    const char *word = verdict != NULL ? verdict : note != NULL ? note : "–";
    snprintf(out, INTERVAL_SIZE, "%.*s", (int)strcspn(word, ":"), word);
}

static enum tone tone_of(const char *verdict, const char *note)
{
    return verdict != NULL || note == NULL || strcmp(note, "baseline") == 0 ? TONE_PLAIN
           : strcmp(note, "failed") == 0                                    ? TONE_FAILED
                                                                            : TONE_WARNING;
}

/* ---- the rows of a table ---------------------------------------------------------- */

static size_t engine_index(const struct result *result, const char *name)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        if (strcmp(result->engines.items[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void append_engine(struct buffer *out, const struct result *result, const char *name)
{
    size_t index = engine_index(result, name);
    if (index == SIZE_MAX) {
        buffer_puts(out, name); /* of an older file */
    } else {
        report_engine_label(out, result, index, NAME_MAX_COLUMNS);
    }
}

static void append_row_name(struct buffer *out, const struct result *result,
                            const struct result_comparison_row *row)
{
    const char *label = result->cases.items[row->case_index].label;
    const char *part = row->script != NULL ? row->script : row->role;
    buffer_puts(out, label);
    if (part != NULL && strcmp(part, label) != 0) {
        buffer_printf(out, ", %s", part);
    }
}

/* "select-point: best is turso, 12.3 % ahead (10.1 % to 14.5 %)" */
static void title_of(struct buffer *out, const struct result *result,
                     const struct result_comparison_row *row)
{
    append_row_name(out, result, row);
    if (row->best != NULL && row->cells.count > 2) {
        char lead[UNITS_TEXT_SIZE];
        char low[UNITS_TEXT_SIZE];
        char high[UNITS_TEXT_SIZE];
        report_share(lead, row->best_lead);
        report_share(low, row->best_lead_low);
        report_share(high, row->best_lead_high);
        buffer_puts(out, ": best is ");
        append_engine(out, result, row->best);
        buffer_printf(out, ", %s ahead (%s to %s)", lead, low, high);
    }
}

static void line_fill(struct line *line, const struct result_comparison_table *table,
                      const struct result_comparison_cell *cell)
{
    bool base = cell->note != NULL && strcmp(cell->note, "baseline") == 0;
    print_median(line->text[VALUE_MEDIAN], table, cell);
    report_share(line->text[VALUE_SPREAD], cell->spread);
    print_ratio(line->text[VALUE_RATIO], base ? (double)NAN : cell->ratio);
    print_interval(line->text[VALUE_INTERVAL], cell->ratio_low, cell->ratio_high);
    report_share(line->text[VALUE_SMALLEST], cell->smallest_difference);
    print_word(line->text[VALUE_VERDICT], cell->verdict, cell->note);
}

static void mean_fill(struct line *line, const struct result_comparison_mean *mean)
{
    bool base = mean->note != NULL && strcmp(mean->note, "baseline") == 0;
    for (size_t i = 0; i < VALUES; i++) {
        snprintf(line->text[i], INTERVAL_SIZE, "–");
    }
    print_ratio(line->text[VALUE_RATIO], base ? (double)NAN : mean->ratio);
    print_interval(line->text[VALUE_INTERVAL], mean->ratio_low, mean->ratio_high);
    print_word(line->text[VALUE_VERDICT], mean->verdict, mean->note);
}

/* Where a table goes: columns, or blocks in a window that they do not fit. */
struct sheet {
    struct grid *grid; /* NULL: blocks */
    const struct page *page;
};

static void put_title(const struct sheet *sheet, const struct buffer *title)
{
    if (sheet->grid != NULL) {
        grid_add_title(sheet->grid, TONE_PLAIN, title->data);
    } else {
        page_text(sheet->page, TONE_BOLD, "", "%s", title->data);
    }
}

/* Bold where a difference is claimed. */
static enum tone verdict_tone(const struct line *line)
{
    const char *word = line->text[VALUE_VERDICT];
    bool claims = strcmp(word, "faster") == 0 || strcmp(word, "slower") == 0;
    return claims ? TONE_BOLD : TONE_PLAIN;
}

static void put_line(const struct sheet *sheet, const struct result *result, const char *engine,
                     enum tone tone, const struct line *line, size_t first)
{
    struct buffer label;
    buffer_init(&label);
    if (sheet->grid != NULL) {
        buffer_puts(&label, "  ");
    }
    append_engine(&label, result, engine);
    if (sheet->grid != NULL) {
        grid_add(sheet->grid, tone, label.data);
    } else {
        page_text(sheet->page, tone, "", "%s", label.data);
    }
    for (size_t i = first; i < VALUES; i++) {
        enum tone of_value = i == VALUE_VERDICT ? verdict_tone(line) : TONE_PLAIN;
        if (sheet->grid != NULL) {
            grid_add(sheet->grid, of_value, line->text[i]);
        } else {
            page_pair(sheet->page, headings[i], line->text[i], of_value);
        }
    }
    buffer_release(&label);
}

static void put_headings(const struct sheet *sheet, size_t first)
{
    if (sheet->grid != NULL) {
        grid_init(sheet->grid, 1 + VALUES - first);
        grid_add(sheet->grid, TONE_BOLD, "");
        for (size_t i = first; i < VALUES; i++) {
            grid_add(sheet->grid, TONE_BOLD, headings[i]);
        }
    }
}

static void put_table(const struct sheet *sheet, const struct result *result,
                      const struct result_comparison_table *table)
{
    struct line line;
    struct buffer title;
    buffer_init(&title);
    put_headings(sheet, 0);
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_comparison_row *row = &table->rows.items[i];
        buffer_clear(&title);
        title_of(&title, result, row);
        put_title(sheet, &title);
        for (size_t k = 0; k < row->cells.count; k++) {
            const struct result_comparison_cell *cell = &row->cells.items[k];
            line_fill(&line, table, cell);
            put_line(sheet, result, cell->engine, tone_of(cell->verdict, cell->note), &line, 0);
        }
    }
    if (table->rows.count > 1) {
        buffer_clear(&title);
        buffer_printf(&title, "geometric mean of the ratios of %zu rows", table->rows.count);
        put_title(sheet, &title);
        for (size_t i = 0; i < table->geometric_means.count; i++) {
            const struct result_comparison_mean *mean = &table->geometric_means.items[i];
            mean_fill(&line, mean);
            put_line(sheet, result, mean->engine, tone_of(mean->verdict, mean->note), &line, 0);
        }
    }
    buffer_release(&title);
}

/* ---- what is said below a table --------------------------------------------------- */

/* Calls `visit` for every cell until it returns true; tells whether it did. */
static bool any_cell(const struct result_comparison_table *table,
                     bool (*visit)(const struct result_comparison_cell *))
{
    for (size_t i = 0; i < table->rows.count; i++) {
        for (size_t k = 0; k < table->rows.items[i].cells.count; k++) {
            if (visit(&table->rows.items[i].cells.items[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool is_closed_loop(const struct result_comparison_cell *cell)
{
    return cell->verdict != NULL && strcmp(cell->verdict, "closed loop") == 0;
}

static bool is_thin(const struct result_comparison_cell *cell)
{
    return cell->thin && isfinite(cell->median);
}

static void print_floor(const struct page *page, const struct result *result,
                        const struct result_comparison_table *table)
{
    char floor[UNITS_TEXT_SIZE];
    struct buffer baseline;
    buffer_init(&baseline);
    append_engine(&baseline, result, result->comparison.baseline);
    report_share(floor, table->floor);
    if (table->floor_rows > 0) {
        page_text(page, TONE_PLAIN, "",
                  "Noise floor %s: at least 1 %%, and at least what %s differs from itself in any "
                  "of %" PRIu64 " row%s, run twice in each round. A smaller difference is no "
                  "verdict.",
                  floor, baseline.data, table->floor_rows, table->floor_rows == 1 ? "" : "s");
    } else {
        page_text(page, TONE_PLAIN, "",
                  "Noise floor %s, the least: %s did not run against itself, which `pitot compare` "
                  "lets it do.",
                  floor, baseline.data);
    }
    buffer_release(&baseline);
}

static void print_more_rounds(const struct page *page, const struct result *result,
                              const struct result_comparison_table *table)
{
    struct buffer text;
    buffer_init(&text);
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_comparison_row *row = &table->rows.items[i];
        for (size_t k = 0; k < row->cells.count; k++) {
            const struct result_comparison_cell *cell = &row->cells.items[k];
            if (cell->more_rounds == RESULT_ABSENT) {
                continue;
            }
            buffer_puts(&text, text.length > 0 ? "; " : "");
            append_row_name(&text, result, row);
            buffer_puts(&text, ", ");
            append_engine(&text, result, cell->engine);
            if (cell->more_rounds > 1000) {
                buffer_puts(&text, ": more than 1,000");
            } else {
                buffer_printf(&text, ": %" PRIu64, cell->more_rounds);
            }
        }
    }
    if (text.length > 0) {
        page_text(page, TONE_PLAIN, "", "So many more rounds would probably separate: %s.",
                  text.data);
    }
    page->out->failed = page->out->failed || text.failed;
    buffer_release(&text);
}

/* A note that says more than its first words, which are all that a cell holds. */
static bool has_reason(const struct result_comparison_cell *cell)
{
    return cell->note != NULL && strchr(cell->note, ':') != NULL;
}

/* Puts "row, engine" of every cell with this note; gives false when the note stood in a cell before
 * that of the row and the place. */
static bool put_cells_of(struct buffer *out, const struct result *result,
                         const struct result_comparison_table *table, size_t row, size_t place,
                         const char *note)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_comparison_row *of = &table->rows.items[i];
        for (size_t k = 0; k < of->cells.count; k++) {
            const struct result_comparison_cell *cell = &of->cells.items[k];
            if (!has_reason(cell) || strcmp(cell->note, note) != 0) {
                continue;
            }
            if (i < row || (i == row && k < place)) {
                return false;
            }
            buffer_puts(out, out->length > 0 ? "; " : "");
            append_row_name(out, result, of);
            buffer_puts(out, ", ");
            append_engine(out, result, cell->engine);
        }
    }
    return true;
}

/* Each reason once, and whose it is. */
static void print_reasons(const struct page *page, const struct result *result,
                          const struct result_comparison_table *table)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        for (size_t k = 0; k < table->rows.items[i].cells.count; k++) {
            const struct result_comparison_cell *cell = &table->rows.items[i].cells.items[k];
            struct buffer cells;
            buffer_init(&cells);
            if (has_reason(cell) && put_cells_of(&cells, result, table, i, k, cell->note)) {
                page_text(page, TONE_WARNING, "! ", "%s (%s)", cell->note, cells.data);
            }
            buffer_release(&cells);
        }
    }
}

static const char *about(const char *metric)
{
    return strcmp(metric, "throughput") == 0 ? "operations a second, more is better"
           : strcmp(metric, "p99") == 0      ? "99th percentile of the latency, less is better"
           : strcmp(metric, "cpu") == 0      ? "CPU time an operation, less is better"
                                             : "";
}

static void print_table(const struct page *page, const struct result *result,
                        const struct result_comparison_table *table)
{
    struct grid grid;
    struct sheet sheet = {.grid = &grid, .page = page};
    page_blank(page);
    page_text(page, TONE_BOLD, "", "%s, %s: %s", table->suite, table->metric, about(table->metric));
    put_table(&sheet, result, table);
    if (grid_fits(&grid, page->width, NAME_MIN)) {
        grid_print(&grid, page);
    } else {
        sheet.grid = NULL;
        put_table(&sheet, result, table);
    }
    grid_release(&grid);
    print_floor(page, result, table);
    print_more_rounds(page, result, table);
    print_reasons(page, result, table);
    if (any_cell(table, is_closed_loop)) {
        page_text(page, TONE_PLAIN, "",
                  "closed loop: each engine has this latency at a throughput of its own, and a "
                  "faster one contends more. With --rate all have the same.");
    }
    if (any_cell(table, is_thin)) {
        page_text(page, TONE_PLAIN, "~ ",
                  "fewer than 10 samples above this percentile in a round: not reliable");
    }
}

/* ---- against an older result ------------------------------------------------------ */

static void put_against(const struct sheet *sheet, const struct result *result,
                        const struct result_against_table *table)
{
    const char *last = NULL;
    put_headings(sheet, VALUE_RATIO);
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_against_row *row = &table->rows.items[i];
        struct line line;
        if (last == NULL || strcmp(last, row->row) != 0) {
            struct buffer title;
            buffer_init(&title);
            buffer_puts(&title, row->row);
            put_title(sheet, &title);
            buffer_release(&title);
        }
        last = row->row;
        print_ratio(line.text[VALUE_RATIO], row->ratio);
        print_interval(line.text[VALUE_INTERVAL], row->ratio_low, row->ratio_high);
        report_share(line.text[VALUE_SMALLEST], row->smallest_difference);
        print_word(line.text[VALUE_VERDICT], row->verdict, row->note);
        put_line(sheet, result, row->engine, tone_of(row->verdict, row->note), &line, VALUE_RATIO);
    }
}

/* Notes that say more than the word in the table. */
static void print_notes(const struct page *page, const struct result *result,
                        const struct result_against_table *table)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct result_against_row *row = &table->rows.items[i];
        if (row->note != NULL && strchr(row->note, ':') != NULL) {
            struct buffer engine;
            buffer_init(&engine);
            append_engine(&engine, result, row->engine);
            page_text(page, TONE_WARNING, "! ", "%s, %s: %s", row->row, engine.data, row->note);
            buffer_release(&engine);
        }
    }
}

static void print_against(const struct page *page, const struct result *result)
{
    const struct result_against *against = &result->comparison.against;
    page_blank(page);
    page_text(page, TONE_BOLD, "", "Against %s (%s): the ratio to %s now, through that of then",
              against->file, against->started != NULL ? against->started : "–",
              result->comparison.baseline);
    for (size_t i = 0; i < against->tables.count; i++) {
        const struct result_against_table *table = &against->tables.items[i];
        struct grid grid;
        struct sheet sheet = {.grid = &grid, .page = page};
        char floor[UNITS_TEXT_SIZE];
        report_share(floor, table->floor);
        page_blank(page);
        page_text(page, TONE_BOLD, "", "%s, %s: %s", table->suite, table->metric,
                  about(table->metric));
        put_against(&sheet, result, table);
        if (grid_fits(&grid, page->width, NAME_MIN)) {
            grid_print(&grid, page);
        } else {
            sheet.grid = NULL;
            put_against(&sheet, result, table);
        }
        grid_release(&grid);
        page_text(page, TONE_PLAIN, "",
                  "Differences up to %s, the larger of both noise floors and the threshold, are no "
                  "verdict.",
                  floor);
        print_notes(page, result, table);
    }
}

/* ---- all of it -------------------------------------------------------------------- */

/* Most rounds that any ratio is made of. */
static uint64_t most_rounds(const struct result_comparison *comparison)
{
    uint64_t most = 0;
    for (size_t i = 0; i < comparison->tables.count; i++) {
        const struct result_comparison_table *table = &comparison->tables.items[i];
        for (size_t k = 0; k < table->rows.count; k++) {
            for (size_t c = 0; c < table->rows.items[k].cells.count; c++) {
                uint64_t rounds = table->rows.items[k].cells.items[c].rounds;
                most = rounds > most ? rounds : most;
            }
        }
    }
    return most;
}

static void print_head(const struct page *page, const struct result *result)
{
    const struct result_comparison *comparison = &result->comparison;
    uint64_t rounds = most_rounds(comparison);
    struct buffer text;
    buffer_init(&text);
    page_blank(page);
    buffer_puts(&text, "Compared with ");
    append_engine(&text, result, comparison->baseline);
    if (rounds == 1) {
        buffer_puts(&text, ": one run: no difference is claimed");
    } else if (rounds < ROUNDS_FOR_VERDICT) {
        buffer_printf(&text, ": %" PRIu64 " rounds, and a verdict needs %d", rounds,
                      ROUNDS_FOR_VERDICT);
    } else {
        buffer_printf(&text,
                      ": ratios in the same round, of %" PRIu64 " rounds; all intervals of a table "
                      "hold together with %.0f %%",
                      rounds, comparison->confidence * 100);
    }
    page_text(page, TONE_BOLD, "", "%s", text.data);
    if (comparison->rounds_repeated > 0 || comparison->rounds_disturbed > 0) {
        page_text(page, TONE_PLAIN, "",
                  "Rounds of a case measured again because of the host: %" PRIu64
                  "; disturbed ones that are in the figures: %" PRIu64,
                  comparison->rounds_repeated, comparison->rounds_disturbed);
    }
    buffer_release(&text);
}

static void print_gate(const struct page *page, const struct result_comparison *comparison)
{
    char threshold[UNITS_TEXT_SIZE];
    report_share(threshold, isnan(comparison->threshold) ? 0 : comparison->threshold);
    page_blank(page);
    if (comparison->slower > 0) {
        page_text(page, TONE_FAILED, "",
                  "%" PRIu64 " row%s slower by more than the noise and %s: status 1",
                  comparison->slower, comparison->slower == 1 ? " is" : "s are", threshold);
    } else {
        page_text(page, TONE_BOLD, "", "No row is shown to be slower by more than the noise and %s",
                  threshold);
    }
}

void comparison_print(const struct page *page, const struct result *result)
{
    const struct result_comparison *comparison = &result->comparison;
    if (comparison->tables.count == 0 || comparison->baseline == NULL) {
        return;
    }
    print_head(page, result);
    for (size_t i = 0; i < comparison->tables.count; i++) {
        print_table(page, result, &comparison->tables.items[i]);
    }
    if (comparison->against.file != NULL) {
        print_against(page, result);
    }
    if (comparison->slower != RESULT_ABSENT) {
        print_gate(page, comparison);
    }
}
