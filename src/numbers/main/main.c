/*
 * pitot-numbers: what libpitot takes with the SQLite library that this process finds. Started by
 * `pitot numbers`; speaks the lines of docs/worker-protocol.md on descriptors 0 and 3: hello, then
 * one job "numbers", progress, a result or an error. Descriptors 1 and 2 are its log.
 */
#include "base/buffer.h"
#include "base/json.h"
#include "numbers/numbers.h"
#include "result/json.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WIRE_IN = 0, WIRE_OUT = 3, PROTOCOL_VERSION = 1 };
enum { EXIT_RESULT = 0, EXIT_ERROR = 1, EXIT_USAGE = 2 };

static const char usage_text[] = "usage: pitot-numbers --engine NAME\n"
                                 "       pitot-numbers --help | --version\n"
                                 "Started by pitot numbers; takes one job on standard input, "
                                 "answers on descriptor 3.\n";

/* Sends a line and gives its reference back. */
static int send_line(json_t *line, struct error *error)
{
    int status = line != NULL ? json_write_line(WIRE_OUT, line, error)
                              : error_set(error, ERROR_MEMORY, "out of memory");
    json_decref(line);
    return status;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? json_text(text) : json_null();
}

static json_t *texts(const result_strings *strings)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < strings->count; i++) {
        if (json_array_append_new(list, json_text(strings->items[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static int say_hello(const char *name, const struct result_numbers *numbers, struct error *error)
{
    return send_line(json_pack("{s:s, s:i, s:s, s:s, s:o, s:s, s:s, s:s, s:o, s:o, s:[], s:[]}",
                               "kind", "hello", "protocol", PROTOCOL_VERSION, "worker",
                               "pitot-numbers " PITOT_VERSION, "build", PITOT_BUILD, "engine",
                               json_text(name), "driver", "numbers", "version", numbers->version,
                               "source_id", numbers->source_id, "library",
                               text_or_null(numbers->library), "compile_options",
                               texts(&numbers->compile_options), "capabilities", "warnings"),
                     error);
}

static void tell_step(void *context, const char *group, uint64_t done_ns, uint64_t total_ns)
{
    (void)context;
    /* Progress that cannot be told is no reason to stop: the result shows it. */
    send_line(json_pack("{s:s, s:s, s:o, s:o}", "kind", "progress", "step", group, "done",
                        json_wire_u64(done_ns), "total", json_wire_u64(total_ns)),
              NULL);
}

/* ---- the job ------------------------------------------------------------------------------ */

/* Reads one line, a byte at a time: what follows is for the thread that waits for the end. */
static int read_job(json_t **job, struct error *error)
{
    struct buffer line;
    char c = '\0';
    ssize_t got = 0;
    buffer_init(&line);
    while ((got = read(WIRE_IN, &c, 1)) == 1 && c != '\n') {
        buffer_putc(&line, c);
    }
    int status = got != 1      ? error_set(error, ERROR_INTERRUPTED, "the coordinator is gone")
                 : line.failed ? error_set(error, ERROR_MEMORY, "out of memory for the job")
                               : json_parse(line.data, line.length, "the job", job, error);
    buffer_release(&line);
    return status;
}

/* The last line is about to be sent: the end of input ends nothing any more. */
static atomic_bool answered;

/* Nothing follows the job but the end of input: then nobody waits for the numbers. */
static void *await_end(void *context)
{
    char byte;
    (void)context;
    while (read(WIRE_IN, &byte, 1) > 0) {
    }
    if (!atomic_load(&answered)) {
        _exit(EXIT_ERROR);
    }
    return NULL;
}

static int start_watch(struct error *error)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, await_end, NULL);
    if (failed != 0) {
        return error_errno(error, failed, "cannot start a thread");
    }
    pthread_detach(thread);
    return 0;
}

static int plan_of(const json_t *job, struct numbers_plan *plan, struct error *error)
{
    int status = json_get_string(job, "folder", "the job", &plan->folder, error);
    status = status == 0 ? json_get_u64(job, "rows", "the job", &plan->rows, error) : status;
    status =
        status == 0 ? json_get_u64(job, "length_ns", "the job", &plan->length_ns, error) : status;
    if (status == 0 && (plan->rows < NUMBERS_ROWS_MIN || plan->rows > INT32_MAX)) {
        status = error_set(error, ERROR_PROTOCOL, "the job: rows must be %d to %d",
                           NUMBERS_ROWS_MIN, INT32_MAX);
    }
    return status;
}

static int do_job(const json_t *job, struct result_numbers *numbers, struct error *error)
{
    const struct numbers_watch watch = {.step = tell_step};
    struct numbers_plan plan = {.folder = NULL};
    int status = plan_of(job, &plan, error);
    status = status == 0 ? start_watch(error) : status;
    status = status == 0 ? numbers_run(&plan, &watch, numbers, error) : status;
    if (status != 0) {
        return status;
    }
    numbers->status = strdup("ok");
    atomic_store(&answered, true);
    return send_line(
        json_pack("{s:s, s:o}", "kind", "result", "numbers", result_numbers_to_json(numbers)),
        error);
}

static int work(const char *name, struct result_numbers *numbers, struct error *error)
{
    json_t *job = NULL;
    numbers->name = strdup(name);
    int status = numbers_identify(numbers, error);
    status = status == 0 ? say_hello(name, numbers, error) : status;
    status = status == 0 ? read_job(&job, error) : status;
    status = status == 0 ? do_job(job, numbers, error) : status;
    json_decref(job);
    return status;
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage_text, stdout);
        return EXIT_RESULT;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("pitot-numbers " PITOT_VERSION " (" PITOT_BUILD ")");
        return EXIT_RESULT;
    }
    if (argc != 3 || strcmp(argv[1], "--engine") != 0) {
        fputs(usage_text, stderr);
        return EXIT_USAGE;
    }
    if (fcntl(WIRE_OUT, F_SETFD, FD_CLOEXEC) != 0) {
        fputs("pitot-numbers: descriptor 3 is not open; this program is started by pitot\n",
              stderr);
        return EXIT_USAGE;
    }
    return -1;
}

int main(int argc, char **argv)
{
    int exit_status = read_options(argc, argv);
    if (exit_status >= 0) {
        return exit_status;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);

    struct error error = ERROR_INIT;
    struct result_numbers numbers;
    result_numbers_init(&numbers);
    int status = work(argv[2], &numbers, &error);
    if (status != 0 &&
        send_line(json_pack("{s:s, s:o}", "kind", "error", "message", json_text(error.message)),
                  NULL) != 0) {
        fprintf(stderr, "pitot-numbers: %s\n", error.message);
    }
    result_numbers_release(&numbers);
    return status == 0 ? EXIT_RESULT : EXIT_ERROR;
}
