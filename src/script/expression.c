/* Meta-command lines: their tokens, and the expressions in them. */
#include "script/parser.h"

#include "script/array.h"
#include "script/evaluate_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ----------------------------------------------------------- */

/* Length of a backslash and the line end behind it, 0 when there is none. */
static size_t continuation(const struct parser *parser, size_t at)
{
    const char *bytes = parser->source.bytes;
    size_t left = parser->source.length - at;
    if (left >= 2 && bytes[at] == '\\' && bytes[at + 1] == '\n') {
        return 2;
    }
    return left >= 3 && bytes[at] == '\\' && bytes[at + 1] == '\r' && bytes[at + 2] == '\n' ? 3 : 0;
}

void meta_begin(struct parser *parser)
{
    size_t at = parser->at;
    while (at < parser->source.length && parser->source.bytes[at] != '\n') {
        size_t skip = continuation(parser, at);
        at += skip > 0 ? skip : 1;
    }
    parser->line_end = at;
}

void token_drop(struct parser *parser)
{
    if (parser->token.kind == TOKEN_TEXT) {
        free((char *)parser->token.value.bytes);
    }
    parser->token = (struct token){.kind = TOKEN_END};
}

static void skip_blanks(struct parser *parser)
{
    while (parser->at < parser->line_end) {
        size_t skip = continuation(parser, parser->at);
        if (skip == 0 && strchr(" \t\r\f\v", parser->source.bytes[parser->at]) == NULL) {
            break;
        }
        parser->at += skip > 0 ? skip : 1;
    }
}

static int take_number(struct parser *parser)
{
    struct token *token = &parser->token;
    const char *bytes = parser->source.bytes;
    size_t at = parser->at;
    bool whole = true;
    while (at < parser->line_end && is_digit(bytes[at])) {
        at++;
    }
    if (at < parser->line_end && bytes[at] == '.') {
        whole = false;
        for (at++; at < parser->line_end && is_digit(bytes[at]);) {
            at++;
        }
    }
    if (at < parser->line_end && (bytes[at] == 'e' || bytes[at] == 'E')) {
        size_t exponent = at + 1;
        if (exponent < parser->line_end && (bytes[exponent] == '+' || bytes[exponent] == '-')) {
            exponent++;
        }
        if (exponent < parser->line_end && is_digit(bytes[exponent])) {
            whole = false;
            for (at = exponent; at < parser->line_end && is_digit(bytes[at]);) {
                at++;
            }
        }
    }
    if (at < parser->line_end && (is_name_part(bytes[at]) || bytes[at] == '.')) {
        return parser_fail(parser, token->place, "a number goes on with '%c': write 7, 1.5 or 1e3",
                           bytes[at]);
    }
    char text[400];
    size_t length = at - parser->at;
    if (length >= sizeof text) {
        return parser_fail(parser, token->place, "a number of %zu characters is too long", length);
    }
    memcpy(text, bytes + parser->at, length);
    text[length] = '\0';
    token->length = length;
    parser->at = at;
    if (whole) {
        errno = 0;
        long long value = strtoll(text, NULL, 10);
        if (errno != 0 || value > SCRIPT_INTEGER_MAX) {
            return parser_fail(parser, token->place,
                               "overflow: integers lie within ±9007199254740991 (2^53 - 1)");
        }
        token->kind = TOKEN_INTEGER;
        token->value = (struct value){.type = VALUE_INTEGER, .integer = value};
        return 0;
    }
    double value = strtod(text, NULL);
    if (!isfinite(value)) {
        return parser_fail(parser, token->place, "overflow: a double beyond 1.797e308");
    }
    token->kind = TOKEN_DOUBLE;
    token->value = (struct value){.type = VALUE_DOUBLE, .real = value};
    return 0;
}

static int take_text(struct parser *parser)
{
    struct token *token = &parser->token;
    const char *bytes = parser->source.bytes;
    size_t at = parser->at + 1;
    size_t quotes = 0;
    for (;; at++) {
        if (at >= parser->line_end || bytes[at] == '\n') {
            return parser_fail(parser, token->place,
                               "this text is not closed on its line: a closing ' is missing");
        }
        if (bytes[at] != '\'') {
            continue;
        }
        if (at + 1 < parser->line_end && bytes[at + 1] == '\'') {
            at++;
            quotes++;
            continue;
        }
        break;
    }
    size_t length = at - parser->at - 1 - quotes;
    if (length > TEXT_LENGTH_MAX) {
        return parser_fail(parser, token->place, "a text has at most 1,000,000 bytes");
    }
    char *text = malloc(length + 1);
    if (text == NULL) {
        return parser_no_memory(parser);
    }
    char *to = text;
    for (size_t from = parser->at + 1; from < at; from++) {
        *to++ = bytes[from];
        from += bytes[from] == '\''; /* the second of two */
    }
    *to = '\0';
    token->kind = TOKEN_TEXT;
    token->length = at + 1 - parser->at;
    token->value = (struct value){.type = VALUE_TEXT, .length = (uint32_t)length, .bytes = text};
    parser->at = at + 1;
    return 0;
}

static void take_name(struct parser *parser)
{
    struct token *token = &parser->token;
    token->start = parser->source.bytes + parser->at;
    while (parser->at < parser->line_end && is_name_part(parser->source.bytes[parser->at])) {
        parser->at++;
    }
    token->length = (size_t)(parser->source.bytes + parser->at - token->start);
}

static int take_operator(struct parser *parser, const char *rest)
{
    struct token *token = &parser->token;
    size_t left = parser->line_end - parser->at;
    static const char *const pairs[] = {"<=", ">=", "<>", "!="};
    token->kind = TOKEN_OPERATOR;
    token->length = 1;
    if (left >= 2 && rest[0] == ':' && rest[1] == ':') {
        return parser_fail(parser, token->place,
                           "the script language has no :: cast: write int(…) or double(…)");
    }
    if (left >= 2 && (memcmp(rest, "--", 2) == 0 || memcmp(rest, "/*", 2) == 0)) {
        return parser_fail(parser, token->place,
                           "a comment cannot stand behind a meta-command: put it on a line of its "
                           "own (two minus signs are written - -)");
    }
    for (size_t i = 0; left >= 2 && i < sizeof pairs / sizeof *pairs; i++) {
        if (memcmp(rest, pairs[i], 2) == 0) {
            token->length = 2;
        }
    }
    if (token->length == 1 && strchr("+-*/%()=<>,", rest[0]) == NULL) {
        if (rest[0] == ';') {
            return parser_fail(parser, token->place,
                               "a meta-command ends with its line: leave out the ;");
        }
        if (strchr("|&#~!^", rest[0]) != NULL) {
            return parser_fail(parser, token->place,
                               "operator %c is not part of the script language: there are + - * / "
                               "%% = <> < <= > >=, and if(c, a, b)",
                               rest[0]);
        }
        size_t bytes = 1; /* of the character */
        while (bytes < left && ((unsigned char)rest[bytes] & 0xC0) == 0x80) {
            bytes++;
        }
        return parser_fail(parser, token->place, "%.*s has no meaning in an expression", (int)bytes,
                           rest);
    }
    parser->at += token->length;
    return 0;
}

int token_next(struct parser *parser)
{
    token_drop(parser);
    skip_blanks(parser);
    struct token *token = &parser->token;
    token->place = source_place(&parser->source, parser->at);
    const char *rest = parser->source.bytes + parser->at;
    token->start = rest;
    size_t left = parser->line_end - parser->at;
    if (left == 0) {
        return 0;
    }
    if (is_digit(rest[0]) || (rest[0] == '.' && left > 1 && is_digit(rest[1]))) {
        return take_number(parser);
    }
    if (rest[0] == '\'') {
        return take_text(parser);
    }
    if (rest[0] == ':' && left > 1 && is_name_start(rest[1])) {
        parser->at++;
        take_name(parser);
        token->kind = TOKEN_VARIABLE;
        return 0;
    }
    if (is_name_start(rest[0])) {
        take_name(parser);
        token->kind = TOKEN_WORD;
        return 0;
    }
    return take_operator(parser, rest);
}

int token_unexpected(struct parser *parser, const char *wanted)
{
    const struct token *token = &parser->token;
    if (token->kind == TOKEN_END) {
        return parser_fail(parser, token->place, "the line ends where %s should stand", wanted);
    }
    int shown = token->length < 100 ? (int)token->length : 100;
    return parser_fail(parser, token->place, "%s%.*s stands where %s should",
                       token->kind == TOKEN_VARIABLE ? ":" : "", shown, token->start, wanted);
}

static bool is_operator(const struct parser *parser, const char *text)
{
    const struct token *token = &parser->token;
    return token->kind == TOKEN_OPERATOR && token->length == strlen(text) &&
           memcmp(token->start, text, token->length) == 0;
}

/* ---- expressions ------------------------------------------------------ */

/* A part of an expression with its height, so that no recursion over the finished
 * tree can run deep. */
struct node {
    struct script_expression expression;
    uint32_t depth;
    bool compared; /* a comparison without parentheses around it */
};

void expression_release(struct script_expression *expression)
{
    if (expression->op == SCRIPT_OP_CONSTANT && expression->constant.type == VALUE_TEXT) {
        free((char *)expression->constant.bytes);
    }
    for (uint32_t i = 0; i < expression->argument_count; i++) {
        expression_release(&expression->arguments[i]);
    }
    free(expression->arguments);
    *expression = (struct script_expression){.op = SCRIPT_OP_CONSTANT};
}

static bool can_fold(const struct script_expression *e)
{
    if (e->type == SCRIPT_TEXT || e->op == SCRIPT_OP_CHOICE || e->op >= SCRIPT_OP_RANDOM) {
        return false;
    }
    for (uint32_t i = 0; i < e->argument_count; i++) {
        if (e->arguments[i].op != SCRIPT_OP_CONSTANT) {
            return false;
        }
    }
    return e->argument_count > 0;
}

/* Infers the type of a new node, and its value when that is known already. */
static int finish(struct parser *parser, struct node *node)
{
    struct operation_fault fault;
    struct script_expression *e = &node->expression;
    if (node->depth > EXPRESSION_DEPTH_MAX) {
        return parser_fail(parser, e->place, "this expression is nested more than %d deep",
                           EXPRESSION_DEPTH_MAX);
    }
    if (!operation_infer(e, parser->script->variables, &fault)) {
        return parser_fail(parser, fault.place, "%s", fault.message);
    }
    if (can_fold(e)) {
        node->depth = 1;
        return expression_fold(parser->source.file, e, parser->error);
    }
    return 0;
}

/* Puts `node` behind the arguments of `parent`; it is the parent's in any case. */
static int adopt(struct parser *parser, struct node *parent, struct node *node)
{
    struct script_expression *e = &parent->expression;
    struct script_expression *arguments =
        array_grow(e->arguments, e->argument_count, sizeof *arguments);
    if (arguments == NULL) {
        expression_release(&node->expression);
        return parser_no_memory(parser);
    }
    e->arguments = arguments;
    arguments[e->argument_count++] = node->expression;
    if (node->depth >= parent->depth) {
        parent->depth = node->depth + 1;
    }
    return 0;
}

static int parse_comparison(struct parser *parser, uint32_t depth, struct node *out);

static int parse_arguments(struct parser *parser, uint32_t depth, struct node *out)
{
    int rc = token_next(parser); /* the first argument, or the closing parenthesis */
    bool more = rc == 0 && !is_operator(parser, ")");
    while (rc == 0 && more) {
        struct node argument = {0};
        rc = parse_comparison(parser, depth, &argument);
        if (rc != 0) {
            expression_release(&argument.expression);
            return rc;
        }
        rc = adopt(parser, out, &argument);
        more = rc == 0 && is_operator(parser, ",");
        if (rc == 0 && !more && !is_operator(parser, ")")) {
            return token_unexpected(parser, "a comma or the closing )");
        }
        if (rc == 0 && more) {
            rc = token_next(parser);
        }
    }
    return rc != 0 ? rc : token_next(parser);
}

static int bare_word(struct parser *parser, const struct token *word)
{
    static const char *const logic[] = {"and", "or", "not", "is", "isnull", "notnull", "case"};
    for (size_t i = 0; i < sizeof logic / sizeof *logic; i++) {
        if (word_is(word->start, word->length, logic[i])) {
            return parser_fail(parser, word->place,
                               "pgbench's %s is not part of the script language: write "
                               "if(c, a, b); a condition is an integer, 0 is false",
                               logic[i]);
        }
    }
    if (word_is(word->start, word->length, "true") || word_is(word->start, word->length, "false")) {
        return parser_fail(parser, word->place,
                           "there are no booleans: write 1 for true and 0 for false");
    }
    if (word_is(word->start, word->length, "null")) {
        return parser_fail(parser, word->place, "there is no null: write NULL in the SQL");
    }
    int shown = word->length < 100 ? (int)word->length : 100;
    return parser_fail(parser, word->place,
                       "%.*s is no value: a variable is written :%.*s, a text '%.*s'", shown,
                       word->start, shown, word->start, shown, word->start);
}

static int parse_word(struct parser *parser, uint32_t depth, struct node *out)
{
    struct token word = parser->token;
    int rc = token_next(parser);
    if (rc != 0) {
        return rc;
    }
    if (!is_operator(parser, "(")) {
        return bare_word(parser, &word);
    }
    int op = -1;
    for (int i = 0; i < SCRIPT_OP_COUNT; i++) {
        if (operations[i].function && word_is(word.start, word.length, operations[i].name)) {
            op = i;
        }
    }
    if (op < 0) {
        return name_unknown_function(parser, word.place, word.start, word.length);
    }
    out->expression.op = (enum script_op)op;
    out->expression.place = word.place;
    out->depth = 1;
    rc = parse_arguments(parser, depth + 1, out);
    return rc != 0 ? rc : finish(parser, out);
}

static int parse_constant(struct parser *parser, struct node *out)
{
    out->expression.op = SCRIPT_OP_CONSTANT;
    out->expression.place = parser->token.place;
    out->expression.constant = parser->token.value;
    out->depth = 1;
    parser->token.kind = TOKEN_END; /* a text is the expression's now */
    int rc = finish(parser, out);
    return rc != 0 ? rc : token_next(parser);
}

static int parse_variable(struct parser *parser, struct node *out)
{
    const struct token *token = &parser->token;
    out->expression.op = SCRIPT_OP_VARIABLE;
    out->expression.place = token->place;
    out->depth = 1;
    int rc =
        name_read(parser, token->place, token->start, token->length, &out->expression.variable);
    if (rc == 0) {
        rc = finish(parser, out);
    }
    return rc != 0 ? rc : token_next(parser);
}

static int parse_primary(struct parser *parser, uint32_t depth, struct node *out)
{
    switch (parser->token.kind) {
    case TOKEN_INTEGER:
    case TOKEN_DOUBLE:
    case TOKEN_TEXT:
        return parse_constant(parser, out);
    case TOKEN_VARIABLE:
        return parse_variable(parser, out);
    case TOKEN_WORD:
        return parse_word(parser, depth, out);
    default:
        break;
    }
    if (!is_operator(parser, "(")) {
        return token_unexpected(parser, "a value");
    }
    int rc = token_next(parser);
    if (rc == 0) {
        rc = parse_comparison(parser, depth + 1, out);
    }
    out->compared = false;
    if (rc == 0 && !is_operator(parser, ")")) {
        rc = token_unexpected(parser, "the closing )");
    }
    return rc != 0 ? rc : token_next(parser);
}

static int parse_unary(struct parser *parser, uint32_t depth, struct node *out)
{
    struct script_place place = parser->token.place;
    if (depth > EXPRESSION_DEPTH_MAX) {
        return parser_fail(parser, place, "this expression is nested more than %d deep",
                           EXPRESSION_DEPTH_MAX);
    }
    if (!is_operator(parser, "-")) {
        return parse_primary(parser, depth, out);
    }
    int rc = token_next(parser);
    if (rc != 0) {
        return rc;
    }
    struct node operand = {0};
    rc = parse_unary(parser, depth + 1, &operand);
    if (rc != 0) {
        expression_release(&operand.expression);
        return rc;
    }
    out->expression.op = SCRIPT_OP_NEGATE;
    out->expression.place = place;
    rc = adopt(parser, out, &operand);
    return rc != 0 ? rc : finish(parser, out);
}

struct level {
    const char *text;
    enum script_op op;
};

static const struct level products[] = {
    {"*", SCRIPT_OP_MULTIPLY}, {"/", SCRIPT_OP_DIVIDE}, {"%", SCRIPT_OP_MODULO}, {NULL, 0}};
static const struct level sums[] = {{"+", SCRIPT_OP_ADD}, {"-", SCRIPT_OP_SUBTRACT}, {NULL, 0}};
static const struct level comparisons[] = {
    {"=", SCRIPT_OP_EQUAL},          {"<>", SCRIPT_OP_NOT_EQUAL},
    {"!=", SCRIPT_OP_NOT_EQUAL},     {"<=", SCRIPT_OP_LESS_EQUAL},
    {"<", SCRIPT_OP_LESS},           {">", SCRIPT_OP_GREATER},
    {">=", SCRIPT_OP_GREATER_EQUAL}, {NULL, 0}};

static const struct level *level_at(const struct parser *parser, const struct level *levels)
{
    for (; levels->text != NULL; levels++) {
        if (is_operator(parser, levels->text)) {
            return levels;
        }
    }
    return NULL;
}

typedef int parse_function(struct parser *, uint32_t depth, struct node *);

/* Operators of one level, left to right. */
static int parse_level(struct parser *parser, uint32_t depth, const struct level *levels,
                       parse_function *operand, struct node *out)
{
    int rc = operand(parser, depth, out);
    const struct level *level;
    while (rc == 0 && (level = level_at(parser, levels)) != NULL) {
        if (levels == comparisons && out->compared) {
            return parser_fail(parser, parser->token.place,
                               "comparisons do not chain: write if(a < b, b < c, 0)");
        }
        struct node left = *out;
        *out = (struct node){.expression = {.op = level->op, .place = parser->token.place},
                             .compared = levels == comparisons};
        rc = adopt(parser, out, &left);
        if (rc == 0) {
            rc = token_next(parser);
        }
        struct node right = {0};
        if (rc == 0) {
            rc = operand(parser, depth, &right);
            if (rc != 0) {
                expression_release(&right.expression);
            } else {
                rc = adopt(parser, out, &right);
            }
        }
        if (rc == 0) {
            rc = finish(parser, out);
        }
    }
    return rc;
}

static int parse_product(struct parser *parser, uint32_t depth, struct node *out)
{
    return parse_level(parser, depth, products, parse_unary, out);
}

static int parse_sum(struct parser *parser, uint32_t depth, struct node *out)
{
    return parse_level(parser, depth, sums, parse_product, out);
}

static int parse_comparison(struct parser *parser, uint32_t depth, struct node *out)
{
    int rc = parse_level(parser, depth, comparisons, parse_sum, out);
    if (rc == 0 && parser->token.kind == TOKEN_WORD) {
        static const char *const logic[] = {"and", "or", "is", "isnull", "notnull"};
        for (size_t i = 0; i < sizeof logic / sizeof *logic; i++) {
            if (word_is(parser->token.start, parser->token.length, logic[i])) {
                return bare_word(parser, &parser->token);
            }
        }
    }
    return rc;
}

int expression_parse(struct parser *parser, struct script_expression *out)
{
    struct node node = {0};
    int rc = parse_comparison(parser, 1, &node);
    if (rc != 0) {
        expression_release(&node.expression);
    }
    *out = node.expression;
    return rc;
}
