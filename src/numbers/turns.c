#include "numbers/turns.h"

#include "core/clock.h"

void turns_begin(struct turns *turns, const struct numbers_plan *plan,
                 const struct numbers_watch *watch, const char *group)
{
    uint64_t now = clock_now_ns();
    *turns = (struct turns){.watch = watch,
                            .group = group,
                            .start_ns = now,
                            .length_ns = plan->length_ns,
                            .told_ns = now};
    random_init(&turns->random, 1, RANDOM_ORDER, 0, 0);
    watch->step(watch->context, group, 0, plan->length_ns);
}

bool turns_next(struct turns *turns)
{
    uint64_t now = clock_now_ns();
    uint64_t passed = now - turns->start_ns;
    if (now - turns->told_ns >= NS_PER_S) {
        turns->told_ns = now;
        turns->watch->step(turns->watch->context, turns->group,
                           passed < turns->length_ns ? passed : turns->length_ns, turns->length_ns);
    }
    return turns->rounds++ < TURNS_ROUNDS_MIN || passed < turns->length_ns;
}

void turns_order(struct turns *turns, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t other = (size_t)random_below(&turns->random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}
