/* Rows of the CSV: engine,version,case,role,script,metric,unit,median,min,max,note. Internal to the
 * layer. */
#ifndef PITOT_REPORT_CSV_ROWS_H
#define PITOT_REPORT_CSV_ROWS_H

#include "base/buffer.h"
#include "result/result.h"

#define CSV_HEADER "engine,version,case,role,script,metric,unit,median,min,max,note\r\n"

/* What rows of one thing begin with; all but `out` may be NULL, and are an empty field then. */
struct csv_subject {
    struct buffer *out;
    const struct result_engine *engine;
    const char *label; /* of a case */
    const char *role, *script;
};

/* One row each. What is absent is an empty field. */
void csv_figure(const struct csv_subject *subject, const char *metric, const char *unit,
                const struct result_figure *figure);
/* A number that was measured once: no range. */
void csv_one(const struct csv_subject *subject, const char *metric, const char *unit, double value);
/* A whole number that may be RESULT_ABSENT. */
void csv_count(const struct csv_subject *subject, const char *metric, const char *unit,
               uint64_t number);
/* A sum over all rounds. */
void csv_total(const struct csv_subject *subject, const char *metric, uint64_t total);
/* Words, and the number that stands for them in a column of numbers (NAN: none does). */
void csv_note(const struct csv_subject *subject, const char *metric, const char *unit, double value,
              const char *note);

/* Engines beside each other, and against an older result. */
void csv_comparison(struct buffer *out, const struct result *result);

#endif
