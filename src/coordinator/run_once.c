/* One engine in one round: copy, settle, warm up, go, result. */
#include "base/file.h"
#include "coordinator/exchange.h"
#include "coordinator/interrupt.h"
#include "coordinator/job.h"
#include "coordinator/measurement.h"
#include "coordinator/order.h"
#include "coordinator/run_check.h"
#include "coordinator/run_result.h"
#include "coordinator/settings.h"

#include "core/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `go` lies this far ahead: time for the line to arrive and for all threads to hear of it. */
#define GO_AHEAD_NS (100 * NS_PER_MS)
/* Sizes are looked at so often, and kept once a second. */
#define LOOK_NS (100 * NS_PER_MS)
/* An interrupted worker may take this long beyond its grace to hand over what it has. */
#define STOP_WAIT_NS (3 * NS_PER_S)
/* A worker that has given its result must have ended by then. */
#define END_WAIT_NS (5 * NS_PER_S)

struct run_state {
    struct measurement *m;
    const struct measured_case *measured;
    struct result_run *run;
    const char *database; /* NULL: the engine has none */
    uint64_t copy_ns;     /* that making the copy took */
    uint64_t at_ns;
    uint64_t seconds_seen;
    bool watching, watched;
    struct conditions_watch watch;
    int pid;
    bool out_of_memory;
};

/* ---- sizes by the second ----------------------------------------------------------- */

static uint64_t size_of(const char *path, const char *suffix)
{
    char name[8192];
    int length = snprintf(name, sizeof name, "%s%s", path, suffix);
    int64_t size = length > 0 && (size_t)length < sizeof name ? file_size(name) : -1;
    return size < 0 ? RESULT_ABSENT : (uint64_t)size;
}

static uint64_t journal_size(const char *path)
{
    uint64_t wal = size_of(path, "-wal");
    uint64_t log = size_of(path, "-log");
    if (wal == RESULT_ABSENT) {
        return log;
    }
    return log == RESULT_ABSENT ? wal : wal + log;
}

/* What others did is of interest until the deadline: closing and its checkpoint come after. */
static void end_watch(struct run_state *state)
{
    state->watched = true;
    conditions_watch_end(&state->watch, state->pid, &state->run->cpu_others, &state->run->steal);
}

static void look(void *context, uint64_t now_ns)
{
    struct run_state *state = context;
    if (!state->watching) {
        state->watching = true;
        conditions_watch_begin(&state->watch, state->pid);
        return;
    }
    uint64_t duration_ns = state->measured->plan_case.duration_ns;
    if (!state->watched && duration_ns != RESULT_ABSENT && now_ns >= state->at_ns + duration_ns) {
        end_watch(state);
    }
    if (state->database == NULL) {
        return;
    }
    uint64_t wal = journal_size(state->database);
    struct result_run *run = state->run;
    if (wal != RESULT_ABSENT &&
        (run->largest_wal_bytes == RESULT_ABSENT || wal > run->largest_wal_bytes)) {
        run->largest_wal_bytes = wal;
    }
    if (now_ns < state->at_ns + (state->seconds_seen + 1) * NS_PER_S) {
        return;
    }
    /* The coordinator may have been held up: the moment counts, not how often it looked. */
    state->seconds_seen = (now_ns - state->at_ns) / NS_PER_S;
    struct result_second *second = result_list_add(&run->seconds);
    if (second == NULL) {
        state->out_of_memory = true;
        return;
    }
    second->at_s = (double)(now_ns - state->at_ns) / 1e9;
    second->database_bytes = size_of(state->database, "");
    second->wal_bytes = wal;
}

/* ---- the run ------------------------------------------------------------------------- */

static int await_ready(struct exchange *exchange, struct run_state *state, struct error *error)
{
    json_t *line;
    exchange->headway_ns = measurement_headway_ns(exchange->plan_case->plan);
    if (exchange->plan_case->warmup_ns != RESULT_ABSENT) {
        /* The warm-up counts operations, but one of them may last as long as all of it. */
        exchange->headway_ns += exchange->plan_case->warmup_ns;
    }
    int status = exchange_await(exchange, "ready", &line, error);
    if (status == 0) {
        status = run_read_ready(exchange->plan_case, line, state->run, error);
        json_decref(line);
        if (status != 0) {
            result_run_forget(state->run);
        }
    }
    return status;
}

/* After a signal: what the worker has until now. */
static int collect_partial(struct exchange *exchange, json_t **line)
{
    json_t *stop = job_stop();
    struct error ignored = ERROR_INIT;
    exchange->uninterruptible = true;
    exchange->headway_ns = UINT64_MAX;
    exchange->until_repeated = true;
    exchange->deadline_ns = clock_now_ns() + exchange->plan_case->plan->grace_ns + STOP_WAIT_NS;
    int status = stop != NULL ? worker_send(exchange->worker, stop, &ignored) : ERROR_MEMORY;
    json_decref(stop);
    return status == 0 ? exchange_await(exchange, "result", line, &ignored) : status;
}

/* In an open loop nothing may be due for a while, on the last connection that is not done. Forty
 * mean gaps are longer than any that can be drawn. */
static uint64_t longest_gap_ns(const struct plan_case *plan_case)
{
    return job_is_paced(plan_case)
               ? (uint64_t)(40e9 * job_connections(plan_case) / job_rate(plan_case))
               : 0;
}

static int run_measured(struct exchange *exchange, struct run_state *state, struct error *error)
{
    const struct plan_case *plan_case = exchange->plan_case;
    const struct plan *plan = plan_case->plan;
    json_t *line = NULL;
    state->at_ns = clock_now_ns() + GO_AHEAD_NS;
    json_t *go = job_go(state->at_ns);
    int status = go != NULL ? worker_send(exchange->worker, go, error)
                            : error_set(error, ERROR_MEMORY, "out of memory");
    json_decref(go);
    if (status != 0) {
        return status;
    }
    exchange->tick = look;
    exchange->tick_context = state;
    exchange->tick_at_ns = state->at_ns;
    exchange->tick_every_ns = LOOK_NS;
    if (plan_case->duration_ns != RESULT_ABSENT) {
        exchange->headway_ns = UINT64_MAX;
        exchange->deadline_ns =
            state->at_ns + plan_case->duration_ns + plan->grace_ns + RESULT_WAIT_NS;
    } else {
        exchange->headway_ns = measurement_headway_ns(plan) + longest_gap_ns(plan_case);
    }
    status = exchange_await(exchange, "result", &line, error);
    bool interrupted = status == ERROR_INTERRUPTED;
    if (interrupted && collect_partial(exchange, &line) != 0) {
        return status;
    }
    if (line != NULL) {
        struct error broken = ERROR_INIT;
        if (!state->watched) {
            end_watch(state);
        }
        int read = run_read_result(plan_case, line, state->run, &broken);
        if (read == 0) {
            read = run_check_result(plan_case, state->run, &broken);
        }
        if (read == 0) {
            read = run_check_window(line, state->at_ns, clock_now_ns(), &broken);
        }
        json_decref(line);
        if (read != 0) {
            result_run_forget(state->run);
        }
        if (read != 0 && !interrupted) {
            error_set(error, broken.code, "%s", broken.message);
            return read;
        }
    }
    return status;
}

static int send_job(struct exchange *exchange, const char *database, const result_pairs *settings,
                    const struct result_run *run, struct error *error)
{
    const struct plan_case *plan_case = exchange->plan_case;
    json_t *job =
        job_run(plan_case, database, settings,
                order_seed(plan_case->plan->seed, (size_t)run->round - 1, (size_t)run->case_index));
    int status = job != NULL ? worker_send(exchange->worker, job, error)
                             : error_set(error, ERROR_MEMORY, "out of memory");
    json_decref(job);
    return status;
}

/* The worker was started at `started_ns` and is ready. */
static void note_setup(struct run_state *state, uint64_t started_ns)
{
    uint64_t warmup_ns = state->run->warmup_ns != RESULT_ABSENT ? state->run->warmup_ns : 0;
    uint64_t spent_ns = state->copy_ns + (clock_now_ns() - started_ns);
    state->run->setup_ns = spent_ns > warmup_ns ? spent_ns - warmup_ns : 0;
}

static int with_worker(struct measurement *m, size_t index, const char *step, uint64_t after_ns,
                       struct run_state *state, struct error *error)
{
    const struct measured_case *measured = state->measured;
    const struct engine_choice *choice = &m->plan->engines->items[index];
    struct worker_identity identity;
    struct worker_process *worker;
    result_pairs settings = {NULL, 0};
    int status = settings_of_plan(m->plan, choice->manifest, &settings, error);
    uint64_t started_ns = clock_now_ns();
    if (status == 0) {
        status = worker_start(choice, &worker, &identity, &state->run->log, error);
    }
    if (status != 0) {
        settings_release(&settings);
        return status;
    }
    struct exchange exchange = {
        .plan_case = &measured->plan_case,
        .worker = worker,
        .engine = choice->name,
        .step = step,
        .progress = m->progress,
        .started_ns = clock_now_ns(),
        .expected_ns = measured->expected_ns,
        .after_ns = after_ns,
        .deadline_ns = UINT64_MAX,
    };
    state->pid = worker_pid(worker);
    status = send_job(&exchange, state->database ? state->database : NO_DATABASE, &settings,
                      state->run, error);
    if (status == 0) {
        status = await_ready(&exchange, state, error);
    }
    if (status == 0) {
        status = run_check_ready(&measured->plan_case, &settings, state->run, error);
    }
    if (status == 0) {
        note_setup(state, started_ns);
        if (state->database != NULL) {
            state->run->resident = usage_resident_share(state->database);
        }
        status = run_measured(&exchange, state, error);
    }
    if (status == 0) {
        status = worker_finish(worker, END_WAIT_NS, error);
    }
    settings_release(&settings);
    worker_end(worker, 0, status == 0 ? NULL : &state->run->log);
    worker_identity_release(&identity);
    return status;
}

/* ---- around it ------------------------------------------------------------------------- */

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

double measurement_throughput(const struct result_run *run)
{
    double operations = 0;
    uint64_t longest_ns = 0;
    for (size_t i = 0; i < run->scripts.count; i++) {
        const struct result_script *script = &run->scripts.items[i];
        operations += (double)script->ok * (double)script->operations_each;
    }
    for (size_t i = 0; i < run->connections.count; i++) {
        uint64_t window_ns = run->connections.items[i].window_ns;
        longest_ns = window_ns > longest_ns ? window_ns : longest_ns;
    }
    return longest_ns > 0 ? operations * 1e9 / (double)longest_ns : 0;
}

static void tell_done(struct measurement *m, const char *step, const struct result_run *run)
{
    char *text = result_text("%s: %.0f operations/s", step, measurement_throughput(run));
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

static int prepare_copy(struct measurement *m, const char *engine, struct run_state *state,
                        char **path, struct error *error)
{
    const struct measured_case *measured = state->measured;
    char *label = copy_label(m, measured, engine, state->run->round);
    uint64_t started_ns = clock_now_ns();
    int status = label != NULL ? measurement_copy(m, measured->template, label, path, error)
                               : error_set(error, ERROR_MEMORY, "out of memory");
    free(label);
    state->copy_ns = clock_now_ns() - started_ns;
    if (status == 0) {
        state->database = *path;
        if (!conditions_settle(&m->conditions, &state->run->dirty_bytes) && interrupt_requested()) {
            status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
        }
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
    if (status == 0) {
        measurement_fail_case(m, measured, index, failure->message);
    }
    return status;
}

static int run_engine(struct measurement *m, struct measured_case *measured, size_t index,
                      const struct run_place *place, const char *step, struct result_run *run,
                      struct error *error)
{
    const struct engine_choice *choice = &m->plan->engines->items[index];
    struct run_state state = {.m = m, .measured = measured, .run = run};
    struct error failure = ERROR_INIT;
    char *path = NULL;
    int status = 0;
    if (measured->template != NULL && !choice->manifest->no_database) {
        status = prepare_copy(m, choice->name, &state, &path, error);
    }
    if (status == 0) {
        status = with_worker(m, index, step, place->after_ns, &state, &failure);
        if (path != NULL) {
            run->final_bytes = size_of(path, "");
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
    if (state.out_of_memory && status == 0) {
        status = error_set(error, ERROR_MEMORY, "out of memory for the sizes of each second");
    }
    return status;
}

int measurement_trial(struct measurement *m, struct measured_case *measured, size_t index,
                      const char *step, struct result_run *run, struct error *error)
{
    const struct engine_choice *choice = &m->plan->engines->items[index];
    struct run_state state = {.m = m, .measured = measured, .run = run};
    struct error failure = ERROR_INIT;
    char *path = NULL;
    int status = 0;
    if (measured->template != NULL && !choice->manifest->no_database) {
        status = prepare_copy(m, choice->name, &state, &path, error);
    }
    if (status == 0) {
        with_worker(m, index, step, PROGRESS_UNKNOWN, &state, &failure);
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
    struct result_run *run = result_list_add(&engine->runs);
    char *prefix = measurement_prefix(m, measured);
    char *step = prefix != NULL ? result_text("%s%s: round %llu of %u", prefix, engine->name,
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
        status = run_engine(m, measured, index, place, step, run, error);
    }
    measured->spent_ns += clock_now_ns() - started_ns;
    measured->spent_runs++;
    free(prefix);
    free(step);
    return status;
}
