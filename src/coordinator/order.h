/* In which order the engines of a round run in a case, and what they draw. */
#ifndef PITOT_COORDINATOR_ORDER_H
#define PITOT_COORDINATOR_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fills order[0 … engines - 1] with the engines of round `round` (from 0) in case `plan_case` (from
 * 0), in the order in which they run. The rounds of a case are the rows of a Latin square (the
 * rotations of one shuffled order), taken in shuffled order and shuffled anew for every square:
 * over `engines` rounds each engine has had each position once. A pure function of its arguments.
 */
void order_of_round(uint32_t seed, size_t engines, size_t round, size_t plan_case, size_t *order);

/* The seed of the workers of a round in a case (both from 0): every engine draws the same numbers
 * there, every round others, so that the spread over rounds holds the luck of the draw, and every
 * case others. Round 0 of case 0 has `seed` itself. */
uint32_t order_seed(uint32_t seed, size_t round, size_t plan_case);

#endif
