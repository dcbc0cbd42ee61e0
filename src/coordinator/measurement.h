/* What the parts of measure() share; internal to the coordinator. */
#ifndef PITOT_COORDINATOR_MEASUREMENT_H
#define PITOT_COORDINATOR_MEASUREMENT_H

#include "coordinator/check.h"
#include "coordinator/conditions.h"
#include "coordinator/data.h"
#include "coordinator/measure.h"

/* A worker that stands still for the busy timeout and this is ended. */
#define HEADWAY_BEYOND_BUSY_NS (UINT64_C(30) * 1000000000)
/* After the grace, this long for a result. */
#define RESULT_WAIT_NS (UINT64_C(10) * 1000000000)

/* What stands for a path in the job of an engine that stores nothing. */
#define NO_DATABASE "-"

/* A database of which copies are measured, and what it was made from. */
struct case_template {
    const struct suite *suite;
    const struct suite_scale *scale;
    const struct suite_scenario *scenario; /* whose variables it has */
    struct template_file file;
    row_counts rows; /* of every table; empty until they are counted */
};

/* What becomes of a case of the plan. */
struct measured_case {
    struct plan_case plan_case;
    size_t index;                   /* in plan, result.cases and the summaries of an engine */
    struct case_template *template; /* NULL: no engine stores anything */
    bool *alive;                    /* by engine: it has not failed in this case */
    bool again;                     /* the baseline runs twice, and has not failed in that */
    uint64_t rounds_left;           /* that are still to come, the one that is under way aside */
    uint64_t expected_ns;           /* of a run; PROGRESS_UNKNOWN */
    uint64_t spent_ns, spent_runs;  /* in runs, all that belongs to them included */
};

struct measurement {
    const struct plan *plan;
    const struct progress *progress;
    struct result *result;
    struct data_folder folder;
    RESULT_LIST(struct case_template *) templates; /* in the order of result.templates */
    struct measured_case *cases;                   /* by case of the plan */
    struct conditions conditions;
    bool *alive; /* by engine of the result: it has not failed in all cases */
};

static inline uint64_t measurement_headway_ns(const struct plan *plan)
{
    return (uint64_t)plan->busy_timeout_ms * 1000000 + HEADWAY_BEYOND_BUSY_NS;
}

/* Opens the data folder and fills host, plan, cases and engines of the result; measurement_end()
 * after success. */
int measurement_begin(struct measurement *m, struct error *error);
void measurement_end(struct measurement *m);
/* How many engines have not failed; the error when none is left. */
size_t measurement_count_alive(const struct measurement *m);
int measurement_none_left(const struct measurement *m, struct error *error);
/* How many engines have not failed in a case. */
size_t measurement_count_running(const struct measurement *m, const struct measured_case *measured);
/* An engine of the plan stores anything. */
bool measurement_any_database(const struct plan *plan);

/* The template of a case: one that this measurement has, or one that is found in the folder or
 * built through the engine that builds templates. It belongs to m. */
int measurement_template(struct measurement *m, const struct plan_case *plan_case,
                         struct case_template **out, struct error *error);

/* Its place in m->templates and result.templates. */
size_t measurement_template_index(const struct measurement *m,
                                  const struct case_template *template);

/* Opens every engine (hello) and notes who it is; engines that cannot be opened are marked. */
int measurement_identify(struct measurement *m, struct error *error);
/* Lets every engine open a copy, take the settings and prepare every statement of a case, so that
 * a mistake in a script is found before anything is timed. */
int measurement_preflight(struct measurement *m, struct measured_case *measured,
                          struct error *error);

/* Checks the answers of the engines once before the rounds: each engine's `verify` says what was
 * found, warnings tell of it. Engines that fail are marked. */
int measurement_answers(struct measurement *m, struct error *error);

/* What the result says of the machine and of the data folder. */
void measurement_fill_host(const char *folder, struct result_host *out);

/* Counts the rows of every table of the template of a case, on a copy, before the rounds. */
int measurement_count_template(struct measurement *m, const struct measured_case *measured,
                               struct error *error);

/* After a run, with the copy at `path`: fills run->check. What is wrong with the copy is not an
 * error; out of memory and a signal are. */
int measurement_check(struct measurement *m, const struct measured_case *measured, size_t engine,
                      const char *step, const char *path, struct result_run *run,
                      struct error *error);

/* Where a run stands. */
struct run_place {
    uint64_t round, position; /* from 1 */
    bool again;               /* the baseline's second run */
    uint64_t after_ns;        /* what all that comes after it may take; PROGRESS_UNKNOWN */
};
/* One engine in one case in one round. Failures of the engine go to the result; an error ends the
 * whole measurement. */
int measurement_run(struct measurement *m, struct measured_case *measured, size_t engine,
                    const struct run_place *place, struct error *error);

/* A run outside of the comparison, into `run` (in its empty state, with case and round): nothing is
 * checked afterwards, nothing kept. A failure of the engine is noted as one in the case, and
 * run->status is then not "ok". */
int measurement_trial(struct measurement *m, struct measured_case *measured, size_t engine,
                      const char *step, struct result_run *run, struct error *error);

/* Appends what the scripts of a case have for variables, with their values. 0 or ERROR_MEMORY. */
int measurement_variables(const struct plan_case *plan_case, result_pairs *out,
                          struct error *error);

/* Finds the number of executions of the cases that are only told how long they should last. */
int measurement_size_cases(struct measurement *m, struct error *error);

/* For cases whose rate is a share: runs every engine in a closed loop and chooses the rate. */
int measurement_rates(struct measurement *m, struct error *error);

/* Takes lengths and rates of cases from the earlier result, if there is one. ERROR_INVALID: it
 * cannot be compared with, and why. */
int measurement_look_back(struct measurement *m, struct error *error);
/* Ratios to the baseline engine of then say nothing of the others when it was another version of
 * it: ERROR_INVALID, and in what. After measurement_identify(). */
int measurement_same_baseline(struct measurement *m, struct error *error);
/* Takes the rounds that are whole out of the result to be resumed. ERROR_INVALID: it is of another
 * plan, host, engine or version, and in what is said. */
int measurement_resume(struct measurement *m, struct error *error);

/* All rounds that are not there yet, and again those that the host disturbed. */
int measurement_rounds(struct measurement *m, struct error *error);

/* After the rounds: the event loop of every engine that is alive, in its result. What an engine
 * does wrong is there and a warning; an error ends the whole measurement. */
int measurement_event_loops(struct measurement *m, struct error *error);

/* Marks an engine as failed; it is not run again. The message is noted at once. */
void measurement_fail(struct measurement *m, size_t engine, const char *message);
/* The same in one case: in the others it goes on; with no case left it has failed. */
void measurement_fail_case(struct measurement *m, struct measured_case *measured, size_t engine,
                           const char *message);

/* No failure: the engine lets no second process open the database, as it `said`, where the case
 * wants processes. It is left out of the case. 0 or ERROR_MEMORY. */
int measurement_unable(struct measurement *m, struct measured_case *measured, size_t engine,
                       const char *said, struct error *error);

/* A new copy of a template, in the page cache. */
int measurement_copy(struct measurement *m, const struct case_template *template, const char *label,
                     char **path, struct error *error);

/* "select-point, " in front of what is said of a case; "" where there is only one. A new string,
 * NULL: out of memory. */
char *measurement_prefix(const struct measurement *m, const struct measured_case *measured);

/* Adds what a reader of the numbers must be told. */
int measurement_warn(struct measurement *m, struct error *error);

#endif
