/*
 * A browser for the installed packages of a Debian system.
 *
 *     packages DATABASE [--status FILE] [--pause MICROSECONDS]
 *
 * Type to search; arrows and page keys move; Ctrl-R asks for a fresh list; Escape clears the
 * search, and ends the program when there is none, as Ctrl-C does.
 *
 * There is no thread of its own in here: one poll(2) waits for keys, for events of the store, and
 * for signals. What is shown is read from the database alone, also while a pass runs; --pause
 * makes a pass as long as one likes to see that.
 */
#include "packages.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { INTERVAL_MS = 60000, CLOSE_MS = 5000, CHROME_ROWS = 3, WORD_MAX = 60 };

struct browser {
    struct pitot_store *store;
    struct pitot_source *source;
    struct pitot_subscription *subscription;
    struct pitot_reader *reader;
    sqlite3_stmt *count, *list;
    char word[WORD_MAX + 1];
    int64_t first; /* row at the top */
    bool listing;  /* a pass runs */
    bool ended;
};

/* ---- the screen ------------------------------------------------------------------------- */

static int64_t count_matches(struct browser *browser)
{
    sqlite3_bind_text(browser->count, 1, browser->word, -1, SQLITE_STATIC);
    int64_t count =
        sqlite3_step(browser->count) == SQLITE_ROW ? sqlite3_column_int64(browser->count, 0) : 0;
    sqlite3_reset(browser->count);
    return count;
}

static void draw_list(struct browser *browser, int rows)
{
    sqlite3_stmt *list = browser->list;
    sqlite3_bind_text(list, 1, browser->word, -1, SQLITE_STATIC);
    sqlite3_bind_int(list, 2, rows);
    sqlite3_bind_int64(list, 3, browser->first);
    for (int row = 0; row < rows; row++) {
        if (sqlite3_step(list) == SQLITE_ROW) {
            screen_line(false, "%-32s %-24s %9" PRId64 " kB  %s",
                        (const char *)sqlite3_column_text(list, 0),
                        (const char *)sqlite3_column_text(list, 1),
                        (int64_t)sqlite3_column_int64(list, 2) / 1024,
                        (const char *)sqlite3_column_text(list, 3));
        } else {
            screen_line(false, "%s", "");
            sqlite3_reset(list);
            sqlite3_bind_int(list, 2, 0); /* the lines below are empty, too */
        }
    }
    sqlite3_reset(list);
}

static void draw_state(const struct browser *browser, const struct pitot_sync *sync)
{
    screen_line(true,
                "pass %" PRIu64 ": %" PRIu64 " new, %" PRIu64 " changed, %" PRIu64 " gone%s%s%s",
                sync->pass, sync->counts.inserted, sync->counts.updated, sync->counts.deleted,
                browser->listing ? "; reading the packages …" : "",
                sync->error_code != 0 ? "; the list is old: " : "", sync->error_text);
}

/* All that is shown is of one moment. */
static void draw(struct browser *browser)
{
    struct pitot_sync sync = {.size = sizeof sync};
    int rows = screen_size().rows - CHROME_ROWS;
    if (pitot_snapshot_begin(browser->reader, NULL) != 0) {
        return;
    }
    pitot_reader_sync(browser->reader, SOURCE_NAME, &sync, NULL);
    int64_t count = count_matches(browser);
    int64_t last = count > rows ? count - rows : 0;
    browser->first = browser->first < 0 ? 0 : browser->first > last ? last : browser->first;
    screen_start();
    screen_line(true, "%" PRId64 " packages%s%s", count, browser->word[0] != '\0' ? " with " : "",
                browser->word);
    draw_list(browser, rows);
    draw_state(browser, &sync);
    screen_line(false, "type to search, Ctrl-R: read again, Escape: back, Ctrl-C: end");
    screen_show();
    pitot_snapshot_end(browser->reader, NULL);
}

/* ---- keys, events, signals ------------------------------------------------------------------ */

enum { CONTROL_C = 3, CONTROL_R = 18, BACKSPACE = 127, CONTROL_H = 8 };

static void search(struct browser *browser, int key)
{
    size_t length = strlen(browser->word);
    if (key == BACKSPACE || key == CONTROL_H) {
        while (length > 0 && ((unsigned char)browser->word[--length] & 0xc0u) == 0x80u) {
        }
        browser->word[length] = '\0';
    } else if (key >= ' ' && key < 256 && length < WORD_MAX) {
        browser->word[length] = (char)key;
        browser->word[length + 1] = '\0';
    }
    browser->first = 0;
}

static void press(struct browser *browser, int key)
{
    int page = screen_size().rows - CHROME_ROWS;
    switch (key) {
    case CONTROL_C:
    case -1:
        browser->ended = true;
        break;
    case CONTROL_R:
        pitot_resync(browser->source, NULL, NULL); /* its events tell when it is done */
        break;
    case KEY_ESCAPE:
        browser->ended = browser->word[0] == '\0';
        browser->word[0] = '\0';
        break;
    case KEY_UP:
    case KEY_DOWN:
        browser->first += key == KEY_UP ? -1 : 1;
        break;
    case KEY_PAGE_UP:
    case KEY_PAGE_DOWN:
        browser->first += key == KEY_PAGE_UP ? -page : page;
        break;
    default:
        search(browser, key);
        break;
    }
}

static void take_events(struct browser *browser)
{
    struct pitot_event event = {.size = sizeof event};
    while (pitot_event_next(browser->subscription, &event) == 1) {
        browser->listing = event.kind == PITOT_OPENING;
    }
}

/* SIGTERM ends; SIGWINCH: the window has another size. */
static void take_signal(struct browser *browser, int signals)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) == sizeof info && info.ssi_signo != SIGWINCH) {
        browser->ended = true;
    }
}

static void loop(struct browser *browser, int signals)
{
    struct pollfd fds[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = pitot_subscription_descriptor(browser->subscription), .events = POLLIN},
        {.fd = signals, .events = POLLIN},
    };
    while (!browser->ended) {
        draw(browser);
        if (poll(fds, 3, -1) < 0 && errno != EINTR) {
            return;
        }
        take_events(browser);
        if (fds[2].revents != 0) {
            take_signal(browser, signals);
        }
        if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) {
            return;
        }
        for (int key; !browser->ended && (key = screen_key()) != KEY_NONE;) {
            press(browser, key);
        }
    }
}

/* ---- beginning and end ------------------------------------------------------------------------
 */

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

#define MATCHES                                                                                    \
    " FROM packages WHERE ?1 = '' OR name LIKE '%' || ?1 || '%' OR summary LIKE '%' || ?1 || '%'"

/* Statements are prepared once: that costs more than reading a screen of rows. */
static int prepare(struct browser *browser)
{
    sqlite3 *db = pitot_reader_sqlite(browser->reader);
    bool fine =
        sqlite3_prepare_v2(db, "SELECT count(*)" MATCHES, -1, &browser->count, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db,
                           "SELECT name, ifnull(version, ''), size, ifnull(summary, '')" MATCHES
                           " ORDER BY name, architecture LIMIT ?2 OFFSET ?3",
                           -1, &browser->list, NULL) == SQLITE_OK;
    if (!fine) {
        fprintf(stderr, "packages: %s\n", sqlite3_errmsg(db));
    }
    return fine ? 0 : -1;
}

static int begin(struct browser *browser, struct status_file *from, struct pitot_error *error)
{
    const struct pitot_table table = {.name = "packages", .mode = PITOT_MERGE};
    const struct pitot_source_options options = {
        .size = sizeof options,
        .name = SOURCE_NAME,
        .function = status_list,
        .context = from,
        .tables = &table,
        .table_count = 1,
        .interval_ms = INTERVAL_MS,
    };
    int result = pitot_subscribe(browser->store, &browser->subscription, error);
    result =
        result == 0 ? pitot_reader_open(browser->store, "screen", &browser->reader, error) : result;
    result = result == 0 ? prepare(browser) : result;
    return result == 0 ? pitot_source_add(browser->store, &options, &browser->source, error)
                       : result;
}

static void end(struct browser *browser)
{
    sqlite3_finalize(browser->count);
    sqlite3_finalize(browser->list);
    pitot_reader_free(browser->reader);
    pitot_subscription_free(browser->subscription);
    pitot_store_close(browser->store, CLOSE_MS, NULL);
    pitot_store_free(browser->store);
}

static bool read_options(int argc, char **argv, struct status_file *from)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--status") == 0) {
            from->path = argv[i + 1];
        } else if (strcmp(argv[i], "--pause") == 0) {
            from->pause_us = atoi(argv[i + 1]);
        } else {
            return false;
        }
    }
    return argc >= 2 && argc % 2 == 0;
}

int main(int argc, char **argv)
{
    struct status_file from = {.path = "/var/lib/dpkg/status"};
    struct browser browser = {.first = 0};
    struct pitot_error error = {.code = 0};
    if (!read_options(argc, argv, &from)) {
        fputs("usage: packages DATABASE [--status FILE] [--pause MICROSECONDS]\n", stderr);
        return 2;
    }
    int signals = open_signals();
    int result = pitot_store_open(argv[1], 1, SCHEMA, NULL, &browser.store, &error);
    if (result == 0) {
        result = begin(&browser, &from, &error);
        if (result == 0 && !screen_begin()) {
            fputs("packages: needs a terminal\n", stderr);
            result = -1;
        }
        if (result == 0) {
            loop(&browser, signals);
            screen_end();
        }
        end(&browser);
    }
    if (error.code != 0) {
        fprintf(stderr, "packages: %s\n", error.message);
    }
    close(signals);
    return result == 0 ? 0 : 1;
}
