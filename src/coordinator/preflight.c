/* Everything that can be wrong with an engine or a script is found here, before the clock
 * matters. */
#include "coordinator/exchange.h"
#include "coordinator/interrupt.h"
#include "coordinator/job.h"
#include "coordinator/library_build.h"
#include "coordinator/measurement.h"
#include "coordinator/run_result.h"
#include "coordinator/settings.h"

#include <stdlib.h>
#include <string.h>

static void move_text(char **into, char **from)
{
    free(*into);
    *into = *from;
    *from = NULL;
}

/* A file that says nothing of the build does not make the engine unfit: a warning tells. */
static int note_build(struct measurement *m, size_t index, struct error *error)
{
    struct result_engine *engine = &m->result->engines.items[index];
    struct error failure = ERROR_INIT;
    int status =
        library_build_read(&m->plan->engines->items[index], &engine->library_build, &failure);
    if (status == ERROR_MEMORY) {
        return error_set(error, ERROR_MEMORY, "%s", failure.message);
    }
    return status == 0 ? 0
                       : result_warn(m->result, engine->name,
                                     "how its library was built is not known: %s", failure.message);
}

static int note_identity(struct measurement *m, size_t index, struct worker_identity *identity,
                         struct error *error)
{
    struct result_engine *engine = &m->result->engines.items[index];
    const struct engine_choice *choice = &m->plan->engines->items[index];
    move_text(&engine->driver, &identity->driver);
    move_text(&engine->version, &identity->version);
    move_text(&engine->source_id, &identity->source_id);
    move_text(&engine->sync_call, &identity->sync_call);
    move_text(&engine->binding_version, &identity->binding_version);
    move_text(&engine->runtime, &identity->runtime);
    engine->compile_options.items = identity->compile_options.items;
    engine->compile_options.count = identity->compile_options.count;
    identity->compile_options.items = NULL;
    identity->compile_options.count = 0;
    if (choice->library != NULL || identity->library != NULL) {
        struct result_library *library = result_list_add(&engine->libraries);
        if (library == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        library->asked = choice->library != NULL ? strdup(choice->library) : NULL;
        move_text(&library->real, &identity->library);
    }
    int status = note_build(m, index, error);
    for (size_t i = 0; i < identity->warnings.count && status == 0; i++) {
        status = result_warn(m->result, engine->name, "%s", identity->warnings.items[i]);
    }
    for (size_t i = 0; i < choice->manifest->notes.count && status == 0; i++) {
        status = result_warn(m->result, engine->name, "%s", choice->manifest->notes.items[i]);
    }
    if (status == 0 && identity->build != NULL && strcmp(identity->build, "release") != 0) {
        status =
            result_warn(m->result, engine->name,
                        "its worker is a %s build: these numbers mean nothing", identity->build);
    }
    for (size_t i = 0; i < choice->manifest->faults.count && status == 0; i++) {
        const struct manifest_fault *fault = &choice->manifest->faults.items[i];
        if (manifest_fault_applies(fault, engine->version) ||
            manifest_fault_applies(fault, engine->binding_version)) {
            char **text = result_list_add(&engine->known_faults);
            if (text == NULL || (*text = strdup(fault->text)) == NULL) {
                status = ERROR_MEMORY;
            }
        }
    }
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static bool asks_rate(const struct plan *plan)
{
    for (size_t i = 0; i < plan->case_count; i++) {
        if (job_is_paced(&plan->cases[i]) || plan->cases[i].rate_share > 0) {
            return true;
        }
    }
    return false;
}

int measurement_identify(struct measurement *m, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->plan->engines->count && status == 0; i++) {
        struct worker_identity identity;
        struct error failure = ERROR_INIT;
        if (worker_identify(&m->plan->engines->items[i], &identity, &failure) == 0) {
            status = note_identity(m, i, &identity, error);
            if (status == 0 && !identity.can_rate && asks_rate(m->plan)) {
                measurement_fail(m, i,
                                 "its worker has no open loop (no capability rate), which a rate "
                                 "asks for");
            }
            worker_identity_release(&identity);
        } else if (failure.code == ERROR_INTERRUPTED || failure.code == ERROR_MEMORY) {
            status = error_set(error, failure.code, "%s", failure.message);
        } else {
            measurement_fail(m, i, failure.message);
        }
    }
    return status;
}

/* What all attempts of an engine in a case have in common, and what came of them. */
struct trying {
    struct measurement *m;
    const struct measured_case *measured;
    size_t engine;
    const char *path; /* NULL: it stores nothing */
    const char *step;
    bool script_at_fault; /* out */
    bool alone_only;      /* out: a second process cannot open what a first one has open */
};

/* Starts a worker with a case, or a part of one, until it is ready. The exchange is to be ended in
 * any case. */
static int open_worker(struct trying *trying, const struct plan_case *plan_case,
                       struct exchange *exchange, struct error *error)
{
    struct measurement *m = trying->m;
    const struct engine_choice *choice = &m->plan->engines->items[trying->engine];
    json_t *line = NULL;
    *exchange = exchange_about(plan_case, trying->step, m->progress);
    int status = settings_of_plan(m->plan, choice->manifest, &exchange->settings, error);
    if (status == 0) {
        status = exchange_begin(exchange, choice, 1, NULL, error);
    }
    if (status == 0) {
        json_t *job = job_preflight(plan_case, trying->path != NULL ? trying->path : NO_DATABASE,
                                    &exchange->settings);
        status = exchange_send(exchange, 0, job, error);
    }
    if (status == 0) {
        status = exchange_await(exchange, "ready", &line, error);
    }
    trying->script_at_fault = trying->script_at_fault || exchange->script_at_fault;
    json_decref(line);
    return status;
}

static void end_worker(struct exchange *exchange, int status, struct error *error)
{
    if (status == 0) {
        exchange_end(exchange, true, NULL);
    } else {
        exchange_end_failed(exchange, error);
    }
}

static int try_alone(struct trying *trying, const struct plan_case *plan_case, struct error *error)
{
    struct exchange exchange;
    int status = open_worker(trying, plan_case, &exchange, error);
    end_worker(&exchange, status, error);
    return status;
}

/* Beside a first worker, which is ready and has the database open. What fails there but not by
 * itself fails because of the first. */
static int try_beside(struct trying *trying, struct exchange *first,
                      const struct plan_case *plan_case, struct error *error)
{
    struct exchange exchange;
    struct error alone = ERROR_INIT;
    int status = open_worker(trying, plan_case, &exchange, error);
    bool refused = status != 0 && exchange.error_said && !exchange.script_at_fault;
    end_worker(&exchange, status, error);
    if (refused) {
        exchange_end(first, true, NULL);
        trying->alone_only = try_alone(trying, plan_case, &alone) == 0;
    }
    return status;
}

/* The first connection of every role, and a second one if there is but one role. */
static bool is_tried(const struct plan_case *whole, uint32_t connection)
{
    uint32_t first = 0;
    for (size_t i = 0; i < whole->scenario->role_count; i++) {
        const struct suite_role *role = &whole->scenario->roles[i];
        if (first == connection) {
            return true;
        }
        first += role->connections != 0 ? role->connections : whole->threads;
    }
    return connection == 1 && whole->scenario->role_count == 1;
}

static int try_processes(struct trying *trying, struct error *error)
{
    const struct plan_case *whole = &trying->measured->plan_case;
    struct exchange first;
    struct job_part part;
    job_part_init(&part, whole, 0);
    int status = open_worker(trying, &part.plan_case, &first, error);
    if (status != 0) {
        end_worker(&first, status, error);
        return status;
    }
    for (uint32_t i = 1; i < job_part_count(whole) && status == 0; i++) {
        struct job_part other;
        if (is_tried(whole, i)) {
            job_part_init(&other, whole, i);
            status = try_beside(trying, &first, &other.plan_case, error);
        }
    }
    exchange_end(&first, true, NULL);
    return status;
}

/* 0: the engine takes everything. */
static int try_engine(struct trying *trying, struct error *error)
{
    const struct plan_case *whole = &trying->measured->plan_case;
    return whole->processes ? try_processes(trying, error) : try_alone(trying, whole, error);
}

int measurement_preflight(struct measurement *m, struct measured_case *measured,
                          struct error *error)
{
    char *path = NULL;
    char *prefix = measurement_prefix(m, measured);
    char *step = prefix != NULL ? result_text("%schecking scripts and settings", prefix) : NULL;
    struct error script_error = ERROR_INIT;
    size_t with_database = 0;
    size_t refused = 0;
    int status = step != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    free(prefix);
    if (status == 0 && measured->template != NULL) {
        status = measurement_copy(m, measured->template, "preflight", &path, error);
    }
    for (size_t i = 0; i < m->plan->engines->count && status == 0; i++) {
        bool no_database = m->plan->engines->items[i].manifest->no_database;
        struct trying trying = {.m = m,
                                .measured = measured,
                                .engine = i,
                                .path = no_database ? NULL : path,
                                .step = step};
        struct error failure = ERROR_INIT;
        if (!m->alive[i] || !measured->alive[i]) {
            continue;
        }
        with_database += no_database ? 0 : 1;
        if (try_engine(&trying, &failure) == 0) {
            continue;
        }
        if (failure.code == ERROR_INTERRUPTED || failure.code == ERROR_MEMORY) {
            status = error_set(error, failure.code, "%s", failure.message);
        } else if (trying.alone_only) {
            status = measurement_unable(m, measured, i, failure.message, error);
        } else {
            if (trying.script_at_fault && !no_database) {
                refused++;
                error_set(&script_error, ERROR_INVALID, "%s", failure.message);
            }
            measurement_fail_case(m, measured, i, failure.message);
        }
    }
    free(step);
    if (path != NULL) {
        data_remove_database(path);
        free(path);
    }
    if (status == 0 && refused > 0 && refused == with_database) {
        status = error_set(error, ERROR_INVALID, "%s", script_error.message);
    }
    return status;
}
