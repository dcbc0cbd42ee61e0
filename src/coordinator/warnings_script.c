/* Whether the scripts did what they are for, often enough. */
#include "coordinator/warnings.h"

#include "base/buffer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An execution that touches rows touches at least one: below this many rows an execution, more than
 * 99 % of them touched none. */
#define ROWS_EACH_MIN 0.01

/* ---- rows and failures ----------------------------------------------------------------- */

/* A script of an engine over its runs in a case. */
struct totals {
    uint64_t ok, rows, failed, busy, conflict, open;
    const char *message; /* of the first failure */
};

static struct totals totals_of(const struct result_engine *engine, size_t of, size_t index)
{
    struct totals totals = {0};
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (run->case_index != of || index >= run->scripts.count) {
            continue;
        }
        const struct result_script *script = &run->scripts.items[index];
        totals.ok += script->ok;
        totals.rows += script->rows_read + script->rows_changed;
        totals.failed += script->failed;
        totals.busy += script->busy;
        totals.conflict += script->conflict;
        totals.open += script->open;
        if (totals.message == NULL && script->errors.count > 0) {
            totals.message = script->errors.items[0];
        }
    }
    return totals;
}

static int set_failed(char **status, char **error, const char *reason)
{
    if (*status != NULL && strcmp(*status, "failed") == 0) {
        return 0;
    }
    free(*status);
    free(*error);
    *status = strdup("failed");
    *error = strdup(reason);
    return *status != NULL && *error != NULL ? 0 : ERROR_MEMORY;
}

/* A script that never succeeded fails its case, and the engine when no case is left. */
static int fail_case(const struct result *result, struct result_engine *engine, size_t of,
                     const char *name, const char *message)
{
    struct result_summary *summary = &engine->summaries.items[of];
    bool several = result->cases.count > 1;
    char *reason = result_text("%s never succeeded: %s", name, message);
    char *full =
        result_text("%s%s%s never succeeded: %s", several ? result->cases.items[of].label : "",
                    several ? ", " : "", name, message);
    int status = reason != NULL && full != NULL
                     ? set_failed(&summary->status, &summary->error, reason)
                     : ERROR_MEMORY;
    bool left = false;
    for (size_t i = 0; i < engine->summaries.count; i++) {
        const char *other = engine->summaries.items[i].status;
        left = left || other == NULL || strcmp(other, "failed") != 0;
    }
    if (status == 0 && !left) {
        status = set_failed(&engine->status, &engine->error, full);
    } else if (status == 0 && engine->status != NULL && strcmp(engine->status, "failed") != 0) {
        free(engine->status);
        engine->status = strdup("partial");
        engine->error = engine->error != NULL ? engine->error : strdup(full);
        status = engine->status != NULL && engine->error != NULL ? 0 : ERROR_MEMORY;
    }
    free(reason);
    free(full);
    return status;
}

static int warn_failures(struct result *result, struct result_engine *engine, size_t of,
                         const char *name, const struct totals *totals)
{
    const char *message = totals->message != NULL ? totals->message : "no reason given";
    if (totals->failed == 0) {
        return 0;
    }
    int status = warnings_tell(result, engine->name, of, "%s failed %" PRIu64 " times: %s", name,
                               totals->failed, message);
    if (status == 0 && totals->ok > 0) {
        return warnings_differs(result, engine, of);
    }
    return status == 0 ? fail_case(result, engine, of, name, message) : status;
}

/* What was refused has no latency: a reader of the percentiles must know how much that was. */
static int warn_refused(struct result *result, const struct result_engine *engine, size_t of,
                        const char *name, const struct totals *totals)
{
    if (totals->busy + totals->conflict + totals->open == 0) {
        return 0;
    }
    return warnings_tell(result, engine->name, of,
                         "%s: %" PRIu64 " executions were busy, %" PRIu64 " in conflict, %" PRIu64
                         " still open at the end; they have no latency in these figures",
                         name, totals->busy, totals->conflict, totals->open);
}

/* A suite whose queries find nothing is fast and worthless. */
static int warn_rows(struct result *result, const struct result_engine *engine, size_t of,
                     const char *name, const struct totals *totals)
{
    if (totals->ok > 0 && totals->rows == 0) {
        return warnings_tell(result, engine->name, of, "%s never touched a row", name);
    }
    if (totals->ok > 0 && (double)totals->rows < ROWS_EACH_MIN * (double)totals->ok) {
        return warnings_tell(result, engine->name, of,
                             "%s touched no row in more than 99 %% of its executions: do its "
                             "parameters match the data?",
                             name);
    }
    return 0;
}

/* The first run of a case, which tells the names of its scripts. */
static const struct result_run *first_run(const struct result_engine *engine, size_t of)
{
    for (size_t i = 0; i < engine->runs.count; i++) {
        if (engine->runs.items[i].case_index == of) {
            return &engine->runs.items[i];
        }
    }
    return NULL;
}

int warn_scripts(struct result *result, struct result_engine *engine, size_t of)
{
    int status = 0;
    const struct result_run *first = first_run(engine, of);
    const size_t scripts = first != NULL ? first->scripts.count : 0;
    for (size_t s = 0; s < scripts && status == 0; s++) {
        const char *name = first->scripts.items[s].script;
        struct totals totals = totals_of(engine, of, s);
        status = warn_rows(result, engine, of, name, &totals);
        status = status == 0 ? warn_refused(result, engine, of, name, &totals) : status;
        status = status == 0 ? warn_failures(result, engine, of, name, &totals) : status;
    }
    return status;
}

/* ---- thin percentiles -------------------------------------------------------------------- */

/* The ones that tables show and readers quote. */
static const struct {
    const char *label;
    uint32_t numerator, denominator;
} points[] = {{"p99", 99, 100}, {"p99.9", 999, 1000}};
enum { POINTS = sizeof points / sizeof *points, NAMES_MAX = 6 };

/* Scripts are found by their place: all engines run the same ones in a case. */
static bool is_thin(const struct result *result, const bool *exempt, size_t of, size_t script,
                    size_t point)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count && !exempt[i]; k++) {
            const struct result_run *run = &engine->runs.items[k];
            if (warnings_run_counts(run, of) && script < run->scripts.count &&
                histogram_thin(run->scripts.items[script].ok, points[point].numerator,
                               points[point].denominator)) {
                return true;
            }
        }
    }
    return false;
}

/* A run that tells the names of the scripts of a case; NULL: none counts. */
static const struct result_run *any_run(const struct result *result, const bool *exempt, size_t of)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count && !exempt[i]; k++) {
            if (warnings_run_counts(&engine->runs.items[k], of)) {
                return &engine->runs.items[k];
            }
        }
    }
    return NULL;
}

/* "user_by_id", "select-point" (the case of that name), "read-write-mix ×4: reader". */
static void append_script(struct buffer *out, const struct result *result, size_t of,
                          const char *script)
{
    const char *label = result->cases.items[of].label;
    if (result->cases.count > 1 && strcmp(label, script) != 0) {
        buffer_printf(out, "%s: ", label);
    }
    buffer_puts(out, script);
}

/* "a, b", or "every script"; nothing when there is none. */
static void name_thin(struct buffer *out, const struct result *result, const bool *exempt,
                      size_t point)
{
    size_t count = 0;
    size_t scripts = 0;
    for (size_t of = 0; of < result->cases.count; of++) {
        const struct result_run *run = any_run(result, exempt, of);
        scripts += run != NULL ? run->scripts.count : 0;
        for (size_t s = 0; run != NULL && s < run->scripts.count; s++) {
            if (!is_thin(result, exempt, of, s, point)) {
                continue;
            }
            if (count < NAMES_MAX) {
                buffer_puts(out, count > 0 ? ", " : "");
                append_script(out, result, of, run->scripts.items[s].script);
            }
            count++;
        }
    }
    if (count == scripts && count > 1) {
        buffer_clear(out);
        buffer_puts(out, "every script");
    } else if (count > NAMES_MAX) {
        buffer_printf(out, " and %zu more", count - NAMES_MAX);
    }
}

/* "p99 of a, b; p99.9 of every script"; what is thin at p99 is so at p99.9. */
static void append_thin(struct buffer *out, const struct result *result, const bool *exempt)
{
    struct buffer names[POINTS];
    for (size_t point = 0; point < POINTS; point++) {
        buffer_init(&names[point]);
        name_thin(&names[point], result, exempt, point);
    }
    if (names[0].length > 0 && strcmp(names[0].data, names[1].data) == 0) {
        buffer_printf(out, "%s and %s of %s", points[0].label, points[1].label, names[0].data);
    } else {
        for (size_t point = 0; point < POINTS; point++) {
            if (names[point].length > 0) {
                buffer_printf(out, "%s%s of %s", out->length > 0 ? "; " : "", points[point].label,
                              names[point].data);
            }
        }
    }
    for (size_t point = 0; point < POINTS; point++) {
        out->failed = out->failed || names[point].failed;
        buffer_release(&names[point]);
    }
}

static bool by_duration(const struct result *result)
{
    for (size_t of = 0; of < result->cases.count; of++) {
        if (result->cases.items[of].duration_ns != RESULT_ABSENT) {
            return true;
        }
    }
    return false;
}

int warn_thin(struct result *result, const bool *exempt)
{
    struct buffer text;
    int status = 0;
    buffer_init(&text);
    append_thin(&text, result, exempt);
    if (text.failed) {
        status = ERROR_MEMORY;
    } else if (text.length > 0) {
        status = result_warn(result, NULL,
                             "fewer than 10 samples above a percentile in a round: %s; these are "
                             "marked ~, and %s would settle them",
                             text.data,
                             by_duration(result) ? "more rounds or a longer --duration"
                                                 : "more executions in a round");
    }
    buffer_release(&text);
    return status;
}
