/* Asking workers what is in a copy after a run. Internal to the coordinator. */
#ifndef PITOT_COORDINATOR_CHECK_ASK_H
#define PITOT_COORDINATOR_CHECK_ASK_H

#include "coordinator/measurement.h"

struct check_question {
    const struct measured_case *measured; /* whose copy it is */
    const struct engine_choice *choice;
    const struct manifest
        *manifest;    /* whose required settings are made; NULL: none but the plan's */
    const char *step; /* for the progress that is shown */
    const char *path;
    const char *kind;
};

/* One check job in a fresh worker. *able: the worker takes such jobs; if it does not, nothing
 * else is filled. */
int check_ask(struct measurement *m, const struct check_question *question, bool *able,
              row_counts *rows, struct result_check *check, struct error *error);

/* Has another engine look at the copy, as the manifest of `question->choice` has it, and puts the
 * two opinions together in run->check. Called once that is judged, and the engine itself is done
 * with the copy. Where the other one cannot be asked a warning says why. 0, ERROR_MEMORY or
 * ERROR_INTERRUPTED. */
int check_second_opinion(struct measurement *m, const struct check_question *question,
                         struct result_run *run, struct error *error);

#endif
