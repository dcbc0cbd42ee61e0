/*
 * Leaf pages of a b-tree, filled cell by cell in their order.
 *
 * Every page is PAGES_SIZE bytes, as SQLite lays them out
 * (https://www.sqlite.org/fileformat2.html, 1.6): pointers to the cells grow from the
 * front, cells from the back. The page's header is written by whoever makes a tree of
 * them; until then the counts stand here.
 */
#ifndef PITOT_LIB_PAGES_H
#define PITOT_LIB_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    PAGES_SIZE = 32768,
    PAGES_LEAF_HEADER = 8,
    PAGES_CELL = 4, /* the least that a cell takes */
    PAGES_INTERIOR_HEADER = 12,
    /* A payload above this has its end in overflow pages. Tables with rowids, and indexes. */
    PAGES_TABLE_LOCAL = PAGES_SIZE - 35,
    PAGES_INDEX_LOCAL = (PAGES_SIZE - 12) * 64 / 255 - 23,
    PAGES_LEAST_LOCAL = (PAGES_SIZE - 12) * 32 / 255 - 23,
    /* What fits in an overflow page behind the number of the next one. */
    PAGES_OVERFLOW = PAGES_SIZE - 4
};

struct page {
    uint8_t *memory;
    uint32_t cells;
    uint32_t top; /* where the cells begin */
};

struct pages {
    struct page *page;
    size_t count;
    size_t capacity;
};

static inline bool page_has_room(const struct page *page, size_t size, size_t slack)
{
    return PAGES_LEAF_HEADER + 2 * ((size_t)page->cells + 1) + slack + size <= page->top;
}

/* A cell from CELL, in the page's room, up to where its cells begin. */
static inline void page_take(struct page *page, const uint8_t *cell)
{
    size_t top = (size_t)(cell - page->memory);
    uint16_t pointer = __builtin_bswap16((uint16_t)top);
    memcpy(page->memory + PAGES_LEAF_HEADER + 2 * (size_t)page->cells, &pointer, sizeof pointer);
    page->top = (uint32_t)top;
    page->cells++;
}

/* Begins a page. False: out of memory. */
bool pages_grow(struct pages *pages);

/*
 * Room for a cell of SIZE bytes, which one page must be able to hold, at the end of the last page
 * or in a new one. SLACK bytes before it may be written too. NULL: out of memory, nothing has
 * changed. The caller fills it.
 */
static inline uint8_t *pages_add(struct pages *pages, size_t size, size_t slack)
{
    if (pages->count == 0 || !page_has_room(&pages->page[pages->count - 1], size, slack)) {
        if (!pages_grow(pages)) {
            return NULL;
        }
    }
    struct page *page = &pages->page[pages->count - 1];
    uint8_t *cell = page->memory + page->top - size;
    page_take(page, cell);
    return cell;
}

/* The cell of that number in the page. */
static inline const uint8_t *page_cell(const struct page *page, size_t number)
{
    const uint8_t *pointer = page->memory + PAGES_LEAF_HEADER + 2 * number;
    return page->memory + ((size_t)pointer[0] << 8 | pointer[1]);
}

/* Frees all pages. */
void pages_clear(struct pages *pages);

size_t pages_memory(const struct pages *pages);

#endif
