/*
 * Measures the library through its public header, each line beside the same work done with SQLite
 * alone, in one process: `pitot numbers` starts it once a SQLite library.
 */
#ifndef PITOT_NUMBERS_NUMBERS_H
#define PITOT_NUMBERS_NUMBERS_H

#include "core/error.h"
#include "result/result.h"

#include <stdint.h>

struct numbers_plan {
    const char *folder; /* an empty one, of this measurement alone */
    uint64_t rows;      /* of a pass; at least NUMBERS_ROWS_MIN */
    uint64_t length_ns; /* of each group of lines, and of each kind of paced reads */
};
enum { NUMBERS_ROWS_MIN = 200 };

/* Told about once a second, and when a group of lines begins. */
struct numbers_watch {
    void *context;
    void (*step)(void *context, const char *group, uint64_t done_ns, uint64_t total_ns);
};

/* Each appends the lines of one group to `out`. Files are left in the folder. */
int numbers_open(const struct numbers_plan *plan, const struct numbers_watch *watch,
                 struct result_numbers *out, struct error *error);
int numbers_resync(const struct numbers_plan *plan, const struct numbers_watch *watch,
                   struct result_numbers *out, struct error *error);
int numbers_passes(const struct numbers_plan *plan, const struct numbers_watch *watch,
                   struct result_numbers *out, struct error *error);
int numbers_reads(const struct numbers_plan *plan, const struct numbers_watch *watch,
                  struct result_numbers *out, struct error *error);

/* All of them. */
int numbers_run(const struct numbers_plan *plan, const struct numbers_watch *watch,
                struct result_numbers *out, struct error *error);

/* Version, check-in, file and compile options of the SQLite that this process uses. */
int numbers_identify(struct result_numbers *out, struct error *error);

#endif
