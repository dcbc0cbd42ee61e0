#include "numbers/feed.h"

/* Nothing that is measured here takes so long. */
enum { PATIENCE_MS = 60000 };

int feed_error(struct error *error, const char *what, const struct pitot_error *found)
{
    return error_set(error, found->code == PITOT_ERROR_FULL ? ERROR_FULL : ERROR_ENGINE,
                     "libpitot, %s: %s", what, found->message);
}

int feed_store_open(const char *path, struct pitot_store **store, struct error *error)
{
    struct pitot_error found = {.code = 0};
    return pitot_store_open(path, 1, ROWS_DDL, NULL, store, &found) == 0
               ? 0
               : feed_error(error, "opening", &found);
}

static int stage(struct pitot_pass *pass, void *context)
{
    struct feed *feed = context;
    if (atomic_load(&feed->again)) {
        rows_change(&feed->rows, feed->rows.count, pitot_pass_number(pass));
        pitot_resync(feed->source, NULL, NULL);
    }
    for (size_t i = 0; i < feed->rows.count; i++) {
        const struct row *row = &feed->rows.items[i];
        const struct pitot_value values[ROWS_COLUMNS] = {
            pitot_integer(row->id), pitot_text(row->title, row->length), pitot_integer(row->ts)};
        int code = pitot_pass_add(pass, 0, values, ROWS_COLUMNS);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

int feed_open(struct feed *feed, const char *path, enum pitot_mode mode, size_t rows,
              struct error *error)
{
    feed->store = NULL;
    feed->source = NULL;
    feed->idle = NULL;
    feed->rows = (struct rows){.items = NULL};
    atomic_init(&feed->again, false);
    int status = rows_make(&feed->rows, rows, error);
    status = status == 0 ? feed_store_open(path, &feed->store, error) : status;
    if (status != 0) {
        return status;
    }
    const struct pitot_table table = {.name = ROWS_TABLE, .mode = mode};
    const struct pitot_source_options options = {
        .size = sizeof options,
        .name = FEED_SOURCE,
        .function = stage,
        .context = feed,
        .tables = &table,
        .table_count = 1,
    };
    struct pitot_error found = {.code = 0};
    return pitot_source_add(feed->store, &options, &feed->source, &found) == 0
               ? 0
               : feed_error(error, "adding a source", &found);
}

int feed_close(struct feed *feed, struct error *error)
{
    struct pitot_error found = {.code = 0};
    int status = 0;
    if (feed->store != NULL && pitot_store_close(feed->store, PATIENCE_MS, &found) != 0) {
        status = feed_error(error, "closing", &found);
    }
    if (feed->store != NULL) {
        pitot_store_free(feed->store);
    }
    rows_free(&feed->rows);
    feed->store = NULL;
    return status;
}

static int pass_of(struct feed *feed, struct pitot_source *source, struct error *error)
{
    struct pitot_error found = {.code = 0};
    struct pitot_ticket ticket;
    if (pitot_resync(source, &ticket, &found) != 0 ||
        pitot_ticket_wait(feed->store, ticket, PATIENCE_MS, &found) != 0) {
        return feed_error(error, "a pass", &found);
    }
    return 0;
}

int feed_pass(struct feed *feed, struct error *error)
{
    return pass_of(feed, feed->source, error);
}

int feed_stats(struct feed *feed, struct pitot_stats *stats, struct error *error)
{
    struct pitot_error found = {.code = 0};
    *stats = (struct pitot_stats){.size = sizeof *stats};
    return pitot_stats(feed->store, stats, &found) == 0 ? 0
                                                        : feed_error(error, "statistics", &found);
}

static int do_nothing(struct pitot_pass *pass, void *context)
{
    (void)pass;
    (void)context;
    return 0;
}

/* Passes of one store are written one after the other: this one when all is done. */
int feed_settle(struct feed *feed, struct error *error)
{
    const struct pitot_source_options options = {
        .size = sizeof options, .name = "idle", .function = do_nothing};
    struct pitot_error found = {.code = 0};
    if (feed->idle == NULL && pitot_source_add(feed->store, &options, &feed->idle, &found) != 0) {
        return feed_error(error, "adding a source", &found);
    }
    return pass_of(feed, feed->idle, error);
}
