/*
 * A script: one measured operation, written in SQL with meta-commands
 * (docs/script-language.md). This header is the compiled form: what the parser
 * makes, what travels to a worker as a JSON tree, and what the evaluator runs.
 *
 *     bytes --script_parse--> struct script --script_to_json--> wire
 *     wire --script_from_json--> struct script --evaluation_draw--> calls
 *
 * No result of a statement ever flows back into a variable, so all random
 * numbers and parameters of one operation are made before its clock starts:
 * evaluation_draw() turns the tree into a flat list of calls with bound values,
 * and a retry repeats the same list.
 */
#ifndef PITOT_SCRIPT_SCRIPT_H
#define PITOT_SCRIPT_SCRIPT_H

#include "base/random.h"
#include "base/value.h"
#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Integers of the language lie within ±SCRIPT_INTEGER_MAX (2^53 - 1). */
#define SCRIPT_INTEGER_MAX INT64_C(9007199254740991)
/* Calls that one operation may make, after repeats are unrolled. */
#define SCRIPT_CALLS_MAX 1000000u

enum script_type { SCRIPT_INTEGER, SCRIPT_DOUBLE, SCRIPT_TEXT };

struct script_place {
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1, in characters; a byte order mark does not count */
};

/* Where a variable's value comes from. */
enum script_origin {
    SCRIPT_FROM_SET,     /* \set, or AS of \repeat */
    SCRIPT_FROM_SCALE,   /* a variable of the suite's scale or scenario */
    SCRIPT_FROM_BUILTIN, /* row, op, connection, connections */
};

struct script_variable {
    char *name;
    enum script_type type;
    enum script_origin origin;
};

/* Names as in the JSON tree: "constant", "variable", "add", … */
enum script_op {
    SCRIPT_OP_CONSTANT,
    SCRIPT_OP_VARIABLE,
    SCRIPT_OP_NEGATE,
    SCRIPT_OP_ADD,
    SCRIPT_OP_SUBTRACT,
    SCRIPT_OP_MULTIPLY,
    SCRIPT_OP_DIVIDE,
    SCRIPT_OP_MODULO,
    SCRIPT_OP_EQUAL,
    SCRIPT_OP_NOT_EQUAL,
    SCRIPT_OP_LESS,
    SCRIPT_OP_LESS_EQUAL,
    SCRIPT_OP_GREATER,
    SCRIPT_OP_GREATER_EQUAL,
    SCRIPT_OP_IF,
    SCRIPT_OP_CHOICE,
    SCRIPT_OP_FORMAT, /* first argument: a constant text, checked */
    SCRIPT_OP_LENGTH, /* characters of a text */
    SCRIPT_OP_MIN,
    SCRIPT_OP_MAX,
    SCRIPT_OP_INT,
    SCRIPT_OP_DOUBLE,
    SCRIPT_OP_RANDOM,
    SCRIPT_OP_RANDOM_GAUSSIAN,
    SCRIPT_OP_RANDOM_EXPONENTIAL,
    SCRIPT_OP_RANDOM_ZIPFIAN,
    SCRIPT_OP_COUNT
};

struct script_expression {
    enum script_op op;
    enum script_type type; /* of the result, as the checker inferred it */
    struct script_place place;
    uint32_t variable;     /* VARIABLE: index into script.variables */
    struct value constant; /* CONSTANT; text is owned and NUL-terminated */
    struct script_expression *arguments;
    uint32_t argument_count;
};

struct script_statement {
    char *sql;            /* every `:name` replaced by `?` */
    uint32_t *parameters; /* variable bound to each `?`, in order */
    uint32_t parameter_count;
    bool one; /* \one: only the first row is fetched, then reset */
    struct script_place place;
};

enum script_step_kind {
    SCRIPT_STEP_SET,
    SCRIPT_STEP_STATEMENT,
    SCRIPT_STEP_BEGIN_READ,
    SCRIPT_STEP_BEGIN_WRITE,
    SCRIPT_STEP_COMMIT,
    SCRIPT_STEP_REPEAT,
    SCRIPT_STEP_ROWS, /* only at the top of load.sql */
};

struct script_block {
    struct script_step *steps;
    uint32_t count;
};

struct script_step {
    enum script_step_kind kind;
    struct script_place place;
    uint32_t variable;                   /* SET; REPEAT with `AS` (else UINT32_MAX) */
    uint32_t statement;                  /* STATEMENT: index into script.statements */
    struct script_expression expression; /* SET: value; REPEAT, ROWS: count */
    struct script_expression chunk;      /* ROWS: rows a transaction; op CONSTANT 0: all in one */
    char *table;                         /* ROWS */
    struct script_block body;            /* REPEAT, ROWS */
};

struct script {
    char *name; /* file name without .sql */
    char *file; /* path as named in messages; NULL in a worker */
    struct script_variable *variables;
    uint32_t variable_count;
    struct script_statement *statements;
    uint32_t statement_count;
    struct script_block body;
    char **warnings; /* "file:line:column: …": CURRENT_TIMESTAMP, 'now', random() in SQL */
    uint32_t warning_count;
};

/* A name and value of the suite's scale, known before parsing. */
struct script_constant {
    char *name;
    int64_t value;
};

/* Parses and checks one script. `constants` are the scale's variables (their
 * values may differ at run time; only names matter here). `load` allows \rows
 * and :row. On failure returns ERROR_INVALID with "file:line:column: …".
 * The script is the caller's, to be freed with script_free(). */
int script_parse(const char *name, const char *file, const char *bytes, size_t length,
                 const struct script_constant *constants, size_t constant_count, bool load,
                 struct script **out, struct error *error);
void script_free(struct script *script);

/* The compiled tree as in docs/worker-protocol.md; a new reference, NULL when
 * out of memory. */
json_t *script_to_json(const struct script *script);
/* Reads that tree; checks every index, type and depth (it may be hostile).
 * ERROR_PROTOCOL on a mistake. */
int script_from_json(const json_t *tree, struct script **out, struct error *error);

/* ---- evaluation ------------------------------------------------------- */

enum script_call_kind {
    SCRIPT_CALL_STATEMENT,
    SCRIPT_CALL_BEGIN_READ,
    SCRIPT_CALL_BEGIN_WRITE,
    SCRIPT_CALL_COMMIT,
};

struct script_call {
    enum script_call_kind kind;
    uint32_t statement;   /* index into script.statements */
    uint32_t first_value; /* index into evaluation.values */
    uint32_t value_count;
};

/* How random…() draws; the ends of the ranges are for checking answers. */
enum script_draw { SCRIPT_DRAW_RANDOM, SCRIPT_DRAW_LOW, SCRIPT_DRAW_HIGH, SCRIPT_DRAW_BEYOND };

/* One evaluation belongs to one thread. Values and calls stay valid until the
 * next draw. Memory is reused: after some draws nothing is allocated any more. */
struct evaluation {
    const struct script *script;
    enum script_draw draw;
    struct value *variables; /* one per script variable */
    struct script_call *calls;
    uint32_t call_count;
    struct value *values;
    uint32_t value_count;
    struct script_place failed_at;    /* of the last failure */
    struct evaluation_memory *memory; /* private to evaluate.c */
};

/* ERROR_MEMORY, or ERROR_INVALID when a variable of the scale has no value in
 * `constants`. The script outlives the evaluation. */
int evaluation_init(struct evaluation *evaluation, const struct script *script,
                    const struct script_constant *constants, size_t constant_count,
                    struct error *error);
void evaluation_release(struct evaluation *evaluation);

/* Sets a built-in ("row", "op", "connection", "connections") if the script uses
 * it. evaluation_builtin() finds the slot once; -1: not used by the script. */
int evaluation_builtin(const struct evaluation *evaluation, const char *name);
static inline void evaluation_assign(struct evaluation *evaluation, int slot, int64_t value)
{
    if (slot >= 0) {
        evaluation->variables[slot].integer = value;
    }
}

/* Runs a block into calls and values: script->body, where every variable of \set
 * starts again as 0, 0.0 or '' - or, in load.sql, the body of a ROWS step or a block
 * of one step of script->body ({&body.steps[i], 1}), where variables keep the values
 * that earlier blocks gave them. A ROWS step itself is not drawn: its runner draws
 * its body COUNT times.
 * Fails with ERROR_INVALID for overflow, division by zero, an empty range, a
 * negative repeat count, more than SCRIPT_CALLS_MAX calls or turns, texts too long.
 * The message is "file:line:column: …" ("NAME.sql:…" in a worker), and failed_at
 * holds the place. calls and values are not to be used after a failure. */
int evaluation_draw(struct evaluation *evaluation, const struct script_block *block,
                    struct random *random, struct error *error);

/* Value of one expression (ROWS count and chunk). Same failures. */
int evaluation_integer(struct evaluation *evaluation, const struct script_expression *expression,
                       struct random *random, int64_t *out, struct error *error);

#endif
