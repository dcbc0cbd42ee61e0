/* The busy handler's schedule is SQLite's: delays, and the sum at the timeout. */
#include "engine_test.h"

#include "engine/sqlite_wait.h"

static void test_schedule(void **state)
{
    (void)state;
    /* prior is what has been slept before. */
    static const struct {
        uint32_t delay, prior;
    } expected[] = {{1, 0},   {2, 1},    {5, 3},    {10, 8},   {15, 18},   {20, 33},   {25, 53},
                    {25, 78}, {25, 103}, {50, 128}, {50, 178}, {100, 228}, {100, 328}, {100, 428}};
    uint32_t slept = 0;
    for (uint32_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(slept, expected[i].prior);
        assert_int_equal(lock_wait_delay(i, 1000000), expected[i].delay);
        slept += expected[i].delay;
    }
}

static void test_end(void **state)
{
    (void)state;
    /* Sleeps until the handler gives up, and the last of them. */
    static const struct {
        uint32_t timeout, sleeps, last;
    } cases[] = {
        {0, 0, 0},  {1, 1, 1},     {2, 2, 1},    {3, 2, 2},      {4, 3, 1},      {18, 4, 10},
        {20, 5, 2}, {228, 11, 50}, {229, 12, 1}, {328, 12, 100}, {1000, 19, 72}, {15000, 159, 72},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t sleeps = 0;
        uint32_t last = 0;
        uint32_t sum = 0;
        uint32_t delay;
        while ((delay = lock_wait_delay(sleeps, cases[i].timeout)) != 0) {
            last = delay;
            sum += delay;
            sleeps++;
        }
        assert_int_equal(sum, cases[i].timeout);
        assert_int_equal(sleeps, cases[i].sleeps);
        assert_int_equal(last, cases[i].last);
    }
    assert_int_equal(lock_wait_delay(UINT32_MAX, UINT32_MAX), 0);
}

static int slept[64];
static int sleeps;
static struct sqlite_wait *interrupt_in_sleep;

static int fake_sleep(int ms)
{
    slept[sleeps++] = ms;
    if (interrupt_in_sleep != NULL) {
        atomic_store(&interrupt_in_sleep->interrupted, true);
    }
    return ms;
}

static void test_handler(void **state)
{
    (void)state;
    struct sqlite_api api = {.sleep = fake_sleep};
    struct sqlite_wait wait = {.api = &api, .timeout_ms = 20};
    atomic_init(&wait.interrupted, false);
    int count = 0;
    while (sqlite_wait_handler(&wait, count)) {
        count++;
    }
    static const int expected[] = {1, 2, 5, 10, 2};
    assert_int_equal(sleeps, 5);
    assert_memory_equal(slept, expected, sizeof expected);
    assert_int_equal(wait.waits.count, 5);

    interrupt_in_sleep = &wait; /* the sleep counts, and is the last */
    assert_int_equal(sqlite_wait_handler(&wait, 0), 0);
    assert_int_equal(wait.waits.count, 6);
    interrupt_in_sleep = NULL;
    assert_int_equal(sqlite_wait_handler(&wait, 0), 0); /* no sleep any more */
    assert_int_equal(wait.waits.count, 6);
}

/* As many sleeps as the timeout holds, or fewer where they last longer; the clock decides. */
static void test_fine(void **state)
{
    (void)state;
    struct sqlite_api api = {.sleep = fake_sleep};
    struct sqlite_wait wait = {.api = &api, .timeout_ms = 3, .fine = true};
    atomic_init(&wait.interrupted, false);
    sleeps = 0;
    for (int round = 1; round <= 2; round++) { /* a second lock has its own timeout */
        wait.waits = (struct engine_waits){0};
        int count = 0;
        while (sqlite_wait_handler(&wait, count)) {
            count++;
        }
        assert_in_range(wait.waits.count, 1, 30);
        assert_true(wait.waits.slept_ns >= 3000000 - SQLITE_WAIT_FINE_NS);
        assert_true(wait.waits.slept_ns >= wait.waits.count * SQLITE_WAIT_FINE_NS);
    }
    assert_int_equal(sleeps, 0); /* none by SQLite's schedule */
    atomic_store(&wait.interrupted, true);
    assert_int_equal(sqlite_wait_handler(&wait, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_handler),
        cmocka_unit_test(test_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
