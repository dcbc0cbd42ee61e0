/* Rows through a store: merges, what somebody else writes in between, slices, locks of others,
 * memory kept. */
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
    fixture->lister = (struct lister){.title = "row", .rows = 100, .n = 1};
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

static void open_with(struct fixture *fixture, const char *ddl, const struct pitot_table *table,
                      unsigned keep_no_memory)
{
    struct pitot_source_options options = options_of("list", list, &fixture->lister, table);
    options.keep_no_memory = keep_no_memory;
    fixture->store = open_store_as("store.db", 1, ddl);
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
}

/* A pass, and what it counts. */
static void assert_counts(struct fixture *fixture, uint64_t inserted, uint64_t updated,
                          uint64_t deleted, uint64_t unchanged)
{
    struct pitot_subscription *subscription = NULL;
    assert_ok(pitot_subscribe(fixture->store, &subscription, &error));
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    struct pitot_event event = next_event(subscription);
    while (event.kind != PITOT_CLOSING) {
        event = next_event(subscription);
    }
    pitot_subscription_free(subscription);
    assert_int_equal(event.counts.inserted, inserted);
    assert_int_equal(event.counts.updated, updated);
    assert_int_equal(event.counts.deleted, deleted);
    assert_int_equal(event.counts.unchanged, unchanged);
}

static int64_t sum_of_n(void)
{
    return number_in("store.db", "SELECT sum(n) FROM items");
}

static void test_a_merge_counts_what_has_changed(void **state)
{
    struct fixture *fixture = *state;
    for (unsigned keep_no_memory = 0; keep_no_memory < 2; keep_no_memory++) {
        open_with(fixture, ITEMS, &items_merged, keep_no_memory);
        fixture->lister.first = 0;
        fixture->lister.n = 1;
        assert_counts(fixture, 100, 0, 0, 0);
        assert_counts(fixture, 0, 0, 0, 100);
        fixture->lister.n = 2;
        assert_counts(fixture, 0, 100, 0, 0);
        fixture->lister.first = 10;
        assert_counts(fixture, 10, 0, 10, 90);
        fixture->lister.rows = 0;
        assert_counts(fixture, 0, 0, 100, 0);
        fixture->lister.rows = 100;
        close_store(fixture->store);
    }
    fixture->store = NULL;
}

static void test_what_somebody_else_writes_is_repaired(void **state)
{
    struct fixture *fixture = *state;
    open_with(fixture, ITEMS, &items_merged, 0);
    assert_counts(fixture, 100, 0, 0, 0);
    assert_counts(fixture, 0, 0, 0, 100);
    run_in("store.db",
           "UPDATE items SET n = 99 WHERE id = 5; DELETE FROM items WHERE id = 6; INSERT "
           "INTO items VALUES(1000, 'theirs', 0)");
    assert_counts(fixture, 1, 1, 1, 98);
    assert_int_equal(sum_of_n(), 100);
    assert_counts(fixture, 0, 0, 0, 100);
}

static void test_what_a_trigger_writes_is_repaired(void **state)
{
    struct fixture *fixture = *state;
    open_with(fixture,
              ITEMS "CREATE TABLE others(x INTEGER PRIMARY KEY);"
                    "CREATE TRIGGER spoil AFTER INSERT ON others BEGIN UPDATE items SET n = 99 "
                    "WHERE id = 5; END;",
              &items_merged, 0);
    assert_counts(fixture, 100, 0, 0, 0);
    assert_counts(fixture, 0, 0, 0, 100);
    run_in("store.db", "INSERT INTO others VALUES(1)");
    assert_int_equal(sum_of_n(), 198);
    assert_counts(fixture, 0, 1, 0, 99);
    assert_int_equal(sum_of_n(), 100);
}

static int add_other(struct pitot_pass *pass, void *context)
{
    (void)context;
    const struct pitot_value value = pitot_integer((int64_t)pitot_pass_number(pass));
    return pitot_pass_add(pass, 0, &value, 1);
}

/* Within the store, too: another source's pass makes the trigger write. */
static void test_what_another_source_causes_is_repaired(void **state)
{
    struct fixture *fixture = *state;
    open_with(fixture,
              ITEMS "CREATE TABLE others(x INTEGER PRIMARY KEY);"
                    "CREATE TRIGGER spoil AFTER INSERT ON others BEGIN UPDATE items SET n = 99 "
                    "WHERE id = 5; END;",
              &items_merged, 0);
    const struct pitot_table table = {.name = "others", .mode = PITOT_MERGE};
    const struct pitot_source_options options = options_of("other", add_other, NULL, &table);
    struct pitot_source *other = NULL;
    assert_ok(pitot_source_add(fixture->store, &options, &other, &error));
    assert_counts(fixture, 100, 0, 0, 0);
    assert_counts(fixture, 0, 0, 0, 100);
    assert_ok(sync_now(fixture->store, other, &error));
    assert_int_equal(sum_of_n(), 198);
    assert_counts(fixture, 0, 1, 0, 99);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { VERY_MANY = 100000 };
#else
enum { VERY_MANY = 1000000 };
#endif

/* What they take while they are staged is in proportion to them, and nothing of it stays. */
static void test_a_million_rows(void **state)
{
    struct fixture *fixture = *state;
    struct pitot_stats stats = {.size = sizeof stats};
    const struct pitot_table *const tables[] = {&items_replaced, &items_merged};
    fixture->lister.rows = VERY_MANY;
    /* Two integers, "row " and the digits of the id. */
    const uint64_t own_bytes = (uint64_t)VERY_MANY * (8 + 8 + 4 + 5);
    for (int i = 0; i < 2; i++) {
        open_with(fixture, ITEMS, tables[i], 1);
        assert_counts(fixture, i == 0 ? VERY_MANY : 0, 0, 0, i == 0 ? 0 : VERY_MANY);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), VERY_MANY);
        assert_int_equal(sum_of_n(), VERY_MANY);
        assert_ok(pitot_stats(fixture->store, &stats, &error));
        assert_true(stats.memory_staged <= own_bytes * 3 / 2);
        assert_true(stats.memory_kept <= 65536);
        close_store(fixture->store);
    }
    fixture->store = NULL;
}

static const char slices[] = "CREATE TABLE mails(account TEXT, id INTEGER, title TEXT, PRIMARY "
                             "KEY(account, id)); CREATE TABLE loose(account TEXT, x);";

static int add_mail(struct pitot_pass *pass, void *context)
{
    const char *account = context;
    const struct pitot_value row[] = {pitot_text(account, strlen(account)), pitot_integer(1),
                                      pitot_text("hello", 5)};
    return pitot_pass_add(pass, 0, row, 3);
}

static void test_slices(void **state)
{
    struct fixture *fixture = *state;
    static char a[] = "a";
    static char b[] = "b";
    fixture->store = open_store_as("store.db", 1, slices);
    struct pitot_table table = {.name = "mails",
                                .mode = PITOT_REPLACE,
                                .slice_column = "account",
                                .slice_value = pitot_text("a", 1)};
    struct pitot_source *of_a = NULL;
    struct pitot_source *of_b = NULL;
    struct pitot_source *none = NULL;
    struct pitot_source_options options = options_of("a", add_mail, a, &table);
    assert_ok(pitot_source_add(fixture->store, &options, &of_a, &error));
    options.name = "a again";
    assert_fails(pitot_source_add(fixture->store, &options, &none, &error), PITOT_ERROR_SCHEMA,
                 "source 'a'");
    table.slice_column = NULL;
    options.name = "whole";
    assert_fails(pitot_source_add(fixture->store, &options, &none, &error), PITOT_ERROR_SCHEMA,
                 "source 'a'");
    table.slice_column = "account";
    table.name = "loose";
    options.name = "loose";
    assert_fails(pitot_source_add(fixture->store, &options, &none, &error), PITOT_ERROR_SCHEMA,
                 "index");
    table.name = "mails";
    table.slice_value = pitot_text("b", 1);
    options.name = "b";
    options.context = a; /* stages a row of the other slice */
    assert_ok(pitot_source_add(fixture->store, &options, &of_b, &error));
    assert_ok(sync_now(fixture->store, of_a, &error));
    assert_int_equal(sync_now(fixture->store, of_b, NULL), PITOT_ERROR_SLICE);
    assert_ok(pitot_source_stop(of_b, PATIENCE_MS, &error));
    options.context = b;
    assert_ok(pitot_source_add(fixture->store, &options, &of_b, &error));
    assert_ok(sync_now(fixture->store, of_b, &error));
    assert_ok(sync_now(fixture->store, of_b, &error));
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM mails WHERE account = 'a'"), 1);
    assert_int_equal(number_in("store.db", "SELECT count(*) FROM mails"), 2);
}

static void test_a_lock_that_somebody_else_holds(void **state)
{
    struct fixture *fixture = *state;
    const struct pitot_store_options impatient = {.size = sizeof impatient, .busy_timeout_ms = 20};
    const struct pitot_source_options options =
        options_of("list", list, &fixture->lister, &items_replaced);
    assert_ok(
        pitot_store_open(in_folder("store.db"), 1, ITEMS, &impatient, &fixture->store, &error));
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(in_folder("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_BUSY, "store.db");
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    sqlite3_close(db);
}

/* A store that closes does not sit the busy timeout out. */
static void test_closing_gives_up_waiting_for_a_lock(void **state)
{
    struct fixture *fixture = *state;
    const struct pitot_store_options patient = {.size = sizeof patient,
                                                .busy_timeout_ms = 10 * PATIENCE_MS};
    const struct pitot_source_options options =
        options_of("list", list, &fixture->lister, &items_replaced);
    assert_ok(pitot_store_open(in_folder("store.db"), 1, ITEMS, &patient, &fixture->store, &error));
    assert_ok(pitot_source_add(fixture->store, &options, &fixture->source, &error));
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(in_folder("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct pitot_ticket ticket;
    assert_ok(pitot_resync(fixture->source, &ticket, &error));
    while (fixture->lister.calls == 0) {
        nap();
    }
    assert_ok(pitot_store_close(fixture->store, PATIENCE_MS, &error));
    assert_int_equal(pitot_ticket_ask(fixture->store, ticket, NULL), PITOT_ERROR_CLOSED);
    sqlite3_close(db);
}

static void test_memory_kept_between_passes(void **state)
{
    struct fixture *fixture = *state;
    enum { MANY = 20000 };
    fixture->lister.rows = MANY;
    for (unsigned keep_no_memory = 0; keep_no_memory < 2; keep_no_memory++) {
        struct pitot_stats first = {.size = sizeof first};
        struct pitot_stats last = {.size = sizeof last};
        open_with(fixture, ITEMS, &items_merged, keep_no_memory);
        for (int i = 0; i < 20; i++) {
            fixture->lister.n = i;
            assert_ok(sync_now(fixture->store, fixture->source, &error));
            assert_ok(pitot_stats(fixture->store, i < 3 ? &first : &last, &error));
        }
        assert_int_equal(last.rows_kept, keep_no_memory ? 0 : MANY);
        assert_true(last.memory_kept <= (keep_no_memory ? 65536 : 24 * MANY + 65536));
        assert_int_equal(last.memory_kept, first.memory_kept);
        assert_int_equal(last.memory_staged, first.memory_staged);
        close_store(fixture->store);
    }
    fixture->store = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_merge_counts_what_has_changed),
        TEST(test_what_somebody_else_writes_is_repaired),
        TEST(test_what_a_trigger_writes_is_repaired),
        TEST(test_what_another_source_causes_is_repaired),
        TEST(test_a_million_rows),
        TEST(test_slices),
        TEST(test_a_lock_that_somebody_else_holds),
        TEST(test_closing_gives_up_waiting_for_a_lock),
        TEST(test_memory_kept_between_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
