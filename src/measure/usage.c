#include "measure/usage.h"

#include "core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files read here are short or say what is wanted in their first bytes. On the
 * stack, since a snapshot must not allocate. */
enum { PROC_SIZE = 4096 };

static bool read_proc(const char *path, char out[PROC_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    size_t length = 0;
    ssize_t got = 0;
    while (length < PROC_SIZE - 1) {
        got = read(fd, out + length, PROC_SIZE - 1 - length);
        if (got > 0) {
            length += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            break;
        }
    }
    close(fd);
    out[length] = '\0';
    return got >= 0 && length > 0;
}

/* The number behind "name:" at the start of a line. */
static uint64_t named_number(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            const char *digits = line + length + 1;
            digits += strspn(digits, " \t");
            return *digits >= '0' && *digits <= '9' ? strtoull(digits, NULL, 10) : USAGE_ABSENT;
        }
    }
    return USAGE_ABSENT;
}

/* As named_number for a line that counts kB. */
static uint64_t named_bytes(const char *text, const char *name)
{
    uint64_t kibibytes = named_number(text, name);
    return kibibytes == USAGE_ABSENT ? USAGE_ABSENT : kibibytes * 1024;
}

static uint64_t timeval_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

void usage_now(struct usage *usage)
{
    struct rusage self;
    getrusage(RUSAGE_SELF, &self); /* cannot fail with these arguments */
    *usage = (struct usage){
        .cpu_user_ns = timeval_ns(&self.ru_utime),
        .cpu_system_ns = timeval_ns(&self.ru_stime),
        .minor_faults = (uint64_t)self.ru_minflt,
        .major_faults = (uint64_t)self.ru_majflt,
        .voluntary_switches = (uint64_t)self.ru_nvcsw,
        .involuntary_switches = (uint64_t)self.ru_nivcsw,
        .read_bytes = USAGE_ABSENT,
        .write_bytes = USAGE_ABSENT,
    };
    char text[PROC_SIZE];
    if (read_proc("/proc/self/io", text)) {
        usage->read_bytes = named_number(text, "read_bytes");
        usage->write_bytes = named_number(text, "write_bytes");
    }
}

/* A counter that went back was not measured. */
static uint64_t difference(uint64_t from, uint64_t to)
{
    return from == USAGE_ABSENT || to == USAGE_ABSENT || to < from ? USAGE_ABSENT : to - from;
}

struct usage usage_between(const struct usage *from, const struct usage *to)
{
    return (struct usage){
        .cpu_user_ns = difference(from->cpu_user_ns, to->cpu_user_ns),
        .cpu_system_ns = difference(from->cpu_system_ns, to->cpu_system_ns),
        .minor_faults = difference(from->minor_faults, to->minor_faults),
        .major_faults = difference(from->major_faults, to->major_faults),
        .voluntary_switches = difference(from->voluntary_switches, to->voluntary_switches),
        .involuntary_switches = difference(from->involuntary_switches, to->involuntary_switches),
        .read_bytes = difference(from->read_bytes, to->read_bytes),
        .write_bytes = difference(from->write_bytes, to->write_bytes),
    };
}

uint64_t usage_peak_memory(void)
{
    char text[PROC_SIZE];
    return read_proc("/proc/self/status", text) ? named_bytes(text, "VmHWM") : USAGE_ABSENT;
}

int usage_run_queue_open(void)
{
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

uint64_t usage_run_queue_ns(int fd)
{
    char text[96];
    ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (got <= 0) {
        return USAGE_ABSENT;
    }
    text[got] = '\0';
    uint64_t ran_ns, waited_ns, slices;
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran_ns, &waited_ns, &slices) != 3) {
        return USAGE_ABSENT;
    }
    /* A kernel that keeps no such account prints three zeros; but whoever reads this
     * has run at least once. */
    return slices == 0 ? USAGE_ABSENT : waited_ns;
}

static uint64_t tick_ns(void)
{
    long ticks = sysconf(_SC_CLK_TCK);
    return NS_PER_S / (uint64_t)(ticks > 0 ? ticks : 100);
}

int usage_machine_now(struct usage_machine *machine)
{
    char text[PROC_SIZE];
    /* user nice system idle iowait irq softirq steal; guest time is part of user. */
    uint64_t t[8];
    if (!read_proc("/proc/stat", text) ||
        sscanf(text,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8) {
        return ERROR_UNAVAILABLE;
    }
    uint64_t tick = tick_ns();
    uint64_t busy = t[0] + t[1] + t[2] + t[5] + t[6];
    *machine = (struct usage_machine){
        .busy_ns = busy * tick,
        .steal_ns = t[7] * tick,
        .total_ns = (busy + t[3] + t[4] + t[7]) * tick,
    };
    return 0;
}

uint64_t usage_process_cpu_ns(int pid)
{
    char path[64], text[PROC_SIZE];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (!read_proc(path, text)) {
        return USAGE_ABSENT;
    }
    /* The name in parentheses may itself hold spaces and parentheses. */
    const char *fields = strrchr(text, ')');
    uint64_t user, system;
    if (fields == NULL ||
        sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user,
               &system) != 2) {
        return USAGE_ABSENT;
    }
    return (user + system) * tick_ns();
}

uint64_t usage_dirty_bytes(void)
{
    char text[PROC_SIZE];
    if (!read_proc("/proc/meminfo", text)) {
        return USAGE_ABSENT;
    }
    uint64_t dirty = named_bytes(text, "Dirty");
    uint64_t writeback = named_bytes(text, "Writeback");
    return dirty == USAGE_ABSENT || writeback == USAGE_ABSENT ? USAGE_ABSENT : dirty + writeback;
}

/* Pages of a file in the page cache; false if the kernel will not say. Mapped part by
 * part, so that a large file needs no large vector. */
static bool count_resident(int fd, uint64_t size, uint64_t *pages, uint64_t *resident)
{
    const uint64_t part = UINT64_C(1) << 26; /* 64 MiB: 16384 pages of 4 KiB */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char in_core[16384];
    *pages = *resident = 0;
    for (uint64_t offset = 0; offset < size; offset += part) {
        size_t length = (size_t)(size - offset < part ? size - offset : part);
        size_t count = (size_t)((length + page - 1) / page);
        void *mapping = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)offset);
        if (mapping == MAP_FAILED) {
            return false;
        }
        int failed = mincore(mapping, length, in_core);
        munmap(mapping, length);
        if (failed) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            *resident += in_core[i] & 1u;
        }
        *pages += count;
    }
    return true;
}

double usage_resident_share(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return NAN;
    }
    double share = NAN;
    struct stat status;
    uint64_t pages, resident;
    /* To those who neither own a file nor may write it, mincore says that all is there. */
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (status.st_uid == geteuid() || access(path, W_OK) == 0) &&
        count_resident(fd, (uint64_t)status.st_size, &pages, &resident)) {
        share = (double)resident / (double)pages;
    }
    close(fd);
    return share;
}
