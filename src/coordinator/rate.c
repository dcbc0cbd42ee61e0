/* A rate that is a share of what the slowest engine does: measured first, and the same for all. */
#include "coordinator/interrupt.h"
#include "coordinator/measurement.h"
#include "statistics/run_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a job takes as its rate (docs/worker-protocol.md). */
#define RATE_LEAST 0.001
#define RATE_MOST 1e9

/* Takes the text; NULL: out of memory, and nothing is told. */
static void tell(struct measurement *m, char *text)
{
    if (text != NULL) {
        m->progress->done(m->progress->context, text);
    }
    free(text);
}

static int note_closed(struct measurement *m, const struct measured_case *measured, size_t index,
                       double throughput, struct error *error)
{
    struct result_case *of = &m->result->cases.items[measured->index];
    struct result_closed_loop *loop = result_list_add(&of->closed_loops);
    if (loop == NULL || (loop->engine = strdup(m->result->engines.items[index].name)) == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the result");
    }
    loop->operations_per_second = throughput;
    return 0;
}

/* One engine in a closed loop. An engine that fails or does nothing is marked and left out. */
static int run_closed(struct measurement *m, struct measured_case *measured, size_t index,
                      struct error *error)
{
    const char *name = m->result->engines.items[index].name;
    char *prefix = measurement_prefix(m, measured);
    char *step =
        prefix != NULL ? result_text("%s%s: closed loop, to choose the rate", prefix, name) : NULL;
    struct result_run run = {.case_index = 0};
    int status = step != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    result_run_init(&run);
    run.case_index = measured->index;
    run.round = (uint64_t)m->plan->rounds + 1; /* draws other numbers than those that count */
    if (status == 0) {
        status = measurement_trial(m, measured, index, step, &run, error);
    }
    double throughput = run_operations_per_second(&run, NULL);
    if (status == 0 && measured->alive[index] && !(throughput > 0)) {
        measurement_fail_case(m, measured, index,
                              "it ended no operation in a closed loop: there is no share of that");
    }
    if (status == 0 && measured->alive[index]) {
        status = note_closed(m, measured, index, throughput, error);
        tell(m, result_text("%s: %.0f operations/s", step, throughput));
    }
    result_run_release(&run);
    free(prefix);
    free(step);
    return status;
}

static void choose(struct measurement *m, struct measured_case *measured)
{
    struct result_case *of = &m->result->cases.items[measured->index];
    const struct result_closed_loop *slowest = &of->closed_loops.items[0];
    for (size_t i = 1; i < of->closed_loops.count; i++) {
        const struct result_closed_loop *loop = &of->closed_loops.items[i];
        slowest = loop->operations_per_second < slowest->operations_per_second ? loop : slowest;
    }
    double rate = of->rate_share * slowest->operations_per_second;
    rate = rate < RATE_LEAST ? RATE_LEAST : rate > RATE_MOST ? RATE_MOST : rate;
    of->rate = rate;
    measured->plan_case.rate = rate;
    char *prefix = measurement_prefix(m, measured);
    tell(m, result_text("%srate: %.6g operations/s, %g %% of the slowest closed loop, %s with "
                        "%.0f operations/s",
                        prefix != NULL ? prefix : "", rate, of->rate_share * 100, slowest->engine,
                        slowest->operations_per_second));
    free(prefix);
}

int measurement_rates(struct measurement *m, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->plan->case_count && status == 0; i++) {
        struct measured_case *measured = &m->cases[i];
        if (!(measured->plan_case.rate_share > 0) || isfinite(measured->plan_case.rate)) {
            continue;
        }
        for (size_t k = 0; k < m->plan->engines->count && status == 0; k++) {
            if (m->alive[k] && measured->alive[k]) {
                status = run_closed(m, measured, k, error);
            }
            if (status == 0 && interrupt_requested()) {
                status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
            }
        }
        if (status == 0 && m->result->cases.items[i].closed_loops.count > 0) {
            choose(m, measured);
        }
    }
    return status;
}
