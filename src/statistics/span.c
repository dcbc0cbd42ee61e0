#include "statistics/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x;
    double y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

struct span span_of(double *values, size_t n)
{
    struct span span = {(double)NAN, (double)NAN, (double)NAN};
    if (n > 0) {
        qsort(values, n, sizeof(*values), compare_doubles);
        span.min = values[0];
        span.max = values[n - 1];
        span.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    }
    return span;
}
