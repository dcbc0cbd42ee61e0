/* The figures of a line of `pitot numbers`, out of its samples. */
#ifndef PITOT_STATISTICS_NUMBERS_H
#define PITOT_STATISTICS_NUMBERS_H

#include "result/result.h"

/* Fills the figures and the curve of both sides of a line, whose unit, rows and histograms are
 * there. 0 or ERROR_MEMORY. */
int summarize_numbers_line(struct result_numbers_line *line);

#endif
