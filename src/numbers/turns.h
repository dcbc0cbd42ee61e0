/* How long a group of lines goes on, and who comes first in a round. */
#ifndef PITOT_NUMBERS_TURNS_H
#define PITOT_NUMBERS_TURNS_H

#include "base/random.h"
#include "numbers/numbers.h"

#include <stdbool.h>
#include <stddef.h>

struct turns {
    const struct numbers_watch *watch;
    const char *group;
    uint64_t start_ns, length_ns, told_ns;
    uint64_t rounds;
    struct random random; /* of the order */
};

void turns_begin(struct turns *turns, const struct numbers_plan *plan,
                 const struct numbers_watch *watch, const char *group);

/* True for the next round: until the length is over, but at least TURNS_ROUNDS_MIN times. */
enum { TURNS_ROUNDS_MIN = 10 };
bool turns_next(struct turns *turns);

/* The numbers below `count`, each once, in an order drawn anew. */
void turns_order(struct turns *turns, size_t *order, size_t count);

#endif
