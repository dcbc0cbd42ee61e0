#include "cli/concurrent_cases.h"

#include "cli/list.h"
#include "core/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_NS (3 * NS_PER_S)

const char *const concurrent_isolations[] = {"threads", "processes", NULL};

/* What all cases are made from. */
struct origin {
    const struct plan *plan;
    const struct suite *suite;
    const struct suite_scale *scale;
    const struct concurrent_load *load;
    const struct prod_options *common;
};

static int check_batch(const struct concurrent_load *load, struct error *error)
{
    if (load->ops != OPTION_ABSENT && load->batch > load->ops) {
        return error_set(error, ERROR_INVALID,
                         "--batchSize: a transaction of %" PRIu64
                         " inserts is more than the %" PRIu64 " operations of --ops",
                         load->batch, load->ops);
    }
    return 0;
}

/* A transaction of a batch counts for as many operations. */
static void count_batches(struct suite *suite, uint64_t batch)
{
    for (size_t i = 0; i < suite->script_count; i++) {
        if (suite->scripts[i].kind == SUITE_WRITE) {
            suite->scripts[i].operations = (uint32_t)batch;
        }
    }
}

static int add_case(struct case_list *list, const struct origin *origin,
                    const struct suite_scenario *scenario, uint64_t threads, struct error *error)
{
    const struct concurrent_load *load = origin->load;
    const struct prod_options *common = origin->common;
    bool timed = load->ops == OPTION_ABSENT;
    char *label = result_text("%s ×%" PRIu64, scenario->name, threads);
    const struct plan_case one = {
        .plan = origin->plan,
        .label = label,
        .suite = origin->suite,
        .scale = origin->scale,
        .scenario = scenario,
        .threads = (uint32_t)threads,
        .duration_ns = !timed                                 ? UINT64_MAX
                       : common->duration_ns == OPTION_ABSENT ? DURATION_NS
                                                              : common->duration_ns,
        .operations = timed ? UINT64_MAX : load->ops,
        .count_operations = true,
        .warmup_ns = common->warmup.ns,
        .warmup_operations = common->warmup.operations,
        .rate = common->rate.per_second,
        .rate_share = common->rate.share,
        .processes = strcmp(load->isolation, "processes") == 0,
    };
    int code = case_list_label(list, label, error);
    return code == 0 ? case_list_add(list, &one, error) : code;
}

static int add_scenarios(struct case_list *list, const struct origin *origin,
                         const uint64_t *threads, size_t thread_count, struct error *error)
{
    const struct suite *suite = origin->suite;
    size_t *chosen = NULL;
    size_t count = 0;
    int code = case_list_scenarios(suite, "--scenario", "scenario", origin->load->scenarios,
                                   &chosen, &count, error);
    for (size_t i = 0; code == 0 && i < count; i++) {
        for (size_t k = 0; code == 0 && k < thread_count; k++) {
            code = add_case(list, origin, &suite->scenarios[chosen[i]], threads[k], error);
        }
    }
    free(chosen);
    return code;
}

int concurrent_cases_add(struct case_list *list, const struct plan *plan, struct suite *suite,
                         const struct concurrent_load *load, const struct prod_options *common,
                         uint64_t rows, struct error *error)
{
    const struct scale_value values[] = {{"rows", rows}, {"batch", load->batch}};
    struct origin origin = {.plan = plan, .suite = suite, .load = load, .common = common};
    uint64_t *threads = NULL;
    size_t count = 0;
    int code = check_batch(load, error);
    if (code == 0) {
        code = list_of_counts("--threads", "number of connections",
                              load->threads != NULL ? load->threads : CONCURRENT_THREADS, 1,
                              CONCURRENT_CONNECTIONS_MAX, &threads, &count, error);
    }
    if (code == 0) {
        count_batches(suite, load->batch);
        code = case_list_scale(list, &suite->scales[0], values, sizeof values / sizeof *values,
                               &origin.scale, error);
    }
    code = code == 0 ? add_scenarios(list, &origin, threads, count, error) : code;
    free(threads);
    return code;
}
