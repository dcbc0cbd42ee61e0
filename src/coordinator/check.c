/* The check after a run: a fresh process of the same engine counts the rows of the copy and asks
 * for its integrity, when the clock no longer matters. */
#include "coordinator/check_ask.h"

#include "coordinator/exchange.h"
#include "coordinator/job.h"
#include "coordinator/settings.h"

#include "base/file.h"
#include "base/json.h"
#include "core/clock.h"

#include <stdlib.h>
#include <string.h>

/* A count, or the integrity of a whole file, is one step during which nothing is reported. It may
 * take as long as reading the file takes, slowly. */
#define SLOWEST_BYTES_PER_S (UINT64_C(4) << 20)

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the check");
}

static int read_rows(const json_t *result, row_counts *out, struct error *error)
{
    json_t *rows;
    const char *table;
    json_t *value;
    int status = json_get_object(result, "rows", "check", &rows, error);
    if (status != 0) {
        return status;
    }
    json_object_foreach(rows, table, value)
    {
        struct row_count *count = result_list_add(out);
        if (count == NULL || (count->table = strdup(table)) == NULL) {
            return no_memory(error);
        }
        status = json_get_u64(rows, table, "check: rows", &count->rows, error);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int read_integrity(const json_t *result, result_strings *out, struct error *error)
{
    json_t *lines;
    int status = json_get_array(result, "integrity", "check", &lines, error);
    for (size_t i = 0; status == 0 && i < json_array_size(lines); i++) {
        const char *line = json_string_value(json_array_get(lines, i));
        char **slot = result_list_add(out);
        if (slot == NULL || (*slot = strdup(line != NULL ? line : "?")) == NULL) {
            status = no_memory(error);
        }
    }
    return status;
}

/* The copy may have grown to many times the template. */
static uint64_t bytes_of(const char *path, uint64_t otherwise)
{
    int64_t size = file_size(path);
    return size > 0 && (uint64_t)size > otherwise ? (uint64_t)size : otherwise;
}

int check_ask(struct measurement *m, const struct check_question *question, bool *able,
              row_counts *rows, struct result_check *check, struct error *error)
{
    struct exchange exchange =
        exchange_about(&question->measured->plan_case, question->step, m->progress);
    json_t *line = NULL;
    exchange.headway_ns += bytes_of(question->path, question->measured->template->file.bytes) /
                           SLOWEST_BYTES_PER_S * NS_PER_S;
    int status = settings_of_plan(m->plan, question->manifest, &exchange.settings, error);
    if (status == 0) {
        status = exchange_begin(&exchange, question->choice, 1, NULL, error);
    }
    *able = status == 0 && exchange.workers[0].identity.can_check;
    if (*able) {
        json_t *job = job_check(&question->measured->plan_case, question->path, &exchange.settings,
                                question->kind);
        status = exchange_send(&exchange, 0, job, error);
        if (status == 0) {
            status = exchange_await(&exchange, "result", &line, error);
        }
    }
    if (line != NULL) {
        status = read_rows(line, rows, error);
        status = status == 0 ? read_integrity(line, &check->integrity, error) : status;
        status = status == 0 ? json_get_u64(line, "elapsed_ns", "check", &check->elapsed_ns, error)
                             : status;
    }
    json_decref(line);
    exchange_end(&exchange, status == 0, NULL);
    return status;
}

/* ---- the template ----------------------------------------------------------------- */

static int count_copy(struct measurement *m, const struct measured_case *measured,
                      const struct engine_choice *choice, const char *path, struct error *error)
{
    struct result_check check = {.kind = NULL};
    bool able = false;
    const struct check_question question = {.measured = measured,
                                            .choice = choice,
                                            .manifest = choice->manifest,
                                            .step = "counting the rows of the template",
                                            .path = path,
                                            .kind = "counts"};
    int status = check_ask(m, &question, &able, &measured->template->rows, &check, error);
    if (status != 0 && status != ERROR_MEMORY && status != ERROR_INTERRUPTED) {
        error_prefix(error, "the rows of the template %s could not be counted",
                     measured->template->file.path);
    }
    return status;
}

int measurement_count_template(struct measurement *m, const struct measured_case *measured,
                               struct error *error)
{
    if (measured->template->rows.count > 0) {
        return 0; /* another case has it too */
    }
    struct engine_choice choice;
    char *path = NULL;
    memset(&choice, 0, sizeof choice);
    int status = registry_template_engine(m->plan->registry, &choice, error);
    if (status == 0) {
        status = measurement_copy(m, measured->template, "counts", &path, error);
    }
    if (status == 0) {
        status = count_copy(m, measured, &choice, path, error);
    }
    if (path != NULL) {
        data_remove_database(path);
        free(path);
    }
    engine_choice_release(&choice);
    return status;
}

/* ---- after a run -------------------------------------------------------------------- */

int measurement_check(struct measurement *m, const struct measured_case *measured, size_t index,
                      const char *step, const char *path, struct result_run *run,
                      struct error *error)
{
    const struct engine_choice *choice = &m->plan->engines->items[index];
    const char *kind = check_kind(m->plan, run->round);
    row_counts found = {NULL, 0};
    struct error failure = ERROR_INIT;
    bool able = false;
    const struct check_question question = {.measured = measured,
                                            .choice = choice,
                                            .manifest = choice->manifest,
                                            .step = step,
                                            .path = path,
                                            .kind = kind};
    int status = check_ask(m, &question, &able, &found, &run->check, &failure);
    if (status == 0 && !able) {
        status = result_warn(m->result, choice->name,
                             "its worker cannot check a database: that its writes are there after "
                             "a run is not known");
        row_counts_release(&found);
        return status == 0 ? 0 : no_memory(error);
    }
    if (status == ERROR_TIMEOUT) { /* slow is not damaged */
        row_counts_release(&found);
        status = result_warn(m->result, choice->name,
                             "whether its writes are there after a run is not known: %s",
                             failure.message);
        return status == 0 ? 0 : no_memory(error);
    }
    if (status == ERROR_MEMORY || status == ERROR_INTERRUPTED) {
        row_counts_release(&found);
        return error_set(error, failure.code, "%s", failure.message);
    }
    run->check.kind = strdup(kind);
    if (run->check.kind == NULL) {
        status = ERROR_MEMORY;
    } else if (status != 0) {
        run->check.problem = result_text("the copy could not be checked: %s", failure.message);
        status = run->check.problem != NULL ? 0 : ERROR_MEMORY;
    } else {
        status =
            check_count(&measured->plan_case, &measured->template->rows, &found, run, &run->check);
        status = status == 0 ? check_judge(&run->check) : status;
    }
    row_counts_release(&found);
    return status == 0 ? check_second_opinion(m, &question, run, error) : no_memory(error);
}
