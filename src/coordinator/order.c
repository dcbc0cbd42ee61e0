#include "coordinator/order.h"

#include "base/random.h"

/* Fisher and Yates. */
static void shuffle(struct random *random, size_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = i;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)random_below(random, i);
        size_t kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}

void order_of_round(uint32_t seed, size_t engines, size_t round, size_t plan_case, size_t *order)
{
    struct random random;
    /* Each square has a stream of its own: even numbers are for orders, odd ones for seeds. */
    random_init(&random, seed, RANDOM_ORDER, (uint32_t)(round / engines), 2 * (uint32_t)plan_case);
    shuffle(&random, order, engines); /* the rows of the square */
    size_t rotation = order[round % engines];
    shuffle(&random, order, engines); /* the order that they rotate */
    for (size_t turn = 0; turn < rotation; turn++) {
        size_t first = order[0];
        for (size_t i = 0; i + 1 < engines; i++) {
            order[i] = order[i + 1];
        }
        order[engines - 1] = first;
    }
}

uint32_t order_seed(uint32_t seed, size_t round, size_t plan_case)
{
    struct random random;
    if (round == 0 && plan_case == 0) {
        return seed;
    }
    random_init(&random, seed, RANDOM_ORDER, (uint32_t)round, 2 * (uint32_t)plan_case + 1);
    return random_next(&random);
}
