#include "base/units.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Leads are 10 columns, so that all values stand below each other. */
#define LEAD_NONE "          "

static const char *known(const char *text)
{
    return text == NULL ? "–" : text;
}

static double figure(uint64_t value)
{
    return value == RESULT_ABSENT ? (double)NAN : (double)value;
}

/* Texts of numbers; each call site owns its array. */
typedef char units_text[UNITS_TEXT_SIZE];

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* What all cases have in common, as far as it is not the command itself. */
static void append_suite(struct buffer *text, const struct result *result)
{
    const struct result_case *first = &result->cases.items[0];
    bool suite = true;
    bool scale = true;
    for (size_t i = 1; i < result->cases.count; i++) {
        const struct result_case *other = &result->cases.items[i];
        suite = suite && same(first->suite, other->suite) &&
                same(first->suite_folder, other->suite_folder);
        scale = scale && suite && same(first->scale, other->scale);
    }
    if (suite && first->suite != NULL && !same(first->suite, result->command)) {
        buffer_printf(text, ", suite %s", first->suite);
    }
    if (suite && first->suite_folder != NULL) {
        buffer_printf(text, " from %s", first->suite_folder);
    }
    if (scale && first->scale != NULL) {
        buffer_printf(text, ", scale %s", first->scale);
    }
    if (result->cases.count == 1 && first->scenario != NULL) {
        buffer_printf(text, ", scenario %s", first->scenario);
    }
}

static void head_title(const struct page *page, const struct result *result)
{
    struct buffer text;
    buffer_init(&text);
    buffer_printf(&text, "pitot %s", known(result->command));
    if (result->cases.count > 0) {
        append_suite(&text, result);
    }
    buffer_printf(&text, " (pitot %s, %s)", known(result->pitot_version), known(result->started));
    page_text(page, TONE_BOLD, "", "%s", text.data);
    buffer_release(&text);
    if (!page->markdown) { /* there it stands above a head that is folded */
        head_print_state(page, result);
    }
}

void head_print_state(const struct page *page, const struct result *result)
{
    if (result->build != NULL && strcmp(result->build, "release") != 0) {
        page_text(page, TONE_FAILED, "", "A %s build of pitot: these numbers mean nothing.",
                  result->build);
    }
    if (result->partial) {
        page_text(page, TONE_WARNING, "",
                  "Ended early: not everything that was asked was measured.");
    }
}

/* Connections of the first run of a case that had any; what was asked for otherwise. */
static uint64_t connection_count(const struct result *result, size_t of)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t j = 0; j < engine->runs.count; j++) {
            if (engine->runs.items[j].case_index == of &&
                engine->runs.items[j].connections.count > 0) {
                return engine->runs.items[j].connections.count;
            }
        }
    }
    return result->cases.items[of].threads;
}

static void append_pairs(struct buffer *text, const result_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        buffer_printf(text, "%s%s=%s", i == 0 ? "" : ", ", known(pairs->items[i].name),
                      known(pairs->items[i].value));
    }
}

static void append_variables(struct buffer *text, const struct result_case *of)
{
    if (of->variables.count > 0) {
        buffer_puts(text, "; ");
        append_pairs(text, &of->variables);
    }
}

/* ", open loop at 8,641 operations/s, 70 % of the slowest without a rate (sqlite 12,345, …)" */
void case_append_rate(struct buffer *text, const struct result_case *of)
{
    units_text number;
    if (!isfinite(of->rate)) {
        return;
    }
    units_print_count(number, of->rate);
    buffer_printf(text, ", open loop at %s operations/s", number);
    if (!isfinite(of->rate_share)) {
        return;
    }
    buffer_printf(text, ", %g %% of the slowest in a closed loop (", of->rate_share * 100);
    for (size_t i = 0; i < of->closed_loops.count; i++) {
        units_print_count(number, of->closed_loops.items[i].operations_per_second);
        buffer_printf(text, "%s%s %s/s", i > 0 ? ", " : "", known(of->closed_loops.items[i].engine),
                      number);
    }
    buffer_puts(text, ")");
}

/* " of 5.00 s, warm-up 3.00 s" */
static void append_extent(struct buffer *text, const struct result *result, size_t of)
{
    const struct result_case *item = &result->cases.items[of];
    units_text number;
    if (item->duration_ns != RESULT_ABSENT) {
        units_print_ns(number, (double)item->duration_ns);
        buffer_printf(text, " of %s", number);
    } else {
        units_print_count(number, figure(item->operations));
        buffer_printf(text, " of %s %s a connection", number,
                      same(result->command, "concurrent") ? "operations" : "executions");
    }
    if (item->warmup_ns != RESULT_ABSENT) {
        units_print_ns(number, (double)item->warmup_ns);
        buffer_printf(text, ", warm-up %s", number);
    } else {
        units_print_count(number, figure(item->warmup_operations));
        buffer_printf(text, ", warm-up %s operations", number);
    }
    if (same(item->isolation, "processes")) {
        buffer_puts(text, ", each connection in a process of its own");
    }
}

/* "4 connections, 3 rounds of 5.00 s, warm-up 3.00 s" */
static void append_length(struct buffer *text, const struct result *result, size_t of)
{
    uint64_t connections = connection_count(result, of);
    uint64_t rounds = result->plan.rounds;
    buffer_printf(text, "%" PRIu64 " connection%s, %" PRIu64 " round%s", connections,
                  connections == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s");
    append_extent(text, result, of);
    case_append_rate(text, &result->cases.items[of]);
}

void case_append_load(struct buffer *text, const struct result *result, size_t of)
{
    append_length(text, result, of);
    append_variables(text, &result->cases.items[of]);
}

/* All cases last as long, and have the same variables. */
static bool same_load(const struct result *result)
{
    const struct result_case *first = &result->cases.items[0];
    bool alike = true;
    for (size_t i = 1; i < result->cases.count && alike; i++) {
        const struct result_case *other = &result->cases.items[i];
        alike = first->duration_ns == other->duration_ns &&
                first->operations == other->operations && first->warmup_ns == other->warmup_ns &&
                first->warmup_operations == other->warmup_operations &&
                same(first->isolation, other->isolation) &&
                first->variables.count == other->variables.count;
        for (size_t k = 0; k < first->variables.count && alike; k++) {
            alike = same(first->variables.items[k].name, other->variables.items[k].name) &&
                    same(first->variables.items[k].value, other->variables.items[k].value);
        }
    }
    return alike;
}

/* Of several cases each says its own load, as far as it is one. */
static void head_load(const struct page *page, const struct result *result)
{
    const struct result_plan *plan = &result->plan;
    struct buffer text;
    units_text number;

    bool alike = result->cases.count > 0 && same_load(result);

    buffer_init(&text);
    if (result->cases.count == 1) {
        append_length(&text, result, 0);
    } else {
        buffer_printf(&text, "%zu cases, %" PRIu64 " round%s", result->cases.count, plan->rounds,
                      plan->rounds == 1 ? "" : "s");
        if (alike) {
            append_extent(&text, result, 0);
        }
    }
    units_print_ns(number, (double)plan->busy_timeout_ms * 1e6);
    buffer_printf(&text, ", busy timeout %s, seed %" PRIu64, number, plan->seed);
    if (alike) {
        append_variables(&text, &result->cases.items[0]);
    }
    page_text(page, TONE_PLAIN, "Load      ", "%s", text.data);
    buffer_clear(&text);
    append_pairs(&text, &plan->settings);
    if (text.length > 0) {
        page_text(page, TONE_PLAIN, "Settings  ", "%s", text.data);
    }
    buffer_release(&text);
}

static void head_host(const struct page *page, const struct result_host *host)
{
    struct buffer text;
    units_text number;
    units_text total;

    buffer_init(&text);
    units_print_count(number, figure(host->cores));
    buffer_printf(&text, "%s, %s core%s", known(host->cpu_model), number,
                  host->cores == 1 ? "" : "s");
    if (host->cores_online != RESULT_ABSENT && host->cores_online != host->cores) {
        buffer_printf(&text, " of %" PRIu64, host->cores_online);
    }
    if (host->virtual_machine == NULL) {
        buffer_puts(&text, ", virtual machine –");
    } else if (strcmp(host->virtual_machine, "none") == 0) {
        buffer_puts(&text, ", no virtual machine");
    } else {
        buffer_printf(&text, ", virtual machine (%s)", host->virtual_machine);
    }
    if (isfinite(host->load_average)) {
        units_print_count(number, host->load_average);
        buffer_printf(&text, ", load %s", number);
    }
    page_text(page, TONE_PLAIN, "CPU       ", "%s", text.data);

    units_print_bytes(number, figure(host->memory_available_bytes));
    units_print_bytes(total, figure(host->memory_total_bytes));
    page_text(page, TONE_PLAIN, "System    ", "%s, %s, memory %s free of %s", known(host->kernel),
              known(host->operating_system), number, total);

    units_print_ns(number, host->clock_cost_ns);
    page_text(page, TONE_PLAIN, "Clock     ", "%s, %s a reading", known(host->clock_source),
              number);
    buffer_release(&text);
}

static void append_template(struct buffer *text, const struct result_template *template)
{
    units_text number;
    units_print_bytes(number, figure(template->bytes));
    buffer_printf(text, "; template %s", number);
    if (template->engine != NULL) {
        buffer_printf(text, " by %s %s", template->engine, known(template->engine_version));
    }
    if (template->reused) {
        buffer_puts(text, ", reused");
    } else if (isfinite(template->build_seconds)) {
        units_print_ns(number, template->build_seconds * 1e9);
        buffer_printf(text, ", built in %s", number);
    }
}

static void head_data(const struct page *page, const struct result *result)
{
    struct buffer text;
    buffer_init(&text);
    buffer_printf(&text, "%s on %s", known(result->host.data_folder),
                  known(result->host.file_system));
    if (result->host.device != NULL) {
        buffer_printf(&text, " (%s)", result->host.device);
    }
    for (size_t i = 0; i < result->templates.count; i++) {
        append_template(&text, &result->templates.items[i]);
    }
    page_text(page, TONE_PLAIN, "Data      ", "%s", text.data);
    buffer_release(&text);
}

/* Settings that an engine read back otherwise than asked. */

static bool same_setting(const struct result_setting *a, const struct result_setting *b)
{
    return same(a->name, b->name) && same(a->asked, b->asked) && same(a->got, b->got);
}

/* Walks the settings of all connections of all runs; `visit` returns false to end. */
static void each_setting(const struct result_engine *engine,
                         bool (*visit)(const struct result_setting *, void *), void *context)
{
    for (size_t i = 0; i < engine->runs.count; i++) {
        const struct result_run *run = &engine->runs.items[i];
        for (size_t j = 0; j < run->connections.count; j++) {
            const result_settings *settings = &run->connections.items[j].settings;
            for (size_t k = 0; k < settings->count; k++) {
                if (!visit(&settings->items[k], context)) {
                    return;
                }
            }
        }
    }
}

enum { DIFFERING_MAX = 16 };

struct readback {
    size_t settings;
    size_t differing_count;
    const struct result_setting *differing[DIFFERING_MAX]; /* distinct, the first ones */
};

static bool collect(const struct result_setting *setting, void *context)
{
    struct readback *readback = context;
    readback->settings++;
    if (setting->agrees) {
        return true;
    }
    for (size_t i = 0; i < readback->differing_count; i++) {
        if (same_setting(setting, readback->differing[i])) {
            return true;
        }
    }
    if (readback->differing_count == DIFFERING_MAX) {
        return false;
    }
    readback->differing[readback->differing_count++] = setting;
    return true;
}

static size_t engine_connections(const struct result_engine *engine)
{
    size_t most = 0;
    for (size_t i = 0; i < engine->runs.count; i++) {
        size_t count = engine->runs.items[i].connections.count;
        most = count > most ? count : most;
    }
    return most;
}

/* Returns whether a required setting differs. */
static bool append_readback(struct buffer *text, const struct result_engine *engine)
{
    bool required = false;
    struct readback readback = {0};
    each_setting(engine, collect, &readback);
    if (readback.settings == 0) {
        buffer_puts(text, "; settings were not read back");
        return false;
    }
    if (readback.differing_count == 0) {
        size_t connections = engine_connections(engine);
        buffer_printf(text, "; settings read back as asked (%zu of %zu connections)", connections,
                      connections);
        return false;
    }
    buffer_puts(text, "; settings differ: ");
    for (size_t i = 0; i < readback.differing_count; i++) {
        const struct result_setting *setting = readback.differing[i];
        buffer_printf(text, "%s%s asked %s, got %s%s", i == 0 ? "" : "; ", known(setting->name),
                      known(setting->asked), setting->got == NULL ? "nothing" : setting->got,
                      setting->required ? " (required)" : "");
        required = required || setting->required;
    }
    return required;
}

static void append_libraries(struct buffer *text, const struct result_engine *engine)
{
    for (size_t i = 0; i < engine->libraries.count; i++) {
        const struct result_library *library = &engine->libraries.items[i];
        buffer_printf(text, ", library %s",
                      known(library->real != NULL ? library->real : library->asked));
        /* Another file than the named one: a library that forwards. */
        if (library->real != NULL && library->asked != NULL && library->asked[0] == '/' &&
            !same(library->asked, library->real)) {
            buffer_printf(text, " (asked %s)", library->asked);
        }
    }
}

void report_append_binding(struct buffer *text, const struct result_engine *engine)
{
    if (engine->binding_version != NULL) {
        buffer_printf(text, ", package %s", engine->binding_version);
    }
    if (engine->runtime != NULL) {
        buffer_printf(text, ", %s", engine->runtime);
    }
    for (size_t i = 0; i < engine->options.count; i++) {
        const struct result_pair *option = &engine->options.items[i];
        buffer_printf(text, ", option %s=%s", known(option->name), known(option->value));
    }
}

static void head_engines(const struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        struct buffer text;
        buffer_init(&text);
        buffer_printf(&text, "%s: version %s", known(engine->name), known(engine->version));
        if (engine->sync_call != NULL) {
            buffer_printf(&text, ", %s", engine->sync_call);
        }
        report_append_binding(&text, engine);
        append_libraries(&text, engine);
        bool differs = append_readback(&text, engine);
        page_text(page, differs ? TONE_WARNING : TONE_PLAIN,
                  i > 0                        ? LEAD_NONE
                  : result->engines.count == 1 ? "Engine    "
                                               : "Engines   ",
                  "%s", text.data);
        buffer_release(&text);
    }
}

/* Databases whose answers came to `status`. */
static size_t answers_count(const struct result_verify *verify, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < verify->databases.count; i++) {
        count += same(verify->databases.items[i].status, status) ? 1 : 0;
    }
    return count;
}

/* Of one database all that was found; of several how many are well, and what is wrong with the
 * others. */
static void append_answers(struct buffer *text, const struct result_verify *verify)
{
    size_t count = verify->databases.count;
    size_t alone = answers_count(verify, "alone");
    size_t equal = answers_count(verify, "equal");
    if (count == 1) {
        verify_append_verdict(text, &verify->databases.items[0]);
        return;
    }
    if (alone == count) {
        buffer_printf(text, "nothing to compare with, %zu databases", count);
    } else if (equal > 0) {
        buffer_printf(text, "equal on %zu of %zu databases", equal, count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct result_verify_database *database = &verify->databases.items[i];
        if (same(database->status, "differs") || same(database->status, "failed")) {
            buffer_printf(text, "%s%s: ", text->length > 0 ? "; " : "",
                          database->scenarios.count > 0 ? known(database->scenarios.items[0])
                                                        : known(database->suite));
            verify_append_verdict(text, database);
        }
    }
}

/* Whether the engines give the same answers, checked before the first round. */
static void head_answers(const struct page *page, const struct result *result)
{
    bool first = true;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_verify *verify = &result->engines.items[i].verify;
        /* The reference is named by those that are compared with it. */
        if (answers_count(verify, "reference") == verify->databases.count) {
            continue;
        }
        struct buffer text;
        buffer_init(&text);
        append_answers(&text, verify);
        bool wrong = same(verify->status, "differs") || same(verify->status, "failed");
        page_text(page, wrong ? TONE_WARNING : TONE_PLAIN, first ? "Answers   " : LEAD_NONE,
                  "%s: %s", known(result->engines.items[i].name), text.data);
        buffer_release(&text);
        first = false;
    }
}

void head_print_verify(const struct page *page, const struct result *result)
{
    head_title(page, result);
    if (result->cases.count > 0) { /* of all databases the same was asked */
        const struct result_case *of = &result->cases.items[0];
        units_text number;
        units_print_count(number, figure(of->operations));
        page_text(page, TONE_PLAIN, "Checked   ",
                  "%" PRIu64 " connection%s; answers of %s operations a script, seed %" PRIu64,
                  of->threads, of->threads == 1 ? "" : "s", number, result->plan.seed);
    }
    head_host(page, &result->host);
    head_data(page, result);
}

void head_print_numbers(const struct page *page, const struct result *result)
{
    head_title(page, result);
    head_host(page, &result->host);
    head_data(page, result);
}

void head_print(const struct page *page, const struct result *result)
{
    head_title(page, result);
    head_load(page, result);
    head_host(page, &result->host);
    head_data(page, result);
    head_engines(page, result);
    head_answers(page, result);
    head_print_options(page, result);
}
