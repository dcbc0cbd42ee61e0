/* Measures the engines of a plan, case by case in rounds, and fills a result. */
#ifndef PITOT_COORDINATOR_MEASURE_H
#define PITOT_COORDINATOR_MEASURE_H

#include "coordinator/progress.h"
#include "coordinator/registry.h"
#include "result/result.h"
#include "script/suite.h"

/* What is checked in the copy after each run. */
enum plan_check {
    PLAN_CHECK_ENDS, /* full in the first and last round, else counts */
    PLAN_CHECK_FULL,
    PLAN_CHECK_QUICK,
    PLAN_CHECK_COUNTS,
};

struct plan;

/* One thing that is measured with every engine. */
struct plan_case {
    const struct plan *plan; /* what all cases have in common */
    const char *label;       /* unique in the plan */
    const struct suite *suite;
    const struct suite_scale *scale;
    const struct suite_scenario *scenario;
    uint32_t threads;           /* what "N" connections means */
    uint64_t duration_ns;       /* of one round; UINT64_MAX: by operations */
    uint64_t operations;        /* executions a connection; UINT64_MAX: by duration */
    bool count_operations;      /* `operations` are those that executions count for: each
                                   connection executes as often as it takes for them */
    uint64_t least_ns;          /* operations are to be found: as many as the fastest engine needs
                                   so long for; 0: they are given */
    uint64_t warmup_ns;         /* UINT64_MAX: by operations */
    uint64_t warmup_operations; /* UINT64_MAX: by time */
    bool warmup_tenth;          /* once operations are found, a tenth of them is the warm-up */
    double rate;                /* operations/s offered to all connections; NAN: closed loop */
    double rate_share; /* above 0: `rate` is this share of what the slowest engine does in a closed
                          loop, which is measured before the rounds */
    bool processes;    /* each connection in a worker of its own; false: in a thread */
    /* Of a part of a case (job.h): where its connections are in those of the case. 0 and 0: it is a
     * whole one. */
    uint32_t first_connection, connections_total;
};

/* What a comparison asks for besides its cases; all of it empty otherwise. */
struct plan_comparison {
    bool again;      /* each round holds a second run of the baseline, aside: A against A */
    size_t baseline; /* index of that engine */
    /* A round of a case in which steal or the CPU of others exceeds this share of all cores in any
     * run is measured again, once, after all rounds; 0: none is. */
    double disturbance_max;
    /* An earlier result of the same plan, engines and versions to go on from; its runs become those
     * of this one. NULL: none. */
    struct result *resumed;
    const char *resumed_from; /* its file, for messages */
    /* An earlier result that will be compared with: of the same host and settings, with a case at
     * least that is the same. NULL: none. Either of the two says how many executions a case has
     * that is only told how long it should last, and what rate one has that is told a share. */
    const struct result *against;
    const char *against_from;
    /* Called after each round with the result as far as it is, marked partial. May be NULL. */
    void (*round_done)(void *context);
    void *context;
};

struct plan {
    const struct plan_case *cases; /* in the order in which a round runs them */
    size_t case_count;
    const struct registry *registry;
    const engine_choices *engines;
    const char *data_folder;
    int64_t cache_size;
    uint32_t busy_timeout_ms;
    uint64_t grace_ns;
    uint64_t latency_limit_ns;
    uint32_t max_tries;
    uint32_t rounds;
    uint32_t seed;
    const result_pairs *pragmas; /* --pragma */
    enum plan_check check;
    bool fresh, keep;
    struct plan_comparison comparison;
    bool event_loop; /* also on the main thread of each worker that can, after the rounds */
};

/* Fills host, plan, cases, templates, engines (the figures of their summaries are left to
 * src/statistics/) and warnings of `result`. In a round every case runs, in each case every engine.
 * An engine that fails in a case is not run in it again, but goes on in the others; failed engines
 * are rows of the result, not errors; an error means that nothing more
 * could be measured (what was measured until then is in the result, marked partial): INTERRUPTED,
 * UNAVAILABLE (no engine left, the data folder cannot be used), INVALID (a script that every engine
 * refuses, found before anything is timed), …. Needs interrupt_install() before. */
int measure(const struct plan *plan, const struct progress *progress, struct result *result,
            struct error *error);

#endif
