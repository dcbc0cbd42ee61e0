/* The lines of the group "open": what it takes until a program can work with its database. */
#include "base/file.h"
#include "core/clock.h"
#include "numbers/feed.h"
#include "numbers/measured.h"
#include "numbers/numbers.h"
#include "numbers/plain.h"
#include "numbers/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum side { SIDE_PITOT, SIDE_PLAIN, SIDES };

/* The library opens, and closes unmeasured. */
static int open_pitot(const char *path, uint64_t *ns, struct error *error)
{
    struct pitot_store *store;
    uint64_t start = clock_now_ns();
    int status = feed_store_open(path, &store, error);
    *ns = clock_now_ns() - start;
    struct pitot_error found = {.code = 0};
    if (status == 0 && pitot_store_close(store, 0, &found) != 0) {
        status = feed_error(error, "closing", &found);
    }
    pitot_store_free(store);
    return status;
}

static int open_plain(const char *path, uint64_t *ns, struct error *error)
{
    struct plain plain;
    uint64_t start = clock_now_ns();
    int status = plain_open(&plain, path, PLAIN_WAL, error);
    *ns = clock_now_ns() - start;
    plain_close(&plain);
    return status;
}

static void remove_database(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-pitot"};
    char name[4096];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if ((size_t)snprintf(name, sizeof name, "%s%s", path, ends[i]) < sizeof name) {
            unlink(name);
        }
    }
}

typedef int opener(const char *path, uint64_t *ns, struct error *error);
static opener *const openers[SIDES] = {open_pitot, open_plain};

static int measure(struct turns *turns, char *const paths[SIDES], bool fresh,
                   struct measured *measured, struct error *error)
{
    uint64_t ns[SIDES] = {0};
    int status = 0;
    while (status == 0 && turns_next(turns)) {
        size_t order[SIDES];
        turns_order(turns, order, SIDES);
        for (size_t i = 0; i < SIDES && status == 0; i++) {
            if (fresh) {
                remove_database(paths[order[i]]);
            }
            status = openers[order[i]](paths[order[i]], &ns[order[i]], error);
        }
        if (status == 0) {
            measured_round(measured, ns[SIDE_PITOT], ns[SIDE_PLAIN]);
        }
    }
    return status;
}

static int measure_new(const struct numbers_plan *plan, const struct numbers_watch *watch,
                       char *const paths[SIDES], struct result_numbers *out, struct error *error)
{
    struct turns turns;
    struct measured measured;
    int status = measured_begin(&measured, "open", "a new database", "ns", RESULT_ABSENT, error);
    if (status != 0) {
        return status;
    }
    turns_begin(&turns, plan, watch, "opening new databases");
    status = measure(&turns, paths, true, &measured, error);
    if (status == 0) {
        return measured_end(&measured, out, error);
    }
    measured_release(&measured);
    return status;
}

/* Fills both databases as a program that ran before would have. */
static int fill(const struct numbers_plan *plan, char *const paths[SIDES], struct error *error)
{
    struct feed feed;
    struct plain plain;
    bool busy = false;
    remove_database(paths[SIDE_PITOT]);
    remove_database(paths[SIDE_PLAIN]);
    int status = feed_open(&feed, paths[SIDE_PITOT], PITOT_REPLACE, plan->rows, error);
    status = status == 0 ? feed_pass(&feed, error) : status;
    status = status == 0 ? plain_open(&plain, paths[SIDE_PLAIN], PLAIN_WAL, error) : status;
    if (status == 0) {
        status = plain_pass(&plain, &feed.rows, &busy, error);
        plain_close(&plain);
    }
    int closed = feed_close(&feed, error);
    return status != 0 ? status : closed;
}

static int measure_existing(const struct numbers_plan *plan, const struct numbers_watch *watch,
                            char *const paths[SIDES], struct result_numbers *out,
                            struct error *error)
{
    struct turns turns;
    struct measured measured;
    int status =
        measured_begin(&measured, "open", "an existing database", "ns", RESULT_ABSENT, error);
    if (status != 0) {
        return status;
    }
    status = fill(plan, paths, error);
    if (status == 0) {
        turns_begin(&turns, plan, watch, "opening existing databases");
        status = measure(&turns, paths, false, &measured, error);
    }
    if (status == 0) {
        return measured_end(&measured, out, error);
    }
    measured_release(&measured);
    return status;
}

int numbers_open(const struct numbers_plan *plan, const struct numbers_watch *watch,
                 struct result_numbers *out, struct error *error)
{
    char *paths[SIDES] = {file_join(plan->folder, "open.db"),
                          file_join(plan->folder, "open-plain.db")};
    int status = paths[0] == NULL || paths[1] == NULL
                     ? error_set(error, ERROR_MEMORY, "out of memory")
                     : measure_new(plan, watch, paths, out, error);
    status = status == 0 ? measure_existing(plan, watch, paths, out, error) : status;
    free(paths[0]);
    free(paths[1]);
    return status;
}
