/* The tables of fields of `pitot numbers`. */
#include "result/shape.h"
#include "result/shape_check.h"

static const struct field fields_numbers_side[] = {
    FIELD(result_numbers_side, median, REAL),
    FIELD(result_numbers_side, p99, REAL),
    FIELD(result_numbers_side, slowest, REAL),
    FIELD(result_numbers_side, p99_thin, BOOL),
    FIELD(result_numbers_side, count, COUNT),
    FIELD(result_numbers_side, due, COUNT_OR_NULL),
    FIELD(result_numbers_side, missed, COUNT_OR_NULL),
    FIELD(result_numbers_side, busy, COUNT_OR_NULL),
    FIELD(result_numbers_side, passes, COUNT_OR_NULL),
    FIELD(result_numbers_side, latency, LATENCY),
    FIELD_SHAPED(result_numbers_side, curve, LIST, shape_curve_point),
};
static const struct shape shape_numbers_side =
    SHAPE(result_numbers_side, fields_numbers_side, shape_check_numbers_side);

static const struct field fields_numbers_line[] = {
    FIELD(result_numbers_line, group, TEXT),
    FIELD(result_numbers_line, name, TEXT),
    FIELD(result_numbers_line, unit, TEXT),
    FIELD(result_numbers_line, rows, COUNT_OR_NULL),
    FIELD_SHAPED(result_numbers_line, pitot, STRUCT, shape_numbers_side),
    FIELD_SHAPED(result_numbers_line, plain, STRUCT, shape_numbers_side),
    FIELD(result_numbers_line, ratio, REAL),
    FIELD(result_numbers_line, rounds, COUNT),
    FIELD(result_numbers_line, note, TEXT_OR_NULL),
};
const struct shape shape_numbers_line = SHAPE(result_numbers_line, fields_numbers_line, NULL);

static const struct field fields_numbers[] = {
    FIELD(result_numbers, name, TEXT),
    FIELD(result_numbers, status, TEXT),
    FIELD(result_numbers, error, TEXT_OR_NULL),
    FIELD(result_numbers, version, TEXT_OR_NULL),
    FIELD(result_numbers, source_id, TEXT_OR_NULL),
    FIELD(result_numbers, library, TEXT_OR_NULL),
    FIELD(result_numbers, compile_options, TEXTS),
    FIELD(result_numbers, log, TEXTS),
    FIELD(result_numbers, rows, COUNT),
    FIELD(result_numbers, length_ns, COUNT),
    FIELD(result_numbers, own_bytes, COUNT_OR_NULL),
    FIELD(result_numbers, staged_bytes, COUNT_OR_NULL),
    FIELD(result_numbers, kept_bytes, COUNT_OR_NULL),
    FIELD(result_numbers, kept_rows, COUNT_OR_NULL),
    FIELD(result_numbers, busy_p50, REAL),
    FIELD(result_numbers, busy_p99, REAL),
    FIELD_SHAPED(result_numbers, lines, LIST, shape_numbers_line),
};
const struct shape shape_numbers = SHAPE(result_numbers, fields_numbers, shape_check_numbers);
