/* `pitot bench`: isolated operations on one connection, one after the other. */
#include "cli/common_options.h"
#include "cli/exit_status.h"
#include "cli/list.h"
#include "cli/output.h"
#include "cli/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench_options {
    struct prod_options common; /* first: common options lie in it */
    const char *workloads;      /* NULL: all */
    uint64_t rows;              /* OPTION_ABSENT: as the suite says */
    uint64_t iterations;        /* 0: each workload is sized */
    uint64_t min_time_ns;
};
_Static_assert(offsetof(struct bench_options, common) == 0, "common options come first");

#define FIELD(name) .offset = offsetof(struct bench_options, name)
#define TIME_MAX_NS (3600 * NS_PER_S)

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    {.name = "workloads",
     .kind = OPTION_TEXT,
     FIELD(workloads),
     .argument = "LIST",
     .help = "What is measured, separated by commas: insert-single, insert-tx-batch, select-point, "
             "select-range-indexed, select-fullscan-agg, select-join, update-point. Default: all."},
    {.name = "rows",
     .kind = OPTION_COUNT,
     FIELD(rows),
     .argument = "N",
     .min = 1,
     .max = 1000000000,
     .help = "Users in the database, each with two orders. insert-single begins without any. "
             "Default: 10000."},
    {.name = "iterations",
     .kind = OPTION_COUNT,
     FIELD(iterations),
     .argument = "N",
     .max = 1000000000000,
     .fallback = "0",
     .help = "Executions of each workload in a round, the same for every engine. 0: each workload "
             "is sized before the rounds, so that the fastest engine runs for --min-time."},
    {.name = "min-time",
     .kind = OPTION_DURATION,
     FIELD(min_time_ns),
     .argument = "SECONDS",
     .min = NS_PER_MS,
     .max = TIME_MAX_NS,
     .bare_ns = NS_PER_S,
     .fallback = "0.5",
     .help = "How long the fastest engine runs at least where --iterations is 0, in seconds; or "
             "with a suffix: 200ms."},
    COMMON_OPTION_ROUNDS,
    {.name = "warmup",
     .kind = OPTION_AMOUNT,
     COMMON_OPTION_FIELD(warmup),
     .argument = "OPS|TIME",
     .help = "Work before each run that is not measured: executions, or a time with its suffix "
             "(3s, 500ms). Default: a tenth of the iterations."},
    COMMON_OPTION_CACHE,
    COMMON_OPTION_TIMEOUT,
    COMMON_OPTION_BUSY,
    COMMON_OPTION_GRACE,
    COMMON_OPTION_MAX_TRIES,
    COMMON_OPTION_LATENCY_LIMIT,
    COMMON_OPTION_SEED,
    COMMON_OPTION_PRAGMA,
    COMMON_OPTION_CHECK,
    COMMON_OPTION_DIR,
    COMMON_OPTION_FRESH,
    COMMON_OPTION_KEEP,
    COMMON_OPTION_JSON,
    COMMON_OPTION_HTML,
    COMMON_OPTION_QUIET,
    COMMON_OPTION_EVERY,
    OPTION_HELP_ENTRY,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

/* Everything one run of the command owns. */
struct bench {
    struct bench_options given;
    struct session session;
    struct suite *suite;
    struct suite_scale scale; /* the suite's with --rows in it; its variables are owned */
    struct plan_case *cases;
};

/* ---- the plan ----------------------------------------------------------- */

/* A database grows with its rows. */
static uint64_t scaled_bytes(const struct suite_scale *scale, int64_t before, int64_t after)
{
    double bytes = (double)scale->bytes * (double)after / (double)(before > 0 ? before : 1);
    return (uint64_t)bytes;
}

static int fill_scale(struct bench *bench, struct error *error)
{
    const struct suite_scale *from = &bench->suite->scales[0];
    bench->scale = *from;
    bench->scale.variables = calloc(from->variable_count, sizeof *from->variables);
    if (bench->scale.variables == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the plan");
    }
    for (size_t i = 0; i < from->variable_count; i++) {
        struct script_constant *variable = &bench->scale.variables[i];
        *variable = from->variables[i];
        if (strcmp(variable->name, "rows") == 0 && bench->given.rows != OPTION_ABSENT) {
            variable->value = (int64_t)bench->given.rows;
            bench->scale.bytes = scaled_bytes(from, from->variables[i].value, variable->value);
        }
    }
    return 0;
}

static struct plan_case case_of(const struct bench *bench, const struct suite_scenario *scenario)
{
    const struct bench_options *given = &bench->given;
    bool by_default = given->common.warmup.ns == OPTION_ABSENT &&
                      given->common.warmup.operations == OPTION_ABSENT;
    return (struct plan_case){
        .plan = &bench->session.plan,
        .label = scenario->name,
        .suite = bench->suite,
        .scale = &bench->scale,
        .scenario = scenario,
        .threads = 1,
        .duration_ns = UINT64_MAX,
        .operations = given->iterations,
        .warmup_ns = given->common.warmup.ns,
        .warmup_operations =
            by_default ? (given->iterations + 9) / 10 : given->common.warmup.operations,
        .least_ns = given->iterations == 0 ? given->min_time_ns : 0,
        .warmup_tenth = by_default,
        .rate = (double)NAN,
    };
}

/* One case a workload that was named, in the order in which they were. */
static int fill_cases(struct bench *bench, struct error *error)
{
    const struct suite *suite = bench->suite;
    size_t *chosen = calloc(suite->scenario_count, sizeof *chosen);
    const char **names = calloc(suite->scenario_count + 1, sizeof *names);
    bench->cases = calloc(suite->scenario_count, sizeof *bench->cases);
    size_t count = 0;
    int code = chosen != NULL && names != NULL && bench->cases != NULL
                   ? 0
                   : error_set(error, ERROR_MEMORY, "out of memory for the plan");
    for (size_t i = 0; code == 0 && i < suite->scenario_count; i++) {
        names[i] = suite->scenarios[i].name;
    }
    if (code == 0) {
        code = list_of_names("--workloads", "workload", bench->given.workloads, names, chosen,
                             &count, error);
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        bench->cases[i] = case_of(bench, &suite->scenarios[chosen[i]]);
    }
    bench->session.plan.cases = bench->cases;
    bench->session.plan.case_count = count;
    free(chosen);
    free(names);
    return code;
}

/* ---- the command -------------------------------------------------------- */

/* Everything that can be found wrong before the first engine starts. *status is the exit status
 * of a failure. */
static int prepare(struct bench *bench, struct error *error, int *status)
{
    struct session *session = &bench->session;
    int code = session_check(session, error, status);
    if (code == 0) {
        code = session_suite(session, NULL, "bench", &bench->suite, error, status);
    }
    if (code == 0) {
        prod_options_fill(session->given, &session->plan);
        code = fill_scale(bench, error);
        code = code == 0 ? fill_cases(bench, error) : code;
        *status = exit_status_of_error(code, 0);
    }
    code = code == 0 ? session_registry(session, error, status) : code;
    return code == 0 ? session_engines(session, error, status) : code;
}

static int work(struct session *session, const struct progress *progress, struct error *error)
{
    return measure(&session->plan, progress, session->result, error);
}

static int run(int argc, char *const *argv)
{
    struct bench bench = {.suite = NULL};
    struct error error = ERROR_INIT;
    int status;
    bench.session.given = &bench.given.common;
    if (session_start(&bench.session, &command_bench, &bench.given, argc, argv, &status) != 0) {
        goto out;
    }
    if (prepare(&bench, &error, &status) != 0) {
        output_complain("bench", error.message);
        goto out;
    }
    status = session_run(&bench.session, work, session_anything_measured, "nothing was measured");
out:
    session_release(&bench.session, &bench.given);
    free(bench.cases);
    free(bench.scale.variables);
    suite_free(bench.suite);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .usage = "bench [OPTION]…",
    .summary = "measure single operations, each alone on one connection",
    .table = &table,
    .about =
        "Seven operations, each by itself on one connection: --rounds times by every engine in "
        "turns, always in a new process on a new copy of the same database. Every engine does "
        "exactly the same number of executions of a workload, since a table that grows gets "
        "slower. That number is --iterations, or is found before the rounds by trials that take "
        "no part in the comparison. An execution of insert-tx-batch is a transaction of 1,000 "
        "inserts and counts as 1,000 operations.\n"
        "An engine that fails in one workload goes on in the others. Ctrl-C ends it early: what "
        "was measured until then is shown and marked partial.",
    .examples = "pitot bench\n"
                "pitot bench --engines sqlite,turso --workloads select-point,select-join\n"
                "pitot bench --rows 100000 --iterations 5000 --warmup 500 --json bench.json",
    .run = run,
};
