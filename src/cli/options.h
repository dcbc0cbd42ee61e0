/*
 * Options of a command. One table drives the parser, --help and the echo of what was given in a
 * result. Flags are long (`--flag value`, `--flag=value`); only -P and -h are short.
 *
 * Defaults stand in the table as a user would write them and go through the same parser.
 */
#ifndef PITOT_CLI_OPTIONS_H
#define PITOT_CLI_OPTIONS_H

#include "base/buffer.h"
#include "core/error.h"
#include "result/result.h"

#include <stddef.h>
#include <stdint.h>

/* Value of a count or duration that was not given and has no default. */
#define OPTION_ABSENT UINT64_MAX

/* A length given as time or as a number of operations; the other one is OPTION_ABSENT. */
struct option_amount {
    uint64_t ns;
    uint64_t operations;
};

/* A rate as a number or as a share of what is found out later; the other one, and both when none
 * was given, is NAN. */
struct option_rate {
    double per_second;
    double share;
};

enum option_kind {
    OPTION_HELP,
    OPTION_SWITCH,     /* bool: no value */
    OPTION_TEXT,       /* const char *, points into argv; NULL when absent; never empty */
    OPTION_CHOICE,     /* const char *, one of `choices` */
    OPTION_COUNT,      /* uint64_t in [min, max] */
    OPTION_DURATION,   /* uint64_t ns in [min, max]; without a suffix in units of `bare_ns` */
    OPTION_CACHE_SIZE, /* int64_t as PRAGMA cache_size takes it */
    OPTION_AMOUNT,     /* struct option_amount; without a suffix in operations */
    OPTION_RATE,       /* struct option_rate */
    OPTION_PERCENT,    /* double, a share: 5% is 0.05; NAN when absent */
    OPTION_PAIRS,      /* result_pairs: NAME=VALUE, may be repeated */
};

struct option {
    const char *name; /* without dashes; NULL: only the letter */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;        /* of its value in the command's struct */
    const char *argument; /* name of the value in --help, NULL for none */
    const char *help;     /* one or two sentences with the unit */
    const char *fallback; /* the default, as text; NULL: absent */
    uint64_t min, max;
    uint64_t bare_ns;
    const char *const *choices; /* ends with NULL */
};

#define OPTION_HELP_ENTRY                                                                          \
    {                                                                                              \
        .name = "help", .letter = 'h', .kind = OPTION_HELP, .help = "Show this text."              \
    }

/* Options of one command (at most OPTIONS_MAX) and the arguments it may take. */
enum { OPTIONS_MAX = 40 };
struct option_table {
    const struct option *options;
    size_t count;
    const char *argument; /* "FILE"; NULL: it takes none */
    bool argument_needed;
    size_t arguments_max; /* 0 means 1 */
};

/* What options_parse returns besides a negative error code. */
enum { OPTIONS_GIVEN = 0, OPTIONS_HELP = 1 };

/* Fills `values` (the command's struct, zeroed by the caller) with the defaults and the words of
 * `argv` (the words behind the command, `argc` of them). `argument` is an array
 * for as many arguments as the table allows; those not given become NULL (the array may be NULL if
 * the table has none). `echo` gets each option in one spelling, "--flag=value" (may be
 * NULL). Stops with OPTIONS_HELP at --help. ERROR_INVALID names the word and what would be right.
 * options_release() is needed in every case. */
int options_parse(const struct option_table *table, int argc, char *const *argv, void *values,
                  const char **argument, result_strings *echo, struct error *error);

/* Frees what the values own. */
void options_release(const struct option_table *table, void *values);

/* Appends the list of options for --help, no line wider than `columns` (at least 40). */
void options_help(const struct option_table *table, size_t columns, struct buffer *out);

#endif
