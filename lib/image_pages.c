#include "lib/image_pages.h"

#include <stdlib.h>

enum { LEAF_TABLE = 0x0D, LEAF_INDEX = 0x0A, INTERIOR_TABLE = 0x05, INTERIOR_INDEX = 0x02 };

uint8_t *image_pages_new(struct image_pages *pages)
{
    if (pages->owns == pages->own_capacity) {
        size_t capacity = 2 * pages->own_capacity + 4;
        uint8_t **own = realloc(pages->own, capacity * sizeof *own);
        if (own == NULL) {
            return NULL;
        }
        pages->own = own;
        pages->own_capacity = capacity;
    }
    uint8_t *page = calloc(1, PAGES_SIZE);
    if (page != NULL) {
        pages->own[pages->owns++] = page;
    }
    return page;
}

uint32_t image_pages_number(struct image_pages *pages, uint8_t *page)
{
    uint32_t number = pages->count;
    number += number == IMAGE_LOCK_PAGE;
    if (number >= ROWS_BIG_PAGE) {
        return 0;
    }
    if (number >= pages->capacity) {
        uint32_t capacity = number + number / 2 + 16;
        uint8_t **grown = realloc(pages->page, capacity * sizeof *grown);
        if (grown == NULL) {
            return 0;
        }
        pages->page = grown;
        pages->capacity = capacity;
    }
    for (uint32_t i = pages->count; i < number; i++) {
        pages->page[i] = NULL;
    }
    pages->page[number] = page;
    pages->count = number + 1;
    return number;
}

void image_pages_cut(struct image_pages *pages, uint32_t first, size_t keep)
{
    while (pages->owns > keep) {
        free(pages->own[--pages->owns]);
    }
    pages->count = first < pages->count ? first : pages->count;
    pages->stage = NULL;
}

uint32_t image_pages_size(const struct image_pages *pages)
{
    const struct stage *stage = pages->stage;
    if (stage == NULL || stage->bigs == 0) {
        return pages->count - 1;
    }
    const struct rows_big *last = &stage->big[stage->bigs - 1];
    return last->first + rows_big_pages(last) - 1;
}

uint8_t *image_pages_get(const struct image_pages *pages, uint32_t number)
{
    return number < pages->count ? pages->page[number] : NULL;
}

void image_pages_big(const struct image_pages *pages, uint32_t number, uint8_t out[PAGES_SIZE])
{
    memset(out, 0, PAGES_SIZE);
    if (pages->stage == NULL || pages->stage->bigs == 0 || number < ROWS_BIG_PAGE) {
        return;
    }
    const struct rows_big *big = rows_find_big(pages->stage, number);
    uint32_t which = number - big->first;
    uint32_t count = rows_big_pages(big);
    if (which >= count) {
        return;
    }
    size_t from = big->local + (size_t)which * PAGES_OVERFLOW;
    size_t size = big->size - from < PAGES_OVERFLOW ? big->size - from : PAGES_OVERFLOW;
    put_u32(out, which + 1 < count ? number + 1 : 0);
    memcpy(out + 4, big->record + from, size);
}

/* A page as its parent sees it, and what stands between it and the next. */
struct node {
    uint32_t number;
    uint32_t size;       /* bytes of the divider */
    const uint8_t *cell; /* an index: the entry between */
    int64_t rowid;       /* a table: the highest one in it */
};

static void write_header(uint8_t *page, uint8_t type, uint32_t cells, uint32_t top)
{
    page[0] = type;
    put_u16(page + 1, 0);
    put_u16(page + 3, cells);
    put_u16(page + 5, top);
    page[7] = 0;
}

/* Completes a leaf. An index keeps its last entry for the page above, unless it is the LAST leaf.
 */
static void finish_leaf(const struct page *page, bool rowids, bool last, struct node *node)
{
    uint32_t cells = page->cells;
    uint32_t top = page->top;
    uint64_t payload;
    uint64_t rowid;
    const uint8_t *cell = page_cell(page, cells - 1);
    size_t before = varint_read(cell, &payload);
    if (rowids) {
        varint_read(cell + before, &rowid);
        node->rowid = (int64_t)rowid;
        node->size = (uint32_t)varint_size(rowid);
    } else if (!last) {
        const uint8_t *previous = page_cell(page, cells - 2);
        node->cell = cell;
        node->size = (uint32_t)(previous - cell);
        cells--;
        top = (uint32_t)(previous - page->memory);
    }
    write_header(page->memory, rowids ? LEAF_TABLE : LEAF_INDEX, cells, top);
}

/* Which child of those from FIRST on stands last, at the right edge, in a page. */
static size_t last_child(const struct node *node, size_t first, size_t count)
{
    size_t room = PAGES_SIZE - PAGES_INTERIOR_HEADER;
    size_t last = first;
    while (last + 1 < count && node[last].size + 6 <= room) {
        room -= node[last].size + 6;
        last++;
    }
    /* One that is left over would make a page without a cell. */
    return last + 2 == count ? last - 1 : last;
}

static void write_interior(uint8_t *page, const struct node *node, size_t first, size_t last,
                           bool rowids)
{
    uint32_t top = PAGES_SIZE;
    for (size_t i = first; i < last; i++) {
        top -= node[i].size + 4;
        uint8_t *cell = page + top;
        put_u32(cell, node[i].number);
        if (rowids) {
            varint_write(cell + 4, (uint64_t)node[i].rowid);
        } else {
            memcpy(cell + 4, node[i].cell, node[i].size);
        }
        put_u16(page + PAGES_INTERIOR_HEADER + 2 * (i - first), top);
    }
    write_header(page, rowids ? INTERIOR_TABLE : INTERIOR_INDEX, (uint32_t)(last - first), top);
    put_u32(page + 8, node[last].number);
}

/* Puts pages above COUNT nodes, which are then fewer, until one is the root. */
static bool build_levels(struct image_pages *image, struct node *node, size_t count, uint32_t root,
                         bool rowids)
{
    while (count > 1) {
        size_t above = 0;
        for (size_t first = 0, last; first < count; first = last + 1) {
            last = last_child(node, first, count);
            uint8_t *page = image_pages_new(image);
            if (page == NULL) {
                return false;
            }
            write_interior(page, node, first, last, rowids);
            struct node parent = node[last]; /* its divider stands behind the whole page */
            if (first == 0 && last + 1 == count) {
                image->page[root] = page;
            } else {
                parent.number = image_pages_number(image, page);
                if (parent.number == 0) {
                    return false;
                }
            }
            node[above++] = parent;
        }
        count = above;
    }
    return true;
}

bool image_tree(struct image_pages *image, const struct pages *leaves, uint32_t root, bool rowids)
{
    if (leaves->count <= 1) {
        uint8_t *page;
        if (leaves->count == 0) {
            uint8_t *empty = image_pages_new(image);
            if (empty == NULL) {
                return false;
            }
            write_header(empty, rowids ? LEAF_TABLE : LEAF_INDEX, 0, PAGES_SIZE);
            page = empty;
        } else {
            struct node node;
            finish_leaf(&leaves->page[0], rowids, true, &node);
            page = leaves->page[0].memory;
        }
        image->page[root] = page;
        return true;
    }
    struct node *node = calloc(leaves->count, sizeof *node);
    bool done = node != NULL;
    for (size_t i = 0; done && i < leaves->count; i++) {
        finish_leaf(&leaves->page[i], rowids, i + 1 == leaves->count, &node[i]);
        node[i].number = image_pages_number(image, leaves->page[i].memory);
        done = node[i].number != 0;
    }
    done = done && build_levels(image, node, leaves->count, root, rowids);
    free(node);
    return done;
}
