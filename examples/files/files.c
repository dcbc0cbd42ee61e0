/*
 * Shows the newest 50 files below a folder, and again whenever that has changed.
 *
 *     files FOLDER DATABASE [--once]
 *
 * A source lists the tree in the background, every five seconds; this program reads the database
 * alone, and learns by an event when there is something new to show. --once: shows it once, and
 * ends.
 */
#include <pitot.h>

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LIST_INTERVAL_MS = 5000, CLOSE_MS = 5000 };

static const char schema[] = "CREATE TABLE files(path TEXT PRIMARY KEY, size INTEGER,"
                             " changed INTEGER) WITHOUT ROWID;"
                             "CREATE INDEX files_changed ON files(changed)";

static const char newest[] = "SELECT path, size, changed FROM files"
                             " ORDER BY changed DESC, path LIMIT 50";

/* ---- the source ------------------------------------------------------------------------ */

static int add_file(struct pitot_pass *pass, const FTSENT *entry)
{
    const struct stat *status = entry->fts_statp;
    const struct pitot_value row[] = {
        pitot_text(entry->fts_path, entry->fts_pathlen), /* copied: fts changes it */
        pitot_integer(status->st_size),
        pitot_integer(status->st_mtim.tv_sec),
    };
    return pitot_pass_add(pass, 0, row, sizeof row / sizeof *row);
}

/* Runs on a thread of the library, as long as it likes: no lock is held meanwhile. */
static int list_tree(struct pitot_pass *pass, void *context)
{
    char *const folders[] = {context, NULL};
    FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    int result = tree == NULL ? pitot_pass_fail(pass, errno, strerror(errno)) : 0;
    FTSENT *entry;
    while (result == 0 && !pitot_pass_cancelled(pass) && (entry = fts_read(tree)) != NULL) {
        bool failed = entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR;
        if (failed && entry->fts_level == FTS_ROOTLEVEL) {
            /* Without the folder itself nothing is known: the files of the last pass stay. */
            result = pitot_pass_fail(pass, entry->fts_errno, strerror(entry->fts_errno));
        } else if (entry->fts_info == FTS_F) {
            result = add_file(pass, entry);
        }
    }
    if (tree != NULL) {
        fts_close(tree);
    }
    return result;
}

/* ---- the screen ------------------------------------------------------------------------ */

struct screen {
    struct pitot_reader *reader;
    sqlite3_stmt *newest;
};

static void show_file(sqlite3_stmt *row)
{
    char when[32] = "";
    time_t changed = (time_t)sqlite3_column_int64(row, 2);
    struct tm local;
    if (localtime_r(&changed, &local) != NULL) {
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    }
    printf("%s %12" PRId64 "  %s\n", when, (int64_t)sqlite3_column_int64(row, 1),
           (const char *)sqlite3_column_text(row, 0));
}

/* Rows and sync row of one moment. */
static int show(struct screen *screen, struct pitot_error *error)
{
    struct pitot_sync sync = {.size = sizeof sync};
    int result = pitot_snapshot_begin(screen->reader, error);
    if (result != 0) {
        return result;
    }
    result = pitot_reader_sync(screen->reader, "files", &sync, error);
    if (result == 1) {
        printf("pass %" PRIu64 ": %" PRIu64 " new, %" PRIu64 " changed, %" PRIu64 " gone\n",
               sync.pass, sync.counts.inserted, sync.counts.updated, sync.counts.deleted);
        if (sync.error_code != 0) {
            printf("the list is old: %s\n", sync.error_text);
        }
    }
    while (sqlite3_step(screen->newest) == SQLITE_ROW) {
        show_file(screen->newest);
    }
    sqlite3_reset(screen->newest);
    int ended = pitot_snapshot_end(screen->reader, error);
    fflush(stdout);
    return result < 0 ? result : ended;
}

/* Whether an event is worth looking: the first pass, one that failed, or one that wrote. */
static bool is_news(const struct pitot_event *event, bool shown)
{
    const struct pitot_counts *counts = &event->counts;
    return event->kind == PITOT_CLOSING &&
           (!shown || event->failed > 0 ||
            counts->inserted + counts->updated + counts->deleted > 0);
}

/* ---- the loop --------------------------------------------------------------------------- */

static int loop(struct screen *screen, struct pitot_subscription *subscription, int signals,
                bool once, struct pitot_error *error)
{
    struct pollfd fds[] = {
        {.fd = pitot_subscription_descriptor(subscription), .events = POLLIN},
        {.fd = signals, .events = POLLIN},
    };
    bool shown = false;
    while (!(once && shown)) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            perror("files: poll");
            return -1;
        }
        if (fds[1].revents != 0) {
            return 0;
        }
        struct pitot_event event = {.size = sizeof event};
        bool news = false;
        while (pitot_event_next(subscription, &event) == 1) {
            news = news || is_news(&event, shown);
        }
        if (news) {
            int result = show(screen, error);
            if (result < 0) {
                return result;
            }
            shown = true;
        }
    }
    return 0;
}

/* SIGINT and SIGTERM as something to poll for; threads that begin later inherit the mask. */
static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static int run(struct pitot_store *store, char *folder, bool once, struct pitot_error *error)
{
    const struct pitot_table table = {.name = "files", .mode = PITOT_MERGE};
    const struct pitot_source_options options = {
        .size = sizeof options,
        .name = "files",
        .function = list_tree,
        .context = folder,
        .tables = &table,
        .table_count = 1,
        .interval_ms = LIST_INTERVAL_MS,
    };
    struct screen screen = {.reader = NULL};
    struct pitot_subscription *subscription = NULL;
    struct pitot_source *source;
    int signals = open_signals();
    /* First the subscription, so that no event is missed. */
    int result = pitot_subscribe(store, &subscription, error);
    if (result == 0) {
        result = pitot_reader_open(store, "screen", &screen.reader, error);
    }
    if (result == 0 && sqlite3_prepare_v2(pitot_reader_sqlite(screen.reader), newest, -1,
                                          &screen.newest, NULL) != SQLITE_OK) {
        fprintf(stderr, "files: %s\n", sqlite3_errmsg(pitot_reader_sqlite(screen.reader)));
        result = -1;
    }
    if (result == 0) {
        result = pitot_source_add(store, &options, &source, error);
    }
    if (result == 0) {
        result = loop(&screen, subscription, signals, once, error);
    }
    sqlite3_finalize(screen.newest);
    pitot_reader_free(screen.reader);
    pitot_subscription_free(subscription);
    close(signals);
    return result;
}

int main(int argc, char **argv)
{
    struct pitot_error error = {.code = 0};
    struct pitot_store *store = NULL;
    bool once = argc == 4 && strcmp(argv[3], "--once") == 0;
    if (argc < 3 || argc > 4 || (argc == 4 && !once)) {
        fputs("usage: files FOLDER DATABASE [--once]\n", stderr);
        return 2;
    }
    int result = pitot_store_open(argv[2], 1, schema, NULL, &store, &error);
    if (result == 0) {
        result = run(store, argv[1], once, &error);
        pitot_store_close(store, CLOSE_MS, NULL);
        pitot_store_free(store);
    }
    if (error.code != 0) {
        fprintf(stderr, "files: %s\n", error.message);
    }
    return result == 0 ? 0 : 1;
}
