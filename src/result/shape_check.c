/* What must hold between the fields of things that were read. */
#include "result/shape_check.h"

#include <inttypes.h>
#include <string.h>

static void check_status(const char *status, struct buffer *wrong)
{
    if (strcmp(status, "ok") != 0 && strcmp(status, "partial") != 0 &&
        strcmp(status, "failed") != 0) {
        buffer_printf(wrong, "status is '%.40s', not ok, partial or failed", status);
    }
}

static void check_engine_status(const char *status, struct buffer *wrong)
{
    if (strcmp(status, "ok") != 0 && strcmp(status, "partial") != 0 &&
        strcmp(status, "failed") != 0 && strcmp(status, "differs") != 0 &&
        strcmp(status, "unable") != 0) {
        buffer_printf(wrong, "status is '%.40s', not ok, partial, failed, differs or unable",
                      status);
    }
}

void shape_check_run(const void *item, struct buffer *wrong)
{
    const struct result_run *run = item;
    check_status(run->status, wrong);
    for (size_t i = 0; i < run->seconds.count && wrong->length == 0; i++) {
        const struct result_second *second = &run->seconds.items[i];
        if ((second->operations.count != 0 && second->operations.count != run->scripts.count) ||
            (second->slow.count != 0 && second->slow.count != run->scripts.count)) {
            buffer_printf(wrong, "seconds[%zu] holds %zu and %zu counts for %zu scripts", i,
                          second->operations.count, second->slow.count, run->scripts.count);
        }
    }
}

void shape_check_summary(const void *item, struct buffer *wrong)
{
    const char *status = ((const struct result_summary *)item)->status;
    if (status != NULL) {
        check_engine_status(status, wrong);
    }
}

/* A run that is aside must say so wherever it is looked at, and no other one may. */
void shape_check_engine(const void *item, struct buffer *wrong)
{
    const struct result_engine *engine = item;
    check_engine_status(engine->status, wrong);
    for (size_t i = 0; i < engine->runs.count && wrong->length == 0; i++) {
        if (engine->runs.items[i].aside != NULL) {
            buffer_printf(wrong, "runs[%zu] is aside ('%.40s'), but not in the list of that name",
                          i, engine->runs.items[i].aside);
        }
    }
    for (size_t i = 0; i < engine->aside.count && wrong->length == 0; i++) {
        if (engine->aside.items[i].aside == NULL) {
            buffer_printf(wrong, "aside[%zu] does not say why", i);
        }
    }
}

void shape_check_script(const void *item, struct buffer *wrong)
{
    const struct result_script *script = item;
    const uint64_t outcomes[] = {script->ok,     script->busy,    script->conflict,
                                 script->failed, script->skipped, script->open};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        if (__builtin_add_overflow(sum, outcomes[i], &sum)) {
            buffer_puts(wrong, "the outcomes add up to more than 64 bits hold");
            return;
        }
    }
    if (sum != script->attempted) {
        buffer_printf(wrong, "attempted is %" PRIu64 ", but the outcomes add up to %" PRIu64,
                      script->attempted, sum);
        return;
    }
    const struct histogram *histogram = script->latency.histogram;
    if (histogram != NULL && histogram->count != script->ok) {
        buffer_printf(wrong, "latency holds %" PRIu64 " samples for %" PRIu64 " ok executions",
                      histogram->count, script->ok);
    }
    const struct histogram *service = script->service.histogram;
    const struct histogram *lag = script->lag.histogram;
    if ((service != NULL && service->count != script->ok) ||
        (lag != NULL && lag->count != script->ok)) {
        buffer_printf(wrong,
                      "service and lag hold %" PRIu64 " and %" PRIu64 " samples for %" PRIu64
                      " ok executions",
                      service != NULL ? service->count : 0, lag != NULL ? lag->count : 0,
                      script->ok);
    }
}

void shape_check_loop_part(const void *item, struct buffer *wrong)
{
    const struct result_loop_part *part = item;
    const struct histogram *histogram = part->tail.latency.histogram;
    uint64_t sum = 0;
    if (__builtin_add_overflow(part->ok, part->busy, &sum) ||
        __builtin_add_overflow(sum, part->conflict, &sum) ||
        __builtin_add_overflow(sum, part->failed, &sum) || sum != part->attempted) {
        buffer_printf(wrong, "attempted is %" PRIu64 ", but the outcomes do not add up to it",
                      part->attempted);
    } else if (histogram != NULL && histogram->count != part->ok) {
        buffer_printf(wrong, "latency holds %" PRIu64 " samples for %" PRIu64 " ok executions",
                      histogram->count, part->ok);
    }
}

static void check_verdict(const char *verdict, struct buffer *wrong)
{
    static const char *const verdicts[] = {"faster", "slower", "no difference shown",
                                           "closed loop"};
    bool known = verdict == NULL;
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        known = known || strcmp(verdict, verdicts[i]) == 0;
    }
    if (!known) {
        buffer_printf(wrong,
                      "verdict is '%.40s', not faster, slower, no difference shown or closed loop",
                      verdict);
    }
}

void shape_check_cell(const void *item, struct buffer *wrong)
{
    check_verdict(((const struct result_comparison_cell *)item)->verdict, wrong);
}

void shape_check_mean(const void *item, struct buffer *wrong)
{
    check_verdict(((const struct result_comparison_mean *)item)->verdict, wrong);
}

void shape_check_against_row(const void *item, struct buffer *wrong)
{
    check_verdict(((const struct result_against_row *)item)->verdict, wrong);
}

void shape_check_numbers_side(const void *item, struct buffer *wrong)
{
    const struct result_numbers_side *side = item;
    uint64_t samples = side->latency.histogram != NULL ? side->latency.histogram->count : 0;
    if (samples != side->count) {
        buffer_printf(wrong, "latency holds %" PRIu64 " samples, but count is %" PRIu64, samples,
                      side->count);
    }
}

void shape_check_numbers(const void *item, struct buffer *wrong)
{
    const char *status = ((const struct result_numbers *)item)->status;
    if (strcmp(status, "ok") != 0 && strcmp(status, "failed") != 0) {
        buffer_printf(wrong, "status is '%.40s', not ok or failed", status);
    }
}

/* Indexes name something that is there: readers rely on it. */
static void check_indexes(const struct result *result, struct buffer *wrong)
{
    size_t cases = result->cases.count;
    for (size_t i = 0; i < cases; i++) {
        uint64_t template = result->cases.items[i].template;
        if (template != RESULT_ABSENT && template >= result->templates.count) {
            buffer_printf(wrong, "cases[%zu].template is %" PRIu64 ", there are %zu templates", i,
                          template, result->templates.count);
            return;
        }
    }
    for (size_t i = 0; i < result->comparison.tables.count; i++) {
        const struct result_comparison_table *table = &result->comparison.tables.items[i];
        for (size_t k = 0; k < table->rows.count; k++) {
            if (table->rows.items[k].case_index >= cases) {
                buffer_printf(wrong,
                              "comparison.tables[%zu].rows[%zu].case is %" PRIu64
                              ", there are %zu cases",
                              i, k, table->rows.items[k].case_index, cases);
                return;
            }
        }
    }
}

static void check_cases(const struct result_run *runs, size_t count, size_t engine,
                        const char *list, size_t cases, struct buffer *wrong)
{
    for (size_t i = 0; i < count && wrong->length == 0; i++) {
        if (runs[i].case_index >= cases) {
            buffer_printf(wrong, "engines[%zu].%s[%zu].case is %" PRIu64 ", there are %zu cases",
                          engine, list, i, runs[i].case_index, cases);
        }
    }
}

void shape_check_result(const void *item, struct buffer *wrong)
{
    const struct result *result = item;
    size_t cases = result->cases.count;
    check_indexes(result, wrong);
    for (size_t i = 0; i < result->engines.count && wrong->length == 0; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        if (engine->summaries.count != 0 && engine->summaries.count != cases) {
            buffer_printf(wrong, "engines[%zu] has %zu summaries for %zu cases", i,
                          engine->summaries.count, cases);
        }
        check_cases(engine->runs.items, engine->runs.count, i, "runs", cases, wrong);
        check_cases(engine->aside.items, engine->aside.count, i, "aside", cases, wrong);
    }
}
