#include "lib/pages.h"

#include <stdlib.h>

bool pages_grow(struct pages *pages)
{
    if (pages->count == pages->capacity) {
        size_t capacity = pages->capacity + pages->capacity / 2 + 4;
        struct page *page = realloc(pages->page, capacity * sizeof *page);
        if (page == NULL) {
            return false;
        }
        pages->page = page;
        pages->capacity = capacity;
    }
    uint8_t *memory = malloc(PAGES_SIZE);
    if (memory == NULL) {
        return false;
    }
    pages->page[pages->count++] = (struct page){.memory = memory, .top = PAGES_SIZE};
    return true;
}

void pages_clear(struct pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) {
        free(pages->page[i].memory);
    }
    free(pages->page);
    *pages = (struct pages){.page = NULL};
}

size_t pages_memory(const struct pages *pages)
{
    return pages->count * PAGES_SIZE + pages->capacity * sizeof *pages->page;
}
