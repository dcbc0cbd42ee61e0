/* Sources: passes and what becomes of them, schedules, tickets, stopping. */
#include "library.h"

struct fixture {
    struct pitot_store *store;
    struct lister lister;
    struct pitot_source *source;
};

static int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->store = open_store();
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pitot_store_free(fixture->store);
    free(fixture);
    return remove_test_folder(state);
}

static struct pitot_sync sync_row(struct pitot_store *store, const char *source)
{
    struct pitot_reader *reader = NULL;
    struct pitot_sync sync = {.size = sizeof sync};
    assert_ok(pitot_reader_open(store, "test", &reader, &error));
    if (pitot_reader_sync(reader, source, &sync, NULL) != 1) {
        sync.pass = 0;
    }
    pitot_reader_free(reader);
    return sync;
}

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void test_a_pass_writes_rows_and_sync_row(void **state)
{
    struct fixture *fixture = *state;
    int64_t before_ms = wall_ms();
    fixture->lister = (struct lister){.title = "first", .rows = 3};
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_string_equal(pitot_source_name(fixture->source), "list");
    assert_int_equal(sync_row(fixture->store, "list").pass, 0);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM pitot_sync"), 0);

    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items WHERE title LIKE 'first %'"),
                     3);
    struct pitot_sync sync = sync_row(fixture->store, "list");
    assert_int_equal(sync.pass, 1);
    assert_int_equal(sync.commit_sequence, 1);
    assert_int_equal(sync.counts.inserted, 3);
    assert_int_equal(sync.counts.deleted, 0);
    assert_int_equal(sync.error_code, 0);
    assert_string_equal(sync.error_text, "");
    assert_true(sync.started_ms >= before_ms && sync.finished_ms >= sync.started_ms);
    assert_true(sync.last_success_ms == sync.finished_ms && sync.finished_ms <= wall_ms());

    fixture->lister.rows = 2;
    fixture->lister.title = "second";
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    sync = sync_row(fixture->store, "list");
    assert_int_equal(sync.pass, 2);
    assert_int_equal(sync.commit_sequence, 2);
    assert_int_equal(sync.counts.inserted, 2);
    assert_int_equal(sync.counts.deleted, 3);
    assert_int_equal(
        number_in("store.db", "SELECT count(*) FROM items WHERE title LIKE 'second %'"), 2);
}

static void test_numbers_go_on_after_the_store_was_closed(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister.rows = 1;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    struct pitot_sync before = sync_row(fixture->store, "list");
    close_store(fixture->store);
    fixture->store = open_store();
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    struct pitot_sync after = sync_row(fixture->store, "list");
    assert_memory_equal(&before, &after, sizeof before);
    struct pitot_ticket ticket;
    assert_ok(pitot_resync(fixture->source, &ticket, &error));
    assert_int_equal(ticket.pass, 3);
    assert_ok(pitot_ticket_wait(fixture->store, ticket, PATIENCE_MS, &error));
    assert_int_equal(sync_row(fixture->store, "list").commit_sequence, 3);
}

static int fail_with_words(struct pitot_pass *pass, void *context)
{
    (void)context;
    add_item(pass, 99, "lost", 0);
    assert_int_equal(pitot_pass_fail(pass, 503, "the server is down"), 503);
    return pitot_pass_fail(pass, 7, "only the first counts");
}

static int add_nonsense(struct pitot_pass *pass, void *context)
{
    const struct pitot_value two[] = {pitot_integer(1), pitot_null()};
    int *kind = context;
    switch (*kind) {
    case 0:
        assert_int_equal(pitot_pass_add(pass, 0, two, 2), PITOT_ERROR_TYPE);
        break;
    case 1:
        assert_int_equal(pitot_pass_add(pass, 1, two, 2), PITOT_ERROR_INVALID);
        break;
    case 2:
        assert_int_equal(pitot_pass_add(pass, 0, NULL, 3), PITOT_ERROR_INVALID);
        break;
    default:
        return *kind;
    }
    add_item(pass, 1, "after", 0);
    return 0;
}

static void test_a_failed_pass_keeps_the_rows_and_tells_why(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister = (struct lister){.title = "good", .rows = 3};
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    struct pitot_sync good = sync_row(fixture->store, "list");

    fixture->lister.rows = 1;
    fixture->lister.returns = 42;
    struct pitot_error failed = {0};
    assert_int_equal(sync_now(fixture->store, fixture->source, &failed), PITOT_ERROR_SOURCE);
    assert_int_equal(failed.code, 42);
    assert_non_null(strstr(failed.message, "returned 42"));
    struct pitot_sync bad = sync_row(fixture->store, "list");
    assert_int_equal(bad.pass, 2);
    assert_int_equal(bad.commit_sequence, 2);
    assert_int_equal(bad.error_code, 42);
    assert_non_null(strstr(bad.error_text, "returned 42"));
    assert_int_equal(bad.last_success_ms, good.last_success_ms);
    assert_memory_equal(&bad.counts, &good.counts, sizeof good.counts);
    assert_true(bad.finished_ms >= good.finished_ms);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items WHERE title LIKE 'good %'"),
                     3);

    fixture->lister.returns = PITOT_ERROR_IO;
    assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_IO, "-3");
    fixture->lister.returns = 0;
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    bad = sync_row(fixture->store, "list");
    assert_int_equal(bad.error_code, 0);
    assert_string_equal(bad.error_text, "");
}

static void test_words_of_the_source_and_rows_that_do_not_fit(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_source *source = NULL;
    struct pitot_source_options options =
        options_of("words", fail_with_words, NULL, &items_replaced);
    assert_ok(pitot_source_add(fixture->store, &options, &source, &error));
    struct pitot_error failed = {0};
    assert_int_equal(sync_now(fixture->store, source, &failed), PITOT_ERROR_SOURCE);
    assert_int_equal(failed.code, 503);
    assert_string_equal(failed.message, "the server is down");
    struct pitot_sync sync = sync_row(fixture->store, "words");
    assert_int_equal(sync.error_code, 503);
    assert_string_equal(sync.error_text, "the server is down");
    assert_int_equal(sync.last_success_ms, 0);
    assert_ok(pitot_source_stop(source, PATIENCE_MS, &error));

    int kind = 0;
    options = options_of("nonsense", add_nonsense, &kind, &items_replaced);
    assert_ok(pitot_source_add(fixture->store, &options, &source, &error));
    static const int codes[] = {PITOT_ERROR_TYPE, PITOT_ERROR_INVALID, PITOT_ERROR_INVALID};
    for (; kind < 3; kind++) {
        assert_int_equal(sync_now(fixture->store, source, NULL), codes[kind]);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 0);
    }
    kind = 0;
}

static int add_twice(struct pitot_pass *pass, void *context)
{
    (void)context;
    add_item(pass, 1, "one", 0);
    add_item(pass, 1, "two", 0);
    return 0;
}

static void test_duplicate_keys(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister.rows = 2;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_ok(pitot_source_stop(fixture->source, PATIENCE_MS, &error));
    struct pitot_source *source = NULL;
    const struct pitot_source_options options =
        options_of("twice", add_twice, NULL, &items_replaced);
    assert_ok(pitot_source_add(fixture->store, &options, &source, &error));
    assert_fails(sync_now(fixture->store, source, &error), PITOT_ERROR_DUPLICATE, "items");
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 2);
    assert_int_equal(sync_row(fixture->store, "twice").error_code, PITOT_ERROR_DUPLICATE);
}

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

static void test_somebody_else_changes_a_table(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister.rows = 2;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    run_in("store.db", "CREATE TABLE theirs(x)");
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    run_in("store.db", "ALTER TABLE items ADD COLUMN extra");
    assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_SCHEMA, "'items'");
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 2);
}

static void test_the_file_is_replaced_while_it_is_open(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister.rows = 2;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    struct pitot_reader *reader = NULL;
    assert_ok(pitot_reader_open(fixture->store, "r", &reader, &error));
    assert_int_equal(rename(in_folder("store.db"), in_folder("moved.db")), 0);
    assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_REPLACED,
                 "store.db");
    write_text(in_folder("store.db"), "somebody else's");
    assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_REPLACED,
                 "store.db");
    assert_fails(pitot_snapshot_begin(reader, &error), PITOT_ERROR_REPLACED, "store.db");
    assert_fails(pitot_reader_changed(reader, &error), PITOT_ERROR_REPLACED, "store.db");
    assert_int_equal(rename(in_folder("moved.db"), in_folder("store.db")), 0);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    /* The lock file is looked at after each pass, perhaps still after the last one. */
    assert_int_equal(rename(in_folder("store.db-pitot"), in_folder("lock")), 0);
    sync_now(fixture->store, fixture->source, NULL);
    assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_REPLACED,
                 "store.db-pitot");
    pitot_reader_free(reader);
}

static void test_statistics(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister.rows = 3;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    fixture->lister.returns = 1;
    assert_int_equal(sync_now(fixture->store, fixture->source, NULL), PITOT_ERROR_SOURCE);
    fixture->lister.returns = 0;
    fixture->lister.gate = true;
    assert_ok(pitot_resync(fixture->source, NULL, &error));
    wait_for(&fixture->lister.waiting);

    struct pitot_stats stats = {.size = sizeof stats};
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.passes, 2);
    assert_int_equal(stats.passes_failed, 1);
    assert_int_equal(stats.rows_staged, 6);
    assert_int_equal(stats.counts.inserted, 3);
    assert_int_equal(stats.commit_sequence, 2);
    assert_int_equal(stats.pass.count, 2);
    assert_int_equal(stats.staging.count, 2);
    assert_int_equal(stats.lock.count, 1);
    assert_true(stats.lock.sum_ns < stats.pass.sum_ns && stats.commit.max_ns < stats.lock.max_ns);
    assert_true(stats.pass.min_ns <= stats.pass.p50_ns && stats.pass.p50_ns <= stats.pass.max_ns);
    assert_true(stats.staging_cpu_ns > 0 && stats.writing_cpu_ns > 0);
    assert_true(stats.memory_staged > 0);
    assert_true(stats.wal_bytes > 0 && stats.wal_bytes_max >= stats.wal_bytes);
    assert_string_equal(stats.oldest_pass_source, "list");
    assert_true(stats.oldest_pass_ns > 0);
    assert_int_equal(stats.oldest_snapshot_ns, 0);
    fixture->lister.gate = false;

    stats.size = 8;
    assert_int_equal(pitot_stats(fixture->store, &stats, NULL), PITOT_ERROR_INVALID);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_pass_writes_rows_and_sync_row),
        TEST(test_numbers_go_on_after_the_store_was_closed),
        TEST(test_a_failed_pass_keeps_the_rows_and_tells_why),
        TEST(test_words_of_the_source_and_rows_that_do_not_fit),
        TEST(test_duplicate_keys),
        TEST(test_resync_is_latched),
        TEST(test_tickets_that_are_none),
        TEST(test_results_of_earlier_passes_are_known),
        TEST(test_a_source_that_calls_back),
        TEST(test_a_source_that_stops_itself),
        TEST(test_stopping),
        TEST(test_sources_that_cannot_be),
        TEST(test_intervals),
        TEST(test_back_off),
        TEST(test_a_deadline),
        TEST(test_a_source_without_tables),
        TEST(test_somebody_else_changes_a_table),
        TEST(test_the_file_is_replaced_while_it_is_open),
        TEST(test_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
