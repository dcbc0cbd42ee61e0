/* Facts about the machine that a reader of the numbers needs. */
#ifndef PITOT_MEASURE_HOST_H
#define PITOT_MEASURE_HOST_H

#include <stdint.h>

/* Strings are owned, NULL when not known; host_release() frees them. Works on x86-64
 * (model name) and arm64 (implementer and part; the device tree's model). */
struct host {
    char *cpu_model;
    uint64_t cores, cores_online;
    char *virtual_machine; /* by the hypervisor flag, DMI, /sys/hypervisor, container marks */
    char *kernel;
    char *operating_system;
    uint64_t memory_total_bytes, memory_available_bytes;
    double load_average;
    char *clock_source;
    double clock_cost_ns;
    uint64_t clock_resolution_ns;
    char *file_system, *device; /* of `folder`, from /proc/self/mountinfo */
};

/* `folder` must exist. Cannot fail: what is not known stays NULL, 0 or NAN. */
void host_read(struct host *host, const char *folder);
void host_release(struct host *host);

/* The two facts whose sources differ between machines, out of texts given, so that they
 * can be tested everywhere. Results are new strings (free()) or NULL.
 * cpuinfo is /proc/cpuinfo, tree_model the device tree's model or NULL; mountinfo is
 * /proc/self/mountinfo, path absolute and without links. */
char *host_cpu_model(const char *cpuinfo, const char *tree_model);
void host_mount_of(const char *mountinfo, const char *path, char **file_system, char **device);

/* Cores that the affinity mask leaves to this process. */
uint64_t host_cores(void);

/* Median cost of one clock_now_ns() in ns over several batches. */
double host_clock_cost_ns(void);

#endif
