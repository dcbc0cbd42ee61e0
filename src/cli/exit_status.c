#include "cli/exit_status.h"

#include <signal.h>
#include <string.h>

/* Shells report a program that died of a signal with 128 and its number. */
static int status_of_signal(int signal)
{
    return 128 + (signal != 0 ? signal : SIGINT);
}

int exit_status_of_error(enum error_code code, int signal)
{
    switch (code) {
    case ERROR_NONE:
        return STATUS_DONE;
    case ERROR_INVALID:
        return STATUS_USAGE;
    case ERROR_INTERRUPTED:
        return status_of_signal(signal);
    case ERROR_UNAVAILABLE:
    case ERROR_ENGINE:
    case ERROR_PROTOCOL:
    case ERROR_IO:
    case ERROR_FULL:
    case ERROR_MEMORY:
    case ERROR_TIMEOUT:
    case ERROR_BUSY:
        return STATUS_UNABLE;
    }
    return STATUS_UNABLE;
}

int exit_status_of_input_error(enum error_code code, int signal)
{
    if (code == ERROR_IO || code == ERROR_PROTOCOL) {
        return STATUS_USAGE;
    }
    return exit_status_of_error(code, signal);
}

static bool is(const char *status, const char *name)
{
    return status != NULL && strcmp(status, name) == 0;
}

int exit_status_of_result(const struct result *result, int signal)
{
    if (result->partial && signal != 0) {
        return status_of_signal(signal);
    }
    size_t failed = 0;
    size_t unable = 0; /* that is nothing that it did wrong, but it measured nothing */
    size_t whole = 0;
    for (size_t i = 0; i < result->engines.count; i++) {
        const char *status = result->engines.items[i].status;
        if (status == NULL || strcmp(status, "failed") == 0) {
            failed++;
        } else if (strcmp(status, "unable") == 0) {
            unable++;
        } else if (strcmp(status, "ok") == 0 &&
                   !is(result->engines.items[i].event_loop.status, "failed")) {
            whole++;
        }
    }
    for (size_t i = 0; i < result->numbers.count; i++) {
        bool ok = is(result->numbers.items[i].status, "ok");
        failed += ok ? 0 : 1;
        whole += ok ? 1 : 0;
    }
    size_t all = result->engines.count + result->numbers.count;
    if (failed + unable == all) {
        return STATUS_UNABLE;
    }
    uint64_t slower = result->comparison.slower;
    bool held = slower == RESULT_ABSENT || slower == 0;
    return whole + unable == all && !result->partial && held ? STATUS_DONE : STATUS_ENGINE;
}
