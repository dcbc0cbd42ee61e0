/* Columns of cells. The first row is the heading, the first column the one that gives way when
 * the window is narrow. Internal to the layer. */
#ifndef PITOT_REPORT_GRID_H
#define PITOT_REPORT_GRID_H

#include "report/page.h"
#include "result/result.h"

enum { GRID_COLUMNS_MAX = 64 };

struct grid_cell {
    char *text; /* printable */
    size_t width;
    enum tone tone;
};

struct grid {
    size_t columns; /* at most GRID_COLUMNS_MAX */
    RESULT_LIST(struct grid_cell) cells;
    bool failed; /* out of memory: nothing is printed */
};

void grid_init(struct grid *grid, size_t columns);
void grid_release(struct grid *grid);

/* Appends the next cell, row after row. Text from outside is made printable. The first column is
 * set left, the others right. */
void grid_add(struct grid *grid, enum tone tone, const char *text);

/* A row whose first cell may run over the others, which are empty. */
void grid_add_title(struct grid *grid, enum tone tone, const char *text);

/* True when the columns fit, the first cut down to `first_min` columns if need be. */
bool grid_fits(const struct grid *grid, size_t width, size_t first_min);

/* Prints all rows, a line under the first; cuts the first column to what is left for it. In
 * Markdown it is a table of all its columns, titles bold. */
void grid_print(const struct grid *grid, const struct page *page);

#endif
