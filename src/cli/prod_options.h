/* The options of `pitot prod`, and what they mean as a plan. */
#ifndef PITOT_CLI_PROD_OPTIONS_H
#define PITOT_CLI_PROD_OPTIONS_H

#include "cli/options.h"
#include "coordinator/measure.h"

struct prod_options {
    const char *engines;  /* NULL: the default engines that are ready */
    const char *scale;    /* NULL: small, or the workload's first */
    const char *workload; /* NULL: the built-in prod */
    const char *dir;      /* NULL: $BENCH_DATA_DIR, or data */
    const char *json;     /* "-": standard output */
    const char *html;
    const char *busy;
    const char *check; /* NULL: full in the first and last round, else counts */
    uint64_t threads, rounds, max_tries, seed;
    uint64_t duration_ns, timeout_ns, latency_limit_ns, every_ns;
    uint64_t grace_ns; /* OPTION_ABSENT: the smaller of timeout and 5 s */
    struct option_amount warmup;
    struct option_rate rate;
    int64_t cache_size;
    result_pairs pragmas;
    result_pairs engine_options; /* NAME.KEY, VALUE */
    bool fresh, keep, quiet, event_loop;
};

extern const struct option_table prod_option_table;
/* What --check takes; ends with NULL. */
extern const char *const prod_check_names[];

/* Checks what one option alone cannot tell: that the timeout is whole milliseconds, that pragmas
 * are identifiers with one value each, set once, and none that has a flag of its own. Values in
 * quotes lose them: 'UTF-16le' becomes UTF-16le. ERROR_INVALID. */
int prod_options_check(struct prod_options *options, struct error *error);

/* --dir, $BENCH_DATA_DIR, or data. */
const char *prod_options_data_folder(const struct prod_options *options);

/* Fills what the options alone say of all cases; the plan points into them. */
void prod_options_fill(const struct prod_options *options, struct plan *plan);
/* The scale of that name, NULL: the first. ERROR_INVALID: there is none, the nearest is named. */
int prod_options_scale(const struct suite *suite, const char *name, const struct suite_scale **out,
                       struct error *error);
/* The one case of prod: scale and scenario are picked out of `suite`. Points into options and
 * suite; `plan` is left NULL. ERROR_INVALID: no such scale, or not exactly one scenario. */
int prod_options_case(const struct prod_options *options, const struct suite *suite,
                      struct plan_case *plan_case, struct error *error);
/* Fills the plan except registry and engines, with the one case of prod; picks scale and scenario
 * out of `suite`. Plan and case point into options, suite and each other. ERROR_INVALID: no such
 * scale, or not exactly one scenario. */
int prod_options_plan(const struct prod_options *options, const struct suite *suite,
                      struct plan *plan, struct plan_case *plan_case, struct error *error);

#endif
