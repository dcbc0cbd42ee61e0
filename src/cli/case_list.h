/* The cases of a plan as they are put together, and what they point to. */
#ifndef PITOT_CLI_CASE_LIST_H
#define PITOT_CLI_CASE_LIST_H

#include "cli/session.h"

struct case_list {
    RESULT_LIST(struct plan_case) cases;
    /* Owned. */
    RESULT_LIST(struct suite *) suites;
    RESULT_LIST(struct suite_scale *)
    scales; /* with variables of their own; all else is a suite's */
    RESULT_LIST(char *) labels;
};

void case_list_release(struct case_list *list);

/* Opens a suite, which then belongs to the list: as session_suite(). */
int case_list_suite(struct case_list *list, struct session *session, const char *folder,
                    const char *builtin, struct suite **out, struct error *error, int *status);
/* Adds a case. 0 or ERROR_MEMORY, as those below. */
int case_list_add(struct case_list *list, const struct plan_case *plan_case, struct error *error);
/* Gives a label to the list: it takes a new string, NULL: out of memory. */
int case_list_label(struct case_list *list, char *label, struct error *error);

/* The scenarios that `named`, the value of the option `flag`, names in its order; NULL: all.
 * *chosen holds their indices (free()). ERROR_INVALID: as list_of_names(). */
int case_list_scenarios(const struct suite *suite, const char *flag, const char *noun,
                        const char *named, size_t **chosen, size_t *count, struct error *error);
/* Gives a plan all cases; they stay the list's. */
void case_list_plan(const struct case_list *list, struct plan *plan);

struct scale_value {
    const char *variable; /* of the scale */
    uint64_t value;       /* OPTION_ABSENT: it stays as it is */
};
/* A scale with values put over its variables; it belongs to the list. Its `bytes` grow as the
 * variable "rows" does. */
int case_list_scale(struct case_list *list, const struct suite_scale *from,
                    const struct scale_value *values, size_t count, const struct suite_scale **out,
                    struct error *error);

#endif
