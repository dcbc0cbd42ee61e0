/* The comparison of a result: its tables, and ratios against an older result. */
#ifndef PITOT_STATISTICS_COMPARE_H
#define PITOT_STATISTICS_COMPARE_H

#include "result/result.h"

/*
 * Fills result->comparison anew: tables, intervals, verdicts, rounds that were repeated or stayed
 * disturbed. Baseline and disturbance_max stay, and so does the threshold, with which rows that are
 * slower are counted. Without a baseline nothing is compared. Summaries and their status must be
 * there. 0 or ERROR_MEMORY. Any thread.
 */
int compare_fill(struct result *result, struct error *error);

/*
 * Fills result->comparison.against from `before`, which was read from `file`, and counts the rows
 * that are slower by more than the threshold (NAN: by more than both noises). Nothing that is in
 * one of the two is left out: what cannot be compared has a note that says why. To be called after
 * compare_fill(). 0 or ERROR_MEMORY. Any thread.
 */
int compare_against(struct result *result, const struct result *before, const char *file,
                    struct error *error);

#endif
