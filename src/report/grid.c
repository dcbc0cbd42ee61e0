#include "report/grid.h"

#include "base/layout.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };

void grid_init(struct grid *grid, size_t columns)
{
    *grid = (struct grid){.columns = columns};
}

void grid_release(struct grid *grid)
{
    for (size_t i = 0; i < grid->cells.count; i++) {
        free(grid->cells.items[i].text);
    }
    free(grid->cells.items);
    *grid = (struct grid){0};
}

void grid_add(struct grid *grid, enum tone tone, const char *text)
{
    struct buffer printable;
    buffer_init(&printable);
    text_printable(&printable, text, strlen(text));
    size_t width = text_width(printable.data, printable.length);
    char *owned = buffer_take(&printable);
    buffer_release(&printable);
    struct grid_cell *cell = owned == NULL ? NULL : result_list_add(&grid->cells);
    if (cell == NULL) {
        free(owned);
        grid->failed = true;
        return;
    }
    *cell = (struct grid_cell){.text = owned, .width = width, .tone = tone};
}

void grid_add_title(struct grid *grid, enum tone tone, const char *text)
{
    grid_add(grid, tone, text);
    for (size_t i = 1; i < grid->columns; i++) {
        grid_add(grid, TONE_PLAIN, "");
    }
}

/* A title: nothing beside its first cell. */
static bool is_title(const struct grid *grid, size_t row)
{
    const struct grid_cell *cells = &grid->cells.items[row * grid->columns];
    for (size_t i = 1; i < grid->columns; i++) {
        if (cells[i].width > 0) {
            return false;
        }
    }
    return true;
}

/* Natural widths; titles do not widen the first column. Returns their sum with the gaps. */
static size_t measure(const struct grid *grid, size_t widths[GRID_COLUMNS_MAX])
{
    size_t total = 0;
    memset(widths, 0, GRID_COLUMNS_MAX * sizeof(widths[0]));
    for (size_t row = 0; row * grid->columns < grid->cells.count; row++) {
        bool title = is_title(grid, row);
        for (size_t i = title ? 1 : 0; i < grid->columns; i++) {
            size_t width = grid->cells.items[row * grid->columns + i].width;
            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
    for (size_t i = 0; i < grid->columns; i++) {
        total += widths[i] + (i > 0 ? GAP : 0);
    }
    return total;
}

bool grid_fits(const struct grid *grid, size_t width, size_t first_min)
{
    size_t widths[GRID_COLUMNS_MAX];
    if (grid->failed) {
        return true; /* nothing will be printed */
    }
    size_t total = measure(grid, widths);
    size_t least = widths[0] < first_min ? widths[0] : first_min;
    return total - widths[0] + least <= width;
}

static void print_row(const struct grid *grid, size_t row, const size_t widths[],
                      const struct page *page, size_t total)
{
    const struct grid_cell *cells = &grid->cells.items[row * grid->columns];
    size_t last = grid->columns;
    while (last > 1 && cells[last - 1].width == 0) { /* no blanks at the end of a line */
        last--;
    }
    for (size_t i = 0; i < last; i++) {
        size_t room = last == 1 ? total : widths[i];
        size_t used = cells[i].width < room ? cells[i].width : room;
        if (i > 0) {
            page_spaces(page, GAP + room - used);
        }
        page_tone_on(page, cells[i].tone);
        layout_cut(page->out, cells[i].text, room);
        page_tone_off(page, cells[i].tone);
        if (i == 0 && last > 1) {
            page_spaces(page, room - used);
        }
    }
    buffer_putc(page->out, '\n');
}

static void put_cell(struct buffer *out, const struct grid_cell *cell, bool bold)
{
    size_t indent = strspn(cell->text, " ");
    buffer_puts(out, "| ");
    for (size_t i = 0; i + 1 < indent; i += 2) {
        buffer_puts(out, "&emsp;"); /* blanks there would be taken away */
    }
    if (cell->text[indent] != '\0') {
        buffer_puts(out, bold ? "**" : "");
        page_append_escaped(out, cell->text + indent);
        buffer_puts(out, bold ? "** " : " ");
    }
}

static void put_markdown(const struct grid *grid, struct buffer *out)
{
    buffer_putc(out, '\n');
    for (size_t row = 0; row * grid->columns < grid->cells.count; row++) {
        const struct grid_cell *cells = &grid->cells.items[row * grid->columns];
        bool title = row > 0 && is_title(grid, row);
        for (size_t i = 0; i < grid->columns; i++) {
            /* The first row is bold there without asking. */
            put_cell(out, &cells[i], title || (row > 0 && cells[i].tone == TONE_BOLD));
        }
        buffer_puts(out, "|\n");
        for (size_t i = 0; row == 0 && i < grid->columns; i++) {
            buffer_puts(out, i == 0 ? "| --- " : "| ---: ");
        }
        buffer_puts(out, row == 0 ? "|\n" : "");
    }
}

void grid_print(const struct grid *grid, const struct page *page)
{
    size_t widths[GRID_COLUMNS_MAX];
    if (grid->failed) {
        page->out->failed = true;
        return;
    }
    if (page->markdown) {
        put_markdown(grid, page->out);
        return;
    }
    size_t total = measure(grid, widths);
    if (total > page->width) {
        size_t over = total - page->width;
        widths[0] = widths[0] > over ? widths[0] - over : 1;
        total = page->width;
    }
    for (size_t row = 0; row * grid->columns < grid->cells.count; row++) {
        print_row(grid, row, widths, page, total);
        if (row == 0) {
            for (size_t i = 0; i < total; i++) {
                buffer_puts(page->out, "─");
            }
            buffer_putc(page->out, '\n');
        }
    }
}
