/* The second opinion: another engine looks at the copy that an engine has left, where both have
 * one file format. An engine that misreads what it has miswritten finds nothing wrong with it. */
#include "coordinator/check_ask.h"

#include "core/error.h"

#include <stdlib.h>
#include <string.h>

/* Settings of its own may have made the file what no other engine reads: without them it is what
 * the others make of it, too. */
static int make_plain(struct measurement *m, const struct check_question *question,
                      struct error *error)
{
    struct result_run unused = {.round = 0};
    row_counts rows = {NULL, 0};
    bool able = false;
    struct check_question plain = *question;
    plain.manifest = NULL;
    plain.kind = "counts";
    int status = check_ask(m, &plain, &able, &rows, &unused.check, error);
    row_counts_release(&rows);
    result_run_release(&unused);
    return status;
}

/* Asks the other engine and judges what it finds, into `second`. */
static int ask_other(struct measurement *m, const struct check_question *question,
                     const struct engine_choice *other, const struct result_run *run,
                     struct result_check *second, struct error *error)
{
    row_counts found = {NULL, 0};
    bool able = false;
    const struct check_question asked = {.measured = question->measured,
                                         .choice = other,
                                         .manifest = other->manifest,
                                         .step = question->step,
                                         .path = question->path,
                                         .kind = question->kind};
    second->kind = strdup(question->kind);
    int status = second->kind != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    if (status == 0) {
        status = check_ask(m, &asked, &able, &found, second, error);
    }
    if (status == 0 && !able) {
        status = error_set(error, ERROR_UNAVAILABLE, "its worker cannot check a database");
    }
    if (status == ERROR_ENGINE && able) { /* it was asked, and cannot even read the file */
        second->problem = result_text("%s", error != NULL ? error->message : "it failed");
        error_clear(error);
        status = second->problem != NULL ? 0 : ERROR_MEMORY;
    } else if (status == 0 &&
               (check_count(&question->measured->plan_case, &question->measured->template->rows,
                            &found, run, second) != 0 ||
                check_judge(second) != 0)) {
        status = ERROR_MEMORY;
    }
    row_counts_release(&found);
    return status;
}

static int opinion(struct measurement *m, const struct check_question *question,
                   const struct engine_choice *other, struct result_run *run, struct error *error)
{
    struct result_run second = {.round = 0};
    int status = 0;
    if (question->choice->manifest->required.count > 0) {
        status = make_plain(m, question, error);
    }
    if (status == 0) {
        status = ask_other(m, question, other, run, &second.check, error);
    }
    if (status == 0 && ((run->check.second_opinion = strdup(other->name)) == NULL ||
                        check_compare(&run->check, &second.check, other->name) != 0)) {
        status = ERROR_MEMORY;
    }
    result_run_release(&second);
    return status;
}

int check_second_opinion(struct measurement *m, const struct check_question *question,
                         struct result_run *run, struct error *error)
{
    const struct engine_choice *choice = question->choice;
    const char *name = choice->manifest->second_opinion;
    struct error failure = ERROR_INIT;
    engine_choices others = {NULL, 0};
    result_warnings warnings = {NULL, 0};
    if (name == NULL) {
        return 0;
    }
    int status = registry_find(m->plan->registry, name) == NULL
                     ? error_set(&failure, ERROR_UNAVAILABLE, "there is no engine \"%s\"", name)
                     : registry_choose(m->plan->registry, name, &others, &warnings, &failure);
    if (status == 0) {
        status = opinion(m, question, &others.items[0], run, &failure);
    }
    if (status == ERROR_MEMORY || status == ERROR_INTERRUPTED) {
        status = error_set(error, status, "%s",
                           failure.code != 0 ? failure.message : "out of memory for the check");
    } else if (status != 0) {
        status = result_warn(m->result, choice->name, "no second opinion of %s on its files: %s",
                             name, failure.message);
        status = status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for the check");
    }
    engine_choices_release(&others);
    return status;
}
