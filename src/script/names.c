/* Names in scripts: variables, functions, commands, and advice for those that
 * are not there. */
#include "script/parser.h"

#include "base/text.h"
#include "script/array.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const builtins[] = {"row", "op", "connection", "connections"};
enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

bool word_is(const char *start, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(start, word, length) == 0;
}

static bool equal(const char *name, const char *start, size_t length)
{
    return strlen(name) == length && memcmp(name, start, length) == 0;
}

int parser_no_memory(struct parser *parser)
{
    return error_set(parser->error, ERROR_MEMORY, "%s: out of memory", parser->source.file);
}

static uint32_t find(const struct parser *parser, const char *name, size_t length)
{
    for (uint32_t i = 0; i < parser->script->variable_count; i++) {
        if (equal(parser->script->variables[i].name, name, length)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool is_constant(const struct parser *parser, const char *name, size_t length)
{
    for (size_t i = 0; i < parser->constant_count; i++) {
        if (equal(parser->constants[i].name, name, length)) {
            return true;
        }
    }
    return false;
}

static bool is_builtin(const char *name, size_t length)
{
    for (int i = 0; i < BUILTIN_COUNT; i++) {
        if (equal(builtins[i], name, length)) {
            return true;
        }
    }
    return false;
}

static int add(struct parser *parser, const char *name, size_t length, enum script_type type,
               enum script_origin origin, uint32_t *out)
{
    struct script *script = parser->script;
    struct script_variable *variables =
        array_grow(script->variables, script->variable_count, sizeof *variables);
    if (variables == NULL) {
        return parser_no_memory(parser);
    }
    script->variables = variables;
    char *copy = strndup(name, length);
    if (copy == NULL) {
        return parser_no_memory(parser);
    }
    *out = script->variable_count++;
    variables[*out] = (struct script_variable){.name = copy, .type = type, .origin = origin};
    return 0;
}

/* Built-ins that have no meaning where they are used. */
static int check_builtin(struct parser *parser, struct script_place place, const char *name,
                         size_t length)
{
    if (equal("row", name, length)) {
        return parser->in_rows ? 0
                               : parser_fail(parser, place,
                                             ":row exists only between \\rows and its \\end in "
                                             "load.sql; elsewhere :op counts operations from 0");
    }
    return !parser->load ? 0
                         : parser_fail(parser, place,
                                       ":%.*s has no meaning in load.sql, which one connection "
                                       "runs once; :row counts the rows of \\rows",
                                       (int)length, name);
}

static const struct {
    const char *name, *advice;
} pgbench_variables[] = {
    {"client_id", "write :connection (from 0)"},
    {"random_seed", "leave it out: --seed moves every random stream by itself"},
    {"default_seed", "leave it out: --seed moves every random stream by itself"},
};

/* A variable of the scale, to be shown as an example. */
static const char *example_constant(const struct parser *parser)
{
    return parser->constant_count > 0 ? parser->constants[0].name : "users";
}

/* The known name nearest to one that is not; NULL: none is near. */
static const char *nearest_variable(const struct parser *parser, const char *word)
{
    const struct script *script = parser->script;
    size_t most = script->variable_count + parser->constant_count + BUILTIN_COUNT + 1;
    const char **candidates = calloc(most, sizeof *candidates);
    if (candidates == NULL) {
        return NULL;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < script->variable_count; i++) {
        candidates[count++] = script->variables[i].name;
    }
    for (size_t i = 0; i < parser->constant_count; i++) {
        candidates[count++] = parser->constants[i].name;
    }
    for (int i = 0; i < BUILTIN_COUNT; i++) {
        bool here = i == 0 ? parser->in_rows : !parser->load;
        if (here) {
            candidates[count++] = builtins[i];
        }
    }
    const char *nearest = text_nearest(word, candidates);
    free(candidates);
    return nearest;
}

static int unknown_variable(struct parser *parser, struct script_place place, const char *name,
                            size_t length)
{
    int shown = length < 200 ? (int)length : 200;
    for (size_t i = 0; i < sizeof pgbench_variables / sizeof *pgbench_variables; i++) {
        if (equal(pgbench_variables[i].name, name, length)) {
            return parser_fail(parser, place, ":%.*s is pgbench's: %s", shown, name,
                               pgbench_variables[i].advice);
        }
    }
    if (equal("scale", name, length)) {
        return parser_fail(parser, place,
                           ":scale is pgbench's: a suite's scale has variables of its own, write "
                           "for example :%s",
                           example_constant(parser));
    }
    char *word = strndup(name, length);
    if (word == NULL) {
        return parser_no_memory(parser);
    }
    const char *nearest = nearest_variable(parser, word);
    int rc = nearest != NULL
                 ? parser_fail(parser, place, "unknown variable :%.*s: did you mean :%s?", shown,
                               name, nearest)
                 : parser_fail(parser, place,
                               "unknown variable :%.*s: write \\set %.*s … on a line above", shown,
                               name, shown, name);
    free(word);
    return rc;
}

int name_read(struct parser *parser, struct script_place place, const char *name, size_t length,
              uint32_t *out)
{
    if (is_builtin(name, length)) {
        int rc = check_builtin(parser, place, name, length);
        if (rc != 0) {
            return rc;
        }
    }
    *out = find(parser, name, length);
    if (*out != UINT32_MAX) {
        return 0;
    }
    if (is_builtin(name, length)) {
        return add(parser, name, length, SCRIPT_INTEGER, SCRIPT_FROM_BUILTIN, out);
    }
    if (is_constant(parser, name, length)) {
        return add(parser, name, length, SCRIPT_INTEGER, SCRIPT_FROM_SCALE, out);
    }
    return unknown_variable(parser, place, name, length);
}

int name_write(struct parser *parser, struct script_place place, const char *name, size_t length,
               enum script_type type, uint32_t *out)
{
    if (is_builtin(name, length) || is_constant(parser, name, length)) {
        return parser_fail(parser, place, "%.*s is a variable of %s: take another name",
                           (int)length, name,
                           is_builtin(name, length) ? "pitot itself" : "the suite's scale");
    }
    *out = find(parser, name, length);
    if (*out == UINT32_MAX) {
        return add(parser, name, length, type, SCRIPT_FROM_SET, out);
    }
    enum script_type before = parser->script->variables[*out].type;
    return before == type ? 0
                          : parser_fail(parser, place,
                                        "%.*s is %s here and %s above: a variable keeps its type",
                                        (int)length, name, type_phrase(type), type_phrase(before));
}

/* ---- functions -------------------------------------------------------- */

static const struct {
    const char *name, *advice;
} pgbench_functions[] = {
    {"abs", "write if(:x < 0, -:x, :x)"},
    {"debug", "leave it out"},
    {"exp", NULL},
    {"greatest", "write max(…)"},
    {"hash", "random_zipfian() and % do for most uses"},
    {"hash_fnv1a", "random_zipfian() and % do for most uses"},
    {"hash_murmur2", "random_zipfian() and % do for most uses"},
    {"least", "write min(…)"},
    {"ln", NULL},
    {"mod", "write a % b"},
    {"permute", "write (:x * 7919) % :users, with a prime that does not divide the range"},
    {"pi", "write 3.141592653589793"},
    {"pow", "write a product"},
    {"power", "write a product"},
    {"sqrt", NULL},
};

enum { WORD_SIZE = 64 };

/* As a text, cut when it is longer. */
static void word_copy(char *word, const char *name, size_t length)
{
    size_t kept = length < WORD_SIZE - 1 ? length : WORD_SIZE - 1;
    memcpy(word, name, kept);
    word[kept] = '\0';
}

int name_unknown_function(struct parser *parser, struct script_place place, const char *name,
                          size_t length)
{
    for (size_t i = 0; i < sizeof pgbench_functions / sizeof *pgbench_functions; i++) {
        if (word_is(name, length, pgbench_functions[i].name)) {
            const char *advice = pgbench_functions[i].advice;
            return parser_fail(parser, place,
                               "pgbench's %s() is not part of the script language%s%s",
                               pgbench_functions[i].name, advice != NULL ? ": " : "",
                               advice != NULL ? advice : "");
        }
    }
    const char *candidates[SCRIPT_OP_COUNT + 1];
    size_t count = 0;
    for (int i = 0; i < SCRIPT_OP_COUNT; i++) {
        if (operations[i].function) {
            candidates[count++] = operations[i].name;
        }
    }
    candidates[count] = NULL;
    char word[WORD_SIZE];
    word_copy(word, name, length);
    const char *nearest = text_nearest(word, candidates);
    if (nearest != NULL) {
        return parser_fail(parser, place, "unknown function %s(): did you mean %s()?", word,
                           nearest);
    }
    return parser_fail(parser, place,
                       "unknown function %s(): there are if, choice, format, length, min, max, "
                       "int, double, random, random_gaussian, random_exponential, random_zipfian",
                       word);
}

/* ---- meta-commands ---------------------------------------------------- */

static const struct {
    const char *name, *advice;
} pgbench_commands[] = {
    {"sleep", "leave the line out: a script is one measured operation and has no pause"},
    {"gset", "end the statement with ; instead: results never flow into variables, so write a "
             "subquery, such as … WHERE id = (SELECT …);"},
    {"aset", "end the statement with ; instead: results never flow into variables, so write a "
             "subquery, such as … WHERE id = (SELECT …);"},
    {"if", "write \\set x if(:a > 1, 5, 6), or two scripts with weights"},
    {"elif", "write \\set x if(:a > 1, 5, if(:a < 0, 7, 6)), or several scripts with weights"},
    {"else", "write \\set x if(:a > 1, 5, 6), or two scripts with weights"},
    {"endif", "write \\set x if(:a > 1, 5, 6), or two scripts with weights"},
    {"shell", "leave the line out: a script runs no programs"},
    {"setshell", "write \\set NAME EXPRESSION: a script runs no programs"},
    {"startpipeline", "leave the line out: there is no network to save round trips of"},
    {"syncpipeline", "leave the line out: there is no network to save round trips of"},
    {"endpipeline", "leave the line out: there is no network to save round trips of"},
};

static const char *const commands[] = {"set", "begin", "commit", "repeat",
                                       "one", "rows",  "end",    NULL};

/* The next word of the line, as it stands. */
static bool take_word(struct parser *parser, const char **start, size_t *length)
{
    const char *bytes = parser->source.bytes;
    while (parser->at < parser->line_end && strchr(" \t\r", bytes[parser->at]) != NULL) {
        parser->at++;
    }
    *start = bytes + parser->at;
    while (parser->at < parser->line_end && strchr(" \t\r", bytes[parser->at]) == NULL) {
        parser->at++;
    }
    *length = (size_t)(bytes + parser->at - *start);
    return *length > 0;
}

/* \setrandom NAME LO HI [uniform | gaussian P | exponential P], removed in pgbench 9.6. */
static int setrandom(struct parser *parser, struct script_place place)
{
    const char *words[5];
    size_t lengths[5];
    int count = 0;
    while (count < 5 && take_word(parser, &words[count], &lengths[count])) {
        count++;
    }
    static const char text[] = "\\setrandom was removed from pgbench in 9.6: write";
    if (count < 3) {
        return parser_fail(parser, place, "%s \\set NAME random(LOW, HIGH)", text);
    }
#define WORD(i) (int)(lengths[i] < 200 ? lengths[i] : 200), words[i]
    const char *shape = count == 5 && word_is(words[3], lengths[3], "gaussian") ? "random_gaussian"
                        : count == 5 && word_is(words[3], lengths[3], "exponential")
                            ? "random_exponential"
                            : NULL;
    if (shape != NULL) {
        return parser_fail(parser, place, "%s \\set %.*s %s(%.*s, %.*s, %.*s)", text, WORD(0),
                           shape, WORD(1), WORD(2), WORD(4));
    }
    return parser_fail(parser, place, "%s \\set %.*s random(%.*s, %.*s)", text, WORD(0), WORD(1),
                       WORD(2));
#undef WORD
}

int name_unknown_command(struct parser *parser, struct script_place place, const char *name,
                         size_t length)
{
    if (word_is(name, length, "setrandom")) {
        return setrandom(parser, place);
    }
    for (size_t i = 0; i < sizeof pgbench_commands / sizeof *pgbench_commands; i++) {
        if (word_is(name, length, pgbench_commands[i].name)) {
            return parser_fail(parser, place,
                               "pgbench's \\%s is not part of the script language: %s",
                               pgbench_commands[i].name, pgbench_commands[i].advice);
        }
    }
    char word[WORD_SIZE];
    word_copy(word, name, length);
    const char *nearest = text_nearest(word, commands);
    if (nearest != NULL) {
        return parser_fail(parser, place, "unknown meta-command \\%s: did you mean \\%s?", word,
                           nearest);
    }
    return parser_fail(parser, place,
                       "unknown meta-command \\%s: there are \\set, \\begin, \\commit, \\repeat, "
                       "\\one, \\rows and \\end",
                       word);
}
