#include "coordinator/process.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "coordinator/interrupt.h"
#include "coordinator/launch.h"
#include "coordinator/worker_log.h"
#include "core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a worker's log only the end is kept: enough for a panic with its backtrace. */
enum { LOG_KEPT = 16384 };
/* So much is read at a time: a worker that writes without end must not keep the coordinator
 * from the clock. More than a pipe holds, so that what a dead worker left is read whole. */
enum { READ_AT_ONCE = 1 << 20 };

struct worker_process {
    char *engine;
    pid_t pid; /* also its process group */
    int pidfd; /* readable once it has ended; -1 where the kernel has none */
    int input; /* -1 once closed */
    int output;
    int log;
    bool ended; /* it has exited; reaped only in worker_end(), so that its number stays its own */
    int signal; /* that ended it, 0: none */
    int status; /* that it exited with */
    bool output_closed;
    struct buffer unread;
    size_t taken;   /* bytes at its beginning that were lines and are used up */
    size_t scanned; /* bytes of it up to which there is no line feed but in those */
    struct buffer log_tail;
};

int worker_pid(const struct worker_process *worker)
{
    return (int)worker->pid;
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

/* Once before each reading and not for each line: of many short ones that came at once, all that is
 * left would be moved again and again. */
static void drop_taken(struct worker_process *worker)
{
    struct buffer *unread = &worker->unread;
    if (worker->taken > 0) {
        memmove(unread->data, unread->data + worker->taken, unread->length - worker->taken + 1);
        unread->length -= worker->taken;
        worker->scanned -= worker->taken;
        worker->taken = 0;
    }
}

static int read_output(struct worker_process *worker, struct error *error)
{
    char part[65536];
    drop_taken(worker);
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
    const struct buffer *unread = &worker->unread;
    const char *begin = unread->data + worker->taken;
    const char *end =
        memchr(unread->data + worker->scanned, '\n', unread->length - worker->scanned);
    size_t length = end != NULL ? (size_t)(end - begin) : unread->length - worker->taken;
    if (length > WORKER_LINE_MAX) {
        return error_set(error, ERROR_PROTOCOL, "the worker of %s sent a line of more than %u MiB",
                         worker->engine, WORKER_LINE_MAX >> 20);
    }
    if (end == NULL) {
        worker->scanned = unread->length;
        return 0;
    }
    struct error cause = ERROR_INIT;
    int status = json_parse(begin, length, "a line of the worker", line, &cause);
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
        text_printable(&shown, begin, length < 80 ? length : 80);
        error_set(error, ERROR_PROTOCOL, "the worker of %s broke the protocol: %s; the line: %s%s",
                  worker->engine, cause.message, shown.data, length > 80 ? "…" : "");
        buffer_release(&shown);
        return ERROR_PROTOCOL;
    }
    worker->taken += length + 1;
    worker->scanned = worker->taken;
    return 0;
}

/* Waits at most `limit_ns` for the end of the process. It stays a zombie: its process group can
 * then be killed without fear that the number has gone to someone else. */
static bool await_end(struct worker_process *worker, uint64_t limit_ns)
{
    uint64_t until = clock_now_ns() + limit_ns;
    uint64_t pause = 1 * NS_PER_MS;
    while (!worker->ended) {
        siginfo_t info = {.si_pid = 0};
        int failed = waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if ((failed == 0 && info.si_pid == worker->pid) || (failed != 0 && errno != EINTR)) {
            worker->ended = true;
            worker->signal = failed == 0 && info.si_code != CLD_EXITED ? info.si_status : 0;
            worker->status = failed == 0 && info.si_code == CLD_EXITED ? info.si_status : 0;
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

/* Says how a process has ended; `when` follows. */
static int end_error(const struct worker_process *worker, const char *when, struct error *error)
{
    if (worker->signal != 0) {
        return error_set(error, ERROR_ENGINE, "the worker of %s was ended by signal %d (%s) %s%s",
                         worker->engine, worker->signal, strsignal(worker->signal), when,
                         worker->signal == SIGKILL ? "; out of memory, or someone killed it" : "");
    }
    return error_set(error, ERROR_ENGINE, "the worker of %s ended with status %d %s",
                     worker->engine, worker->status, when);
}

static int ended_early(struct worker_process *worker, struct error *error)
{
    if (!await_end(worker, 2 * NS_PER_S)) {
        return error_set(error, ERROR_PROTOCOL,
                         "the worker of %s closed descriptor 3 without a result", worker->engine);
    }
    drain_log(worker);
    return end_error(worker, "without a result", error);
}

/* The next line that has come; *line stays NULL when there is none. */
static int next_line(struct worker_process *worker, json_t **line, struct error *error)
{
    int status = take_line(worker, line, error);
    if (status != 0 || *line != NULL || !worker->output_closed) {
        return status;
    }
    if (worker->unread.length > worker->taken) {
        return error_set(error, ERROR_PROTOCOL, "the worker of %s ended in the middle of a line",
                         worker->engine);
    }
    return ended_early(worker, error);
}

enum { FDS_OF_WORKER = 3 };

/* Descriptors of all workers in turn, three of each, then the one that a signal makes readable. */
static void fill_fds(struct worker_process *const *workers, size_t count, bool interruptible,
                     struct pollfd *fds)
{
    for (size_t i = 0; i < count; i++) {
        const struct worker_process *worker = workers[i];
        const int own[FDS_OF_WORKER] = {worker != NULL ? worker->output : -1,
                                        worker != NULL ? worker->log : -1,
                                        worker != NULL ? worker->pidfd : -1};
        for (size_t k = 0; k < FDS_OF_WORKER; k++) {
            fds[FDS_OF_WORKER * i + k] = (struct pollfd){.fd = own[k], .events = POLLIN};
        }
    }
    fds[FDS_OF_WORKER * count] =
        (struct pollfd){.fd = interruptible ? interrupt_fd() : -1, .events = POLLIN};
}

static int read_ready(struct worker_process *worker, const struct pollfd *fds, struct error *error)
{
    if (fds[1].revents != 0) {
        drain_log(worker);
    }
    int status = fds[0].revents != 0 || fds[2].revents != 0 ? read_output(worker, error) : 0;
    if (fds[2].revents != 0) {
        /* Ended, and what it said was read just now. A child that it left may hold the pipe open
         * for ever. */
        worker->output_closed = true;
    }
    return status;
}

/* Waits until something has come or `until_ns`, and reads it. */
static int wait_and_read(struct worker_process *const *workers, size_t count, uint64_t until_ns,
                         bool interruptible, size_t *which, struct error *error)
{
    struct pollfd of_one[FDS_OF_WORKER + 1];
    size_t fd_count = FDS_OF_WORKER * count + 1;
    struct pollfd *fds = count == 1 ? of_one : malloc(fd_count * sizeof *fds);
    if (fds == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while waiting for %zu workers", count);
    }
    fill_fds(workers, count, interruptible, fds);
    uint64_t now = clock_now_ns();
    uint64_t wait_ms = until_ns > now ? (until_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    int ready = poll(fds, fd_count, wait_ms < 60000 ? (int)wait_ms : 60000);
    int status = 0;
    if (ready < 0 && errno != EINTR) {
        status = error_errno(error, errno, "cannot wait for workers");
    }
    for (size_t i = 0; i < count && ready > 0 && status == 0; i++) {
        if (workers[i] != NULL) {
            status = read_ready(workers[i], &fds[FDS_OF_WORKER * i], error);
            *which = status != 0 ? i : *which;
        }
    }
    if (fds != of_one) {
        free(fds);
    }
    return status;
}

int workers_read(struct worker_process *const *workers, size_t count, uint64_t until_ns,
                 bool interruptible, size_t *which, json_t **line, struct error *error)
{
    *line = NULL;
    for (;;) {
        /* Also while lines keep coming. */
        if (interruptible && interrupt_requested()) {
            return error_set(error, ERROR_INTERRUPTED, "ended by a signal");
        }
        for (size_t i = 1; i <= count; i++) {
            size_t next = (*which + i) % count;
            int status = workers[next] != NULL ? next_line(workers[next], line, error) : 0;
            if (status != 0 || *line != NULL) {
                *which = next;
                return status;
            }
        }
        if (clock_now_ns() >= until_ns) {
            return 0;
        }
        int status = wait_and_read(workers, count, until_ns, interruptible, which, error);
        if (status != 0) {
            return status;
        }
    }
}

int worker_read(struct worker_process *worker, uint64_t until_ns, bool interruptible, json_t **line,
                struct error *error)
{
    size_t which = 0;
    return workers_read(&worker, 1, until_ns, interruptible, &which, line, error);
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
    if (!await_end(worker, grace_ns)) {
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
    if (status == 0 && worker->unread.length > worker->taken) {
        status = error_set(error, ERROR_PROTOCOL, "the worker of %s ended in the middle of a line",
                           worker->engine);
    }
    if (status == 0 && (worker->status != 0 || worker->signal != 0)) {
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
    if (worker->pid > 0) {
        bool left = await_end(worker, grace_ns);
        /* Also when it has exited: it may have left children in its group. */
        kill(-worker->pid, SIGKILL);
        if (!left) {
            kill(worker->pid, SIGKILL);
        }
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    drain_log(worker);
    if (log != NULL) {
        worker_log_keep(worker->log_tail.data, worker->log_tail.length, log);
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
    /* A worker that says why it fails may have said it in its log as well. */
    if (log.count > 0 && strstr(log.items[log.count - 1], error->message) == NULL) {
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
    struct launched launched;
    int status = launch_worker(choice, &launched, error);
    if (status == 0) {
        worker->pid = launched.pid;
        worker->pidfd = launched.pidfd;
        worker->input = launched.input;
        worker->output = launched.output;
        worker->log = launched.log;
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
