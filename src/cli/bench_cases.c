#include "cli/bench_cases.h"

#include <math.h>
#include <stdlib.h>

static struct plan_case case_of(const struct plan *plan, const struct suite *suite,
                                const struct suite_scale *scale,
                                const struct suite_scenario *scenario,
                                const struct bench_load *load, const struct option_amount *warmup)
{
    bool by_default = warmup->ns == OPTION_ABSENT && warmup->operations == OPTION_ABSENT;
    return (struct plan_case){
        .plan = plan,
        .label = scenario->name,
        .suite = suite,
        .scale = scale,
        .scenario = scenario,
        .threads = 1,
        .duration_ns = UINT64_MAX,
        .operations = load->iterations,
        .warmup_ns = warmup->ns,
        .warmup_operations = by_default ? (load->iterations + 9) / 10 : warmup->operations,
        .least_ns = load->iterations == 0 ? load->min_time_ns : 0,
        .warmup_tenth = by_default,
        .rate = (double)NAN,
    };
}

int bench_cases_add(struct case_list *list, const struct plan *plan, const struct suite *suite,
                    const struct bench_load *load, const struct option_amount *warmup,
                    struct error *error)
{
    const struct scale_value rows = {"rows", load->rows};
    const struct suite_scale *scale = NULL;
    size_t *chosen = NULL;
    size_t count = 0;
    int code = case_list_scale(list, &suite->scales[0], &rows, 1, &scale, error);
    if (code == 0) {
        code = case_list_scenarios(suite, "--workloads", "workload", load->workloads, &chosen,
                                   &count, error);
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        const struct plan_case one =
            case_of(plan, suite, scale, &suite->scenarios[chosen[i]], load, warmup);
        code = case_list_add(list, &one, error);
    }
    free(chosen);
    return code;
}
