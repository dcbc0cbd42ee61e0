/* `pitot prod`: measures engines under the load of an application and shows the result. */
#include "cli/exit_status.h"
#include "cli/session.h"

/* Everything one run of the command owns. `session` first: prepare() gets only that. */
struct prod {
    struct session session;
    struct prod_options given;
    struct suite *suite;
    struct plan_case plan_case;
};

static int prepare(struct session *session, struct error *error, int *status)
{
    struct prod *prod = (struct prod *)session;
    int code = session_check(session, error, status);
    if (code == 0) {
        code = session_suite(session, prod->given.workload, "prod", &prod->suite, error, status);
    }
    if (code == 0) {
        code = session_registry(session, error, status);
    }
    if (code == 0) {
        code =
            prod_options_plan(&prod->given, prod->suite, &session->plan, &prod->plan_case, error);
        *status = exit_status_of_error(code, 0);
    }
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
    struct prod prod = {.suite = NULL};
    prod.session.given = &prod.given;
    int status = session_command(&prod.session, &command_prod, &steps, &prod.given, argc, argv);
    suite_free(prod.suite);
    return status;
}

const struct command command_prod = {
    .name = "prod",
    .usage = "prod [OPTION]…",
    .summary = "measure engines under the mix of reads and writes of a billing application",
    .table = &prod_option_table,
    .about =
        "Builds one database with SQLite, gives every engine a copy of it, and measures the "
        "engines in turns: --rounds times for --duration each, with --threads connections. Each "
        "time it is a new process and a new copy. The table goes to standard output, progress and "
        "errors to standard error.\n"
        "Ctrl-C ends it early: what was measured until then is shown and marked partial. If that "
        "is "
        "nothing, the file of --json is left as it was.",
    .examples = "pitot prod\n"
                "pitot prod --engines sqlite,null --duration 2 --rounds 1\n"
                "pitot prod --scale medium --threads 8 --json result.json\n"
                "pitot prod --engines sqlite=/opt/libsqlite3.so --pragma synchronous=full",
    .run = run,
};
