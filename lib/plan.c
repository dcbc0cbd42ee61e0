#include "lib/plan.h"

#include <stdlib.h>

bool plan_reserve(struct plan_cells *cells, size_t more)
{
    if (cells->capacity - cells->count < more) {
        size_t capacity = 2 * cells->capacity + more + 64;
        const uint8_t **grown = realloc(cells->cell, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        cells->cell = grown;
        cells->capacity = capacity;
    }
    return true;
}

bool plan_add(struct plan_cells *cells, const uint8_t *cell)
{
    if (!plan_reserve(cells, 1)) {
        return false;
    }
    cells->cell[cells->count++] = cell;
    return true;
}

bool plan_gone_rowid(struct plan *plan, int64_t rowid)
{
    if (plan->gone == plan->gone_capacity) {
        size_t capacity = 2 * plan->gone_capacity + 64;
        int64_t *grown = realloc(plan->gone_rowid, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        plan->gone_rowid = grown;
        plan->gone_capacity = capacity;
    }
    plan->gone_rowid[plan->gone++] = rowid;
    return true;
}

/* The copies that plan_gone_key() made of texts and blobs. */
static void free_values(struct pitot_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i].type >= PITOT_TEXT) {
            void *bytes;
            memcpy(&bytes, &values[i].as.bytes, sizeof bytes);
            free(bytes);
        }
    }
}

bool plan_gone_key(struct plan *plan, const struct pitot_value *values, size_t keys)
{
    if (plan->gone == plan->gone_capacity) {
        size_t capacity = 2 * plan->gone_capacity + 64;
        struct pitot_value *grown = realloc(plan->gone_value, capacity * keys * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        plan->gone_value = grown;
        plan->gone_capacity = capacity;
    }
    struct pitot_value *copy = plan->gone_value + plan->gone * keys;
    for (size_t i = 0; i < keys; i++) {
        copy[i] = values[i];
        if (values[i].type >= PITOT_TEXT) {
            void *bytes = malloc((size_t)values[i].size + 1);
            if (bytes == NULL) {
                free_values(copy, i);
                return false;
            }
            if (values[i].size > 0) {
                memcpy(bytes, values[i].as.bytes, values[i].size);
            }
            copy[i].as.bytes = bytes;
        }
    }
    plan->gone++;
    return true;
}

void plan_clear(struct plan *plan, size_t keys)
{
    if (plan->gone_value != NULL) {
        free_values(plan->gone_value, plan->gone * keys);
    }
    free(plan->changed.cell);
    free(plan->added.cell);
    free(plan->gone_rowid);
    free(plan->gone_value);
    *plan = (struct plan){.gone = 0};
}
