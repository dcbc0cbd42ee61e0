#include "script/operation.h"

#include "script/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 100000 };

const struct operation operations[SCRIPT_OP_COUNT] = {
    [SCRIPT_OP_CONSTANT] = {"constant", "constant", false, 0, 0},
    [SCRIPT_OP_VARIABLE] = {"variable", "variable", false, 0, 0},
    [SCRIPT_OP_NEGATE] = {"negate", "-", false, 1, 1},
    [SCRIPT_OP_ADD] = {"add", "+", false, 2, 2},
    [SCRIPT_OP_SUBTRACT] = {"subtract", "-", false, 2, 2},
    [SCRIPT_OP_MULTIPLY] = {"multiply", "*", false, 2, 2},
    [SCRIPT_OP_DIVIDE] = {"divide", "/", false, 2, 2},
    [SCRIPT_OP_MODULO] = {"modulo", "%", false, 2, 2},
    [SCRIPT_OP_EQUAL] = {"equal", "=", false, 2, 2},
    [SCRIPT_OP_NOT_EQUAL] = {"not_equal", "<>", false, 2, 2},
    [SCRIPT_OP_LESS] = {"less", "<", false, 2, 2},
    [SCRIPT_OP_LESS_EQUAL] = {"less_equal", "<=", false, 2, 2},
    [SCRIPT_OP_GREATER] = {"greater", ">", false, 2, 2},
    [SCRIPT_OP_GREATER_EQUAL] = {"greater_equal", ">=", false, 2, 2},
    [SCRIPT_OP_IF] = {"if", "if()", true, 3, 3},
    [SCRIPT_OP_CHOICE] = {"choice", "choice()", true, 1, MANY},
    [SCRIPT_OP_FORMAT] = {"format", "format()", true, 1, 1 + FORMAT_ARGUMENTS_MAX},
    [SCRIPT_OP_LENGTH] = {"length", "length()", true, 1, 1},
    [SCRIPT_OP_MIN] = {"min", "min()", true, 1, MANY},
    [SCRIPT_OP_MAX] = {"max", "max()", true, 1, MANY},
    [SCRIPT_OP_INT] = {"int", "int()", true, 1, 1},
    [SCRIPT_OP_DOUBLE] = {"double", "double()", true, 1, 1},
    [SCRIPT_OP_RANDOM] = {"random", "random()", true, 2, 2},
    [SCRIPT_OP_RANDOM_GAUSSIAN] = {"random_gaussian", "random_gaussian()", true, 3, 3},
    [SCRIPT_OP_RANDOM_EXPONENTIAL] = {"random_exponential", "random_exponential()", true, 3, 3},
    [SCRIPT_OP_RANDOM_ZIPFIAN] = {"random_zipfian", "random_zipfian()", true, 3, 3},
};

int operation_find(const char *name)
{
    for (int i = 0; i < SCRIPT_OP_COUNT; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static const struct {
    const char *name, *phrase;
} types[] = {
    [SCRIPT_INTEGER] = {"integer", "an integer"},
    [SCRIPT_DOUBLE] = {"double", "a double"},
    [SCRIPT_TEXT] = {"text", "a text"},
};

const char *type_name(enum script_type type)
{
    return types[type].name;
}

int type_find(const char *name)
{
    for (int i = 0; i <= SCRIPT_TEXT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *type_phrase(enum script_type type)
{
    return types[type].phrase;
}

const char *operation_parameter_fault(enum script_op op, double parameter)
{
    /* Written so that a NaN is refused too. */
    if (op == SCRIPT_OP_RANDOM_GAUSSIAN && !(parameter >= 2.0)) {
        return "the last argument of random_gaussian() must be at least 2.0";
    }
    if (op == SCRIPT_OP_RANDOM_EXPONENTIAL && !(parameter > 0.0)) {
        return "the last argument of random_exponential() must be greater than 0";
    }
    if (op == SCRIPT_OP_RANDOM_ZIPFIAN && !(parameter >= 1.001 && parameter <= 1000.0)) {
        return "the last argument of random_zipfian() must lie in 1.001 to 1000";
    }
    return NULL;
}

static bool __attribute__((format(printf, 3, 4)))
fault_set(struct operation_fault *fault, struct script_place place, const char *format, ...)
{
    fault->place = place;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_number(const struct script_expression *e)
{
    return e->type != SCRIPT_TEXT;
}

/* Argument `index` must be of a type; integers are taken where a double is wanted. */
static bool want(const struct script_expression *e, uint32_t index, enum script_type type,
                 struct operation_fault *fault)
{
    const struct script_expression *argument = &e->arguments[index];
    if (argument->type == type || (type == SCRIPT_DOUBLE && is_number(argument))) {
        return true;
    }
    const char *repair = type == SCRIPT_INTEGER && argument->type == SCRIPT_DOUBLE
                             ? ": int(…) makes an integer of it"
                             : "";
    const char *wanted = type == SCRIPT_DOUBLE ? "a number" : type_phrase(type);
    return fault_set(fault, argument->place, "%s wants %s, this is %s%s", operations[e->op].symbol,
                     wanted, type_phrase(argument->type), repair);
}

static bool want_same(const struct script_expression *e, uint32_t first,
                      struct operation_fault *fault)
{
    for (uint32_t i = first + 1; i < e->argument_count; i++) {
        if (e->arguments[i].type != e->arguments[first].type) {
            return fault_set(fault, e->arguments[i].place,
                             "%s wants values of one type: this is %s, the first is %s "
                             "(int(…) and double(…) change a number's type)",
                             operations[e->op].symbol, type_phrase(e->arguments[i].type),
                             type_phrase(e->arguments[first].type));
        }
    }
    return true;
}

/* Every directive has an argument of its type and every argument a directive. */
static bool check_format(const struct script_expression *e, struct operation_fault *fault)
{
    const struct script_expression *text = &e->arguments[0];
    if (text->op != SCRIPT_OP_CONSTANT || text->type != SCRIPT_TEXT) {
        return fault_set(fault, text->place, "the first argument of format() is a literal '…'");
    }
    const char *at = text->constant.bytes;
    const char *end = at + text->constant.length;
    struct format_piece piece;
    uint32_t used = 1;
    while (format_next(&at, end, &piece)) {
        if (piece.kind == FORMAT_LITERAL) {
            continue;
        }
        if (piece.kind == FORMAT_WRONG) {
            return fault_set(fault, text->place,
                             "format() knows %%d, %%0Nd (N from 1 to %d), %%s, "
                             "%%x and %%%%, not %.*s",
                             FORMAT_WIDTH_MAX, (int)piece.length, piece.bytes);
        }
        if (used == e->argument_count) {
            return fault_set(fault, text->place, "format() has no argument for its %u. directive",
                             used);
        }
        const struct script_expression *argument = &e->arguments[used++];
        bool fits = piece.kind == FORMAT_TEXT ? argument->type != SCRIPT_DOUBLE
                                              : argument->type == SCRIPT_INTEGER;
        if (!fits) {
            return fault_set(fault, argument->place, "%.*s of format() wants %s, this is %s",
                             (int)piece.length, piece.bytes,
                             piece.kind == FORMAT_TEXT ? "a text or an integer" : "an integer",
                             type_phrase(argument->type));
        }
    }
    if (used < e->argument_count) {
        return fault_set(fault, e->arguments[used].place,
                         "the text of format() has no directive for this argument");
    }
    return true;
}

/* Ranges and parameters that are known before anything is drawn. */
static bool check_range(const struct script_expression *e, struct operation_fault *fault)
{
    const struct script_expression *lo = &e->arguments[0];
    const struct script_expression *hi = &e->arguments[1];
    if (lo->op == SCRIPT_OP_CONSTANT && hi->op == SCRIPT_OP_CONSTANT &&
        lo->constant.integer > hi->constant.integer) {
        return fault_set(fault, e->place, "empty range in %s: %lld is above %lld",
                         operations[e->op].symbol, (long long)lo->constant.integer,
                         (long long)hi->constant.integer);
    }
    if (e->argument_count == 3 && e->arguments[2].op == SCRIPT_OP_CONSTANT) {
        const struct script_expression *last = &e->arguments[2];
        double parameter =
            last->type == SCRIPT_INTEGER ? (double)last->constant.integer : last->constant.real;
        const char *wrong = operation_parameter_fault(e->op, parameter);
        if (wrong != NULL) {
            return fault_set(fault, last->place, "%s", wrong);
        }
    }
    return true;
}

static bool infer_number(struct script_expression *e, struct operation_fault *fault)
{
    e->type = SCRIPT_INTEGER;
    for (uint32_t i = 0; i < e->argument_count; i++) {
        if (!want(e, i, SCRIPT_DOUBLE, fault)) {
            return false;
        }
        if (e->arguments[i].type == SCRIPT_DOUBLE) {
            e->type = SCRIPT_DOUBLE;
        }
    }
    return true;
}

static bool infer_comparison(struct script_expression *e, struct operation_fault *fault)
{
    const struct script_expression *a = &e->arguments[0];
    const struct script_expression *b = &e->arguments[1];
    e->type = SCRIPT_INTEGER;
    if (is_number(a) != is_number(b)) {
        return fault_set(fault, e->place, "%s compares %s with %s", operations[e->op].symbol,
                         type_phrase(a->type), type_phrase(b->type));
    }
    if (!is_number(a) && e->op != SCRIPT_OP_EQUAL && e->op != SCRIPT_OP_NOT_EQUAL) {
        return fault_set(fault, e->place, "%s compares numbers: texts know = and <> only",
                         operations[e->op].symbol);
    }
    return true;
}

static bool infer_random(struct script_expression *e, struct operation_fault *fault)
{
    e->type = SCRIPT_INTEGER;
    return want(e, 0, SCRIPT_INTEGER, fault) && want(e, 1, SCRIPT_INTEGER, fault) &&
           (e->argument_count < 3 || want(e, 2, SCRIPT_DOUBLE, fault)) && check_range(e, fault);
}

static bool infer_function(struct script_expression *e, struct operation_fault *fault)
{
    switch (e->op) {
    case SCRIPT_OP_IF:
        e->type = e->arguments[1].type;
        return want(e, 0, SCRIPT_INTEGER, fault) && want_same(e, 1, fault);
    case SCRIPT_OP_CHOICE:
        e->type = e->arguments[0].type;
        return want_same(e, 0, fault);
    case SCRIPT_OP_MIN:
    case SCRIPT_OP_MAX:
        e->type = e->arguments[0].type;
        return want(e, 0, SCRIPT_DOUBLE, fault) && want_same(e, 0, fault);
    case SCRIPT_OP_FORMAT:
        e->type = SCRIPT_TEXT;
        return check_format(e, fault);
    case SCRIPT_OP_LENGTH:
        e->type = SCRIPT_INTEGER;
        return want(e, 0, SCRIPT_TEXT, fault);
    case SCRIPT_OP_INT:
        e->type = SCRIPT_INTEGER;
        return want(e, 0, SCRIPT_DOUBLE, fault);
    case SCRIPT_OP_DOUBLE:
        e->type = SCRIPT_DOUBLE;
        return want(e, 0, SCRIPT_DOUBLE, fault);
    default:
        return infer_random(e, fault);
    }
}

static bool check_count(const struct script_expression *e, struct operation_fault *fault)
{
    const struct operation *operation = &operations[e->op];
    if (e->argument_count >= operation->least && e->argument_count <= operation->most) {
        return true;
    }
    if (operation->least == operation->most) {
        return fault_set(fault, e->place, "%s takes %u argument%s, not %u", operation->symbol,
                         operation->least, operation->least == 1 ? "" : "s", e->argument_count);
    }
    return fault_set(fault, e->place, "%s takes %u to %u arguments, not %u", operation->symbol,
                     operation->least, operation->most, e->argument_count);
}

bool operation_infer(struct script_expression *e, const struct script_variable *variables,
                     struct operation_fault *fault)
{
    if (!check_count(e, fault)) {
        return false;
    }
    switch (e->op) {
    case SCRIPT_OP_CONSTANT:
        e->type = e->constant.type == VALUE_INTEGER  ? SCRIPT_INTEGER
                  : e->constant.type == VALUE_DOUBLE ? SCRIPT_DOUBLE
                                                     : SCRIPT_TEXT;
        return true;
    case SCRIPT_OP_VARIABLE:
        e->type = variables[e->variable].type;
        return true;
    case SCRIPT_OP_NEGATE:
    case SCRIPT_OP_ADD:
    case SCRIPT_OP_SUBTRACT:
    case SCRIPT_OP_MULTIPLY:
    case SCRIPT_OP_DIVIDE:
        return infer_number(e, fault);
    case SCRIPT_OP_MODULO:
        e->type = SCRIPT_INTEGER;
        return want(e, 0, SCRIPT_INTEGER, fault) && want(e, 1, SCRIPT_INTEGER, fault);
    case SCRIPT_OP_EQUAL:
    case SCRIPT_OP_NOT_EQUAL:
    case SCRIPT_OP_LESS:
    case SCRIPT_OP_LESS_EQUAL:
    case SCRIPT_OP_GREATER:
    case SCRIPT_OP_GREATER_EQUAL:
        return infer_comparison(e, fault);
    default:
        return infer_function(e, fault);
    }
}
