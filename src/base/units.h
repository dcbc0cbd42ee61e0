/*
 * Numbers on the command line. Whole text must be consumed; a sign, an empty
 * text, a stray unit, NaN or an overflow is ERROR_INVALID, the message naming
 * `what` (such as "--duration"), the text found and an example of what is right.
 */
#ifndef PITOT_BASE_UNITS_H
#define PITOT_BASE_UNITS_H

#include "core/error.h"

#include <stdint.h>

/* Suffixes ns, us, ms, s, m, h; without one `bare_ns` nanoseconds are meant (1 s
 * for --duration, 1 ms for --timeout); 0 for bare_ns: a suffix must be there.
 * Decimals are allowed ("1.5s"). Result in [0, 10^6 s]. */
int units_duration_ns(const char *what, const char *text, uint64_t bare_ns, uint64_t *out,
                      struct error *error);
/* PRAGMA cache_size's number: pages when positive, KiB when negative; a suffix
 * KiB, MiB, GiB, kB, MB, GB means bytes and gives the negative KiB form. */
int units_cache_size(const char *what, const char *text, int64_t *out, struct error *error);
/* Plain count in [min, max]. */
int units_count(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out,
                struct error *error);

/* Operations a second, from 0.001 to 10^9 ("1000", "0.5"), or a share of what is found out later,
 * in per cent from 0.1 to 1000 ("70%"): the other one of the two is NAN. */
int units_rate(const char *what, const char *text, double *per_second, double *share,
               struct error *error);

/* A share in per cent, above 0 and at most 1000: "5%" or "5" gives 0.05. */
int units_percent(const char *what, const char *text, double *share, struct error *error);

/* "5.20 µs", "1.20 ms", "3.40 GB" (powers of 1000): three significant digits, unit
 * fitting the size after rounding, "–" for NAN and infinity. Independent of the
 * locale. out needs UNITS_TEXT_SIZE bytes. */
enum { UNITS_TEXT_SIZE = 32 };
void units_print_ns(char out[UNITS_TEXT_SIZE], double ns);
void units_print_bytes(char out[UNITS_TEXT_SIZE], double bytes);
/* "6,543", "315,204", "1.21 M", "12.3": rates and counts, whole below a million unless
 * a fraction of a number below 100 would be lost. */
void units_print_count(char out[UNITS_TEXT_SIZE], double count);

#endif
