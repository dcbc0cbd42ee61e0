/* The line of the group "resync": from asking for a pass of one row to its closing event, beside a
 * call that commits the same at once. */
#include "base/file.h"
#include "core/clock.h"
#include "numbers/feed.h"
#include "numbers/measured.h"
#include "numbers/numbers.h"
#include "numbers/plain.h"
#include "numbers/turns.h"

#include <poll.h>
#include <stdlib.h>

enum { WAIT_MS = 60000 };
/* A Resync is somebody's wish: it comes to threads that sleep and to caches that hold other things.
 * So each side rests before its turn. */
#define REST_NS (2 * NS_PER_MS)

struct pair {
    struct feed feed;
    struct plain plain;
    struct pitot_subscription *subscription;
};

/* Waits as a program's loop does: for the descriptor, then takes events until the closing one. */
static int await_closing(struct pair *pair, uint64_t number, struct error *error)
{
    struct pollfd fd = {.fd = pitot_subscription_descriptor(pair->subscription), .events = POLLIN};
    struct pitot_event event = {.size = sizeof event};
    for (;;) {
        int taken = pitot_event_next(pair->subscription, &event);
        if (taken < 0) {
            return error_set(error, ERROR_ENGINE, "libpitot: the stream of events ended: %s",
                             pitot_error_text(taken));
        }
        if (taken == 1 && event.kind == PITOT_CLOSING && event.last_pass >= number) {
            return event.failed == 0
                       ? 0
                       : error_set(error, ERROR_ENGINE, "libpitot, a pass: %s", event.error_text);
        }
        if (taken == 0 && poll(&fd, 1, WAIT_MS) == 0) {
            return error_set(error, ERROR_TIMEOUT, "libpitot: no closing event came in a minute");
        }
    }
}

static int run_pitot(struct pair *pair, uint64_t *ns, struct error *error)
{
    struct pitot_ticket ticket;
    struct pitot_error found = {.code = 0};
    uint64_t start = clock_now_ns();
    int status = pitot_resync(pair->feed.source, &ticket, &found) == 0
                     ? await_closing(pair, ticket.pass, error)
                     : feed_error(error, "resync", &found);
    *ns = clock_now_ns() - start;
    return status;
}

static int run_plain(struct pair *pair, uint64_t *ns, struct error *error)
{
    bool busy = false;
    uint64_t start = clock_now_ns();
    int status = plain_pass(&pair->plain, &pair->feed.rows, &busy, error);
    *ns = clock_now_ns() - start;
    return status;
}

static int measure(struct pair *pair, const struct numbers_plan *plan,
                   const struct numbers_watch *watch, struct measured *measured,
                   struct error *error)
{
    struct turns turns;
    int status = 0;
    turns_begin(&turns, plan, watch, "resync");
    while (status == 0 && turns_next(&turns)) {
        uint64_t pitot_ns = 0;
        uint64_t plain_ns = 0;
        size_t order[2];
        turns_order(&turns, order, 2);
        rows_change(&pair->feed.rows, 1, turns.rounds);
        for (size_t i = 0; i < 2 && status == 0; i++) {
            clock_sleep_until_ns(clock_now_ns() + REST_NS);
            status = order[i] == 0 ? run_pitot(pair, &pitot_ns, error)
                                   : run_plain(pair, &plain_ns, error);
        }
        if (status == 0) {
            measured_round(measured, pitot_ns, plain_ns);
        }
    }
    return status;
}

static int open_pair(struct pair *pair, const struct numbers_plan *plan, struct error *error)
{
    char *path = file_join(plan->folder, "resync.db");
    char *plain = file_join(plan->folder, "resync-plain.db");
    struct pitot_error found = {.code = 0};
    int status =
        path != NULL && plain != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    status = status == 0 ? feed_open(&pair->feed, path, PITOT_REPLACE, 1, error) : status;
    if (status == 0 && pitot_subscribe(pair->feed.store, &pair->subscription, &found) != 0) {
        status = feed_error(error, "subscribing", &found);
    }
    status = status == 0 ? plain_open(&pair->plain, plain, PLAIN_WAL, error) : status;
    free(path);
    free(plain);
    return status;
}

int numbers_resync(const struct numbers_plan *plan, const struct numbers_watch *watch,
                   struct result_numbers *out, struct error *error)
{
    struct pair pair = {.subscription = NULL};
    struct measured measured;
    int status =
        measured_begin(&measured, "resync", "to its closing event", "ns", RESULT_ABSENT, error);
    if (status != 0) {
        return status;
    }
    status = open_pair(&pair, plan, error);
    status = status == 0 ? measure(&pair, plan, watch, &measured, error) : status;
    pitot_subscription_free(pair.subscription);
    plain_close(&pair.plain);
    int closed = feed_close(&pair.feed, error);
    status = status != 0 ? status : closed;
    if (status == 0) {
        return measured_end(&measured, out, error);
    }
    measured_release(&measured);
    return status;
}
