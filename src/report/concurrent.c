/* The tables of `pitot concurrent`: what each role did, and how long its operations took; a line a
 * case, role and engine. */
#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MIN = 12, COLUMNS_MAX = 7 };

typedef char cell[UNITS_TEXT_SIZE + 1]; /* one for "~" */

/* An engine's role in a case; role and script are NULL where no run got that far. */
struct subject {
    const struct result_summary *summary;
    const struct result_role_summary *role;
    const struct result_script_summary *script; /* the only one of the role, or its first */
    size_t rounds;
};

struct table {
    const char *headings[COLUMNS_MAX];
    size_t columns;
    /* Fills the cells; returns whether a percentile in them says little. */
    bool (*fill)(const struct subject *subject, cell *cells);
};

/* ---- cells --------------------------------------------------------------------------------- */

static void print_scaling(char *out, double scaling)
{
    if (!isfinite(scaling) || scaling < 0 || scaling >= 1000) {
        snprintf(out, UNITS_TEXT_SIZE, "–");
    } else {
        snprintf(out, UNITS_TEXT_SIZE, "× %.2f", scaling);
    }
}

static bool fill_served(const struct subject *subject, cell *cells)
{
    const struct result_role_summary *role = subject->role;
    if (role == NULL) {
        return false;
    }
    units_print_count(cells[0], role->operations_per_second.median);
    report_spread(cells[1], &role->operations_per_second, subject->rounds);
    print_scaling(cells[2], role->scaling.median);
    units_print_count(cells[3], role->least_served_per_second.median);
    units_print_count(cells[4], role->most_served_per_second.median);
    report_share(cells[5], role->fairness.median);
    units_print_ns(cells[6], role->cpu_per_operation_ns.median);
    return false;
}

static bool fill_latency(const struct subject *subject, cell *cells)
{
    const struct result_role_summary *role = subject->role;
    bool thin = false;
    if (subject->script != NULL) {
        thin = report_point(cells[0], subject->script, RESULT_POINT_p50) || thin;
        thin = report_point(cells[1], subject->script, RESULT_POINT_p99) || thin;
        thin = report_point(cells[2], subject->script, RESULT_POINT_p99_9) || thin;
    }
    if (role != NULL) {
        units_print_count(cells[3], (double)role->busy);
        units_print_count(cells[4], (double)(role->attempted - role->ok - role->busy));
        units_print_ns(cells[5], role->slept_ns.median);
        units_print_ns(cells[6], role->off_cpu_ns.median);
    }
    return thin;
}

static const struct table served = {
    .headings = {"ops/s", "spread", "scaling", "least", "most", "fairness", "CPU/op"},
    .columns = 7,
    .fill = fill_served,
};

static const struct table latency = {
    .headings = {"p50", "p99", "p99.9", "busy", "failed", "slept", "off CPU"},
    .columns = 7,
    .fill = fill_latency,
};

/* ---- roles ----------------------------------------------------------------------------------- */

static struct subject subject_of(const struct result *result, size_t engine, size_t of,
                                 const char *role)
{
    const struct result_summary *summary = &result->engines.items[engine].summaries.items[of];
    struct subject subject = {.summary = summary,
                              .rounds = report_engine_rounds(result, engine, of)};
    for (size_t i = 0; i < summary->roles.count && role != NULL; i++) {
        if (strcmp(summary->roles.items[i].role, role) == 0) {
            subject.role = &summary->roles.items[i];
        }
    }
    for (size_t i = summary->scripts.count; i-- > 0 && role != NULL;) {
        if (strcmp(summary->scripts.items[i].role, role) == 0) {
            subject.script = &summary->scripts.items[i];
        }
    }
    return subject;
}

/* The roles of a case, as those engines tell that came to run it. */
static const struct result_summary *roles_of(const struct result *result, size_t of)
{
    const struct result_summary *most = &result->engines.items[0].summaries.items[of];
    for (size_t i = 1; i < result->engines.count; i++) {
        const struct result_summary *other = &result->engines.items[i].summaries.items[of];
        most = other->roles.count > most->roles.count ? other : most;
    }
    return most;
}

/* "read-write-mix ×4, reader: 4 connections". */
static void append_title(struct buffer *out, const struct result *result, size_t of,
                         const struct result_role_summary *role)
{
    buffer_puts(out, result->cases.items[of].label);
    if (role != NULL) {
        buffer_printf(out, ", %s: %" PRIu64 " connection%s", role->role, role->connections,
                      role->connections == 1 ? "" : "s");
    }
    case_append_rate(out, &result->cases.items[of]);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

/* What the lines of all tables and forms are made of. */
struct lines {
    const struct page *page;
    const struct result *result;
    const struct table *table;
    struct grid *grid; /* NULL: printed at once, each cell on a line of its own */
    bool thin;
};

static void add_title(struct lines *lines, const char *text)
{
    if (lines->grid != NULL) {
        grid_add_title(lines->grid, TONE_PLAIN, text);
    } else {
        page_text(lines->page, TONE_BOLD, "", "%s", text);
    }
}

static void add_cells(struct lines *lines, enum tone tone, const char *label, cell *cells)
{
    if (lines->grid != NULL) {
        grid_add(lines->grid, tone, label);
    } else {
        page_text(lines->page, tone, "", "%s", label + strspn(label, " "));
    }
    for (size_t i = 0; i < lines->table->columns; i++) {
        if (lines->grid != NULL) {
            grid_add(lines->grid, TONE_PLAIN, cells[i]);
        } else {
            page_pair(lines->page, lines->table->headings[i], cells[i], TONE_PLAIN);
        }
    }
}

/* An engine that was not measured since it locks its file. */
static void add_unable(struct lines *lines, const char *label)
{
    struct buffer text;
    buffer_init(&text);
    buffer_printf(&text, "%s: lets no second process open the file", label);
    if (lines->grid != NULL) {
        grid_add_title(lines->grid, TONE_WARNING, text.data);
    } else {
        page_text(lines->page, TONE_WARNING, "", "%s", text.data + strspn(text.data, " "));
    }
    lines->page->out->failed = lines->page->out->failed || text.failed;
    buffer_release(&text);
}

static void add_engine(struct lines *lines, size_t engine, size_t of, const char *role)
{
    struct subject subject = subject_of(lines->result, engine, of, role);
    const char *status = subject.summary->status;
    struct buffer label;
    cell cells[COLUMNS_MAX];
    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        snprintf(cells[i], sizeof cells[i], "–");
    }
    buffer_init(&label);
    buffer_puts(&label, "  ");
    cases_append_label(&label, lines->result, engine, of);
    if (status != NULL && strcmp(status, "unable") == 0) {
        add_unable(lines, label.data);
    } else {
        lines->thin = lines->table->fill(&subject, cells) || lines->thin;
        add_cells(lines, cases_tone(subject.summary), label.data, cells);
    }
    lines->page->out->failed = lines->page->out->failed || label.failed;
    buffer_release(&label);
}

static void add_case(struct lines *lines, size_t of)
{
    const struct result_summary *roles = roles_of(lines->result, of);
    size_t count = roles->roles.count > 0 ? roles->roles.count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct result_role_summary *role =
            i < roles->roles.count ? &roles->roles.items[i] : NULL;
        struct buffer title;
        buffer_init(&title);
        append_title(&title, lines->result, of, role);
        add_title(lines, title.data);
        lines->page->out->failed = lines->page->out->failed || title.failed;
        buffer_release(&title);
        for (size_t k = 0; k < lines->result->engines.count; k++) {
            add_engine(lines, k, of, role != NULL ? role->role : NULL);
        }
    }
}

static void add_all(struct lines *lines)
{
    for (size_t of = 0; of < lines->result->cases.count; of++) {
        add_case(lines, of);
    }
}

/* Returns whether a percentile in it says little. */
static bool print_table(const struct page *page, const struct result *result,
                        const struct table *table)
{
    struct grid grid;
    struct lines lines = {.page = page, .result = result, .table = table, .grid = &grid};
    grid_init(&grid, 1 + table->columns);
    grid_add(&grid, TONE_BOLD, "");
    for (size_t i = 0; i < table->columns; i++) {
        grid_add(&grid, TONE_BOLD, table->headings[i]);
    }
    add_all(&lines);
    if (grid_fits(&grid, page->width, NAME_MIN)) {
        grid_print(&grid, page);
    } else {
        lines.grid = NULL;
        add_all(&lines);
    }
    grid_release(&grid);
    return lines.thin;
}

void concurrent_print(const struct page *page, const struct result *result)
{
    cases_print_rounds(page, result);
    print_table(page, result, &served);
    page_text(
        page, TONE_PLAIN, "",
        "Each role over its own window. scaling: ops/s in relation to the same engine's first "
        "number of connections. least, most: ops/s of the connection that was served least "
        "and most; fairness: their ratio. CPU is that of the role's connections.");
    page_blank(page);
    page_text(page, TONE_BOLD, "", "Latency of one execution, failures, waiting");
    bool thin = print_table(page, result, &latency);
    page_text(page, TONE_PLAIN, "",
              "busy and failed (conflicts after all tries, errors, open at the end) are sums over "
              "all rounds; slept (waiting for locks, where pitot counts it) and off CPU are sums "
              "over the role's connections in a round.");
    if (thin) {
        report_thin_note(page);
    }
    if (result->engines.count > 1 && !report_is_open_loop(result, 0)) {
        page_text(page, TONE_PLAIN, "",
                  "Closed loop: the engines ran at different throughput, so their tails are not "
                  "comparable.");
    }
}
