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

struct measurement {
    const struct plan *plan;
    const struct progress *progress;
    struct result *result;
    struct data_folder folder;
    struct template_file template;
    bool has_template;
    row_counts rows; /* of every table of the template */
    struct conditions conditions;
    bool *alive; /* by engine of the result */
};

static inline uint64_t measurement_headway_ns(const struct plan *plan)
{
    return (uint64_t)plan->busy_timeout_ms * 1000000 + HEADWAY_BEYOND_BUSY_NS;
}

/* Opens the data folder and fills host, plan (without what it does not name) and engines of the
 * result; measurement_end() after success. */
int measurement_begin(struct measurement *m, struct error *error);
void measurement_end(struct measurement *m);
/* How many engines have not failed; the error when none is left. */
size_t measurement_count_alive(const struct measurement *m);
int measurement_none_left(const struct measurement *m, struct error *error);
/* An engine of the plan stores anything. */
bool measurement_any_database(const struct plan *plan);

/* Finds or builds the template through its engine. */
int measurement_template(struct measurement *m, struct error *error);

/* Opens every engine (hello) and notes who it is; engines that cannot be opened are marked. */
int measurement_identify(struct measurement *m, struct error *error);
/* Lets every engine open a copy, take the settings and prepare every statement, so that a
 * mistake in a script is found before anything is timed. */
int measurement_preflight(struct measurement *m, struct error *error);

/* Checks the answers of the engines once before the rounds: each engine's `verify` says what was
 * found, warnings tell of it. Engines that fail are marked. */
int measurement_answers(struct measurement *m, struct error *error);

/* Counts the rows of every table of the template, on a copy, once before the rounds. */
int measurement_count_template(struct measurement *m, struct error *error);

/* After a run, with the copy at `path`: fills run->check. What is wrong with the copy is not an
 * error; out of memory and a signal are. */
int measurement_check(struct measurement *m, size_t engine, const char *step, const char *path,
                      struct result_run *run, struct error *error);

/* One engine in one round (round, position from 1). Failures of the engine go to the result;
 * an error ends the whole measurement. */
int measurement_run(struct measurement *m, size_t engine, uint64_t round, uint64_t position,
                    struct error *error);

/* After the rounds: the event loop of every engine that is alive, in its result. What an engine
 * does wrong is there and a warning; an error ends the whole measurement. */
int measurement_event_loops(struct measurement *m, struct error *error);

/* Marks an engine as failed; it is not run again. The message is noted at once. */
void measurement_fail(struct measurement *m, size_t engine, const char *message);

/* A new copy of the template for an engine, in the page cache; NULL for one without database. */
int measurement_copy(struct measurement *m, const char *label, char **path, struct error *error);

/* Adds what a reader of the numbers must be told. */
int measurement_warn(struct measurement *m, struct error *error);

#endif
