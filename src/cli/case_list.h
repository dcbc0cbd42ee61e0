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
};

void case_list_release(struct case_list *list);

/* Opens a suite, which then belongs to the list: as session_suite(). */
int case_list_suite(struct case_list *list, struct session *session, const char *folder,
                    const char *builtin, struct suite **out, struct error *error, int *status);
/* Adds a case. 0 or ERROR_MEMORY, as the next one. */
int case_list_add(struct case_list *list, const struct plan_case *plan_case, struct error *error);
/* A copy of a scale whose variables may be changed; it belongs to the list. */
int case_list_scale(struct case_list *list, const struct suite_scale *from,
                    struct suite_scale **out, struct error *error);

#endif
