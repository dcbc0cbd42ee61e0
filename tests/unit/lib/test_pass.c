/* Passes: what becomes of rows and sync row, and what the statistics tell of them. */
#include "one_source.h"

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

/* What hangs on a table is known when its source is added: a replace, which deletes and inserts
 * every row, must not reach tables of others that come later. */
static void test_somebody_else_refers_to_the_table(void **state)
{
    struct fixture *fixture = *state;
    static const char *const relations[][2] = {
        {"CREATE TABLE stars(item REFERENCES items(id) ON DELETE CASCADE)", "DROP TABLE stars"},
        {"CREATE TABLE notes(item REFERENCES items(id))", "DROP TABLE notes"},
        {"CREATE TRIGGER spy AFTER DELETE ON items BEGIN SELECT 1; END", "DROP TRIGGER spy"},
    };
    fixture->lister.rows = 50;
    fixture->source = add_source(fixture->store, "list", &fixture->lister);
    assert_ok(sync_now(fixture->store, fixture->source, &error));
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        run_in("store.db", relations[i][0]);
        if (i == 0) {
            run_in("store.db", "INSERT INTO stars VALUES(1), (2)");
        }
        for (int again = 0; again < 3; again++) {
            assert_fails(sync_now(fixture->store, fixture->source, &error), PITOT_ERROR_SCHEMA,
                         "'items'; close the store");
        }
        assert_true(i > 0 || number_in("store.db", "SELECT count(*) FROM stars") == 2);
        assert_int_equal(number_in("store.db", "SELECT count(*) FROM items"), 50);
        run_in("store.db", relations[i][1]);
        assert_ok(sync_now(fixture->store, fixture->source, &error));
    }
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
        TEST(test_somebody_else_changes_a_table),
        TEST(test_somebody_else_refers_to_the_table),
        TEST(test_the_file_is_replaced_while_it_is_open),
        TEST(test_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
