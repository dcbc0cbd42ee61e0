/* Subscriptions: which events come, in which order, and when they are joined. */
#include "library.h"

struct fixture {
    struct pitot_store *store;
    struct lister lister;
    struct pitot_source *source;
    struct pitot_subscription *subscription;
};

static int set_up(void **state)
{
    if (make_test_folder(state) != 0) {
        return -1;
    }
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->lister.rows = 2;
    fixture->store = open_store();
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(pitot_subscribe(fixture->store, &fixture->subscription, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pitot_subscription_free(fixture->subscription);
    pitot_store_free(fixture->store);
    free(fixture);
    return remove_test_folder(state);
}

static void assert_opening(const struct pitot_event *event, const char *source, uint64_t pass)
{
    assert_int_equal(event->kind, PITOT_OPENING);
    assert_string_equal(event->source_name, source);
    assert_int_equal(event->first_pass, pass);
    assert_int_equal(event->last_pass, pass);
}

static void assert_none(struct pitot_subscription *subscription)
{
    struct pitot_event event = {.size = sizeof event};
    assert_int_equal(pitot_event_next(subscription, &event), 0);
    assert_false(readable(pitot_subscription_descriptor(subscription)));
}

static void test_an_opening_and_a_closing_a_pass(void **state)
{
    struct fixture *fixture = *state;
    assert_none(fixture->subscription);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_true(readable(pitot_subscription_descriptor(fixture->subscription)));
    struct pitot_event event = next_event(fixture->subscription);
    assert_opening(&event, "list", 1);
    assert_ptr_equal(event.source, fixture->source);
    assert_true(readable(pitot_subscription_descriptor(fixture->subscription)));
    event = next_event(fixture->subscription);
    assert_int_equal(event.kind, PITOT_CLOSING);
    assert_string_equal(event.source_name, "list");
    assert_int_equal(event.first_pass, 1);
    assert_int_equal(event.last_pass, 1);
    assert_int_equal(event.commit_sequence, 1);
    assert_int_equal(event.counts.inserted, 2);
    assert_int_equal(event.failed, 0);
    assert_int_equal(event.error_code, 0);
    assert_none(fixture->subscription);
}

static void test_the_closing_comes_after_the_commit(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_reader *reader = NULL;
    assert_ok(pitot_reader_open(fixture->store, "r", &reader, &error));
    for (int i = 1; i <= 200; i++) {
        fixture->lister.n = i;
        assert_ok(pitot_resync(fixture->source, NULL, &error));
        struct pitot_event event = next_event(fixture->subscription);
        if (event.kind == PITOT_OPENING) {
            event = next_event(fixture->subscription);
        }
        assert_int_equal(event.kind, PITOT_CLOSING);
        assert_int_equal(event.last_pass, i);
        struct pitot_sync sync = {.size = sizeof sync};
        assert_int_equal(pitot_reader_sync(reader, "list", &sync, NULL), 1);
        assert_int_equal(sync.pass, i);
    }
    pitot_reader_free(reader);
}

static void test_unread_closings_are_joined(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 1; i <= 5; i++) {
        fixture->lister.returns = i == 2 ? 10 : i == 3 ? 11 : 0;
        int result = sync_now(fixture->store, fixture->source, NULL);
        assert_int_equal(result, i == 2 || i == 3 ? PITOT_ERROR_SOURCE : 0);
    }
    struct pitot_event event = next_event(fixture->subscription);
    assert_int_equal(event.kind, PITOT_CLOSING);
    assert_int_equal(event.first_pass, 1);
    assert_int_equal(event.last_pass, 5);
    assert_int_equal(event.commit_sequence, 5);
    assert_int_equal(event.counts.inserted, 6);
    assert_int_equal(event.counts.deleted, 4);
    assert_int_equal(event.failed, 2);
    assert_int_equal(event.error_code, 11);
    assert_non_null(strstr(event.error_text, "returned 11"));
    assert_none(fixture->subscription);
    struct pitot_stats stats = {.size = sizeof stats};
    assert_ok(pitot_stats(fixture->store, &stats, &error));
    assert_int_equal(stats.events_joined, 4);

    /* The next one starts at nought. */
    fixture->lister.returns = 0;
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    event = next_event(fixture->subscription);
    assert_opening(&event, "list", 6);
    event = next_event(fixture->subscription);
    assert_int_equal(event.first_pass, 6);
    assert_int_equal(event.failed, 0);
    assert_int_equal(event.error_code, 0);
    assert_string_equal(event.error_text, "");
}

static void test_an_opening_never_displaces_a_closing(void **state)
{
    struct fixture *fixture = *state;
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    fixture->lister.gate = true;
    assert_ok(pitot_resync(fixture->source, NULL, &error));
    wait_for(&fixture->lister.waiting);
    struct pitot_event event = next_event(fixture->subscription);
    assert_int_equal(event.kind, PITOT_CLOSING);
    assert_int_equal(event.first_pass, 1);
    assert_int_equal(event.last_pass, 2);
    event = next_event(fixture->subscription);
    assert_opening(&event, "list", 3);
    assert_none(fixture->subscription);
    fixture->lister.gate = false;
    event = next_event(fixture->subscription);
    assert_int_equal(event.kind, PITOT_CLOSING);
    assert_int_equal(event.first_pass, 3);
}

static void test_a_failed_pass_does_not_end_the_stream(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 1; i <= 3; i++) {
        fixture->lister.returns = i;
        assert_int_equal(sync_now(fixture->store, fixture->source, NULL), PITOT_ERROR_SOURCE);
        struct pitot_event event = next_event(fixture->subscription);
        assert_opening(&event, "list", (uint64_t)i);
        event = next_event(fixture->subscription);
        assert_int_equal(event.failed, 1);
        assert_int_equal(event.error_code, i);
        assert_int_equal(event.commit_sequence, i); /* of the sync row */
    }
}

static void test_each_subscription_has_a_queue_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_subscription *late = NULL;
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    assert_ok(pitot_subscribe(fixture->store, &late, &error));
    assert_none(late);
    /* A source that comes after both. */
    struct lister other = {.rows = -1};
    struct pitot_source *source = add_source(fixture->store, "other", &other);
    assert_ok(sync_now(fixture->store, source, &error));
    struct pitot_event event = next_event(late);
    assert_opening(&event, "other", 1);
    event = next_event(late);
    assert_int_equal(event.kind, PITOT_CLOSING);
    assert_none(late);
    pitot_subscription_free(late);

    /* Sources take turns by their oldest event. */
    static const char *const order[] = {"list", "list", "other", "other"};
    for (int i = 0; i < 4; i++) {
        event = next_event(fixture->subscription);
        assert_string_equal(event.source_name, order[i]);
        assert_int_equal(event.kind, i % 2 == 0 ? PITOT_OPENING : PITOT_CLOSING);
    }
    assert_none(fixture->subscription);
}

static void test_the_end(void **state)
{
    struct fixture *fixture = *state;
    fixture->lister.gate = true;
    assert_ok(pitot_resync(fixture->source, NULL, &error));
    wait_for(&fixture->lister.waiting);
    struct pitot_event event = next_event(fixture->subscription);
    assert_opening(&event, "list", 1);
    assert_ok(pitot_store_close(fixture->store, PATIENCE_MS, &error));
    /* What was opened is closed, */
    event = next_event(fixture->subscription);
    assert_int_equal(event.kind, PITOT_CLOSING);
    assert_int_equal(event.error_code, PITOT_ERROR_CLOSED);
    assert_int_equal(event.commit_sequence, 0);
    /* and a loop that polls learns of the end. */
    assert_true(readable(pitot_subscription_descriptor(fixture->subscription)));
    assert_int_equal(pitot_event_next(fixture->subscription, &event), PITOT_ERROR_CLOSED);
    assert_true(readable(pitot_subscription_descriptor(fixture->subscription)));
    pitot_store_free(fixture->store);
    fixture->store = NULL;
    assert_int_equal(pitot_event_next(fixture->subscription, &event), PITOT_ERROR_CLOSED);
    assert_string_equal(event.source_name, "list");
}

/* A source that sleeps opens its pass when it is asked; its thread may find that it is to stop. */
static void test_what_was_opened_and_never_began_is_closed(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 100; i++) {
        char name[16];
        struct lister lister = {.rows = -1};
        struct pitot_ticket ticket;
        snprintf(name, sizeof name, "source %d", i);
        struct pitot_source *source = add_source(fixture->store, name, &lister);
        assert_ok(pitot_resync(source, &ticket, &error));
        struct pitot_event event = next_event(fixture->subscription);
        assert_opening(&event, name, 1);
        assert_ok(pitot_source_stop(source, PATIENCE_MS, &error));
        event = next_event(fixture->subscription);
        assert_int_equal(event.kind, PITOT_CLOSING);
        assert_int_equal(event.last_pass, 1);
        assert_int_equal(event.error_code, event.failed != 0 ? PITOT_ERROR_CANCELLED : 0);
        assert_true(event.failed != 0 || lister.calls == 1);
        assert_int_equal(pitot_ticket_wait(fixture->store, ticket, 0, NULL), event.error_code);
        assert_none(fixture->subscription);
    }
}

static void test_arguments(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_event event = {.size = 0};
    assert_int_equal(pitot_event_next(fixture->subscription, &event), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_event_next(fixture->subscription, NULL), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_event_next(NULL, &event), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_subscribe(NULL, &fixture->subscription, NULL), PITOT_ERROR_INVALID);
    assert_int_equal(pitot_subscribe(fixture->store, NULL, NULL), PITOT_ERROR_INVALID);
    pitot_subscription_free(NULL);
    pitot_store_free(NULL);
    pitot_reader_free(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_opening_and_a_closing_a_pass),
        TEST(test_the_closing_comes_after_the_commit),
        TEST(test_unread_closings_are_joined),
        TEST(test_an_opening_never_displaces_a_closing),
        TEST(test_a_failed_pass_does_not_end_the_stream),
        TEST(test_each_subscription_has_a_queue_of_its_own),
        TEST(test_the_end),
        TEST(test_what_was_opened_and_never_began_is_closed),
        TEST(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
