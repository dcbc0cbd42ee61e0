#include "core/clock.h"

#include <errno.h>
#include <string.h>

uint64_t clock_thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void clock_sleep_until_ns(uint64_t moment_ns)
{
    /* An absolute sleep: a signal in between does not make it longer. */
    struct timespec moment = {.tv_sec = (time_t)(moment_ns / NS_PER_S),
                              .tv_nsec = (long)(moment_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR) {
    }
}

void clock_utc(char out[CLOCK_UTC_SIZE])
{
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) == NULL ||
        strftime(out, CLOCK_UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc) != CLOCK_UTC_SIZE - 1) {
        /* A wall clock set outside the years 1000 to 9999. */
        memcpy(out, "0000-00-00T00:00:00Z", CLOCK_UTC_SIZE);
    }
}
