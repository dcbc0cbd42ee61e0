#include "cli/session.h"

#include "base/file.h"
#include "cli/exit_status.h"
#include "cli/json_target.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "coordinator/interrupt.h"
#include "core/clock.h"
#include "report/html.h"
#include "report/report.h"
#include "result/json.h"
#include "statistics/compare.h"
#include "statistics/roles.h"
#include "statistics/summary.h"
#include "statistics/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 20 };

/* The file that --json names; NULL: none, or standard output. */
static const char *json_file(const struct session *session)
{
    const char *file = session->given->json;
    return file != NULL && strcmp(file, "-") != 0 ? file : NULL;
}

/* ---- before measuring --------------------------------------------------- */

static int start_result(struct session *session, struct error *error)
{
    struct result *result = session->result;
    char now[CLOCK_UTC_SIZE];
    clock_utc(now);
    result->pitot_version = strdup(PITOT_VERSION);
    result->build = strdup(PITOT_BUILD);
    result->command = strdup(session->command->name);
    result->started = strdup(now);
    if (result->pitot_version == NULL || result->build == NULL || result->command == NULL ||
        result->started == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the result");
    }
    return 0;
}

/* The words in front of the options that options_parse() adds. */
static int start_echo(struct session *session, struct error *error)
{
    struct result *result = session->result;
    const char *const words[] = {"pitot", session->command->name};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char **item = result_list_add(&result->command_line);
        if (item == NULL || (*item = strdup(words[i])) == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory for the result");
        }
    }
    return 0;
}

int session_suite(struct session *session, const char *folder, const char *builtin,
                  struct suite **out, struct error *error, int *status)
{
    int code = folder != NULL ? suite_open_folder(folder, out, error)
                              : suite_open_builtin(builtin, out, error);
    *status = exit_status_of_input_error(code, 0);
    if (code != 0) {
        return code;
    }
    for (size_t i = 0; i < (*out)->script_count; i++) {
        const struct suite_script *script = &(*out)->scripts[i];
        if (script->ignore_count > 0) {
            continue; /* what differs from run to run is left out of comparisons */
        }
        for (uint32_t j = 0; j < script->script->warning_count; j++) {
            code = result_warn(session->result, script->name, "%s", script->script->warnings[j]);
            if (code != 0) {
                *status = exit_status_of_error(code, 0);
                return error_set(error, code, "out of memory for the warnings");
            }
        }
    }
    return 0;
}

/* A manifest of the user's that cannot be read might have been meant to take part. */
static int warn_of_manifests(struct session *session, struct error *error)
{
    if (session->given->engines != NULL) {
        return 0; /* registry_choose() reports it if it was named */
    }
    for (size_t i = 0; i < session->registry.problems.count; i++) {
        const struct result_warning *problem = &session->registry.problems.items[i];
        int code = result_warn(session->result, problem->subject, "%s", problem->text);
        if (code != 0) {
            return error_set(error, code, "out of memory for the warnings");
        }
    }
    return 0;
}

/* Returns 0, or 1 when the command is over, with its exit status in *status. */
static int start(struct session *session, const struct command *command, void *values, int argc,
                 char *const *argv, int *status)
{
    struct error error = ERROR_INIT;
    session->command = command;
    session->result = result_new();
    if (session->result == NULL || start_echo(session, &error) != 0) {
        output_complain(command->name, "out of memory for the result");
        *status = STATUS_UNABLE;
        return 1;
    }
    return command_parse(command, argc, argv, values, NULL, &session->result->command_line, status);
}

static void release(struct session *session, void *values)
{
    engine_choices_release(&session->engines);
    registry_release(&session->registry);
    result_free(session->result);
    options_release(session->command->table, values);
}

int session_check(struct session *session, struct error *error, int *status)
{
    int code = prod_options_check(session->given, error);
    if (code == 0) {
        code = start_result(session, error);
    }
    if (code == 0) {
        code = output_check(error);
    }
    if (code == 0 && json_file(session) != NULL) {
        code = json_target_check("--json", json_file(session), error);
    }
    if (code == 0 && session->given->html != NULL) {
        code = json_target_check("--html", session->given->html, error);
    }
    if (code == 0 && json_file(session) != NULL && session->given->html != NULL) {
        code = json_target_differs("--html", session->given->html, json_file(session),
                                   "the file of --json", error);
    }
    /* Last: what is wrong with the words is wrong in every build. */
    if (code == 0 && session->given->html != NULL && !report_html_ready()) {
        code = error_set(error, ERROR_UNAVAILABLE, "--html: %s", REPORT_HTML_MISSING);
    }
    *status = exit_status_of_error(code, 0);
    return code;
}

int session_registry(struct session *session, struct error *error, int *status)
{
    int code = registry_load(&session->registry, error);
    *status = exit_status_of_input_error(code, 0);
    if (code == 0) {
        code = warn_of_manifests(session, error);
        *status = exit_status_of_error(code, 0);
    }
    return code;
}

/* --busy fine: where pitot waits for locks itself; the others are named. */
static int wait_finely(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->engines.count; i++) {
        struct engine_choice *choice = &session->engines.items[i];
        const char *driver = choice->manifest->driver;
        int code = 0;
        if (driver != NULL && strcmp(driver, "sqlite") == 0) {
            code = engine_choice_option(choice, "busy", "fine", error);
        } else if (!choice->manifest->no_database) {
            code = result_warn(session->result, choice->name,
                               "--busy fine changes nothing: it waits for locks in its own way");
            code = code != 0 ? error_set(error, code, "out of memory for the warnings") : 0;
        }
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

int session_engines(struct session *session, struct error *error, int *status)
{
    int code = registry_choose(&session->registry, session->given->engines, &session->engines,
                               &session->result->warnings, error);
    if (code == 0) {
        code = registry_engine_options(&session->registry, &session->given->engine_options,
                                       &session->engines, error);
    }
    if (code == 0 && session->given->busy != NULL && strcmp(session->given->busy, "fine") == 0) {
        code = wait_finely(session, error);
    }
    if (code == 0) {
        code = interrupt_install(error);
    }
    session->plan.registry = &session->registry;
    session->plan.engines = &session->engines;
    *status = exit_status_of_error(code, 0);
    return code;
}

/* ---- after measuring ---------------------------------------------------- */

size_t session_baseline(const struct session *session)
{
    for (size_t i = 0; i < session->engines.count; i++) {
        if (strcmp(session->engines.items[i].name, "sqlite") == 0) {
            return i;
        }
    }
    for (size_t i = 0; i < session->engines.count; i++) {
        if (!session->engines.items[i].manifest->no_database) {
            return i;
        }
    }
    return 0;
}

/* Several engines are compared as soon as there are rounds enough for a verdict, also by commands
 * that were not asked to. */
static int choose_baseline(struct session *session, struct error *error)
{
    struct result *result = session->result;
    bool timed = result->engines.count > 1 && result->engines.items[0].summaries.count > 0;
    if (result->comparison.baseline != NULL || !timed || result->plan.rounds < VERDICT_ROUNDS_MIN) {
        return 0;
    }
    result->comparison.baseline = strdup(result->engines.items[session_baseline(session)].name);
    return result->comparison.baseline != NULL
               ? 0
               : error_set(error, ERROR_MEMORY, "out of memory for the comparison");
}

/* Figures over the rounds, computed once for all printers. */
static int summarize(struct session *session, struct error *error)
{
    struct result *result = session->result;
    int code = 0;
    for (size_t i = 0; i < result->engines.count && code == 0; i++) {
        code = summarize_engine(&result->engines.items[i], error);
    }
    code = code == 0 ? summarize_scaling(result, error) : code;
    code = code == 0 ? choose_baseline(session, error) : code;
    code = code == 0 ? compare_fill(result, error) : code;
    return code == 0 && session->finish != NULL ? session->finish(session, error) : code;
}

int session_save(struct session *session, struct error *error)
{
    if (json_file(session) == NULL) {
        return 0;
    }
    int code = summarize(session, error);
    return code == 0 ? result_write(session->result, json_file(session), error) : code;
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

/* The page of one result, called after its file. */
static int write_page(const struct session *session, struct error *error)
{
    const char *file = json_file(session) != NULL ? json_file(session) : session->given->html;
    const char *slash = strrchr(file, '/');
    struct report_source source = {.label = slash != NULL ? slash + 1 : file,
                                   .result = session->result};
    struct buffer text;
    buffer_init(&text);
    int code = report_html(&source, 1, &text, error);
    if (code == 0) {
        code = file_replace(session->given->html, text.data, text.length, error);
    }
    buffer_release(&text);
    return code;
}

/* Says where a file lies or why it does not. Returns the exit status. */
static int tell_written(const struct session *session, const char *what, const char *file, int code,
                        const struct error *error)
{
    if (code != 0) {
        output_complain(session->command->name, error->message);
        return exit_status_of_error(code, 0);
    }
    if (!session->given->quiet) {
        char *message = result_text("%s: %s", what, file);
        output_complain(session->command->name, message != NULL ? message : "out of memory");
        free(message);
    }
    return STATUS_DONE;
}

/* Files first: what happens to standard output must not cost them. All are tried. Returns the
 * status for the first failure, or STATUS_DONE. */
static int deliver(struct session *session)
{
    int status = STATUS_DONE;
    struct error error = ERROR_INIT;
    if (json_file(session) != NULL) {
        int code = result_write(session->result, json_file(session), &error);
        status = tell_written(session, "result", json_file(session), code, &error);
    }
    error_clear(&error);
    if (session->given->html != NULL) {
        int code = write_page(session, &error);
        int told = tell_written(session, "report", session->given->html, code, &error);
        status = status != STATUS_DONE ? status : told;
    }
    error_clear(&error);
    bool to_stdout = session->given->json != NULL && json_file(session) == NULL;
    int code = to_stdout ? json_target_print(session->result, &error)
                         : print_table(session->result, &error);
    if (code != 0) {
        output_complain(session->command->name, error.message);
        status = status != STATUS_DONE ? status : exit_status_of_error(code, 0);
    }
    return status;
}

static void explain_event_loop(const struct session *session, const struct result_engine *engine)
{
    const char *why = engine->event_loop.error != NULL ? engine->event_loop.error : "no reason";
    char *message = result_text("%s failed on the event loop: %s", engine->name, why);
    output_complain(session->command->name, message != NULL ? message : engine->name);
    free(message);
}

/* A status that is not 0 is explained where errors are looked for, also when the table goes
 * elsewhere. */
static void explain(const struct session *session)
{
    uint64_t slower = session->result->comparison.slower;
    if (slower != RESULT_ABSENT && slower > 0) {
        char *message =
            result_text("%" PRIu64 " row%s slower", slower, slower == 1 ? " is" : "s are");
        output_complain(session->command->name, message != NULL ? message : "rows are slower");
        free(message);
    }
    for (size_t i = 0; i < session->result->numbers.count; i++) {
        const struct result_numbers *numbers = &session->result->numbers.items[i];
        if (numbers->error != NULL) {
            char *message = result_text("SQLite of %s: %s", numbers->name, numbers->error);
            output_complain(session->command->name, message != NULL ? message : numbers->error);
            free(message);
        }
    }
    for (size_t i = 0; i < session->result->engines.count; i++) {
        const struct result_engine *engine = &session->result->engines.items[i];
        const char *status = engine->status != NULL ? engine->status : "failed";
        if (strcmp(status, "ok") == 0) {
            const struct result_event_loop *loop = &engine->event_loop;
            if (loop->status != NULL && strcmp(loop->status, "failed") == 0) {
                explain_event_loop(session, engine);
            }
            continue;
        }
        char *message = result_text(
            "%s %s%s%s", engine->name, strcmp(status, "partial") == 0 ? "is partial" : status,
            engine->error != NULL ? ": " : "", engine->error != NULL ? engine->error : "");
        output_complain(session->command->name, message != NULL ? message : engine->name);
        free(message);
    }
}

bool session_anything_measured(const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        if (result->engines.items[i].runs.count > 0) {
            return true;
        }
    }
    return false;
}

int session_measure(struct session *session, const struct progress *progress, struct error *error)
{
    return measure(&session->plan, progress, session->result, error);
}

/* Does the work, shows what there is to show, and gives the exit status. */
static int run(struct session *session, const struct session_steps *steps)
{
    struct error error = ERROR_INIT;
    progress_view_init(&session->view, STDERR_FILENO, session->given->quiet,
                       session->given->every_ns);
    struct progress progress = progress_view_callbacks(&session->view);
    uint64_t started_ns = clock_now_ns();
    int code = steps->work(session, &progress, &error);
    session->result->elapsed_s = (double)(clock_now_ns() - started_ns) / (double)NS_PER_S;
    progress_view_finish(&session->view);

    bool measured = code == 0 || steps->some(session->result);
    struct error late = ERROR_INIT;
    int delivered = STATUS_DONE;
    if (measured && summarize(session, &late) != 0) {
        output_complain(session->command->name, late.message);
        delivered = exit_status_of_error(late.code, 0);
    } else if (measured) {
        delivered = deliver(session);
    }
    /* Whether a row is slower is only known now. */
    int status = code != 0 ? exit_status_of_error(code, interrupt_signal())
                           : exit_status_of_result(session->result, interrupt_signal());
    if (code != 0) {
        if (!measured && json_file(session) != NULL) {
            char *message = result_text("%s; %s, %s is left as it was", error.message,
                                        steps->nothing, json_file(session));
            output_complain(session->command->name, message != NULL ? message : error.message);
            free(message);
        } else {
            output_complain(session->command->name, error.message);
        }
    } else if (status == STATUS_ENGINE || status == STATUS_UNABLE) {
        explain(session);
    }
    /* A result that could not be delivered outweighs an engine that failed, but not the signal. */
    return delivered != STATUS_DONE && status < delivered ? delivered : status;
}

int session_command(struct session *session, const struct command *command,
                    const struct session_steps *steps, void *values, int argc, char *const *argv)
{
    struct error error = ERROR_INIT;
    int status;
    if (start(session, command, values, argc, argv, &status) == 0) {
        if (steps->prepare(session, &error, &status) == 0) {
            status = run(session, steps);
        } else {
            output_complain(command->name, error.message);
        }
    }
    release(session, values);
    return status;
}
