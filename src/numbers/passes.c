/* The lines of the group "pass": what a pass costs beside a loop of prepared statements that brings
 * the table to the same content. */
#include "base/file.h"
#include "core/clock.h"
#include "numbers/feed.h"
#include "numbers/measured.h"
#include "numbers/numbers.h"
#include "numbers/plain.h"
#include "numbers/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One in so many rows is new in the line of few changes. */
enum { FEW = 100 };

enum variant { VARIANT_PLAIN, VARIANT_REPLACE, VARIANT_SAME, VARIANT_FEW, VARIANTS };

static const struct {
    const char *file;
    enum pitot_mode mode;
} variants[VARIANTS] = {
    [VARIANT_PLAIN] = {"pass-plain.db", PITOT_REPLACE},
    [VARIANT_REPLACE] = {"pass-replace.db", PITOT_REPLACE},
    [VARIANT_SAME] = {"pass-same.db", PITOT_MERGE},
    [VARIANT_FEW] = {"pass-few.db", PITOT_MERGE},
};

/* Times of one pass. */
struct cost {
    uint64_t pass, staging, lock;
};

enum line {
    LINE_REPLACE,
    LINE_REPLACE_ROWS,
    LINE_LOCK,
    LINE_LOCK_ROWS,
    LINE_STAGING,
    LINE_SAME,
    LINE_SAME_ROWS,
    LINE_FEW,
    LINES
};

static const struct {
    const char *name;
    const char *unit;
} lines[LINES] = {
    [LINE_REPLACE] = {"replace, the whole pass", "ns"},
    [LINE_REPLACE_ROWS] = {"replace, rows of a pass", "1/s"},
    [LINE_LOCK] = {"replace, write lock held", "ns"},
    [LINE_LOCK_ROWS] = {"replace, rows of the commit", "1/s"},
    [LINE_STAGING] = {"replace, its staging", "ns"},
    [LINE_SAME] = {"merge, the same again", "ns"},
    [LINE_SAME_ROWS] = {"merge, the same again, rows", "1/s"},
    [LINE_FEW] = {"merge, 1 in 100 changed", "ns"},
};

struct passes {
    struct feed feeds[VARIANTS]; /* that of VARIANT_PLAIN is not used */
    struct plain plain;
    struct rows rows; /* of the plain loop */
    struct rows copy; /* what a program collects before it begins to write */
    struct measured measured[LINES];
};

/* ---- one pass -------------------------------------------------------------------------- */

static int run_feed(struct feed *feed, struct cost *cost, struct error *error)
{
    struct pitot_stats before;
    struct pitot_stats after;
    int status = feed_stats(feed, &before, error);
    status = status == 0 ? feed_pass(feed, error) : status;
    status = status == 0 ? feed_stats(feed, &after, error) : status;
    if (status == 0) {
        cost->pass = after.pass.sum_ns - before.pass.sum_ns;
        cost->staging = after.staging.sum_ns - before.staging.sum_ns;
        cost->lock = after.lock.sum_ns - before.lock.sum_ns;
        status = feed_settle(feed, error);
    }
    return status;
}

/* The plain way to collect rows without a lock: into an array that grows, texts copied. */
static int collect(struct passes *passes, uint64_t *ns, struct error *error)
{
    struct rows *copy = &passes->copy;
    size_t room = 0;
    uint64_t start = clock_now_ns();
    for (size_t i = 0; i < passes->rows.count; i++) {
        if (i == room) {
            room = room == 0 ? 64 : room * 2;
            struct row *grown = realloc(copy->items, room * sizeof *grown);
            if (grown == NULL) {
                return error_set(error, ERROR_MEMORY, "out of memory for %zu rows", room);
            }
            copy->items = grown;
        }
        const struct row *from = &passes->rows.items[i];
        struct row *to = &copy->items[i];
        to->id = from->id;
        to->ts = from->ts;
        to->length = from->length;
        memcpy(to->title, from->title, from->length);
        copy->count = i + 1;
    }
    *ns = clock_now_ns() - start;
    rows_free(copy);
    return 0;
}

static int run_plain(struct passes *passes, struct cost *cost, struct error *error)
{
    bool busy = false;
    uint64_t start = clock_now_ns();
    int status = plain_pass(&passes->plain, &passes->rows, &busy, error);
    cost->pass = cost->lock = clock_now_ns() - start;
    return status == 0 ? collect(passes, &cost->staging, error) : status;
}

/* ---- rounds ---------------------------------------------------------------------------- */

static void change(struct passes *passes, uint64_t round)
{
    struct feed *few = &passes->feeds[VARIANT_FEW];
    struct feed *replace = &passes->feeds[VARIANT_REPLACE];
    rows_change(&passes->rows, passes->rows.count, round);
    rows_change(&replace->rows, replace->rows.count, round);
    rows_change(&few->rows, few->rows.count / FEW, round);
}

static void add(struct passes *passes, const struct cost costs[VARIANTS])
{
    const struct cost *plain = &costs[VARIANT_PLAIN];
    const struct cost *replace = &costs[VARIANT_REPLACE];
    struct measured *measured = passes->measured;
    measured_round(&measured[LINE_REPLACE], replace->pass, plain->pass);
    measured_round(&measured[LINE_REPLACE_ROWS], replace->pass, plain->pass);
    measured_round(&measured[LINE_LOCK], replace->lock, plain->lock);
    measured_round(&measured[LINE_LOCK_ROWS], replace->lock, plain->lock);
    measured_round(&measured[LINE_STAGING], replace->staging, plain->staging);
    measured_round(&measured[LINE_SAME], costs[VARIANT_SAME].pass, plain->pass);
    measured_round(&measured[LINE_SAME_ROWS], costs[VARIANT_SAME].pass, plain->pass);
    measured_round(&measured[LINE_FEW], costs[VARIANT_FEW].pass, plain->pass);
}

static int run_round(struct passes *passes, struct turns *turns, struct cost costs[VARIANTS],
                     struct error *error)
{
    size_t order[VARIANTS];
    int status = 0;
    turns_order(turns, order, VARIANTS);
    change(passes, turns->rounds);
    for (size_t i = 0; i < VARIANTS && status == 0; i++) {
        status = order[i] == VARIANT_PLAIN
                     ? run_plain(passes, &costs[VARIANT_PLAIN], error)
                     : run_feed(&passes->feeds[order[i]], &costs[order[i]], error);
    }
    return status;
}

static int measure(struct passes *passes, const struct numbers_plan *plan,
                   const struct numbers_watch *watch, struct error *error)
{
    enum { WARM = 3 }; /* the first passes fill empty tables */
    struct cost costs[VARIANTS];
    struct turns turns;
    int status = 0;
    turns_begin(&turns, plan, watch, "passes");
    while (status == 0 && turns_next(&turns)) {
        status = run_round(passes, &turns, costs, error);
        if (status == 0 && turns.rounds > WARM) {
            add(passes, costs);
        }
    }
    return status;
}

/* ---- what the passes leave ---------------------------------------------------------------- */

static int note_memory(struct passes *passes, struct result_numbers *out, struct error *error)
{
    struct pitot_stats replace;
    struct pitot_stats same;
    int status = feed_stats(&passes->feeds[VARIANT_REPLACE], &replace, error);
    status = status == 0 ? feed_stats(&passes->feeds[VARIANT_SAME], &same, error) : status;
    if (status == 0) {
        out->own_bytes = rows_bytes(&passes->rows);
        out->staged_bytes = replace.memory_staged;
        out->kept_bytes = same.memory_kept;
        out->kept_rows = same.rows_kept;
    }
    return status;
}

static int note_checkpoints(struct passes *passes, struct error *error)
{
    struct pitot_stats stats;
    int status = feed_stats(&passes->feeds[VARIANT_REPLACE], &stats, error);
    if (status != 0) {
        return status;
    }
    char **note = &passes->measured[LINE_REPLACE].line.note;
    *note = result_text("libpitot copies the WAL back after the closing event: %llu times in all, "
                        "%.3g ms at the longest; the plain loop does within a COMMIT",
                        (unsigned long long)stats.checkpoint.count,
                        (double)stats.checkpoint.max_ns / 1e6);
    return *note != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int begin(struct passes *passes, const struct numbers_plan *plan, struct error *error)
{
    int status = rows_make(&passes->rows, plan->rows, error);
    for (size_t i = 0; i < LINES && status == 0; i++) {
        bool rate = strcmp(lines[i].unit, "1/s") == 0;
        status = measured_begin(&passes->measured[i], "pass", lines[i].name, lines[i].unit,
                                rate ? plan->rows : RESULT_ABSENT, error);
    }
    for (size_t i = 0; i < VARIANTS && status == 0; i++) {
        char *path = file_join(plan->folder, variants[i].file);
        if (path == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        status = i == VARIANT_PLAIN
                     ? plain_open(&passes->plain, path, PLAIN_WAL, error)
                     : feed_open(&passes->feeds[i], path, variants[i].mode, plan->rows, error);
        free(path);
    }
    return status;
}

static int end(struct passes *passes, struct result_numbers *out, int status, struct error *error)
{
    for (size_t i = 0; i < VARIANTS; i++) {
        int closed = i != VARIANT_PLAIN ? feed_close(&passes->feeds[i], error) : 0;
        status = status != 0 ? status : closed;
    }
    plain_close(&passes->plain);
    rows_free(&passes->rows);
    rows_free(&passes->copy);
    for (size_t i = 0; i < LINES; i++) {
        if (status == 0) {
            status = measured_end(&passes->measured[i], out, error);
        } else {
            measured_release(&passes->measured[i]);
        }
    }
    free(passes);
    return status;
}

int numbers_passes(const struct numbers_plan *plan, const struct numbers_watch *watch,
                   struct result_numbers *out, struct error *error)
{
    struct passes *passes = calloc(1, sizeof *passes);
    if (passes == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    int status = begin(passes, plan, error);
    status = status == 0 ? measure(passes, plan, watch, error) : status;
    status = status == 0 ? note_memory(passes, out, error) : status;
    status = status == 0 ? note_checkpoints(passes, error) : status;
    return end(passes, out, status, error);
}
