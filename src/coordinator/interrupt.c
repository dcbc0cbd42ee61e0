#include "coordinator/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A handler has nothing but these to reach: lock-free, so safe inside it. */
static atomic_int first_signal;
static atomic_int signal_count;
static atomic_int read_end = -1;
static atomic_int write_end = -1;

static void on_signal(int number)
{
    int saved = errno;
    int none = 0;
    atomic_fetch_add(&signal_count, 1);
    if (atomic_compare_exchange_strong(&first_signal, &none, number)) {
        /* The pipe is empty, so the byte fits: a failure cannot happen, and could not be told. */
        ssize_t written = write(atomic_load(&write_end), "!", 1);
        (void)written;
    }
    errno = saved;
}

int interrupt_install(struct error *error)
{
    if (atomic_load(&read_end) >= 0) {
        return 0;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return error_errno(error, errno, "cannot make the pipe that tells of signals");
    }
    atomic_store(&write_end, ends[1]);
    atomic_store(&read_end, ends[0]);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], &action, NULL) != 0) {
            return error_errno(error, errno, "cannot install the handler of signal %d", numbers[i]);
        }
    }
    /* A file that may grow no further is an error of write(2), not an end without a word. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    if (sigaction(SIGXFSZ, &ignore, NULL) != 0) {
        return error_errno(error, errno, "cannot ignore SIGXFSZ");
    }
    return 0;
}

int interrupt_signal(void)
{
    return atomic_load(&first_signal);
}

bool interrupt_repeated(void)
{
    return atomic_load(&signal_count) > 1;
}

bool interrupt_requested(void)
{
    return interrupt_signal() != 0;
}

int interrupt_fd(void)
{
    return atomic_load(&read_end);
}
