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
        free(database->cases.items);
        free(database->scripts);
        free(database);
    }
}

static struct verify_database *database_new(const struct plan_case *plan_case)
{
    struct verify_database *database = calloc(1, sizeof *database);
    if (database == NULL) {
        return NULL;
    }
    database->suite = *plan_case->suite;
    database->suite.script_count = 0;
    database->suite.scripts = database->scripts =
        calloc(plan_case->suite->script_count, sizeof *database->scripts);
    database->whole = *plan_case;
    database->plan_case = *plan_case;
    database->plan_case.suite = &database->suite;
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
static bool joins(const struct verify_database *database, const struct plan_case *plan_case)
{
    const struct suite *suite = plan_case->suite;
    const struct suite_scenario *scenario = plan_case->scenario;
    if (database->whole.suite != suite || database->whole.scale != plan_case->scale ||
        !suite_same_variables(suite, plan_case->scale, database->plan_case.scenario, scenario)) {
        return false;
    }
    for (size_t i = 0; i < suite->script_count; i++) {
        if (runs_script(scenario, i) && holds(database, &suite->scripts[i])) {
            return true;
        }
    }
    return false;
}

static bool names(const struct verify_database *database, const struct suite_scenario *scenario)
{
    for (size_t i = 0; i < database->scenarios.count; i++) {
        if (strcmp(database->scenarios.items[i], scenario->name) == 0) {
            return true;
        }
    }
    return false;
}

static int add_scenario(struct verify_database *database, const struct suite *suite,
                        const struct suite_scenario *scenario, struct error *error)
{
    if (names(database, scenario)) {
        return 0;
    }
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

int verify_databases_add(const struct plan_case *plan_case, verify_databases *all,
                         struct verify_database **out, struct error *error)
{
    struct verify_database *database = NULL;
    for (size_t i = 0; i < all->count && database == NULL; i++) {
        if (joins(all->items[i], plan_case)) {
            database = all->items[i];
        }
    }
    if (database == NULL) {
        struct verify_database **slot = NULL;
        database = database_new(plan_case);
        if (database == NULL || (slot = result_list_add(all)) == NULL) {
            database_free(database);
            return no_memory(error);
        }
        *slot = database;
    }
    *out = database;
    return add_scenario(database, plan_case->suite, plan_case->scenario, error);
}

void verify_databases_release(verify_databases *databases)
{
    for (size_t i = 0; i < databases->count; i++) {
        database_free(databases->items[i]);
    }
    free(databases->items);
    *databases = (verify_databases){NULL, 0};
}
