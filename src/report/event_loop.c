#include "base/units.h"
#include "report/grid.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MIN = 12, NAME_MAX_COLUMNS = 20, VALUES_MAX = 8 };

/* One line of figures under headings; `label` is its first cell. */
struct line {
    char text[VALUES_MAX][UNITS_TEXT_SIZE + 1]; /* one for "~" */
};

static bool is(const char *status, const char *name)
{
    return status != NULL && strcmp(status, name) == 0;
}

/* ---- figures ------------------------------------------------------------------------ */

/* A time in cell `i`, marked where it says little. */
static void put_ns(struct line *line, size_t i, double value, bool thin)
{
    char number[UNITS_TEXT_SIZE];
    units_print_ns(number, value);
    snprintf(line->text[i], sizeof(line->text[i]), "%s%s", thin ? "~" : "", number);
}

static void put_count(struct line *line, size_t i, double value)
{
    char number[UNITS_TEXT_SIZE];
    units_print_count(number, value);
    snprintf(line->text[i], sizeof(line->text[i]), "%s", number);
}

/* p50, p99 and max from cell `i` on; returns whether p99 says little. */
static bool put_tail(struct line *line, size_t i, const struct result_tail *tail)
{
    bool thin = tail->p99_thin && isfinite(tail->p99_ns);
    put_ns(line, i, tail->p50_ns, false);
    put_ns(line, i + 1, tail->p99_ns, thin);
    put_ns(line, i + 2, tail->max_ns, false);
    return thin;
}

static const char *const timer_headings[] = {"closed/s", "paced/s",  "late p50", "late p99",
                                             "late max", "bare p50", "bare p99", "bare max"};
enum { TIMER_VALUES = sizeof(timer_headings) / sizeof(timer_headings[0]) };

static bool fill_timer(struct line *line, const struct result_event_loop *loop)
{
    put_count(line, 0, loop->closed.executions_per_second);
    put_count(line, 1, loop->paced.executions_per_second);
    bool late = put_tail(line, 2, &loop->lateness);
    return put_tail(line, 5, &loop->bare_lateness) || late;
}

static const char *const flight_headings[] = {"executions/s", "p50", "p99", "max"};
enum { FLIGHT_VALUES = sizeof(flight_headings) / sizeof(flight_headings[0]) };

static bool fill_flight(struct line *line, const struct result_loop_part *part)
{
    put_count(line, 0, part->executions_per_second);
    return put_tail(line, 1, &part->tail);
}

/* ---- a table, or blocks where it does not fit ----------------------------------------- */

struct table {
    const char *const *headings;
    size_t values;
    RESULT_LIST(struct line) lines;
    RESULT_LIST(struct buffer) labels;
    bool thin, failed;
};

static struct line *add_line(struct table *table, const struct result *result, size_t engine)
{
    struct line *line = result_list_add(&table->lines);
    struct buffer *label = line != NULL ? result_list_add(&table->labels) : NULL;
    if (label == NULL) {
        table->failed = true;
        return NULL;
    }
    buffer_init(label);
    report_engine_label(label, result, engine, NAME_MAX_COLUMNS);
    table->failed = table->failed || label->failed;
    return line;
}

static void fill_grid(struct grid *grid, const struct table *table)
{
    grid_init(grid, 1 + table->values);
    grid_add(grid, TONE_BOLD, "");
    for (size_t i = 0; i < table->values; i++) {
        grid_add(grid, TONE_BOLD, table->headings[i]);
    }
    for (size_t i = 0; i < table->labels.count; i++) {
        grid_add(grid, TONE_PLAIN, table->labels.items[i].data);
        for (size_t k = 0; k < table->values; k++) {
            grid_add(grid, TONE_PLAIN, table->lines.items[i].text[k]);
        }
    }
}

static void print_lines(const struct page *page, const struct table *table)
{
    struct grid grid;
    fill_grid(&grid, table);
    if (grid_fits(&grid, page->width, NAME_MIN)) {
        grid_print(&grid, page);
    } else {
        for (size_t i = 0; i < table->labels.count; i++) {
            page_text(page, TONE_PLAIN, "", "%s", table->labels.items[i].data);
            for (size_t k = 0; k < table->values; k++) {
                page_pair(page, table->headings[k], table->lines.items[i].text[k], TONE_PLAIN);
            }
        }
    }
    grid_release(&grid);
    if (table->thin) {
        page_text(page, TONE_PLAIN, "~ ",
                  "fewer than 10 samples above this percentile: not reliable");
    }
}

static void table_end(const struct page *page, struct table *table)
{
    page->out->failed = page->out->failed || table->failed;
    for (size_t i = 0; i < table->labels.count; i++) {
        buffer_release(&table->labels.items[i]);
    }
    free(table->labels.items);
    free(table->lines.items);
}

/* ---- the parts ------------------------------------------------------------------------- */

static void print_timers(const struct page *page, const struct result *result)
{
    struct table table = {.headings = timer_headings, .values = TIMER_VALUES};
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_event_loop *loop = &result->engines.items[i].event_loop;
        struct line *line = is(loop->status, "ok") ? add_line(&table, result, i) : NULL;
        if (line != NULL) {
            table.thin = fill_timer(line, loop) || table.thin;
        }
    }
    if (table.lines.count > 0) {
        print_lines(page, &table);
        page_text(page, TONE_PLAIN, "",
                  "late: how late a timer of 1 ms fired beside the paced executions; bare: on the "
                  "same loop without them. One run of each: no difference is claimed.");
    }
    table_end(page, &table);
}

static void print_flights(const struct page *page, const struct result *result)
{
    struct table table = {.headings = flight_headings, .values = FLIGHT_VALUES};
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_event_loop *loop = &result->engines.items[i].event_loop;
        for (size_t k = 0; k < loop->in_flight.count; k++) {
            struct line *line = add_line(&table, result, i);
            if (line != NULL) {
                struct buffer *label = &table.labels.items[table.labels.count - 1];
                buffer_printf(label, " × %" PRIu64, loop->in_flight.items[k].in_flight);
                table.thin = fill_flight(line, &loop->in_flight.items[k]) || table.thin;
                table.failed = table.failed || label->failed;
            }
        }
    }
    if (table.lines.count > 0) {
        page_blank(page);
        page_text(page, TONE_BOLD, "",
                  "So many executions in flight on that one connection, closed loop");
        print_lines(page, &table);
    }
    table_end(page, &table);
}

static void print_unmeasured(const struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        const struct result_event_loop *loop = &engine->event_loop;
        if (loop->status != NULL && !is(loop->status, "ok")) {
            bool failed = is(loop->status, "failed");
            page_text(page, failed ? TONE_FAILED : TONE_PLAIN, "", "%s: %s: %s",
                      engine->name == NULL ? "–" : engine->name, failed ? "failed" : "not measured",
                      loop->error == NULL ? "no reason is known" : loop->error);
        }
    }
}

static bool asked_for(const struct result *result)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        if (result->engines.items[i].event_loop.status != NULL) {
            return true;
        }
    }
    return false;
}

void event_loop_print(const struct page *page, const struct result *result)
{
    if (asked_for(result)) {
        page_blank(page);
        page_text(page, TONE_BOLD, "",
                  "Event loop: one connection on the main thread, an execution a macrotask, paced "
                  "at half its closed loop");
        print_timers(page, result);
        print_unmeasured(page, result);
        print_flights(page, result);
    }
}
