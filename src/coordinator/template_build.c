/* The template, built by the load script through an engine. */
#include "coordinator/exchange.h"
#include "coordinator/job.h"
#include "coordinator/measurement.h"
#include "coordinator/run_result.h"
#include "coordinator/settings.h"

#include <stdlib.h>
#include <string.h>

/*
 * Settings of the load: nothing of a half-built template is ever used, so no journal and no sync;
 * the finished file is synced before it gets its name.
 */
static const char *const load_settings[][2] = {
    {"journal_mode", "off"},
    {"synchronous", "off"},
    {"cache_size", "-65536"},
};

static int add_pair(result_pairs *pairs, const char *name, const char *value, struct error *error)
{
    struct result_pair *pair = result_list_add(pairs);
    if (pair == NULL || (pair->name = strdup(name)) == NULL ||
        (pair->value = strdup(value)) == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    return 0;
}

static int settings_of_load(const struct plan *plan, result_pairs *out, struct error *error)
{
    result_pairs all = {NULL, 0};
    int status = settings_of_plan(plan, NULL, &all, error);
    for (size_t i = 0; i < all.count && status == 0; i++) {
        if (setting_is_file_level(all.items[i].name)) {
            status = add_pair(out, all.items[i].name, all.items[i].value, error);
        }
    }
    for (size_t i = 0; i < sizeof load_settings / sizeof *load_settings && status == 0; i++) {
        status = add_pair(out, load_settings[i][0], load_settings[i][1], error);
    }
    settings_release(&all);
    return status;
}

/* The file must have what was asked of it. */
static int check_settings(const json_t *result, struct error *error)
{
    result_settings settings = {NULL, 0};
    int status = run_read_settings(json_object_get(result, "settings"), &settings, error);
    for (size_t i = 0; i < settings.count; i++) {
        struct result_setting *setting = &settings.items[i];
        if (status == 0 && setting_is_file_level(setting->name) && !setting->agrees) {
            status =
                error_set(error, ERROR_INVALID,
                          "--pragma %s=%s is not taken: a new database has %s=%s", setting->name,
                          setting->asked, setting->name, setting->got ? setting->got : "(nothing)");
        }
        free(setting->name);
        free(setting->asked);
        free(setting->got);
    }
    free(settings.items);
    return status;
}

static int read_rows(const json_t *result, struct template_built *built, struct error *error)
{
    json_t *rows = json_object_get(result, "rows");
    const char *table;
    json_t *count;
    size_t tables = json_object_size(rows);
    if (tables == 0) {
        return 0;
    }
    built->tables = calloc(tables, sizeof *built->tables);
    built->rows = calloc(tables, sizeof *built->rows);
    if (built->tables == NULL || built->rows == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    json_object_foreach(rows, table, count)
    {
        built->tables[built->table_count] = strdup(table);
        if (built->tables[built->table_count] == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
        built->rows[built->table_count++] = (uint64_t)json_integer_value(count);
    }
    return 0;
}

/* What build() is told through template_prepare(). */
struct building {
    struct measurement *m;
    const struct plan_case *plan_case;
};

static int load(const struct building *building, const struct engine_choice *choice,
                const char *path, struct template_built *built, struct error *error)
{
    struct measurement *m = building->m;
    struct exchange exchange =
        exchange_about(building->plan_case, "building the template", m->progress);
    json_t *line = NULL;
    /* An index over gigabytes is one statement during which nothing is counted. */
    exchange.lines_are_life = true;
    exchange.loading = true;
    int status = settings_of_load(m->plan, &exchange.settings, error);
    if (status == 0) {
        status = exchange_begin(&exchange, choice, 1, NULL, error);
    }
    if (status == 0) {
        json_t *job = job_load(building->plan_case, path, &exchange.settings);
        status = exchange_send(&exchange, 0, job, error);
    }
    if (status == 0) {
        status = exchange_await(&exchange, "result", &line, error);
    }
    if (status == 0) {
        status = check_settings(line, error);
    }
    if (status == 0) {
        status = read_rows(line, built, error);
    }
    if (status == 0) {
        built->engine = strdup(choice->name);
        const char *version = exchange.workers[0].identity.version;
        built->engine_version = strdup(version != NULL ? version : "");
        if (built->engine == NULL || built->engine_version == NULL) {
            status = error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    json_decref(line);
    exchange_end(&exchange, status == 0, NULL);
    return status;
}

static int build(void *context, const char *path, struct template_built *built, struct error *error)
{
    const struct building *building = context;
    struct engine_choice choice;
    memset(&choice, 0, sizeof choice);
    int status = registry_template_engine(building->m->plan->registry, &choice, error);
    if (status == 0) {
        status = load(building, &choice, path, built, error);
    }
    engine_choice_release(&choice);
    if (status != 0) {
        error_prefix(error, "the template could not be built");
    }
    return status;
}

static int fill_result(struct measurement *m, const struct template_file *file, struct error *error)
{
    struct result_template *out = result_list_add(&m->result->templates);
    if (out == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    result_template_init(out);
    out->path = strdup(file->path);
    out->identity = strdup(file->identity);
    out->bytes = file->bytes;
    out->reused = file->reused;
    out->build_seconds = file->build_seconds;
    out->engine = file->engine ? strdup(file->engine) : NULL;
    out->engine_version = file->engine_version ? strdup(file->engine_version) : NULL;
    return out->path && out->identity ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
}

static int prepare(struct measurement *m, const struct plan_case *plan_case,
                   struct template_file *file, struct error *error)
{
    const struct plan *plan = m->plan;
    struct building building = {m, plan_case};
    result_strings file_settings = {NULL, 0};
    struct template_key key = {
        .workload = plan_case->suite->name,
        .scale = plan_case->scale->name,
        .load_hash = plan_case->suite->load_hash,
        .seed = plan->seed,
    };
    struct script_constant *variables = suite_variables(plan_case->suite, plan_case->scale,
                                                        plan_case->scenario, &key.variable_count);
    int status = variables != NULL ? settings_of_file(plan, &file_settings, error)
                                   : error_set(error, ERROR_MEMORY, "out of memory");
    if (status == 0) {
        key.variables = variables;
        key.file_settings = (const char *const *)file_settings.items;
        key.file_setting_count = file_settings.count;
        status = template_prepare(&m->folder, &key, plan_case->scale->bytes, plan->fresh, build,
                                  &building, m->progress, file, error);
    }
    for (size_t i = 0; i < file_settings.count; i++) {
        free(file_settings.items[i]);
    }
    free(file_settings.items);
    free(variables);
    return status;
}

/* What a template depends on besides the plan: data of the suite, and variables. */
static bool same_data(const struct case_template *template, const struct plan_case *plan_case)
{
    return template->suite->load_hash == plan_case->suite->load_hash &&
           strcmp(template->suite->name, plan_case->suite->name) == 0 &&
           template->scale == plan_case->scale &&
           suite_same_variables(template->suite, template->scale, template->scenario,
                                plan_case->scenario);
}

size_t measurement_template_index(const struct measurement *m, const struct case_template *template)
{
    size_t index = 0;
    while (m->templates.items[index] != template) {
        index++;
    }
    return index;
}

int measurement_template(struct measurement *m, const struct plan_case *plan_case,
                         struct case_template **out, struct error *error)
{
    for (size_t i = 0; i < m->templates.count; i++) {
        if (same_data(m->templates.items[i], plan_case)) {
            *out = m->templates.items[i];
            return 0;
        }
    }
    struct case_template *template = calloc(1, sizeof *template);
    if (template == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    int status = prepare(m, plan_case, &template->file, error);
    if (status != 0) {
        free(template);
        return status;
    }
    struct case_template **slot = result_list_add(&m->templates);
    if (slot == NULL) {
        template_release(&template->file);
        free(template);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    *slot = *out = template;
    template->suite = plan_case->suite;
    template->scale = plan_case->scale;
    template->scenario = plan_case->scenario;
    return fill_result(m, &template->file, error);
}
