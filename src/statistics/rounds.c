#include "statistics/rounds.h"

#include "statistics/span.h"

#include <math.h>
#include <string.h>

void sample_add(struct sample *sample, double value)
{
    if (isfinite(value)) {
        sample->values[sample->count++] = value;
    }
}

struct result_figure sample_take(struct sample *sample)
{
    struct span span = span_of(sample->values, sample->count);
    sample->count = 0;
    return (struct result_figure){.median = span.median, .min = span.min, .max = span.max};
}

size_t runs_select(const struct result_engine *engine, size_t of, const char *status,
                   struct runs *runs)
{
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (run->case_index == of && run->status != NULL && strcmp(run->status, status) == 0) {
            runs->items[runs->count++] = run;
        }
    }
    return runs->count;
}
