#include "coordinator/process.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "coordinator/interrupt.h"
#include "core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a worker's log only the end is kept: enough for a panic with its backtrace. */
enum { LOG_KEPT = 16384, LOG_LINES = 10, WORKER_ARGUMENTS_MAX = 64 };
/* So much is read at a time: a worker that writes without end must not keep the coordinator
 * from the clock. More than a pipe holds, so that what a dead worker left is read whole. */
enum { READ_AT_ONCE = 1 << 20 };

extern char **environ;

struct worker_process {
    char *engine;
    pid_t pid; /* also its process group */
    int pidfd; /* readable once it has ended; -1 where the kernel has none */
    int input; /* -1 once closed */
    int output;
    int log;
    bool ended; /* reaped; status is valid */
    int status;
    bool output_closed;
    struct buffer unread;
    size_t scanned; /* bytes of unread that hold no line feed */
    struct buffer log_tail;
};

int worker_pid(const struct worker_process *worker)
{
    return (int)worker->pid;
}

/* A pipe whose ends lie above the descriptors that the child is given, so that putting one
 * in place never closes another. */
static int make_pipe(int ends[2], struct error *error)
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0) {
        return error_errno(error, errno, "cannot make a pipe for a worker");
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
            return error_errno(error, failure, "cannot make a pipe for a worker");
        }
    }
    return 0;
}

/* pitot-worker lies beside pitot. */
static char *worker_program(struct error *error)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        error_errno(error, errno, "cannot read /proc/self/exe to find pitot-worker");
        return NULL;
    }
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    char *path = file_join(self, "pitot-worker");
    if (path == NULL) {
        error_set(error, ERROR_MEMORY, "out of memory");
    } else if (access(path, X_OK) != 0) {
        error_set(error, ERROR_UNAVAILABLE,
                  "pitot-worker is not beside pitot: %s is missing or not executable", path);
        free(path);
        path = NULL;
    }
    return path;
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

static int build_arguments(const struct engine_choice *choice, struct arguments *arguments,
                           struct error *error)
{
    const struct manifest *manifest = choice->manifest;
    if (manifest->command.count == 0) {
        char *program = worker_program(error);
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
    for (size_t i = 0; i < manifest->options.count; i++) {
        arguments_add(arguments, "--option");
        arguments_own(arguments, result_text("%s=%s", manifest->options.items[i].name,
                                             manifest->options.items[i].value));
    }
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

static int launch(const struct engine_choice *choice, struct worker_process *worker,
                  struct error *error)
{
    struct arguments arguments = {.count = 0};
    int in[2] = {-1, -1};
    int out[2] = {-1, -1};
    int log[2] = {-1, -1};
    int status = build_arguments(choice, &arguments, error);
    if (status == 0) {
        status = make_pipe(in, error);
    }
    if (status == 0) {
        status = make_pipe(out, error);
    }
    if (status == 0) {
        status = make_pipe(log, error);
    }
    if (status == 0) {
        int failure = spawn(&arguments, in[0], out[1], log[1], &worker->pid);
        if (failure != 0) {
            status = error_errno(error, failure, "cannot start %s", arguments.items[0]);
        }
    }
    for (size_t i = 0; i < arguments.owned_count; i++) {
        free(arguments.owned[i]);
    }
    int ours[] = {in[1], out[0], log[0]};
    int theirs[] = {in[0], out[1], log[1]};
    for (int i = 0; i < 3; i++) {
        if (theirs[i] >= 0) {
            close(theirs[i]);
        }
        if (status != 0 && ours[i] >= 0) {
            close(ours[i]);
        }
    }
    if (status == 0) {
        worker->input = in[1];
        worker->output = out[0];
        worker->log = log[0];
        worker->pidfd = (int)syscall(SYS_pidfd_open, worker->pid, 0);
        fcntl(worker->input, F_SETFL, O_NONBLOCK);
        fcntl(worker->output, F_SETFL, O_NONBLOCK);
        fcntl(worker->log, F_SETFL, O_NONBLOCK);
    }
    return status;
}

/* ---- reading ------------------------------------------------------------ */

static void drain_log(struct worker_process *worker)
{
    char part[4096];
    for (size_t total = 0; worker->log >= 0 && total < READ_AT_ONCE;) {
        ssize_t got = read(worker->log, part, sizeof part);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            close(worker->log);
            worker->log = -1;
            return;
        }
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        total += (size_t)got;
        buffer_append(&worker->log_tail, part, (size_t)got);
        if (worker->log_tail.length > 2 * (size_t)LOG_KEPT) {
            size_t cut = worker->log_tail.length - LOG_KEPT;
            memmove(worker->log_tail.data, worker->log_tail.data + cut, LOG_KEPT);
            worker->log_tail.length = LOG_KEPT;
            worker->log_tail.data[LOG_KEPT] = '\0';
        }
    }
}

static int read_output(struct worker_process *worker, struct error *error)
{
    char part[65536];
    for (size_t total = 0; total < READ_AT_ONCE;) {
        ssize_t got = read(worker->output, part, sizeof part);
        if (got > 0) {
            total += (size_t)got;
            buffer_append(&worker->unread, part, (size_t)got);
            if (worker->unread.failed) {
                return error_set(error, ERROR_MEMORY, "out of memory for a line of %s's worker",
                                 worker->engine);
            }
        } else if (got == 0) {
            worker->output_closed = true;
            return 0;
        } else if (errno == EAGAIN) {
            return 0;
        } else if (errno != EINTR) {
            return error_errno(error, errno, "cannot read from the worker of %s", worker->engine);
        }
    }
    return 0;
}

/* Takes the first whole line; *line stays NULL when there is none yet. */
static int take_line(struct worker_process *worker, json_t **line, struct error *error)
{
    struct buffer *unread = &worker->unread;
    char *end = memchr(unread->data + worker->scanned, '\n', unread->length - worker->scanned);
    size_t length = end != NULL ? (size_t)(end - unread->data) : unread->length;
    if (length > WORKER_LINE_MAX) {
        return error_set(error, ERROR_PROTOCOL, "the worker of %s sent a line of more than %u MiB",
                         worker->engine, WORKER_LINE_MAX >> 20);
    }
    if (end == NULL) {
        worker->scanned = unread->length;
        return 0;
    }
    struct error cause = ERROR_INIT;
    int status = json_parse(unread->data, length, "a line of the worker", line, &cause);
    if (status == 0 && !json_is_object(*line)) {
        json_decref(*line);
        *line = NULL;
        status = error_set(&cause, ERROR_PROTOCOL, "it is not a JSON object");
    }
    if (status == ERROR_MEMORY) {
        return error_set(error, ERROR_MEMORY, "%s", cause.message);
    }
    if (status != 0) {
        struct buffer shown;
        buffer_init(&shown);
        text_printable(&shown, unread->data, length < 80 ? length : 80);
        error_set(error, ERROR_PROTOCOL, "the worker of %s broke the protocol: %s; the line: %s%s",
                  worker->engine, cause.message, shown.data, length > 80 ? "…" : "");
        buffer_release(&shown);
        return ERROR_PROTOCOL;
    }
    memmove(unread->data, end + 1, unread->length - length - 1);
    unread->length -= length + 1;
    unread->data[unread->length] = '\0';
    worker->scanned = 0;
    return 0;
}

/* Waits at most `limit_ns` for the end of the process. */
static bool reap(struct worker_process *worker, uint64_t limit_ns)
{
    uint64_t until = clock_now_ns() + limit_ns;
    uint64_t pause = 1 * NS_PER_MS;
    while (!worker->ended) {
        pid_t got = waitpid(worker->pid, &worker->status, WNOHANG);
        if (got == worker->pid || (got < 0 && errno != EINTR)) {
            worker->ended = true;
            break;
        }
        drain_log(worker);
        uint64_t now = clock_now_ns();
        if (now >= until) {
            return false;
        }
        clock_sleep_until_ns(now + pause < until ? now + pause : until);
        pause = pause < 16 * NS_PER_MS ? pause * 2 : pause;
    }
    return true;
}

/* Says how a process that was reaped has ended; `when` follows. */
static int end_error(const struct worker_process *worker, const char *when, struct error *error)
{
    if (WIFSIGNALED(worker->status)) {
        int number = WTERMSIG(worker->status);
        return error_set(error, ERROR_ENGINE, "the worker of %s was ended by signal %d (%s) %s%s",
                         worker->engine, number, strsignal(number), when,
                         number == SIGKILL ? "; out of memory, or someone killed it" : "");
    }
    return error_set(error, ERROR_ENGINE, "the worker of %s ended with status %d %s",
                     worker->engine, WEXITSTATUS(worker->status), when);
}

static int ended_early(struct worker_process *worker, struct error *error)
{
    if (!reap(worker, 2 * NS_PER_S)) {
        return error_set(error, ERROR_PROTOCOL,
                         "the worker of %s closed descriptor 3 without a result", worker->engine);
    }
    drain_log(worker);
    return end_error(worker, "without a result", error);
}

int worker_read(struct worker_process *worker, uint64_t until_ns, bool interruptible, json_t **line,
                struct error *error)
{
    *line = NULL;
    for (;;) {
        /* Also while lines keep coming. */
        if (interruptible && interrupt_requested()) {
            return error_set(error, ERROR_INTERRUPTED, "ended by a signal");
        }
        int status = take_line(worker, line, error);
        if (status != 0 || *line != NULL) {
            return status;
        }
        if (worker->output_closed) {
            if (worker->unread.length > 0) {
                return error_set(error, ERROR_PROTOCOL,
                                 "the worker of %s ended in the middle of a line", worker->engine);
            }
            return ended_early(worker, error);
        }
        uint64_t now = clock_now_ns();
        if (now >= until_ns) {
            return 0;
        }
        uint64_t wait_ms = (until_ns - now + NS_PER_MS - 1) / NS_PER_MS;
        struct pollfd fds[4] = {
            {.fd = worker->output, .events = POLLIN},
            {.fd = worker->log, .events = POLLIN},
            {.fd = interruptible ? interrupt_fd() : -1, .events = POLLIN},
            {.fd = worker->pidfd, .events = POLLIN},
        };
        int ready = poll(fds, 4, wait_ms < 60000 ? (int)wait_ms : 60000);
        if (ready < 0 && errno != EINTR) {
            return error_errno(error, errno, "cannot wait for the worker of %s", worker->engine);
        }
        drain_log(worker);
        status = read_output(worker, error);
        if (status != 0) {
            return status;
        }
        if (ready > 0 && fds[3].revents != 0) {
            /* Ended, and what it said was read just now. A child that it left may hold the pipe
             * open for ever. */
            worker->output_closed = true;
        }
    }
}

/* A worker that does not read its input must not hold the coordinator for ever. */
static int write_all(struct worker_process *worker, const char *bytes, size_t length,
                     struct error *error)
{
    uint64_t until = clock_now_ns() + WORKER_HELLO_NS;
    while (length > 0) {
        ssize_t sent = write(worker->input, bytes, length);
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        } else if (errno == EAGAIN) {
            uint64_t now = clock_now_ns();
            if (now >= until) {
                return error_set(error, ERROR_TIMEOUT, "the worker of %s does not read its input",
                                 worker->engine);
            }
            struct pollfd fd = {.fd = worker->input, .events = POLLOUT};
            poll(&fd, 1, 200);
            drain_log(worker);
            if (interrupt_requested()) {
                return error_set(error, ERROR_INTERRUPTED, "ended by a signal");
            }
        } else if (errno != EINTR) {
            return ended_early(worker, error);
        }
    }
    return 0;
}

int worker_send(struct worker_process *worker, const json_t *line, struct error *error)
{
    char *text = json_dump_text(line, JSON_COMPACT);
    if (text == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for a line to the worker of %s",
                         worker->engine);
    }
    int status = write_all(worker, text, strlen(text), error);
    if (status == 0) {
        status = write_all(worker, "\n", 1, error);
    }
    free(text);
    return status;
}

/* ---- end ------------------------------------------------------------------- */

/* The last lines of the log, without empty ones. */
static void keep_log(const struct worker_process *worker, result_strings *log)
{
    const char *end = worker->log_tail.data + worker->log_tail.length;
    const char *lines[LOG_LINES];
    size_t lengths[LOG_LINES];
    size_t count = 0;
    while (end > worker->log_tail.data && count < LOG_LINES) {
        const char *start = end;
        while (start > worker->log_tail.data && start[-1] != '\n') {
            start--;
        }
        if (end > start) {
            lines[count] = start;
            lengths[count++] = (size_t)(end - start);
        }
        end = start > worker->log_tail.data ? start - 1 : start;
    }
    while (count-- > 0) {
        char **item = result_list_add(log);
        if (item == NULL) {
            return;
        }
        size_t length = lengths[count] < 1000 ? lengths[count] : 1000;
        *item = strndup(lines[count], length);
        if (*item == NULL) {
            log->count--;
            return;
        }
    }
}

static void close_input(struct worker_process *worker)
{
    if (worker->input >= 0) {
        close(worker->input);
        worker->input = -1;
    }
}

int worker_finish(struct worker_process *worker, uint64_t grace_ns, struct error *error)
{
    close_input(worker);
    if (!reap(worker, grace_ns)) {
        return error_set(error, ERROR_TIMEOUT,
                         "the worker of %s did not end in %.0f s after its result and was ended",
                         worker->engine, (double)grace_ns / 1e9);
    }
    drain_log(worker);
    json_t *line = NULL;
    int status = read_output(worker, error);
    do {
        json_decref(line);
        line = NULL;
        status = status == 0 ? take_line(worker, &line, error) : status;
        const char *kind = json_string_value(json_object_get(line, "kind"));
        if (line != NULL && (kind == NULL || strcmp(kind, "progress") != 0)) {
            status = error_set(error, ERROR_PROTOCOL,
                               "the worker of %s said \"%s\" after its result; the result was to "
                               "be its last line",
                               worker->engine, kind != NULL ? kind : "no kind");
        }
    } while (status == 0 && line != NULL);
    json_decref(line);
    if (status == 0 && worker->unread.length > 0) {
        status = error_set(error, ERROR_PROTOCOL, "the worker of %s ended in the middle of a line",
                           worker->engine);
    }
    if (status == 0 && worker->status != 0) {
        status = end_error(worker, "after its result", error);
    }
    return status;
}

void worker_end(struct worker_process *worker, uint64_t grace_ns, result_strings *log)
{
    if (worker == NULL) {
        return;
    }
    close_input(worker);
    bool left = worker->pid > 0 && reap(worker, grace_ns);
    if (worker->pid > 0) {
        /* Also when it has exited: it may have left children in its group. */
        kill(-worker->pid, SIGKILL);
        if (!left) {
            kill(worker->pid, SIGKILL);
            while (!worker->ended) {
                reap(worker, NS_PER_S);
            }
        }
    }
    drain_log(worker);
    if (log != NULL) {
        keep_log(worker, log);
    }
    if (worker->log >= 0) {
        close(worker->log);
    }
    if (worker->output >= 0) {
        close(worker->output);
    }
    if (worker->pidfd >= 0) {
        close(worker->pidfd);
    }
    buffer_release(&worker->unread);
    buffer_release(&worker->log_tail);
    free(worker->engine);
    free(worker);
}

void worker_end_failed(struct worker_process *worker, struct error *error)
{
    result_strings log = {NULL, 0};
    worker_end(worker, 0, &log);
    if (log.count > 0) {
        const char *line = log.items[log.count - 1];
        struct error whole = ERROR_INIT;
        struct buffer shown;
        buffer_init(&shown);
        text_printable(&shown, line, strlen(line));
        error_set(&whole, error->code, "%s; its log ends: %s", error->message, shown.data);
        buffer_release(&shown);
        *error = whole;
    }
    for (size_t i = 0; i < log.count; i++) {
        free(log.items[i]);
    }
    free(log.items);
}

/* ---- hello ----------------------------------------------------------------- */

static int await_hello(struct worker_process *worker, uint64_t limit_ns,
                       struct worker_identity *identity, struct error *error)
{
    json_t *line;
    const char *kind;
    int status = worker_read(worker, clock_now_ns() + limit_ns, true, &line, error);
    if (status != 0) {
        return status;
    }
    if (line == NULL) {
        return error_set(error, ERROR_TIMEOUT, "the worker of %s did not say hello in %.4g s",
                         worker->engine, (double)limit_ns / 1e9);
    }
    status = json_get_string(line, "kind", "the worker's first line", &kind, error);
    if (status == 0 && strcmp(kind, "error") == 0) {
        const char *message = json_string_value(json_object_get(line, "message"));
        status = error_set(error, ERROR_ENGINE, "%s", message ? message : "no reason given");
    } else if (status == 0 && strcmp(kind, "hello") != 0) {
        status = error_set(error, ERROR_PROTOCOL, "the worker of %s began with \"%s\", not hello",
                           worker->engine, kind);
    } else if (status == 0) {
        status = worker_identity_read(line, identity, error);
    }
    json_decref(line);
    return status;
}

int worker_start_within(const struct engine_choice *choice, uint64_t hello_ns,
                        struct worker_process **out, struct worker_identity *identity,
                        result_strings *log, struct error *error)
{
    *out = NULL;
    memset(identity, 0, sizeof *identity);
    struct worker_process *worker = calloc(1, sizeof *worker);
    if (worker == NULL || (worker->engine = strdup(choice->name)) == NULL) {
        free(worker);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    worker->input = worker->output = worker->log = worker->pidfd = -1;
    buffer_init(&worker->unread);
    buffer_init(&worker->log_tail);
    int status = launch(choice, worker, error);
    if (status == 0) {
        status = await_hello(worker, hello_ns, identity, error);
    }
    if (status != 0) {
        if (log != NULL || error == NULL) {
            worker_end(worker, 0, log);
        } else {
            worker_end_failed(worker, error);
        }
        worker_identity_release(identity);
        return status;
    }
    *out = worker;
    return 0;
}

int worker_start(const struct engine_choice *choice, struct worker_process **out,
                 struct worker_identity *identity, result_strings *log, struct error *error)
{
    return worker_start_within(choice, WORKER_HELLO_NS, out, identity, log, error);
}

int worker_identify(const struct engine_choice *choice, struct worker_identity *identity,
                    struct error *error)
{
    struct worker_process *worker;
    int status = worker_start(choice, &worker, identity, NULL, error);
    if (status == 0) {
        worker_end(worker, 2 * NS_PER_S, NULL);
    }
    return status;
}
