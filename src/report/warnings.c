#include "report/parts.h"

#include <inttypes.h>
#include <string.h>

enum { LOG_SHOWN = 5 };

static bool has_status(const char *status, const char *expected)
{
    return status != NULL && strcmp(status, expected) == 0;
}

static bool has_fault(const struct result_engine *engine, const char *fault)
{
    for (size_t i = 0; i < engine->known_faults.count; i++) {
        if (strcmp(engine->known_faults.items[i], fault) == 0) {
            return true;
        }
    }
    return false;
}

/* A fault of several engines, or of several versions of one, is told once, at the first of them. */
static bool told_before(const struct result *result, size_t engine, const char *fault)
{
    for (size_t i = 0; i < engine; i++) {
        if (has_fault(&result->engines.items[i], fault)) {
            return true;
        }
    }
    return false;
}

static void print_fault(const struct page *page, const struct result *result, size_t first,
                        const char *fault)
{
    struct buffer names;
    buffer_init(&names);
    for (size_t i = first; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        if (has_fault(engine, fault)) {
            buffer_printf(&names, "%s%s %s", i == first ? "" : ", ",
                          engine->name == NULL ? "–" : engine->name,
                          engine->version == NULL ? "" : engine->version);
        }
    }
    page_text(page, TONE_WARNING, "! ", "%s, known fault: %s", names.failed ? "–" : names.data,
              fault);
    buffer_release(&names);
}

/* Gives how many there are; with a page, prints them. */
static size_t go_through_faults(const struct page *page, const struct result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->engines.count; i++) {
        const result_strings *faults = &result->engines.items[i].known_faults;
        for (size_t j = 0; j < faults->count; j++) {
            if (told_before(result, i, faults->items[j])) {
                continue;
            }
            count++;
            if (page != NULL) {
                print_fault(page, result, i, faults->items[j]);
            }
        }
    }
    return count;
}

/* The last lines of what the worker printed. */
static void print_log(const struct page *page, const result_strings *log)
{
    size_t first = log->count > LOG_SHOWN ? log->count - LOG_SHOWN : 0;
    for (size_t i = first; i < log->count; i++) {
        page_text(page, TONE_PLAIN, "  | ", "%s", log->items[i]);
    }
}

/* "select-point, " where there are several cases. */
static const char *case_lead(const struct result *result, size_t of, struct buffer *text)
{
    buffer_clear(text);
    if (result->cases.count > 1) {
        buffer_printf(text, "%s, ", result->cases.items[of].label);
    }
    return text->data;
}

/* Why an engine failed in a case before any run of it. */
static void print_cases(const struct page *page, const struct result *result,
                        const struct result_engine *engine)
{
    for (size_t of = 0; of < engine->summaries.count && result->cases.count > 1; of++) {
        const struct result_summary *summary = &engine->summaries.items[of];
        bool ran = false;
        for (size_t i = 0; i < engine->runs.count; i++) {
            ran = ran || engine->runs.items[i].case_index == of;
        }
        if (!ran && summary->error != NULL) {
            page_text(page, TONE_FAILED, "  ", "%s failed: %s", result->cases.items[of].label,
                      summary->error);
        }
    }
}

/* Every failed or partial run of an engine; rounds that failed alike are told once. */
static void print_runs(const struct page *page, const struct result *result,
                       const struct result_engine *engine)
{
    const char *before = engine->error;
    struct buffer lead;
    buffer_init(&lead);
    print_cases(page, result, engine);
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        const char *error = run->error == NULL ? run->status : run->error;
        if (has_status(run->status, "ok")) {
            continue;
        }
        if (error != NULL && (before == NULL || strcmp(error, before) != 0)) {
            page_text(page, TONE_FAILED, "  ", "%sround %" PRIu64 " %s: %s",
                      case_lead(result, (size_t)run->case_index, &lead), run->round,
                      run->status == NULL ? "failed" : run->status, error);
            before = error;
        }
    }
    buffer_release(&lead);
    for (size_t i = engine->runs.count; i > 0; i--) {
        if (engine->runs.items[i - 1].log.count > 0) {
            print_log(page, &engine->runs.items[i - 1].log);
            break;
        }
    }
}

static bool any_run_not_ok(const struct result_engine *engine)
{
    for (size_t i = 0; i < engine->runs.count; i++) {
        if (!has_status(engine->runs.items[i].status, "ok")) {
            return true;
        }
    }
    return false;
}

static bool is_warning(const struct result *result, const char *text)
{
    for (size_t i = 0; i < result->warnings.count; i++) {
        const char *warning = result->warnings.items[i].text;
        if (warning != NULL && strcmp(warning, text) == 0) {
            return true;
        }
    }
    return false;
}

static void print_failures(const struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        bool ok = has_status(engine->status, "ok");
        if (ok && engine->error == NULL && !any_run_not_ok(engine)) {
            continue;
        }
        page_blank(page);
        if (has_status(engine->status, "differs")) {
            /* Its reason is a warning, and those stand right above. */
            page_text(
                page, TONE_FAILED, "", "%s differs: %s", engine->name == NULL ? "–" : engine->name,
                engine->error == NULL || is_warning(result, engine->error) ? "see its warnings"
                                                                           : engine->error);
            print_runs(page, result, engine);
            continue;
        }
        page_text(page, TONE_FAILED, "", "%s %s%s%s", engine->name == NULL ? "–" : engine->name,
                  ok                       ? "failed in a round"
                  : engine->status == NULL ? "failed"
                                           : engine->status,
                  engine->error == NULL ? "" : ": ", engine->error == NULL ? "" : engine->error);
        print_runs(page, result, engine);
    }
}

size_t warnings_print(const struct page *page, const struct result *result)
{
    size_t count = result->warnings.count + go_through_faults(NULL, result);
    if (count > 0) {
        page_blank(page);
        page_text(page, TONE_WARNING, "", "%zu warning%s", count, count == 1 ? "" : "s");
        go_through_faults(page, result);
        for (size_t i = 0; i < result->warnings.count; i++) {
            const struct result_warning *warning = &result->warnings.items[i];
            page_text(page, TONE_WARNING, "! ", "%s%s%s",
                      warning->subject == NULL ? "" : warning->subject,
                      warning->subject == NULL ? "" : ": ",
                      warning->text == NULL ? "–" : warning->text);
        }
    }
    print_failures(page, result);
    return count;
}
