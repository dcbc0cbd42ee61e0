/* What must be in a copy after a run, and whether it is. Internal to the coordinator. */
#ifndef PITOT_COORDINATOR_CHECK_H
#define PITOT_COORDINATOR_CHECK_H

#include "coordinator/measure.h"

struct row_count {
    char *table;
    uint64_t rows;
};
typedef RESULT_LIST(struct row_count) row_counts;

void row_counts_release(row_counts *counts);

/* The kind of check after a round (from 1): "full", "quick" or "counts"; static. */
const char *check_kind(const struct plan *plan, uint64_t round);

/* Fills check->counts: for each table of the template, rows there + acknowledged inserts -
 * acknowledged deletes beside what was found. Where a statement, the schema or load.sql makes that
 * uncertain the table is not checked, and why is said. Tables that are new are let be: engines have
 * some of their own. 0 or ERROR_MEMORY. */
int check_count(const struct plan_case *plan_case, const row_counts *before,
                const row_counts *after, const struct result_run *run, struct result_check *check);

/* Sets check->problem to the first thing that is wrong with the counts, then with the integrity,
 * unless there is a problem already. 0 or ERROR_MEMORY. */
int check_judge(struct result_check *check);

/* Puts two opinions on one file together: `second` is what the engine `other` found, judged as
 * `check` is. Where they differ check->problem says what each found. 0 or ERROR_MEMORY. */
int check_compare(struct result_check *check, const struct result_check *second, const char *other);

#endif
