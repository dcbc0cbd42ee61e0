/*
 * The pages of an image, by number: what image.c makes, and the VFS hands out.
 */
#ifndef PITOT_LIB_IMAGE_PAGES_H
#define PITOT_LIB_IMAGE_PAGES_H

#include "lib/rows.h"

enum {
    IMAGE_SCHEMA_PAGE = 1,
    IMAGE_TABLE_ROOT = 2,
    /* No page has this number: SQLite locks the bytes that it would have. */
    IMAGE_LOCK_PAGE = (1 << 30) / PAGES_SIZE + 1
};

struct image_pages {
    uint8_t **page; /* by number; NULL where there is none */
    uint32_t count; /* one more than the highest number */
    uint32_t capacity;
    uint8_t **own; /* those that belong to the image alone */
    size_t owns;
    size_t own_capacity;
    const struct stage *stage; /* whose large rows are the pages from ROWS_BIG_PAGE on, or NULL */
};

/* A page of the image's own, cleared. NULL: out of memory. */
uint8_t *image_pages_new(struct image_pages *pages);

/* Gives the page a number of its own. 0: out of memory. */
uint32_t image_pages_number(struct image_pages *pages, uint8_t *page);

/* Forgets all numbers from FIRST on and frees the pages of the image's own but for the first KEEP.
 */
void image_pages_cut(struct image_pages *pages, uint32_t first, size_t keep);

/* How many pages the file seems to have. */
uint32_t image_pages_size(const struct image_pages *pages);

/* What stands in page NUMBER: memory of PAGES_SIZE bytes, or NULL when it is part of a large row;
 * that is written to OUT by image_pages_big(). */
uint8_t *image_pages_get(const struct image_pages *pages, uint32_t number);
void image_pages_big(const struct image_pages *pages, uint32_t number, uint8_t out[PAGES_SIZE]);

/*
 * Makes a b-tree with the given root of leaf pages that hold cells in their order. ROWIDS: of a
 * table with rowids; otherwise of an index. False: out of memory.
 */
bool image_tree(struct image_pages *image, const struct pages *leaves, uint32_t root, bool rowids);

#endif
