/*
 * What `pitot numbers` found: the library's promises, each line measured beside the plain way. The
 * conventions are those of result.h.
 */
#ifndef PITOT_RESULT_NUMBERS_H
#define PITOT_RESULT_NUMBERS_H

#include "result/basics.h"

#include <stdbool.h>

/* One side of a line. Figures are in the line's unit; of a rate, p99 is what 99 % of the samples
 * reached, and the slowest the lowest. All NAN without samples. */
struct result_numbers_side {
    double median, p99, slowest;
    bool p99_thin; /* fewer than 10 samples above it */
    uint64_t count;
    /* Paced reads: moments that were due, those that were never begun, and reads that failed for a
     * lock; RESULT_ABSENT elsewhere. */
    uint64_t due, missed, busy;
    uint64_t passes;               /* that a writer committed meanwhile; RESULT_ABSENT: none ran */
    struct result_latency latency; /* ns, whatever the unit */
    result_curve curve;
};

struct result_numbers_line {
    char *group;   /* "open", "resync", "pass", "read" */
    char *name;    /* unique in its group */
    char *unit;    /* "ns", "1/s" */
    uint64_t rows; /* that a sample stands for; RESULT_ABSENT: not counted in rows */
    struct result_numbers_side pitot, plain;
    double ratio;    /* of times, libpitot's to the plain way's in the same round: the median */
    uint64_t rounds; /* of which it is the median */
    char *note;      /* what else must be known to read it */
};

/* With one SQLite library. */
struct result_numbers {
    char *name;      /* "sqlite", "system" */
    char *status;    /* "ok", "failed" */
    char *error;     /* NULL when ok */
    char *version;   /* of SQLite */
    char *source_id; /* its check-in */
    char *library;   /* file in which its functions lie */
    result_strings compile_options;
    result_strings log;    /* last lines of the program's own output when it failed */
    uint64_t rows;         /* of a pass */
    uint64_t length_ns;    /* of each group of lines */
    uint64_t own_bytes;    /* of a pass's values */
    uint64_t staged_bytes; /* that the library took for them */
    uint64_t kept_bytes;   /* between passes */
    uint64_t kept_rows;
    /* Libpitot's reads beside a busy writer to those beside an idle one in the same round: the
     * median over the rounds. NAN: not measured. */
    double busy_p50, busy_p99;
    RESULT_LIST(struct result_numbers_line) lines;
};

/* Set a thing to its empty state; free what it owns, and leave it in that state. */
void result_numbers_init(struct result_numbers *numbers);
void result_numbers_release(struct result_numbers *numbers);
void result_numbers_line_init(struct result_numbers_line *line);
void result_numbers_line_release(struct result_numbers_line *line);

#endif
