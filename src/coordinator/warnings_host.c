/* What the machine did during the runs, and whether they were long enough for it not to matter: one
 * warning a rule, however many engines it is about. */
#include "coordinator/warnings.h"

#include "base/buffer.h"
#include "base/units.h"
#include "coordinator/conditions.h"
#include "statistics/run_figures.h"

#include <math.h>

/* Steal and the CPU used by others may take this share of all cores unmentioned. */
#define HOST_SHARE_MAX 0.05
#define RUN_QUEUE_SHARE_MAX 0.10
#define RESIDENT_MIN 0.99
/* One interruption of some milliseconds is a large part of a shorter run. */
#define SHORT_RUN_NS (100 * UINT64_C(1000000))

/* A figure of one run, of which more is worse; NAN: not known. */
typedef double figure_of_run(const struct result_run *run);

static double others_of(const struct result_run *run)
{
    return run->cpu_others;
}

static double steal_of(const struct result_run *run)
{
    return run->steal;
}

static double run_queue_of(const struct result_run *run)
{
    return warnings_run_counts(run, (size_t)run->case_index) ? run_queue_share(run) : (double)NAN;
}

static double dirty_of(const struct result_run *run)
{
    return run->dirty_bytes == RESULT_ABSENT ? (double)NAN : (double)run->dirty_bytes;
}

static double missing_of(const struct result_run *run)
{
    return 1 - run->resident;
}

static const struct {
    figure_of_run *figure;
    double limit; /* more is told */
    double scale; /* of the figure in the text */
    const char *before, *after;
} rules[] = {
    {others_of, HOST_SHARE_MAX, 100, "other programs used", "% of the cores during a run"},
    {steal_of, HOST_SHARE_MAX, 100, "the hypervisor took", "% of the cores during a run"},
    {run_queue_of, RUN_QUEUE_SHARE_MAX, 100, "connections waited for a core during",
     "% of a run: their latencies hold that wait"},
    {dirty_of, CONDITIONS_DIRTY_MAX, 1e-6, "still to be written back when a run began:", "MB"},
    {missing_of, 1 - RESIDENT_MIN, 100, "not in the page cache when a run began:",
     "% of the copy: reads waited for the disk, and not alike in every run"},
};

static double worst_of(const struct result_engine *engine, figure_of_run *figure)
{
    double worst = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        /* Of a number and NAN fmax takes the number. */
        worst = fmax(worst, figure(&engine->runs.items[i]));
    }
    return worst;
}

static int warn_rule(struct result *result, size_t rule)
{
    struct buffer names;
    const char *only = NULL;
    size_t count = 0;
    double worst = 0;
    buffer_init(&names);
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        double of_engine = worst_of(engine, rules[rule].figure);
        /* Shares are sums of parts: what lies at the limit does not lie above it. */
        if (of_engine > rules[rule].limit * (1 + 1e-9)) {
            buffer_printf(&names, "%s%s", count > 0 ? ", " : "", engine->name);
            only = engine->name;
            worst = fmax(worst, of_engine);
            count++;
        }
    }
    int status = names.failed ? ERROR_MEMORY : 0;
    if (status == 0 && count == 1) {
        status = result_warn(result, only, "%s %.0f %s", rules[rule].before,
                             worst * rules[rule].scale, rules[rule].after);
    } else if (status == 0 && count > 1) {
        status = result_warn(result, NULL, "%s: %s up to %.0f %s",
                             count == result->engines.count ? "all engines" : names.data,
                             rules[rule].before, worst * rules[rule].scale, rules[rule].after);
    }
    buffer_release(&names);
    return status;
}

int warn_host(struct result *result)
{
    int status = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && status == 0; i++) {
        status = warn_rule(result, i);
    }
    return status;
}

int warn_short(struct result *result, const bool *exempt)
{
    uint64_t least_ns = SHORT_RUN_NS;
    uint64_t least_case = 0;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count && !exempt[i]; k++) {
            const struct result_run *run = &engine->runs.items[k];
            if (warnings_run_counts(run, (size_t)run->case_index) && run->window_ns < least_ns) {
                least_ns = run->window_ns;
                least_case = run->case_index;
            }
        }
    }
    if (least_ns == SHORT_RUN_NS) {
        return 0;
    }
    char length[UNITS_TEXT_SIZE];
    units_print_ns(length, (double)least_ns);
    return result_warn(result, NULL,
                       "some runs took less than 100 ms (%s in %s): one interruption changes their "
                       "figures, more iterations or a longer --duration make them steady",
                       length, result->cases.items[least_case].label);
}
