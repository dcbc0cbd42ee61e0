/*
 * The result of a command as plain data. The coordinator fills it, figures over
 * rounds are computed once (src/statistics/), printers only read it.
 *
 * Conventions: strings are owned by the result and NULL when absent; a double
 * that could not be measured is NAN, a 64-bit figure that could not is
 * RESULT_ABSENT; both are null in JSON, an empty field in CSV and "–" in tables.
 * shape.c holds one field table a struct, which drives freeing, writing and reading;
 * docs/result-schema.md and docs/result.schema.json describe the file.
 */
#ifndef PITOT_RESULT_RESULT_H
#define PITOT_RESULT_RESULT_H

#include "core/error.h"
#include "core/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_VERSION 1
#define RESULT_ABSENT UINT64_MAX

/* A growing array of owned things: items, count. */
#define RESULT_LIST(type)                                                                          \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count;                                                                              \
    }

typedef RESULT_LIST(char *) result_strings;

struct result_pair {
    char *name;
    char *value;
};
typedef RESULT_LIST(struct result_pair) result_pairs;

struct result_warning {
    char *subject; /* an engine's name, a script's, or NULL for the whole run */
    char *text;
};
typedef RESULT_LIST(struct result_warning) result_warnings;

struct result_host {
    char *cpu_model;
    uint64_t cores; /* usable by this process (sched_getaffinity) */
    uint64_t cores_online;
    char *virtual_machine;  /* "kvm", "none", NULL when not known */
    char *kernel;           /* "Linux 6.1.0-… x86_64" */
    char *operating_system; /* PRETTY_NAME */
    uint64_t memory_total_bytes;
    uint64_t memory_available_bytes;
    double load_average;  /* one minute, describes the host only */
    char *clock_source;   /* "tsc", "kvm-clock", … */
    double clock_cost_ns; /* one clock_gettime, median of many */
    uint64_t clock_resolution_ns;
    char *data_folder;
    char *file_system; /* "ext4", "tmpfs", … of the data folder */
    char *device;      /* mount source */
};

/* What was asked for. */
struct result_plan {
    char *suite;
    char *suite_folder; /* NULL: built in */
    char *suite_hash;   /* 16 hex digits */
    char *scale;
    char *scenario;
    result_pairs variables;
    uint64_t threads;
    uint64_t duration_ns;       /* RESULT_ABSENT when by operations */
    uint64_t operations;        /* RESULT_ABSENT when by duration */
    uint64_t warmup_ns;         /* RESULT_ABSENT when by operations */
    uint64_t warmup_operations; /* RESULT_ABSENT when by time */
    int64_t cache_size;         /* as PRAGMA cache_size takes it */
    uint64_t busy_timeout_ms;
    uint64_t grace_ns;
    uint64_t latency_limit_ns;
    uint64_t max_tries;
    uint64_t rounds;
    uint64_t seed;
    result_pairs settings; /* applied to every connection, in order */
};

struct result_template {
    char *path;
    char *identity; /* the hash in its name */
    uint64_t bytes;
    bool reused;
    double build_seconds; /* NAN when reused */
    char *engine;         /* that built it */
    char *engine_version;
};

struct result_library {
    char *asked; /* as named on the command line or in the manifest */
    char *real;  /* file in which the functions called lie */
};

struct result_setting {
    char *name;
    char *asked;
    char *got; /* NULL: the engine returns nothing for it */
    bool required;
    bool agrees;
};
typedef RESULT_LIST(struct result_setting) result_settings;

struct result_latency {
    struct histogram *histogram; /* NULL while nothing was measured */
};

/* One script of one role in one run. attempted is the sum of the six outcomes. */
struct result_script {
    char *role;
    char *script;
    bool write;
    uint64_t operations_each; /* operations an execution counts for */
    uint64_t attempted, ok, busy, conflict, failed, skipped, open;
    uint64_t retries;
    uint64_t rows_read, rows_changed; /* of ok executions */
    uint64_t time_ns;                 /* sum over all attempts, ok or not */
    uint64_t slow;                    /* ok executions over the latency limit */
    struct result_latency latency;    /* of ok executions */
    result_strings errors;            /* distinct messages of failed ones */
};
typedef RESULT_LIST(struct result_script) result_scripts;

struct result_connection {
    uint64_t connection;
    char *role;
    uint64_t operations; /* ok executions */
    uint64_t cpu_ns;
    uint64_t run_queue_ns; /* waited for a core, schedstat */
    uint64_t slept_ns;     /* slept waiting for locks; RESULT_ABSENT: n/a */
    uint64_t waits;
    result_settings settings; /* read back */
};
typedef RESULT_LIST(struct result_connection) result_connections;

/* One point a second from go; `operations` and `slow` by script, in the order of
 * result_run.scripts. */
struct result_second {
    double at_s; /* end of the interval since go */
    RESULT_LIST(uint64_t) operations;
    RESULT_LIST(uint64_t) slow;
    uint64_t database_bytes; /* stat(2); RESULT_ABSENT: not seen */
    uint64_t wal_bytes;      /* -wal or -log */
};

/* One engine in one round. */
struct result_run {
    uint64_t round;     /* from 1 */
    uint64_t position;  /* in the round, from 1 */
    char *status;       /* "ok", "partial", "failed" */
    char *error;        /* NULL when ok */
    result_strings log; /* last lines of the worker's own output when it failed */
    uint64_t window_ns; /* go to the end of the last operation */
    uint64_t cpu_user_ns, cpu_system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t read_bytes, write_bytes; /* asked of the storage layer in the window */
    uint64_t close_ns;                /* closing all connections, its checkpoint included */
    uint64_t peak_memory_bytes;       /* VmHWM */
    uint64_t largest_wal_bytes;
    uint64_t final_bytes; /* database after close */
    double cpu_others;    /* share of all cores used by others in the window, 0 to 1 */
    double steal;         /* share stolen by the hypervisor, 0 to 1 */
    double resident;      /* share of the copy in the page cache at go, 0 to 1 */
    uint64_t dirty_bytes; /* Dirty + Writeback above its value at the start, at go */
    uint64_t warmup_operations;
    uint64_t warmup_ns;
    result_connections connections;
    result_scripts scripts;
    RESULT_LIST(struct result_second) seconds;
};

/* Percentile points that every summary holds, in this order. */
#define RESULT_POINTS(X)                                                                           \
    X(p50, "p50", 50, 100)                                                                         \
    X(p90, "p90", 90, 100)                                                                         \
    X(p95, "p95", 95, 100)                                                                         \
    X(p99, "p99", 99, 100)                                                                         \
    X(p99_9, "p99.9", 999, 1000)                                                                   \
    X(p99_99, "p99.99", 9999, 10000)

enum result_point {
#define X(id, label, numerator, denominator) RESULT_POINT_##id,
    RESULT_POINTS(X)
#undef X
        RESULT_POINT_COUNT
};

/* A figure over rounds: the median of the rounds' figures and their range. All
 * NAN when no round could measure it. */
struct result_figure {
    double median, min, max;
};

struct result_script_summary {
    char *role;
    char *script;
    bool write;
    uint64_t attempted, ok, busy, conflict, failed, skipped, open, retries; /* all rounds */
    struct result_figure operations_per_second;
    struct result_figure mean_ns;
    struct result_figure min_ns, max_ns;
    struct result_figure points_ns[RESULT_POINT_COUNT];
    bool point_thin[RESULT_POINT_COUNT]; /* fewer than 10 samples above it in a round */
    struct result_figure time_share;     /* share of the connections' time, 0 to 1 */
    struct result_figure rows_read_each, rows_changed_each;
    struct result_figure slow;
    struct result_latency latency; /* merged over rounds: the curve */
};

struct result_summary {
    uint64_t rounds_ok;
    struct result_figure reads_per_second, writes_per_second, operations_per_second;
    struct result_figure cpu_per_operation_ns;
    struct result_figure peak_memory_bytes, write_bytes, largest_wal_bytes, final_bytes;
    struct result_figure slept_ns; /* all connections; NAN: n/a */
    struct result_figure run_queue_ns;
    struct result_figure close_ns;
    uint64_t attempted, ok, busy, conflict, failed, skipped, open, retries; /* all rounds */
    RESULT_LIST(struct result_script_summary) scripts;
};

struct result_engine {
    char *name;   /* as the user called it, unique in a result */
    char *driver; /* "sqlite", "null", or a command's name */
    char *version;
    char *source_id;
    char *sync_call;
    RESULT_LIST(struct result_library) libraries;
    result_strings compile_options;
    result_strings known_faults;
    char *status; /* "ok", "partial", "failed" */
    char *error;  /* first failure of a run, or why nothing could run */
    RESULT_LIST(struct result_run) runs;
    struct result_summary summary;
};

struct result {
    uint64_t version; /* RESULT_VERSION */
    char *pitot_version;
    char *build;   /* "release", "debug", "asan", … */
    char *command; /* "prod" */
    result_strings command_line;
    char *started; /* UTC */
    double elapsed_s;
    bool partial; /* ended early */
    struct result_host host;
    struct result_plan plan;
    struct result_template template;
    result_warnings warnings;
    RESULT_LIST(struct result_engine) engines;
};

/* A new empty result: absent figures absent, lists empty. NULL: out of memory. */
struct result *result_new(void);
void result_free(struct result *result);

/* Sets a run, engine or summary to its empty state (inside a zeroed array). */
void result_run_init(struct result_run *run);
void result_engine_init(struct result_engine *engine);
void result_summary_init(struct result_summary *summary);
/* Frees what a summary owns and leaves it in its empty state. */
void result_summary_release(struct result_summary *summary);

/* Appends a zeroed item to a list and gives its address, or NULL (out of memory):
 *     struct result_run *run = result_list_add(&engine->runs); */
#define result_list_add(list)                                                                      \
    result_list_grow((void **)&(list)->items, &(list)->count, sizeof(*(list)->items))
void *result_list_grow(void **items, size_t *count, size_t item_size);

/* printf into a new string. NULL: out of memory. */
char *result_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds a warning unless the same one is there. 0 or ERROR_MEMORY. */
int result_warn(struct result *result, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
