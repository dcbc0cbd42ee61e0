/* The commands of `pitot`. Their help texts are made from these tables. */
#ifndef PITOT_CLI_COMMANDS_H
#define PITOT_CLI_COMMANDS_H

#include "cli/options.h"

struct command {
    const char *name;
    const char *usage;   /* "prod [OPTION]…" */
    const char *summary; /* one line */
    const struct option_table *table;
    const char *about;    /* paragraphs for --help */
    const char *examples; /* lines for --help */
    /* `argv` are the words behind the command's name. Prints, and returns the exit status. */
    int (*run)(int argc, char *const *argv);
};

extern const struct command command_prod;
extern const struct command command_bench;
extern const struct command command_compare;
extern const struct command command_concurrent;
extern const struct command command_verify;
extern const struct command command_numbers;
extern const struct command command_report;
extern const struct command command_engines;

/* Runs what the command line says and returns the exit status. */
int commands_main(int argc, char *const *argv);

/* Parses a command's words. Returns 0, or 1 when the command is over (help was shown, or a mistake
 * was reported) with its exit status in *status. Parameters as options_parse. */
int command_parse(const struct command *command, int argc, char *const *argv, void *values,
                  const char **argument, result_strings *echo, int *status);

#endif
