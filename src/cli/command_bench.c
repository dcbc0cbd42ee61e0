/* `pitot bench`: isolated operations on one connection, one after the other. */
#include "cli/bench_cases.h"
#include "cli/common_options.h"
#include "cli/exit_status.h"
#include "cli/session.h"

struct bench_options {
    struct prod_options common; /* first: common options lie in it */
    struct bench_load load;
};
_Static_assert(offsetof(struct bench_options, common) == 0, "common options come first");

#define LOAD offsetof(struct bench_options, load)

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    BENCH_OPTION_WORKLOADS(LOAD),
    BENCH_OPTION_ROWS(LOAD),
    BENCH_OPTION_ITERATIONS(LOAD),
    BENCH_OPTION_MIN_TIME(LOAD),
    COMMON_OPTION_ROUNDS,
    {.name = "warmup",
     .kind = OPTION_AMOUNT,
     COMMON_OPTION_FIELD(warmup),
     .argument = "OPS|TIME",
     .help = "Work before each run that is not measured: executions, or a time with its suffix "
             "(3s, 500ms). Default: a tenth of the iterations."},
    COMMON_OPTION_CACHE,
    COMMON_OPTION_TIMEOUT,
    COMMON_OPTIONS_RUN,
    COMMON_OPTION_DIR,
    COMMON_OPTION_FRESH,
    COMMON_OPTION_KEEP,
    COMMON_OPTIONS_RESULT,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

/* Everything one run of the command owns. `session` first: prepare() gets only that. */
struct bench {
    struct session session;
    struct bench_options given;
    struct case_list cases;
};

static int prepare(struct session *session, struct error *error, int *status)
{
    struct bench *bench = (struct bench *)session;
    struct suite *suite = NULL;
    int code = session_check(session, error, status);
    if (code == 0) {
        code = case_list_suite(&bench->cases, session, NULL, "bench", &suite, error, status);
    }
    if (code == 0) {
        prod_options_fill(session->given, &session->plan);
        code = bench_cases_add(&bench->cases, &session->plan, suite, &bench->given.load,
                               &session->given->warmup, error);
        case_list_plan(&bench->cases, &session->plan);
        *status = exit_status_of_error(code, 0);
    }
    code = code == 0 ? session_registry(session, error, status) : code;
    return code == 0 ? session_engines(session, error, status) : code;
}

static const struct session_steps steps = {
    .prepare = prepare,
    .work = session_measure,
    .some = session_anything_measured,
    .nothing = "nothing was measured",
};

static int run(int argc, char *const *argv)
{
    struct bench bench = {.session = {.given = NULL}};
    bench.session.given = &bench.given.common;
    int status = session_command(&bench.session, &command_bench, &steps, &bench.given, argc, argv);
    case_list_release(&bench.cases);
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
