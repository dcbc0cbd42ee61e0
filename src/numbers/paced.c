#include "numbers/paced.h"

#include "core/clock.h"

#include <sys/prctl.h>

#define INTERVAL_NS NS_PER_MS
/* Neighbours in time are far apart in the table. */
#define STRIDE INT64_C(7919)

void paced_reset(struct paced *paced)
{
    paced->due = paced->missed = paced->busy = 0;
    histogram_reset(&paced->latency);
    histogram_reset(&paced->service);
}

int paced_run(struct paced *paced, uint64_t length_ns, int64_t ids, paced_read *read, void *context,
              struct error *error)
{
    /* By default the kernel may wake a thread 50 µs late. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    uint64_t start = clock_now_ns() + INTERVAL_NS;
    uint64_t count = length_ns / INTERVAL_NS;
    int status = 0;
    paced->due += count;
    for (uint64_t i = 0; i < count && status == 0; i++) {
        uint64_t due = start + i * INTERVAL_NS;
        if (clock_now_ns() >= start + length_ns) {
            paced->missed += count - i;
            break;
        }
        clock_sleep_until_ns(due);
        bool busy = false;
        uint64_t began = clock_now_ns();
        status = read(context, (int64_t)i * STRIDE % ids, &busy, error);
        uint64_t ended = clock_now_ns();
        if (busy) {
            paced->busy++;
        } else if (status == 0) {
            histogram_add(&paced->latency, ended - due);
            histogram_add(&paced->service, ended - began);
        }
    }
    return status;
}
