/* `pitot prod`: measures engines under the load of an application and shows the result. */
#include "cli/commands.h"

#include "cli/exit_status.h"
#include "cli/json_target.h"
#include "cli/output.h"
#include "cli/prod_options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "coordinator/interrupt.h"
#include "core/clock.h"
#include "report/report.h"
#include "result/json.h"
#include "statistics/summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 20 };

/* Everything one run of the command owns. */
struct prod {
    struct prod_options given;
    struct suite *suite;
    struct registry registry;
    engine_choices engines;
    struct plan plan;
    struct result *result;
    struct progress_view view;
};

/* The file that --json names; NULL: none, or standard output. */
static const char *json_file(const struct prod *prod)
{
    const char *file = prod->given.json;
    return file != NULL && strcmp(file, "-") != 0 ? file : NULL;
}

/* ---- before measuring --------------------------------------------------- */

static int start_result(struct prod *prod, struct error *error)
{
    struct result *result = prod->result;
    char now[CLOCK_UTC_SIZE];
    clock_utc(now);
    result->pitot_version = strdup(PITOT_VERSION);
    result->build = strdup(PITOT_BUILD);
    result->command = strdup("prod");
    result->started = strdup(now);
    if (result->pitot_version == NULL || result->build == NULL || result->command == NULL ||
        result->started == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the result");
    }
    return 0;
}

/* The words in front of the options that options_parse() adds. */
static int start_echo(struct result *result, struct error *error)
{
    static const char *const words[] = {"pitot", "prod"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char **item = result_list_add(&result->command_line);
        if (item == NULL || (*item = strdup(words[i])) == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory for the result");
        }
    }
    return 0;
}

static int open_suite(struct prod *prod, struct error *error)
{
    int code = prod->given.workload != NULL
                   ? suite_open_folder(prod->given.workload, &prod->suite, error)
                   : suite_open_builtin("prod", &prod->suite, error);
    if (code != 0) {
        return code;
    }
    for (size_t i = 0; i < prod->suite->script_count; i++) {
        const struct suite_script *script = &prod->suite->scripts[i];
        if (script->ignore_count > 0) {
            continue; /* what differs from run to run is left out of comparisons */
        }
        for (uint32_t j = 0; j < script->script->warning_count; j++) {
            code = result_warn(prod->result, script->name, "%s", script->script->warnings[j]);
            if (code != 0) {
                return error_set(error, code, "out of memory for the warnings");
            }
        }
    }
    return 0;
}

/* A manifest of the user's that cannot be read might have been meant to take part. */
static int warn_of_manifests(struct prod *prod, struct error *error)
{
    if (prod->given.engines != NULL) {
        return 0; /* registry_choose() reports it if it was named */
    }
    for (size_t i = 0; i < prod->registry.problems.count; i++) {
        const struct result_warning *problem = &prod->registry.problems.items[i];
        int code = result_warn(prod->result, problem->subject, "%s", problem->text);
        if (code != 0) {
            return error_set(error, code, "out of memory for the warnings");
        }
    }
    return 0;
}

/* Everything that can be found wrong before the first engine starts. *status is the exit status
 * of a failure. */
static int prepare(struct prod *prod, struct error *error, int *status)
{
    int code = prod_options_check(&prod->given, error);
    if (code == 0) {
        code = start_result(prod, error);
    }
    if (code == 0) {
        code = output_check(error);
    }
    if (code == 0 && json_file(prod) != NULL) {
        code = json_target_check(json_file(prod), error);
    }
    if (code != 0) {
        *status = exit_status_of_error(code, 0);
        return code;
    }
    code = open_suite(prod, error);
    if (code == 0) {
        code = registry_load(&prod->registry, error);
    }
    if (code != 0) {
        *status = exit_status_of_input_error(code, 0);
        return code;
    }
    code = warn_of_manifests(prod, error);
    if (code == 0) {
        code = prod_options_plan(&prod->given, prod->suite, &prod->plan, error);
    }
    if (code == 0) {
        code = registry_choose(&prod->registry, prod->given.engines, &prod->engines,
                               &prod->result->warnings, error);
    }
    if (code == 0) {
        code = interrupt_install(error);
    }
    prod->plan.registry = &prod->registry;
    prod->plan.engines = &prod->engines;
    *status = exit_status_of_error(code, 0);
    return code;
}

/* ---- after measuring ---------------------------------------------------- */

static bool anything_measured(const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        if (result->engines.items[i].runs.count > 0) {
            return true;
        }
    }
    return false;
}

/* Figures over the rounds, computed once for all printers. */
static int summarize(struct result *result, struct error *error)
{
    int code = 0;
    for (size_t i = 0; i < result->engines.count && code == 0; i++) {
        code = summarize_engine(result, &result->engines.items[i], error);
    }
    return code;
}

static int print_table(const struct result *result, struct error *error)
{
    struct buffer text;
    buffer_init(&text);
    size_t columns = terminal_columns(STDOUT_FILENO, WIDTH_DEFAULT);
    struct report_style style = {
        .width = columns < WIDTH_MIN ? WIDTH_MIN : columns,
        .colour = terminal_colour(STDOUT_FILENO),
    };
    report_table(result, &style, &text);
    int code = output_buffer(&text, error);
    buffer_release(&text);
    return code;
}

/* The file first: what happens to standard output must not cost it. Both are tried. Returns
 * the status for the first failure, or STATUS_DONE. */
static int deliver(struct prod *prod)
{
    int status = STATUS_DONE;
    struct error error = ERROR_INIT;
    if (json_file(prod) != NULL && result_write(prod->result, json_file(prod), &error) != 0) {
        output_complain("prod", error.message);
        status = exit_status_of_error(error.code, 0);
    }
    error_clear(&error);
    bool to_stdout = prod->given.json != NULL && json_file(prod) == NULL;
    int code =
        to_stdout ? json_target_print(prod->result, &error) : print_table(prod->result, &error);
    if (code != 0) {
        output_complain("prod", error.message);
        status = status != STATUS_DONE ? status : exit_status_of_error(code, 0);
    }
    return status;
}

/* Measures, shows what there is to show, and gives the exit status. A result in which nothing was
 * measured is not delivered: it would take the place of a good one. */
static int run_plan(struct prod *prod)
{
    struct error error = ERROR_INIT;
    progress_view_init(&prod->view, STDERR_FILENO, prod->given.quiet, prod->given.every_ns);
    struct progress progress = progress_view_callbacks(&prod->view);
    uint64_t started_ns = clock_now_ns();
    int code = measure(&prod->plan, &progress, prod->result, &error);
    prod->result->elapsed_s = (double)(clock_now_ns() - started_ns) / (double)NS_PER_S;
    progress_view_finish(&prod->view);

    int status = code != 0 ? exit_status_of_error(code, interrupt_signal())
                           : exit_status_of_result(prod->result, interrupt_signal());
    bool measured = code == 0 || anything_measured(prod->result);
    struct error late = ERROR_INIT;
    int delivered = STATUS_DONE;
    if (measured && summarize(prod->result, &late) != 0) {
        output_complain("prod", late.message);
        delivered = exit_status_of_error(late.code, 0);
    } else if (measured) {
        delivered = deliver(prod);
    }
    if (code != 0) {
        if (!measured && json_file(prod) != NULL) {
            char *message = result_text("%s; nothing was measured, %s is left as it was",
                                        error.message, json_file(prod));
            output_complain("prod", message != NULL ? message : error.message);
            free(message);
        } else {
            output_complain("prod", error.message);
        }
    } else if (status == STATUS_UNABLE) {
        output_complain("prod", "no engine could be measured to the end");
    }
    /* A result that could not be delivered outweighs an engine that failed, but not the signal. */
    return delivered != STATUS_DONE && status < delivered ? delivered : status;
}

static void release(struct prod *prod)
{
    engine_choices_release(&prod->engines);
    registry_release(&prod->registry);
    suite_free(prod->suite);
    result_free(prod->result);
    options_release(&prod_option_table, &prod->given);
}

static int run(int argc, char *const *argv)
{
    struct prod prod = {0};
    struct error error = ERROR_INIT;
    int status = STATUS_UNABLE;
    prod.result = result_new();
    if (prod.result == NULL || start_echo(prod.result, &error) != 0) {
        output_complain("prod", "out of memory for the result");
        goto out;
    }
    if (command_parse(&command_prod, argc, argv, &prod.given, NULL, &prod.result->command_line,
                      &status) != 0) {
        goto out;
    }
    if (prepare(&prod, &error, &status) != 0) {
        output_complain("prod", error.message);
        goto out;
    }
    status = run_plan(&prod);
out:
    release(&prod);
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
