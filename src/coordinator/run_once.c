/* One engine in one round: its copy, what is done with it, and what becomes of it. */
#include "base/file.h"
#include "coordinator/interrupt.h"
#include "coordinator/run_watch.h"
#include "coordinator/run_workers.h"

#include "core/clock.h"
#include "statistics/run_figures.h"

#include <stdlib.h>
#include <string.h>

/* ---- the copy --------------------------------------------------------------------------- */

int measurement_copy(struct measurement *m, const struct case_template *template, const char *label,
                     char **path, struct error *error)
{
    uint64_t bytes = template->file.bytes;
    *path = NULL;
    /* A write-ahead log may grow to a part of the database, at least some tens of MB. */
    int status = data_need(&m->folder, bytes + bytes / 4 + (UINT64_C(64) << 20),
                           "a copy of the template and its write-ahead log", error);
    if (status != 0) {
        return status;
    }
    *path = data_path(&m->folder, "run", label);
    if (*path == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    status = file_copy(template->file.path, *path, interrupt_requested, error);
    if (status == 0) {
        status = file_sync_folder(m->folder.path, error);
    }
    if (status == 0) {
        status = conditions_read_through(*path, error);
    }
    if (status != 0) {
        data_remove_database(*path);
        free(*path);
        *path = NULL;
    }
    return status;
}

static void tell_done(struct measurement *m, const char *step, const struct result_run *run)
{
    char *text = result_text("%s: %.0f operations/s", step, run_operations_per_second(run, NULL));
    if (text != NULL) {
        m->progress->done(m->progress->context, text);
    }
    free(text);
}

/* Named after all that tells a run from others: --keep leaves it. */
static char *copy_label(const struct measurement *m, const struct measured_case *measured,
                        const char *engine, uint64_t round)
{
    unsigned long long number = round;
    return m->plan->case_count > 1
               ? result_text("%s-%s-%llu", measured->plan_case.label, engine, number)
               : result_text("%s-%llu", engine, number);
}

/* A copy for the task, if its engine stores anything; *path is to be freed. */
static int prepare_copy(struct run_task *task, char **path, struct error *error)
{
    struct measurement *m = task->m;
    const struct measured_case *measured = task->measured;
    const struct engine_choice *choice = &m->plan->engines->items[task->engine];
    *path = NULL;
    if (measured->template == NULL || choice->manifest->no_database) {
        return 0;
    }
    char *label = copy_label(m, measured, choice->name, task->run->round);
    uint64_t started_ns = clock_now_ns();
    int status = label != NULL ? measurement_copy(m, measured->template, label, path, error)
                               : error_set(error, ERROR_MEMORY, "out of memory");
    free(label);
    task->copy_ns = clock_now_ns() - started_ns;
    task->database = *path;
    if (status == 0 && !conditions_settle(&m->conditions, &task->run->dirty_bytes) &&
        interrupt_requested()) {
        status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
    }
    return status;
}

/* Under another name, since the next run in this folder takes pitot-run-* for leftovers. A log
 * that closing left belongs to it. */
static void keep_copy(struct measurement *m, const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-log", "-journal"};
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *from = result_text("%s%s", path, suffixes[i]);
        char *to = result_text("%.*skept-%s%s", (int)(name - path), path,
                               name + strlen("pitot-run-"), suffixes[i]);
        if (from != NULL && to != NULL && rename(from, to) == 0 && i == 0) {
            char *text = result_text("kept: %s", to);
            if (text != NULL) {
                m->progress->note(m->progress->context, text);
            }
            free(text);
        }
        free(from);
        free(to);
    }
    data_remove_database(path); /* a -shm says nothing without its processes */
}

/* The copy has served its purpose; NULL: there was none. */
static void end_copy(struct measurement *m, char *path)
{
    if (path != NULL && m->plan->keep) {
        keep_copy(m, path);
    } else if (path != NULL) {
        data_remove_database(path);
    }
    free(path);
}

/* The second run only tells how noisy the others are: its failure is none of the engine's row. */
static int note_failure_again(struct measurement *m, struct measured_case *measured, size_t index,
                              const struct error *failure, struct error *error)
{
    char *prefix = measurement_prefix(m, measured);
    int status = prefix != NULL
                     ? result_warn(m->result, m->result->engines.items[index].name,
                                   "%sits second run, A against A, failed, and the noise floor "
                                   "does without: %s",
                                   prefix, failure->message)
                     : ERROR_MEMORY;
    measured->again = false;
    free(prefix);
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for the warnings");
}

/* What went wrong with a run, in the result; an error when that ends everything. */
static int note_failure(struct measurement *m, struct measured_case *measured, size_t index,
                        struct result_run *run, const struct error *failure, struct error *error)
{
    int status = 0;
    if (failure->code == ERROR_INTERRUPTED || failure->code == ERROR_MEMORY) {
        status = error_set(error, failure->code, "%s", failure->message);
    }
    if (run->status == NULL || strcmp(run->status, "partial") != 0) {
        free(run->status);
        run->status = strdup("failed");
    }
    free(run->error);
    run->error = strdup(failure->message);
    if (status == 0 && run->aside != NULL) {
        status = note_failure_again(m, measured, index, failure, error);
    } else if (status == 0) {
        measurement_fail_case(m, measured, index, failure->message);
    }
    return status;
}

static int run_engine(struct measurement *m, struct measured_case *measured, size_t index,
                      const struct run_place *place, const char *step, struct result_run *run,
                      struct error *error)
{
    struct run_task task = {.m = m,
                            .measured = measured,
                            .engine = index,
                            .step = step,
                            .after_ns = place->after_ns,
                            .run = run};
    struct error failure = ERROR_INIT;
    char *path;
    int status = prepare_copy(&task, &path, error);
    if (status == 0) {
        status = run_workers(&task, &failure);
        if (path != NULL) {
            run->final_bytes = run_watch_size(path, "");
        }
        if (path != NULL && status == 0) {
            status = measurement_check(m, measured, index, step, path, run, error);
        }
    }
    end_copy(m, path);
    if (failure.code != ERROR_NONE) {
        status = note_failure(m, measured, index, run, &failure, error);
    } else if (status == 0) {
        tell_done(m, step, run);
    } else if (run->status == NULL) { /* it never came to the worker */
        run->status = strdup("failed");
        run->error = strdup(error->message);
    }
    if (run->status == NULL && status == 0) {
        status = error_set(error, ERROR_MEMORY, "out of memory for the result");
    }
    return status;
}

int measurement_trial(struct measurement *m, struct measured_case *measured, size_t index,
                      const char *step, struct result_run *run, struct error *error)
{
    struct run_task task = {.m = m,
                            .measured = measured,
                            .engine = index,
                            .step = step,
                            .after_ns = PROGRESS_UNKNOWN,
                            .run = run};
    struct error failure = ERROR_INIT;
    char *path;
    int status = prepare_copy(&task, &path, error);
    if (status == 0) {
        run_workers(&task, &failure);
    }
    if (path != NULL) {
        data_remove_database(path);
    }
    free(path);
    return failure.code != ERROR_NONE ? note_failure(m, measured, index, run, &failure, error)
                                      : status;
}

int measurement_run(struct measurement *m, struct measured_case *measured, size_t index,
                    const struct run_place *place, struct error *error)
{
    struct result_engine *engine = &m->result->engines.items[index];
    struct result_run *run =
        place->again ? result_list_add(&engine->aside) : result_list_add(&engine->runs);
    char *prefix = measurement_prefix(m, measured);
    char *step = prefix != NULL ? result_text("%s%s%s: round %llu of %u", prefix, engine->name,
                                              place->again ? " again" : "",
                                              (unsigned long long)place->round, m->plan->rounds)
                                : NULL;
    int status = ERROR_MEMORY;
    uint64_t started_ns = clock_now_ns();
    if (run == NULL || step == NULL) {
        error_set(error, ERROR_MEMORY, "out of memory");
    } else {
        result_run_init(run);
        run->case_index = measured->index;
        run->round = place->round;
        run->position = place->position;
        run->aside = place->again ? strdup("again") : NULL;
        status = place->again && run->aside == NULL
                     ? error_set(error, ERROR_MEMORY, "out of memory")
                     : run_engine(m, measured, index, place, step, run, error);
    }
    measured->spent_ns += clock_now_ns() - started_ns;
    measured->spent_runs++;
    free(prefix);
    free(step);
    return status;
}
