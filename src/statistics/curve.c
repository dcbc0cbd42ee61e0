#include "statistics/curve.h"

/* Of 100,000, close together where curves bend. Those above the last sample say nothing. */
static const uint32_t points[] = {
    1000,  5000,  10000, 20000, 30000, 40000, 50000, 60000, 70000, 75000, 80000, 85000,
    90000, 92000, 94000, 95000, 96000, 97000, 98000, 99000, 99200, 99400, 99500, 99600,
    99700, 99800, 99900, 99920, 99940, 99950, 99960, 99970, 99980, 99990, 99995, 99999,
};

static int add(result_curve *curve, double percentile, uint64_t value_ns)
{
    struct result_curve_point *point = result_list_add(curve);
    if (point == NULL) {
        return ERROR_MEMORY;
    }
    *point = (struct result_curve_point){.percentile = percentile, .value_ns = value_ns};
    return 0;
}

int curve_of(const struct histogram *samples, result_curve *out)
{
    if (samples == NULL || samples->count == 0) {
        return 0;
    }
    int status = 0;
    for (size_t i = 0; i < sizeof points / sizeof *points && status == 0; i++) {
        uint32_t point = points[i];
        /* At least one sample above: count * (1 - p) >= 1. */
        if ((long double)samples->count * (100000 - point) >= 100000) {
            status = add(out, point / 1000.0, histogram_percentile(samples, point, 100000));
        }
    }
    return status == 0 ? add(out, 100, samples->max) : status;
}
