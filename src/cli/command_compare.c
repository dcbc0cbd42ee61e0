/* `pitot compare`: engines in many rounds, and which of their differences are shown. */
#include "cli/bench_cases.h"
#include "cli/common_options.h"
#include "cli/concurrent_cases.h"
#include "cli/exit_status.h"
#include "cli/list.h"
#include "cli/output.h"
#include "cli/session.h"
#include "result/json.h"
#include "statistics/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct compare_options {
    struct prod_options common; /* first: common options lie in it */
    struct bench_load load;
    struct concurrent_load concurrent;
    bool skip_concurrent;
    const char *suites;   /* NULL: all */
    const char *baseline; /* NULL: session_baseline() */
    const char *against, *resume;
    double threshold;       /* NAN: none */
    double disturbance_max; /* share of all cores */
};
_Static_assert(offsetof(struct compare_options, common) == 0, "common options come first");

#define FIELD(name) .offset = offsetof(struct compare_options, name)
#define LOAD offsetof(struct compare_options, load)
#define CONCURRENT offsetof(struct compare_options, concurrent)

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    {.name = "suites",
     .kind = OPTION_TEXT,
     FIELD(suites),
     .argument = "LIST",
     .help = "What is measured: bench, concurrent, prod, separated by commas. Default: all."},
    {.name = "skipConcurrent",
     .kind = OPTION_SWITCH,
     FIELD(skip_concurrent),
     .help = "Leave the suite concurrent out."},
    {.name = "runs",
     .kind = OPTION_COUNT,
     COMMON_OPTION_FIELD(rounds),
     .argument = "N",
     .min = 1,
     .max = 1000,
     .fallback = "10",
     .help = "Rounds, 1 to 1000: in each, every engine is measured once in every case, and the "
             "baseline engine twice. Fewer than 3 give no verdict."},
    {.name = "baseline-engine",
     .kind = OPTION_TEXT,
     FIELD(baseline),
     .argument = "NAME",
     .help =
         "The engine that ratios are to, as --engines names it. Default: sqlite, or the first."},
    {.name = "against",
     .kind = OPTION_TEXT,
     FIELD(against),
     .argument = "FILE",
     .help = "An older result with the same baseline engine, of the same host, settings and seed: "
             "ratios to the baseline are compared with those of then. Status 1 when a row is "
             "slower beyond the noise of both and --threshold."},
    {.name = "threshold",
     .kind = OPTION_PERCENT,
     FIELD(threshold),
     .argument = "N%",
     .help = "Status 1 when a row is shown to be slower by more than this: than in the file of "
             "--against, or, without that, than the baseline engine."},
    {.name = "resume",
     .kind = OPTION_TEXT,
     FIELD(resume),
     .argument = "FILE",
     .help = "Go on from a result that was broken off, or from a whole one with more --runs. Plan, "
             "engines, versions and seed must be the same; a round that is not whole is measured "
             "anew."},
    {.name = "max-disturbance",
     .kind = OPTION_PERCENT,
     FIELD(disturbance_max),
     .argument = "N%",
     .fallback = "5%",
     .help = "A round of a case in which other programs, or the hypervisor, took more of all cores "
             "in any run is measured again at the end, once. 1000%: none is."},
    BENCH_OPTION_WORKLOADS(LOAD),
    BENCH_OPTION_ROWS(LOAD),
    BENCH_OPTION_ITERATIONS(LOAD),
    BENCH_OPTION_MIN_TIME(LOAD),
    CONCURRENT_OPTION_SCENARIO(CONCURRENT),
    CONCURRENT_OPTION_ISOLATION(CONCURRENT),
    CONCURRENT_OPTION_OPS(CONCURRENT),
    CONCURRENT_OPTION_BATCH(CONCURRENT),
    {.name = "workload",
     .kind = OPTION_TEXT,
     COMMON_OPTION_FIELD(workload),
     .argument = "FOLDER",
     .help = "A workload of your own (schema.sql, load.sql, scripts, suite.json) as the suite "
             "prod."},
    COMMON_OPTION_SCALE,
    {.name = "threads",
     .kind = OPTION_TEXT,
     FIELD(concurrent.threads),
     .argument = "LIST",
     .help = "Numbers of connections from 1 to 10000, separated by commas: a case for each in "
             "concurrent and prod. Default: " CONCURRENT_THREADS " in concurrent, 4 in prod."},
    {.name = "duration",
     .kind = OPTION_DURATION,
     COMMON_OPTION_FIELD(duration_ns),
     .argument = "SECONDS",
     .min = NS_PER_MS,
     .max = COMMON_OPTION_LONGEST_NS,
     .bare_ns = NS_PER_S,
     .help = "Length of a run in concurrent and prod, in seconds; or with a suffix: 500ms. "
             "Default: 3 in concurrent, 5 in prod."},
    COMMON_OPTION_RATE,
    {.name = "warmup",
     .kind = OPTION_AMOUNT,
     COMMON_OPTION_FIELD(warmup),
     .argument = "OPS|TIME",
     .help =
         "Work before each run that is not measured: executions, or a time with its suffix "
         "(3s, 500ms). Default: 3 s in concurrent and prod, a tenth of the iterations in bench."},
    COMMON_OPTION_CACHE,
    COMMON_OPTION_TIMEOUT,
    COMMON_OPTIONS_RUN,
    COMMON_OPTION_DIR,
    COMMON_OPTION_FRESH,
    COMMON_OPTIONS_RESULT,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

/* Everything one run of the command owns. */
struct compare {
    struct session session; /* first: its steps and session.finish get only that */
    struct compare_options given;
    struct case_list cases;
    struct result *resumed, *against; /* as they were read */
    bool complained;                  /* that the file cannot be written while work goes on */
};
_Static_assert(offsetof(struct compare, session) == 0, "a session is the beginning of its compare");

/* ---- the plan ----------------------------------------------------------- */

enum measured_suite { MEASURE_BENCH, MEASURE_CONCURRENT, MEASURE_PROD, MEASURE_SUITES };
static const char *const suite_names[] = {
    [MEASURE_BENCH] = "bench",
    [MEASURE_CONCURRENT] = "concurrent",
    [MEASURE_PROD] = "prod",
    [MEASURE_SUITES] = NULL,
};

/* Of the suites that run for a time. */
static struct prod_options timed_options(const struct compare *compare)
{
    struct prod_options given = compare->given.common;
    if (given.warmup.ns == OPTION_ABSENT && given.warmup.operations == OPTION_ABSENT) {
        given.warmup.ns = 3 * NS_PER_S;
    }
    return given;
}

static int add_prod_of(struct compare *compare, const struct suite *suite, uint64_t threads,
                       bool one_of_several, struct error *error)
{
    struct prod_options given = timed_options(compare);
    struct plan_case plan_case;
    given.threads = threads;
    given.duration_ns = given.duration_ns == OPTION_ABSENT ? 5 * NS_PER_S : given.duration_ns;
    int code = prod_options_case(&given, suite, &plan_case, error);
    plan_case.plan = &compare->session.plan;
    if (code == 0 && one_of_several) {
        char *label = result_text("%s ×%" PRIu64, suite->name, threads);
        plan_case.label = label;
        code = case_list_label(&compare->cases, label, error);
    }
    return code == 0 ? case_list_add(&compare->cases, &plan_case, error) : code;
}

static int add_prod(struct compare *compare, const struct suite *suite, struct error *error)
{
    const char *list = compare->given.concurrent.threads;
    uint64_t *threads = NULL;
    size_t count = 0;
    int code = list_of_counts("--threads", "number of connections", list != NULL ? list : "4", 1,
                              CONCURRENT_CONNECTIONS_MAX, &threads, &count, error);
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = add_prod_of(compare, suite, threads[i], count > 1, error);
    }
    free(threads);
    return code;
}

static int add_suite(struct compare *compare, enum measured_suite which, struct error *error,
                     int *status)
{
    struct session *session = &compare->session;
    const struct prod_options timed = timed_options(compare);
    struct suite *suite = NULL;
    const char *folder = which == MEASURE_PROD ? session->given->workload : NULL;
    int code = case_list_suite(&compare->cases, session, folder, suite_names[which], &suite, error,
                               status);
    if (code != 0) {
        return code;
    }
    switch (which) {
    case MEASURE_BENCH:
        code = bench_cases_add(&compare->cases, &session->plan, suite, &compare->given.load,
                               &session->given->warmup, error);
        break;
    case MEASURE_CONCURRENT:
        code =
            concurrent_cases_add(&compare->cases, &session->plan, suite, &compare->given.concurrent,
                                 &timed, compare->given.load.rows, error);
        break;
    case MEASURE_PROD:
        code = add_prod(compare, suite, error);
        break;
    case MEASURE_SUITES:
        break;
    }
    *status = exit_status_of_error(code, 0);
    return code;
}

static int fill_cases(struct compare *compare, struct error *error, int *status)
{
    struct plan *plan = &compare->session.plan;
    size_t chosen[MEASURE_SUITES];
    size_t count = 0;
    bool prod = false;
    prod_options_fill(&compare->given.common, plan);
    int code = list_of_names("--suites", "suite", compare->given.suites, suite_names, chosen,
                             &count, error);
    for (size_t i = 0; code == 0 && i < count; i++) {
        prod = prod || chosen[i] == MEASURE_PROD;
    }
    if (code == 0 && compare->given.common.workload != NULL && !prod) {
        code = error_set(error, ERROR_INVALID,
                         "--workload %s takes the place of prod, which --suites %s leaves out",
                         compare->given.common.workload, compare->given.suites);
    }
    *status = exit_status_of_error(code, 0);
    for (size_t i = 0; code == 0 && i < count; i++) {
        if (chosen[i] != MEASURE_CONCURRENT || !compare->given.skip_concurrent) {
            code = add_suite(compare, (enum measured_suite)chosen[i], error, status);
        }
    }
    if (code == 0 && compare->cases.cases.count == 0) {
        code = error_set(error, ERROR_INVALID, "--skipConcurrent leaves nothing of --suites %s",
                         compare->given.suites);
        *status = exit_status_of_error(code, 0);
    }
    case_list_plan(&compare->cases, plan);
    return code;
}

/* ---- earlier results ---------------------------------------------------- */

static int read_earlier(const char *option, const char *file, struct result **out,
                        struct error *error, int *status)
{
    struct error found = ERROR_INIT;
    if (file == NULL) {
        return 0;
    }
    int code = result_read(file, out, &found);
    if (code != 0) {
        error_set(error, found.code, "%s: %s", option, found.message);
    }
    *status = exit_status_of_input_error(code, 0);
    return code;
}

/* What can be said of an older result before anything is measured. */
static int check_against(const struct compare *compare, struct error *error)
{
    const struct result *before = compare->against;
    const char *file = compare->given.against;
    const char *baseline = compare->session.result->comparison.baseline;
    for (size_t i = 0; i < before->engines.count; i++) {
        if (strcmp(before->engines.items[i].name, baseline) == 0) {
            return 0;
        }
    }
    return error_set(error, ERROR_INVALID,
                     "--against: %s has no engine %s: ratios to it are what is compared; "
                     "--baseline-engine names another",
                     file, baseline);
}

/* ---- what a comparison asks for ------------------------------------------ */

static int find_baseline(const struct compare *compare, size_t *out, struct error *error)
{
    const engine_choices *engines = &compare->session.engines;
    const char *name = compare->given.baseline;
    *out = name == NULL ? session_baseline(&compare->session) : SIZE_MAX;
    for (size_t i = 0; name != NULL && i < engines->count; i++) {
        *out = strcmp(engines->items[i].name, name) == 0 ? i : *out;
    }
    return *out != SIZE_MAX ? 0
                            : error_set(error, ERROR_INVALID,
                                        "--baseline-engine: %s is not among the engines; the first "
                                        "is %s",
                                        name, engines->items[0].name);
}

/* The file after each round. That it cannot be written is said once; the end tries again. */
static void round_done(void *context)
{
    struct compare *compare = context;
    struct error error = ERROR_INIT;
    int (*finish)(struct session *, struct error *) = compare->session.finish;
    compare->session.finish = NULL; /* against an older result only once all is there */
    if (session_save(&compare->session, &error) != 0 && !compare->complained) {
        output_complain("compare", error.message);
        compare->complained = true;
    }
    compare->session.finish = finish;
}

static int finish(struct session *session, struct error *error)
{
    struct compare *compare = (struct compare *)session;
    return compare_against(session->result, compare->against, compare->given.against, error);
}

static int fill_comparison(struct compare *compare, struct error *error, int *status)
{
    struct session *session = &compare->session;
    struct result_comparison *out = &session->result->comparison;
    struct plan_comparison *comparison = &session->plan.comparison;
    int code = find_baseline(compare, &comparison->baseline, error);
    if (code == 0) {
        out->baseline = strdup(session->engines.items[comparison->baseline].name);
        code = out->baseline != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    }
    if (code == 0 && compare->against != NULL) {
        code = check_against(compare, error);
        session->finish = finish;
    }
    out->threshold = compare->given.threshold;
    out->disturbance_max = comparison->disturbance_max = compare->given.disturbance_max;
    comparison->again = true;
    comparison->resumed = compare->resumed;
    comparison->resumed_from = compare->given.resume;
    comparison->against = compare->against;
    comparison->against_from = compare->given.against;
    comparison->round_done = round_done;
    comparison->context = compare;
    *status = exit_status_of_error(code, 0);
    return code;
}

/* ---- the command -------------------------------------------------------- */

static int prepare(struct session *session, struct error *error, int *status)
{
    struct compare *compare = (struct compare *)session;
    const struct compare_options *given = &compare->given;
    int code = session_check(session, error, status);
    code = code == 0 ? fill_cases(compare, error, status) : code;
    if (code == 0) {
        code = read_earlier("--resume", given->resume, &compare->resumed, error, status);
    }
    if (code == 0) {
        code = read_earlier("--against", given->against, &compare->against, error, status);
    }
    code = code == 0 ? session_registry(session, error, status) : code;
    code = code == 0 ? session_engines(session, error, status) : code;
    return code == 0 ? fill_comparison(compare, error, status) : code;
}

static const struct session_steps steps = {
    .prepare = prepare,
    .work = session_measure,
    .some = session_anything_measured,
    .nothing = "nothing was measured",
};

static int run(int argc, char *const *argv)
{
    struct compare compare = {.session = {.given = NULL}};
    compare.session.given = &compare.given.common;
    int status =
        session_command(&compare.session, &command_compare, &steps, &compare.given, argc, argv);
    case_list_release(&compare.cases);
    result_free(compare.resumed);
    result_free(compare.against);
    return status;
}

const struct command command_compare = {
    .name = "compare",
    .usage = "compare [OPTION]…",
    .summary = "measure engines in many rounds and tell which differences are shown",
    .table = &table,
    .about =
        "Measures the cases of several suites in --runs rounds, every engine once in each, and "
        "tells of each row how far the engine is from the baseline engine, with an interval and a "
        "verdict: faster, slower, or no difference shown. The baseline runs a second time in each "
        "round: what it differs from itself is noise, and a difference that is no larger gets no "
        "verdict. docs/statistics.md has the formulas.\n"
        "Engines may be named twice, and two builds of a library are compared by one command: "
        "--engines sqlite=old.so,sqlite=new.so --threshold 5% has status 1 when the second is "
        "slower by more in any row.\n"
        "The file of --json is written after each round. Ctrl-C ends it early: the rounds that are "
        "whole are shown, and --resume goes on from the file.",
    .examples =
        "pitot compare --suites bench --engines sqlite,turso --json compare.json\n"
        "pitot compare --suites bench --engines sqlite=old.so,sqlite=new.so --threshold 5%\n"
        "pitot compare --suites prod --rate 70% --runs 5\n"
        "pitot compare --suites prod --workload my-app --engines sqlite,turso\n"
        "pitot compare --resume compare.json --suites bench --engines sqlite,turso "
        "--runs 20 --json compare.json",
    .run = run,
};
