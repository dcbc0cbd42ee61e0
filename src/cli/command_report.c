/* `pitot report`: shows a result that was written before. It measures and computes nothing. */
#include "cli/commands.h"

#include "base/file.h"
#include "cli/exit_status.h"
#include "cli/json_target.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "report/html.h"
#include "report/report.h"
#include "result/json.h"

#include <string.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 20, WIDTH_MAX = 10000, FILES_MAX = 16 };

struct report_options {
    const char *format;
    const char *output;
    uint64_t width;
};

static const char *const formats[] = {"table", "csv", "json", "markdown", "html", NULL};

static const struct option options[] = {
    {.name = "format",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct report_options, format),
     .argument = "NAME",
     .choices = formats,
     .fallback = "table",
     .help = "table, csv (RFC 4180), json (the file as pitot understood it), markdown (for a "
             "comment below a change) or html (one page that "
             "needs nothing beside itself)."},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(struct report_options, output),
     .argument = "FILE",
     .help = "Write to FILE instead of standard output (\"-\"); it is whole or not there."},
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
    .arguments_max = FILES_MAX,
};

/* What one run of the command owns. */
struct report {
    struct report_options given;
    const char *files[FILES_MAX];
    struct result *results[FILES_MAX];
    size_t count;
};

static bool is_html(const struct report *report)
{
    return strcmp(report->given.format, "html") == 0;
}

static void append_text(const struct report *report, struct buffer *text)
{
    const struct result *result = report->results[0];
    if (strcmp(report->given.format, "csv") == 0) {
        report_csv(result, text);
        return;
    }
    if (strcmp(report->given.format, "markdown") == 0) {
        report_markdown(result, text);
        return;
    }
    size_t columns = report->given.width != OPTION_ABSENT
                         ? (size_t)report->given.width
                         : terminal_columns(STDOUT_FILENO, WIDTH_DEFAULT);
    struct report_style style = {
        .width = columns < WIDTH_MIN ? WIDTH_MIN : columns,
        .colour = report->given.output == NULL && terminal_colour(STDOUT_FILENO),
    };
    report_table(result, &style, text);
}

static int append_html(const struct report *report, struct buffer *text, struct error *error)
{
    struct report_source sources[FILES_MAX];
    for (size_t i = 0; i < report->count; i++) {
        const char *slash = strrchr(report->files[i], '/');
        sources[i].label = slash != NULL ? slash + 1 : report->files[i];
        sources[i].result = report->results[i];
    }
    return report_html(sources, report->count, text, error);
}

static int deliver(const struct report *report, struct error *error)
{
    if (strcmp(report->given.format, "json") == 0) {
        return report->given.output != NULL
                   ? result_write(report->results[0], report->given.output, error)
                   : json_target_print(report->results[0], error);
    }
    struct buffer text;
    buffer_init(&text);
    int code = 0;
    if (is_html(report)) {
        code = append_html(report, &text, error);
    } else {
        append_text(report, &text);
    }
    if (code == 0 && report->given.output != NULL) {
        code = text.failed ? error_set(error, ERROR_MEMORY, "out of memory for the report")
                           : file_replace(report->given.output, text.data, text.length, error);
    } else if (code == 0) {
        code = output_buffer(&text, error);
    }
    buffer_release(&text);
    return code;
}

/* What can be found wrong before a file is read. */
static int check(const struct report *report, struct error *error)
{
    if (report->count > 1 && !is_html(report)) {
        return error_set(error, ERROR_INVALID,
                         "--format %s shows one FILE, found \"%s\" and \"%s\"; --format html shows "
                         "several beside each other",
                         report->given.format, report->files[0], report->files[1]);
    }
    if (is_html(report) && !report_html_ready()) {
        return error_set(error, ERROR_UNAVAILABLE, "--format html: %s", REPORT_HTML_MISSING);
    }
    if (is_html(report) && report->given.output == NULL && isatty(STDOUT_FILENO)) {
        return error_set(error, ERROR_INVALID,
                         "--format html: a page of some 300 kB is not for a terminal; say "
                         "-o report.html");
    }
    int code = 0;
    if (report->given.output != NULL) {
        code = json_target_check("-o", report->given.output, error);
    }
    for (size_t i = 0; i < report->count && code == 0 && report->given.output != NULL; i++) {
        code = json_target_differs("-o", report->given.output, report->files[i],
                                   "a result that is read", error);
    }
    return code;
}

static int run(int argc, char *const *argv)
{
    struct report report = {.count = 0};
    int status = 0;
    if (command_parse(&command_report, argc, argv, &report.given, report.files, NULL, &status) !=
        0) {
        return status;
    }
    while (report.count < FILES_MAX && report.files[report.count] != NULL) {
        report.count++;
    }
    if (report.given.output != NULL && strcmp(report.given.output, "-") == 0) {
        report.given.output = NULL;
    }
    struct error error = ERROR_INIT;
    int code = check(&report, &error);
    status = exit_status_of_error(code, 0);
    for (size_t i = 0; i < report.count && code == 0; i++) {
        code = result_read(report.files[i], &report.results[i], &error);
        status = exit_status_of_input_error(code, 0);
    }
    if (code == 0) {
        code = deliver(&report, &error);
        status = exit_status_of_error(code, 0);
    }
    if (code != 0) {
        output_complain("report", error.message);
    }
    for (size_t i = 0; i < report.count; i++) {
        result_free(report.results[i]);
    }
    return status;
}

const struct command command_report = {
    .name = "report",
    .usage = "report FILE… [OPTION]…",
    .summary = "show a result that was written with --json",
    .table = &table,
    .about =
        "Shows the result in FILE. A result of another version, or a file that is no result, "
        "is refused. As a page of HTML several files stand beside each other, and what may not be "
        "compared is said.",
    .examples = "pitot report result.json\n"
                "pitot report result.json --format csv\n"
                "pitot report result.json --format html -o report.html\n"
                "pitot report monday.json friday.json --format html -o both.html",
    .run = run,
};
