/* Signals become a number and a readable descriptor, once. */
#include "coordinator/interrupt.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool readable(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    return poll(&poller, 1, 0) == 1;
}

/* In a child, since a signal that came stays: 0 when all facts hold, else their number. */
static int facts(int first, int second)
{
    struct error error = ERROR_INIT;
    if (interrupt_fd() != -1 || interrupt_requested()) {
        return 1;
    }
    if (interrupt_install(&error) != 0 || interrupt_install(&error) != 0) {
        return 2;
    }
    int fd = interrupt_fd();
    if (fd < 0 || readable(fd) || interrupt_signal() != 0) {
        return 3;
    }
    raise(first);
    if (!interrupt_requested() || interrupt_signal() != first || !readable(fd)) {
        return 4;
    }
    for (int i = 0; i < 3; i++) {
        raise(second);
    }
    return interrupt_signal() == first && readable(fd) ? 0 : 5;
}

static void check(int first, int second)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(facts(first, second));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void first_signal_wins(void **state)
{
    (void)state;
    check(SIGINT, SIGINT);
    check(SIGINT, SIGTERM);
    check(SIGTERM, SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_signal_wins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
