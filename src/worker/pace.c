#include "worker/pace.h"

#include "core/clock.h"

#include <sys/prctl.h>

/* A sleep is cut into such slices, so that `stop` is seen. */
#define SLICE_NS (50 * NS_PER_MS)
/* A step of early_ns: one up for a sleep that ended late weighs as much as nine down. */
#define EARLY_STEP_NS UINT64_C(500)
#define EARLY_FIRST_NS (30 * NS_PER_US)
/* Doubles above this are no moments: centuries away. */
#define FAR_NS 4e18

void pace_prepare_thread(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void pace_next(struct pace *pace)
{
    pace->sum_ns += random_gap(&pace->random) * pace->mean_ns;
    pace->sum_ns = pace->sum_ns < FAR_NS ? pace->sum_ns : FAR_NS;
    pace->due_ns = pace->start_ns + (uint64_t)pace->sum_ns;
}

void pace_start(struct pace *pace, uint32_t seed, uint32_t connection, double mean_ns,
                uint64_t start_ns)
{
    random_init(&pace->random, seed, RANDOM_PACING, connection, 0);
    pace->mean_ns = mean_ns;
    pace->sum_ns = 0;
    pace->start_ns = start_ns;
    pace->early_ns = EARLY_FIRST_NS;
    pace_next(pace);
}

/* Sleeps until about early_ns before a moment that is further away, and learns from it. */
static void sleep_until_early(struct pace *pace, uint64_t until_ns)
{
    clock_sleep_until_ns(until_ns - pace->early_ns);
    if (clock_now_ns() > until_ns) {
        pace->early_ns += 9 * EARLY_STEP_NS;
        pace->early_ns = pace->early_ns < PACE_EARLY_MAX_NS ? pace->early_ns : PACE_EARLY_MAX_NS;
    } else if (pace->early_ns > EARLY_STEP_NS) {
        pace->early_ns -= EARLY_STEP_NS;
    }
}

static bool stopped(const atomic_bool *stop)
{
    return atomic_load_explicit(stop, memory_order_relaxed);
}

void pace_wait(struct pace *pace, uint64_t limit_ns, const atomic_bool *stop)
{
    uint64_t until_ns = pace->due_ns < limit_ns ? pace->due_ns : limit_ns;
    uint64_t now = clock_now_ns();
    while (until_ns > now && until_ns - now > SLICE_NS && !stopped(stop)) {
        clock_sleep_until_ns(now + SLICE_NS);
        now = clock_now_ns();
    }
    if (now >= until_ns || stopped(stop)) {
        return;
    }
    if (until_ns - now > pace->early_ns) {
        sleep_until_early(pace, until_ns);
    } else if (pace->sharing_cores) {
        clock_sleep_until_ns(until_ns);
    }
    while (clock_now_ns() < until_ns && !stopped(stop)) {
    }
}

uint64_t pace_backlog(struct pace *pace, uint64_t until_ns, uint64_t count_max)
{
    uint64_t count = 0;
    while (pace->due_ns < until_ns && count < count_max) {
        pace_next(pace);
        count++;
    }
    if (pace->due_ns < until_ns) {
        count += 1 + (uint64_t)((double)(until_ns - pace->due_ns) / pace->mean_ns);
    }
    return count;
}
