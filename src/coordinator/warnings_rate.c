/* Whether the engines kept up with an open loop. */
#include "coordinator/warnings.h"

#include "statistics/run_figures.h"

#include <inttypes.h>
#include <math.h>

/* A run that began less than this of what was due is saturated. */
#define BEGUN_LEAST 0.99

/* One for all cases. */
static int warn_waiting(struct result *result)
{
    for (size_t of = 0; of < result->cases.count; of++) {
        if (isfinite(result->cases.items[of].rate) && result->engines.count > 1) {
            return result_warn(result, NULL,
                               "at a rate CPU an operation holds the workers' own waiting for the "
                               "next one, more of it the faster the engine is: it is not compared");
        }
    }
    return 0;
}

int warn_rate(struct result *result)
{
    int status = warn_waiting(result);
    for (size_t of = 0; of < result->cases.count && status == 0; of++) {
        double share = result->cases.items[of].rate_share;
        if (share > 1) {
            status = warnings_tell(result, NULL, of,
                                   "the rate is %g %% of what the slowest engine did in a closed "
                                   "loop: that engine must fall behind",
                                   share * 100);
        }
    }
    return status;
}

/* The share of what was due that began; NAN: a closed loop, or nothing to speak of is missing. */
static double saturated_share(const struct result_run *run)
{
    double begun = 1 - run_left_behind(run, NULL);
    return begun < BEGUN_LEAST ? begun : (double)NAN;
}

int warn_saturated(struct result *result, const struct result_engine *engine, size_t of)
{
    double least = (double)NAN;
    uint64_t round = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        double share = warnings_run_counts(run, of) ? saturated_share(run) : (double)NAN;
        if (share < least || (isnan(least) && !isnan(share))) {
            least = share;
            round = run->round;
        }
    }
    if (isnan(least)) {
        return 0;
    }
    return warnings_tell(result, engine->name, of,
                         "saturated: %.1f %% of the offered operations were begun (round %" PRIu64
                         "); its latencies grow with the length of the run and tell only that it "
                         "cannot keep up",
                         least * 100, round);
}
