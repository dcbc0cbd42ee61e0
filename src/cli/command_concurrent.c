/* `pitot concurrent`: several connections to one file, released together. */
#include "cli/common_options.h"
#include "cli/concurrent_cases.h"
#include "cli/exit_status.h"
#include "cli/session.h"

struct concurrent_options {
    struct prod_options common; /* first: common options lie in it */
    struct concurrent_load load;
    uint64_t rows; /* OPTION_ABSENT: as the suite says */
};
_Static_assert(offsetof(struct concurrent_options, common) == 0, "common options come first");

#define FIELD(name) .offset = offsetof(struct concurrent_options, name)
#define LOAD offsetof(struct concurrent_options, load)

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    CONCURRENT_OPTION_SCENARIO(LOAD),
    {.name = "threads",
     .kind = OPTION_TEXT,
     FIELD(load.threads),
     .argument = "LIST",
     .fallback = CONCURRENT_THREADS,
     .help = "N, numbers of connections from 1 to 10000, separated by commas; each is measured by "
             "itself, and scaling is in relation to the first."},
    CONCURRENT_OPTION_ISOLATION(LOAD),
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
    CONCURRENT_OPTION_OPS(LOAD),
    CONCURRENT_OPTION_BATCH(LOAD),
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
struct concurrent {
    struct session session;
    struct concurrent_options given;
    struct case_list cases;
};

static int check_together(const struct concurrent_options *given, struct error *error)
{
    if (given->load.ops != OPTION_ABSENT && given->common.duration_ns != OPTION_ABSENT) {
        return error_set(error, ERROR_INVALID,
                         "--ops and --duration are two ways to say how long a round is: give one");
    }
    return 0;
}

static int prepare(struct session *session, struct error *error, int *status)
{
    struct concurrent *concurrent = (struct concurrent *)session;
    struct case_list *cases = &concurrent->cases;
    struct suite *suite = NULL;
    int code = check_together(&concurrent->given, error);
    *status = exit_status_of_error(code, 0);
    code = code == 0 ? session_check(session, error, status) : code;
    if (code == 0) {
        code = case_list_suite(cases, session, NULL, "concurrent", &suite, error, status);
    }
    if (code == 0) {
        prod_options_fill(session->given, &session->plan);
        code = concurrent_cases_add(cases, &session->plan, suite, &concurrent->given.load,
                                    session->given, concurrent->given.rows, error);
        case_list_plan(cases, &session->plan);
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
    struct concurrent concurrent = {.session = {.given = NULL}};
    concurrent.session.given = &concurrent.given.common;
    int status = session_command(&concurrent.session, &command_concurrent, &steps,
                                 &concurrent.given, argc, argv);
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
