/* SQL statements: where they end, their parameters, and what they may not hold.
 * Only as much of SQL's grammar is known as that takes: literals, quoted names,
 * comments, words, parentheses. */
#include "script/parser.h"

#include "base/buffer.h"
#include "script/array.h"

#include <stdlib.h>
#include <string.h>

/* One statement while it is read. */
struct statement {
    struct parser *parser;
    size_t begin; /* offset of its first token */
    struct script_place place;
    struct buffer sql;
    uint32_t *parameters;
    uint32_t parameter_count;
    size_t last, last_end; /* the last token that is a value or name; empty: none */
    uint32_t depth;        /* of parentheses */
    uint32_t words;        /* seen so far */
    bool create;           /* CREATE, perhaps with TEMP behind it */
    bool with;             /* WITH: its verb comes at depth 0 */
    const char *verb;      /* first word, or the verb behind WITH */
    size_t verb_length;
};

static char byte_at(const struct parser *parser, size_t at)
{
    return at < parser->source.length ? parser->source.bytes[at] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static bool is_word(char c)
{
    return is_name_part(c) || (unsigned char)c >= 0x80;
}

bool sql_at_line_start(const struct parser *parser, size_t at)
{
    while (at > 0 && (byte_at(parser, at - 1) == ' ' || byte_at(parser, at - 1) == '\t')) {
        at--;
    }
    return at == 0 || byte_at(parser, at - 1) == '\n';
}

/* End of the comment at `at`, `at` itself when there is none; 0: not closed. */
static size_t comment_end(const struct parser *parser, size_t at)
{
    char first = byte_at(parser, at), second = byte_at(parser, at + 1);
    if (first == '-' && second == '-') {
        while (at < parser->source.length && byte_at(parser, at) != '\n') {
            at++;
        }
        return at;
    }
    if (first != '/' || second != '*') {
        return at;
    }
    for (at += 2; at + 1 < parser->source.length; at++) {
        if (byte_at(parser, at) == '*' && byte_at(parser, at + 1) == '/') {
            return at + 2;
        }
    }
    return 0;
}

static int comment_open(struct parser *parser, size_t at)
{
    return parser_fail(parser, source_place(&parser->source, at),
                       "this comment is not closed: a */ is missing");
}

int sql_skip(struct parser *parser)
{
    for (;;) {
        while (is_blank(byte_at(parser, parser->at))) {
            parser->at++;
        }
        size_t end = comment_end(parser, parser->at);
        if (end == parser->at) {
            return 0;
        }
        if (end == 0) {
            return comment_open(parser, parser->at);
        }
        parser->at = end;
    }
}

#define statement_fail(statement, offset, ...)                                                     \
    parser_fail((statement)->parser, source_place(&(statement)->parser->source, (offset)),         \
                __VA_ARGS__)

static int warn(struct statement *statement, size_t at, size_t length, const char *why)
{
    struct parser *parser = statement->parser;
    struct script *script = parser->script;
    struct script_place place = source_place(&parser->source, at);
    char **warnings = array_grow(script->warnings, script->warning_count, sizeof *warnings);
    if (warnings == NULL) {
        return parser_no_memory(parser);
    }
    script->warnings = warnings;
    struct buffer text;
    buffer_init(&text);
    buffer_printf(&text, "%s:%u:%u: %.*s%s", parser->source.file, place.line, place.column,
                  (int)length, parser->source.bytes + at, why);
    char *warning = buffer_take(&text);
    if (warning == NULL) {
        return parser_no_memory(parser);
    }
    warnings[script->warning_count++] = warning;
    return 0;
}

/* Appends source text in which CR LF counts as a line end: outside literals. */
static void append_plain(struct statement *statement, size_t from, size_t to)
{
    const struct parser *parser = statement->parser;
    for (size_t at = from; at < to; at++) {
        if (byte_at(parser, at) != '\r' || byte_at(parser, at + 1) != '\n') {
            buffer_putc(&statement->sql, byte_at(parser, at));
        }
    }
}

static void append_raw(struct statement *statement, size_t from, size_t to)
{
    buffer_append(&statement->sql, statement->parser->source.bytes + from, to - from);
    statement->last = from;
    statement->last_end = to;
}

/* A literal or quoted name; its bytes stay as they are. */
static int take_quoted(struct statement *statement)
{
    struct parser *parser = statement->parser;
    size_t begin = parser->at;
    char open = byte_at(parser, begin);
    char close = open == '[' ? ']' : open;
    size_t at = begin + 1;
    for (;; at++) {
        if (at >= parser->source.length) {
            return statement_fail(statement, begin, "this %s is not closed: a %c is missing",
                                  open == '\'' ? "literal" : "quoted name", close);
        }
        if (byte_at(parser, at) != close) {
            continue;
        }
        if (open == '[' || byte_at(parser, at + 1) != close) {
            break;
        }
        at++;
    }
    parser->at = at + 1;
    append_raw(statement, begin, at + 1);
    if (open == '\'' && word_is(parser->source.bytes + begin, at + 1 - begin, "'now'")) {
        return warn(statement, begin, 5,
                    " gives other answers on every run: draw a time with \\set");
    }
    return 0;
}

static const struct {
    const char *word, *advice;
} transactions[] = {
    {"begin", "write \\begin (or \\begin read) on a line of its own"},
    {"start", "write \\begin (or \\begin read) on a line of its own"},
    {"commit", "write \\commit on a line of its own"},
    {"end", "write \\commit on a line of its own"},
    {"rollback", "a script commits, with \\begin and \\commit, or fails as a whole: leave it out"},
    {"abort", "a script commits, with \\begin and \\commit, or fails as a whole: leave it out"},
    {"savepoint", "write \\begin and \\commit on lines of their own; there are no savepoints"},
    {"release", "write \\begin and \\commit on lines of their own; there are no savepoints"},
};

/* What would change a timed connection behind the back of what was proved about it. */
static const struct {
    const char *word, *advice;
} behind_the_back[] = {
    {"pragma", "settings are proved on every connection before the clock starts: --pragma "
               "NAME=VALUE sets one"},
    {"attach", "only the copy of the template is measured: put all tables into schema.sql"},
    {"detach", "only the copy of the template is measured: put all tables into schema.sql"},
};

static int check_first_word(struct statement *statement, size_t begin, const char *word,
                            size_t length)
{
    for (size_t i = 0; i < sizeof behind_the_back / sizeof *behind_the_back; i++) {
        if (!statement->parser->load && word_is(word, length, behind_the_back[i].word)) {
            return statement_fail(statement, begin, "%.*s is refused in a script: %s", (int)length,
                                  word, behind_the_back[i].advice);
        }
    }
    for (size_t i = 0; i < sizeof transactions / sizeof *transactions; i++) {
        if (word_is(word, length, transactions[i].word)) {
            return statement_fail(statement, begin,
                                  "%.*s is the driver's business (BEGIN, BEGIN IMMEDIATE, BEGIN "
                                  "CONCURRENT differ by engine): %s",
                                  (int)length, word, transactions[i].advice);
        }
    }
    statement->create = word_is(word, length, "create");
    statement->with = word_is(word, length, "with");
    statement->verb = word;
    statement->verb_length = length;
    return 0;
}

static int check_word(struct statement *statement, size_t begin, const char *word, size_t length)
{
    struct parser *parser = statement->parser;
    if (statement->words++ == 0) {
        return check_first_word(statement, begin, word, length);
    }
    if (statement->create) {
        statement->create = word_is(word, length, "temp") || word_is(word, length, "temporary");
        if (word_is(word, length, "trigger")) {
            return statement_fail(statement, statement->begin,
                                  "CREATE TRIGGER belongs into schema.sql, which is never cut at "
                                  "semicolons");
        }
    }
    static const char *const verbs[] = {"select",  "values", "insert",
                                        "replace", "update", "delete"};
    for (size_t i = 0; statement->with && statement->depth == 0 && i < 6; i++) {
        if (word_is(word, length, verbs[i])) {
            statement->with = false;
            statement->verb = word;
            statement->verb_length = length;
        }
    }
    if (word_is(word, length, "current_timestamp") || word_is(word, length, "current_date") ||
        word_is(word, length, "current_time")) {
        return warn(statement, begin, length,
                    " gives other answers on every run: draw a time with \\set");
    }
    size_t next = parser->at;
    while (is_blank(byte_at(parser, next))) {
        next++;
    }
    if ((word_is(word, length, "random") || word_is(word, length, "randomblob")) &&
        byte_at(parser, next) == '(') {
        return warn(statement, begin, length,
                    "() in SQL gives other answers on every run: draw numbers with \\set");
    }
    return 0;
}

/* A word, keyword or number: letters, digits, _ and, inside of it, $. */
static int take_word(struct statement *statement)
{
    struct parser *parser = statement->parser;
    size_t begin = parser->at;
    while (is_word(byte_at(parser, parser->at)) || byte_at(parser, parser->at) == '$') {
        parser->at++;
    }
    const char *word = parser->source.bytes + begin;
    size_t length = parser->at - begin;
    if (length == 1 && (word[0] == 'E' || word[0] == 'e') && byte_at(parser, parser->at) == '\'') {
        return statement_fail(statement, begin,
                              "E'…' is PostgreSQL's: write '…', in which a backslash is itself");
    }
    append_raw(statement, begin, parser->at);
    return check_word(statement, begin, word, length);
}

/* `::type` behind a value. */
static int refuse_cast(struct statement *statement)
{
    struct parser *parser = statement->parser;
    size_t at = parser->at + 2;
    while (byte_at(parser, at) == ' ') {
        at++;
    }
    size_t type = at;
    while (is_word(byte_at(parser, at))) {
        at++;
    }
    int type_length = at - type < 60 ? (int)(at - type) : 60;
    const char *type_name_start = type_length > 0 ? parser->source.bytes + type : "TYPE";
    type_length = type_length > 0 ? type_length : 4;
    bool adjacent = statement->last_end > statement->last && statement->last_end == parser->at &&
                    statement->last_end - statement->last <= 100;
    const char *value = adjacent ? parser->source.bytes + statement->last : "…";
    int value_length = adjacent ? (int)(statement->last_end - statement->last) : (int)strlen("…");
    return statement_fail(statement, parser->at,
                          "SQLite has CAST, not ::%.*s: write CAST(%.*s AS %.*s)", type_length,
                          type_name_start, value_length, value, type_length, type_name_start);
}

/* `?`, `?1`, `@x`, `$x`, `$1`, `$$` and `#`: parameters of other dialects. */
static int refuse_parameter(struct statement *statement)
{
    struct parser *parser = statement->parser;
    size_t begin = parser->at, end = begin + 1;
    char sign = byte_at(parser, begin);
    if (sign == '$' && byte_at(parser, end) == '$') {
        return statement_fail(statement, begin, "$$ is PostgreSQL's: write '…'");
    }
    while (is_word(byte_at(parser, end))) {
        end++;
    }
    int length = end - begin < 100 ? (int)(end - begin) : 100;
    const char *text = parser->source.bytes + begin;
    if (sign != '?' && is_name_start(byte_at(parser, begin + 1))) {
        return statement_fail(statement, begin,
                              "%.*s is a parameter of another dialect: write :%.*s", length, text,
                              length - 1, text + 1);
    }
    const char *example = "user";
    for (uint32_t i = parser->script->variable_count; i > 0; i--) {
        if (parser->script->variables[i - 1].origin == SCRIPT_FROM_SET) {
            example = parser->script->variables[i - 1].name;
            break;
        }
    }
    return statement_fail(statement, begin,
                          "%.*s is a parameter without a name: write :%s, and on a line above "
                          "\\set %s random(1, 100000)",
                          length, text, example, example);
}

static int take_parameter(struct statement *statement)
{
    struct parser *parser = statement->parser;
    size_t begin = parser->at;
    if (byte_at(parser, begin + 1) == ':') {
        return refuse_cast(statement);
    }
    size_t at = begin + 1;
    if (!is_name_start(byte_at(parser, at))) {
        return statement_fail(statement, begin, "a parameter is a colon and a name, such as :user");
    }
    while (is_name_part(byte_at(parser, at))) {
        at++;
    }
    uint32_t variable;
    int rc = name_read(parser, source_place(&parser->source, begin),
                       parser->source.bytes + begin + 1, at - begin - 1, &variable);
    if (rc != 0) {
        return rc;
    }
    uint32_t *parameters =
        array_grow(statement->parameters, statement->parameter_count, sizeof *parameters);
    if (parameters == NULL) {
        return parser_no_memory(parser);
    }
    statement->parameters = parameters;
    parameters[statement->parameter_count++] = variable;
    buffer_putc(&statement->sql, '?');
    statement->last = begin;
    statement->last_end = parser->at = at;
    return 0;
}

static int take_other(struct statement *statement)
{
    struct parser *parser = statement->parser;
    size_t at = parser->at;
    char c = byte_at(parser, at);
    if (c == '\\') {
        if (sql_at_line_start(parser, at)) {
            return parser_fail(parser, statement->place,
                               "this statement has no ; before the meta-command on line %u",
                               source_place(&parser->source, at).line);
        }
        return statement_fail(statement, at,
                              "a backslash begins a meta-command only at the beginning of a line");
    }
    size_t end = comment_end(parser, at);
    if (end == 0) {
        return comment_open(parser, at);
    }
    if (end == at) {
        end = at + 1;
        if (c == '(') {
            statement->depth++;
        } else if (c == ')' && statement->depth > 0) {
            statement->depth--;
        }
    }
    append_plain(statement, at, end);
    parser->at = end;
    return 0;
}

static int take_token(struct statement *statement)
{
    char c = byte_at(statement->parser, statement->parser->at);
    switch (c) {
    case '\'':
    case '"':
    case '`':
    case '[':
        return take_quoted(statement);
    case ':':
        return take_parameter(statement);
    case '?':
    case '@':
    case '$':
        return refuse_parameter(statement);
    default:
        return is_word(c) ? take_word(statement) : take_other(statement);
    }
}

static bool gives_rows(const struct statement *statement)
{
    return statement->verb != NULL && (word_is(statement->verb, statement->verb_length, "select") ||
                                       word_is(statement->verb, statement->verb_length, "values"));
}

static int finish(struct statement *statement, bool one, uint32_t *out)
{
    struct parser *parser = statement->parser;
    struct script *script = parser->script;
    struct buffer *sql = &statement->sql;
    if (sql->failed) {
        return parser_no_memory(parser);
    }
    if (sql->length == 0) {
        return parser_fail(parser, statement->place, "a ; with no statement before it");
    }
    if (one && !gives_rows(statement)) {
        return parser_fail(parser, statement->place, "\\one stands before a SELECT only");
    }
    while (sql->length > 0 && is_blank(sql->data[sql->length - 1])) {
        sql->data[--sql->length] = '\0';
    }
    struct script_statement *statements =
        array_grow(script->statements, script->statement_count, sizeof *statements);
    if (statements == NULL) {
        return parser_no_memory(parser);
    }
    script->statements = statements;
    char *text = buffer_take(sql);
    if (text == NULL) {
        return parser_no_memory(parser);
    }
    *out = script->statement_count++;
    statements[*out] = (struct script_statement){.sql = text,
                                                 .parameters = statement->parameters,
                                                 .parameter_count = statement->parameter_count,
                                                 .one = one,
                                                 .place = statement->place};
    statement->parameters = NULL;
    return 0;
}

int sql_statement(struct parser *parser, bool one, uint32_t *out)
{
    struct statement statement = {
        .parser = parser, .begin = parser->at, .place = source_place(&parser->source, parser->at)};
    buffer_init(&statement.sql);
    int rc = 0;
    while (rc == 0 && byte_at(parser, parser->at) != ';') {
        if (parser->at >= parser->source.length) {
            rc = parser_fail(parser, statement.place,
                             "this statement has no ; at its end before the file ends");
        } else {
            rc = take_token(&statement);
        }
    }
    if (rc == 0) {
        rc = finish(&statement, one, out);
        parser->at++;
    }
    free(statement.parameters);
    buffer_release(&statement.sql);
    return rc;
}
