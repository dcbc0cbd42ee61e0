/* The answers of all engines on one database, compared with those of one of them. */
#include "coordinator/answers.h"
#include "coordinator/verification.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a statement that are asked for to find the one that differs. */
enum { ROWS_LOOKED_AT = 1000 };

struct asked {
    struct answers answers;
    bool there; /* false: it is not asked, or an entry in the result says why it failed */
};

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for answers");
}

static json_t *answers_job(const struct verify_question *question, const char *database,
                           const result_pairs *settings)
{
    return job_verify(question->plan_case, database, settings, question->operations,
                      question->detail);
}

static const char takes_none[] =
    "its worker takes no verify jobs, so its answers cannot be checked";

static bool takes_verify(const struct worker_identity *identity)
{
    return identity->can_verify;
}

static struct verify_question question_of(const struct verify_database *database,
                                          uint32_t operations, const char *step)
{
    return (struct verify_question){
        .plan_case = &database->plan_case,
        .template = database->template,
        .step = step,
        .kind = "result",
        .job = answers_job,
        .operations = operations,
        .able = takes_verify,
        .unable_reason = takes_none,
    };
}

static bool has_answers(const struct measurement *m, const struct verify_database *database,
                        size_t engine)
{
    bool needed = database->cases.count == 0;
    for (size_t i = 0; i < database->cases.count; i++) {
        needed = needed || m->cases[database->cases.items[i]].alive[engine];
    }
    return needed && m->alive[engine] && !m->plan->engines->items[engine].manifest->no_database;
}

/* ---- the entry in the result ---------------------------------------------------------- */

static struct result_verify_database *add_entry(struct measurement *m, size_t engine,
                                                const struct verify_database *database,
                                                uint32_t operations, struct error *error)
{
    struct result_verify *verify = &m->result->engines.items[engine].verify;
    struct result_verify_database *entry = result_list_add(&verify->databases);
    if (entry == NULL) {
        no_memory(error);
        return NULL;
    }
    entry->operations = operations;
    entry->suite = strdup(database->suite.name);
    entry->scale = strdup(database->plan_case.scale->name);
    bool whole = entry->suite != NULL && entry->scale != NULL &&
                 measurement_variables(&database->plan_case, &entry->variables, error) == 0;
    for (size_t i = 0; whole && i < database->scenarios.count; i++) {
        char **name = result_list_add(&entry->scenarios);
        whole = name != NULL && (*name = strdup(database->scenarios.items[i])) != NULL;
    }
    if (!whole) {
        no_memory(error);
        return NULL;
    }
    return entry;
}

/* The engine could not answer; `unable`: its worker cannot, which is no fault of the engine. */
static int note_failure(struct measurement *m, size_t engine,
                        const struct verify_database *database, uint32_t operations, bool unable,
                        const char *message, struct error *error)
{
    struct result_verify_database *entry = add_entry(m, engine, database, operations, error);
    if (entry == NULL) {
        return ERROR_MEMORY;
    }
    entry->status = strdup("failed");
    entry->error = strdup(message);
    if (entry->status == NULL || entry->error == NULL) {
        return no_memory(error);
    }
    if (!unable && database->cases.count == 0) {
        measurement_fail(m, engine, message);
        return 0;
    }
    for (size_t i = 0; i < database->cases.count && !unable; i++) {
        measurement_fail_case(m, &m->cases[database->cases.items[i]], engine, message);
    }
    if (!unable) {
        return 0;
    }
    return result_warn(m->result, m->result->engines.items[engine].name, "%s", message) == 0
               ? 0
               : no_memory(error);
}

/* ---- asking ------------------------------------------------------------------------------ */

static int ask(struct measurement *m, size_t engine, const struct verify_database *database,
               uint32_t operations, struct asked *asked, bool *script_at_fault, struct error *error)
{
    struct result_engine *out = &m->result->engines.items[engine];
    struct error failure = ERROR_INIT;
    json_t *line = NULL;
    char *step = result_text("%s: checking answers (%s)", out->name, database->suite.name);
    struct verify_question question = question_of(database, operations, step);
    int status = step != NULL
                     ? verify_ask(m, engine, &question, &line, &out->verify.log, &failure, error)
                     : no_memory(error);
    if (status == 0 && line != NULL) {
        status = answers_read(line, &database->suite, operations, &asked->answers, &failure);
        status = status == ERROR_MEMORY ? no_memory(error) : 0;
    }
    json_decref(line);
    free(step);
    if (status == 0 && failure.code != ERROR_NONE) {
        *script_at_fault = question.script_at_fault;
        status =
            note_failure(m, engine, database, operations, question.unable, failure.message, error);
        if (status == 0 && question.script_at_fault) {
            error_set(error, ERROR_INVALID, "%s", failure.message);
        }
    }
    asked->there = status == 0 && failure.code == ERROR_NONE;
    return status;
}

/* The engine that builds templates, where it takes part; else the first that answered. */
static size_t choose_reference(const struct measurement *m, const struct asked *all)
{
    const engine_choices *engines = m->plan->engines;
    struct engine_choice builder = {.name = NULL};
    size_t found = engines->count;
    if (registry_template_engine(m->plan->registry, &builder, NULL) != 0) {
        builder.manifest = NULL;
    }
    for (size_t i = engines->count; i > 0; i--) {
        const struct engine_choice *choice = &engines->items[i - 1];
        if (all[i - 1].there) {
            found = i - 1;
        }
        if (all[i - 1].there && choice->manifest == builder.manifest && choice->library != NULL &&
            builder.library != NULL && strcmp(choice->library, builder.library) == 0) {
            break;
        }
    }
    engine_choice_release(&builder);
    return found;
}

/* ---- explaining ----------------------------------------------------------------------------- */

static int ask_detail(struct measurement *m, size_t engine, const struct verify_database *database,
                      uint32_t operations, const struct job_detail *detail, json_t **line,
                      struct error *failure, struct error *error)
{
    struct result_engine *out = &m->result->engines.items[engine];
    char *step = result_text("%s: asking again for operation %" PRIu64 " of %s", out->name,
                             detail->operation, database->suite.scripts[detail->script].name);
    struct verify_question question = question_of(database, operations, step);
    question.detail = detail;
    int status = step != NULL
                     ? verify_ask(m, engine, &question, line, &out->verify.log, failure, error)
                     : no_memory(error);
    free(step);
    return status;
}

/* Asks both for the rows of the first operation that differs. That this fails is only noted. */
static int explain(struct measurement *m, size_t engine, size_t reference, size_t script,
                   const struct verify_database *database, uint32_t operations,
                   struct result_difference *difference, struct error *error)
{
    const struct job_detail detail = {
        .script = script, .operation = difference->operation, .rows = ROWS_LOOKED_AT};
    struct error failure = ERROR_INIT;
    json_t *lines[2] = {NULL, NULL};
    int status = ask_detail(m, engine, database, operations, &detail, &lines[0], &failure, error);
    if (status == 0) {
        status =
            ask_detail(m, reference, database, operations, &detail, &lines[1], &failure, error);
    }
    if (status == 0 && lines[0] != NULL && lines[1] != NULL) {
        status = answers_explain(database->suite.scripts[script].compare, lines[0], lines[1],
                                 difference, &failure) == ERROR_MEMORY
                     ? no_memory(error)
                     : 0;
    }
    if (status == 0 && failure.code != ERROR_NONE && difference->note == NULL) {
        difference->note = result_text("its rows could not be had: %s", failure.message);
    }
    json_decref(lines[0]);
    json_decref(lines[1]);
    return status;
}

static int compare(struct measurement *m, size_t engine, size_t reference, bool alone,
                   const struct verify_database *database, const struct asked *all,
                   uint32_t operations, struct error *error)
{
    const engine_choices *engines = m->plan->engines;
    bool itself = engine == reference;
    bool strict = engines->items[engine].manifest->driver != NULL &&
                  engines->items[reference].manifest->driver != NULL;
    struct result_verify_database *entry = add_entry(m, engine, database, operations, error);
    if (entry == NULL) {
        return ERROR_MEMORY;
    }
    int status = answers_compare(&database->suite, &all[engine].answers,
                                 itself ? NULL : &all[reference].answers,
                                 m->result->engines.items[reference].name, strict, entry, error);
    if (status == 0 && itself && !alone) {
        free(entry->status);
        entry->status = strdup("reference");
        status = entry->status != NULL ? 0 : no_memory(error);
    }
    for (size_t i = 0; i < entry->scripts.count && status == 0; i++) {
        if (entry->scripts.items[i].differences.count > 0) {
            status = explain(m, engine, reference, i, database, operations,
                             &entry->scripts.items[i].differences.items[0], error);
        }
    }
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static int compare_all(struct measurement *m, const struct verify_database *database,
                       const struct asked *all, uint32_t operations, struct error *error)
{
    size_t reference = choose_reference(m, all);
    size_t answered = 0;
    int status = 0;
    for (size_t i = 0; i < m->plan->engines->count; i++) {
        answered += all[i].there ? 1 : 0;
    }
    for (size_t i = 0; i < m->plan->engines->count && status == 0; i++) {
        if (all[i].there) {
            status = compare(m, i, reference, answered == 1, database, all, operations, error);
        }
    }
    return status;
}

int verify_answers(struct measurement *m, const struct verify_database *database,
                   uint32_t operations, struct error *error)
{
    size_t count = m->plan->engines->count;
    struct asked *all = calloc(count, sizeof *all);
    struct error script_error = ERROR_INIT;
    size_t asked = 0;
    size_t refused = 0;
    int status = all != NULL ? 0 : no_memory(error);
    for (size_t i = 0; i < count && status == 0; i++) {
        bool script_at_fault = false;
        if (!has_answers(m, database, i)) {
            continue;
        }
        asked++;
        struct error own = ERROR_INIT;
        status = ask(m, i, database, operations, &all[i], &script_at_fault, &own);
        if (status != 0) {
            error_set(error, own.code, "%s", own.message);
        } else if (script_at_fault) {
            refused++;
            error_set(&script_error, ERROR_INVALID, "%s", own.message);
        }
    }
    if (status == 0 && refused > 0 && refused == asked) {
        status = error_set(error, ERROR_INVALID, "%s", script_error.message);
    }
    if (status == 0) {
        status = compare_all(m, database, all, operations, error);
    }
    for (size_t i = 0; all != NULL && i < count; i++) {
        answers_release(&all[i].answers);
    }
    free(all);
    return status;
}
