/* A line while it is measured: samples of both sides, and the ratio of each round. */
#ifndef PITOT_NUMBERS_MEASURED_H
#define PITOT_NUMBERS_MEASURED_H

#include "core/error.h"
#include "result/result.h"

struct measured {
    struct result_numbers_line line;
    RESULT_LIST(double) ratios;
    bool failed; /* out of memory: told at the end */
};

/* `unit` is "ns" or "1/s"; `rows` of a sample, RESULT_ABSENT: not counted in rows. Must be followed
 * by measured_end() or measured_release(). */
int measured_begin(struct measured *measured, const char *group, const char *name, const char *unit,
                   uint64_t rows, struct error *error);

/* A round: a sample of each side, and their ratio. */
void measured_round(struct measured *measured, uint64_t pitot_ns, uint64_t plain_ns);

/* The ratio of a round whose samples were merged into the histograms; one that is not finite (a
 * side had no sample) does not count. */
void measured_ratio(struct measured *measured, double ratio);

/* Computes the figures and appends the line to `out`, which owns it. `measured` is released. */
int measured_end(struct measured *measured, struct result_numbers *out, struct error *error);
void measured_release(struct measured *measured);

#endif
