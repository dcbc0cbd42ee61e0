#include "coordinator/conditions.h"

#include "coordinator/interrupt.h"
#include "core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_WAITS_S = 30, LATER_WAITS_S = 2, PATIENCE = 2, POLL_MS = 50 };

static uint64_t real_dirty_bytes(void *context)
{
    (void)context;
    return usage_dirty_bytes();
}

static uint64_t real_now_ns(void *context)
{
    (void)context;
    return clock_now_ns();
}

static void real_pause(void *context, uint64_t ns)
{
    (void)context;
    struct pollfd fd = {.fd = interrupt_fd(), .events = POLLIN};
    poll(&fd, 1, (int)(ns / NS_PER_MS));
}

void conditions_init_with(struct conditions *conditions, const struct conditions_source *source)
{
    conditions->source = *source;
    conditions->dirty_at_start = source->dirty_bytes(source->context);
    conditions->timeouts = 0;
}

void conditions_init(struct conditions *conditions)
{
    const struct conditions_source source = {real_dirty_bytes, real_now_ns, real_pause, NULL};
    conditions_init_with(conditions, &source);
}

bool conditions_settle(struct conditions *conditions, uint64_t *dirty)
{
    const struct conditions_source *source = &conditions->source;
    uint64_t patience = conditions->timeouts < PATIENCE ? FIRST_WAITS_S : LATER_WAITS_S;
    uint64_t until = source->now_ns(source->context) + patience * NS_PER_S;
    *dirty = USAGE_ABSENT;
    if (conditions->dirty_at_start == USAGE_ABSENT) {
        return true;
    }
    for (;;) {
        uint64_t now_dirty = source->dirty_bytes(source->context);
        if (now_dirty == USAGE_ABSENT) {
            return true;
        }
        *dirty =
            now_dirty > conditions->dirty_at_start ? now_dirty - conditions->dirty_at_start : 0;
        if (*dirty <= CONDITIONS_DIRTY_MAX) {
            return true;
        }
        if (interrupt_requested()) {
            return false;
        }
        if (source->now_ns(source->context) >= until) {
            conditions->timeouts++;
            return false;
        }
        source->pause(source->context, POLL_MS * NS_PER_MS);
    }
}

int conditions_read_through(const char *path, struct error *error)
{
    enum { PART = 1 << 20 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_errno(error, errno, "cannot read %s", path);
    }
    char *part = malloc(PART);
    int status = part == NULL ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
    while (status == 0 && !interrupt_requested()) {
        ssize_t got = read(fd, part, PART);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            status = error_errno(error, errno, "cannot read %s", path);
        }
    }
    free(part);
    close(fd);
    return status;
}

/* The kernel counts in ticks of 10 ms a core: below a hundred of them shares are noise. */
#define LEAST_WATCHED_NS 1e9

static uint64_t cpu_of_all_ns(const int *pids, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t cpu_ns = usage_process_cpu_ns(pids[i]);
        if (cpu_ns == USAGE_ABSENT) {
            return USAGE_ABSENT;
        }
        sum += cpu_ns;
    }
    return sum;
}

void conditions_watch_begin(struct conditions_watch *watch, const int *pids, size_t count)
{
    watch->known = usage_machine_now(&watch->machine) == 0;
    watch->workers_cpu_ns = cpu_of_all_ns(pids, count);
    watch->own_cpu_ns = usage_process_cpu_ns((int)getpid());
}

void conditions_watch_end(const struct conditions_watch *watch, const int *pids, size_t count,
                          double *others, double *steal)
{
    struct usage_machine now;
    *others = NAN;
    *steal = NAN;
    if (!watch->known || usage_machine_now(&now) != 0 || now.total_ns <= watch->machine.total_ns) {
        return;
    }
    double total = (double)(now.total_ns - watch->machine.total_ns);
    if (total < LEAST_WATCHED_NS) {
        return;
    }
    *steal = (double)(now.steal_ns - watch->machine.steal_ns) / total;
    uint64_t workers = cpu_of_all_ns(pids, count);
    uint64_t own = usage_process_cpu_ns((int)getpid());
    if (workers == USAGE_ABSENT || own == USAGE_ABSENT || watch->workers_cpu_ns == USAGE_ABSENT ||
        watch->own_cpu_ns == USAGE_ABSENT) {
        return;
    }
    double busy = (double)(now.busy_ns - watch->machine.busy_ns);
    double ours = (double)(workers - watch->workers_cpu_ns) + (double)(own - watch->own_cpu_ns);
    *others = busy > ours ? (busy - ours) / total : 0;
}
