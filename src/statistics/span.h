/* Median and range: how a figure is shown over rounds. */
#ifndef PITOT_STATISTICS_SPAN_H
#define PITOT_STATISTICS_SPAN_H

#include <stddef.h>

struct span {
    double median; /* of an even number: the mean of the middle two */
    double min, max;
};

/* Sorts the values, none of which is NAN. All NAN for n = 0. */
struct span span_of(double *values, size_t n);

#endif
