/* `pitot concurrent`: several connections to one file, released together. */
#include "cli/case_list.h"
#include "cli/common_options.h"
#include "cli/exit_status.h"
#include "cli/list.h"
#include "cli/output.h"
#include "cli/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct concurrent_options {
    struct prod_options common; /* first: common options lie in it */
    const char *scenarios;      /* NULL: all */
    const char *threads;        /* numbers of connections */
    const char *isolation;
    uint64_t rows;  /* OPTION_ABSENT: as the suite says */
    uint64_t ops;   /* of each connection; OPTION_ABSENT: by duration */
    uint64_t batch; /* inserts a transaction */
};
_Static_assert(offsetof(struct concurrent_options, common) == 0, "common options come first");

#define FIELD(name) .offset = offsetof(struct concurrent_options, name)
#define CONNECTIONS_MAX 10000
#define DURATION_NS (3 * NS_PER_S)

static const char *const isolations[] = {"threads", "processes", NULL};

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    {.name = "scenario",
     .kind = OPTION_TEXT,
     FIELD(scenarios),
     .argument = "LIST",
     .help = "What is measured, separated by commas: write-contention (N writers), read-write-mix "
             "(one writer and N readers). Default: both."},
    {.name = "threads",
     .kind = OPTION_TEXT,
     FIELD(threads),
     .argument = "LIST",
     .fallback = "1,2,4,8",
     .help = "N, numbers of connections from 1 to 10000, separated by commas; each is measured by "
             "itself, and scaling is in relation to the first."},
    {.name = "isolation",
     .kind = OPTION_CHOICE,
     FIELD(isolation),
     .argument = "threads|processes",
     .fallback = "threads",
     .choices = isolations,
     .help = "Whether the connections are threads of one process, or each is a process of its "
             "own on the same file."},
    {.name = "rows",
     .kind = OPTION_COUNT,
     FIELD(rows),
     .argument = "N",
     .min = 1,
     .max = 1000000000,
     .help = "Users in the database, which readers read. Default: 10000."},
    {.name = "duration",
     .kind = OPTION_DURATION,
     COMMON_OPTION_FIELD(duration_ns),
     .argument = "SECONDS",
     .min = NS_PER_MS,
     .max = COMMON_OPTION_LONGEST_NS,
     .bare_ns = NS_PER_S,
     .help = "Length of one round, in seconds; or with a suffix: 500ms, 2m. Default: 3."},
    {.name = "ops",
     .kind = OPTION_COUNT,
     FIELD(ops),
     .argument = "N",
     .min = 1,
     .max = 1000000000000,
     .help = "Instead of --duration: operations of each connection in a round; a writer's last "
             "transaction is a whole one."},
    {.name = "batchSize",
     .kind = OPTION_COUNT,
     FIELD(batch),
     .argument = "N",
     .min = 1,
     .max = 1000000,
     .fallback = "1",
     .help = "Inserts in a transaction of a writer. 1: each commits by itself."},
    COMMON_OPTION_ROUNDS,
    {.name = "warmup",
     .kind = OPTION_AMOUNT,
     COMMON_OPTION_FIELD(warmup),
     .argument = "TIME|OPS",
     .fallback = "3s",
     .help = "Work before each round that is not measured: a time with its suffix (3s, 500ms), "
             "or a bare number of executions a connection."},
    COMMON_OPTION_RATE,
    COMMON_OPTION_CACHE,
    COMMON_OPTION_TIMEOUT_OF("10000"),
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
struct concurrent {
    struct concurrent_options given;
    struct session session;
    struct suite *suite; /* the list's */
    struct case_list cases;
};

/* ---- the plan ----------------------------------------------------------- */

static int check_together(const struct concurrent_options *given, struct error *error)
{
    if (given->ops != OPTION_ABSENT && given->common.duration_ns != OPTION_ABSENT) {
        return error_set(error, ERROR_INVALID,
                         "--ops and --duration are two ways to say how long a round is: give one");
    }
    if (given->ops != OPTION_ABSENT && given->batch > given->ops) {
        return error_set(error, ERROR_INVALID,
                         "--batchSize: a transaction of %" PRIu64
                         " inserts is more than the %" PRIu64 " operations of --ops",
                         given->batch, given->ops);
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

static int add_case(struct concurrent *concurrent, const struct suite_scale *scale,
                    const struct suite_scenario *scenario, uint64_t threads, struct error *error)
{
    const struct concurrent_options *given = &concurrent->given;
    bool timed = given->ops == OPTION_ABSENT;
    char *label = result_text("%s ×%" PRIu64, scenario->name, threads);
    const struct plan_case one = {
        .plan = &concurrent->session.plan,
        .label = label,
        .suite = concurrent->suite,
        .scale = scale,
        .scenario = scenario,
        .threads = (uint32_t)threads,
        .duration_ns = !timed                                       ? UINT64_MAX
                       : given->common.duration_ns == OPTION_ABSENT ? DURATION_NS
                                                                    : given->common.duration_ns,
        .operations = timed ? UINT64_MAX : given->ops,
        .count_operations = true,
        .warmup_ns = given->common.warmup.ns,
        .warmup_operations = given->common.warmup.operations,
        .rate = given->common.rate.per_second,
        .rate_share = given->common.rate.share,
        .processes = strcmp(given->isolation, "processes") == 0,
    };
    int code = case_list_label(&concurrent->cases, label, error);
    return code == 0 ? case_list_add(&concurrent->cases, &one, error) : code;
}

/* A case for each number of connections in each scenario. */
static int add_cases(struct concurrent *concurrent, const size_t *scenarios, size_t scenario_count,
                     const uint64_t *threads, size_t thread_count, struct error *error)
{
    const struct suite *suite = concurrent->suite;
    const struct suite_scale *scale;
    const struct scale_value values[] = {
        {"rows", concurrent->given.rows},
        {"batch", concurrent->given.batch},
    };
    int code = case_list_scale(&concurrent->cases, &suite->scales[0], values,
                               sizeof values / sizeof *values, &scale, error);
    for (size_t i = 0; i < scenario_count; i++) {
        for (size_t k = 0; k < thread_count && code == 0; k++) {
            code = add_case(concurrent, scale, &suite->scenarios[scenarios[i]], threads[k], error);
        }
    }
    return code;
}

static int fill_plan(struct concurrent *concurrent, struct error *error)
{
    const struct concurrent_options *given = &concurrent->given;
    const struct suite *suite = concurrent->suite;
    size_t *chosen = calloc(suite->scenario_count, sizeof *chosen);
    const char **names = calloc(suite->scenario_count + 1, sizeof *names);
    uint64_t *threads = NULL;
    size_t chosen_count = 0;
    size_t thread_count = 0;
    int code = chosen != NULL && names != NULL
                   ? 0
                   : error_set(error, ERROR_MEMORY, "out of memory for the plan");
    for (size_t i = 0; code == 0 && i < suite->scenario_count; i++) {
        names[i] = suite->scenarios[i].name;
    }
    if (code == 0) {
        code = list_of_names("--scenario", "scenario", given->scenarios, names, chosen,
                             &chosen_count, error);
    }
    if (code == 0) {
        code = list_of_counts("--threads", "number of connections", given->threads, 1,
                              CONNECTIONS_MAX, &threads, &thread_count, error);
    }
    if (code == 0) {
        prod_options_fill(&given->common, &concurrent->session.plan);
        code = add_cases(concurrent, chosen, chosen_count, threads, thread_count, error);
        concurrent->session.plan.cases = concurrent->cases.cases.items;
        concurrent->session.plan.case_count = concurrent->cases.cases.count;
    }
    free(chosen);
    free(names);
    free(threads);
    return code;
}

/* ---- the command -------------------------------------------------------- */

/* Everything that can be found wrong before the first engine starts. *status is the exit status
 * of a failure. */
static int prepare(struct concurrent *concurrent, struct error *error, int *status)
{
    struct session *session = &concurrent->session;
    int code = check_together(&concurrent->given, error);
    *status = exit_status_of_error(code, 0);
    code = code == 0 ? session_check(session, error, status) : code;
    if (code == 0) {
        code = case_list_suite(&concurrent->cases, session, NULL, "concurrent", &concurrent->suite,
                               error, status);
    }
    if (code == 0) {
        count_batches(concurrent->suite, concurrent->given.batch);
        code = fill_plan(concurrent, error);
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
    struct concurrent concurrent = {.suite = NULL};
    struct error error = ERROR_INIT;
    int status;
    concurrent.session.given = &concurrent.given.common;
    if (session_start(&concurrent.session, &command_concurrent, &concurrent.given, argc, argv,
                      &status) != 0) {
        goto out;
    }
    if (prepare(&concurrent, &error, &status) != 0) {
        output_complain("concurrent", error.message);
        goto out;
    }
    status =
        session_run(&concurrent.session, work, session_anything_measured, "nothing was measured");
out:
    session_release(&concurrent.session, &concurrent.given);
    case_list_release(&concurrent.cases);
    return status;
}

const struct command command_concurrent = {
    .name = "concurrent",
    .usage = "concurrent [OPTION]…",
    .summary = "measure several connections to one file that write, or read beside a writer",
    .table = &table,
    .about =
        "Several connections to one file: writers alone, or one writer and readers, for each "
        "number of connections in --threads; --rounds times by every engine in turns, always in "
        "new processes on a new copy of the same database. All connections start at the same "
        "moment. Each role's throughput is over its own window, with its latency, what was busy "
        "or failed, how long it slept for locks, how it grows with the connections, and how "
        "evenly they were served.\n"
        "An engine that fails in one case goes on in the others; one that lets no second process "
        "open the file is told so where processes are asked for. Ctrl-C ends it early: what was "
        "measured until then is shown and marked partial.",
    .examples = "pitot concurrent\n"
                "pitot concurrent --engines sqlite,turso,turso-mvcc --scenario write-contention\n"
                "pitot concurrent --isolation processes --threads 1,4 --json concurrent.json\n"
                "pitot concurrent --ops 2000 --batchSize 100 --timeout 10000",
    .run = run,
};
