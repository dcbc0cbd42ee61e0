#include "cli/case_list.h"

#include "cli/exit_status.h"
#include "cli/list.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the plan");
}

void case_list_release(struct case_list *list)
{
    for (size_t i = 0; i < list->scales.count; i++) {
        free(list->scales.items[i]->variables);
        free(list->scales.items[i]);
    }
    for (size_t i = 0; i < list->suites.count; i++) {
        suite_free(list->suites.items[i]);
    }
    for (size_t i = 0; i < list->labels.count; i++) {
        free(list->labels.items[i]);
    }
    free(list->labels.items);
    free(list->scales.items);
    free(list->suites.items);
    free(list->cases.items);
    *list = (struct case_list){.cases = {NULL, 0}};
}

int case_list_add(struct case_list *list, const struct plan_case *plan_case, struct error *error)
{
    struct plan_case *added = result_list_add(&list->cases);
    if (added == NULL) {
        return no_memory(error);
    }
    *added = *plan_case;
    return 0;
}

int case_list_suite(struct case_list *list, struct session *session, const char *folder,
                    const char *builtin, struct suite **out, struct error *error, int *status)
{
    struct suite **added = result_list_add(&list->suites); /* NULL until it is open */
    if (added == NULL) {
        *status = STATUS_UNABLE;
        return no_memory(error);
    }
    int code = session_suite(session, folder, builtin, added, error, status);
    *out = *added;
    return code;
}

int case_list_label(struct case_list *list, char *label, struct error *error)
{
    char **added = label != NULL ? result_list_add(&list->labels) : NULL;
    if (added == NULL) {
        free(label);
        return no_memory(error);
    }
    *added = label;
    return 0;
}

int case_list_scenarios(const struct suite *suite, const char *flag, const char *noun,
                        const char *named, size_t **chosen, size_t *count, struct error *error)
{
    const char **names = calloc(suite->scenario_count + 1, sizeof *names);
    *chosen = calloc(suite->scenario_count, sizeof **chosen);
    *count = 0;
    int code = *chosen != NULL && names != NULL ? 0 : no_memory(error);
    for (size_t i = 0; code == 0 && i < suite->scenario_count; i++) {
        names[i] = suite->scenarios[i].name;
    }
    if (code == 0) {
        code = list_of_names(flag, noun, named, names, *chosen, count, error);
    }
    free(names);
    return code;
}

void case_list_plan(const struct case_list *list, struct plan *plan)
{
    plan->cases = list->cases.items;
    plan->case_count = list->cases.count;
}

/* A database grows with its rows. */
static uint64_t scaled_bytes(const struct suite_scale *scale, int64_t before, int64_t after)
{
    double bytes = (double)scale->bytes * (double)after / (double)(before > 0 ? before : 1);
    return (uint64_t)bytes;
}

static void set_variable(const struct suite_scale *from, size_t index,
                         const struct scale_value *values, size_t count, struct suite_scale *out)
{
    struct script_constant *variable = &out->variables[index];
    *variable = from->variables[index];
    for (size_t i = 0; i < count; i++) {
        if (values[i].value != OPTION_ABSENT && strcmp(variable->name, values[i].variable) == 0) {
            variable->value = (int64_t)values[i].value;
        }
    }
    if (strcmp(variable->name, "rows") == 0) {
        out->bytes = scaled_bytes(from, from->variables[index].value, variable->value);
    }
}

int case_list_scale(struct case_list *list, const struct suite_scale *from,
                    const struct scale_value *values, size_t count, const struct suite_scale **out,
                    struct error *error)
{
    struct suite_scale *copy = malloc(sizeof *copy);
    struct script_constant *variables = calloc(from->variable_count + 1, sizeof *variables);
    struct suite_scale **added =
        copy != NULL && variables != NULL ? result_list_add(&list->scales) : NULL;
    if (added == NULL) {
        free(copy);
        free(variables);
        return no_memory(error);
    }
    *copy = *from;
    copy->variables = variables;
    for (size_t i = 0; i < from->variable_count; i++) {
        set_variable(from, i, values, count, copy);
    }
    *added = copy;
    *out = copy;
    return 0;
}
