#include "numbers/measured.h"

#include "statistics/numbers.h"
#include "statistics/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct histogram *new_histogram(void)
{
    struct histogram *histogram = malloc(sizeof *histogram);
    if (histogram != NULL) {
        histogram_reset(histogram);
    }
    return histogram;
}

int measured_begin(struct measured *measured, const char *group, const char *name, const char *unit,
                   uint64_t rows, struct error *error)
{
    struct result_numbers_line *line = &measured->line;
    *measured = (struct measured){.failed = false};
    result_numbers_line_init(line);
    line->group = strdup(group);
    line->name = strdup(name);
    line->unit = strdup(unit);
    line->rows = rows;
    line->pitot.latency.histogram = new_histogram();
    line->plain.latency.histogram = new_histogram();
    if (line->group == NULL || line->name == NULL || line->unit == NULL ||
        line->pitot.latency.histogram == NULL || line->plain.latency.histogram == NULL) {
        measured_release(measured);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    return 0;
}

void measured_ratio(struct measured *measured, double ratio)
{
    double *item = isfinite(ratio) ? result_list_add(&measured->ratios) : NULL;
    if (item != NULL) {
        *item = ratio;
    }
    measured->failed = measured->failed || (isfinite(ratio) && item == NULL);
}

void measured_round(struct measured *measured, uint64_t pitot_ns, uint64_t plain_ns)
{
    histogram_add(measured->line.pitot.latency.histogram, pitot_ns);
    histogram_add(measured->line.plain.latency.histogram, plain_ns);
    measured_ratio(measured, (double)pitot_ns / (double)plain_ns);
}

int measured_end(struct measured *measured, struct result_numbers *out, struct error *error)
{
    struct result_numbers_line *line = &measured->line;
    line->rounds = measured->ratios.count;
    line->ratio = span_of(measured->ratios.items, measured->ratios.count).median;
    int status = measured->failed ? ERROR_MEMORY : summarize_numbers_line(line);
    struct result_numbers_line *added = status == 0 ? result_list_add(&out->lines) : NULL;
    if (added == NULL) {
        measured_release(measured);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    *added = *line;
    free(measured->ratios.items);
    *measured = (struct measured){.failed = false};
    return 0;
}

void measured_release(struct measured *measured)
{
    if (measured->line.group != NULL || measured->line.pitot.latency.histogram != NULL) {
        result_numbers_line_release(&measured->line);
    }
    free(measured->ratios.items);
    *measured = (struct measured){.failed = false};
}
