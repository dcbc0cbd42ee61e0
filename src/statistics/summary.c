#include "statistics/summary.h"

#include "statistics/curve.h"
#include "statistics/roles.h"
#include "statistics/rounds.h"
#include "statistics/run_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct result_figure over_runs(const struct runs *runs, struct sample *sample,
                                      double (*value)(const struct result_run *))
{
    for (size_t i = 0; i < runs->count; i++) {
        sample_add(sample, value(runs->items[i]));
    }
    return sample_take(sample);
}

static void summarize_runs(const struct runs *runs, struct sample *sample,
                           struct result_summary *summary)
{
    for (size_t i = 0; i < run_figure_count; i++) {
        struct result_figure *figure =
            (struct result_figure *)((char *)summary + run_figures[i].summary);
        *figure = over_runs(runs, sample, run_figures[i].value);
    }
}

/* One script of one run, as figures. */

/* Which of a script's histograms a time is of. */
enum times_of { TIMES_LATENCY, TIMES_SERVICE, TIMES_LAG };

/* NULL: nothing was measured; of a closed loop there are only latencies. */
static const struct histogram *samples_of(const struct result_script *script, enum times_of which)
{
    const struct histogram *histogram = which == TIMES_LATENCY   ? script->latency.histogram
                                        : which == TIMES_SERVICE ? script->service.histogram
                                                                 : script->lag.histogram;
    return histogram != NULL && histogram->count > 0 ? histogram : NULL;
}

static double script_rate(const struct result_run *run, const struct result_script *script)
{
    double operations = script_operations(script);
    return operations > 0 ? operations / run_role_window_s(run, script->role)
                          : 0 * run_window_s(run);
}

static double script_time_share(const struct result_run *run, const struct result_script *script)
{
    return run_measured(script->time_ns) /
           (run_window_s(run) * 1e9 * (double)run->connections.count);
}

static double script_rows_read(const struct result_run *run, const struct result_script *script)
{
    (void)run;
    return run_measured(script->rows_read) / script_operations(script);
}

static double script_rows_changed(const struct result_run *run, const struct result_script *script)
{
    (void)run;
    return run_measured(script->rows_changed) / script_operations(script);
}

static double script_slow(const struct result_run *run, const struct result_script *script)
{
    (void)run;
    return run_measured(script->slow);
}

static struct result_figure over_scripts(const struct runs *runs, struct sample *sample,
                                         const struct result_script_summary *summary,
                                         double (*value)(const struct result_run *,
                                                         const struct result_script *))
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct result_script *script =
            run_script(runs->items[i], summary->role, summary->script);
        if (script != NULL) {
            sample_add(sample, value(runs->items[i], script));
        }
    }
    return sample_take(sample);
}

/* The times of one script of one run; NULL: none. */
static const struct histogram *samples_in(const struct result_run *run,
                                          const struct result_script_summary *summary,
                                          enum times_of which)
{
    const struct result_script *script = run_script(run, summary->role, summary->script);
    return script == NULL ? NULL : samples_of(script, which);
}

static struct result_figure over_samples(const struct runs *runs, struct sample *sample,
                                         const struct result_script_summary *summary,
                                         enum times_of which,
                                         double (*value)(const struct histogram *))
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct histogram *samples = samples_in(runs->items[i], summary, which);
        if (samples != NULL) {
            sample_add(sample, value(samples));
        }
    }
    return sample_take(sample);
}

static double least_of(const struct histogram *samples)
{
    return (double)samples->min;
}

static double most_of(const struct histogram *samples)
{
    return (double)samples->max;
}

static const struct {
    uint32_t numerator, denominator;
} points[RESULT_POINT_COUNT] = {
#define X(id, label, numerator, denominator) {numerator, denominator},
    RESULT_POINTS(X)
#undef X
};

static struct result_figure over_percentiles(const struct runs *runs, struct sample *sample,
                                             const struct result_script_summary *summary,
                                             enum times_of which, size_t point)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct histogram *samples = samples_in(runs->items[i], summary, which);
        if (samples != NULL) {
            sample_add(sample, (double)histogram_percentile(samples, points[point].numerator,
                                                            points[point].denominator));
        }
    }
    return sample_take(sample);
}

static bool is_thin(const struct runs *runs, const struct result_script_summary *summary,
                    size_t point)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct histogram *samples = samples_in(runs->items[i], summary, TIMES_LATENCY);
        if (histogram_thin(samples == NULL ? 0 : samples->count, points[point].numerator,
                           points[point].denominator)) {
            return true;
        }
    }
    return false;
}

static int merge_samples(const struct runs *runs, const struct result_script_summary *summary,
                         enum times_of which, struct result_latency *merged)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct histogram *samples = samples_in(runs->items[i], summary, which);
        if (samples == NULL) {
            continue;
        }
        if (merged->histogram == NULL) {
            merged->histogram = malloc(sizeof(struct histogram));
            if (merged->histogram == NULL) {
                return ERROR_MEMORY;
            }
            histogram_reset(merged->histogram);
        }
        histogram_merge(merged->histogram, samples);
    }
    return 0;
}

static int summarize_times(const struct runs *runs, struct sample *sample,
                           const struct result_script_summary *summary, enum times_of which,
                           struct result_times *times)
{
    times->mean_ns = over_samples(runs, sample, summary, which, histogram_mean);
    times->min_ns = over_samples(runs, sample, summary, which, least_of);
    times->max_ns = over_samples(runs, sample, summary, which, most_of);
    for (size_t point = 0; point < RESULT_POINT_COUNT; point++) {
        times->points_ns[point] = over_percentiles(runs, sample, summary, which, point);
    }
    return merge_samples(runs, summary, which, &times->histogram);
}

static int summarize_script(const struct runs *runs, struct sample *sample,
                            struct result_script_summary *summary)
{
    struct result_times latency = {.histogram.histogram = NULL};
    summary->operations_per_second = over_scripts(runs, sample, summary, script_rate);
    summary->time_share = over_scripts(runs, sample, summary, script_time_share);
    summary->rows_read_each = over_scripts(runs, sample, summary, script_rows_read);
    summary->rows_changed_each = over_scripts(runs, sample, summary, script_rows_changed);
    summary->slow = over_scripts(runs, sample, summary, script_slow);
    int status = summarize_times(runs, sample, summary, TIMES_LATENCY, &latency);
    summary->mean_ns = latency.mean_ns;
    summary->min_ns = latency.min_ns;
    summary->max_ns = latency.max_ns;
    memcpy(summary->points_ns, latency.points_ns, sizeof(latency.points_ns));
    summary->latency = latency.histogram;
    for (size_t point = 0; point < RESULT_POINT_COUNT; point++) {
        summary->point_thin[point] = is_thin(runs, summary, point);
    }
    if (status == 0) {
        status = curve_of(summary->latency.histogram, &summary->curve);
    }
    if (status == 0) {
        status = summarize_times(runs, sample, summary, TIMES_SERVICE, &summary->service);
    }
    return status == 0 ? summarize_times(runs, sample, summary, TIMES_LAG, &summary->lag) : status;
}

static struct result_script_summary *script_summary(struct result_summary *summary,
                                                    const struct result_script *script)
{
    for (size_t i = 0; i < summary->scripts.count; i++) {
        struct result_script_summary *known = &summary->scripts.items[i];
        if (strcmp(known->role, script->role) == 0 && strcmp(known->script, script->script) == 0) {
            return known;
        }
    }
    struct result_script_summary *added = result_list_add(&summary->scripts);
    if (added != NULL) {
        added->role = strdup(script->role);
        added->script = strdup(script->script);
        added->write = script->write;
        if (added->role == NULL || added->script == NULL) {
            return NULL;
        }
    }
    return added;
}

/* What open loops offered; they are all of one kind in a case. */
static void add_offered(const struct result_run *run, struct result_summary *summary)
{
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (connection->offered == RESULT_ABSENT || connection->unstarted == RESULT_ABSENT) {
            continue;
        }
        if (summary->offered == RESULT_ABSENT) {
            summary->offered = summary->unstarted = 0;
        }
        summary->offered += connection->offered;
        summary->unstarted += connection->unstarted;
    }
}

static int add_outcomes(const struct result_engine *engine, size_t of,
                        struct result_summary *summary)
{
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (run->case_index != of) {
            continue;
        }
        add_offered(run, summary);
        for (size_t j = 0; j < run->scripts.count; j++) {
            const struct result_script *script = &run->scripts.items[j];
            struct result_script_summary *into = script_summary(summary, script);
            if (into == NULL) {
                return ERROR_MEMORY;
            }
            ROUNDS_ADD_OUTCOMES(into, script);
            ROUNDS_ADD_OUTCOMES(summary, script);
        }
    }
    return 0;
}

static int summarize_case(const struct result_engine *engine, size_t of, struct runs *runs,
                          struct sample *sample, struct result_summary *summary)
{
    runs->count = 0;
    result_summary_clear(summary);
    summary->rounds_ok = runs_select(engine, of, "ok", runs);
    if (runs->count == 0) {
        runs_select(engine, of, "partial", runs);
    }
    summarize_runs(runs, sample, summary);
    int status = add_outcomes(engine, of, summary);
    for (size_t i = 0; status == 0 && i < summary->scripts.count; i++) {
        status = summarize_script(runs, sample, &summary->scripts.items[i]);
    }
    return status == 0 ? summarize_roles(engine, of, runs, sample, summary) : status;
}

int summarize_engine(struct result_engine *engine, struct error *error)
{
    size_t room = engine->runs.count + 1;
    struct runs runs = {calloc(room, sizeof(*runs.items)), 0};
    struct sample sample = {calloc(room, sizeof(*sample.values)), 0};
    int status = runs.items != NULL && sample.values != NULL ? 0 : ERROR_MEMORY;
    for (size_t of = 0; of < engine->summaries.count && status == 0; of++) {
        status = summarize_case(engine, of, &runs, &sample, &engine->summaries.items[of]);
    }
    free(runs.items);
    free(sample.values);
    if (status != 0) {
        for (size_t of = 0; of < engine->summaries.count; of++) {
            result_summary_clear(&engine->summaries.items[of]);
        }
        error_set(error, ERROR_MEMORY, "out of memory while summing up %s",
                  engine->name == NULL ? "an engine" : engine->name);
    }
    return status;
}
