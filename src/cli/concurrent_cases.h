/* The cases of the suite concurrent, and the options that say what they are; shared by the commands
 * that measure it. */
#ifndef PITOT_CLI_CONCURRENT_CASES_H
#define PITOT_CLI_CONCURRENT_CASES_H

#include "cli/case_list.h"
#include "cli/options.h"
#include "cli/prod_options.h"

#include <stddef.h>

struct concurrent_load {
    const char *scenarios; /* NULL: all */
    const char *threads;   /* numbers of connections; NULL: CONCURRENT_THREADS */
    const char *isolation;
    uint64_t ops;   /* of each connection; OPTION_ABSENT: by duration */
    uint64_t batch; /* inserts a transaction */
};

#define CONCURRENT_THREADS "1,2,4,8"
#define CONCURRENT_CONNECTIONS_MAX 10000

extern const char *const concurrent_isolations[];

/* Entries of an option table; `at` is the offset of the struct concurrent_load. */
#define CONCURRENT_OPTION_SCENARIO(at)                                                             \
    {                                                                                              \
        .name = "scenario", .kind = OPTION_TEXT,                                                   \
        .offset = (at) + offsetof(struct concurrent_load, scenarios), .argument = "LIST",          \
        .help = "What concurrent measures, separated by commas: write-contention (N writers), "    \
                "read-write-mix (one writer and N readers). Default: both."                        \
    }
#define CONCURRENT_OPTION_ISOLATION(at)                                                            \
    {                                                                                              \
        .name = "isolation", .kind = OPTION_CHOICE,                                                \
        .offset = (at) + offsetof(struct concurrent_load, isolation),                              \
        .argument = "threads|processes", .fallback = "threads", .choices = concurrent_isolations,  \
        .help = "Whether the connections of concurrent are threads of one process, or each is a "  \
                "process of its own on the same file."                                             \
    }
#define CONCURRENT_OPTION_OPS(at)                                                                  \
    {                                                                                              \
        .name = "ops", .kind = OPTION_COUNT,                                                       \
        .offset = (at) + offsetof(struct concurrent_load, ops), .argument = "N", .min = 1,         \
        .max = 1000000000000,                                                                      \
        .help = "Instead of a duration in concurrent: operations of each connection in a round; "  \
                "a writer's last transaction is a whole one."                                      \
    }
#define CONCURRENT_OPTION_BATCH(at)                                                                \
    {                                                                                              \
        .name = "batchSize", .kind = OPTION_COUNT,                                                 \
        .offset = (at) + offsetof(struct concurrent_load, batch), .argument = "N", .min = 1,       \
        .max = 1000000, .fallback = "1",                                                           \
        .help = "Inserts in a transaction of a writer of concurrent. 1: each commits by itself."   \
    }

/* Adds a case for each number of connections in each scenario. They point to `plan` and `suite`,
 * which is concurrent and is told what a transaction counts for. Warm-up and rate are the
 * command's; so is the duration (OPTION_ABSENT: 3 s), unless `load` counts operations. `rows` as
 * --rows. ERROR_INVALID: names and numbers that are none, a batch larger than the operations. */
int concurrent_cases_add(struct case_list *list, const struct plan *plan, struct suite *suite,
                         const struct concurrent_load *load, const struct prod_options *common,
                         uint64_t rows, struct error *error);

#endif
