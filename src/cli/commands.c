#include "cli/commands.h"

#include "base/layout.h"
#include "base/text.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int help_run(int argc, char *const *argv);

static const struct option help_options[] = {OPTION_HELP_ENTRY};
static const struct option_table help_table = {
    .options = help_options, .count = 1, .argument = "COMMAND"};
static const struct command command_help_itself = {
    .name = "help",
    .usage = "help [COMMAND]",
    .summary = "show this text, or that of a command",
    .table = &help_table,
    .about = "Shows what pitot can do, or the options of one command.",
    .examples = "pitot help prod",
    .run = help_run,
};

static const struct command *const commands[] = {
    &command_verify,  &command_prod,   &command_bench,   &command_concurrent,  &command_compare,
    &command_numbers, &command_report, &command_engines, &command_help_itself,
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

/* ---- help --------------------------------------------------------------- */

static void append_wrapped(struct buffer *out, const char *text, size_t indent, size_t columns)
{
    buffer_printf(out, "%*s", (int)indent, "");
    layout_wrap(out, text, indent, columns);
    buffer_putc(out, '\n');
}

static void command_help(const struct command *command, size_t columns, struct buffer *out)
{
    buffer_printf(out, "Usage: pitot %s\n\n", command->usage);
    append_wrapped(out, command->about, 0, columns);
    buffer_puts(out, "\nOptions:\n");
    options_help(command->table, columns, out);
    if (command->examples != NULL) {
        buffer_puts(out, "\nExamples:\n");
        append_wrapped(out, command->examples, 2, columns);
    }
}

static const char exit_statuses[] =
    "0 done; 1 an engine failed or differed, the others were measured, or a row is slower than "
    "compare's --threshold allows; 2 a mistake in the usage, "
    "or in a name, script, manifest or file given; 3 it cannot run here, or no engine was left; "
    "130 ended by SIGINT and 143 by SIGTERM, with what was measured until then. A reader of "
    "standard output that goes away (| head) changes nothing of that.";

static void commands_help(size_t columns, struct buffer *out)
{
    buffer_puts(out, "Usage: pitot COMMAND [OPTION]…\n\n");
    append_wrapped(out,
                   "Measures embedded SQL engines under the load that an application puts on them, "
                   "on this machine.",
                   0, columns);
    buffer_puts(out, "\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        buffer_printf(out, "  %-12s", commands[i]->name);
        layout_wrap(out, commands[i]->summary, 14, columns);
        buffer_putc(out, '\n');
    }
    buffer_puts(out, "\nOptions:\n"
                     "  --help, -h  Show this text; behind a command: its options.\n"
                     "  --version   Show the version.\n\n"
                     "Exit status:\n");
    append_wrapped(out, exit_statuses, 2, columns);
    buffer_puts(out, "\nExamples:\n"
                     "  pitot engines\n"
                     "  pitot prod --json result.json\n"
                     "  pitot report result.json\n");
}

/* ---- running ------------------------------------------------------------ */

static int show(const char *name, const struct buffer *text)
{
    struct error error = ERROR_INIT;
    int code = output_buffer(text, &error);
    if (code != 0) {
        output_complain(name, error.message);
    }
    return exit_status_of_error(code, 0);
}

static int show_help(const struct command *command)
{
    struct buffer text;
    buffer_init(&text);
    size_t columns = terminal_columns(STDOUT_FILENO, 80);
    columns = columns < 40 ? 40 : columns > 100 ? 100 : columns;
    if (command != NULL) {
        command_help(command, columns, &text);
    } else {
        commands_help(columns, &text);
    }
    int status = show(command != NULL ? command->name : NULL, &text);
    buffer_release(&text);
    return status;
}

int command_parse(const struct command *command, int argc, char *const *argv, void *values,
                  const char **argument, result_strings *echo, int *status)
{
    struct error error = ERROR_INIT;
    int code = options_parse(command->table, argc, argv, values, argument, echo, &error);
    if (code == OPTIONS_GIVEN) {
        return 0;
    }
    if (code == OPTIONS_HELP) {
        *status = show_help(command);
        return 1;
    }
    struct buffer message;
    buffer_init(&message);
    buffer_printf(&message, "%s (see pitot %s --help)", error.message, command->name);
    output_complain(command->name, message.failed ? error.message : message.data);
    buffer_release(&message);
    *status = exit_status_of_error(code, 0);
    return 1;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static void append_names(struct buffer *out, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        buffer_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

/* `caller` is the command that was given the word, NULL: pitot itself. */
static int unknown_word(const char *caller, const char *word)
{
    static const char *const options[] = {"--help", "--version", NULL};
    const char *names[COMMAND_COUNT + 1] = {NULL};
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
    }
    bool option = caller == NULL && word[0] == '-';
    const char *const *known = option ? options : names;
    const char *nearest = text_nearest(word, known);
    struct buffer message;
    buffer_init(&message);
    buffer_printf(&message, "unknown %s \"%s\": ", option ? "option" : "command", word);
    if (nearest != NULL) {
        buffer_printf(&message, "did you mean %s?", nearest);
    } else if (option) {
        buffer_puts(&message, "a command comes first; without one there are only ");
        append_names(&message, known);
    } else {
        buffer_puts(&message, "the commands are ");
        append_names(&message, known);
    }
    buffer_puts(&message, " (see pitot --help)");
    output_complain(caller, message.failed ? "unknown word" : message.data);
    buffer_release(&message);
    return STATUS_USAGE;
}

static int help_run(int argc, char *const *argv)
{
    const char *name = NULL;
    char unused[1] = {0};
    int status = 0;
    if (command_parse(&command_help_itself, argc, argv, unused, &name, NULL, &status) != 0) {
        return status;
    }
    const struct command *command = name != NULL ? find_command(name) : NULL;
    if (name != NULL && command == NULL) {
        return unknown_word("help", name);
    }
    return show_help(command);
}

static int show_version(void)
{
    struct buffer text;
    buffer_init(&text);
    buffer_puts(&text, "pitot " PITOT_VERSION " (" PITOT_BUILD " build)\n");
    int status = show(NULL, &text);
    buffer_release(&text);
    return status;
}

static int stray(const char *option, const char *word)
{
    struct buffer message;
    buffer_init(&message);
    buffer_printf(&message, "\"%s\" behind %s is not understood (see pitot --help)", word, option);
    output_complain(NULL, message.failed ? "stray argument" : message.data);
    buffer_release(&message);
    return STATUS_USAGE;
}

int commands_main(int argc, char *const *argv)
{
    struct error error = ERROR_INIT;
    int code = output_init(&error);
    if (code != 0) {
        output_complain(NULL, error.message);
        return exit_status_of_error(code, 0);
    }
    if (argc < 2) {
        output_complain(NULL, "a command is missing, such as pitot prod (see pitot --help)");
        return STATUS_USAGE;
    }
    const char *word = argv[1];
    bool version = strcmp(word, "--version") == 0;
    if (version || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        if (argc > 2) {
            return stray(word, argv[2]);
        }
        return version ? show_version() : show_help(NULL);
    }
    const struct command *command = find_command(word);
    if (command == NULL) {
        return unknown_word(NULL, word);
    }
    return command->run(argc - 2, argv + 2);
}
