/* One script while it is read; shared by the parser's files. */
#ifndef PITOT_SCRIPT_PARSER_H
#define PITOT_SCRIPT_PARSER_H

#include "script/operation.h"
#include "script/source.h"

enum token_kind {
    TOKEN_END, /* of the meta-command */
    TOKEN_INTEGER,
    TOKEN_DOUBLE,
    TOKEN_TEXT,
    TOKEN_VARIABLE,
    TOKEN_WORD,
    TOKEN_OPERATOR,
};

struct token {
    enum token_kind kind;
    struct script_place place;
    const char *start; /* in the source; VARIABLE: behind the colon */
    size_t length;
    struct value value; /* INTEGER, DOUBLE; TEXT: owned until someone takes it */
};

struct parser {
    struct source source;
    size_t at;
    size_t line_end; /* of the meta-command that is read */
    struct token token;
    struct script *script;
    const struct script_constant *constants;
    size_t constant_count;
    bool load;
    bool in_rows; /* inside the body of \rows */
    struct error *error;
};

#define parser_fail(parser, place, ...)                                                            \
    source_fail(&(parser)->source, (place), (parser)->error, __VA_ARGS__)
int parser_no_memory(struct parser *parser);

bool is_name_start(char c);
bool is_name_part(char c);
bool is_digit(char c);
/* Equal without regard to ASCII case. */
bool word_is(const char *start, size_t length, const char *word);

/* ---- names.c ---------------------------------------------------------- */

/* The variable of a `:name` that is read here; unknown ones fail with advice. */
int name_read(struct parser *parser, struct script_place place, const char *name, size_t length,
              uint32_t *out);
/* The variable that \set or \repeat … AS writes, new or known with the same type. */
int name_write(struct parser *parser, struct script_place place, const char *name, size_t length,
               enum script_type type, uint32_t *out);
/* Sets an error for a function that does not exist. */
int name_unknown_function(struct parser *parser, struct script_place place, const char *name,
                          size_t length);
/* Sets an error for a meta-command that does not exist; parser->at is behind its name. */
int name_unknown_command(struct parser *parser, struct script_place place, const char *name,
                         size_t length);

/* ---- expression.c ----------------------------------------------------- */

/* Finds the end of the meta-command that parser->at stands in. */
void meta_begin(struct parser *parser);
/* Reads the next token of the meta-command into parser->token. */
int token_next(struct parser *parser);
/* Empties the token and frees a text that nobody took. */
void token_drop(struct parser *parser);
/* The words of the current token, for messages. */
int token_unexpected(struct parser *parser, const char *wanted);
/* Parses and checks an expression that begins at the current token. */
int expression_parse(struct parser *parser, struct script_expression *out);
void expression_release(struct script_expression *expression);

/* ---- sql.c ------------------------------------------------------------ */

/* Skips blanks and comments before a statement or meta-command. */
int sql_skip(struct parser *parser);
/* True when only blanks stand between the line's beginning and `at`. */
bool sql_at_line_start(const struct parser *parser, size_t at);
/* Reads the statement at parser->at up to its semicolon. */
int sql_statement(struct parser *parser, bool one, uint32_t *out);

#endif
