/* The wall clock jumps by hours and years, in both directions; only recorded times change. */
#include "library.h"

#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int64_t offset_s;

/* Instead of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) {
        time->tv_sec += offset_s;
    }
    return result;
}

#define HOURS(n) ((int64_t)(n)*3600)
#define YEARS(n) ((int64_t)(n)*365 * 24 * 3600)

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct pitot_sync sync_row(struct pitot_reader *reader)
{
    struct pitot_sync sync = {.size = sizeof sync};
    assert_int_equal(pitot_reader_sync(reader, "often", &sync, NULL), 1);
    return sync;
}

static void test_passes_go_on_whatever_the_clock_says(void **state)
{
    (void)state;
    static const int64_t jumps[] = {0,          HOURS(1),   HOURS(-1),   YEARS(10),
                                    YEARS(-10), YEARS(100), YEARS(-200), 0};
    struct lister lister = {.title = "row", .rows = 2};
    struct pitot_store *store = open_store();
    struct pitot_reader *reader = NULL;
    struct pitot_source *source = NULL;
    struct pitot_source_options options = options_of("often", list, &lister, &items_replaced);
    options.interval_ms = 2;
    options.deadline_ms = PATIENCE_MS;
    assert_ok(pitot_reader_open(store, "r", &reader, &error));
    assert_ok(pitot_source_add(store, &options, &source, &error));
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        offset_s = jumps[i];
        int calls = lister.calls;
        while (lister.calls < calls + 5) {
            nap();
        }
        /* A pass that began after the jump. */
        assert_ok(sync_now(store, source, &error));
        int64_t now_ms = wall_ms();
        struct pitot_sync sync = sync_row(reader);
        assert_int_equal(sync.error_code, 0);
        assert_true(llabs(now_ms - sync.finished_ms) < PATIENCE_MS);
        assert_int_equal(sync.last_success_ms, sync.finished_ms);
        struct pitot_ticket ticket;
        assert_ok(pitot_resync(source, &ticket, &error));
        assert_ok(pitot_ticket_wait(store, ticket, PATIENCE_MS, &error));
        struct pitot_stats stats = {.size = sizeof stats};
        assert_ok(pitot_stats(store, &stats, &error));
        assert_true(stats.pass.max_ns < (uint64_t)PATIENCE_MS * 1000000);
    }
    close_store(store);
    pitot_reader_free(reader);
}

static void test_a_last_success_in_the_future_is_no_obstacle(void **state)
{
    (void)state;
    struct lister lister = {.title = "row", .rows = 2};
    offset_s = YEARS(50);
    struct pitot_store *store = open_store();
    assert_ok(sync_now(store, add_source(store, "often", &lister), &error));
    close_store(store);
    offset_s = 0;

    store = open_store();
    struct pitot_reader *reader = NULL;
    struct pitot_source *source = NULL;
    struct pitot_source_options options = options_of("often", list, &lister, &items_replaced);
    options.interval_ms = 3600 * 1000;
    lister.calls = 0;
    assert_ok(pitot_reader_open(store, "r", &reader, &error));
    assert_true(sync_row(reader).last_success_ms > wall_ms());
    assert_ok(pitot_source_add(store, &options, &source, &error));
    while (lister.calls == 0) { /* the first pass of an interval comes at once */
        nap();
    }
    while (sync_row(reader).pass < 2) {
        nap();
    }
    assert_true(sync_row(reader).last_success_ms <= wall_ms());
    close_store(store);
    pitot_reader_free(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_test_folder, remove_test_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_passes_go_on_whatever_the_clock_says),
        TEST(test_a_last_success_in_the_future_is_no_obstacle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
