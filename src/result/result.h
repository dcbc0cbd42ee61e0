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
#include "result/basics.h"
#include "result/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_VERSION 2

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

/* What was asked for in all cases alike. */
struct result_plan {
    int64_t cache_size; /* as PRAGMA cache_size takes it */
    uint64_t busy_timeout_ms;
    uint64_t grace_ns;
    uint64_t latency_limit_ns;
    uint64_t max_tries;
    uint64_t rounds;
    uint64_t seed;
    result_pairs settings; /* applied to every connection, in order */
};

/* What an engine did without a rate, in a run outside of the comparison. */
struct result_closed_loop {
    char *engine;
    double operations_per_second;
};

/* One thing that is measured with every engine: a scenario of a suite on data of a scale, by so
 * many connections for so long. prod has one case, bench one a workload. */
struct result_case {
    char *label; /* unique in a result: "prod", "select-point", "write-contention ×4" */
    char *suite;
    char *suite_folder; /* NULL: built in */
    char *suite_hash;   /* 16 hex digits */
    char *scale;
    char *scenario;
    result_pairs variables;
    uint64_t threads;           /* what "N" connections of a role means */
    uint64_t duration_ns;       /* of one round; RESULT_ABSENT when by operations */
    uint64_t operations;        /* executions a connection; RESULT_ABSENT when by duration */
    uint64_t warmup_ns;         /* RESULT_ABSENT when by operations */
    uint64_t warmup_operations; /* RESULT_ABSENT when by time */
    double rate;                /* operations/s offered to all connections; NAN: closed loop */
    double rate_share;          /* of the slowest closed loop that `rate` is; NAN: given as it is */
    RESULT_LIST(struct result_closed_loop) closed_loops; /* that it was chosen by */
    char *isolation;   /* of the connections: "threads" or "processes" */
    uint64_t template; /* index into result.templates; RESULT_ABSENT: nothing is stored */
};

/* A database of which each run of a case got a copy. */
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
    struct result_latency latency;    /* of ok executions; from when they were due in open loops */
    struct result_latency service;    /* open loop: from its start; empty in a closed one */
    struct result_latency lag;        /* open loop: from when it was due until its start */
    /* Rows changed that the engine has committed, by statement; warm-up included. */
    RESULT_LIST(uint64_t) acknowledged;
    result_strings errors; /* distinct messages of failed ones */
};
typedef RESULT_LIST(struct result_script) result_scripts;

struct result_connection {
    uint64_t connection;
    char *role;
    uint64_t operations; /* ok executions */
    uint64_t
        window_ns; /* go to the end of its last operation; to the deadline if that was still open */
    uint64_t cpu_ns;
    uint64_t run_queue_ns; /* waited for a core, schedstat */
    uint64_t off_cpu_ns;   /* window - cpu - run queue; RESULT_ABSENT: its thread is not all */
    uint64_t slept_ns;     /* slept waiting for locks; RESULT_ABSENT: n/a */
    uint64_t waits;
    uint64_t late_ns;         /* from go to its first operation; RESULT_ABSENT: there was none */
    uint64_t offered;         /* executions that were due; RESULT_ABSENT: closed loop */
    uint64_t unstarted;       /* of these, never begun: the backlog at the end */
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

/* One table after a run. */
struct result_table_count {
    char *table;
    /* Rows of the template + acknowledged inserts - acknowledged deletes; RESULT_ABSENT when that
     * cannot be told, and `unchecked` says why. */
    uint64_t expected;
    uint64_t found; /* RESULT_ABSENT: the table is gone */
    char *unchecked;
};

/* What a fresh process of the same engine found in the copy after a run. */
struct result_check {
    char *kind;           /* "full", "quick", "counts"; NULL: nothing was checked */
    char *problem;        /* the first thing that is wrong; NULL: nothing is */
    char *second_opinion; /* the other engine that looked at the same files; NULL: none did */
    RESULT_LIST(struct result_table_count) counts;
    result_strings integrity; /* what the engine says: "ok", or the damage; empty for "counts" */
    uint64_t elapsed_ns;
};

/* One engine in one case in one round. */
struct result_run {
    uint64_t case_index; /* into result.cases */
    uint64_t round;      /* from 1 */
    uint64_t position;   /* in the round of the case, from 1 */
    /* In result_engine.aside, why it is in no figure: "again" (second run of the baseline engine in
     * the round), "disturbed" (by the host: its round was measured again), "broken off" (with the
     * round that should have replaced it); NULL in result_engine.runs. */
    char *aside;
    char *status;       /* "ok", "partial", "failed" */
    char *error;        /* NULL when ok */
    result_strings log; /* last lines of the worker's own output when it failed */
    uint64_t setup_ns;  /* copy to ready, without warm-up and the wait for a fair start */
    uint64_t window_ns; /* go to the end of the last operation */
    uint64_t cpu_user_ns, cpu_system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t read_bytes, write_bytes; /* asked of the storage layer in the window */
    uint64_t close_ns;                /* closing all connections, its checkpoint included */
    uint64_t peak_memory_bytes;       /* VmHWM */
    uint64_t largest_wal_bytes;
    uint64_t final_bytes; /* database after close */
    double cpu_others;    /* share of all cores used by others from go to the deadline, 0 to 1 */
    double steal;         /* share stolen by the hypervisor meanwhile, 0 to 1 */
    double resident;      /* share of the copy in the page cache at go, 0 to 1 */
    uint64_t dirty_bytes; /* Dirty + Writeback above its value at the start, before warm-up */
    uint64_t warmup_operations;
    uint64_t warmup_ns;
    result_connections connections;
    result_scripts scripts;
    RESULT_LIST(struct result_second) seconds;
    struct result_check check;
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

/* Times over rounds. */
struct result_times {
    struct result_figure mean_ns;
    struct result_figure min_ns, max_ns;
    struct result_figure points_ns[RESULT_POINT_COUNT];
    struct result_latency histogram; /* merged over rounds: the curve */
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
    struct result_latency latency; /* merged over rounds */
    /* Of `latency`, percentiles ascending: those that have a sample above them, and the largest as
     * 100. */
    result_curve curve;
    struct result_times service; /* open loop: the parts of a latency; empty in a closed one */
    struct result_times lag;
};

/* All connections of a role together. */
struct result_role_summary {
    char *role;
    uint64_t connections;                       /* in a run */
    struct result_figure operations_per_second; /* over the role's own window */
    /* That in relation to the engine's first case of the same scenario, round by round: what more
     * connections bring. NAN: no other case has the scenario. */
    struct result_figure scaling;
    /* Operations a second of the connection that did least, and most, over its own window; and
     * their ratio, 0 to 1. */
    struct result_figure least_served_per_second, most_served_per_second, fairness;
    struct result_figure cpu_per_operation_ns;               /* of the connections' threads */
    struct result_figure off_cpu_ns, slept_ns, run_queue_ns; /* sums over the connections */
    uint64_t attempted, ok, busy, conflict, failed, skipped, open, retries; /* all rounds */
};

/* An engine in one case over its rounds. */
struct result_summary {
    /* "ok", "partial", "failed", "differs", "unable" as of an engine; NULL: nothing was timed */
    char *status;
    char *error; /* first failure in the case, or why nothing could run; NULL: none */
    uint64_t rounds_ok;
    struct result_figure reads_per_second, writes_per_second, operations_per_second;
    struct result_figure cpu_per_operation_ns;
    struct result_figure peak_memory_bytes, write_bytes, largest_wal_bytes, final_bytes;
    struct result_figure off_cpu_ns; /* all connections; NAN: n/a, as the next */
    struct result_figure slept_ns;
    struct result_figure run_queue_ns;
    struct result_figure run_queue_share;   /* of connections × window, 0 to 1 */
    struct result_figure cpu_others, steal; /* shares of all cores, 0 to 1 */
    struct result_figure close_ns;
    uint64_t attempted, ok, busy, conflict, failed, skipped, open, retries; /* all rounds */
    uint64_t offered, unstarted;      /* all rounds; RESULT_ABSENT: closed loop */
    struct result_figure begun_share; /* of what was offered, 0 to 1 */
    RESULT_LIST(struct result_role_summary) roles;
    RESULT_LIST(struct result_script_summary) scripts;
};

/* ---- answers and settings, checked outside of any timed run ---------------- */

/* The first operation of a script whose answer is another than the reference engine's. */
struct result_difference {
    uint64_t operation;      /* from 0; 0, 1 and 2 draw the ends of each range and a miss */
    bool storage_class_only; /* the values are equal, the storage classes are not */
    result_pairs parameters; /* drawn for it */
    uint64_t statement;      /* from 0; RESULT_ABSENT: not found again, see note */
    uint64_t row;            /* from 1, of the first row that differs; RESULT_ABSENT: not a row */
    /* That row as SQL literals; empty: there is none. */
    result_strings answer, reference_answer;
    char *outcome, *reference_outcome;             /* "ok", "failed", "busy", "conflict" */
    char *message, *reference_message;             /* of a failure */
    uint64_t rows_changed, reference_rows_changed; /* of the statement; RESULT_ABSENT */
    char *note;                                    /* what else must be known to read it */
};

struct result_verify_script {
    char *script;
    bool write;
    char *compare; /* "ordered", "set" or "count" */
    uint64_t ok, busy, conflict, failed;
    uint64_t rows_read, rows_changed;
    result_strings errors; /* distinct messages of failed ones */
    char *status;          /* "equal", "differs", "alone": nothing to compare with */
    uint64_t differing;    /* operations whose answer differs */
    RESULT_LIST(struct result_difference) differences; /* the first one, explained */
};

struct result_verify_table {
    char *table;
    uint64_t rows;
    uint64_t reference_rows; /* RESULT_ABSENT: no reference, or it has no such table */
    char *status;            /* as of a script */
};

/* One database of a suite and the scripts that run on it. */
struct result_verify_database {
    char *suite, *scale;
    result_strings scenarios; /* those that share the database */
    result_pairs variables;
    char *reference;     /* engine that was compared with; NULL: none */
    uint64_t operations; /* executions of each script */
    char *status;        /* "equal", "differs", "alone", "reference" (the one compared with),
                            "failed" */
    char *error;         /* why it failed */
    RESULT_LIST(struct result_verify_script) scripts;
    RESULT_LIST(struct result_verify_table) tables;
};

struct result_verify_connection {
    uint64_t connection;
    char *role;
    result_settings settings; /* read back */
};

struct result_verify {
    /* "equal", "differs", "alone", "failed", "exempt" (stores nothing); NULL: not verified. Of
     * answers, settings and journal together. */
    char *status;
    RESULT_LIST(struct result_verify_connection) connections; /* empty: not asked for */
    char *journal_mode;                                       /* asked; NULL: not looked at */
    bool journal_due; /* a file must be there, and not be empty */
    char *journal;    /* the file behind the database's name, "-wal"; NULL: there was none */
    uint64_t journal_bytes;
    bool shm_due;       /* a -shm is expected of this engine */
    uint64_t shm_bytes; /* RESULT_ABSENT: there was none */
    result_strings log; /* last lines of the worker's own output when it failed */
    RESULT_LIST(struct result_verify_database) databases;
};

/* ---- one connection on the main thread of the worker (--event-loop) --------- */

struct result_tail {
    double p50_ns, p99_ns, max_ns; /* NAN: no samples */
    bool p99_thin;                 /* fewer than 10 samples above p99 */
    struct result_latency latency;
};

/* attempted is the sum of ok, busy, conflict and failed. */
struct result_loop_part {
    uint64_t in_flight; /* executions at once */
    uint64_t elapsed_ns;
    uint64_t attempted, ok, busy, conflict, failed, retries;
    double executions_per_second; /* ok ones */
    struct result_tail tail;      /* latency of ok ones */
    result_strings errors;        /* distinct messages of failed ones */
};

struct result_event_loop {
    char *status; /* "ok", "failed", "unable" (not through this worker); NULL: not asked for */
    char *error;  /* why it failed, or why the engine is unable */
    result_strings log; /* last lines of the worker's own output when it failed */
    struct result_loop_part closed;
    uint64_t interval_ns; /* from one paced execution to the next: twice the closed loop's */
    struct result_loop_part paced;
    struct result_tail bare_lateness; /* of a 1 ms timer on the loop that does nothing else */
    struct result_tail lateness;      /* of the same beside the paced executions */
    RESULT_LIST(struct result_loop_part) in_flight; /* empty: each call blocks until it is done */
};

struct result_engine {
    char *name;   /* as the user called it, unique in a result */
    char *driver; /* "sqlite", "null", or a command's name */
    char *version;
    char *source_id;
    char *sync_call;
    char *binding_version; /* of the package through which it is called; NULL: none */
    char *runtime;         /* that runs its worker, "node 24.1.0"; NULL: none */
    result_pairs options;  /* handed to its worker by --engine-option */
    RESULT_LIST(struct result_library) libraries;
    result_pairs library_build; /* how it was built, as its build script tells */
    result_strings compile_options;
    result_strings known_faults;
    /* "ok", "partial", "failed", "differs": it ran, but did not do what was asked; or "unable": it
     * lets one process open a database, and was to be measured by several */
    char *status;
    char *error; /* first failure of a run, or why nothing could run */
    struct result_verify verify;
    RESULT_LIST(struct result_run) runs;
    RESULT_LIST(struct result_run) aside; /* that are in no figure; run.aside says why */
    /* One a case, in their order; empty when nothing was to be timed. */
    RESULT_LIST(struct result_summary) summaries;
    struct result_event_loop event_loop;
};

/* ---- engines beside each other: ratios to a baseline and what they show --------------------- */

/* An engine in a row of a table. */
struct result_comparison_cell {
    char *engine;
    double median, spread;        /* over rounds, in the table's unit; (max - min) / median */
    bool thin;                    /* p99: fewer than 10 samples above it in a round */
    double ratio;                 /* to the baseline in the same rounds; NAN: no round had both */
    double ratio_low, ratio_high; /* interval; NAN: too few rounds for one */
    /* "faster", "slower", "no difference shown", "closed loop"; NULL: none can be given, and
     * `note` says why */
    char *verdict;
    double smallest_difference; /* that these rounds could have shown, as ratio - 1 */
    uint64_t more_rounds;       /* that would separate it from the baseline; RESULT_ABSENT: none are
                                   needed, or none would */
    uint64_t rounds;            /* that both had */
    char *note;
};

struct result_comparison_row {
    uint64_t case_index;
    char *role;   /* NULL: all of the case */
    char *script; /* NULL: all of the role */
    RESULT_LIST(struct result_comparison_cell) cells;
    char *best;       /* engine that is better than every other one; NULL: none is shown to be */
    double best_lead; /* over the second best, as ratio - 1; NAN without a best */
    double best_lead_low, best_lead_high; /* its interval */
};

/* Geometric mean of an engine's ratios over the rows of a table. */
struct result_comparison_mean {
    char *engine;
    uint64_t rows; /* that were taken in: those for which it has a ratio in every round */
    double ratio, ratio_low, ratio_high;
    char *verdict, *note; /* as of a cell */
};

struct result_comparison_table {
    char *suite;
    char *metric;        /* "throughput", "p99", "cpu" */
    char *unit;          /* of medians: "1/s", "ns" */
    double floor;        /* noise of this table, as ratio - 1: smaller differences are no verdict */
    uint64_t floor_rows; /* in which the baseline ran twice; 0: the floor is the least one */
    RESULT_LIST(struct result_comparison_row) rows;
    RESULT_LIST(struct result_comparison_mean) geometric_means;
};

/* A ratio to the baseline now through the same ratio in an older result. */
struct result_against_row {
    char *row; /* "select-point", "prod, user_by_id" */
    char *engine;
    double ratio, ratio_low, ratio_high;
    char *verdict, *note; /* as of a cell */
    double smallest_difference;
};

struct result_against_table {
    char *suite, *metric; /* as of a comparison's table */
    double floor;         /* the larger of both noises and the threshold, as ratio - 1 */
    RESULT_LIST(struct result_against_row) rows;
};

struct result_against {
    char *file;    /* NULL: nothing older was given */
    char *started; /* when that was measured */
    RESULT_LIST(struct result_against_table) tables;
};

/* Empty (no baseline, no tables) in a result that compares nothing. */
struct result_comparison {
    char *baseline;            /* an engine's name */
    uint64_t runs;             /* rounds asked for */
    double confidence;         /* with which all intervals of a table hold together; 0.95 */
    double disturbance_max;    /* a round with more steal or CPU of others in a run is repeated;
                                  NAN: none is */
    uint64_t rounds_repeated;  /* because of the host, of all cases together */
    uint64_t rounds_disturbed; /* that are in the figures all the same: so were their repeats */
    double threshold; /* a row that is slower by more fails the command, as ratio - 1; NAN: none */
    uint64_t slower;  /* rows of which that is shown; RESULT_ABSENT without a threshold */
    RESULT_LIST(struct result_comparison_table) tables;
    struct result_against against;
};

struct result {
    uint64_t version; /* RESULT_VERSION */
    char *pitot_version;
    char *build;   /* "release", "debug", "asan", … */
    char *command; /* "prod", "bench", "verify", "numbers" */
    result_strings command_line;
    char *started; /* UTC */
    double elapsed_s;
    bool partial; /* ended early */
    struct result_host host;
    struct result_plan plan;
    RESULT_LIST(struct result_case) cases;
    RESULT_LIST(struct result_template) templates;
    result_warnings warnings;
    RESULT_LIST(struct result_engine) engines;
    struct result_comparison comparison;
    RESULT_LIST(struct result_numbers) numbers;
};

/* A new empty result: absent figures absent, lists empty. NULL: out of memory. */
struct result *result_new(void);
void result_free(struct result *result);

/* Set a thing to its empty state (inside a zeroed array). */
void result_case_init(struct result_case *of);
void result_template_init(struct result_template *template);
void result_run_init(struct result_run *run);
/* Frees what a run owns that is in no result, and leaves it in its empty state. */
void result_run_release(struct result_run *run);
void result_comparison_release(struct result_comparison *comparison);
/* Takes back what a worker said of a run when it cannot be believed, down to half-read entries;
 * case, round, position, aside, log and dirty_bytes, which are the coordinator's, stay. */
void result_run_forget(struct result_run *run);
void result_engine_init(struct result_engine *engine);
void result_difference_init(struct result_difference *difference);
void result_loop_part_init(struct result_loop_part *part);
/* Takes back what a worker said of its event loop when it cannot be believed; the log stays. */
void result_event_loop_forget(struct result_event_loop *event_loop);
void result_role_summary_init(struct result_role_summary *summary);
void result_summary_init(struct result_summary *summary);
/* Takes the figures back; status and error stay. */
void result_summary_clear(struct result_summary *summary);

/* Puts the run at `index` of engine->runs aside, and says why. ERROR_MEMORY: it is still there. */
int result_run_move(struct result_engine *engine, size_t index, const char *aside);

/* printf into a new string. NULL: out of memory. */
char *result_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds a warning unless the same one is there. 0 or ERROR_MEMORY. */
int result_warn(struct result *result, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
