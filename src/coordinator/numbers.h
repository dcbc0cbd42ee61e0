/* Runs pitot-numbers once with each SQLite library. */
#ifndef PITOT_COORDINATOR_NUMBERS_H
#define PITOT_COORDINATOR_NUMBERS_H

#include "coordinator/progress.h"
#include "core/error.h"
#include "result/result.h"

struct numbers_library {
    const char *name;    /* in the result */
    const char *library; /* libsqlite3.so.0 in a folder of its own; NULL: the one that the dynamic
                            linker finds */
};

struct numbers_order {
    const char *data_folder;
    uint64_t rows;
    uint64_t length_ns;
    const struct numbers_library *libraries;
    size_t library_count;
};

/* Measures with each library in a folder of its own below the data folder, which is removed, and
 * fills the result: host and numbers. A library with which it fails is marked so; the others go on.
 * ERROR_INTERRUPTED: a signal came; what was whole until then is in the result, which is marked
 * partial. */
int numbers_measure(const struct numbers_order *order, const struct progress *progress,
                    struct result *result, struct error *error);

#endif
