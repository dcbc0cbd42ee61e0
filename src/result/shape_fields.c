/* The tables of fields, one a struct. */
#include "result/shape.h"
#include "result/shape_check.h"

static const struct field fields_pair[] = {
    FIELD(result_pair, name, TEXT),
    FIELD(result_pair, value, TEXT_OR_NULL),
};
static const struct shape shape_pair = SHAPE(result_pair, fields_pair, NULL);

static const struct field fields_warning[] = {
    FIELD(result_warning, subject, TEXT_OR_NULL),
    FIELD(result_warning, text, TEXT),
};
static const struct shape shape_warning = SHAPE(result_warning, fields_warning, NULL);

static const struct field fields_host[] = {
    FIELD(result_host, cpu_model, TEXT_OR_NULL),
    FIELD(result_host, cores, COUNT_OR_NULL),
    FIELD(result_host, cores_online, COUNT_OR_NULL),
    FIELD(result_host, virtual_machine, TEXT_OR_NULL),
    FIELD(result_host, kernel, TEXT_OR_NULL),
    FIELD(result_host, operating_system, TEXT_OR_NULL),
    FIELD(result_host, memory_total_bytes, COUNT_OR_NULL),
    FIELD(result_host, memory_available_bytes, COUNT_OR_NULL),
    FIELD(result_host, load_average, REAL),
    FIELD(result_host, clock_source, TEXT_OR_NULL),
    FIELD(result_host, clock_cost_ns, REAL),
    FIELD(result_host, clock_resolution_ns, COUNT_OR_NULL),
    FIELD(result_host, data_folder, TEXT_OR_NULL),
    FIELD(result_host, file_system, TEXT_OR_NULL),
    FIELD(result_host, device, TEXT_OR_NULL),
};
const struct shape shape_host = SHAPE(result_host, fields_host, NULL);

static const struct field fields_plan[] = {
    FIELD(result_plan, cache_size, INTEGER), FIELD(result_plan, busy_timeout_ms, COUNT),
    FIELD(result_plan, grace_ns, COUNT),     FIELD(result_plan, latency_limit_ns, COUNT),
    FIELD(result_plan, max_tries, COUNT),    FIELD(result_plan, rounds, COUNT),
    FIELD(result_plan, seed, COUNT),         FIELD_SHAPED(result_plan, settings, LIST, shape_pair),
};
const struct shape shape_plan = SHAPE(result_plan, fields_plan, NULL);

static const struct field fields_closed_loop[] = {
    FIELD(result_closed_loop, engine, TEXT),
    FIELD(result_closed_loop, operations_per_second, REAL),
};
static const struct shape shape_closed_loop = SHAPE(result_closed_loop, fields_closed_loop, NULL);

static const struct field fields_case[] = {
    FIELD(result_case, label, TEXT),
    FIELD(result_case, suite, TEXT),
    FIELD(result_case, suite_folder, TEXT_OR_NULL),
    FIELD(result_case, suite_hash, TEXT),
    FIELD(result_case, scale, TEXT),
    FIELD(result_case, scenario, TEXT),
    FIELD_SHAPED(result_case, variables, LIST, shape_pair),
    FIELD(result_case, threads, COUNT),
    FIELD(result_case, duration_ns, COUNT_OR_NULL),
    FIELD(result_case, operations, COUNT_OR_NULL),
    FIELD(result_case, warmup_ns, COUNT_OR_NULL),
    FIELD(result_case, warmup_operations, COUNT_OR_NULL),
    FIELD(result_case, rate, REAL),
    FIELD(result_case, rate_share, REAL),
    FIELD_SHAPED(result_case, closed_loops, LIST, shape_closed_loop),
    FIELD(result_case, isolation, TEXT),
    FIELD(result_case, template, COUNT_OR_NULL),
};
const struct shape shape_case = SHAPE(result_case, fields_case, NULL);

static const struct field fields_template[] = {
    FIELD(result_template, path, TEXT_OR_NULL),
    FIELD(result_template, identity, TEXT_OR_NULL),
    FIELD(result_template, bytes, COUNT_OR_NULL),
    FIELD(result_template, reused, BOOL),
    FIELD(result_template, build_seconds, REAL),
    FIELD(result_template, engine, TEXT_OR_NULL),
    FIELD(result_template, engine_version, TEXT_OR_NULL),
};
const struct shape shape_template = SHAPE(result_template, fields_template, NULL);

static const struct field fields_library[] = {
    FIELD(result_library, asked, TEXT_OR_NULL),
    FIELD(result_library, real, TEXT_OR_NULL),
};
static const struct shape shape_library = SHAPE(result_library, fields_library, NULL);

static const struct field fields_setting[] = {
    FIELD(result_setting, name, TEXT),        FIELD(result_setting, asked, TEXT_OR_NULL),
    FIELD(result_setting, got, TEXT_OR_NULL), FIELD(result_setting, required, BOOL),
    FIELD(result_setting, agrees, BOOL),
};
static const struct shape shape_setting = SHAPE(result_setting, fields_setting, NULL);

static const struct field fields_script[] = {
    FIELD(result_script, role, TEXT),
    FIELD(result_script, script, TEXT),
    FIELD(result_script, write, BOOL),
    FIELD(result_script, operations_each, COUNT),
    FIELD(result_script, attempted, COUNT),
    FIELD(result_script, ok, COUNT),
    FIELD(result_script, busy, COUNT),
    FIELD(result_script, conflict, COUNT),
    FIELD(result_script, failed, COUNT),
    FIELD(result_script, skipped, COUNT),
    FIELD(result_script, open, COUNT),
    FIELD(result_script, retries, COUNT),
    FIELD(result_script, rows_read, COUNT_OR_NULL),
    FIELD(result_script, rows_changed, COUNT_OR_NULL),
    FIELD(result_script, time_ns, COUNT_OR_NULL),
    FIELD(result_script, slow, COUNT_OR_NULL),
    FIELD(result_script, latency, LATENCY),
    FIELD(result_script, service, LATENCY),
    FIELD(result_script, lag, LATENCY),
    FIELD(result_script, acknowledged, COUNTS),
    FIELD(result_script, errors, TEXTS),
};
static const struct shape shape_script = SHAPE(result_script, fields_script, shape_check_script);

static const struct field fields_connection[] = {
    FIELD(result_connection, connection, COUNT),
    FIELD(result_connection, role, TEXT_OR_NULL),
    FIELD(result_connection, operations, COUNT),
    FIELD(result_connection, window_ns, COUNT_OR_NULL),
    FIELD(result_connection, cpu_ns, COUNT_OR_NULL),
    FIELD(result_connection, run_queue_ns, COUNT_OR_NULL),
    FIELD(result_connection, off_cpu_ns, COUNT_OR_NULL),
    FIELD(result_connection, slept_ns, COUNT_OR_NULL),
    FIELD(result_connection, waits, COUNT_OR_NULL),
    FIELD(result_connection, late_ns, COUNT_OR_NULL),
    FIELD(result_connection, offered, COUNT_OR_NULL),
    FIELD(result_connection, unstarted, COUNT_OR_NULL),
    FIELD_SHAPED(result_connection, settings, LIST, shape_setting),
};
static const struct shape shape_connection = SHAPE(result_connection, fields_connection, NULL);

static const struct field fields_second[] = {
    FIELD(result_second, at_s, REAL),
    FIELD(result_second, operations, COUNTS),
    FIELD(result_second, slow, COUNTS),
    FIELD(result_second, database_bytes, COUNT_OR_NULL),
    FIELD(result_second, wal_bytes, COUNT_OR_NULL),
};
static const struct shape shape_second = SHAPE(result_second, fields_second, NULL);

static const struct field fields_table_count[] = {
    FIELD(result_table_count, table, TEXT),
    FIELD(result_table_count, expected, COUNT_OR_NULL),
    FIELD(result_table_count, found, COUNT_OR_NULL),
    FIELD(result_table_count, unchecked, TEXT_OR_NULL),
};
static const struct shape shape_table_count = SHAPE(result_table_count, fields_table_count, NULL);

static const struct field fields_check[] = {
    FIELD(result_check, kind, TEXT_OR_NULL),
    FIELD(result_check, problem, TEXT_OR_NULL),
    FIELD(result_check, second_opinion, TEXT_OR_NULL),
    FIELD_SHAPED(result_check, counts, LIST, shape_table_count),
    FIELD(result_check, integrity, TEXTS),
    FIELD(result_check, elapsed_ns, COUNT_OR_NULL),
};
static const struct shape shape_check = SHAPE(result_check, fields_check, NULL);

static const struct field fields_run[] = {
    {"case", FIELD_COUNT, offsetof(struct result_run, case_index), NULL},
    FIELD(result_run, round, COUNT),
    FIELD(result_run, position, COUNT),
    FIELD(result_run, aside, TEXT_OR_NULL),
    FIELD(result_run, status, TEXT),
    FIELD(result_run, error, TEXT_OR_NULL),
    FIELD(result_run, log, TEXTS),
    FIELD(result_run, setup_ns, COUNT_OR_NULL),
    FIELD(result_run, window_ns, COUNT_OR_NULL),
    FIELD(result_run, cpu_user_ns, COUNT_OR_NULL),
    FIELD(result_run, cpu_system_ns, COUNT_OR_NULL),
    FIELD(result_run, minor_faults, COUNT_OR_NULL),
    FIELD(result_run, major_faults, COUNT_OR_NULL),
    FIELD(result_run, voluntary_switches, COUNT_OR_NULL),
    FIELD(result_run, involuntary_switches, COUNT_OR_NULL),
    FIELD(result_run, read_bytes, COUNT_OR_NULL),
    FIELD(result_run, write_bytes, COUNT_OR_NULL),
    FIELD(result_run, close_ns, COUNT_OR_NULL),
    FIELD(result_run, peak_memory_bytes, COUNT_OR_NULL),
    FIELD(result_run, largest_wal_bytes, COUNT_OR_NULL),
    FIELD(result_run, final_bytes, COUNT_OR_NULL),
    FIELD(result_run, cpu_others, REAL),
    FIELD(result_run, steal, REAL),
    FIELD(result_run, resident, REAL),
    FIELD(result_run, dirty_bytes, COUNT_OR_NULL),
    FIELD(result_run, warmup_operations, COUNT_OR_NULL),
    FIELD(result_run, warmup_ns, COUNT_OR_NULL),
    FIELD_SHAPED(result_run, connections, LIST, shape_connection),
    FIELD_SHAPED(result_run, scripts, LIST, shape_script),
    FIELD_SHAPED(result_run, seconds, LIST, shape_second),
    FIELD_SHAPED(result_run, check, STRUCT, shape_check),
};
const struct shape shape_run = SHAPE(result_run, fields_run, shape_check_run);

static const struct field fields_figure[] = {
    FIELD(result_figure, median, REAL),
    FIELD(result_figure, min, REAL),
    FIELD(result_figure, max, REAL),
};
const struct shape shape_figure = SHAPE(result_figure, fields_figure, NULL);

#define FIGURE(type, field) FIELD_SHAPED(type, field, STRUCT, shape_figure)

static const struct field fields_curve_point[] = {
    FIELD(result_curve_point, percentile, REAL),
    FIELD(result_curve_point, value_ns, COUNT),
};
const struct shape shape_curve_point = SHAPE(result_curve_point, fields_curve_point, NULL);

static const struct field fields_times[] = {
    FIGURE(result_times, mean_ns),
    FIGURE(result_times, min_ns),
    FIGURE(result_times, max_ns),
    FIELD(result_times, points_ns, POINTS),
    FIELD(result_times, histogram, LATENCY),
};
static const struct shape shape_times = SHAPE(result_times, fields_times, NULL);

static const struct field fields_script_summary[] = {
    FIELD(result_script_summary, role, TEXT),
    FIELD(result_script_summary, script, TEXT),
    FIELD(result_script_summary, write, BOOL),
    FIELD(result_script_summary, attempted, COUNT),
    FIELD(result_script_summary, ok, COUNT),
    FIELD(result_script_summary, busy, COUNT),
    FIELD(result_script_summary, conflict, COUNT),
    FIELD(result_script_summary, failed, COUNT),
    FIELD(result_script_summary, skipped, COUNT),
    FIELD(result_script_summary, open, COUNT),
    FIELD(result_script_summary, retries, COUNT),
    FIGURE(result_script_summary, operations_per_second),
    FIGURE(result_script_summary, mean_ns),
    FIGURE(result_script_summary, min_ns),
    FIGURE(result_script_summary, max_ns),
    FIELD(result_script_summary, points_ns, POINTS),
    FIELD(result_script_summary, point_thin, POINT_FLAGS),
    FIGURE(result_script_summary, time_share),
    FIGURE(result_script_summary, rows_read_each),
    FIGURE(result_script_summary, rows_changed_each),
    FIGURE(result_script_summary, slow),
    FIELD(result_script_summary, latency, LATENCY),
    FIELD_SHAPED(result_script_summary, curve, LIST, shape_curve_point),
    FIELD_SHAPED(result_script_summary, service, STRUCT, shape_times),
    FIELD_SHAPED(result_script_summary, lag, STRUCT, shape_times),
};
static const struct shape shape_script_summary =
    SHAPE(result_script_summary, fields_script_summary, NULL);

static const struct field fields_role_summary[] = {
    FIELD(result_role_summary, role, TEXT),
    FIELD(result_role_summary, connections, COUNT),
    FIGURE(result_role_summary, operations_per_second),
    FIGURE(result_role_summary, scaling),
    FIGURE(result_role_summary, least_served_per_second),
    FIGURE(result_role_summary, most_served_per_second),
    FIGURE(result_role_summary, fairness),
    FIGURE(result_role_summary, cpu_per_operation_ns),
    FIGURE(result_role_summary, off_cpu_ns),
    FIGURE(result_role_summary, slept_ns),
    FIGURE(result_role_summary, run_queue_ns),
    FIELD(result_role_summary, attempted, COUNT),
    FIELD(result_role_summary, ok, COUNT),
    FIELD(result_role_summary, busy, COUNT),
    FIELD(result_role_summary, conflict, COUNT),
    FIELD(result_role_summary, failed, COUNT),
    FIELD(result_role_summary, skipped, COUNT),
    FIELD(result_role_summary, open, COUNT),
    FIELD(result_role_summary, retries, COUNT),
};
const struct shape shape_role_summary = SHAPE(result_role_summary, fields_role_summary, NULL);

static const struct field fields_summary[] = {
    FIELD(result_summary, status, TEXT_OR_NULL),
    FIELD(result_summary, error, TEXT_OR_NULL),
    FIELD(result_summary, rounds_ok, COUNT),
    FIGURE(result_summary, reads_per_second),
    FIGURE(result_summary, writes_per_second),
    FIGURE(result_summary, operations_per_second),
    FIGURE(result_summary, cpu_per_operation_ns),
    FIGURE(result_summary, peak_memory_bytes),
    FIGURE(result_summary, write_bytes),
    FIGURE(result_summary, largest_wal_bytes),
    FIGURE(result_summary, final_bytes),
    FIGURE(result_summary, off_cpu_ns),
    FIGURE(result_summary, slept_ns),
    FIGURE(result_summary, run_queue_ns),
    FIGURE(result_summary, run_queue_share),
    FIGURE(result_summary, cpu_others),
    FIGURE(result_summary, steal),
    FIGURE(result_summary, close_ns),
    FIELD(result_summary, attempted, COUNT),
    FIELD(result_summary, ok, COUNT),
    FIELD(result_summary, busy, COUNT),
    FIELD(result_summary, conflict, COUNT),
    FIELD(result_summary, failed, COUNT),
    FIELD(result_summary, skipped, COUNT),
    FIELD(result_summary, open, COUNT),
    FIELD(result_summary, retries, COUNT),
    FIELD(result_summary, offered, COUNT_OR_NULL),
    FIELD(result_summary, unstarted, COUNT_OR_NULL),
    FIGURE(result_summary, begun_share),
    FIELD_SHAPED(result_summary, roles, LIST, shape_role_summary),
    FIELD_SHAPED(result_summary, scripts, LIST, shape_script_summary),
};
const struct shape shape_summary = SHAPE(result_summary, fields_summary, shape_check_summary);

static const struct field fields_difference[] = {
    FIELD(result_difference, operation, COUNT),
    FIELD(result_difference, storage_class_only, BOOL),
    FIELD_SHAPED(result_difference, parameters, LIST, shape_pair),
    FIELD(result_difference, statement, COUNT_OR_NULL),
    FIELD(result_difference, row, COUNT_OR_NULL),
    FIELD(result_difference, answer, TEXTS),
    FIELD(result_difference, reference_answer, TEXTS),
    FIELD(result_difference, outcome, TEXT_OR_NULL),
    FIELD(result_difference, reference_outcome, TEXT_OR_NULL),
    FIELD(result_difference, message, TEXT_OR_NULL),
    FIELD(result_difference, reference_message, TEXT_OR_NULL),
    FIELD(result_difference, rows_changed, COUNT_OR_NULL),
    FIELD(result_difference, reference_rows_changed, COUNT_OR_NULL),
    FIELD(result_difference, note, TEXT_OR_NULL),
};
const struct shape shape_difference = SHAPE(result_difference, fields_difference, NULL);

static const struct field fields_verify_script[] = {
    FIELD(result_verify_script, script, TEXT),
    FIELD(result_verify_script, write, BOOL),
    FIELD(result_verify_script, compare, TEXT),
    FIELD(result_verify_script, ok, COUNT),
    FIELD(result_verify_script, busy, COUNT),
    FIELD(result_verify_script, conflict, COUNT),
    FIELD(result_verify_script, failed, COUNT),
    FIELD(result_verify_script, rows_read, COUNT_OR_NULL),
    FIELD(result_verify_script, rows_changed, COUNT_OR_NULL),
    FIELD(result_verify_script, errors, TEXTS),
    FIELD(result_verify_script, status, TEXT),
    FIELD(result_verify_script, differing, COUNT),
    FIELD_SHAPED(result_verify_script, differences, LIST, shape_difference),
};
static const struct shape shape_verify_script =
    SHAPE(result_verify_script, fields_verify_script, NULL);

static const struct field fields_verify_table[] = {
    FIELD(result_verify_table, table, TEXT),
    FIELD(result_verify_table, rows, COUNT),
    FIELD(result_verify_table, reference_rows, COUNT_OR_NULL),
    FIELD(result_verify_table, status, TEXT),
};
static const struct shape shape_verify_table =
    SHAPE(result_verify_table, fields_verify_table, NULL);

static const struct field fields_verify_database[] = {
    FIELD(result_verify_database, suite, TEXT),
    FIELD(result_verify_database, scale, TEXT),
    FIELD(result_verify_database, scenarios, TEXTS),
    FIELD_SHAPED(result_verify_database, variables, LIST, shape_pair),
    FIELD(result_verify_database, reference, TEXT_OR_NULL),
    FIELD(result_verify_database, operations, COUNT),
    FIELD(result_verify_database, status, TEXT),
    FIELD(result_verify_database, error, TEXT_OR_NULL),
    FIELD_SHAPED(result_verify_database, scripts, LIST, shape_verify_script),
    FIELD_SHAPED(result_verify_database, tables, LIST, shape_verify_table),
};
static const struct shape shape_verify_database =
    SHAPE(result_verify_database, fields_verify_database, NULL);

static const struct field fields_verify_connection[] = {
    FIELD(result_verify_connection, connection, COUNT),
    FIELD(result_verify_connection, role, TEXT_OR_NULL),
    FIELD_SHAPED(result_verify_connection, settings, LIST, shape_setting),
};
static const struct shape shape_verify_connection =
    SHAPE(result_verify_connection, fields_verify_connection, NULL);

static const struct field fields_verify[] = {
    FIELD(result_verify, status, TEXT_OR_NULL),
    FIELD_SHAPED(result_verify, connections, LIST, shape_verify_connection),
    FIELD(result_verify, journal_mode, TEXT_OR_NULL),
    FIELD(result_verify, journal_due, BOOL),
    FIELD(result_verify, journal, TEXT_OR_NULL),
    FIELD(result_verify, journal_bytes, COUNT_OR_NULL),
    FIELD(result_verify, shm_due, BOOL),
    FIELD(result_verify, shm_bytes, COUNT_OR_NULL),
    FIELD(result_verify, log, TEXTS),
    FIELD_SHAPED(result_verify, databases, LIST, shape_verify_database),
};
static const struct shape shape_verify = SHAPE(result_verify, fields_verify, NULL);

static const struct field fields_tail[] = {
    FIELD(result_tail, p50_ns, REAL),     FIELD(result_tail, p99_ns, REAL),
    FIELD(result_tail, max_ns, REAL),     FIELD(result_tail, p99_thin, BOOL),
    FIELD(result_tail, latency, LATENCY),
};
static const struct shape shape_tail = SHAPE(result_tail, fields_tail, NULL);

static const struct field fields_loop_part[] = {
    FIELD(result_loop_part, in_flight, COUNT),
    FIELD(result_loop_part, elapsed_ns, COUNT_OR_NULL),
    FIELD(result_loop_part, attempted, COUNT),
    FIELD(result_loop_part, ok, COUNT),
    FIELD(result_loop_part, busy, COUNT),
    FIELD(result_loop_part, conflict, COUNT),
    FIELD(result_loop_part, failed, COUNT),
    FIELD(result_loop_part, retries, COUNT),
    FIELD(result_loop_part, executions_per_second, REAL),
    FIELD_SHAPED(result_loop_part, tail, STRUCT, shape_tail),
    FIELD(result_loop_part, errors, TEXTS),
};
const struct shape shape_loop_part =
    SHAPE(result_loop_part, fields_loop_part, shape_check_loop_part);

static const struct field fields_event_loop[] = {
    FIELD(result_event_loop, status, TEXT_OR_NULL),
    FIELD(result_event_loop, error, TEXT_OR_NULL),
    FIELD(result_event_loop, log, TEXTS),
    FIELD_SHAPED(result_event_loop, closed, STRUCT, shape_loop_part),
    FIELD(result_event_loop, interval_ns, COUNT_OR_NULL),
    FIELD_SHAPED(result_event_loop, paced, STRUCT, shape_loop_part),
    FIELD_SHAPED(result_event_loop, bare_lateness, STRUCT, shape_tail),
    FIELD_SHAPED(result_event_loop, lateness, STRUCT, shape_tail),
    FIELD_SHAPED(result_event_loop, in_flight, LIST, shape_loop_part),
};
const struct shape shape_event_loop = SHAPE(result_event_loop, fields_event_loop, NULL);

static const struct field fields_engine[] = {
    FIELD(result_engine, name, TEXT),
    FIELD(result_engine, driver, TEXT_OR_NULL),
    FIELD(result_engine, version, TEXT_OR_NULL),
    FIELD(result_engine, source_id, TEXT_OR_NULL),
    FIELD(result_engine, sync_call, TEXT_OR_NULL),
    FIELD(result_engine, binding_version, TEXT_OR_NULL),
    FIELD(result_engine, runtime, TEXT_OR_NULL),
    FIELD_SHAPED(result_engine, options, LIST, shape_pair),
    FIELD_SHAPED(result_engine, libraries, LIST, shape_library),
    FIELD_SHAPED(result_engine, library_build, LIST, shape_pair),
    FIELD(result_engine, compile_options, TEXTS),
    FIELD(result_engine, known_faults, TEXTS),
    FIELD(result_engine, status, TEXT),
    FIELD(result_engine, error, TEXT_OR_NULL),
    FIELD_SHAPED(result_engine, verify, STRUCT, shape_verify),
    FIELD_SHAPED(result_engine, runs, LIST, shape_run),
    FIELD_SHAPED(result_engine, aside, LIST, shape_run),
    FIELD_SHAPED(result_engine, summaries, LIST, shape_summary),
    FIELD_SHAPED(result_engine, event_loop, STRUCT, shape_event_loop),
};
const struct shape shape_engine = SHAPE(result_engine, fields_engine, shape_check_engine);

static const struct field fields_comparison_cell[] = {
    FIELD(result_comparison_cell, engine, TEXT),
    FIELD(result_comparison_cell, median, REAL),
    FIELD(result_comparison_cell, spread, REAL),
    FIELD(result_comparison_cell, thin, BOOL),
    FIELD(result_comparison_cell, ratio, REAL),
    FIELD(result_comparison_cell, ratio_low, REAL),
    FIELD(result_comparison_cell, ratio_high, REAL),
    FIELD(result_comparison_cell, verdict, TEXT_OR_NULL),
    FIELD(result_comparison_cell, smallest_difference, REAL),
    FIELD(result_comparison_cell, more_rounds, COUNT_OR_NULL),
    FIELD(result_comparison_cell, rounds, COUNT),
    FIELD(result_comparison_cell, note, TEXT_OR_NULL),
};
static const struct shape shape_comparison_cell =
    SHAPE(result_comparison_cell, fields_comparison_cell, shape_check_cell);

static const struct field fields_comparison_row[] = {
    {"case", FIELD_COUNT, offsetof(struct result_comparison_row, case_index), NULL},
    FIELD(result_comparison_row, role, TEXT_OR_NULL),
    FIELD(result_comparison_row, script, TEXT_OR_NULL),
    FIELD_SHAPED(result_comparison_row, cells, LIST, shape_comparison_cell),
    FIELD(result_comparison_row, best, TEXT_OR_NULL),
    FIELD(result_comparison_row, best_lead, REAL),
    FIELD(result_comparison_row, best_lead_low, REAL),
    FIELD(result_comparison_row, best_lead_high, REAL),
};
static const struct shape shape_comparison_row =
    SHAPE(result_comparison_row, fields_comparison_row, NULL);

static const struct field fields_comparison_mean[] = {
    FIELD(result_comparison_mean, engine, TEXT),
    FIELD(result_comparison_mean, rows, COUNT),
    FIELD(result_comparison_mean, ratio, REAL),
    FIELD(result_comparison_mean, ratio_low, REAL),
    FIELD(result_comparison_mean, ratio_high, REAL),
    FIELD(result_comparison_mean, verdict, TEXT_OR_NULL),
    FIELD(result_comparison_mean, note, TEXT_OR_NULL),
};
static const struct shape shape_comparison_mean =
    SHAPE(result_comparison_mean, fields_comparison_mean, shape_check_mean);

static const struct field fields_comparison_table[] = {
    FIELD(result_comparison_table, suite, TEXT),
    FIELD(result_comparison_table, metric, TEXT),
    FIELD(result_comparison_table, unit, TEXT),
    FIELD(result_comparison_table, floor, REAL),
    FIELD(result_comparison_table, floor_rows, COUNT),
    FIELD_SHAPED(result_comparison_table, rows, LIST, shape_comparison_row),
    FIELD_SHAPED(result_comparison_table, geometric_means, LIST, shape_comparison_mean),
};
static const struct shape shape_comparison_table =
    SHAPE(result_comparison_table, fields_comparison_table, NULL);

static const struct field fields_against_row[] = {
    FIELD(result_against_row, row, TEXT),
    FIELD(result_against_row, engine, TEXT),
    FIELD(result_against_row, ratio, REAL),
    FIELD(result_against_row, ratio_low, REAL),
    FIELD(result_against_row, ratio_high, REAL),
    FIELD(result_against_row, verdict, TEXT_OR_NULL),
    FIELD(result_against_row, note, TEXT_OR_NULL),
    FIELD(result_against_row, smallest_difference, REAL),
};
static const struct shape shape_against_row =
    SHAPE(result_against_row, fields_against_row, shape_check_against_row);

static const struct field fields_against_table[] = {
    FIELD(result_against_table, suite, TEXT),
    FIELD(result_against_table, metric, TEXT),
    FIELD(result_against_table, floor, REAL),
    FIELD_SHAPED(result_against_table, rows, LIST, shape_against_row),
};
static const struct shape shape_against_table =
    SHAPE(result_against_table, fields_against_table, NULL);

static const struct field fields_against[] = {
    FIELD(result_against, file, TEXT_OR_NULL),
    FIELD(result_against, started, TEXT_OR_NULL),
    FIELD_SHAPED(result_against, tables, LIST, shape_against_table),
};
static const struct shape shape_against = SHAPE(result_against, fields_against, NULL);

static const struct field fields_comparison[] = {
    FIELD(result_comparison, baseline, TEXT_OR_NULL),
    FIELD(result_comparison, runs, COUNT),
    FIELD(result_comparison, confidence, REAL),
    FIELD(result_comparison, disturbance_max, REAL),
    FIELD(result_comparison, rounds_repeated, COUNT),
    FIELD(result_comparison, rounds_disturbed, COUNT),
    FIELD(result_comparison, threshold, REAL),
    FIELD(result_comparison, slower, COUNT_OR_NULL),
    FIELD_SHAPED(result_comparison, tables, LIST, shape_comparison_table),
    FIELD_SHAPED(result_comparison, against, STRUCT, shape_against),
};
const struct shape shape_comparison = SHAPE(result_comparison, fields_comparison, NULL);

static const struct field fields_result[] = {
    {"pitot_result", FIELD_COUNT, offsetof(struct result, version), NULL},
    FIELD(result, pitot_version, TEXT_OR_NULL),
    FIELD(result, build, TEXT_OR_NULL),
    FIELD(result, command, TEXT_OR_NULL),
    FIELD(result, command_line, TEXTS),
    FIELD(result, started, TEXT_OR_NULL),
    FIELD(result, elapsed_s, REAL),
    FIELD(result, partial, BOOL),
    FIELD_SHAPED(result, host, STRUCT, shape_host),
    FIELD_SHAPED(result, plan, STRUCT, shape_plan),
    FIELD_SHAPED(result, cases, LIST, shape_case),
    FIELD_SHAPED(result, templates, LIST, shape_template),
    FIELD_SHAPED(result, warnings, LIST, shape_warning),
    FIELD_SHAPED(result, engines, LIST, shape_engine),
    FIELD_SHAPED(result, comparison, STRUCT, shape_comparison),
    FIELD_SHAPED(result, numbers, LIST, shape_numbers),
};
const struct shape shape_result = SHAPE(result, fields_result, shape_check_result);
