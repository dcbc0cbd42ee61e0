/* The value of expressions. Types were settled by the checker, so each function
 * here serves one type; the commonest operands, constants and variables, never
 * reach a call. */
#include "script/evaluate_internal.h"

#include "script/format.h"
#include "script/operation.h"

#include <math.h>
#include <string.h>

static inline bool integer_operand(struct evaluation *evaluation, const struct script_expression *e,
                                   int64_t *out)
{
    if (e->op == SCRIPT_OP_CONSTANT) {
        *out = e->constant.integer;
        return true;
    }
    if (e->op == SCRIPT_OP_VARIABLE) {
        *out = evaluation->variables[e->variable].integer;
        return true;
    }
    return integer_of(evaluation, e, out);
}

static inline bool in_range(int64_t value)
{
    return value >= -SCRIPT_INTEGER_MAX && value <= SCRIPT_INTEGER_MAX;
}

static bool integer_arithmetic(struct evaluation *evaluation, const struct script_expression *e,
                               int64_t *out)
{
    int64_t a, b;
    if (!integer_operand(evaluation, &e->arguments[0], &a) ||
        !integer_operand(evaluation, &e->arguments[1], &b)) {
        return false;
    }
    bool fits = true;
    switch (e->op) {
    case SCRIPT_OP_ADD:
        *out = a + b; /* two numbers of 54 bits: cannot wrap */
        break;
    case SCRIPT_OP_SUBTRACT:
        *out = a - b;
        break;
    case SCRIPT_OP_MULTIPLY:
        fits = !__builtin_mul_overflow(a, b, out);
        break;
    default:
        if (b == 0) {
            return evaluation_fail(evaluation, e->place, "division by zero");
        }
        *out = e->op == SCRIPT_OP_DIVIDE ? a / b : a % b;
        return true;
    }
    return (fits && in_range(*out)) ||
           evaluation_fail(evaluation, e->place,
                           "overflow: integers lie within ±9007199254740991 (2^53 - 1)");
}

static bool compare(struct evaluation *evaluation, const struct script_expression *e, int64_t *out)
{
    const struct script_expression *left = &e->arguments[0], *right = &e->arguments[1];
    if (left->type == SCRIPT_TEXT) {
        struct value a, b;
        if (!text_of(evaluation, left, &a) || !text_of(evaluation, right, &b)) {
            return false;
        }
        bool same = a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
        *out = same == (e->op == SCRIPT_OP_EQUAL);
        return true;
    }
    /* Integers of the language are exact as doubles. */
    double a, b;
    if (!real_of(evaluation, left, &a) || !real_of(evaluation, right, &b)) {
        return false;
    }
    switch (e->op) {
    case SCRIPT_OP_EQUAL:
        *out = a == b;
        break;
    case SCRIPT_OP_NOT_EQUAL:
        *out = a != b;
        break;
    case SCRIPT_OP_LESS:
        *out = a < b;
        break;
    case SCRIPT_OP_LESS_EQUAL:
        *out = a <= b;
        break;
    case SCRIPT_OP_GREATER:
        *out = a > b;
        break;
    default:
        *out = a >= b;
        break;
    }
    return true;
}

/* The argument that if() or choice() takes; NULL: failed. */
static const struct script_expression *picked(struct evaluation *evaluation,
                                              const struct script_expression *e)
{
    if (e->op == SCRIPT_OP_IF) {
        int64_t condition;
        if (!integer_operand(evaluation, &e->arguments[0], &condition)) {
            return NULL;
        }
        return &e->arguments[condition != 0 ? 1 : 2];
    }
    switch (evaluation->draw) {
    case SCRIPT_DRAW_LOW:
        return &e->arguments[0];
    case SCRIPT_DRAW_HIGH:
    case SCRIPT_DRAW_BEYOND:
        return &e->arguments[e->argument_count - 1];
    default:
        return &e->arguments[random_below(evaluation->memory->random, e->argument_count)];
    }
}

static bool draw_shaped(struct evaluation *evaluation, const struct script_expression *e,
                        int64_t lo, int64_t hi, double parameter, int64_t *out)
{
    struct random *random = evaluation->memory->random;
    if (e->op == SCRIPT_OP_RANDOM_GAUSSIAN) {
        *out = random_gaussian(random, lo, hi, parameter);
    } else if (e->op == SCRIPT_OP_RANDOM_EXPONENTIAL) {
        *out = random_exponential(random, lo, hi, parameter);
    } else {
        *out = random_zipfian(random, lo, hi, parameter);
    }
    return true;
}

static bool draw(struct evaluation *evaluation, const struct script_expression *e, int64_t *out)
{
    int64_t lo, hi;
    double parameter = 0;
    if (!integer_operand(evaluation, &e->arguments[0], &lo) ||
        !integer_operand(evaluation, &e->arguments[1], &hi)) {
        return false;
    }
    if (__builtin_expect(lo > hi, 0)) {
        return evaluation_fail(evaluation, e->place, "empty range: the low end is above the high");
    }
    if (e->op != SCRIPT_OP_RANDOM) {
        if (!real_of(evaluation, &e->arguments[2], &parameter)) {
            return false;
        }
        const char *wrong = operation_parameter_fault(e->op, parameter);
        if (wrong != NULL) {
            return evaluation_fail(evaluation, e->arguments[2].place, wrong);
        }
    }
    switch (evaluation->draw) {
    case SCRIPT_DRAW_LOW:
        *out = lo;
        return true;
    case SCRIPT_DRAW_HIGH:
        *out = hi;
        return true;
    case SCRIPT_DRAW_BEYOND:
        *out = hi < SCRIPT_INTEGER_MAX ? hi + 1 : hi;
        return true;
    default:
        break;
    }
    if (e->op == SCRIPT_OP_RANDOM) {
        *out = lo + (int64_t)random_below(evaluation->memory->random, (uint64_t)(hi - lo) + 1);
        return true;
    }
    return draw_shaped(evaluation, e, lo, hi, parameter, out);
}

/* Characters: bytes that do not continue one. */
static int64_t text_characters(const struct value *text)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < text->length; i++) {
        count += ((unsigned char)text->bytes[i] & 0xC0) != 0x80;
    }
    return count;
}

static bool integer_extreme(struct evaluation *evaluation, const struct script_expression *e,
                            int64_t *out)
{
    if (!integer_operand(evaluation, &e->arguments[0], out)) {
        return false;
    }
    for (uint32_t i = 1; i < e->argument_count; i++) {
        int64_t other;
        if (!integer_operand(evaluation, &e->arguments[i], &other)) {
            return false;
        }
        if (e->op == SCRIPT_OP_MIN ? other < *out : other > *out) {
            *out = other;
        }
    }
    return true;
}

static bool rounded(struct evaluation *evaluation, const struct script_expression *e, int64_t *out)
{
    double value;
    if (!real_of(evaluation, &e->arguments[0], &value)) {
        return false;
    }
    value = rint(value); /* half to even, as pgbench does */
    if (!(value >= (double)-SCRIPT_INTEGER_MAX && value <= (double)SCRIPT_INTEGER_MAX)) {
        return evaluation_fail(evaluation, e->place,
                               "overflow: int() of a number beyond ±9007199254740991 (2^53 - 1)");
    }
    *out = (int64_t)value;
    return true;
}

bool integer_of(struct evaluation *evaluation, const struct script_expression *e, int64_t *out)
{
    const struct script_expression *pick;
    struct value text;
    switch (e->op) {
    case SCRIPT_OP_CONSTANT:
        *out = e->constant.integer;
        return true;
    case SCRIPT_OP_VARIABLE:
        *out = evaluation->variables[e->variable].integer;
        return true;
    case SCRIPT_OP_RANDOM:
    case SCRIPT_OP_RANDOM_GAUSSIAN:
    case SCRIPT_OP_RANDOM_EXPONENTIAL:
    case SCRIPT_OP_RANDOM_ZIPFIAN:
        return draw(evaluation, e, out);
    case SCRIPT_OP_NEGATE:
        if (!integer_operand(evaluation, &e->arguments[0], out)) {
            return false;
        }
        *out = -*out;
        return true;
    case SCRIPT_OP_ADD:
    case SCRIPT_OP_SUBTRACT:
    case SCRIPT_OP_MULTIPLY:
    case SCRIPT_OP_DIVIDE:
    case SCRIPT_OP_MODULO:
        return integer_arithmetic(evaluation, e, out);
    case SCRIPT_OP_IF:
    case SCRIPT_OP_CHOICE:
        pick = picked(evaluation, e);
        return pick != NULL && integer_operand(evaluation, pick, out);
    case SCRIPT_OP_LENGTH:
        if (!text_of(evaluation, &e->arguments[0], &text)) {
            return false;
        }
        *out = text_characters(&text);
        return true;
    case SCRIPT_OP_MIN:
    case SCRIPT_OP_MAX:
        return integer_extreme(evaluation, e, out);
    case SCRIPT_OP_INT:
        return e->arguments[0].type == SCRIPT_INTEGER
                   ? integer_of(evaluation, &e->arguments[0], out)
                   : rounded(evaluation, e, out);
    default:
        return compare(evaluation, e, out);
    }
}

static bool real_arithmetic(struct evaluation *evaluation, const struct script_expression *e,
                            double *out)
{
    double a, b;
    if (!real_of(evaluation, &e->arguments[0], &a) || !real_of(evaluation, &e->arguments[1], &b)) {
        return false;
    }
    switch (e->op) {
    case SCRIPT_OP_ADD:
        *out = a + b;
        break;
    case SCRIPT_OP_SUBTRACT:
        *out = a - b;
        break;
    case SCRIPT_OP_MULTIPLY:
        *out = a * b;
        break;
    default:
        if (b == 0) {
            return evaluation_fail(evaluation, e->place, "division by zero");
        }
        *out = a / b;
        break;
    }
    return isfinite(*out) ||
           evaluation_fail(evaluation, e->place, "overflow: a double beyond 1.797e308");
}

static bool real_extreme(struct evaluation *evaluation, const struct script_expression *e,
                         double *out)
{
    if (!real_of(evaluation, &e->arguments[0], out)) {
        return false;
    }
    for (uint32_t i = 1; i < e->argument_count; i++) {
        double other;
        if (!real_of(evaluation, &e->arguments[i], &other)) {
            return false;
        }
        if (e->op == SCRIPT_OP_MIN ? other < *out : other > *out) {
            *out = other;
        }
    }
    return true;
}

bool real_of(struct evaluation *evaluation, const struct script_expression *e, double *out)
{
    if (e->type == SCRIPT_INTEGER) {
        int64_t integer;
        if (!integer_operand(evaluation, e, &integer)) {
            return false;
        }
        *out = (double)integer;
        return true;
    }
    const struct script_expression *pick;
    switch (e->op) {
    case SCRIPT_OP_CONSTANT:
        *out = e->constant.real;
        return true;
    case SCRIPT_OP_VARIABLE:
        *out = evaluation->variables[e->variable].real;
        return true;
    case SCRIPT_OP_NEGATE:
        if (!real_of(evaluation, &e->arguments[0], out)) {
            return false;
        }
        *out = -*out;
        return true;
    case SCRIPT_OP_IF:
    case SCRIPT_OP_CHOICE:
        pick = picked(evaluation, e);
        return pick != NULL && real_of(evaluation, pick, out);
    case SCRIPT_OP_MIN:
    case SCRIPT_OP_MAX:
        return real_extreme(evaluation, e, out);
    case SCRIPT_OP_DOUBLE:
        return real_of(evaluation, &e->arguments[0], out);
    default:
        return real_arithmetic(evaluation, e, out);
    }
}

struct format_run {
    struct value values[FORMAT_ARGUMENTS_MAX];
    size_t bound; /* bytes that the result cannot exceed */
};

static bool format_arguments(struct evaluation *evaluation, const struct script_expression *e,
                             struct format_run *run)
{
    run->bound = e->arguments[0].constant.length;
    for (uint32_t i = 1; i < e->argument_count; i++) {
        struct value *value = &run->values[i - 1];
        if (e->arguments[i].type == SCRIPT_TEXT) {
            if (!text_of(evaluation, &e->arguments[i], value)) {
                return false;
            }
            run->bound += value->length;
        } else {
            value->type = VALUE_INTEGER;
            if (!integer_operand(evaluation, &e->arguments[i], &value->integer)) {
                return false;
            }
            run->bound += FORMAT_INTEGER_SIZE;
        }
    }
    return true;
}

static bool format_text(struct evaluation *evaluation, const struct script_expression *e,
                        struct value *out)
{
    struct format_run run;
    if (!format_arguments(evaluation, e, &run)) {
        return false;
    }
    char *start = arena_take(evaluation, run.bound, e->place);
    if (start == NULL) {
        return false;
    }
    char *to = start;
    const char *at = e->arguments[0].constant.bytes;
    const char *end = at + e->arguments[0].constant.length;
    const struct value *value = run.values;
    struct format_piece piece;
    while (format_next(&at, end, &piece)) {
        if (piece.kind == FORMAT_LITERAL) {
            memcpy(to, piece.bytes, piece.length);
            to += piece.length;
            continue;
        }
        if (value->type == VALUE_TEXT) {
            memcpy(to, value->bytes, value->length);
            to += value->length;
        } else {
            to += format_integer(to, &piece, value->integer);
        }
        value++;
    }
    size_t length = (size_t)(to - start);
    evaluation->memory->arena_used -= run.bound - length;
    *out = (struct value){.type = VALUE_TEXT, .length = (uint32_t)length, .bytes = start};
    return true;
}

bool text_of(struct evaluation *evaluation, const struct script_expression *e, struct value *out)
{
    const struct script_expression *pick;
    switch (e->op) {
    case SCRIPT_OP_CONSTANT:
        *out = e->constant;
        return true;
    case SCRIPT_OP_VARIABLE:
        *out = evaluation->variables[e->variable];
        return true;
    case SCRIPT_OP_FORMAT:
        return format_text(evaluation, e, out);
    default:
        pick = picked(evaluation, e);
        return pick != NULL && text_of(evaluation, pick, out);
    }
}
