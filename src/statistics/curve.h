/* The distribution of samples as the points of a curve. */
#ifndef PITOT_STATISTICS_CURVE_H
#define PITOT_STATISTICS_CURVE_H

#include "result/result.h"

/* Appends the points of the samples, percentiles ascending: those that have a sample above them,
 * and the largest as 100. Nothing for NULL or no samples. 0 or ERROR_MEMORY. */
int curve_of(const struct histogram *samples, result_curve *out);

#endif
