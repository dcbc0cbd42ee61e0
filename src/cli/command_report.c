/* `pitot report`: shows a result that was written before. It measures and computes nothing. */
#include "cli/commands.h"

#include "cli/exit_status.h"
#include "cli/json_target.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "report/report.h"
#include "result/json.h"

#include <string.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 20, WIDTH_MAX = 10000 };

struct report_options {
    const char *format;
    uint64_t width;
};

static const char *const formats[] = {"table", "csv", "json", NULL};

static const struct option options[] = {
    {.name = "format",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct report_options, format),
     .argument = "NAME",
     .choices = formats,
     .fallback = "table",
     .help = "table, csv (RFC 4180) or json (the file as pitot understood it)."},
    {.name = "width",
     .kind = OPTION_COUNT,
     .offset = offsetof(struct report_options, width),
     .argument = "COLUMNS",
     .min = WIDTH_MIN,
     .max = WIDTH_MAX,
     .help = "No line of the table is wider, 20 to 10000. Default: the window, else $COLUMNS, "
             "else 100."},
    OPTION_HELP_ENTRY,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
    .argument = "FILE",
    .argument_needed = true,
};

static int print_text(const struct result *result, const struct report_options *given,
                      struct error *error)
{
    struct buffer text;
    buffer_init(&text);
    if (strcmp(given->format, "csv") == 0) {
        report_csv(result, &text);
    } else {
        size_t columns = given->width != OPTION_ABSENT
                             ? (size_t)given->width
                             : terminal_columns(STDOUT_FILENO, WIDTH_DEFAULT);
        struct report_style style = {
            .width = columns < WIDTH_MIN ? WIDTH_MIN : columns,
            .colour = terminal_colour(STDOUT_FILENO),
        };
        report_table(result, &style, &text);
    }
    int code = output_buffer(&text, error);
    buffer_release(&text);
    return code;
}

static int run(int argc, char *const *argv)
{
    struct report_options given = {0};
    const char *file = NULL;
    int status = 0;
    if (command_parse(&command_report, argc, argv, &given, &file, NULL, &status) != 0) {
        return status;
    }
    struct error error = ERROR_INIT;
    struct result *result = NULL;
    int code = result_read(file, &result, &error);
    if (code != 0) {
        status = exit_status_of_input_error(code, 0);
    } else {
        code = strcmp(given.format, "json") == 0 ? json_target_print(result, &error)
                                                 : print_text(result, &given, &error);
        status = exit_status_of_error(code, 0);
    }
    if (code != 0) {
        output_complain("report", error.message);
    }
    result_free(result);
    return status;
}

const struct command command_report = {
    .name = "report",
    .usage = "report FILE [OPTION]…",
    .summary = "show a result that was written with --json",
    .table = &table,
    .about = "Shows the result in FILE. A result of another version, or a file that is no result, "
             "is refused.",
    .examples = "pitot report result.json\n"
                "pitot report result.json --format csv",
    .run = run,
};
