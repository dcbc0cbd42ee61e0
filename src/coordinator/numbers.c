#include "coordinator/numbers.h"

#include "base/file.h"
#include "base/json.h"
#include "coordinator/data.h"
#include "coordinator/measurement.h"
#include "coordinator/place.h"
#include "coordinator/process.h"
#include "core/clock.h"
#include "result/json.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Between two lines lies at most a round of paced reads, and a read that waits for a lock. */
#define SILENCE_NS (60 * NS_PER_S)
#define GRACE_NS (5 * NS_PER_S)
/* Of all databases at a time, with their WALs and journals, by row; and what even few rows need. */
enum { ROW_BYTES = 1500 };
#define LEAST_BYTES (UINT64_C(64) << 20)

struct numbers_run {
    const struct numbers_order *order;
    const struct numbers_library *library;
    const struct progress *progress;
    const char *folder;
    struct result *result;
    struct result_numbers *out;
    struct worker_process *process;
};

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory");
}

/* ---- the program ---------------------------------------------------------------------------- */

/* The words that start it: the library's folder comes first in the dynamic linker's search. */
static int words_of(const struct numbers_library *library, result_strings *words,
                    struct error *error)
{
    char *program = place_of_program("pitot-numbers", error);
    char *items[3] = {NULL};
    size_t count = 0;
    if (program == NULL) {
        return (int)error->code;
    }
    if (library->library != NULL) {
        const char *slash = strrchr(library->library, '/');
        items[count++] = strdup("env");
        items[count++] =
            result_text("LD_LIBRARY_PATH=%.*s", (int)(slash - library->library), library->library);
    }
    items[count++] = program;
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        char **word = items[i] != NULL && status == 0 ? result_list_add(words) : NULL;
        if (word == NULL) {
            free(items[i]);
            status = no_memory(error);
        } else {
            *word = items[i];
        }
    }
    return status;
}

static char *take(char **text)
{
    char *taken = *text;
    *text = NULL;
    return taken;
}

/* The dynamic linker may have found another one than was asked for. */
static int check_library(const struct numbers_run *run, const struct worker_identity *identity,
                         struct error *error)
{
    char real[PATH_MAX];
    const char *asked = run->library->library;
    if (asked != NULL && identity->library != NULL &&
        strcmp(realpath(asked, real) != NULL ? real : asked, identity->library) != 0) {
        return error_set(error, ERROR_ENGINE, "%s was to be used, the dynamic linker found %s",
                         real, identity->library);
    }
    if (identity->build != NULL && strcmp(identity->build, "release") != 0 &&
        result_warn(run->result, run->library->name,
                    "pitot-numbers is a %s build: these numbers mean nothing",
                    identity->build) != 0) {
        return no_memory(error);
    }
    return 0;
}

static int start(struct numbers_run *run, struct error *error)
{
    struct manifest manifest = {.name = NULL};
    struct worker_identity identity;
    char name[] = "pitot-numbers";
    const struct engine_choice choice = {.name = name, .manifest = &manifest};
    int status = words_of(run->library, &manifest.command, error);
    if (status == 0) {
        status = worker_start(&choice, &run->process, &identity, &run->out->log, error);
    }
    for (size_t i = 0; i < manifest.command.count; i++) {
        free(manifest.command.items[i]);
    }
    free(manifest.command.items);
    if (status != 0) {
        return status;
    }
    run->out->version = take(&identity.version);
    run->out->source_id = take(&identity.source_id);
    status = check_library(run, &identity, error);
    run->out->library = take(&identity.library);
    run->out->compile_options = identity.compile_options;
    identity.compile_options.items = NULL;
    identity.compile_options.count = 0;
    worker_identity_release(&identity);
    return status;
}

/* ---- its lines --------------------------------------------------------------------------------
 */

static int send_job(const struct numbers_run *run, struct error *error)
{
    json_t *job =
        json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "kind", "job", "protocol", 1, "job", "numbers",
                  "folder", json_text(run->folder), "rows", json_wire_u64(run->order->rows),
                  "length_ns", json_wire_u64(run->order->length_ns));
    int status = job != NULL ? worker_send(run->process, job, error) : no_memory(error);
    json_decref(job);
    return status;
}

static void tell_progress(const struct numbers_run *run, const json_t *line, uint64_t start_ns)
{
    char *step = result_text("SQLite %s, %s", run->out->version != NULL ? run->out->version : "–",
                             json_string_value(json_object_get(line, "step")));
    struct progress_state state = {
        .step = step,
        .phase = "measuring",
        .total = PROGRESS_UNKNOWN,
        .per_second = (double)NAN,
        .elapsed_ns = clock_now_ns() - start_ns,
        .remaining_ns = PROGRESS_UNKNOWN,
        .left_ns = PROGRESS_UNKNOWN,
    };
    if (step != NULL && json_get_u64(line, "done", "progress", &state.done, NULL) == 0 &&
        json_get_u64(line, "total", "progress", &state.total, NULL) == 0) {
        run->progress->update(run->progress->context, &state);
    }
    free(step);
}

/* What the program says of itself stays: hello has told it. */
static int take_result(struct numbers_run *run, const json_t *line, struct error *error)
{
    struct result_numbers numbers;
    struct error found = ERROR_INIT;
    result_numbers_init(&numbers);
    int status = result_numbers_from_json(json_object_get(line, "numbers"), &numbers, &found);
    if (status == 0) {
        free(numbers.name);
        numbers.name = take(&run->out->name);
        result_numbers_release(run->out);
        *run->out = numbers;
        return 0;
    }
    result_numbers_release(&numbers);
    return error_set(error, status == ERROR_MEMORY ? ERROR_MEMORY : ERROR_PROTOCOL,
                     "pitot-numbers: %s", found.message);
}

static int read_lines(struct numbers_run *run, struct error *error)
{
    uint64_t start_ns = clock_now_ns();
    uint64_t silence_ns = SILENCE_NS + run->order->length_ns;
    json_t *line = NULL;
    bool done = false;
    int status = 0;
    while (status == 0 && !done) {
        status = worker_read(run->process, clock_now_ns() + silence_ns, true, &line, error);
        const char *kind = json_string_value(json_object_get(line, "kind"));
        if (status != 0) {
            break;
        }
        if (kind == NULL) {
            status = error_set(error, ERROR_TIMEOUT, "pitot-numbers said nothing for %.0f s",
                               (double)silence_ns / 1e9);
        } else if (strcmp(kind, "progress") == 0) {
            tell_progress(run, line, start_ns);
        } else if (strcmp(kind, "result") == 0) {
            status = take_result(run, line, error);
            done = true;
        } else {
            const char *message = json_string_value(json_object_get(line, "message"));
            status = error_set(error, ERROR_ENGINE, "%s", message != NULL ? message : kind);
        }
        json_decref(line);
        line = NULL;
    }
    return status;
}

/* ---- one library --------------------------------------------------------------------------------
 */

/* A failure is the library's, unless nothing more can be done at all. */
static int note_failure(struct numbers_run *run, const struct error *failure, struct error *error)
{
    if (failure->code == ERROR_INTERRUPTED || failure->code == ERROR_MEMORY) {
        return error_set(error, failure->code, "%s", failure->message);
    }
    run->out->status = strdup("failed");
    run->out->error = strdup(failure->message);
    return run->out->status != NULL && run->out->error != NULL ? 0 : no_memory(error);
}

static int measure_one(struct numbers_run *run, struct error *error)
{
    struct error failure = ERROR_INIT;
    int status = start(run, &failure);
    status = status == 0 ? send_job(run, &failure) : status;
    status = status == 0 ? read_lines(run, &failure) : status;
    if (status == 0) {
        status = worker_finish(run->process, GRACE_NS, &failure);
    }
    worker_end(run->process, status == 0 ? 0 : GRACE_NS / 5, status == 0 ? NULL : &run->out->log);
    return status == 0 ? 0 : note_failure(run, &failure, error);
}

static int measure_in(struct data_folder *folder, const struct numbers_order *order,
                      const struct numbers_library *library, const struct progress *progress,
                      struct result *result, struct error *error)
{
    char *own = NULL;
    struct result_numbers *out = result_list_add(&result->numbers);
    if (out == NULL) {
        return no_memory(error);
    }
    result_numbers_init(out);
    out->name = strdup(library->name);
    out->rows = order->rows;
    out->length_ns = order->length_ns;
    struct numbers_run run = {order, library, progress, NULL, result, out, NULL};
    int status = out->name != NULL ? data_own_folder(folder, &own, error) : no_memory(error);
    if (status == 0) {
        run.folder = own;
        status = measure_one(&run, error);
        data_remove_own_folder(own);
    }
    free(own);
    if (status != 0) { /* a half is of no use */
        result_numbers_release(out);
        result->numbers.count--;
    }
    return status;
}

int numbers_measure(const struct numbers_order *order, const struct progress *progress,
                    struct result *result, struct error *error)
{
    struct data_folder folder;
    int status = data_open(&folder, order->data_folder, progress, error);
    if (status != 0) {
        return status;
    }
    measurement_fill_host(folder.path, &result->host);
    status = data_need(&folder, LEAST_BYTES + order->rows * ROW_BYTES, "pitot numbers", error);
    for (size_t i = 0; i < order->library_count && status == 0; i++) {
        status = measure_in(&folder, order, &order->libraries[i], progress, result, error);
    }
    result->partial = status != 0;
    data_close(&folder);
    return status;
}
