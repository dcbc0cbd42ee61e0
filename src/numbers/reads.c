/* The lines of the group "read": what a screen's read takes, alone and beside a writer that commits
 * passes back to back. */
#include "base/file.h"
#include "core/clock.h"
#include "numbers/feed.h"
#include "numbers/measured.h"
#include "numbers/numbers.h"
#include "numbers/paced.h"
#include "numbers/plain_writer.h"
#include "numbers/turns.h"
#include "statistics/span.h"

#include <math.h>
#include <stdlib.h>

enum variant { IDLE_PITOT, IDLE_PLAIN, BUSY_PITOT, BUSY_PLAIN, BUSY_DEFAULTS, VARIANTS };
/* The length is cut into rounds, so that all variants see the machine's better and worse moments;
 * each is long enough for a p99. */
enum { ROUNDS_MAX = 5 };
#define ROUND_LEAST_NS NS_PER_S

/* A program's connections to a database of its own. */
struct own {
    struct plain writer, reader;
};

struct reads {
    struct feed feed;
    struct pitot_reader *reader;
    sqlite3_stmt *statement;
    struct own wal, defaults;
    struct rows rows; /* of the plain writers, one at a time */
    int64_t ids;      /* reads begin below it */
    struct paced *all[VARIANTS];
    struct paced *now;
    uint64_t passes[VARIANTS];
    uint64_t writer_busy[VARIANTS]; /* passes of a plain writer that failed for a lock */
    double p50[VARIANTS][ROUNDS_MAX], p99[VARIANTS][ROUNDS_MAX];
    double service[VARIANTS][ROUNDS_MAX]; /* its p50 */
    size_t rounds;
};

/* ---- one read ----------------------------------------------------------------------------- */

static int read_pitot(void *context, int64_t from, bool *busy, struct error *error)
{
    struct reads *reads = context;
    struct pitot_error found = {.code = 0};
    struct pitot_sync sync = {.size = sizeof sync};
    int result = pitot_snapshot_begin(reads->reader, &found);
    int code = SQLITE_OK;
    if (result == 0) {
        code = plain_step_rows(reads->statement, from);
        result = pitot_reader_sync(reads->reader, FEED_SOURCE, &sync, &found);
        int ended = pitot_snapshot_end(reads->reader, &found);
        result = result < 0 ? result : ended;
    }
    *busy = result == PITOT_ERROR_BUSY || (code & 0xff) == SQLITE_BUSY;
    if (*busy) {
        return 0;
    }
    if (result < 0) {
        return feed_error(error, "reading", &found);
    }
    return code == SQLITE_OK
               ? 0
               : error_set(error, ERROR_ENGINE, "libpitot, reading: %s", sqlite3_errstr(code));
}

static int read_plain(void *context, int64_t from, bool *busy, struct error *error)
{
    return plain_read(context, from, busy, error);
}

/* ---- one round of a variant ---------------------------------------------------------------- */

static int run_pitot(struct reads *reads, bool busy, uint64_t length_ns, uint64_t *passes,
                     struct error *error)
{
    struct pitot_stats before;
    struct pitot_stats after;
    atomic_store(&reads->feed.again, busy);
    int status = busy ? feed_pass(&reads->feed, error) : 0; /* asks for the next ones itself */
    status = status == 0 ? feed_stats(&reads->feed, &before, error) : status;
    status = status == 0 ? paced_run(reads->now, length_ns, reads->ids, read_pitot, reads, error)
                         : status;
    status = status == 0 ? feed_stats(&reads->feed, &after, error) : status;
    *passes = status == 0 ? after.passes - before.passes : 0;
    if (busy) {
        atomic_store(&reads->feed.again, false);
        int ended = feed_pass(&reads->feed, error); /* those that were asked for are over */
        status = status != 0 ? status : ended;
    }
    return status;
}

static int run_plain(struct reads *reads, struct own *own, enum variant variant, uint64_t length_ns,
                     uint64_t *passes, struct error *error)
{
    bool busy = variant != IDLE_PLAIN;
    struct plain_writer writer;
    int status = busy ? plain_writer_begin(&writer, &own->writer, &reads->rows, error) : 0;
    if (status != 0) {
        return status;
    }
    uint64_t before = busy ? atomic_load(&writer.passes) : 0;
    status = paced_run(reads->now, length_ns, reads->ids, read_plain, &own->reader, error);
    *passes = busy ? atomic_load(&writer.passes) - before : 0;
    int ended = busy ? plain_writer_end(&writer, error) : 0;
    reads->writer_busy[variant] += busy ? writer.busy : 0;
    return status != 0 ? status : ended;
}

static double percentile(const struct histogram *samples, uint32_t percent)
{
    return samples->count > 0 ? (double)histogram_percentile(samples, percent, 100) : (double)NAN;
}

static int run_variant(struct reads *reads, enum variant variant, uint64_t length_ns,
                       struct error *error)
{
    uint64_t passes = 0;
    paced_reset(reads->now);
    struct own *own = variant == BUSY_DEFAULTS ? &reads->defaults : &reads->wal;
    int status = variant == IDLE_PITOT || variant == BUSY_PITOT
                     ? run_pitot(reads, variant == BUSY_PITOT, length_ns, &passes, error)
                     : run_plain(reads, own, variant, length_ns, &passes, error);
    const struct paced *now = reads->now;
    struct paced *all = reads->all[variant];
    all->due += now->due;
    all->missed += now->missed;
    all->busy += now->busy;
    histogram_merge(&all->latency, &now->latency);
    histogram_merge(&all->service, &now->service);
    reads->passes[variant] += passes;
    reads->p50[variant][reads->rounds] = percentile(&now->latency, 50);
    reads->p99[variant][reads->rounds] = percentile(&now->latency, 99);
    reads->service[variant][reads->rounds] = percentile(&now->service, 50);
    return status;
}

static int measure(struct reads *reads, const struct numbers_plan *plan,
                   const struct numbers_watch *watch, struct error *error)
{
    static const char *const names[VARIANTS] = {"reads, writer idle", "reads, writer idle, plain",
                                                "reads, writer busy", "reads, writer busy, plain",
                                                "reads, writer busy, SQLite's defaults"};
    uint64_t rounds = plan->length_ns / ROUND_LEAST_NS;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    struct turns turns;
    int status = 0;
    turns_begin(&turns, plan, watch, "reads");
    for (; reads->rounds < rounds && status == 0; reads->rounds++) {
        size_t order[VARIANTS];
        turns_order(&turns, order, VARIANTS);
        for (size_t i = 0; i < VARIANTS && status == 0; i++) {
            watch->step(watch->context, names[order[i]], reads->rounds * VARIANTS + i,
                        rounds * VARIANTS);
            status = run_variant(reads, (enum variant)order[i], plan->length_ns / rounds, error);
        }
    }
    return status;
}

/* ---- lines -------------------------------------------------------------------------------- */

static void add_side(struct result_numbers_side *side, const struct reads *reads,
                     enum variant variant, bool service)
{
    const struct paced *all = reads->all[variant];
    histogram_merge(side->latency.histogram, service ? &all->service : &all->latency);
    side->due = all->due;
    side->missed = all->missed;
    side->busy = all->busy;
    if (variant != IDLE_PITOT && variant != IDLE_PLAIN) {
        side->passes = reads->passes[variant];
    }
}

/* Median over the rounds of the ratio of a variant's percentiles to those of another. */
static double ratio_of(const double over[ROUNDS_MAX], const double under[ROUNDS_MAX], size_t rounds)
{
    double ratios[ROUNDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < rounds; i++) {
        double ratio = over[i] / under[i];
        if (isfinite(ratio)) {
            ratios[count++] = ratio;
        }
    }
    return span_of(ratios, count).median;
}

static int note_load(struct measured *measured, struct error *error)
{
    measured->line.note = result_text("a read is 50 rows and the sync row in one snapshot, due "
                                      "every millisecond");
    return measured->line.note != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int note_defaults(const struct reads *reads, struct measured *measured, struct error *error)
{
    measured->line.note = result_text("the plain connections have a rollback journal, "
                                      "synchronous=FULL and a busy timeout of 5 s; %llu of the "
                                      "writer's passes failed for a lock",
                                      (unsigned long long)reads->writer_busy[BUSY_DEFAULTS]);
    return measured->line.note != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int add_line(const struct reads *reads, const char *name, enum variant pitot,
                    enum variant plain, bool service, struct result_numbers *out,
                    struct error *error)
{
    struct measured measured;
    int status = measured_begin(&measured, "read", name, "ns", RESULT_ABSENT, error);
    if (status != 0) {
        return status;
    }
    add_side(&measured.line.pitot, reads, pitot, service);
    add_side(&measured.line.plain, reads, plain, service);
    for (size_t i = 0; i < reads->rounds; i++) {
        measured_ratio(&measured, service ? reads->service[pitot][i] / reads->service[plain][i]
                                          : reads->p50[pitot][i] / reads->p50[plain][i]);
    }
    if (pitot == IDLE_PITOT) {
        status = note_load(&measured, error);
    } else if (plain == BUSY_DEFAULTS) {
        status = note_defaults(reads, &measured, error);
    }
    if (status == 0) {
        return measured_end(&measured, out, error);
    }
    measured_release(&measured);
    return status;
}

static int add_lines(const struct reads *reads, struct result_numbers *out, struct error *error)
{
    out->busy_p50 = ratio_of(reads->p50[BUSY_PITOT], reads->p50[IDLE_PITOT], reads->rounds);
    out->busy_p99 = ratio_of(reads->p99[BUSY_PITOT], reads->p99[IDLE_PITOT], reads->rounds);
    int status = add_line(reads, "writer idle", IDLE_PITOT, IDLE_PLAIN, false, out, error);
    status = status == 0 ? add_line(reads, "writer busy", BUSY_PITOT, BUSY_PLAIN, false, out, error)
                         : status;
    status = status == 0
                 ? add_line(reads, "busy, service time", BUSY_PITOT, BUSY_PLAIN, true, out, error)
                 : status;
    return status == 0 ? add_line(reads, "busy, SQLite's defaults", BUSY_PITOT, BUSY_DEFAULTS,
                                  false, out, error)
                       : status;
}

/* ---- databases ----------------------------------------------------------------------------- */

static int open_own(struct own *own, const struct numbers_plan *plan, const char *name,
                    enum plain_settings settings, const struct rows *rows, struct error *error)
{
    bool busy = false;
    char *path = file_join(plan->folder, name);
    int status = path != NULL ? plain_open(&own->writer, path, settings, error)
                              : error_set(error, ERROR_MEMORY, "out of memory");
    status = status == 0 ? plain_pass(&own->writer, rows, &busy, error) : status;
    status = status == 0 ? plain_open(&own->reader, path, settings, error) : status;
    free(path);
    return status;
}

static int open_reader(struct reads *reads, struct error *error)
{
    struct pitot_error found = {.code = 0};
    if (pitot_reader_open(reads->feed.store, "screen", &reads->reader, &found) != 0) {
        return feed_error(error, "opening a reader", &found);
    }
    int code = sqlite3_prepare_v3(pitot_reader_sqlite(reads->reader), ROWS_READ, -1,
                                  SQLITE_PREPARE_PERSISTENT, &reads->statement, NULL);
    return code == SQLITE_OK
               ? 0
               : error_set(error, ERROR_ENGINE, "libpitot, a reader: %s", sqlite3_errstr(code));
}

static int open_all(struct reads *reads, const struct numbers_plan *plan, struct error *error)
{
    char *path = file_join(plan->folder, "read.db");
    int status = path != NULL ? rows_make(&reads->rows, plan->rows, error)
                              : error_set(error, ERROR_MEMORY, "out of memory");
    reads->ids = status == 0 ? reads->rows.items[plan->rows - 1].id : 0;
    for (size_t i = 0; i < VARIANTS && status == 0; i++) {
        reads->all[i] = malloc(sizeof *reads->all[i]);
        if (reads->all[i] == NULL) {
            status = error_set(error, ERROR_MEMORY, "out of memory");
        } else {
            paced_reset(reads->all[i]);
        }
    }
    if (status == 0 && (reads->now = malloc(sizeof *reads->now)) == NULL) {
        status = error_set(error, ERROR_MEMORY, "out of memory");
    }
    status = status == 0 ? feed_open(&reads->feed, path, PITOT_REPLACE, plan->rows, error) : status;
    status = status == 0 ? feed_pass(&reads->feed, error) : status;
    status = status == 0 ? open_reader(reads, error) : status;
    status = status == 0
                 ? open_own(&reads->wal, plan, "read-plain.db", PLAIN_WAL, &reads->rows, error)
                 : status;
    status = status == 0 ? open_own(&reads->defaults, plan, "read-defaults.db", PLAIN_DEFAULTS,
                                    &reads->rows, error)
                         : status;
    free(path);
    return status;
}

static int close_all(struct reads *reads, struct error *error)
{
    sqlite3_finalize(reads->statement);
    pitot_reader_free(reads->reader);
    int status = feed_close(&reads->feed, error);
    plain_close(&reads->wal.reader);
    plain_close(&reads->wal.writer);
    plain_close(&reads->defaults.reader);
    plain_close(&reads->defaults.writer);
    rows_free(&reads->rows);
    for (size_t i = 0; i < VARIANTS; i++) {
        free(reads->all[i]);
    }
    free(reads->now);
    free(reads);
    return status;
}

int numbers_reads(const struct numbers_plan *plan, const struct numbers_watch *watch,
                  struct result_numbers *out, struct error *error)
{
    struct reads *reads = calloc(1, sizeof *reads);
    if (reads == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    int status = open_all(reads, plan, error);
    status = status == 0 ? measure(reads, plan, watch, error) : status;
    status = status == 0 ? add_lines(reads, out, error) : status;
    int closed = close_all(reads, error);
    return status != 0 ? status : closed;
}
