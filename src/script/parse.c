/* Script files: statements and meta-commands, and how they nest. */
#include "script/parser.h"

#include "script/array.h"

#include <stdlib.h>
#include <string.h>

/* The block whose steps are read. */
struct frame {
    const char *opener; /* "\\repeat", "\\rows"; NULL: the file itself */
    struct script_place place;
    uint32_t depth;
    bool in_transaction; /* \begin stands in a block around this one */
    struct script_block *block;
    struct script_place begin; /* of the open \begin of this block; line 0: none */
    struct script_place one;   /* of a \one that waits for its statement; line 0: none */
};

static int parse_block(struct parser *parser, struct frame *frame);

static int line_done(struct parser *parser)
{
    if (parser->token.kind == TOKEN_END) {
        parser->at = parser->line_end;
        return 0;
    }
    return token_unexpected(parser, "the line's end");
}

/* The current token as a name, then the next token. */
static int take_name(struct parser *parser, const char *what, struct token *out)
{
    *out = parser->token;
    if (out->kind == TOKEN_VARIABLE) {
        return parser_fail(parser, out->place, "%s is written without its colon: %.*s", what,
                           (int)out->length, out->start);
    }
    if (out->kind != TOKEN_WORD) {
        return token_unexpected(parser, what);
    }
    if (out->length > 64) {
        return parser_fail(parser, out->place, "a name has at most 64 characters");
    }
    return token_next(parser);
}

static int take_integer(struct parser *parser, const char *what, struct script_expression *out)
{
    int rc = expression_parse(parser, out);
    if (rc == 0 && out->type != SCRIPT_INTEGER) {
        rc = parser_fail(parser, out->place, "%s is an integer, this is %s", what,
                         type_phrase(out->type));
    }
    return rc;
}

static int parse_set(struct parser *parser, struct script_step *step)
{
    struct token name;
    int rc = take_name(parser, "the name of a variable", &name);
    if (rc != 0) {
        return rc;
    }
    if (parser->token.kind == TOKEN_OPERATOR && parser->token.start[0] == '=') {
        return parser_fail(parser, parser->token.place,
                           "\\set has no = between name and expression: write \\set %.*s …",
                           (int)name.length, name.start);
    }
    rc = expression_parse(parser, &step->expression);
    if (rc == 0) {
        rc = name_write(parser, name.place, name.start, name.length, step->expression.type,
                        &step->variable);
    }
    return rc != 0 ? rc : line_done(parser);
}

static int parse_begin(struct parser *parser, struct frame *frame, struct script_step *step)
{
    step->kind = SCRIPT_STEP_BEGIN_WRITE;
    if (parser->token.kind == TOKEN_WORD) {
        if (word_is(parser->token.start, parser->token.length, "read")) {
            step->kind = SCRIPT_STEP_BEGIN_READ;
        } else if (!word_is(parser->token.start, parser->token.length, "write")) {
            return token_unexpected(parser, "read, write or nothing");
        }
        int rc = token_next(parser);
        if (rc != 0) {
            return rc;
        }
    }
    if (parser->in_rows) {
        return parser_fail(parser, step->place,
                           "\\rows makes its own transactions (CHUNK says how large): leave out "
                           "\\begin and \\commit");
    }
    if (frame->begin.line != 0 || frame->in_transaction) {
        return parser_fail(parser, step->place,
                           "a transaction is open here already: \\commit it "
                           "before the next \\begin");
    }
    frame->begin = step->place;
    return line_done(parser);
}

static int parse_commit(struct parser *parser, struct frame *frame, struct script_step *step)
{
    step->kind = SCRIPT_STEP_COMMIT;
    if (frame->begin.line == 0) {
        return parser_fail(parser, step->place,
                           frame->in_transaction
                               ? "this \\commit's \\begin stands outside of the \\repeat: both "
                                 "belong into one block"
                               : "\\commit without a \\begin before it");
    }
    frame->begin = (struct script_place){0};
    return line_done(parser);
}

static int parse_body(struct parser *parser, const struct frame *frame, const char *opener,
                      struct script_step *step)
{
    if (frame->depth >= BLOCK_DEPTH_MAX) {
        return parser_fail(parser, step->place, "\\repeat is nested more than %d deep",
                           BLOCK_DEPTH_MAX);
    }
    struct frame inner = {.opener = opener,
                          .place = step->place,
                          .depth = frame->depth + 1,
                          .in_transaction = frame->in_transaction || frame->begin.line != 0,
                          .block = &step->body};
    return parse_block(parser, &inner);
}

static int parse_repeat(struct parser *parser, struct frame *frame, struct script_step *step)
{
    step->kind = SCRIPT_STEP_REPEAT;
    step->variable = UINT32_MAX;
    int rc = take_integer(parser, "the count of \\repeat", &step->expression);
    if (rc == 0 && step->expression.op == SCRIPT_OP_CONSTANT &&
        step->expression.constant.integer < 0) {
        rc = parser_fail(parser, step->expression.place, "a negative count of \\repeat");
    }
    if (rc == 0 && parser->token.kind == TOKEN_WORD &&
        word_is(parser->token.start, parser->token.length, "as")) {
        struct token name;
        rc = token_next(parser);
        if (rc == 0) {
            rc = take_name(parser, "the name of a variable", &name);
        }
        if (rc == 0) {
            rc = name_write(parser, name.place, name.start, name.length, SCRIPT_INTEGER,
                            &step->variable);
        }
    }
    if (rc == 0) {
        rc = line_done(parser);
    }
    return rc != 0 ? rc : parse_body(parser, frame, "\\repeat", step);
}

static int check_rows(struct parser *parser, const struct frame *frame,
                      const struct script_step *step)
{
    if (!parser->load) {
        return parser_fail(parser, step->place,
                           "\\rows belongs into load.sql: here \\repeat N … \\end");
    }
    if (frame->depth > 0) {
        return parser_fail(parser, step->place,
                           "\\rows stands at the top of load.sql, not inside of %s: here "
                           "\\repeat N … \\end",
                           frame->opener);
    }
    if (frame->begin.line != 0) {
        return parser_fail(parser, step->place,
                           "\\rows makes its own transactions: \\commit before it");
    }
    return 0;
}

static int take_table(struct parser *parser, struct script_step *step)
{
    struct token name;
    int rc = take_name(parser, "the name of a table", &name);
    if (rc != 0) {
        return rc;
    }
    step->table = strndup(name.start, name.length);
    return step->table == NULL ? parser_no_memory(parser) : 0;
}

static int parse_rows(struct parser *parser, struct frame *frame, struct script_step *step)
{
    step->kind = SCRIPT_STEP_ROWS;
    step->chunk = (struct script_expression){.place = step->place,
                                             .constant = {.type = VALUE_INTEGER, .integer = 0}};
    int rc = check_rows(parser, frame, step);
    if (rc == 0) {
        rc = take_table(parser, step);
    }
    if (rc == 0) {
        rc = take_integer(parser, "the count of \\rows", &step->expression);
    }
    if (rc == 0 && parser->token.kind == TOKEN_WORD &&
        word_is(parser->token.start, parser->token.length, "chunk")) {
        rc = token_next(parser);
        if (rc == 0) {
            rc = take_integer(parser, "CHUNK", &step->chunk);
        }
        if (rc == 0 && step->chunk.op == SCRIPT_OP_CONSTANT && step->chunk.constant.integer < 1) {
            rc = parser_fail(parser, step->chunk.place, "CHUNK is at least 1 row a transaction");
        }
    }
    if (rc == 0) {
        rc = line_done(parser);
    }
    if (rc != 0) {
        return rc;
    }
    parser->in_rows = true;
    rc = parse_body(parser, frame, "\\rows", step);
    parser->in_rows = false;
    return rc;
}

/* What must not be open when a block ends. */
static int block_done(struct parser *parser, const struct frame *frame)
{
    if (frame->one.line != 0) {
        return parser_fail(parser, frame->one, "\\one has no SELECT behind it");
    }
    if (frame->begin.line != 0) {
        return parser_fail(parser, frame->begin, "\\begin has no \\commit in the same block");
    }
    return 0;
}

static int parse_end(struct parser *parser, const struct frame *frame, struct script_place place)
{
    if (frame->opener == NULL) {
        return parser_fail(parser, place,
                           "\\end without a \\repeat before it (a transaction ends with \\commit)");
    }
    int rc = line_done(parser);
    return rc != 0 ? rc : block_done(parser, frame);
}

/* A new step at the block's end; it is the block's from here on. */
static struct script_step *step_add(struct script_block *block, struct script_place place)
{
    struct script_step *steps = array_grow(block->steps, block->count, sizeof *steps);
    if (steps == NULL) {
        return NULL;
    }
    block->steps = steps;
    steps[block->count] = (struct script_step){.place = place};
    return &steps[block->count++];
}

static int parse_meta(struct parser *parser, struct frame *frame, bool *ended)
{
    struct script_place place = source_place(&parser->source, parser->at);
    const char *name = parser->source.bytes + ++parser->at;
    size_t length = 0;
    meta_begin(parser);
    while (parser->at + length < parser->line_end && is_name_part(name[length])) {
        length++;
    }
    parser->at += length;
    if (frame->one.line != 0) {
        return parser_fail(parser, place, "\\one must be followed by its SELECT");
    }
    static const char *const known[] = {"set", "begin", "commit", "repeat", "rows", "one", "end"};
    enum { SET, BEGIN, COMMIT, REPEAT, ROWS, ONE, END, COUNT };
    int command = 0;
    while (command < COUNT && !word_is(name, length, known[command])) {
        command++;
    }
    if (command == COUNT) {
        return name_unknown_command(parser, place, name, length);
    }
    int rc = token_next(parser);
    if (rc != 0) {
        return rc;
    }
    if (command == ONE) {
        frame->one = place;
        return line_done(parser);
    }
    if (command == END) {
        *ended = true;
        return parse_end(parser, frame, place);
    }
    struct script_step *step = step_add(frame->block, place);
    if (step == NULL) {
        return parser_no_memory(parser);
    }
    switch (command) {
    case SET:
        return parse_set(parser, step);
    case BEGIN:
        return parse_begin(parser, frame, step);
    case COMMIT:
        return parse_commit(parser, frame, step);
    case REPEAT:
        return parse_repeat(parser, frame, step);
    default:
        return parse_rows(parser, frame, step);
    }
}

static int parse_statement(struct parser *parser, struct frame *frame)
{
    struct script_step *step = step_add(frame->block, source_place(&parser->source, parser->at));
    if (step == NULL) {
        return parser_no_memory(parser);
    }
    step->kind = SCRIPT_STEP_STATEMENT;
    bool one = frame->one.line != 0;
    frame->one = (struct script_place){0};
    return sql_statement(parser, one, &step->statement);
}

static int parse_block(struct parser *parser, struct frame *frame)
{
    for (;;) {
        int rc = sql_skip(parser);
        if (rc != 0) {
            return rc;
        }
        if (parser->at >= parser->source.length) {
            return frame->opener != NULL
                       ? parser_fail(parser, frame->place, "%s has no \\end", frame->opener)
                       : block_done(parser, frame);
        }
        bool ended = false;
        if (parser->source.bytes[parser->at] != '\\') {
            rc = parse_statement(parser, frame);
        } else if (sql_at_line_start(parser, parser->at)) {
            rc = parse_meta(parser, frame, &ended);
        } else {
            rc = parser_fail(parser, source_place(&parser->source, parser->at),
                             "a meta-command stands on a line of its own");
        }
        if (rc != 0 || ended) {
            return rc;
        }
    }
}

int script_parse(const char *name, const char *file, const char *bytes, size_t length,
                 const struct script_constant *constants, size_t constant_count, bool load,
                 struct script **out, struct error *error)
{
    struct parser parser = {
        .constants = constants, .constant_count = constant_count, .load = load, .error = error};
    *out = NULL;
    int rc = source_init(&parser.source, file, bytes, length, error);
    if (rc != 0) {
        return rc;
    }
    struct script *script = calloc(1, sizeof *script);
    parser.script = script;
    if (script == NULL || (script->name = strdup(name)) == NULL ||
        (script->file = strdup(file)) == NULL) {
        rc = parser_no_memory(&parser);
        goto out;
    }
    struct frame frame = {.block = &script->body};
    rc = parse_block(&parser, &frame);
    if (rc == 0 && script->statement_count == 0 && !load) {
        rc = parser_fail(&parser, source_place(&parser.source, 0),
                         "this script holds no SQL statement");
    }
out:
    token_drop(&parser);
    if (rc != 0) {
        script_free(script);
        return rc;
    }
    *out = script;
    return 0;
}
