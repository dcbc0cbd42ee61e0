#include "coordinator/run_watch.h"

#include "base/file.h"
#include "core/clock.h"

#include <stdio.h>

uint64_t run_watch_size(const char *path, const char *suffix)
{
    char name[8192];
    int length = snprintf(name, sizeof name, "%s%s", path, suffix);
    int64_t size = length > 0 && (size_t)length < sizeof name ? file_size(name) : -1;
    return size < 0 ? RESULT_ABSENT : (uint64_t)size;
}

static uint64_t journal_size(const char *path)
{
    uint64_t wal = run_watch_size(path, "-wal");
    uint64_t log = run_watch_size(path, "-log");
    if (wal == RESULT_ABSENT) {
        return log;
    }
    return log == RESULT_ABSENT ? wal : wal + log;
}

void run_watch_end(struct run_watch *watch)
{
    if (watch->watching && !watch->watched) {
        conditions_watch_end(&watch->machine, watch->pids, watch->pid_count,
                             &watch->run->cpu_others, &watch->run->steal);
    }
    watch->watched = true;
}

/* The coordinator may have been held up: the moment counts, not how often it looked. */
static void keep_second(struct run_watch *watch, uint64_t now_ns, uint64_t wal_bytes)
{
    watch->seconds_seen = (now_ns - watch->at_ns) / NS_PER_S;
    struct result_second *second = result_list_add(&watch->run->seconds);
    if (second == NULL) {
        watch->out_of_memory = true;
        return;
    }
    second->at_s = (double)(now_ns - watch->at_ns) / 1e9;
    second->database_bytes = run_watch_size(watch->database, "");
    second->wal_bytes = wal_bytes;
}

void run_watch_look(void *context, uint64_t now_ns)
{
    struct run_watch *watch = context;
    if (!watch->watching) {
        watch->watching = true;
        conditions_watch_begin(&watch->machine, watch->pids, watch->pid_count);
        return;
    }
    if (watch->duration_ns != RESULT_ABSENT && now_ns >= watch->at_ns + watch->duration_ns) {
        run_watch_end(watch);
    }
    if (watch->database == NULL) {
        return;
    }
    uint64_t wal = journal_size(watch->database);
    struct result_run *run = watch->run;
    if (wal != RESULT_ABSENT &&
        (run->largest_wal_bytes == RESULT_ABSENT || wal > run->largest_wal_bytes)) {
        run->largest_wal_bytes = wal;
    }
    if (now_ns >= watch->at_ns + (watch->seconds_seen + 1) * NS_PER_S) {
        keep_second(watch, now_ns, wal);
    }
}
