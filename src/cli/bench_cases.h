/* The cases of the suite bench, and the options that say what they are; shared by the commands that
 * measure it. */
#ifndef PITOT_CLI_BENCH_CASES_H
#define PITOT_CLI_BENCH_CASES_H

#include "cli/case_list.h"
#include "cli/options.h"
#include "cli/prod_options.h"
#include "core/clock.h"

#include <stddef.h>

struct bench_load {
    const char *workloads; /* NULL: all */
    uint64_t rows;         /* OPTION_ABSENT: as the suite says */
    uint64_t iterations;   /* 0: each workload is sized */
    uint64_t min_time_ns;
};

/* Entries of an option table; `at` is the offset of the struct bench_load. */
#define BENCH_OPTION_WORKLOADS(at)                                                                 \
    {                                                                                              \
        .name = "workloads", .kind = OPTION_TEXT,                                                  \
        .offset = (at) + offsetof(struct bench_load, workloads), .argument = "LIST",               \
        .help =                                                                                    \
            "What bench measures, separated by commas: insert-single, insert-tx-batch, "           \
            "select-point, select-range-indexed, select-fullscan-agg, select-join, update-point. " \
            "Default: all."                                                                        \
    }
#define BENCH_OPTION_ROWS(at)                                                                      \
    {                                                                                              \
        .name = "rows", .kind = OPTION_COUNT, .offset = (at) + offsetof(struct bench_load, rows),  \
        .argument = "N", .min = 1, .max = 1000000000,                                              \
        .help =                                                                                    \
            "Users in the database of bench, each with two orders, and in that of concurrent. "    \
            "insert-single begins without any. Default: 10000."                                    \
    }
#define BENCH_OPTION_ITERATIONS(at)                                                                \
    {                                                                                              \
        .name = "iterations", .kind = OPTION_COUNT,                                                \
        .offset = (at) + offsetof(struct bench_load, iterations), .argument = "N",                 \
        .max = 1000000000000, .fallback = "0",                                                     \
        .help = "Executions of each workload of bench in a round, the same for every engine. 0: "  \
                "each is sized before the rounds, so that the fastest engine runs for --min-time." \
    }
#define BENCH_OPTION_MIN_TIME(at)                                                                  \
    {                                                                                              \
        .name = "min-time", .kind = OPTION_DURATION,                                               \
        .offset = (at) + offsetof(struct bench_load, min_time_ns), .argument = "SECONDS",          \
        .min = NS_PER_MS, .max = 3600 * NS_PER_S, .bare_ns = NS_PER_S, .fallback = "0.5",          \
        .help = "How long the fastest engine runs at least where --iterations is 0, in seconds; "  \
                "or with a suffix: 200ms."                                                         \
    }

/* Adds a case a workload that is named, in the order in which they are. The cases point to `plan`
 * and `suite`, which is bench. ERROR_INVALID: a name that is none. */
int bench_cases_add(struct case_list *list, const struct plan *plan, const struct suite *suite,
                    const struct bench_load *load, const struct option_amount *warmup,
                    struct error *error);

#endif
