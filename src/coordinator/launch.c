#include "coordinator/launch.h"

#include "coordinator/place.h"
#include "measure/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORKER_ARGUMENTS_MAX = 64 };

extern char **environ;

static int no_pipe(int failure, struct error *error)
{
    char limit[LIMIT_TEXT_SIZE];
    return failure == EMFILE
               ? error_errno(error, failure, "cannot make a pipe for a worker (ulimit -n: %s)",
                             limit_text(RLIMIT_NOFILE, limit))
               : error_errno(error, failure, "cannot make a pipe for a worker");
}

/* A pipe whose ends lie above the descriptors that the child is given, so that putting one
 * in place never closes another. */
static int make_pipe(int ends[2], struct error *error)
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0) {
        return no_pipe(errno, error);
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 10);
        /* EINVAL: the limit of open files lies below the number that was asked for. */
        int failure = errno == EINVAL ? EMFILE : errno;
        close(raw[i]);
        if (ends[i] < 0) {
            if (i == 0) {
                close(raw[1]);
            } else {
                close(ends[0]);
            }
            return no_pipe(failure, error);
        }
    }
    return 0;
}

struct arguments {
    const char *items[WORKER_ARGUMENTS_MAX + 1];
    size_t count;
    char *owned[WORKER_ARGUMENTS_MAX];
    size_t owned_count;
    bool overflow;
};

static void arguments_add(struct arguments *arguments, const char *text)
{
    if (arguments->count == WORKER_ARGUMENTS_MAX || text == NULL) {
        arguments->overflow = true;
        return;
    }
    arguments->items[arguments->count++] = text;
}

static void arguments_own(struct arguments *arguments, char *text)
{
    if (text != NULL) {
        if (arguments->owned_count == WORKER_ARGUMENTS_MAX) {
            free(text);
            text = NULL;
        } else {
            arguments->owned[arguments->owned_count++] = text;
        }
    }
    arguments_add(arguments, text);
}

static void add_options(struct arguments *arguments, const result_pairs *options,
                        const result_pairs *over)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct result_pair *option = &options->items[i];
        bool replaced = false;
        for (size_t k = 0; over != NULL && k < over->count && !replaced; k++) {
            replaced = strcmp(over->items[k].name, option->name) == 0;
        }
        if (!replaced) {
            arguments_add(arguments, "--option");
            arguments_own(arguments, result_text("%s=%s", option->name, option->value));
        }
    }
}

static int build_arguments(const struct engine_choice *choice, struct arguments *arguments,
                           struct error *error)
{
    const struct manifest *manifest = choice->manifest;
    if (manifest->command.count == 0) {
        char *program = place_of_program("pitot-worker", error);
        if (program == NULL) {
            return (int)(error == NULL ? ERROR_UNAVAILABLE : error->code);
        }
        arguments_own(arguments, program);
    }
    for (size_t i = 0; i < manifest->command.count; i++) {
        arguments_add(arguments, manifest->command.items[i]);
    }
    arguments_add(arguments, "--engine");
    arguments_add(arguments, choice->name);
    if (manifest->driver != NULL) {
        arguments_add(arguments, "--driver");
        arguments_add(arguments, manifest->driver);
    }
    if (choice->library != NULL) {
        arguments_add(arguments, "--library");
        arguments_add(arguments, choice->library);
    }
    add_options(arguments, &manifest->options, &choice->options);
    add_options(arguments, &choice->options, NULL);
    arguments->items[arguments->count] = NULL;
    if (arguments->overflow) {
        return error_set(error, ERROR_INVALID,
                         "engine %s: more than %d arguments for its worker, or out of memory",
                         choice->name, (int)WORKER_ARGUMENTS_MAX);
    }
    return 0;
}

/* Signals that pitot catches or ignores must not reach the worker that way. */
static int spawn(const struct arguments *arguments, int input, int output, int log, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigset_t none;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigemptyset(&defaults);
    static const int changed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        sigaddset(&defaults, changed[i]);
    }
    int failure = posix_spawn_file_actions_adddup2(&actions, input, 0);
    failure = failure ? failure : posix_spawn_file_actions_adddup2(&actions, log, 1);
    failure = failure ? failure : posix_spawn_file_actions_adddup2(&actions, log, 2);
    failure = failure ? failure : posix_spawn_file_actions_adddup2(&actions, output, 3);
    failure = failure ? failure : posix_spawnattr_setsigdefault(&attributes, &defaults);
    failure = failure ? failure : posix_spawnattr_setsigmask(&attributes, &none);
    failure = failure ? failure : posix_spawnattr_setpgroup(&attributes, 0);
    failure = failure ? failure
                      : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                                                  POSIX_SPAWN_SETSIGDEF |
                                                                  POSIX_SPAWN_SETSIGMASK);
    failure = failure ? failure
                      : posix_spawnp(pid, arguments->items[0], &actions, &attributes,
                                     (char *const *)arguments->items, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

int launch_worker(const struct engine_choice *choice, struct launched *out, struct error *error)
{
    struct arguments arguments = {.count = 0};
    int in[2] = {-1, -1};
    int output[2] = {-1, -1};
    int log[2] = {-1, -1};
    int status = build_arguments(choice, &arguments, error);
    if (status == 0) {
        status = make_pipe(in, error);
    }
    if (status == 0) {
        status = make_pipe(output, error);
    }
    if (status == 0) {
        status = make_pipe(log, error);
    }
    if (status == 0) {
        int failure = spawn(&arguments, in[0], output[1], log[1], &out->pid);
        char limit[LIMIT_TEXT_SIZE];
        if (failure == EAGAIN) {
            status = error_errno(error, failure, "cannot start %s (ulimit -u: %s)",
                                 arguments.items[0], limit_text(RLIMIT_NPROC, limit));
        } else if (failure != 0) {
            status = error_errno(error, failure, "cannot start %s", arguments.items[0]);
        }
    }
    for (size_t i = 0; i < arguments.owned_count; i++) {
        free(arguments.owned[i]);
    }
    int ours[] = {in[1], output[0], log[0]};
    int theirs[] = {in[0], output[1], log[1]};
    for (int i = 0; i < 3; i++) {
        if (theirs[i] >= 0) {
            close(theirs[i]);
        }
        if (status != 0 && ours[i] >= 0) {
            close(ours[i]);
        }
    }
    if (status == 0) {
        out->input = in[1];
        out->output = output[0];
        out->log = log[0];
        out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
        fcntl(out->input, F_SETFL, O_NONBLOCK);
        fcntl(out->output, F_SETFL, O_NONBLOCK);
        fcntl(out->log, F_SETFL, O_NONBLOCK);
    }
    return status;
}
