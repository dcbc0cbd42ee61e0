#include "statistics/numbers.h"

#include "statistics/curve.h"

#include <string.h>

/* In the line's unit: a time as it is, or the rows that it stands for by the second. */
static double in_unit(const struct result_numbers_line *line, uint64_t ns)
{
    return strcmp(line->unit, "1/s") == 0 ? (double)line->rows * 1e9 / (double)ns : (double)ns;
}

static int summarize_side(const struct result_numbers_line *line, struct result_numbers_side *side)
{
    const struct histogram *samples = side->latency.histogram;
    side->count = samples != NULL ? samples->count : 0;
    side->p99_thin = histogram_thin(side->count, 99, 100);
    if (side->count == 0) {
        return 0;
    }
    side->median = in_unit(line, histogram_percentile(samples, 50, 100));
    side->p99 = in_unit(line, histogram_percentile(samples, 99, 100));
    side->slowest = in_unit(line, samples->max);
    return curve_of(samples, &side->curve);
}

int summarize_numbers_line(struct result_numbers_line *line)
{
    int status = summarize_side(line, &line->pitot);
    return status == 0 ? summarize_side(line, &line->plain) : status;
}
