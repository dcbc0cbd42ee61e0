/*
 * How many executions a case gets that is only told how long it should last: as many as keep the
 * fastest engine busy for so long, and the same for all, since a table that grows gets slower.
 * Found by trials before the rounds, each in a new process on a new copy, none of them in the
 * comparison: a short one of each engine, then the number that follows from the fastest one by all
 * that come near to it. A short trial alone would find an engine cold and take too few.
 */
#include "coordinator/measurement.h"

#include "coordinator/interrupt.h"
#include "core/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_NS (100 * NS_PER_MS)
#define SHORT_WARMUP_NS (50 * NS_PER_MS)
/* So much more than seems to be needed: the next run may be faster. */
#define MARGIN 1.1
/* An engine at most this many times slower in its short trial may be the fastest one when warm. */
#define NEAR 3.0
/* Trials with a number that grows until it lasts. */
enum { TRIALS_MAX = 4 };
/* Copy, process and fair start of a run, for the time that is shown as left. */
#define AROUND_RUN_NS (400 * NS_PER_MS)

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory");
}

struct sizing {
    struct measurement *m;
    struct measured_case *measured;
    double *rates; /* executions a second a connection, by engine; 0: none */
    uint64_t executions;
};

/* An engine that stores nothing says how fast pitot is: it must not set the number for the others.
 */
static bool takes_part(const struct sizing *sizing, size_t engine)
{
    const struct measurement *m = sizing->m;
    return m->alive[engine] && sizing->measured->alive[engine] &&
           (!m->plan->engines->items[engine].manifest->no_database ||
            !measurement_any_database(m->plan));
}

static double rate_of(const struct result_run *run)
{
    double ok = 0;
    for (size_t i = 0; i < run->scripts.count; i++) {
        ok += (double)run->scripts.items[i].ok;
    }
    if (run->window_ns == RESULT_ABSENT || run->window_ns == 0 || run->connections.count == 0) {
        return 0;
    }
    return ok * 1e9 / ((double)run->window_ns * (double)run->connections.count);
}

/* One trial. *window_ns is 0 when the engine failed in it, which is then noted. */
static int trial(const struct sizing *sizing, size_t engine, const struct plan_case *plan_case,
                 uint64_t *window_ns, struct error *error)
{
    struct measurement *m = sizing->m;
    struct measured_case tried = *sizing->measured;
    struct result_run run;
    char *prefix = measurement_prefix(m, sizing->measured);
    char *step = prefix != NULL ? result_text("%s%s: trial to find the iterations", prefix,
                                              m->result->engines.items[engine].name)
                                : NULL;
    memset(&run, 0, sizeof run);
    result_run_init(&run);
    run.case_index = sizing->measured->index;
    run.round = 1;
    tried.plan_case = *plan_case;
    tried.expected_ns = PROGRESS_UNKNOWN;
    int status =
        step != NULL ? measurement_trial(m, &tried, engine, step, &run, error) : no_memory(error);
    bool ok = status == 0 && run.status != NULL && strcmp(run.status, "ok") == 0;
    *window_ns = ok ? run.window_ns : 0;
    sizing->rates[engine] = ok ? rate_of(&run) : 0;
    result_run_release(&run);
    free(prefix);
    free(step);
    if (status == 0 && interrupt_requested()) {
        status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
    }
    return status;
}

static int try_shortly(const struct sizing *sizing, struct error *error)
{
    struct plan_case plan_case = sizing->measured->plan_case;
    uint64_t window_ns;
    int status = 0;
    plan_case.operations = RESULT_ABSENT;
    plan_case.duration_ns = SHORT_NS;
    plan_case.warmup_ns = SHORT_WARMUP_NS;
    plan_case.warmup_operations = RESULT_ABSENT;
    for (size_t i = 0; i < sizing->m->plan->engines->count && status == 0; i++) {
        if (takes_part(sizing, i)) {
            status = trial(sizing, i, &plan_case, &window_ns, error);
        }
    }
    return status;
}

static double fastest(const struct sizing *sizing)
{
    double most = 0;
    for (size_t i = 0; i < sizing->m->plan->engines->count; i++) {
        most = fmax(most, sizing->rates[i]);
    }
    return most;
}

static void set_length(struct plan_case *plan_case, uint64_t executions)
{
    plan_case->operations = executions;
    if (plan_case->warmup_tenth) {
        plan_case->warmup_operations = executions / 10 + (executions % 10 != 0 ? 1 : 0);
    }
}

/* Executions that take `ns` at `rate` a second, at least one. */
static uint64_t executions_for(double rate, uint64_t ns)
{
    return (uint64_t)fmax(1, ceil(rate * (double)ns / 1e9 * MARGIN));
}

/* Raises sizing->executions until this engine needs long enough for them. */
static int try_in_full(struct sizing *sizing, size_t engine, struct error *error)
{
    struct plan_case plan_case = sizing->measured->plan_case;
    int status = 0;
    for (int i = 0; i < TRIALS_MAX && status == 0; i++) {
        uint64_t window_ns;
        set_length(&plan_case, sizing->executions);
        status = trial(sizing, engine, &plan_case, &window_ns, error);
        if (status != 0 || window_ns == 0 || window_ns >= plan_case.least_ns) {
            break;
        }
        uint64_t more = executions_for(sizing->rates[engine], plan_case.least_ns);
        sizing->executions = more > sizing->executions ? more : sizing->executions + 1;
    }
    return status;
}

/* A run of the case, averaged over the engines: what the time left is made of. */
static uint64_t run_ns(const struct sizing *sizing)
{
    const struct plan_case *plan_case = &sizing->measured->plan_case;
    double warmup =
        plan_case->warmup_operations != RESULT_ABSENT ? (double)plan_case->warmup_operations : 0;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < sizing->m->plan->engines->count; i++) {
        if (sizing->rates[i] > 0) {
            sum += ((double)plan_case->operations + warmup) / sizing->rates[i];
            count++;
        }
    }
    uint64_t timed = plan_case->warmup_ns != RESULT_ABSENT ? plan_case->warmup_ns : 0;
    return AROUND_RUN_NS + timed + (count > 0 ? (uint64_t)(sum / (double)count * 1e9) : 0);
}

static void tell(const struct sizing *sizing)
{
    const struct measurement *m = sizing->m;
    double most = fastest(sizing);
    for (size_t i = 0; i < m->plan->engines->count; i++) {
        if (most > 0 && sizing->rates[i] >= most) {
            char *text = result_text("%s: %" PRIu64 " iterations (%s does %.0f a second)",
                                     sizing->measured->plan_case.label, sizing->executions,
                                     m->result->engines.items[i].name, most);
            if (text != NULL) {
                m->progress->done(m->progress->context, text);
            }
            free(text);
            return;
        }
    }
}

static int size_case(struct sizing *sizing, struct error *error)
{
    struct plan_case *plan_case = &sizing->measured->plan_case;
    int status = try_shortly(sizing, error);
    double most = fastest(sizing);
    sizing->executions = executions_for(most, plan_case->least_ns);
    for (size_t i = 0; i < sizing->m->plan->engines->count && status == 0; i++) {
        if (takes_part(sizing, i) && sizing->rates[i] * NEAR >= most) {
            status = try_in_full(sizing, i, error);
        }
    }
    if (status == 0) {
        struct result_case *out = &sizing->m->result->cases.items[sizing->measured->index];
        set_length(plan_case, sizing->executions);
        out->operations = plan_case->operations;
        out->warmup_operations = plan_case->warmup_operations;
        sizing->measured->expected_ns = run_ns(sizing);
        tell(sizing);
    }
    return status;
}

int measurement_size_cases(struct measurement *m, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->plan->case_count && status == 0; i++) {
        struct sizing sizing = {.m = m, .measured = &m->cases[i]};
        if (sizing.measured->plan_case.least_ns == 0) {
            continue;
        }
        sizing.rates = calloc(m->plan->engines->count, sizeof *sizing.rates);
        status = sizing.rates != NULL ? size_case(&sizing, error) : no_memory(error);
        free(sizing.rates);
    }
    return status;
}
