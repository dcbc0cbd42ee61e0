/*
 * pitot-worker: one engine, one job, one process. Speaks docs/worker-protocol.md on descriptors
 * 0 and 3; descriptors 1 and 2 are its log.
 */
#include "base/json.h"
#include "worker/worker.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WIRE_IN = 0, WIRE_OUT = 3, PROTOCOL_VERSION = 1 };
enum { EXIT_RESULT = 0, EXIT_ERROR = 1, EXIT_USAGE = 2 };

static const char usage_text[] =
    "usage: pitot-worker --engine NAME --driver DRIVER [--library PATH] [--option KEY=VALUE]...\n"
    "       pitot-worker --help | --version\n"
    "Started by pitot; takes one job on standard input, answers on descriptor 3.\n";

/* ---- command line ------------------------------------------------------------ */

struct options {
    const char *driver;
    struct engine_config config;
    struct engine_option *pairs;
};

/* Cuts KEY=VALUE in place. */
static bool add_option(struct options *options, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        fprintf(stderr, "pitot-worker: --option '%s' must be KEY=VALUE\n", text);
        return false;
    }
    *equals = '\0';
    options->pairs[options->config.option_count++] =
        (struct engine_option){.name = text, .value = equals + 1};
    return true;
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"engine", required_argument, NULL, 'e'},
                                          {"driver", required_argument, NULL, 'd'},
                                          {"library", required_argument, NULL, 'l'},
                                          {"option", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'v'},
                                          {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case 'e':
            options->config.name = optarg;
            break;
        case 'd':
            options->driver = optarg;
            break;
        case 'l':
            options->config.library = optarg;
            break;
        case 'o':
            if (!add_option(options, optarg)) {
                return EXIT_USAGE;
            }
            break;
        case 'h':
            fputs(usage_text, stdout);
            return EXIT_RESULT;
        case 'v':
            puts("pitot-worker " PITOT_VERSION " (" PITOT_BUILD ")");
            return EXIT_RESULT;
        default:
            fputs(usage_text, stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc || options->config.name == NULL || options->driver == NULL) {
        fprintf(stderr, "pitot-worker: %s\n%s",
                optind < argc ? "takes options only" : "--engine and --driver are needed",
                usage_text);
        return EXIT_USAGE;
    }
    if (fcntl(WIRE_OUT, F_SETFD, FD_CLOEXEC) != 0) {
        fputs("pitot-worker: descriptor 3 is not open; this program is started by pitot\n", stderr);
        return EXIT_USAGE;
    }
    return -1;
}

/* ---- hello --------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_text(text);
}

static json_t *texts_json(const char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < count; i++) {
        if (json_array_append_new(list, json_text(texts[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *capabilities_json(uint32_t capabilities)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } known[] = {{ENGINE_CAN_THREADS, "threads"},
                 {ENGINE_CAN_LOAD, "load"},
                 {ENGINE_CAN_CHECK, "check"},
                 {ENGINE_CAN_CHECK, "verify"}, /* both read tables */
                 {ENGINE_COUNTS_WAITING, "counts_waiting"},
                 {ENGINE_HAS_NO_DATABASE, "no_database"}};
    const char *names[sizeof(known) / sizeof(known[0]) + 1] = {"rate"}; /* whatever the engine */
    size_t count = 1;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if ((capabilities & known[i].bit) != 0) {
            names[count++] = known[i].name;
        }
    }
    return texts_json(names, count);
}

static json_t *hello(const struct worker *worker, const struct engine_identity *identity)
{
    return json_pack(
        "{s:s, s:i, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", "hello",
        "protocol", PROTOCOL_VERSION, "worker", "pitot-worker " PITOT_VERSION, "build", PITOT_BUILD,
        "engine", json_text(worker->name), "driver", worker->ops->driver, "version",
        text_or_null(identity->version), "source_id", text_or_null(identity->source_id),
        "sync_call", text_or_null(identity->sync_call), "library", text_or_null(identity->library),
        "compile_options", texts_json(identity->compile_options, identity->compile_option_count),
        "capabilities", capabilities_json(worker->capabilities), "warnings",
        texts_json(identity->warnings, identity->warning_count));
}

/* ---- the job ------------------------------------------------------------------- */

static int read_job(struct worker *worker, struct job **job, struct failure *failure)
{
    enum wire_event event;
    json_t *line = NULL;
    do {
        if (wire_wait(&worker->wire, -1, UINT64_MAX, &event, &line, &failure->error) != 0) {
            return failure_phase(failure, "protocol");
        }
    } while (event != WIRE_LINE && event != WIRE_END);
    if (event == WIRE_END) {
        worker->gone = true;
        return failure_set(failure, "job", ERROR_INTERRUPTED, "the coordinator is gone");
    }
    const char *kind = json_string_value(json_object_get(line, "kind"));
    int status = 0;
    if (strcmp(kind, "job") != 0) {
        status = failure_set(failure, "protocol", ERROR_PROTOCOL,
                             "line '%s' where the job should be", kind);
    } else if (job_from_json(line, job, &failure->error) != 0) {
        status = failure_phase(failure, "job");
    }
    json_decref(line);
    return status;
}

static int do_job(struct worker *worker, struct failure *failure)
{
    struct job *job = NULL;
    int status = read_job(worker, &job, failure);
    if (status != 0) {
        return status;
    }
    switch (job->kind) {
    case JOB_LOAD:
        status = worker_load(worker, job, failure);
        break;
    case JOB_RUN:
        status = worker_run(worker, job, failure);
        break;
    case JOB_CHECK:
        status = worker_check(worker, job, failure);
        break;
    case JOB_VERIFY:
        status = worker_verify(worker, job, failure);
        break;
    }
    if (!worker->gone && !worker->abandoned) {
        job_free(job);
    }
    return status;
}

static int work(const struct options *options, struct worker *worker, struct failure *failure)
{
    const struct engine_identity *identity = NULL;
    worker->ops = engine_find(options->driver, &failure->error);
    if (worker->ops == NULL ||
        worker->ops->load(&options->config, &worker->engine, &identity, &failure->error) != 0) {
        return failure_phase(failure, "engine");
    }
    worker->capabilities = worker->ops->capabilities & ~identity->lacks;
    int status = worker_send(worker, hello(worker, identity), "hello", failure);
    if (status == 0) {
        status = do_job(worker, failure);
    }
    if (!worker->gone && !worker->abandoned) {
        worker->ops->unload(worker->engine);
    }
    return status;
}

/* Sends the `error` line; what the coordinator cannot be told goes to the log. */
static void tell(struct worker *worker, const struct failure *failure)
{
    struct error unsent = ERROR_INIT;
    if (!worker->gone && wire_send(&worker->wire, failure_to_json(failure), &unsent) != 0) {
        fprintf(stderr, "pitot-worker: %s: %s (not sent: %s)\n", failure->phase,
                failure->error.message, unsent.message);
    }
}

int main(int argc, char **argv)
{
    struct options options = {.pairs = calloc((size_t)argc, sizeof(struct engine_option))};
    if (options.pairs == NULL) {
        fputs("pitot-worker: out of memory\n", stderr);
        return EXIT_ERROR;
    }
    options.config.options = options.pairs;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status >= 0) {
        free(options.pairs);
        return exit_status;
    }
    /* A coordinator that is gone shows as the end of input. Should even that thread hang inside
     * an engine, the kernel ends the process with its parent. */
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);

    struct worker worker = {.name = options.config.name};
    struct failure failure;
    failure_init(&failure);
    wire_init(&worker.wire, WIRE_IN, WIRE_OUT);
    int status = work(&options, &worker, &failure);
    if (status != 0) {
        tell(&worker, &failure);
    }
    if (worker.gone || worker.abandoned) {
        /* Threads may be inside the engine: no destructor is to pull the rug from under them. */
        _exit(EXIT_ERROR);
    }
    wire_release(&worker.wire);
    free(options.pairs);
    return status == 0 ? EXIT_RESULT : EXIT_ERROR;
}
