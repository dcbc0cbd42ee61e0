/*
 * Which databases a suite needs for all of its scripts to be asked. Scenarios that have nothing in
 * common get one each: what one writes must not be read by another, or a scan would go over a
 * million rows that no run of it ever sees.
 */
#include "coordinator/verification.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory");
}

static bool same_variables(const struct suite *suite, const struct suite_scale *scale,
                           const struct suite_scenario *a, const struct suite_scenario *b)
{
    /* The order of the variables is that of the scale, so it is the same for both. */
    size_t counts[2];
    struct script_constant *one = suite_variables(suite, scale, a, &counts[0]);
    struct script_constant *two = suite_variables(suite, scale, b, &counts[1]);
    bool same = one != NULL && two != NULL && counts[0] == counts[1];
    for (size_t i = 0; same && i < counts[0]; i++) {
        same = strcmp(one[i].name, two[i].name) == 0 && one[i].value == two[i].value;
    }
    free(one);
    free(two);
    return same;
}

static bool runs_script(const struct suite_scenario *scenario, size_t script)
{
    for (size_t i = 0; i < scenario->role_count; i++) {
        for (size_t k = 0; k < scenario->roles[i].share_count; k++) {
            if (scenario->roles[i].shares[k].script == script) {
                return true;
            }
        }
    }
    return false;
}

static bool scenario_writes(const struct suite *suite, const struct suite_scenario *scenario)
{
    for (size_t i = 0; i < suite->script_count; i++) {
        if (suite->scripts[i].kind == SUITE_WRITE && runs_script(scenario, i)) {
            return true;
        }
    }
    return false;
}

static void database_free(struct verify_database *database)
{
    if (database != NULL) {
        for (size_t i = 0; i < database->scenarios.count; i++) {
            free(database->scenarios.items[i]);
        }
        free(database->scenarios.items);
        free(database->scripts);
        free(database);
    }
}

static struct verify_database *database_new(const struct plan *plan, const struct suite *suite,
                                            const struct suite_scale *scale,
                                            const struct suite_scenario *scenario)
{
    struct verify_database *database = calloc(1, sizeof *database);
    if (database == NULL) {
        return NULL;
    }
    database->suite = *suite;
    database->suite.script_count = 0;
    database->suite.scripts = database->scripts =
        calloc(suite->script_count, sizeof *database->scripts);
    database->plan = *plan;
    database->plan.suite = &database->suite;
    database->plan.scale = scale;
    database->plan.scenario = scenario;
    database->whole = database->plan;
    database->whole.suite = suite;
    if (database->scripts == NULL) {
        free(database);
        return NULL;
    }
    return database;
}

/* A script stands once in a database, however many scenarios run it. */
static bool holds(const struct verify_database *database, const struct suite_script *script)
{
    for (size_t i = 0; i < database->suite.script_count; i++) {
        if (database->scripts[i].script == script->script) {
            return true;
        }
    }
    return false;
}

/* A scenario joins a database that is like its own and that one of its scripts uses already. */
static bool joins(const struct verify_database *database, const struct suite *suite,
                  const struct suite_scenario *scenario)
{
    const struct plan *plan = &database->plan;
    if (!same_variables(suite, plan->scale, plan->scenario, scenario)) {
        return false;
    }
    for (size_t i = 0; i < suite->script_count; i++) {
        if (runs_script(scenario, i) && holds(database, &suite->scripts[i])) {
            return true;
        }
    }
    return false;
}

bool verify_same_template(const struct verify_database *a, const struct verify_database *b)
{
    return a->whole.suite == b->whole.suite && a->plan.scale == b->plan.scale &&
           same_variables(a->whole.suite, a->plan.scale, a->plan.scenario, b->plan.scenario);
}

static int add_scenario(struct verify_database *database, const struct suite *suite,
                        const struct suite_scenario *scenario, struct error *error)
{
    char **name = result_list_add(&database->scenarios);
    if (name == NULL || (*name = strdup(scenario->name)) == NULL) {
        return no_memory(error);
    }
    for (size_t i = 0; i < suite->script_count; i++) {
        if (runs_script(scenario, i) && !holds(database, &suite->scripts[i])) {
            database->scripts[database->suite.script_count++] = suite->scripts[i];
        }
    }
    if (!scenario_writes(suite, database->whole.scenario) && scenario_writes(suite, scenario)) {
        database->whole.scenario = scenario;
    }
    return 0;
}

int verify_databases_add(const struct plan *plan, const struct suite *suite,
                         const struct suite_scale *scale, const struct suite_scenario *only,
                         verify_databases *out, struct error *error)
{
    size_t first = out->count;
    int status = 0;
    for (size_t i = 0; i < suite->scenario_count && status == 0; i++) {
        const struct suite_scenario *scenario = &suite->scenarios[i];
        if (only != NULL && scenario != only) {
            continue;
        }
        struct verify_database *database = NULL;
        for (size_t k = first; k < out->count && database == NULL; k++) {
            if (joins(out->items[k], suite, scenario)) {
                database = out->items[k];
            }
        }
        if (database == NULL) {
            struct verify_database **slot = NULL;
            database = database_new(plan, suite, scale, scenario);
            if (database == NULL || (slot = result_list_add(out)) == NULL) {
                database_free(database);
                return no_memory(error);
            }
            *slot = database;
        }
        status = add_scenario(database, suite, scenario, error);
    }
    return status;
}

void verify_databases_release(verify_databases *databases)
{
    for (size_t i = 0; i < databases->count; i++) {
        database_free(databases->items[i]);
    }
    free(databases->items);
    *databases = (verify_databases){NULL, 0};
}
