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

static void note_failure(struct measurement *m, const char *prefix, const char *engine,
                         const char *message)
{
    char *text = result_text("%s%s failed: %s", prefix, engine, message);
    if (text != NULL) {
        m->progress->note(m->progress->context, text);
    }
    free(text);
}

void measurement_fail(struct measurement *m, size_t index, const char *message)
{
    struct result_engine *engine = &m->result->engines.items[index];
    m->alive[index] = false;
    for (size_t i = 0; i < engine->summaries.count; i++) {
        struct result_summary *summary = &engine->summaries.items[i];
        free(summary->status);
        summary->status = strdup("failed");
        summary->error = summary->error != NULL ? summary->error : strdup(message);
    }
    free(engine->status);
    engine->status = strdup("failed");
    if (engine->error == NULL) {
        engine->error = strdup(message);
    }
    note_failure(m, "", engine->name, message);
}

void measurement_fail_case(struct measurement *m, struct measured_case *measured, size_t index,
                           const char *message)
{
    struct result_engine *engine = &m->result->engines.items[index];
    struct result_summary *summary = &engine->summaries.items[measured->index];
    char *prefix = measurement_prefix(m, measured);
    bool left = false;
    measured->alive[index] = false;
    free(summary->status);
    summary->status = strdup("failed");
    if (summary->error == NULL) {
        summary->error = strdup(message);
    }
    if (engine->error == NULL) {
        engine->error = result_text("%s%s", prefix != NULL ? prefix : "", message);
    }
    for (size_t i = 0; i < m->plan->case_count; i++) {
        left = left || m->cases[i].alive[index];
    }
    if (!left) {
        m->alive[index] = false;
        free(engine->status);
        engine->status = strdup("failed");
    }
    note_failure(m, prefix != NULL ? prefix : "", engine->name, message);
    free(prefix);
}

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

/* 0: the engine takes everything. */
static int try_engine(struct measurement *m, const struct measured_case *measured, size_t index,
                      const char *path, const char *step, bool *script_at_fault,
                      struct error *error)
{
    const struct engine_choice *choice = &m->plan->engines->items[index];
    struct exchange exchange = exchange_about(&measured->plan_case, step, m->progress);
    json_t *line = NULL;
    int status = settings_of_plan(m->plan, choice->manifest, &exchange.settings, error);
    if (status == 0) {
        status = exchange_begin(&exchange, choice, 1, NULL, error);
    }
    if (status == 0) {
        json_t *job = job_preflight(&measured->plan_case, path != NULL ? path : NO_DATABASE,
                                    &exchange.settings);
        status = exchange_send(&exchange, 0, job, error);
    }
    if (status == 0) {
        status = exchange_await(&exchange, "ready", &line, error);
    }
    *script_at_fault = exchange.script_at_fault;
    json_decref(line);
    if (status == 0) {
        exchange_end(&exchange, true, NULL);
    } else {
        exchange_end_failed(&exchange, error);
    }
    return status;
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
        bool script_at_fault = false;
        struct error failure = ERROR_INIT;
        if (!m->alive[i] || !measured->alive[i]) {
            continue;
        }
        with_database += no_database ? 0 : 1;
        if (try_engine(m, measured, i, no_database ? NULL : path, step, &script_at_fault,
                       &failure) == 0) {
            continue;
        }
        if (failure.code == ERROR_INTERRUPTED || failure.code == ERROR_MEMORY) {
            status = error_set(error, failure.code, "%s", failure.message);
            break;
        }
        if (script_at_fault && !no_database) {
            refused++;
            error_set(&script_error, ERROR_INVALID, "%s", failure.message);
        }
        measurement_fail_case(m, measured, i, failure.message);
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
