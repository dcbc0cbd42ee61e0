/* What the kernel counts about this process, its threads and the machine. */
#ifndef PITOT_MEASURE_USAGE_H
#define PITOT_MEASURE_USAGE_H

#include "core/error.h"

#include <stdint.h>

#define USAGE_ABSENT UINT64_MAX

/* A snapshot of the calling process; a window is the difference of two. Figures that
 * the kernel does not give are USAGE_ABSENT, and so is their difference. */
struct usage {
    uint64_t cpu_user_ns, cpu_system_ns; /* getrusage */
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t read_bytes, write_bytes; /* /proc/self/io: storage layer */
};
void usage_now(struct usage *usage);
struct usage usage_between(const struct usage *from, const struct usage *to);

/* VmHWM of /proc/self/status in bytes, USAGE_ABSENT if not there. */
uint64_t usage_peak_memory(void);

/* Run-queue wait of the calling thread: second field of
 * /proc/thread-self/schedstat, ns. The file is opened once (usage_run_queue_open, -1 if
 * there is none) so that reading costs one pread. */
int usage_run_queue_open(void);
uint64_t usage_run_queue_ns(int fd);

/* Machine-wide CPU times from /proc/stat in ns, and of one process with its waited-for
 * children left out (utime + stime of /proc/PID/stat). */
struct usage_machine {
    uint64_t busy_ns; /* user, nice, system, irq, softirq */
    uint64_t steal_ns;
    uint64_t total_ns; /* all fields but guest: cores * wall */
};
int usage_machine_now(struct usage_machine *machine);
uint64_t usage_process_cpu_ns(int pid);

/* Dirty + Writeback of /proc/meminfo in bytes; USAGE_ABSENT if not there. */
uint64_t usage_dirty_bytes(void);

/* Share of a file's pages that are in the page cache (mincore on a mapping), 0 to
 * 1; NAN if it cannot be told. Opens and closes the file: never call it for a
 * database that this process has open through an engine. */
double usage_resident_share(const char *path);

#endif
