/* Settings read back on every connection, and the journal that a write leaves on disk. */
#include "base/file.h"
#include "coordinator/run_check.h"
#include "coordinator/run_result.h"
#include "coordinator/settings.h"
#include "coordinator/verification.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Executions of write scripts by each connection before its files are looked at. */
enum { WRITES = 50 };

static json_t *settings_job(const struct verify_question *question, const char *database,
                            const result_pairs *settings)
{
    return job_settings(question->plan_case, database, settings, WRITES);
}

static const char *setting_of(const result_pairs *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strcasecmp(settings->items[i].name, name) == 0) {
            return settings->items[i].value;
        }
    }
    return NULL;
}

static bool case_writes(const struct plan_case *plan_case)
{
    for (size_t i = 0; i < plan_case->scenario->role_count; i++) {
        const struct suite_role *role = &plan_case->scenario->roles[i];
        for (size_t k = 0; k < role->share_count; k++) {
            if (plan_case->suite->scripts[role->shares[k].script].kind == SUITE_WRITE) {
                return true;
            }
        }
    }
    return false;
}

/* What is due beside a database by the settings asked; taken from outside of the engine. */
static int fill_due(const struct plan_case *plan_case, const struct manifest *manifest,
                    const result_pairs *settings, struct result_verify *verify, struct error *error)
{
    const char *mode = setting_of(settings, "journal_mode");
    const char *locking = setting_of(settings, "locking_mode");
    bool wal = mode != NULL && strcasecmp(mode, "wal") == 0;
    bool own = setting_of(&manifest->required, "journal_mode") != NULL;
    verify->journal_due = (wal || own) && case_writes(plan_case);
    /* With one owner of the file its index of the log lies in memory. */
    verify->shm_due =
        wal && !manifest->no_shm && (locking == NULL || strcasecmp(locking, "exclusive") != 0);
    verify->journal_mode = mode != NULL ? strdup(mode) : NULL;
    return mode == NULL || verify->journal_mode != NULL
               ? 0
               : error_set(error, ERROR_MEMORY, "out of memory");
}

struct seen {
    const char *journal; /* suffix; NULL: there was none */
    uint64_t journal_bytes, shm_bytes;
};

static uint64_t size_beside(const char *database, const char *suffix)
{
    char *path = result_text("%s%s", database, suffix);
    int64_t size = path != NULL ? file_size(path) : -1;
    free(path);
    return size < 0 ? RESULT_ABSENT : (uint64_t)size;
}

static void look(void *context, const char *database, const result_pairs *settings)
{
    static const char *const suffixes[] = {"-wal", "-log"};
    struct seen *seen = context;
    (void)settings;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        uint64_t size = size_beside(database, suffixes[i]);
        if (size != RESULT_ABSENT && (seen->journal == NULL || size > seen->journal_bytes)) {
            seen->journal = suffixes[i];
            seen->journal_bytes = size;
        }
    }
    seen->shm_bytes = size_beside(database, "-shm");
}

/* Writes that changed no row leave no trace in a journal. A worker that does not tell is taken to
 * have written. */
static bool wrote(const json_t *ready)
{
    const json_t *list = json_object_get(ready, "acknowledged");
    size_t index;
    json_t *item;
    if (!json_is_array(list)) {
        return true;
    }
    json_array_foreach(list, index, item)
    {
        if (json_integer_value(json_object_get(item, "rows_changed")) > 0) {
            return true;
        }
    }
    return false;
}

/* The settings of a `ready` line become the engine's. */
static int read_settings(const struct plan_case *plan_case, const result_pairs *asked,
                         const json_t *ready, struct result_verify *verify, struct error *failure)
{
    struct result *scratch = result_new();
    struct result_engine *engine = scratch != NULL ? result_list_add(&scratch->engines) : NULL;
    struct result_run *run = NULL;
    if (engine != NULL) {
        result_engine_init(engine);
        run = result_list_add(&engine->runs);
    }
    int status = ERROR_MEMORY;
    if (run == NULL) {
        goto out;
    }
    result_run_init(run);
    status = run_read_ready(plan_case, ready, run, failure);
    if (status == 0) {
        status = run_check_ready(plan_case, asked, run, failure);
    }
    verify->journal_due = verify->journal_due && wrote(ready);
    for (size_t i = 0; status == 0 && i < run->connections.count; i++) {
        struct result_connection *from = &run->connections.items[i];
        struct result_verify_connection *to = result_list_add(&verify->connections);
        if (to == NULL) {
            status = ERROR_MEMORY;
            break;
        }
        to->connection = from->connection;
        to->role = from->role;
        to->settings = from->settings;
        from->role = NULL;
        from->settings = (result_settings){NULL, 0};
    }
out:
    result_free(scratch);
    return status == 0 ? 0 : error_set(failure, status, "out of memory for settings");
}

static int check_engine(struct measurement *m, size_t index, const struct verify_database *database,
                        struct error *error)
{
    struct result_engine *engine = &m->result->engines.items[index];
    const struct manifest *manifest = m->plan->engines->items[index].manifest;
    struct seen seen = {.journal_bytes = RESULT_ABSENT, .shm_bytes = RESULT_ABSENT};
    struct error failure = ERROR_INIT;
    json_t *line = NULL;
    result_pairs asked = {NULL, 0};
    char *step = result_text("%s: checking settings", engine->name);
    struct verify_question question = {
        .plan_case = &database->whole,
        .template = database->template,
        .step = step,
        .kind = "ready",
        .job = settings_job,
        .look = look,
        .look_context = &seen,
    };
    int status = step != NULL ? settings_of_plan(m->plan, manifest, &asked, error)
                              : error_set(error, ERROR_MEMORY, "out of memory");
    if (status == 0 && !manifest->no_database) {
        status = fill_due(&database->whole, manifest, &asked, &engine->verify, error);
    }
    if (status == 0) {
        status = verify_ask(m, index, &question, &line, &engine->verify.log, &failure, error);
    }
    if (status == 0 && line != NULL) {
        read_settings(&database->whole, &asked, line, &engine->verify, &failure);
    }
    json_decref(line);
    settings_release(&asked);
    free(step);
    if (status != 0) {
        return status;
    }
    if (failure.code != ERROR_NONE) {
        measurement_fail(m, index, failure.message);
        return 0;
    }
    engine->verify.journal_bytes = seen.journal_bytes;
    engine->verify.shm_bytes = seen.shm_bytes;
    engine->verify.journal = seen.journal != NULL ? strdup(seen.journal) : NULL;
    return seen.journal == NULL || engine->verify.journal != NULL
               ? 0
               : error_set(error, ERROR_MEMORY, "out of memory");
}

int verify_settings(struct measurement *m, const struct verify_database *database,
                    struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->result->engines.count && status == 0; i++) {
        if (m->alive[i]) {
            status = check_engine(m, i, database, error);
        }
    }
    return status;
}
