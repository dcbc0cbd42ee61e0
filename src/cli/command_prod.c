/* `pitot prod`: measures engines under the load of an application and shows the result. */
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/session.h"

/* Everything one run of the command owns. */
struct prod {
    struct prod_options given;
    struct session session;
    struct suite *suite;
    struct plan_case plan_case;
};

/* Everything that can be found wrong before the first engine starts. *status is the exit status
 * of a failure. */
static int prepare(struct prod *prod, struct error *error, int *status)
{
    struct session *session = &prod->session;
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

static int work(struct session *session, const struct progress *progress, struct error *error)
{
    return measure(&session->plan, progress, session->result, error);
}

static int run(int argc, char *const *argv)
{
    struct prod prod = {.suite = NULL};
    struct error error = ERROR_INIT;
    int status;
    prod.session.given = &prod.given;
    if (session_start(&prod.session, &command_prod, &prod.given, argc, argv, &status) != 0) {
        goto out;
    }
    if (prepare(&prod, &error, &status) != 0) {
        output_complain("prod", error.message);
        goto out;
    }
    status = session_run(&prod.session, work, session_anything_measured, "nothing was measured");
out:
    session_release(&prod.session, &prod.given);
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
