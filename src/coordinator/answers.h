/*
 * Answers of engines to the same scripts, compared: pure functions of what the workers said
 * (docs/worker-protocol.md, "verify").
 */
#ifndef PITOT_COORDINATOR_ANSWERS_H
#define PITOT_COORDINATOR_ANSWERS_H

#include "core/error.h"
#include "result/result.h"
#include "script/suite.h"

#include <jansson.h>

/* Digests of one script, an operation each. */
struct answers_script {
    uint64_t ok, busy, conflict, failed;
    uint64_t rows_read, rows_changed;
    uint64_t *value;
    uint64_t *strict; /* NULL: the worker's language has no storage classes */
    result_strings errors;
};

struct answers_table {
    char *table;
    uint64_t rows;
    uint64_t value, strict;
    bool has_strict;
};

/* What one engine said. */
struct answers {
    uint32_t operations;                        /* of each script */
    RESULT_LIST(struct answers_script) scripts; /* in the suite's order */
    RESULT_LIST(struct answers_table) tables;
};

/* Reads the `result` of a verify job; ERROR_PROTOCOL when it is not one of `scripts` scripts with
 * `operations` digests each, or its outcomes do not add up. answers_release() in every case. */
int answers_read(const json_t *result, const struct suite *suite, uint32_t operations,
                 struct answers *out, struct error *error);
void answers_release(struct answers *answers);

/* Fills scripts and tables of `out`, its status and its reference (NULL: nothing to compare with,
 * then all are "alone"). `strict`: storage classes count too, where both have them. The differences
 * name their operation; answers_explain() fills in the rest. */
int answers_compare(const struct suite *suite, const struct answers *mine,
                    const struct answers *reference, const char *reference_name, bool strict,
                    struct result_verify_database *out, struct error *error);

/* What both said of one operation when asked for the rows: fills parameters, outcomes and the first
 * row that differs. ERROR_PROTOCOL: a line that is no such result. */
int answers_explain(enum suite_compare compare, const json_t *mine, const json_t *reference,
                    struct result_difference *out, struct error *error);

/* "ordered", "set", "count". */
const char *answers_compare_name(enum suite_compare compare);

#endif
