#include "worker/tally.h"

#include "base/json.h"
#include "worker/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tally_init(struct tally *tally, uint32_t statement_count, struct error *error)
{
    tally->statement_count = statement_count;
    tally->acknowledged = calloc((size_t)statement_count + 1, sizeof(uint64_t));
    tally->pending = calloc((size_t)statement_count + 1, sizeof(uint64_t));
    tally->latency.min = UINT64_MAX;
    if (tally->acknowledged == NULL || tally->pending == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the counters of a script");
    }
    return 0;
}

void tally_pace(struct tally *tally)
{
    tally->paced = true;
    tally->service.min = UINT64_MAX;
    tally->lag.min = UINT64_MAX;
}

void tally_release(struct tally *tally)
{
    free(tally->acknowledged);
    free(tally->pending);
    tally->acknowledged = NULL;
    tally->pending = NULL;
}

static void restart_histogram(struct histogram *histogram)
{
    histogram->count = 0;
    histogram->overflow = 0;
    histogram->sum = 0;
    histogram->min = UINT64_MAX;
    histogram->max = 0;
    /* Not a memset: that would make the kernel give memory for every untouched bucket. */
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] != 0) {
            histogram->buckets[i] = 0;
        }
    }
}

void tally_restart(struct tally *tally)
{
    tally->attempted = 0;
    memset(tally->outcomes, 0, sizeof(tally->outcomes));
    tally->retries = 0;
    tally->rows_read = 0;
    tally->rows_changed = 0;
    tally->time_ns = 0;
    tally->slow = 0;
    tally->error_count = 0;
    tally->errors_beyond = 0;
    restart_histogram(&tally->latency);
    if (tally->paced) {
        restart_histogram(&tally->service);
        restart_histogram(&tally->lag);
    }
}

/* Finds the entry of a message or makes one; NULL: there is no room for another. */
static struct tally_error *error_entry(struct tally *tally, uint32_t statement, int code,
                                       const char *message)
{
    for (uint32_t i = 0; i < tally->error_count; i++) {
        struct tally_error *entry = &tally->errors[i];
        if (entry->statement == statement && entry->code == code &&
            strncmp(entry->message, message, TALLY_MESSAGE_SIZE - 1) == 0) {
            return entry;
        }
    }
    if (tally->error_count == TALLY_ERRORS_MAX) {
        return NULL;
    }
    struct tally_error *entry = &tally->errors[tally->error_count++];
    entry->statement = statement;
    entry->code = code;
    entry->count = 0;
    size_t length = strnlen(message, TALLY_MESSAGE_SIZE - 1);
    memcpy(entry->message, message, length);
    entry->message[length] = '\0';
    return entry;
}

void tally_failed(struct tally *tally, uint32_t statement, int code, const char *message)
{
    struct tally_error *entry = error_entry(tally, statement, code, message);
    if (entry == NULL) {
        tally->errors_beyond++;
    } else {
        entry->count++;
    }
}

void tally_committed(struct tally *tally)
{
    for (uint32_t i = 0; i < tally->statement_count; i++) {
        tally->acknowledged[i] += tally->pending[i];
        tally->pending[i] = 0;
    }
}

void tally_rolled_back(struct tally *tally)
{
    memset(tally->pending, 0, tally->statement_count * sizeof(uint64_t));
}

void tally_merge(struct tally *into, const struct tally *from)
{
    into->attempted += from->attempted;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        into->outcomes[i] += from->outcomes[i];
    }
    into->retries += from->retries;
    into->rows_read += from->rows_read;
    into->rows_changed += from->rows_changed;
    into->time_ns += from->time_ns;
    into->slow += from->slow;
    for (uint32_t i = 0; i < into->statement_count; i++) {
        into->acknowledged[i] += from->acknowledged[i];
    }
    for (uint32_t i = 0; i < from->error_count; i++) {
        const struct tally_error *error = &from->errors[i];
        struct tally_error *entry =
            error_entry(into, error->statement, error->code, error->message);
        if (entry == NULL) {
            into->errors_beyond += error->count;
        } else {
            entry->count += error->count;
        }
    }
    into->errors_beyond += from->errors_beyond;
    histogram_merge(&into->latency, &from->latency);
    if (from->paced) {
        histogram_merge(&into->service, &from->service);
        histogram_merge(&into->lag, &from->lag);
    }
}

/* A latency is its lag and its service time; sums that are full say nothing. */
static int check_parts(const struct tally *tally, const char *script, struct error *error)
{
    if (tally->service.count != tally->latency.count || tally->lag.count != tally->latency.count) {
        return error_set(
            error, ERROR_PROTOCOL,
            "internal: script %s: %llu latencies, but %llu service times and %llu lags", script,
            (unsigned long long)tally->latency.count, (unsigned long long)tally->service.count,
            (unsigned long long)tally->lag.count);
    }
    if (tally->latency.sum != UINT64_MAX &&
        tally->latency.sum != tally->service.sum + tally->lag.sum) {
        return error_set(error, ERROR_PROTOCOL,
                         "internal: script %s: latencies of %llu ns, but service times and lags of "
                         "%llu and %llu ns",
                         script, (unsigned long long)tally->latency.sum,
                         (unsigned long long)tally->service.sum,
                         (unsigned long long)tally->lag.sum);
    }
    return 0;
}

int tally_check(const struct tally *tally, const char *script, struct error *error)
{
    uint64_t sum = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        sum += tally->outcomes[i];
    }
    if (tally->attempted != sum) {
        return error_set(error, ERROR_PROTOCOL,
                         "internal: script %s: %llu attempts, but the outcomes add up to %llu",
                         script, (unsigned long long)tally->attempted, (unsigned long long)sum);
    }
    if (tally->latency.count != tally->outcomes[OUTCOME_OK]) {
        return error_set(error, ERROR_PROTOCOL,
                         "internal: script %s: %llu latencies, but %llu executions were ok", script,
                         (unsigned long long)tally->latency.count,
                         (unsigned long long)tally->outcomes[OUTCOME_OK]);
    }
    return tally->paced ? check_parts(tally, script, error) : 0;
}

json_t *tally_errors_to_json(const struct tally *tally)
{
    json_t *list = json_array();
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < tally->error_count; i++) {
        const struct tally_error *error = &tally->errors[i];
        json_t *statement =
            error->statement == FAILURE_NOWHERE ? json_null() : json_integer(error->statement);
        status = json_array_append_new(list, json_pack("{s:o, s:i, s:o, s:o}", "statement",
                                                       statement, "code", error->code, "message",
                                                       json_text(error->message), "count",
                                                       json_wire_u64(error->count)));
    }
    if (status == 0 && tally->errors_beyond != 0) {
        status =
            json_array_append_new(list, json_pack("{s:n, s:n, s:s, s:o}", "statement", "code",
                                                  "message", "other messages than the first 8",
                                                  "count", json_wire_u64(tally->errors_beyond)));
    }
    if (status != 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *histogram_to_json(const struct histogram *histogram)
{
    json_t *buckets = json_array();
    for (uint32_t i = 0; buckets != NULL && i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0) {
            continue;
        }
        json_t *pair = json_pack("[I, o]", (json_int_t)i, json_wire_u64(histogram->buckets[i]));
        if (json_array_append_new(buckets, pair) != 0) {
            json_decref(buckets);
            return NULL;
        }
    }
    bool any = histogram->count != 0;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "count", json_wire_u64(histogram->count),
                     "overflow", json_wire_u64(histogram->overflow), "sum",
                     json_wire_u64(histogram->sum), "min",
                     any ? json_wire_u64(histogram->min) : json_null(), "max",
                     any ? json_wire_u64(histogram->max) : json_null(), "buckets", buckets);
}

static json_t *acknowledged_to_json(const struct tally *tally)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < tally->statement_count; i++) {
        if (json_array_append_new(list, json_wire_u64(tally->acknowledged[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

int tally_to_json(const struct tally *tally, json_t *object)
{
    static const char *const outcomes[OUTCOME_COUNT] = {"ok",     "busy",    "conflict",
                                                        "failed", "skipped", "open"};
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"attempted", tally->attempted}, {"retries", tally->retries},
                   {"rows_read", tally->rows_read}, {"rows_changed", tally->rows_changed},
                   {"time_ns", tally->time_ns},     {"slow", tally->slow}};
    int status = 0;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        status |= json_object_set_new(object, numbers[i].key, json_wire_u64(numbers[i].value));
    }
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        status |= json_object_set_new(object, outcomes[i], json_wire_u64(tally->outcomes[i]));
    }
    status |= json_object_set_new(object, "acknowledged", acknowledged_to_json(tally));
    status |= json_object_set_new(object, "errors", tally_errors_to_json(tally));
    status |= json_object_set_new(object, "latency", histogram_to_json(&tally->latency));
    if (tally->paced) {
        status |= json_object_set_new(object, "service", histogram_to_json(&tally->service));
        status |= json_object_set_new(object, "lag", histogram_to_json(&tally->lag));
    }
    return status;
}
