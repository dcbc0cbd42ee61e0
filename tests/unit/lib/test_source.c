/* Sources: tickets, what a function may call, stopping, schedules. */
#include "one_source.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

static void test_resync_is_latched(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister = (struct lister){.rows = 1, .gate = true};
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    struct pitot_ticket first;
    struct pitot_ticket second;
    struct pitot_ticket third;
    assert_ok(pitot_resync(fixture->source, &first, &error));
    wait_for(&fixture->lister.waiting);
    /* Pass 1 has begun before these requests. */
    assert_ok(pitot_resync(fixture->source, &second, &error));
    assert_ok(pitot_resync(fixture->source, &third, &error));
    assert_int_equal(first.pass, 1);
    assert_int_equal(second.pass, 2);
    assert_int_equal(third.pass, 2);
    assert_int_equal(pitot_ticket_ask(fixture->store, first, NULL), 1);
    assert_fails(pitot_ticket_wait(fixture->store, first, 0, &error), PITOT_ERROR_TIMEOUT, "list");
    assert_fails(pitot_ticket_wait(fixture->store, first, 20, &error), PITOT_ERROR_TIMEOUT,
                 "20 ms");
    fixture->lister.gate = false;
    assert_ok(pitot_ticket_wait(fixture->store, third, PATIENCE_MS, &error));
    assert_int_equal(pitot_ticket_ask(fixture->store, first, NULL), 0);
    assert_int_equal(pitot_ticket_ask(fixture->store, second, NULL), 0);
    assert_int_equal(fixture->lister.calls, 2);
    assert_ok(pitot_resync(fixture->source, NULL, &error));
}

static void test_tickets_that_are_none(void **state)
{
    struct fixture *fixture = *state;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    struct pitot_ticket ticket;
    assert_ok(pitot_resync(fixture->source, &ticket, &error));
    struct pitot_ticket other = {.source = ticket.source + 1000, .pass = 1};
    assert_int_equal(pitot_ticket_ask(fixture->store, other, NULL), PITOT_ERROR_INVALID);
    other = (struct pitot_ticket){.source = ticket.source, .pass = ticket.pass + 1000};
    assert_int_equal(pitot_ticket_wait(fixture->store, other, 0, NULL), PITOT_ERROR_INVALID);
    other = (struct pitot_ticket){.source = ticket.source, .pass = 0};
    assert_int_equal(pitot_ticket_wait(fixture->store, other, 0, NULL), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_ticket_wait(fixture->store, ticket, -2, NULL), PITOT_ERROR_INVALID);
}

static void test_results_of_earlier_passes_are_known(void **state)
{
    struct fixture *fixture = *state;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    struct pitot_ticket failed;
    fixture->lister.returns = 9;
    assert_ok(pitot_resync(fixture->source, &failed, &error));
    assert_int_equal(pitot_ticket_wait(fixture->store, failed, PATIENCE_MS, NULL),
                     PITOT_ERROR_SOURCE);
    fixture->lister.returns = 0;
    for (int i = 0; i < 15; i++) {
        assert_ok(sync_now(fixture->store, fixture->source, &error));
    }
    assert_int_equal(pitot_ticket_ask(fixture->store, failed, NULL), PITOT_ERROR_SOURCE);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(pitot_ticket_ask(fixture->store, failed, NULL), 0);
}

/* A store's other calls work as from any thread. Nonzero: one did not. */
static int call_on_everything_else(struct pitot_store *store, uint64_t number)
{
    struct pitot_subscription *events = NULL;
    struct pitot_event event = {.size = sizeof event};
    struct pitot_stats stats = {.size = sizeof stats};
    struct pitot_source *helper = NULL;
    static struct lister nothing = {.rows = 0};
    const struct pitot_source_options options =
        options_of(number == 1 ? "first" : "second", list, &nothing, NULL);
    int wrong = pitot_subscribe(store, &events, NULL) != 0;
    wrong |= pitot_source_add(store, &options, &helper, NULL) != 0;
    wrong |= !wrong && sync_now(store, helper, NULL) != 0; /* waits for another source */
    wrong |= !wrong && pitot_event_next(events, &event) != 1;
    wrong |=
        pitot_stats(store, &stats, NULL) != 0 || strcmp(stats.oldest_pass_source, "calls") != 0;
    wrong |= !wrong && pitot_source_stop(helper, PATIENCE_MS, NULL) != 0;
    pitot_subscription_free(events);
    return wrong;
}

static int call_back(struct pitot_pass *pass, void *context)
{
    struct fixture *fixture = context;
    struct pitot_ticket ticket;
    struct pitot_reader *reader = NULL;
    struct pitot_sync sync = {.size = sizeof sync};
    int wrong = 0;
    wrong |= pitot_resync(fixture->source, &ticket, NULL) != 0;
    wrong |= ticket.pass != pitot_pass_number(pass) + 1;
    wrong |= pitot_ticket_wait(fixture->store, ticket, 1000, NULL) != PITOT_ERROR_DEADLOCK;
    wrong |= pitot_ticket_ask(fixture->store, ticket, NULL) != 1;
    wrong |= pitot_store_close(fixture->store, 1000, NULL) != PITOT_ERROR_DEADLOCK;
    wrong |= pitot_reader_open(fixture->store, "mine", &reader, NULL) != 0;
    wrong |= pitot_reader_sync(reader, "calls", &sync, NULL) < 0;
    pitot_reader_free(reader);
    wrong |= call_on_everything_else(fixture->store, pitot_pass_number(pass));
    fixture->lister.returns = wrong;
    return pitot_pass_number(pass) == 1 ? 0 : 5;
}

static void test_a_source_that_calls_back(void **state)
{
    struct fixture *fixture = *state;
    const struct pitot_source_options options =
        options_of("calls", call_back, fixture, &items_replaced);
    fixture->lister.returns = 1;
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(fixture->lister.returns, 0);
    /* The pass that it asked for follows. */
    for (int i = 0; i < PATIENCE_MS && sync_row(fixture->store, "calls").pass < 2; i++) {
        nap();
    }
    assert_int_equal(sync_row(fixture->store, "calls").error_code, 5);
    assert_ok(pitot_source_stop(fixture->source, PATIENCE_MS, &error));
}

static int stop_oneself(struct pitot_pass *pass, void *context)
{
    struct fixture *fixture = context;
    fixture->lister.returns =
        pitot_source_stop(fixture->source, 1000, NULL) == PITOT_ERROR_DEADLOCK &&
        pitot_pass_cancelled(pass) && readable(pitot_pass_descriptor(pass)) &&
        pitot_source_stop(fixture->source, 0, NULL) == PITOT_ERROR_STUCK;
    return 0;
}

static void test_a_source_that_stops_itself(void **state)
{
    struct fixture *fixture = *state;
    const struct pitot_source_options options =
        options_of("stops", stop_oneself, fixture, &items_replaced);
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    assert_int_equal(sync_now(fixture->store, fixture->source, NULL), PITOT_ERROR_CANCELLED);
    assert_ok(pitot_source_stop(fixture->source, PATIENCE_MS, &error));
    assert_int_equal(fixture->lister.returns, 1);
    assert_int_equal(sync_row(fixture->store, "stops").error_code, PITOT_ERROR_CANCELLED);
}

static int look_at_signals(struct pitot_pass *pass, void *context)
{
    (void)pass;
    sigset_t *blocked = context;
    return pthread_sigmask(SIG_BLOCK, NULL, blocked);
}

/* Those of the program are for its own threads. */
static void test_threads_take_no_signals(void **state)
{
    struct fixture *fixture = *state;
    sigset_t blocked;
    sigset_t own;
    sigemptyset(&blocked);
    const struct pitot_source_options options = options_of("deaf", look_at_signals, &blocked, NULL);
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGPIPE};
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        assert_true(sigismember(&blocked, signals[i]));
        assert_false(sigismember(&own, signals[i]));
    }
}

static void test_stopping(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister = (struct lister){.rows = 1, .gate = true, .deaf = true};
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    struct pitot_ticket running;
    struct pitot_ticket pending;
    assert_ok(pitot_resync(fixture->source, &running, &error));
    wait_for(&fixture->lister.waiting);
    assert_ok(pitot_resync(fixture->source, &pending, &error));
    assert_fails(pitot_source_stop(fixture->source, 20, &error), PITOT_ERROR_STUCK, "'list'");
    assert_fails(pitot_ticket_wait(fixture->store, running, PITOT_FOREVER, &error),
                 PITOT_ERROR_CANCELLED, "'list'");
    assert_fails(pitot_ticket_wait(fixture->store, pending, PITOT_FOREVER, &error),
                 PITOT_ERROR_CANCELLED, "'list'");
    assert_fails(pitot_resync(fixture->source, NULL, &error), PITOT_ERROR_CANCELLED, "'list'");

    /* Its table is still its own, and so is its name. */
    struct lister other = {.rows = 1};
    struct pitot_source *source = NULL;
    struct pitot_source_options options = options_of("other", list, &other, &items_replaced);
    assert_fails(pitot_source_add(fixture->store, &options, &source, &error), PITOT_ERROR_SCHEMA,
                 "owned by source 'list'");
    assert_null(source);
    fixture->lister.gate = false;
    assert_ok(pitot_source_stop(fixture->source, PATIENCE_MS, &error));
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 0);
    options.name = "list";
    other.title = "other";
    assert_ok(pitot_source_add(fixture->store, &options, &source, &error));
    assert_ok(sync_now(fixture->store, source, &error));
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 1);
    assert_ok(pitot_source_stop(fixture->source, 0, &error)); /* has stopped */
}

static int open_descriptors(void)
{
    DIR *listed = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(listed);
    while (readdir(listed) != NULL) {
        count++;
    }
    closedir(listed);
    return count;
}

/* An application may add and stop sources for as long as its store is open. */
static void test_a_stopped_source_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    int before = 0;
    fixture->lister = (struct lister){.title = "row", .rows = 50};
    for (int i = 0; i < 100; i++) {
        struct pitot_stats stats = {.size = sizeof stats};
        fixture->source = add_source(fixture->store, "list", &fixture->lister);
        assert_ok(sync_now(fixture->store, fixture->source, &error));
        assert_ok(pitot_source_stop(fixture->source, PATIENCE_MS, &error));
        assert_fails(pitot_resync(fixture->source, NULL, &error), PITOT_ERROR_CANCELLED, "'list'");
        assert_ok(pitot_stats(fixture->store, &stats, &error));
        assert_int_equal(stats.memory_kept, 0);
        before = i == 0 ? open_descriptors() : before; /* with those of SQLite */
        assert_int_equal(open_descriptors(), before);
    }
}

/* Each call says so, leaves nothing behind, and works once there are some again. */
static void test_no_descriptor_left(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit before;
    struct pitot_source *source = NULL;
    struct pitot_subscription *events = NULL;
    struct pitot_reader *reader = NULL;
    struct pitot_store *store = NULL;
    const struct pitot_source_options options =
        options_of("late", list, &fixture->lister, &items_replaced);
    struct lister first = {.rows = -1};
    assert_ok(sync_now(fixture->store, add_source(fixture->store, "first", &first), &error));
    int used = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int round = 0; round < 10; round++) {
        int next = dup(STDIN_FILENO);
        close(next);
        const struct rlimit few = {.rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const int results[] = {
            pitot_source_add(fixture->store, &options, &source, NULL),
            pitot_subscribe(fixture->store, &events, NULL),
            pitot_reader_open(fixture->store, "r", &reader, NULL),
            pitot_store_open(in_folder("other.db"), 1, ITEMS, NULL, &store, NULL),
        };
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
            assert_int_equal(results[i], PITOT_ERROR_IO);
        }
        assert_true(source == NULL && events == NULL && reader == NULL && store == NULL);
        /* One of the database itself is kept by SQLite, which may not close it now, and used again.
         */
        used = round == 0 ? open_descriptors() : used;
        assert_int_equal(open_descriptors(), used);
    }
    fixture->lister.rows = 3;
    assert_ok(pitot_source_add(fixture->store, &options, &source, &error));
    assert_ok(sync_now(fixture->store, source, &error));
}

static void test_sources_that_cannot_be(void **state)
{
    struct fixture *fixture = *state;
    struct lister lister = {.rows = 1};
    struct pitot_source *source = NULL;
    fixture->source = add_source(fixture->store, "list", &lister);
    const struct pitot_source_options good = options_of("other", list, &lister, &items_replaced);
    char name[PITOT_NAME_SIZE + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct pitot_table missing = {.name = "none", .mode = PITOT_REPLACE};
    const struct pitot_table no_mode = {.name = "items"};
    struct {
        struct pitot_source_options options;
        int code;
        const char *text;
    } table[12];
    for (size_t i = 0; i < 12; i++) {
        table[i].options = good;
        table[i].code = PITOT_ERROR_INVALID;
        table[i].text = "";
    }
    table[0].options.size = 3;
    table[1].options.name = NULL;
    table[2].options.name = "";
    table[3].options.name = name;
    table[4].options.function = NULL;
    table[5].options.tables = NULL;
    table[6].options.table_count = 65;
    table[7].options.interval_ms = -1;
    table[8].options.tables = &no_mode;
    table[9].options.tables = &missing;
    table[9].code = PITOT_ERROR_SCHEMA;
    table[9].text = "none";
    table[10].options.name = "list";
    table[10].options.table_count = 0;
    table[10].code = PITOT_ERROR_SCHEMA;
    table[10].text = "'list'";
    table[11].code = PITOT_ERROR_SCHEMA;
    table[11].text = "items";
    for (size_t i = 0; i < 12; i++) {
        assert_fails(pitot_source_add(fixture->store, &table[i].options, &source, &error),
                     table[i].code, table[i].text);
        assert_null(source);
    }
    assert_ok(sync_now(fixture->store, fixture->source, &error));
}

static void test_intervals(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_source_options options =
        options_of("often", list, &fixture->lister, &items_replaced);
    options.interval_ms = 1;
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    while (fixture->lister.calls < 20) {
        nap();
    }
    /* Errors do not end them: back-off is the interval, then twice … */
    fixture->lister.returns = 1;
    int calls = fixture->lister.calls;
    while (fixture->lister.calls < calls + 5) {
        nap();
    }
}

static void test_back_off(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_source_options options =
        options_of("backs", list, &fixture->lister, &items_replaced);
    options.backoff_ms = 1;
    options.backoff_max_ms = 4;
    fixture->lister.returns = 1;
    /* Asked only; a failed pass is tried again until it succeeds. */
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    assert_int_equal(fixture->lister.calls, 0);
    assert_int_equal(sync_now(fixture->store, fixture->source, NULL), PITOT_ERROR_SOURCE);
    while (fixture->lister.calls < 8) {
        nap();
    }
    fixture->lister.returns = 0;
    while (sync_row(fixture->store, "backs").error_code != 0) {
        nap();
    }
    int calls = fixture->lister.calls;
    for (int i = 0; i < 100; i++) {
        nap();
    }
    assert_int_equal(fixture->lister.calls, calls);

    /* A long one does not stand in the way of a request. */
    options.name = "long";
    options.table_count = 0;
    options.backoff_ms = 3600 * 1000;
    options.backoff_max_ms = 0;
    struct lister other = {.returns = 1};
    options.context = &other;
    struct pitot_source *source = NULL;
    assert_ok(pitot_source_add(fixture->store, &options, &source, &error));
    assert_int_equal(sync_now(fixture->store, source, NULL), PITOT_ERROR_SOURCE);
    assert_int_equal(sync_now(fixture->store, source, NULL), PITOT_ERROR_SOURCE);
    assert_int_equal(other.calls, 2);
}

static int wait_on_the_descriptor(struct pitot_pass *pass, void *context)
{
    (void)context;
    struct pollfd descriptor = {.fd = pitot_pass_descriptor(pass), .events = POLLIN};
    add_item(pass, 1, "late", 0);
    return poll(&descriptor, 1, PATIENCE_MS) == 1 && pitot_pass_cancelled(pass) ? 0 : 77;
}

static void test_a_deadline(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_source_options options =
        options_of("slow", wait_on_the_descriptor, NULL, &items_replaced);
    options.deadline_ms = 5;
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    for (int i = 0; i < 3; i++) {
        assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_TIMEOUT,
                     "deadline of 5 ms");
    }
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 0);
    assert_int_equal(sync_row(fixture->store, "slow").error_code, PITOT_ERROR_TIMEOUT);
}

static void test_a_source_without_tables(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_source_options options = options_of("checks", list, &fixture->lister, NULL);
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(sync_row(fixture->store, "checks").pass, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_resync_is_latched),
        TEST(test_tickets_that_are_none),
        TEST(test_results_of_earlier_passes_are_known),
        TEST(test_a_source_that_calls_back),
        TEST(test_a_source_that_stops_itself),
        TEST(test_threads_take_no_signals),
        TEST(test_stopping),
        TEST(test_a_stopped_source_leaves_nothing),
        TEST(test_no_descriptor_left),
        TEST(test_sources_that_cannot_be),
        TEST(test_intervals),
        TEST(test_back_off),
        TEST(test_a_deadline),
        TEST(test_a_source_without_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
