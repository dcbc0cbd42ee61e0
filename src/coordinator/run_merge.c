#include "coordinator/run_merge.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the result of a run");
}

/* ---- figures ----------------------------------------------------------------------------- */

enum rule { RULE_SUM, RULE_LONGEST };

static const struct {
    size_t offset;
    enum rule rule;
} figures[] = {
    {offsetof(struct result_run, window_ns), RULE_LONGEST},
    {offsetof(struct result_run, cpu_user_ns), RULE_SUM},
    {offsetof(struct result_run, cpu_system_ns), RULE_SUM},
    {offsetof(struct result_run, minor_faults), RULE_SUM},
    {offsetof(struct result_run, major_faults), RULE_SUM},
    {offsetof(struct result_run, voluntary_switches), RULE_SUM},
    {offsetof(struct result_run, involuntary_switches), RULE_SUM},
    {offsetof(struct result_run, read_bytes), RULE_SUM},
    {offsetof(struct result_run, write_bytes), RULE_SUM},
    {offsetof(struct result_run, close_ns), RULE_LONGEST},
    {offsetof(struct result_run, peak_memory_bytes), RULE_SUM},
    {offsetof(struct result_run, warmup_operations), RULE_SUM},
    {offsetof(struct result_run, warmup_ns), RULE_LONGEST},
};

static uint64_t *figure_at(struct result_run *run, size_t offset)
{
    return (uint64_t *)((char *)run + offset);
}

static uint64_t combine(struct result_run *parts, size_t count, size_t offset, enum rule rule)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t own = *figure_at(&parts[i], offset);
        if (own == RESULT_ABSENT) {
            return RESULT_ABSENT;
        }
        all = rule == RULE_SUM ? all + own : own > all ? own : all;
    }
    return all;
}

/* ---- connections and scripts ---------------------------------------------------------------- */

static int move_connections(struct result_run *part, struct result_run *run, struct error *error)
{
    for (size_t i = 0; i < part->connections.count; i++) {
        struct result_connection *added = result_list_add(&run->connections);
        if (added == NULL) {
            return no_memory(error);
        }
        *added = part->connections.items[i];
        memset(&part->connections.items[i], 0, sizeof *added);
    }
    return 0;
}

/* Splits "no such table: t (3 times)". */
static size_t message_length(const char *text, unsigned long long *count)
{
    const char *end = strrchr(text, '(');
    *count = end != NULL ? strtoull(end + 1, NULL, 10) : 0;
    return end != NULL ? (size_t)(end - text) : strlen(text);
}

/* The same message of two workers is one, as often as both said it. */
static int merge_message(const char *text, result_strings *into, struct error *error)
{
    unsigned long long count;
    size_t length = message_length(text, &count);
    for (size_t i = 0; i < into->count; i++) {
        unsigned long long before;
        char **known = &into->items[i];
        if (message_length(*known, &before) == length && strncmp(*known, text, length) == 0) {
            char *both = result_text("%.*s(%llu times)", (int)length, text, before + count);
            if (both == NULL) {
                return no_memory(error);
            }
            free(*known);
            *known = both;
            return 0;
        }
    }
    char **added = result_list_add(into);
    return added != NULL && (*added = strdup(text)) != NULL ? 0 : no_memory(error);
}

static void merge_times(struct result_latency *from, struct result_latency *into)
{
    if (into->histogram == NULL) {
        into->histogram = from->histogram;
        from->histogram = NULL;
    } else if (from->histogram != NULL) {
        histogram_merge(into->histogram, from->histogram);
    }
}

static int merge_script(struct result_script *from, struct result_script *into, struct error *error)
{
    const size_t counts[] = {
        offsetof(struct result_script, attempted), offsetof(struct result_script, ok),
        offsetof(struct result_script, busy),      offsetof(struct result_script, conflict),
        offsetof(struct result_script, failed),    offsetof(struct result_script, skipped),
        offsetof(struct result_script, open),      offsetof(struct result_script, retries),
        offsetof(struct result_script, rows_read), offsetof(struct result_script, rows_changed),
        offsetof(struct result_script, time_ns),   offsetof(struct result_script, slow),
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *(uint64_t *)((char *)into + counts[i]) += *(uint64_t *)((char *)from + counts[i]);
    }
    for (size_t i = 0; i < into->acknowledged.count && i < from->acknowledged.count; i++) {
        into->acknowledged.items[i] += from->acknowledged.items[i];
    }
    merge_times(&from->latency, &into->latency);
    merge_times(&from->service, &into->service);
    merge_times(&from->lag, &into->lag);
    int status = 0;
    for (size_t i = 0; i < from->errors.count && status == 0; i++) {
        status = merge_message(from->errors.items[i], &into->errors, error);
    }
    return status;
}

/* Where a script of a part stands in the run; run->scripts.count: not yet. */
static size_t find_script(const struct result_run *run, const struct result_script *like)
{
    size_t index = 0;
    while (index < run->scripts.count &&
           (strcmp(run->scripts.items[index].role, like->role) != 0 ||
            strcmp(run->scripts.items[index].script, like->script) != 0)) {
        index++;
    }
    return index;
}

static int merge_scripts(struct result_run *part, struct result_run *run, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < part->scripts.count && status == 0; i++) {
        struct result_script *script = &part->scripts.items[i];
        size_t index = find_script(run, script);
        if (index < run->scripts.count) {
            status = merge_script(script, &run->scripts.items[index], error);
            continue;
        }
        struct result_script *added = result_list_add(&run->scripts);
        if (added == NULL) {
            return no_memory(error);
        }
        *added = *script;
        /* Its names are still needed, to find the counts of its seconds. */
        memset(script, 0, sizeof *script);
        script->role = strdup(added->role);
        script->script = strdup(added->script);
        status = script->role != NULL && script->script != NULL ? 0 : no_memory(error);
    }
    return status;
}

/* ---- seconds ------------------------------------------------------------------------------- */

static double last_of(const struct result_run *part)
{
    return part->seconds.count > 0 ? part->seconds.items[part->seconds.count - 1].at_s : 0;
}

static int add_empty_second(struct result_run *run, double at_s, struct error *error)
{
    struct result_second *second = result_list_add(&run->seconds);
    if (second == NULL) {
        return no_memory(error);
    }
    second->at_s = at_s;
    second->database_bytes = second->wal_bytes = RESULT_ABSENT;
    for (size_t i = 0; i < run->scripts.count; i++) {
        uint64_t *operations = result_list_add(&second->operations);
        uint64_t *slow = result_list_add(&second->slow);
        if (operations == NULL || slow == NULL) {
            return no_memory(error);
        }
    }
    return 0;
}

/* A part that ended earlier has a last entry that is shorter than a second: it belongs to the one
 * of the run in which it ends. */
static void add_seconds(const struct result_run *part, struct result_run *run)
{
    size_t at = 0;
    for (size_t i = 0; i < part->seconds.count; i++) {
        const struct result_second *own = &part->seconds.items[i];
        while (at + 1 < run->seconds.count && run->seconds.items[at].at_s < own->at_s) {
            at++;
        }
        struct result_second *second = &run->seconds.items[at];
        for (size_t k = 0; k < part->scripts.count; k++) {
            size_t index = find_script(run, &part->scripts.items[k]);
            second->operations.items[index] += own->operations.items[k];
            second->slow.items[index] += own->slow.items[k];
        }
    }
}

/* What was seen nearest to this moment, NULL if nothing was within half a second. */
static const struct result_second *seen_at(const struct result_second *seen, size_t count,
                                           double at_s)
{
    const struct result_second *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        double distance = fabs(seen[i].at_s - at_s);
        if (distance <= 0.5 && (nearest == NULL || distance < fabs(nearest->at_s - at_s))) {
            nearest = &seen[i];
        }
    }
    return nearest;
}

static void add_sizes(const struct result_second *seen, size_t count, struct result_run *run)
{
    for (size_t i = 0; i < run->seconds.count; i++) {
        const struct result_second *sizes = seen_at(seen, count, run->seconds.items[i].at_s);
        if (sizes != NULL) {
            run->seconds.items[i].database_bytes = sizes->database_bytes;
            run->seconds.items[i].wal_bytes = sizes->wal_bytes;
        }
    }
}

static int merge_seconds(struct result_run *parts, size_t count, struct result_run *run,
                         struct error *error)
{
    struct result_second *seen = run->seconds.items;
    size_t seen_count = run->seconds.count;
    const struct result_run *longest = &parts[0];
    int status = 0;
    run->seconds.items = NULL;
    run->seconds.count = 0;
    for (size_t i = 1; i < count; i++) {
        longest = last_of(&parts[i]) > last_of(longest) ? &parts[i] : longest;
    }
    for (size_t i = 0; i < longest->seconds.count && status == 0; i++) {
        status = add_empty_second(run, longest->seconds.items[i].at_s, error);
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        add_seconds(&parts[i], run);
    }
    if (status == 0) {
        add_sizes(seen, seen_count, run);
    }
    free(seen);
    return status;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* NULL: there is no result. */
static const char *status_of(const struct result_run *parts, size_t count)
{
    const char *status = parts[0].status;
    for (size_t i = 1; i < count && status != NULL; i++) {
        const char *own = parts[i].status;
        status = own == NULL || strcmp(own, "partial") == 0 ? own : status;
    }
    return status;
}

int run_merge(struct result_run *parts, size_t count, struct result_run *run, struct error *error)
{
    const char *said = status_of(parts, count);
    int status = 0;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        *figure_at(run, figures[i].offset) =
            combine(parts, count, figures[i].offset, figures[i].rule);
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        status = move_connections(&parts[i], run, error);
    }
    if (status == 0 && said == NULL) {
        return 0;
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        status = merge_scripts(&parts[i], run, error);
    }
    if (status == 0) {
        status = merge_seconds(parts, count, run, error);
    }
    if (status == 0) {
        free(run->status);
        run->status = strdup(said);
        status = run->status != NULL ? 0 : no_memory(error);
    }
    return status;
}
