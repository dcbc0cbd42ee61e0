/* The end: closing with everything still going on, forks, and many who open at once. */
#include "library.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#ifdef __SANITIZE_THREAD__
enum { LOOPS = 100 };
#else
enum { LOOPS = 1000 };
#endif

enum { WAITERS = 8 };

struct waiter {
    struct pitot_store *store;
    struct pitot_source *source;
    _Atomic int entered;
    _Atomic int wrong;
};

static void *wait_for_ever(void *argument)
{
    struct waiter *waiter = argument;
    struct pitot_ticket ticket;
    int result = pitot_resync(waiter->source, &ticket, NULL);
    atomic_fetch_add(&waiter->entered, 1);
    if (result == 0) {
        result = pitot_ticket_wait(waiter->store, ticket, PITOT_FOREVER, NULL);
    }
    if (result != 0 && result != PITOT_ERROR_CLOSED) {
        atomic_store(&waiter->wrong, result);
    }
    return NULL;
}

static void test_closing_with_everything_going_on(void **state)
{
    (void)state;
    for (int loop = 0; loop < LOOPS; loop++) {
        /* Sometimes it does not heed the end, and outlives its store. */
        static struct lister ones[LOOPS];
        struct lister *running = &ones[loop];
        running->rows = 3;
        running->gate = true;
        running->deaf = loop % 10 == 7;
        struct lister quick = {.rows = -1};
        struct pitot_store *store = open_store();
        struct pitot_reader *reader = NULL;
        struct pitot_subscription *subscription = NULL;
        struct pitot_source *slow = add_source(store, "slow", running);
        struct pitot_source *fast = add_source(store, "fast", &quick);
        assert_ok(pitot_reader_open(store, "r", &reader, &error));
        assert_ok(pitot_subscribe(store, &subscription, &error));
        assert_ok(pitot_snapshot_begin(reader, &error));
        pthread_t threads[WAITERS];
        struct waiter on_slow = {.store = store, .source = slow};
        struct waiter on_fast = {.store = store, .source = fast};
        for (int i = 0; i < WAITERS; i++) {
            assert_int_equal(
                pthread_create(&threads[i], NULL, wait_for_ever, i % 2 == 0 ? &on_slow : &on_fast),
                0);
        }
        /* Sometimes at once, sometimes when all of them are there. */
        while (loop % 3 != 0 && on_slow.entered + on_fast.entered < WAITERS) {
            nap();
        }
        if (running->deaf) {
            wait_for(&running->waiting);
            assert_int_equal(pitot_store_close(store, 1, NULL), PITOT_ERROR_STUCK);
        } else {
            assert_ok(pitot_store_close(store, PATIENCE_MS, &error));
        }
        for (int i = 0; i < WAITERS; i++) {
            pthread_join(threads[i], NULL);
        }
        assert_int_equal(on_slow.wrong, 0);
        assert_int_equal(on_fast.wrong, 0);
        pitot_store_free(store);
        running->gate = false;
        while (running->waiting) {
            nap();
        }
        struct pitot_event event = {.size = sizeof event};
        /* What follows the end is at most the closing event of the pass that ended after it. */
        int result;
        while ((result = pitot_event_next(subscription, &event)) == 1) {
        }
        assert_int_equal(result, PITOT_ERROR_CLOSED);
        pitot_subscription_free(subscription);
        pitot_reader_free(reader);
    }
}

static void test_a_source_that_never_returns(void **state)
{
    (void)state;
    /* Outlives this function's store: not on the stack. */
    static struct lister lister;
    lister = (struct lister){.rows = 3, .gate = true, .deaf = true};
    struct pitot_store *store = open_store();
    struct pitot_source *source = add_source(store, "deaf", &lister);
    struct pitot_ticket ticket;
    assert_ok(pitot_resync(source, &ticket, &error));
    wait_for(&lister.waiting);
    assert_fails(pitot_store_close(store, 10, &error), PITOT_ERROR_STUCK, "'deaf'");
    assert_fails(pitot_store_close(store, 10, &error), PITOT_ERROR_STUCK, "'deaf'");
    assert_fails(pitot_ticket_wait(store, ticket, PITOT_FOREVER, &error), PITOT_ERROR_CLOSED,
                 "store.db");
    assert_fails(pitot_resync(source, &ticket, &error), PITOT_ERROR_CLOSED, "store.db");

    /* The database is closed all the same, and can be opened again. */
    struct pitot_store *again = open_store();
    struct lister other = {.title = "other", .rows = 2};
    assert_ok(sync_now(again, add_source(again, "deaf", &other), &error));
    pitot_store_free(store);
    lister.gate = false;
    assert_ok(sync_now(again, add_source(again, "more", &(struct lister){.rows = -1}), &error));
    while (lister.waiting) {
        nap();
    }
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items WHERE title LIKE 'other %'"),
                     2);
    close_store(again);
}

static void test_calls_after_the_end(void **state)
{
    (void)state;
    struct lister lister = {.rows = 1};
    struct pitot_store *store = open_store();
    struct pitot_source *source = add_source(store, "list", &lister);
    struct pitot_ticket ticket;
    assert_ok(pitot_resync(source, &ticket, &error));
    assert_ok(pitot_ticket_wait(store, ticket, PATIENCE_MS, &error));
    assert_ok(pitot_store_close(store, PATIENCE_MS, &error));
    assert_ok(pitot_store_close(store, PATIENCE_MS, &error));
    struct pitot_reader *reader = NULL;
    struct pitot_subscription *subscription = NULL;
    struct pitot_stats stats = {.size = sizeof stats};
    const struct pitot_source_options options = options_of("other", list, &lister, &items_replaced);
    assert_fails(pitot_reader_open(store, "r", &reader, &error), PITOT_ERROR_CLOSED, "store.db");
    assert_fails(pitot_subscribe(store, &subscription, &error), PITOT_ERROR_CLOSED, "store.db");
    assert_fails(pitot_source_add(store, &options, &source, &error), PITOT_ERROR_CLOSED,
                 "store.db");
    assert_fails(pitot_stats(store, &stats, &error), PITOT_ERROR_CLOSED, "store.db");
    assert_ok(pitot_ticket_ask(store, ticket, &error)); /* that pass has ended */
    assert_non_null(pitot_store_path(store));
    pitot_store_free(store);
}

static void test_a_child_of_a_fork_touches_nothing(void **state)
{
    (void)state;
    struct lister lister = {.rows = 1};
    struct pitot_store *store = open_store();
    struct pitot_source *source = add_source(store, "list", &lister);
    struct pitot_reader *reader = NULL;
    struct pitot_subscription *subscription = NULL;
    struct pitot_ticket ticket;
    assert_ok(pitot_reader_open(store, "r", &reader, &error));
    assert_ok(pitot_subscribe(store, &subscription, &error));
    assert_ok(pitot_resync(source, &ticket, &error));
    assert_ok(pitot_ticket_wait(store, ticket, PATIENCE_MS, &error));
    assert_ok(pitot_snapshot_begin(reader, &error));
    pid_t child = fork();
    if (child == 0) {
        struct pitot_store *new_store = NULL;
        struct pitot_source *new_source = NULL;
        struct pitot_reader *new_reader = NULL;
        struct pitot_subscription *new_subscription = NULL;
        struct pitot_event event = {.size = sizeof event};
        struct pitot_sync sync = {.size = sizeof sync};
        struct pitot_stats stats = {.size = sizeof stats};
        const struct pitot_source_options options = options_of("x", list, &lister, NULL);
        const int results[] = {
            pitot_store_open(in_folder("other.db"), 1, ITEMS, NULL, &new_store, NULL),
            pitot_store_close(store, 1000, NULL),
            pitot_source_add(store, &options, &new_source, NULL),
            pitot_source_stop(source, 1000, NULL),
            pitot_resync(source, &ticket, NULL),
            pitot_ticket_wait(store, ticket, 1000, NULL),
            pitot_ticket_ask(store, ticket, NULL),
            pitot_subscribe(store, &new_subscription, NULL),
            pitot_event_next(subscription, &event),
            pitot_reader_open(store, "x", &new_reader, NULL),
            pitot_reader_open_path(in_folder("store.db"), "x", 0, &new_reader, NULL),
            pitot_snapshot_begin(reader, NULL),
            pitot_snapshot_end(reader, NULL),
            pitot_reader_sync(reader, "list", &sync, NULL),
            pitot_reader_changed(reader, NULL),
            pitot_stats(store, &stats, NULL),
        };
        int failed = pitot_reader_sqlite(reader) != NULL;
        for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
            failed |= results[i] != PITOT_ERROR_FORKED;
        }
        pitot_subscription_free(subscription);
        pitot_reader_free(reader);
        pitot_store_free(store);
        _exit(failed);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    /* The parent has noticed nothing, and its lock is its own. */
    assert_ok(pitot_snapshot_end(reader, &error));
    assert_ok(sync_now(store, source, &error));
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    pitot_subscription_free(subscription);
    pitot_reader_free(reader);
    close_store(store);
    close_store(open_store()); /* although the child holds copies of all descriptors */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static int fork_in_the_function(struct pitot_pass *pass, void *context)
{
    (void)pass;
    pid_t *child = context;
    *child = fork();
    return 0;
}

static void test_a_function_that_forks(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the child ends by exit(), and what it inherited is then called a leak */
#endif
    pid_t child = -1;
    struct pitot_store *store = open_store();
    struct pitot_source *source = NULL;
    const struct pitot_source_options options =
        options_of("forks", fork_in_the_function, &child, &items_replaced);
    assert_ok(pitot_source_add(store, &options, &source, &error));
    assert_ok(sync_now(store, source, &error));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close_store(store);
    assert_int_equal(number_in("store.db", "SELECT pass FROM pitot_sync"), 1);
}

enum { OPENERS = 16 };

struct opener {
    pthread_barrier_t *barrier;
    const char *path;
    struct pitot_store *store;
    int result;
    struct pitot_error error;
};

static void *open_at_once(void *argument)
{
    struct opener *opener = argument;
    pthread_barrier_wait(opener->barrier);
    opener->result = pitot_store_open(opener->path, 1, ITEMS, NULL, &opener->store, &opener->error);
    return NULL;
}

static void assert_whole_store(const char *name)
{
    char journal[256];
    snprintf(journal, sizeof journal, "%s-journal", name);
    assert_int_equal(number_in(name, "SELECT count(*) FROM items"), 0);
    assert_int_equal(number_in(name, "SELECT count(*) FROM pitot_sync"), 0);
    assert_int_equal(number_in(name, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_int_equal(number_in(name, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"),
                     1);
    assert_false(exists(in_folder(journal)));
}

static void test_sixteen_threads_open_one_new_path(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, NULL, OPENERS);
        pthread_t threads[OPENERS];
        static struct opener openers[OPENERS];
        const char *path = in_folder("new/store.db");
        int owners = 0;
        for (int i = 0; i < OPENERS; i++) {
            openers[i] = (struct opener){.barrier = &barrier, .path = path};
            assert_int_equal(pthread_create(&threads[i], NULL, open_at_once, &openers[i]), 0);
        }
        for (int i = 0; i < OPENERS; i++) {
            pthread_join(threads[i], NULL);
            owners += openers[i].result == 0;
            if (openers[i].result != 0) {
                assert_int_equal(openers[i].result, PITOT_ERROR_OWNED);
                assert_holds(openers[i].error.message, "in this process");
            }
        }
        assert_int_equal(owners, 1);
        for (int i = 0; i < OPENERS; i++) {
            if (openers[i].store != NULL) {
                close_store(openers[i].store);
            }
        }
        pthread_barrier_destroy(&barrier);
        assert_whole_store("new/store.db");
        assert_int_equal(unlink(in_folder("new/store.db")), 0);
    }
}

/* 0: it became the owner; 1: it was told who is; 2: neither. */
static int open_in_a_process(int gate, int owned)
{
    char nothing;
    struct pitot_store *store = NULL;
    struct pitot_error error = {0};
    if (read(gate, &nothing, 1) != 0) {
        return 2;
    }
    int result = pitot_store_open(in_folder("new/store.db"), 1, ITEMS, NULL, &store, &error);
    if (result == PITOT_ERROR_OWNED) {
        return strstr(error.message, "in process ") != NULL ? 1 : 2;
    }
    if (result != 0) {
        return 2;
    }
    /* Not given up before all others have tried. */
    return read(owned, &nothing, 1) == 0 ? 0 : 2;
}

static void test_sixteen_processes_open_one_new_path(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        int gate[2];
        int owned[2];
        pid_t children[OPENERS];
        assert_int_equal(pipe(gate), 0);
        assert_int_equal(pipe(owned), 0);
        for (int i = 0; i < OPENERS; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                close(gate[1]);
                close(owned[1]);
                _exit(open_in_a_process(gate[0], owned[0]));
            }
        }
        close(gate[0]);
        close(gate[1]);
        close(owned[0]);
        /* Those that were told end by themselves; the owner ends when they have. */
        int told = 0;
        for (int i = 0; i < OPENERS - 1; i++) {
            int status = -1;
            assert_true(wait(&status) > 0);
            told += WIFEXITED(status) && WEXITSTATUS(status) == 1;
        }
        close(owned[1]);
        int status = -1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
        assert_int_equal(told, OPENERS - 1);
        assert_whole_store("new/store.db");
        assert_int_equal(unlink(in_folder("new/store.db")), 0);
    }
}

enum { NEIGHBOURS = 4, ROUNDS = 50 };

struct neighbour {
    pthread_barrier_t *barrier;
    char name[32];
    int wrong;
};

static void *live_beside_others(void *argument)
{
    struct neighbour *own = argument;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, own->name);
    for (int round = 0; round < ROUNDS; round++) {
        struct lister lister = {.title = own->name, .rows = 50, .n = round};
        struct pitot_store *store = NULL;
        struct pitot_source *source = NULL;
        struct pitot_ticket ticket;
        const struct pitot_source_options options =
            options_of("list", list, &lister, &items_replaced);
        bool ready = pitot_store_open(path, 1, ITEMS, NULL, &store, NULL) == 0 &&
                     pitot_source_add(store, &options, &source, NULL) == 0;
        pthread_barrier_wait(own->barrier);
        own->wrong += !ready || pitot_resync(source, &ticket, NULL) != 0 ||
                      pitot_ticket_wait(store, ticket, PATIENCE_MS, NULL) != 0 ||
                      pitot_store_close(store, PATIENCE_MS, NULL) != 0;
        pitot_store_free(store);
    }
    return NULL;
}

/* What stores of a process share is safe to be used at once. */
static void test_stores_side_by_side(void **state)
{
    (void)state;
    pthread_t threads[NEIGHBOURS];
    pthread_barrier_t barrier;
    struct neighbour neighbours[NEIGHBOURS];
    pthread_barrier_init(&barrier, NULL, NEIGHBOURS);
    for (int i = 0; i < NEIGHBOURS; i++) {
        neighbours[i] = (struct neighbour){.barrier = &barrier};
        snprintf(neighbours[i].name, sizeof neighbours[i].name, "%d.db", i);
        assert_int_equal(pthread_create(&threads[i], NULL, live_beside_others, &neighbours[i]), 0);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        assert_int_equal(neighbours[i].wrong, 0);
        assert_int_equal(number_in(neighbours[i].name, "SELECT count(*) FROM items"), 50);
    }
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_closing_with_everything_going_on),
        TEST(test_a_source_that_never_returns),
        TEST(test_calls_after_the_end),
        TEST(test_a_child_of_a_fork_touches_nothing),
        TEST(test_a_function_that_forks),
        TEST(test_sixteen_threads_open_one_new_path),
        TEST(test_sixteen_processes_open_one_new_path),
        TEST(test_stores_side_by_side),
    };
    return cmocka_run_group_tests(tests, use_memory, NULL);
}
