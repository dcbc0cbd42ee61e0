/* What the evaluator's files share. */
#ifndef PITOT_SCRIPT_EVALUATE_INTERNAL_H
#define PITOT_SCRIPT_EVALUATE_INTERNAL_H

#include "script/script.h"

/* Longest text, and all texts of one draw together. */
enum { TEXT_LENGTH_MAX = 1000000, TEXT_TOTAL_MAX = 64 << 20 };

/* A block of the arena in which format() writes. Blocks never move, so texts stay
 * valid until the next draw, which puts one block in the place of several. */
struct arena_block {
    struct arena_block *next;
    char bytes[];
};

struct kept_texts {
    char *bytes;
    size_t capacity;
};

struct evaluation_memory {
    struct random *random; /* of the draw that runs */
    struct error *error;
    uint32_t call_capacity, value_capacity;
    uint32_t turns; /* of all \repeat of this draw */
    struct arena_block *arena;
    size_t arena_used, arena_capacity; /* of the newest block */
    size_t arena_total;                /* of all blocks */
    uint32_t *set;                     /* variables of \set, and those of them that are texts */
    uint32_t set_count;
    uint32_t *texts;
    uint32_t text_count;
    struct kept_texts kept[2]; /* what blocks hand to later blocks */
    unsigned newest_kept;
};

/* Each evaluates an expression of its type (real_of: any number). False: failed,
 * error and failed_at are set. */
bool integer_of(struct evaluation *evaluation, const struct script_expression *e, int64_t *out);
bool real_of(struct evaluation *evaluation, const struct script_expression *e, double *out);
bool text_of(struct evaluation *evaluation, const struct script_expression *e, struct value *out);

bool evaluation_fail(struct evaluation *evaluation, struct script_place place, const char *message);
/* Room for a text in the arena; NULL: failed. */
char *arena_take(struct evaluation *evaluation, size_t length, struct script_place place);

/* Evaluates an operation whose arguments are all constants. */
int expression_fold(const char *file, struct script_expression *expression, struct error *error);

#endif
