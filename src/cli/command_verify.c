/* `pitot verify`: checks settings, journal and answers of engines, without timing anything. */
#include "cli/common_options.h"
#include "cli/exit_status.h"
#include "cli/session.h"
#include "coordinator/verify.h"

#include <math.h>
#include <string.h>

/* The worker's digests of all scripts must fit one line. */
enum { OPERATIONS_MAX = 100000 };

struct verify_options {
    struct prod_options common; /* first: common options lie in it */
    uint64_t operations;
};
_Static_assert(offsetof(struct verify_options, common) == 0, "common options come first");

static const struct option options[] = {
    COMMON_OPTION_ENGINES,
    COMMON_OPTION_ENGINE_OPTION,
    {.name = "workload",
     .kind = OPTION_TEXT,
     COMMON_OPTION_FIELD(workload),
     .argument = "FOLDER",
     .help = "A workload of your own (schema.sql, load.sql, scripts, suite.json). "
             "Default: all that are built in."},
    COMMON_OPTION_SCALE,
    {.name = "operations",
     .kind = OPTION_COUNT,
     .offset = offsetof(struct verify_options, operations),
     .argument = "N",
     .min = 1,
     .max = OPERATIONS_MAX,
     .fallback = "1000",
     .help = "Answers of each script that are compared, 1 to 100000. The first three have the "
             "ends of each range, and one beyond it, as parameters."},
    COMMON_OPTION_THREADS,
    COMMON_OPTION_CACHE,
    COMMON_OPTION_TIMEOUT,
    COMMON_OPTION_SEED,
    COMMON_OPTION_PRAGMA,
    COMMON_OPTION_DIR,
    COMMON_OPTION_FRESH,
    COMMON_OPTION_JSON,
    COMMON_OPTION_QUIET,
    COMMON_OPTION_EVERY,
    OPTION_HELP_ENTRY,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

enum { SUITES_MAX = 16 };

/* Everything one run of the command owns. `session` first: its steps get only that. */
struct verify_command {
    struct session session;
    struct verify_options given;
    struct suite *owned[SUITES_MAX];
    struct verify_suite suites[SUITES_MAX];
    size_t suite_count;
};

static int add_suite(struct verify_command *command, const char *folder, const char *builtin,
                     const char *scale, struct error *error, int *status)
{
    struct suite **slot = &command->owned[command->suite_count];
    struct verify_suite *suite = &command->suites[command->suite_count];
    int code = session_suite(&command->session, folder, builtin, slot, error, status);
    if (code != 0) {
        return code;
    }
    command->suite_count++;
    suite->suite = *slot;
    code = prod_options_scale(*slot, scale, &suite->scale, error);
    *status = exit_status_of_error(code, 0);
    return code;
}

/* The workload that was named, or all that are built in. --scale is about the data of prod, which
 * comes first; the others have one scale. */
static int add_suites(struct verify_command *command, struct error *error, int *status)
{
    const struct prod_options *given = &command->given.common;
    if (given->workload != NULL) {
        return add_suite(command, given->workload, NULL, given->scale, error, status);
    }
    int code = add_suite(command, NULL, "prod", given->scale, error, status);
    const char *const *names = suite_builtin_names();
    for (size_t i = 0; code == 0 && names[i] != NULL && command->suite_count < SUITES_MAX; i++) {
        if (strcmp(names[i], "prod") != 0) {
            code = add_suite(command, NULL, names[i], NULL, error, status);
        }
    }
    return code;
}

/* What a worker takes in one job (docs/worker-protocol.md). */
static int check_operations(const struct verify_command *command, struct error *error)
{
    enum { EXECUTIONS_MAX = 1000000 };
    for (size_t i = 0; i < command->suite_count; i++) {
        const struct suite *suite = command->suites[i].suite;
        if (command->given.operations * suite->script_count > EXECUTIONS_MAX) {
            return error_set(error, ERROR_INVALID,
                             "--operations %llu: workload %s has %zu scripts, and at most %d "
                             "executions are checked in all: %zu of each",
                             (unsigned long long)command->given.operations, suite->name,
                             suite->script_count, (int)EXECUTIONS_MAX,
                             EXECUTIONS_MAX / suite->script_count);
        }
    }
    return 0;
}

static int prepare(struct session *session, struct error *error, int *status)
{
    struct verify_command *command = (struct verify_command *)session;
    int code = session_check(session, error, status);
    if (code == 0) {
        code = add_suites(command, error, status);
    }
    if (code == 0) {
        code = check_operations(command, error);
        *status = exit_status_of_error(code, 0);
    }
    if (code == 0) {
        code = session_registry(session, error, status);
    }
    if (code == 0) {
        prod_options_fill(session->given, &session->plan);
        /* What is tried again is tried as often as prod does by default. */
        session->plan.max_tries = 10;
        code = session_engines(session, error, status);
    }
    return code;
}

static bool anything_verified(const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_verify *verify = &result->engines.items[i].verify;
        if (verify->databases.count > 0 || verify->connections.count > 0) {
            return true;
        }
    }
    return false;
}

static int work(struct session *session, const struct progress *progress, struct error *error)
{
    struct verify_command *command = (struct verify_command *)session;
    /* Nothing is timed. */
    const struct plan_case like = {
        .plan = &session->plan,
        .threads = (uint32_t)command->given.common.threads,
        .duration_ns = UINT64_MAX,
        .operations = command->given.operations,
        .warmup_ns = UINT64_MAX,
        .rate = (double)NAN,
    };
    return verify(&session->plan, &like, command->suites, command->suite_count,
                  (uint32_t)command->given.operations, progress, session->result, error);
}

static const struct session_steps steps = {
    .prepare = prepare,
    .work = work,
    .some = anything_verified,
    .nothing = "nothing was verified",
};

static int run(int argc, char *const *argv)
{
    struct verify_command command = {.suite_count = 0};
    command.session.given = &command.given.common;
    int status =
        session_command(&command.session, &command_verify, &steps, &command.given, argc, argv);
    for (size_t i = 0; i < SUITES_MAX; i++) {
        suite_free(command.owned[i]);
    }
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .usage = "verify [OPTION]…",
    .summary = "check that engines take the settings and give the same answers",
    .table = &table,
    .about =
        "Opens as many connections with every engine as a run would, sets and reads back every "
        "setting on each, writes, and looks for the journal on disk. Then every script is run "
        "--operations times with the same parameters on a copy of the same database, and each "
        "answer and every table is compared with that of one of the engines. Nothing is timed.\n"
        "A difference is shown with the script, the operation, its parameters and both rows. Exit "
        "status 1 if a required setting was not taken, answers differ, or an engine failed.",
    .examples = "pitot verify\n"
                "pitot verify --engines sqlite,sqlite=/opt/libsqlite3.so\n"
                "pitot verify --workload my-app --json verify.json",
    .run = run,
};
