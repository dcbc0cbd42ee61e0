/* Options that several commands have, each with one name, default and text. Their values lie in a
 * struct prod_options at the beginning of the command's own. */
#ifndef PITOT_CLI_COMMON_OPTIONS_H
#define PITOT_CLI_COMMON_OPTIONS_H

#include "cli/prod_options.h"
#include "core/clock.h"

#include <stddef.h>

/* Values of --busy. */
extern const char *const common_option_busy[];

#define COMMON_OPTION_FIELD(name) .offset = offsetof(struct prod_options, name)
/* What units_duration_ns takes. */
#define COMMON_OPTION_LONGEST_NS (UINT64_C(1000000) * NS_PER_S)

#define COMMON_OPTION_ENGINES                                                                      \
    {                                                                                              \
        .name = "engines", .kind = OPTION_TEXT, COMMON_OPTION_FIELD(engines), .argument = "LIST",  \
        .help =                                                                                    \
            "Engines, separated by commas, as `pitot engines` names them; NAME=PATH for an own "   \
            "library. A comma inside a path is written \"\\,\". Default: the default engines "     \
            "that are ready."                                                                      \
    }
#define COMMON_OPTION_ENGINE_OPTION                                                                \
    {                                                                                              \
        .name = "engine-option", .kind = OPTION_PAIRS, COMMON_OPTION_FIELD(engine_options),        \
        .argument = "NAME.KEY=VALUE",                                                              \
        .help = "An option of one engine's worker, such as better-sqlite3.integers=bigint; "       \
                "docs/engines.md lists them. May be repeated."                                     \
    }
#define COMMON_OPTION_SCALE                                                                        \
    {                                                                                              \
        .name = "scale", .kind = OPTION_TEXT, COMMON_OPTION_FIELD(scale), .argument = "NAME",      \
        .help = "Size of the data: small, medium, large, xlarge, xxlarge (0.1 to 10 GB). "         \
                "Default: the first of the workload."                                              \
    }
#define COMMON_OPTION_THREADS                                                                      \
    {                                                                                              \
        .name = "threads", .kind = OPTION_COUNT, COMMON_OPTION_FIELD(threads), .argument = "N",    \
        .min = 1, .max = 10000, .fallback = "4",                                                   \
        .help = "Connections, each in a thread of its own, 1 to 10000."                            \
    }
#define COMMON_OPTION_RATE                                                                         \
    {                                                                                              \
        .name = "rate", .kind = OPTION_RATE, COMMON_OPTION_FIELD(rate), .argument = "N|N%",        \
        .help = "Open loop: so many operations a second of all connections together, at random "   \
                "moments that do not wait for the engine; latency counts from these. N% is a "     \
                "share of what the slowest engine does without a rate, measured first. "           \
                "Default: closed loop, each connection goes on when it is done."                   \
    }
#define COMMON_OPTION_CACHE                                                                        \
    {                                                                                              \
        .name = "cache", .kind = OPTION_CACHE_SIZE, COMMON_OPTION_FIELD(cache_size),               \
        .argument = "N", .fallback = "-65536",                                                     \
        .help =                                                                                    \
            "cache_size of every connection, as PRAGMA cache_size takes it: pages, or KiB when "   \
            "negative; or with a suffix: 64MiB."                                                   \
    }
#define COMMON_OPTION_TIMEOUT COMMON_OPTION_TIMEOUT_OF("15000")
#define COMMON_OPTION_TIMEOUT_OF(text)                                                             \
    {                                                                                              \
        .name = "timeout", .kind = OPTION_DURATION, COMMON_OPTION_FIELD(timeout_ns),               \
        .argument = "MS", .max = COMMON_OPTION_LONGEST_NS, .bare_ns = NS_PER_MS, .fallback = text, \
        .help = "How long a connection waits for a lock before its operation counts as busy, in "  \
                "milliseconds; or with a suffix: 15s."                                             \
    }
#define COMMON_OPTION_BUSY                                                                         \
    {                                                                                              \
        .name = "busy", .kind = OPTION_CHOICE, COMMON_OPTION_FIELD(busy),                          \
        .argument = "engine|fine", .choices = common_option_busy, .fallback = "engine",            \
        .help = "How engines whose waiting pitot does itself wait for a lock: by the engine's "    \
                "own schedule of sleeps, or in steps of 0.1 ms, which shows how much of a tail "   \
                "is that schedule."                                                                \
    }
#define COMMON_OPTION_SEED                                                                         \
    {                                                                                              \
        .name = "seed", .kind = OPTION_COUNT, COMMON_OPTION_FIELD(seed), .argument = "N",          \
        .max = UINT32_MAX, .fallback = "1",                                                        \
        .help =                                                                                    \
            "Start of all random numbers, 0 to 4294967295: data, parameters, order of engines."    \
    }
#define COMMON_OPTION_PRAGMA                                                                       \
    {                                                                                              \
        .name = "pragma", .kind = OPTION_PAIRS, COMMON_OPTION_FIELD(pragmas),                      \
        .argument = "NAME=VALUE",                                                                  \
        .help = "A setting of every connection, the template included; may be repeated. "          \
                "journal_mode=wal and synchronous=normal are set unless given."                    \
    }
#define COMMON_OPTION_ROUNDS                                                                       \
    {                                                                                              \
        .name = "rounds", .kind = OPTION_COUNT, COMMON_OPTION_FIELD(rounds), .argument = "N",      \
        .min = 1, .max = 1000, .fallback = "3",                                                    \
        .help = "How often each engine is measured, 1 to 1000, in turns."                          \
    }
#define COMMON_OPTION_GRACE                                                                        \
    {                                                                                              \
        .name = "grace", .kind = OPTION_DURATION, COMMON_OPTION_FIELD(grace_ns), .argument = "MS", \
        .max = COMMON_OPTION_LONGEST_NS, .bare_ns = NS_PER_MS,                                     \
        .help =                                                                                    \
            "How long an operation may go on after the end of a round before it is interrupted, "  \
            "in milliseconds; or with a suffix: 5s. Default: the smaller of --timeout and 5 s."    \
    }
#define COMMON_OPTION_MAX_TRIES                                                                    \
    {                                                                                              \
        .name = "max-tries", .kind = OPTION_COUNT, COMMON_OPTION_FIELD(max_tries),                 \
        .argument = "N", .min = 1, .max = 1000000, .fallback = "10",                               \
        .help = "How often an operation is tried when it conflicts with another one."              \
    }
#define COMMON_OPTION_LATENCY_LIMIT                                                                \
    {                                                                                              \
        .name = "latency-limit", .kind = OPTION_DURATION, COMMON_OPTION_FIELD(latency_limit_ns),   \
        .argument = "MS", .max = COMMON_OPTION_LONGEST_NS, .bare_ns = NS_PER_MS, .fallback = "10", \
        .help =                                                                                    \
            "An operation that takes longer counts as slow, in milliseconds; or with a suffix: "   \
            "200us."                                                                               \
    }
#define COMMON_OPTION_CHECK                                                                        \
    {                                                                                              \
        .name = "check", .kind = OPTION_CHOICE, COMMON_OPTION_FIELD(check),                        \
        .argument = "full|quick|counts", .choices = prod_check_names,                              \
        .help =                                                                                    \
            "What is checked in the copy after each run, outside the measurement: the rows of "    \
            "every table, and with full or quick the integrity too. Default: full in the first "   \
            "and last round, counts between."                                                      \
    }
#define COMMON_OPTION_KEEP                                                                         \
    {                                                                                              \
        .name = "keep", .kind = OPTION_SWITCH, COMMON_OPTION_FIELD(keep),                          \
        .help = "Keep the copies that were measured."                                              \
    }
#define COMMON_OPTION_DIR                                                                          \
    {                                                                                              \
        .name = "dir", .kind = OPTION_TEXT, COMMON_OPTION_FIELD(dir), .argument = "FOLDER",        \
        .help = "Where the databases lie; it is made if missing. "                                 \
                "Default: $BENCH_DATA_DIR, or ./data."                                             \
    }
#define COMMON_OPTION_FRESH                                                                        \
    {                                                                                              \
        .name = "fresh", .kind = OPTION_SWITCH, COMMON_OPTION_FIELD(fresh),                        \
        .help = "Build the template anew even if it is there."                                     \
    }
#define COMMON_OPTION_JSON                                                                         \
    {                                                                                              \
        .name = "json", .kind = OPTION_TEXT, COMMON_OPTION_FIELD(json), .argument = "FILE",        \
        .help = "Write the whole result to FILE as well. With \"-\" it goes to standard output "   \
                "instead of the table."                                                            \
    }
#define COMMON_OPTION_HTML                                                                         \
    {                                                                                              \
        .name = "html", .kind = OPTION_TEXT, COMMON_OPTION_FIELD(html), .argument = "FILE",        \
        .help = "Write the result to FILE as a page of HTML as well: charts and tables that need " \
                "nothing beside the file."                                                         \
    }
#define COMMON_OPTION_QUIET                                                                        \
    {                                                                                              \
        .name = "quiet", .kind = OPTION_SWITCH, COMMON_OPTION_FIELD(quiet),                        \
        .help = "No progress: only the table, and errors."                                         \
    }
#define COMMON_OPTION_EVERY                                                                        \
    {                                                                                              \
        .letter = 'P', .kind = OPTION_DURATION, COMMON_OPTION_FIELD(every_ns),                     \
        .argument = "SECONDS", .min = NS_PER_MS, .max = COMMON_OPTION_LONGEST_NS,                  \
        .bare_ns = NS_PER_S, .fallback = "5",                                                      \
        .help =                                                                                    \
            "Least time between progress lines where standard error is no terminal, in seconds; "  \
            "or with a suffix: 1m."                                                                \
    }

/* What every command that measures lets users say of its runs, and of where its result goes. */
#define COMMON_OPTIONS_RUN                                                                         \
    COMMON_OPTION_BUSY, COMMON_OPTION_GRACE, COMMON_OPTION_MAX_TRIES, COMMON_OPTION_LATENCY_LIMIT, \
        COMMON_OPTION_SEED, COMMON_OPTION_PRAGMA, COMMON_OPTION_CHECK
#define COMMON_OPTIONS_RESULT                                                                      \
    COMMON_OPTION_JSON, COMMON_OPTION_HTML, COMMON_OPTION_QUIET, COMMON_OPTION_EVERY,              \
        OPTION_HELP_ENTRY

#endif
