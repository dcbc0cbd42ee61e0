#include "cli/options.h"

#include "base/layout.h"
#include "base/text.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------- */

/* "--threads" or "-P", for messages. */
struct option_label {
    char text[64];
};

static struct option_label label_of(const struct option *option)
{
    struct option_label label;
    if (option->name != NULL) {
        snprintf(label.text, sizeof(label.text), "--%s", option->name);
    } else {
        snprintf(label.text, sizeof(label.text), "-%c", option->letter);
    }
    return label;
}

static void *value_of(const struct option *option, void *values)
{
    return (char *)values + option->offset;
}

static int parse_choice(const struct option *option, const char *label, const char *text,
                        const char **out, struct error *error)
{
    struct buffer known;
    buffer_init(&known);
    for (const char *const *choice = option->choices; *choice != NULL; choice++) {
        if (strcmp(*choice, text) == 0) {
            *out = *choice;
            buffer_release(&known);
            return 0;
        }
        buffer_printf(&known, "%s%s", choice == option->choices ? "" : ", ", *choice);
    }
    int code = error_set(error, ERROR_INVALID, "%s: \"%s\" is none of %s", label, text, known.data);
    buffer_release(&known);
    return code;
}

static int parse_duration(const struct option *option, const char *label, const char *text,
                          uint64_t *out, struct error *error)
{
    int code = units_duration_ns(label, text, option->bare_ns, out, error);
    if (code != 0) {
        return code;
    }
    if (*out < option->min || *out > option->max) {
        char low[UNITS_TEXT_SIZE];
        char high[UNITS_TEXT_SIZE];
        units_print_ns(low, (double)option->min);
        units_print_ns(high, (double)option->max);
        return error_set(error, ERROR_INVALID, "%s: %s is outside of %s to %s", label, text, low,
                         high);
    }
    return 0;
}

/* Digits alone are operations; everything else must be a time with its unit. */
static int parse_amount(const char *label, const char *text, struct option_amount *out,
                        struct error *error)
{
    *out = (struct option_amount){.ns = OPTION_ABSENT, .operations = OPTION_ABSENT};
    if (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0') {
        return units_count(label, text, 0, UINT64_C(1000000000000), &out->operations, error);
    }
    return units_duration_ns(label, text, 0, &out->ns, error);
}

/* `form` is what the value looks like, NAME=VALUE. */
static int parse_pair(const char *label, const char *form, const char *text, result_pairs *out,
                      struct error *error)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        return error_set(error, ERROR_INVALID, "%s: \"%s\" is not of the form %s", label, text,
                         form);
    }
    struct result_pair *pair = result_list_add(out);
    if (pair == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for %s", label);
    }
    pair->name = strndup(text, (size_t)(equals - text));
    pair->value = strdup(equals + 1);
    if (pair->name == NULL || pair->value == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for %s", label);
    }
    return 0;
}

static int set_value(const struct option *option, const char *text, void *values,
                     struct error *error)
{
    struct option_label label = label_of(option);
    void *value = value_of(option, values);
    switch (option->kind) {
    case OPTION_HELP:
        return 0;
    case OPTION_SWITCH:
        *(bool *)value = true;
        return 0;
    case OPTION_TEXT:
        if (text[0] == '\0') {
            return error_set(error, ERROR_INVALID, "%s: %s is empty", label.text, option->argument);
        }
        *(const char **)value = text;
        return 0;
    case OPTION_CHOICE:
        return parse_choice(option, label.text, text, value, error);
    case OPTION_COUNT:
        return units_count(label.text, text, option->min, option->max, value, error);
    case OPTION_DURATION:
        return parse_duration(option, label.text, text, value, error);
    case OPTION_CACHE_SIZE:
        return units_cache_size(label.text, text, value, error);
    case OPTION_AMOUNT:
        return parse_amount(label.text, text, value, error);
    case OPTION_RATE: {
        struct option_rate *rate = value;
        return units_rate(label.text, text, &rate->per_second, &rate->share, error);
    }
    case OPTION_PERCENT:
        return units_percent(label.text, text, value, error);
    case OPTION_PAIRS:
        return parse_pair(label.text, option->argument, text, value, error);
    }
    return 0;
}

static void set_absent(const struct option *option, void *values)
{
    void *value = value_of(option, values);
    if (option->kind == OPTION_COUNT || option->kind == OPTION_DURATION) {
        *(uint64_t *)value = OPTION_ABSENT;
    } else if (option->kind == OPTION_AMOUNT) {
        *(struct option_amount *)value =
            (struct option_amount){.ns = OPTION_ABSENT, .operations = OPTION_ABSENT};
    } else if (option->kind == OPTION_RATE) {
        *(struct option_rate *)value =
            (struct option_rate){.per_second = (double)NAN, .share = (double)NAN};
    } else if (option->kind == OPTION_PERCENT) {
        *(double *)value = (double)NAN;
    }
}

static bool takes_value(const struct option *option)
{
    return option->kind != OPTION_HELP && option->kind != OPTION_SWITCH;
}

/* ---- words -------------------------------------------------------------- */

/* One parse: where it stands, and what was given so far. */
struct parse {
    const struct option_table *table;
    int argc;
    char *const *argv;
    int next;
    size_t taken;                   /* arguments so far */
    const char *given[OPTIONS_MAX]; /* by option: its value, "" for a switch, NULL: not given */
    result_strings *echo;
    struct error *error;
};

static const struct option *find_long(const struct option_table *table, const char *name,
                                      size_t length)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *known = table->options[i].name;
        if (known != NULL && strlen(known) == length && memcmp(known, name, length) == 0) {
            return &table->options[i];
        }
    }
    return NULL;
}

static const struct option *find_letter(const struct option_table *table, char letter)
{
    for (size_t i = 0; i < table->count; i++) {
        if (letter != 0 && table->options[i].letter == letter) {
            return &table->options[i];
        }
    }
    return NULL;
}

/* "unknown option --thread: did you mean --threads?" `name` is without dashes and value. */
static int unknown_option(const struct parse *parse, const char *word, const char *name)
{
    const char *candidates[OPTIONS_MAX + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < parse->table->count; i++) {
        if (parse->table->options[i].name != NULL) {
            candidates[count++] = parse->table->options[i].name;
        }
    }
    const char *nearest = text_nearest(name, candidates);
    if (nearest != NULL) {
        return error_set(parse->error, ERROR_INVALID, "unknown option %s: did you mean --%s?", word,
                         nearest);
    }
    return error_set(parse->error, ERROR_INVALID, "unknown option %s", word);
}

/* Finds the option of a word that begins with a dash. *value points at the value that the word
 * carries, or is NULL. */
static int match_word(const struct parse *parse, const char *word, const struct option **out,
                      const char **value)
{
    *value = NULL;
    if (word[1] != '-') {
        *out = find_letter(parse->table, word[1]);
        /* -P5, but not "-help", which is --help with a dash too few. */
        if (*out != NULL && word[2] != '\0') {
            if (!takes_value(*out) || strchr("=0123456789.", word[2]) == NULL) {
                return unknown_option(parse, word, word + 1);
            }
            *value = word + (word[2] == '=' ? 3 : 2);
        }
        return *out != NULL ? 0 : unknown_option(parse, word, word + 1);
    }
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    *out = find_long(parse->table, name, length);
    if (*out != NULL) {
        *value = name[length] == '=' ? name + length + 1 : NULL;
        return 0;
    }
    char *bare = strndup(name, length);
    if (bare == NULL) {
        return error_set(parse->error, ERROR_MEMORY, "out of memory for the options");
    }
    char *dashed = result_text("--%s", bare);
    int code = unknown_option(parse, dashed != NULL ? dashed : word, bare);
    free(dashed);
    free(bare);
    return code;
}

/* "-65536" and "-" are values; a word that begins with two dashes or is a short option is
 * taken for an option, so that `--json --quiet` does not write a file "--quiet". */
static bool looks_like_option(const struct option_table *table, const char *word)
{
    if (word[0] != '-' || word[1] == '\0') {
        return false;
    }
    return word[1] == '-' || (word[2] == '\0' && find_letter(table, word[1]) != NULL);
}

static int echo_option(const struct parse *parse, const struct option *option, const char *value)
{
    if (parse->echo == NULL) {
        return 0;
    }
    char **item = result_list_add(parse->echo);
    if (item != NULL) {
        *item = value == NULL ? result_text("%s", label_of(option).text)
                              : result_text("%s=%s", label_of(option).text, value);
    }
    if (item == NULL || *item == NULL) {
        return error_set(parse->error, ERROR_MEMORY, "out of memory for the options");
    }
    return 0;
}

/* Takes the option at parse->next - 1 and, where it has one, its value. */
static int take_option(struct parse *parse, const char *word, void *values)
{
    const struct option *option = NULL;
    const char *value = NULL;
    int code = match_word(parse, word, &option, &value);
    if (code != 0) {
        return code;
    }
    struct option_label label = label_of(option);
    if (!takes_value(option) && value != NULL) {
        return error_set(parse->error, ERROR_INVALID, "%s takes no value, found \"%s\"", label.text,
                         value);
    }
    if (option->kind == OPTION_HELP) {
        return OPTIONS_HELP;
    }
    if (takes_value(option) && value == NULL) {
        if (parse->next >= parse->argc ||
            looks_like_option(parse->table, parse->argv[parse->next])) {
            return error_set(parse->error, ERROR_INVALID, "%s needs a value: %s %s", label.text,
                             label.text, option->argument);
        }
        value = parse->argv[parse->next++];
    }
    const char **given = &parse->given[option - parse->table->options];
    if (*given != NULL && option->kind != OPTION_PAIRS) {
        if (!takes_value(option)) {
            return error_set(parse->error, ERROR_INVALID, "%s is given twice", label.text);
        }
        return error_set(parse->error, ERROR_INVALID, "%s is given twice, as %s and as %s",
                         label.text, *given, value);
    }
    *given = value != NULL ? value : "";
    code = set_value(option, value, values, parse->error);
    return code != 0 ? code : echo_option(parse, option, value);
}

static size_t arguments_most(const struct option_table *table)
{
    return table->arguments_max > 1 ? table->arguments_max : 1;
}

static int take_argument(struct parse *parse, const char *word, const char **argument)
{
    if (parse->table->argument == NULL) {
        return error_set(parse->error, ERROR_INVALID,
                         "\"%s\" is not understood: options begin with --, and there are no "
                         "other arguments",
                         word);
    }
    size_t most = arguments_most(parse->table);
    if (parse->taken == most) {
        return most == 1 ? error_set(parse->error, ERROR_INVALID,
                                     "one %s is expected, found \"%s\" and \"%s\"",
                                     parse->table->argument, *argument, word)
                         : error_set(parse->error, ERROR_INVALID,
                                     "at most %zu times %s is expected, found \"%s\" as well", most,
                                     parse->table->argument, word);
    }
    argument[parse->taken++] = word;
    if (parse->echo == NULL) {
        return 0;
    }
    char **item = result_list_add(parse->echo);
    if (item == NULL || (*item = strdup(word)) == NULL) {
        return error_set(parse->error, ERROR_MEMORY, "out of memory for the options");
    }
    return 0;
}

static int take_words(struct parse *parse, void *values, const char **argument)
{
    bool options_end = false; /* after "--" */
    while (parse->next < parse->argc) {
        const char *word = parse->argv[parse->next++];
        int code;
        if (options_end || word[0] != '-' || word[1] == '\0') {
            code = take_argument(parse, word, argument);
        } else if (strcmp(word, "--") == 0) {
            options_end = true;
            code = 0;
        } else {
            code = take_option(parse, word, values);
        }
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

int options_parse(const struct option_table *table, int argc, char *const *argv, void *values,
                  const char **argument, result_strings *echo, struct error *error)
{
    assert(table->count <= OPTIONS_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if (option->fallback == NULL) {
            set_absent(option, values);
            continue;
        }
        int code = set_value(option, option->fallback, values, error);
        if (code != 0) {
            return code;
        }
    }
    struct parse parse = {.table = table, .argc = argc, .argv = argv, .echo = echo, .error = error};
    if (argument != NULL) {
        memset(argument, 0, arguments_most(table) * sizeof(*argument));
    }
    int code = take_words(&parse, values, argument);
    if (code == 0 && parse.taken == 0 && table->argument_needed) {
        code = error_set(error, ERROR_INVALID, "%s is missing", table->argument);
    }
    return code;
}

void options_release(const struct option_table *table, void *values)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->options[i].kind != OPTION_PAIRS) {
            continue;
        }
        result_pairs *pairs = value_of(&table->options[i], values);
        for (size_t j = 0; j < pairs->count; j++) {
            free(pairs->items[j].name);
            free(pairs->items[j].value);
        }
        free(pairs->items);
        *pairs = (result_pairs){0};
    }
}

/* ---- help --------------------------------------------------------------- */

enum { HELP_INDENT = 26 };

void options_help(const struct option_table *table, size_t columns, struct buffer *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        struct buffer left;
        struct buffer right;
        buffer_init(&left);
        buffer_init(&right);
        buffer_printf(&left, "  %s", label_of(option).text);
        if (option->name != NULL && option->letter != 0) {
            buffer_printf(&left, ", -%c", option->letter);
        }
        if (option->argument != NULL) {
            buffer_printf(&left, " %s", option->argument);
        }
        buffer_puts(&right, option->help);
        if (option->fallback != NULL) {
            buffer_printf(&right, " Default: %s.", option->fallback);
        }
        buffer_puts(out, left.data);
        if (left.length + 2 > HELP_INDENT) {
            buffer_printf(out, "\n%*s", (int)HELP_INDENT, "");
        } else {
            buffer_printf(out, "%*s", (int)(HELP_INDENT - left.length), "");
        }
        layout_wrap(out, right.data, HELP_INDENT, columns);
        buffer_putc(out, '\n');
        out->failed = out->failed || left.failed || right.failed;
        buffer_release(&right);
        buffer_release(&left);
    }
}
