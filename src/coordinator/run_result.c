#include "coordinator/run_result.h"

#include "base/json.h"
#include "coordinator/job.h"
#include "coordinator/settings.h"
#include "result/latency.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for a result");
}

/* ---- ready -------------------------------------------------------------------- */

static int read_setting(const json_t *item, struct result_setting *setting, struct error *error)
{
    const char *name;
    const char *asked;
    const char *got;
    int status = json_get_string(item, "name", "settings", &name, error);
    if (status == 0) {
        status = json_get_string(item, "asked", "settings", &asked, error);
    }
    if (status == 0) {
        status = json_get_string_or_null(item, "got", "settings", &got, error);
    }
    if (status == 0) {
        status = json_get_bool(item, "required", "settings", &setting->required, error);
    }
    if (status != 0) {
        return status;
    }
    setting->name = strdup(name);
    setting->asked = strdup(asked);
    setting->got = got != NULL ? strdup(got) : NULL;
    setting->agrees = setting_agrees(name, asked, got);
    return setting->name && setting->asked && (got == NULL || setting->got) ? 0 : no_memory(error);
}

int run_read_settings(const json_t *array, result_settings *out, struct error *error)
{
    size_t index;
    json_t *item;
    int status = 0;
    json_array_foreach(array, index, item)
    {
        struct result_setting *setting = result_list_add(out);
        status = setting != NULL ? read_setting(item, setting, error) : no_memory(error);
        if (status != 0) {
            break;
        }
    }
    return status;
}

/* Index of a role, script or connection, checked against how many there are. */
static int get_index(const json_t *object, const char *key, const char *where, size_t count,
                     size_t *out, struct error *error)
{
    uint64_t value;
    int status = json_get_u64(object, key, where, &value, error);
    if (status == 0 && value >= count) {
        status = error_set(error, ERROR_PROTOCOL, "%s: %s is %" PRIu64 ", there are %zu", where,
                           key, value, count);
    }
    *out = status == 0 ? (size_t)value : 0;
    return status;
}

int run_read_ready(const struct plan_case *plan_case, const json_t *ready, struct result_run *run,
                   struct error *error)
{
    json_t *connections;
    int status = json_get_u64_or(ready, "warmup_operations", "ready", RESULT_ABSENT,
                                 &run->warmup_operations, error);
    if (status == 0) {
        status =
            json_get_u64_or(ready, "warmup_ns", "ready", RESULT_ABSENT, &run->warmup_ns, error);
    }
    if (status == 0) {
        status = json_get_array(ready, "connections", "ready", &connections, error);
    }
    if (status == 0 && json_array_size(connections) != job_connections(plan_case)) {
        status = error_set(error, ERROR_PROTOCOL, "ready names %zu connections, the job asked %u",
                           json_array_size(connections), job_connections(plan_case));
    }
    for (size_t i = 0; status == 0 && i < json_array_size(connections); i++) {
        json_t *item = json_array_get(connections, i);
        struct result_connection *connection = result_list_add(&run->connections);
        size_t role = 0;
        json_t *settings = NULL;
        if (connection == NULL) {
            return no_memory(error);
        }
        connection->slept_ns = connection->waits = connection->run_queue_ns = RESULT_ABSENT;
        connection->late_ns = connection->off_cpu_ns = RESULT_ABSENT;
        connection->offered = connection->unstarted = RESULT_ABSENT;
        status = get_index(item, "role", "ready", plan_case->scenario->role_count, &role, error);
        if (status == 0) {
            status = json_get_u64(item, "connection", "ready", &connection->connection, error);
        }
        if (status == 0) {
            status = json_get_array(item, "settings", "ready", &settings, error);
        }
        if (status == 0) {
            connection->role = strdup(plan_case->scenario->roles[role].name);
            status = connection->role != NULL
                         ? run_read_settings(settings, &connection->settings, error)
                         : no_memory(error);
        }
    }
    return status;
}

/* ---- result ----------------------------------------------------------------------- */

struct number {
    const char *key;
    uint64_t *out;
};

static int get_numbers(const json_t *object, const char *where, const struct number *numbers,
                       size_t count, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = json_get_u64(object, numbers[i].key, where, numbers[i].out, error);
    }
    return status;
}

static int get_numbers_or_absent(const json_t *object, const char *where,
                                 const struct number *numbers, size_t count, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status =
            json_get_u64_or(object, numbers[i].key, where, RESULT_ABSENT, numbers[i].out, error);
    }
    return status;
}

static int read_times(const json_t *script, const char *key, uint64_t ok,
                      struct result_latency *out, struct error *error)
{
    struct error cause = ERROR_INIT;
    int status = latency_from_json(json_object_get(script, key), key, &out->histogram, &cause);
    if (status != 0) {
        return error_set(error, status == ERROR_MEMORY ? ERROR_MEMORY : ERROR_PROTOCOL, "%s",
                         cause.message);
    }
    uint64_t count = out->histogram != NULL ? out->histogram->count : 0;
    if (count != ok) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s counts %" PRIu64 " samples, %" PRIu64 " executions were ok", key,
                         count, ok);
    }
    return 0;
}

/* In an open loop a latency is a lag and a service time. */
static int read_latency(const json_t *item, bool paced, struct result_script *script,
                        struct error *error)
{
    int status = read_times(item, "latency", script->ok, &script->latency, error);
    if (status != 0 || !paced) {
        return status;
    }
    status = read_times(item, "service", script->ok, &script->service, error);
    if (status == 0) {
        status = read_times(item, "lag", script->ok, &script->lag, error);
    }
    if (status != 0) {
        return status;
    }
    uint64_t latency = script->latency.histogram->sum;
    uint64_t service = script->service.histogram->sum;
    uint64_t lag = script->lag.histogram->sum;
    if (latency != UINT64_MAX && (service > latency || latency - service != lag)) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s: latencies of %" PRIu64 " ns in all, but service times of %" PRIu64
                         " and lags of %" PRIu64,
                         script->script, latency, service, lag);
    }
    return 0;
}

static int read_errors(const json_t *script, result_strings *out, struct error *error)
{
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(script, "errors"), index, item)
    {
        const char *message = json_string_value(json_object_get(item, "message"));
        json_int_t count = json_integer_value(json_object_get(item, "count"));
        char **slot = result_list_add(out);
        if (slot == NULL || (*slot = result_text("%s (%lld times)", message ? message : "?",
                                                 (long long)count)) == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

/* A list of counts, one for each of `expected` things. */
static int read_counts(const json_t *item, const char *key, const char *where, size_t expected,
                       uint64_t **items, size_t *count, struct error *error)
{
    json_t *array;
    int status = json_get_array(item, key, where, &array, error);
    if (status == 0 && json_array_size(array) != expected) {
        status = error_set(error, ERROR_PROTOCOL, "%s: %s has %zu entries, it must have %zu", where,
                           key, json_array_size(array), expected);
    }
    for (size_t i = 0; status == 0 && i < expected; i++) {
        uint64_t *slot = result_list_grow((void **)items, count, sizeof **items);
        json_t *number = json_array_get(array, i);
        if (slot == NULL) {
            return no_memory(error);
        }
        if (!json_is_integer(number) || json_integer_value(number) < 0) {
            return error_set(error, ERROR_PROTOCOL, "%s: %s holds something else than counts",
                             where, key);
        }
        *slot = (uint64_t)json_integer_value(number);
    }
    return status;
}

static int read_script(const struct plan_case *plan_case, const json_t *item,
                       struct result_script *script, struct error *error)
{
    size_t role = 0;
    size_t index = 0;
    int status = get_index(item, "role", "scripts", plan_case->scenario->role_count, &role, error);
    if (status == 0) {
        status =
            get_index(item, "script", "scripts", plan_case->suite->script_count, &index, error);
    }
    const struct number numbers[] = {
        {"attempted", &script->attempted}, {"ok", &script->ok},
        {"busy", &script->busy},           {"conflict", &script->conflict},
        {"failed", &script->failed},       {"skipped", &script->skipped},
        {"open", &script->open},           {"retries", &script->retries},
        {"rows_read", &script->rows_read}, {"rows_changed", &script->rows_changed},
        {"time_ns", &script->time_ns},     {"slow", &script->slow},
    };
    if (status == 0) {
        status = get_numbers(item, "scripts", numbers, sizeof numbers / sizeof *numbers, error);
    }
    if (status != 0) {
        return status;
    }
    const struct suite_script *source = &plan_case->suite->scripts[index];
    script->role = strdup(plan_case->scenario->roles[role].name);
    script->script = strdup(source->name);
    script->write = source->kind == SUITE_WRITE;
    script->operations_each = source->operations;
    if (script->role == NULL || script->script == NULL) {
        return no_memory(error);
    }
    uint64_t sum = script->ok + script->busy + script->conflict + script->failed + script->skipped +
                   script->open;
    if (script->attempted != sum) {
        return error_set(error, ERROR_PROTOCOL,
                         "%s: %" PRIu64 " attempts, but the outcomes add up to %" PRIu64,
                         source->name, script->attempted, sum);
    }
    status = read_latency(item, job_is_paced(plan_case), script, error);
    if (status == 0) {
        status = read_counts(item, "acknowledged", source->name, source->script->statement_count,
                             &script->acknowledged.items, &script->acknowledged.count, error);
    }
    return status == 0 ? read_errors(item, &script->errors, error) : status;
}

static int read_connections(const json_t *result, bool paced, uint64_t started,
                            struct result_run *run, struct error *error)
{
    json_t *array;
    int status = json_get_array(result, "connections", "result", &array, error);
    if (status == 0 && json_array_size(array) != run->connections.count) {
        status = error_set(error, ERROR_PROTOCOL, "the result names %zu connections, ready %zu",
                           json_array_size(array), run->connections.count);
    }
    for (size_t i = 0; status == 0 && i < run->connections.count; i++) {
        struct result_connection *connection = &run->connections.items[i];
        const json_t *item = json_array_get(array, i);
        uint64_t ended = 0;
        const struct number numbers[] = {{"operations", &connection->operations},
                                         {"ended_ns", &ended}};
        const struct number perhaps[] = {
            {"cpu_ns", &connection->cpu_ns},         {"run_queue_ns", &connection->run_queue_ns},
            {"off_cpu_ns", &connection->off_cpu_ns}, {"slept_ns", &connection->slept_ns},
            {"waits", &connection->waits},           {"late_ns", &connection->late_ns}};
        status = get_numbers(item, "connections", numbers, 2, error);
        if (status == 0 && (ended < started || ended - started > run->window_ns)) {
            status = error_set(error, ERROR_PROTOCOL,
                               "connection %zu ended outside of the window of its run", i);
        }
        connection->window_ns = ended - started;
        const struct number offer[] = {{"offered", &connection->offered},
                                       {"unstarted", &connection->unstarted}};
        if (status == 0) {
            status = get_numbers_or_absent(item, "connections", perhaps, 6, error);
        }
        if (status == 0 && paced) {
            status = get_numbers(item, "connections", offer, 2, error);
        }
    }
    return status;
}

static int read_seconds(const json_t *result, struct result_run *run, struct error *error)
{
    json_t *array;
    double before_s = 0;
    int status = json_get_array(result, "seconds", "result", &array, error);
    for (size_t i = 0; status == 0 && i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        uint64_t at_ns = 0;
        struct result_second *second = result_list_add(&run->seconds);
        if (second == NULL) {
            return no_memory(error);
        }
        second->database_bytes = second->wal_bytes = RESULT_ABSENT;
        status = json_get_u64(item, "at_ns", "seconds", &at_ns, error);
        second->at_s = (double)at_ns / 1e9;
        if (status == 0 && second->at_s <= before_s) {
            status = error_set(error, ERROR_PROTOCOL,
                               "seconds: entry %zu is not after the one "
                               "before it",
                               i);
        }
        before_s = second->at_s;
        if (status == 0) {
            status = read_counts(item, "operations", "seconds", run->scripts.count,
                                 &second->operations.items, &second->operations.count, error);
        }
        if (status == 0) {
            status = read_counts(item, "slow", "seconds", run->scripts.count, &second->slow.items,
                                 &second->slow.count, error);
        }
    }
    return status;
}

int run_read_result(const struct plan_case *plan_case, const json_t *result, struct result_run *run,
                    struct error *error)
{
    uint64_t started = 0;
    uint64_t ended = 0;
    bool partial = false;
    json_t *scripts = NULL;
    const struct number window[] = {{"started_ns", &started}, {"ended_ns", &ended}};
    const struct number perhaps[] = {
        {"cpu_user_ns", &run->cpu_user_ns},
        {"cpu_system_ns", &run->cpu_system_ns},
        {"minor_faults", &run->minor_faults},
        {"major_faults", &run->major_faults},
        {"voluntary_switches", &run->voluntary_switches},
        {"involuntary_switches", &run->involuntary_switches},
        {"read_bytes", &run->read_bytes},
        {"write_bytes", &run->write_bytes},
        {"close_ns", &run->close_ns},
        {"peak_memory_bytes", &run->peak_memory_bytes},
    };
    int status = get_numbers(result, "result", window, 2, error);
    if (status == 0 && ended < started) {
        status = error_set(error, ERROR_PROTOCOL, "the result ended before it started");
    }
    if (status == 0) {
        run->window_ns = ended - started;
        status = get_numbers_or_absent(result, "result", perhaps, sizeof perhaps / sizeof *perhaps,
                                       error);
    }
    if (status == 0) {
        status = json_get_bool(result, "partial", "result", &partial, error);
    }
    if (status == 0) {
        status = read_connections(result, job_is_paced(plan_case), started, run, error);
    }
    if (status == 0) {
        status = json_get_array(result, "scripts", "result", &scripts, error);
    }
    for (size_t i = 0; status == 0 && i < json_array_size(scripts); i++) {
        struct result_script *script = result_list_add(&run->scripts);
        status = script != NULL ? read_script(plan_case, json_array_get(scripts, i), script, error)
                                : no_memory(error);
    }
    if (status == 0) {
        status = read_seconds(result, run, error);
    }
    if (status == 0) {
        free(run->status);
        run->status = strdup(partial ? "partial" : "ok");
        status = run->status != NULL ? 0 : no_memory(error);
    }
    return status;
}

/* ---- error ------------------------------------------------------------------------ */

/* Codes by which SQLite (and who follows it) says that the machine is at fault, not the
 * script: NOMEM 7, READONLY 8, INTERRUPT 9, IOERR 10, CORRUPT 11, FULL 13, CANTOPEN 14, NOTADB 26.
 */
static bool machine_code(json_int_t code)
{
    switch (code & 0xff) {
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 13:
    case 14:
    case 26:
        return true;
    default:
        return false;
    }
}

static const struct script *script_of(const struct plan_case *plan_case, json_int_t index,
                                      bool loading)
{
    if (loading) {
        return plan_case->suite->load;
    }
    return index >= 0 && (size_t)index < plan_case->suite->script_count
               ? plan_case->suite->scripts[index].script
               : NULL;
}

static bool read_place(const struct script *script, const json_t *line, struct script_place *place)
{
    const json_t *pair = json_object_get(line, "place");
    const json_t *number = json_object_get(line, "statement");
    if (json_array_size(pair) == 2) {
        place->line = (uint32_t)json_integer_value(json_array_get(pair, 0));
        place->column = (uint32_t)json_integer_value(json_array_get(pair, 1));
        return true;
    }
    if (json_is_integer(number) && json_integer_value(number) >= 0 &&
        json_integer_value(number) < (json_int_t)script->statement_count) {
        *place = script->statements[json_integer_value(number)].place;
        return true;
    }
    return false;
}

/* Workers say "job: …" of what is wrong with a job, in the phase "job". */
static bool begins_with(const char *message, const char *phase)
{
    size_t length = strlen(phase);
    return strncmp(message, phase, length) == 0 && strncmp(message + length, ": ", 2) == 0;
}

void run_read_error(const struct plan_case *plan_case, const json_t *line, bool loading,
                    bool *in_script, struct error *error)
{
    const char *message = json_string_value(json_object_get(line, "message"));
    const char *phase = json_string_value(json_object_get(line, "phase"));
    const json_t *index = json_object_get(line, "script");
    json_int_t code = json_integer_value(json_object_get(line, "code"));
    const struct script *script =
        json_is_integer(index) ? script_of(plan_case, json_integer_value(index), loading) : NULL;
    struct script_place place;
    *in_script = script != NULL && !machine_code(code);
    message = message != NULL ? message : "no reason given";
    enum error_code what = (code & 0xff) == 13 ? ERROR_FULL
                           : *in_script        ? ERROR_INVALID
                                               : ERROR_ENGINE;
    if (script != NULL && read_place(script, line, &place)) {
        error_set(error, what, "%s:%u:%u: %s", script->file, place.line, place.column, message);
    } else if (loading && phase != NULL && strcmp(phase, "schema") == 0) {
        *in_script = !machine_code(code);
        error_set(
            error, *in_script && what != ERROR_FULL ? ERROR_INVALID : what, "%s/schema.sql: %s",
            plan_case->suite->folder ? plan_case->suite->folder : plan_case->suite->name, message);
    } else {
        bool named = phase == NULL || begins_with(message, phase);
        error_set(error, what, "%s%s%s", named ? "" : phase, named ? "" : ": ", message);
    }
}
