/* What the tests of the library share: a store in a folder of its own, sources that do as they are
 * told, and waiting for things instead of sleeping. */
#ifndef TESTS_LIB_LIBRARY_H
#define TESTS_LIB_LIBRARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../folder.h"

#include <pitot.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define ITEMS "CREATE TABLE items(id INTEGER PRIMARY KEY, title TEXT, n INTEGER);"

/* Longer than anything takes, so that a test that hangs fails. */
enum { PATIENCE_MS = 60000 };

/* cmocka's group set-up, where a test syncs thousands of times to no purpose: the test folders lie
 * in memory. */
static inline int use_memory(void **state)
{
    (void)state;
    return access("/dev/shm", W_OK) == 0 ? setenv("TMPDIR", "/dev/shm", 1) : 0;
}

static inline void assert_ok_at(int result, const struct pitot_error *error, const char *file,
                                int line)
{
    if (result != 0) {
        print_error("result %d: %s\n", result, error->message);
        _assert_int_equal((unsigned)result, 0, file, line);
    }
}
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        struct pitot_error error = {0};                                                            \
        int result_of_call = (call);                                                               \
        assert_ok_at(result_of_call, &error, __FILE__, __LINE__);                                  \
    } while (0)

/* The call must fail with the code, and its message hold the text. It names its error `error`. */
#define assert_fails(call, wanted, text)                                                           \
    do {                                                                                           \
        struct pitot_error error = {0};                                                            \
        int result_of_call = (call);                                                               \
        if (result_of_call != (wanted) || strstr(error.message, (text)) == NULL) {                 \
            fail_msg("%s gave %d, '%s'", #call, result_of_call, error.message);                    \
        }                                                                                          \
        assert_int_equal(error.code, (wanted));                                                    \
    } while (0)

/* An open that fails leaves no handle. */
#define assert_open_fails(path, version, ddl, code, text)                                          \
    do {                                                                                           \
        struct pitot_store *none = (struct pitot_store *)&none;                                    \
        assert_fails(pitot_store_open(path, version, ddl, NULL, &none, &error), code, text);       \
        assert_null(none);                                                                         \
    } while (0)

static inline struct pitot_store *open_store_as(const char *name, int version, const char *ddl)
{
    struct pitot_store *store = NULL;
    assert_ok(pitot_store_open(in_folder(name), version, ddl, NULL, &store, &error));
    return store;
}

static inline struct pitot_store *open_store(void)
{
    return open_store_as("store.db", 1, ITEMS);
}

static inline void close_store(struct pitot_store *store)
{
    assert_ok(pitot_store_close(store, PATIENCE_MS, &error));
    pitot_store_free(store);
}

/* A source that stages `rows` rows (id from `first`, title "NAME ID", n = `n`), then returns what
 * it is told. With `gate` it waits in the middle until the gate is opened or the pass cancelled. */
struct lister {
    const char *title;
    _Atomic int first;
    _Atomic int rows;
    _Atomic int n;
    _Atomic int returns;
    _Atomic int calls;
    atomic_bool gate;    /* wait */
    atomic_bool waiting; /* is there */
    atomic_bool deaf;    /* do not heed cancelling */
};

static inline int add_item(struct pitot_pass *pass, int id, const char *title, int n)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s %d", title, id);
    const struct pitot_value values[] = {pitot_integer(id), pitot_text(text, (size_t)length),
                                         pitot_integer(n)};
    return pitot_pass_add(pass, 0, values, 3);
}

static inline void nap(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 200000}, NULL);
}

static inline int list(struct pitot_pass *pass, void *context)
{
    struct lister *lister = context;
    atomic_fetch_add(&lister->calls, 1);
    /* As of the beginning: a test may change them while this runs. */
    const int first = lister->first;
    const int rows = lister->rows;
    const int n = lister->n;
    for (int i = 0; i < rows; i++) {
        int result = add_item(pass, first + i, lister->title, n);
        if (result != 0) {
            return result;
        }
    }
    while (lister->gate && (lister->deaf || !pitot_pass_cancelled(pass))) {
        lister->waiting = true;
        nap();
    }
    lister->waiting = false;
    return lister->returns;
}

static const struct pitot_table items_replaced = {.name = "items", .mode = PITOT_REPLACE};
static const struct pitot_table items_merged = {.name = "items", .mode = PITOT_MERGE};

static inline struct pitot_source_options options_of(const char *name, pitot_function *function,
                                                     void *context, const struct pitot_table *table)
{
    return (struct pitot_source_options){.size = sizeof(struct pitot_source_options),
                                         .name = name,
                                         .function = function,
                                         .context = context,
                                         .tables = table,
                                         .table_count = table == NULL ? 0 : 1};
}

static inline struct pitot_source *add_source(struct pitot_store *store, const char *name,
                                              struct lister *lister)
{
    struct pitot_source *source = NULL;
    const struct pitot_source_options options =
        options_of(name, list, lister, lister->rows < 0 ? NULL : &items_replaced);
    lister->title = lister->title == NULL ? name : lister->title;
    assert_ok(pitot_source_add(store, &options, &source, &error));
    return source;
}

/* Asks for a pass and waits for it; its result. */
static inline int sync_now(struct pitot_store *store, struct pitot_source *source,
                           struct pitot_error *error)
{
    struct pitot_ticket ticket;
    assert_int_equal(pitot_resync(source, &ticket, NULL), 0);
    return pitot_ticket_wait(store, ticket, PATIENCE_MS, error);
}

/* Makes a store of so many rows and closes it. */
static inline void fill(const char *name, int version, const char *ddl, int rows)
{
    struct lister lister = {.title = "old", .rows = rows};
    struct pitot_store *store = open_store_as(name, version, ddl);
    struct pitot_source *source = add_source(store, "list", &lister);
    assert_ok(sync_now(store, source, &error));
    close_store(store);
}

static inline void wait_for(const atomic_bool *flag)
{
    for (int i = 0; i < PATIENCE_MS * 5 && !*flag; i++) {
        nap();
    }
    assert_true(*flag);
}

/* A number by SQL, on a connection of the test's own. */
static inline int64_t number_in(const char *name, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    assert_int_equal(sqlite3_open_v2(in_folder(name), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, PATIENCE_MS);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    if (sqlite3_step(statement) == SQLITE_ROW) {
        number = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

/* Runs SQL as another program would. */
static inline void run_in(const char *name, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(in_folder(name), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, PATIENCE_MS);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    sqlite3_close(db);
}

/* The next event, which must come. */
static inline struct pitot_event next_event(struct pitot_subscription *subscription)
{
    struct pitot_event event = {.size = sizeof event};
    struct pollfd descriptor = {.fd = pitot_subscription_descriptor(subscription),
                                .events = POLLIN};
    int result;
    while ((result = pitot_event_next(subscription, &event)) == 0) {
        assert_int_equal(poll(&descriptor, 1, PATIENCE_MS), 1);
    }
    assert_int_equal(result, 1);
    return event;
}

static inline bool readable(int descriptor)
{
    struct pollfd asked = {.fd = descriptor, .events = POLLIN};
    return poll(&asked, 1, 0) == 1;
}

#endif
