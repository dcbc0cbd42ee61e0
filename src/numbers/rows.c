#include "numbers/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void fill(struct row *row, size_t number, uint64_t round)
{
    uint64_t mixed = number * UINT64_C(2654435761) % 1000000 + round * 7;
    row->id = (int64_t)number * 3 + 1;
    row->ts = (int64_t)(UINT64_C(1700000000) + mixed);
    row->length = (size_t)snprintf(row->title, sizeof row->title, "item %" PRIu64 " of many",
                                   mixed % UINT64_C(1000000000));
}

int rows_make(struct rows *rows, size_t count, struct error *error)
{
    rows->count = count;
    rows->items = calloc(count, sizeof *rows->items);
    if (rows->items == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for %zu rows", count);
    }
    for (size_t i = 0; i < count; i++) {
        fill(&rows->items[i], i, 0);
    }
    return 0;
}

void rows_free(struct rows *rows)
{
    free(rows->items);
    *rows = (struct rows){.items = NULL};
}

void rows_change(struct rows *rows, size_t changed, uint64_t round)
{
    for (size_t i = 0; i < changed; i++) {
        size_t place = i * rows->count / changed;
        fill(&rows->items[place], place, round);
    }
}

uint64_t rows_bytes(const struct rows *rows)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bytes += 2 * sizeof(int64_t) + rows->items[i].length;
    }
    return bytes;
}
