/* The operators and functions of expressions: names, types and their rules. One
 * table for the parser, the JSON tree and the evaluator. */
#ifndef PITOT_SCRIPT_OPERATION_H
#define PITOT_SCRIPT_OPERATION_H

#include "script/script.h"

/* Deepest expression, and deepest \repeat: bounds every recursion over a tree. */
enum { EXPRESSION_DEPTH_MAX = 100, BLOCK_DEPTH_MAX = 16 };

struct operation {
    const char *name;   /* in the JSON tree */
    const char *symbol; /* in messages: "+", "random()" */
    bool function;      /* called by its name */
    uint32_t least, most;
};

extern const struct operation operations[SCRIPT_OP_COUNT];

/* By the name in the JSON tree; -1: none. */
int operation_find(const char *name);
/* "integer", "double", "text". */
const char *type_name(enum script_type type);
/* -1: none. */
int type_find(const char *name);
/* "an integer", "a double", "a text". */
const char *type_phrase(enum script_type type);

enum { OPERATION_MESSAGE_SIZE = 512 };

/* What is wrong with an operation's arguments, and where. */
struct operation_fault {
    struct script_place place;
    char message[OPERATION_MESSAGE_SIZE];
};

/* Infers expression->type from the op, the constant or variable, and the arguments
 * (whose types are known). Checks their number and types, the text of format(),
 * and constant ranges. False fills the fault. */
bool operation_infer(struct script_expression *expression, const struct script_variable *variables,
                     struct operation_fault *fault);

/* What is wrong with the last argument of a random_… function, NULL when nothing. */
const char *operation_parameter_fault(enum script_op op, double parameter);

#endif
