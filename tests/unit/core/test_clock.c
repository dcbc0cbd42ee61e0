#include "core/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void time_goes_forward(void **state)
{
    (void)state;
    uint64_t last = clock_now_ns();
    for (int i = 0; i < 10000; i++) {
        uint64_t now = clock_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void thread_cpu_grows_with_work(void **state)
{
    (void)state;
    uint64_t before = clock_thread_cpu_ns();
    while (clock_thread_cpu_ns() == before) {
    }
    assert_true(clock_thread_cpu_ns() > before);
}

static void a_moment_in_the_past_is_no_sleep(void **state)
{
    (void)state;
    clock_sleep_until_ns(0); /* would never return if it were taken as a wall time */
    clock_sleep_until_ns(clock_now_ns());
}

static atomic_int signals;
static atomic_bool awake;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

static void *sleep_in_thread(void *moment)
{
    clock_sleep_until_ns(*(const uint64_t *)moment);
    uint64_t *woken = moment;
    woken[1] = clock_now_ns();
    atomic_store(&awake, true);
    return NULL;
}

static void a_signal_does_not_end_a_sleep(void **state)
{
    (void)state;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    /* Again should a busy machine have let the thread sleep without a signal. */
    for (atomic_store(&signals, 0); atomic_load(&signals) == 0;) {
        uint64_t moments[2] = {clock_now_ns() + 30 * NS_PER_MS, 0};
        pthread_t thread;
        atomic_store(&awake, false);
        assert_int_equal(pthread_create(&thread, NULL, sleep_in_thread, moments), 0);
        while (!atomic_load(&awake)) {
            int last = atomic_load(&signals);
            assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
            while (atomic_load(&signals) == last && !atomic_load(&awake)) {
            }
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(moments[1] >= moments[0]);
    }
}

static void utc_has_its_form(void **state)
{
    (void)state;
    char text[CLOCK_UTC_SIZE];
    clock_utc(text);
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    assert_int_equal(strlen(text), strlen(form));
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == 'd') {
            assert_in_range(text[i], '0', '9');
        } else {
            assert_int_equal(text[i], form[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_forward),
        cmocka_unit_test(thread_cpu_grows_with_work),
        cmocka_unit_test(a_moment_in_the_past_is_no_sleep),
        cmocka_unit_test(a_signal_does_not_end_a_sleep),
        cmocka_unit_test(utc_has_its_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
