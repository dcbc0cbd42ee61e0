/*
 * Time. All durations and moments are nanoseconds of CLOCK_MONOTONIC in a
 * uint64_t and end in _ns; wall time is only ever a record.
 */
#ifndef PITOT_CORE_CLOCK_H
#define PITOT_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* Nanoseconds of CLOCK_MONOTONIC. Cannot fail on Linux. Any thread. */
static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* CPU time of the calling thread in nanoseconds. */
uint64_t clock_thread_cpu_ns(void);

/* Sleeps until the monotonic moment; returns at once when it is past. Goes on
 * sleeping after a signal. */
void clock_sleep_until_ns(uint64_t moment_ns);

/* Wall time as "2026-11-30T13:10:05Z" (UTC) into out, 21 bytes with the NUL. */
enum { CLOCK_UTC_SIZE = 21 };
void clock_utc(char out[CLOCK_UTC_SIZE]);

#endif
