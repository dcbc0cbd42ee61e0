/* What the checks of settings and answers come to, and what must be told of them. */
#include "coordinator/verification.h"

#include "result/difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *status, const char *expected)
{
    return status != NULL && strcmp(status, expected) == 0;
}

/* ---- status ---------------------------------------------------------------------------- */

static bool settings_differ(const struct result_verify *verify)
{
    for (size_t i = 0; i < verify->connections.count; i++) {
        const result_settings *settings = &verify->connections.items[i].settings;
        for (size_t k = 0; k < settings->count; k++) {
            if (settings->items[k].required && !settings->items[k].agrees) {
                return true;
            }
        }
    }
    return false;
}

static bool journal_missing(const struct result_verify *verify)
{
    return verify->connections.count > 0 && verify->journal_due &&
           (verify->journal == NULL || verify->journal_bytes == 0);
}

static size_t count_databases(const struct result_verify *verify, const char *status)
{
    size_t count = 0;
    for (size_t i = 0; i < verify->databases.count; i++) {
        count += is(verify->databases.items[i].status, status);
    }
    return count;
}

/* A script that did nothing but fail; NULL: there is none. */
static const struct result_verify_script *never_succeeded(const struct result_verify *verify)
{
    for (size_t i = 0; i < verify->databases.count; i++) {
        for (size_t k = 0; k < verify->databases.items[i].scripts.count; k++) {
            const struct result_verify_script *script =
                &verify->databases.items[i].scripts.items[k];
            if (script->ok == 0 && script->failed > 0) {
                return script;
            }
        }
    }
    return NULL;
}

/* Why an engine is not "ok", in a line; a new string. */
char *verify_reason(const struct result_engine *engine)
{
    const struct result_verify *verify = &engine->verify;
    const struct result_verify_script *failed = never_succeeded(verify);
    if (failed != NULL) {
        return result_text("%s never succeeded: %s", failed->script,
                           failed->errors.count > 0 ? failed->errors.items[0] : "no reason given");
    }
    if (settings_differ(verify)) {
        return result_text("a required setting was not taken by each connection");
    }
    if (journal_missing(verify)) {
        return result_text("nothing of what was written is in a journal beside the database");
    }
    for (size_t i = 0; i < verify->databases.count; i++) {
        const struct result_verify_database *database = &verify->databases.items[i];
        for (size_t k = 0; k < database->scripts.count; k++) {
            if (is(database->scripts.items[k].status, "differs")) {
                return result_text("its answers of %s differ", database->scripts.items[k].script);
            }
        }
        for (size_t k = 0; k < database->tables.count; k++) {
            if (is(database->tables.items[k].status, "differs")) {
                return result_text("its table %s differs", database->tables.items[k].table);
            }
        }
        if (database->error != NULL) {
            return result_text("%s", database->error);
        }
    }
    return result_text("see above");
}

/* NULL: it was not verified. */
static const char *status_of(const struct result_engine *engine, bool no_database)
{
    const struct result_verify *verify = &engine->verify;
    if (is(engine->status, "failed") || count_databases(verify, "failed") > 0 ||
        never_succeeded(verify) != NULL) {
        return "failed";
    }
    if (settings_differ(verify) || journal_missing(verify) ||
        count_databases(verify, "differs") > 0) {
        return "differs";
    }
    if (no_database) {
        return "exempt";
    }
    if (verify->databases.count == 0) {
        return NULL;
    }
    return count_databases(verify, "alone") == verify->databases.count ? "alone" : "equal";
}

int verify_judge(struct measurement *m, struct error *error)
{
    for (size_t i = 0; i < m->result->engines.count; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        const char *status = status_of(engine, m->plan->engines->items[i].manifest->no_database);
        free(engine->verify.status);
        engine->verify.status = status != NULL ? strdup(status) : NULL;
        if (status != NULL && engine->verify.status == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    return 0;
}

/* ---- warnings -------------------------------------------------------------------------- */

static int warn_idle(struct measurement *m, const struct result_engine *engine,
                     const struct result_verify_script *script)
{
    return script->ok > 0 && script->rows_read == 0 && script->rows_changed == 0
               ? result_warn(m->result, engine->name, "%s never touched a row", script->script)
               : 0;
}

static int warn_script(struct measurement *m, const struct result_engine *engine,
                       const struct result_verify_database *database,
                       const struct result_verify_script *script)
{
    int status = 0;
    if (script->failed > 0) {
        status = result_warn(
            m->result, engine->name,
            "%s failed in %" PRIu64 " of %" PRIu64 " operations whose answers were checked: %s",
            script->script, script->failed, database->operations,
            script->errors.count > 0 ? script->errors.items[0] : "no reason given");
    }
    if (status == 0 && script->differences.count > 0) {
        struct buffer text;
        buffer_init(&text);
        difference_describe(&script->differences.items[0], database->reference, &text);
        status = text.failed ? ERROR_MEMORY
                             : result_warn(m->result, engine->name,
                                           "answers of %s differ in %" PRIu64 " of %" PRIu64
                                           " operations, first in %s",
                                           script->script, script->differing, database->operations,
                                           text.data);
        buffer_release(&text);
    }
    return status;
}

static int warn_table(struct measurement *m, const struct result_engine *engine,
                      const struct result_verify_database *database,
                      const struct result_verify_table *table)
{
    if (!is(table->status, "differs")) {
        return 0;
    }
    if (table->reference_rows == RESULT_ABSENT) {
        return result_warn(m->result, engine->name, "table %s is there, but not with %s",
                           table->table, database->reference);
    }
    return result_warn(
        m->result, engine->name,
        "table %s of %s holds other rows than with %s after the same scripts: %" PRIu64
        " rows, there %" PRIu64,
        table->table, database->suite, database->reference, table->rows, table->reference_rows);
}

static int warn_database(struct measurement *m, const struct result_engine *engine,
                         const struct result_verify_database *database, bool differences)
{
    int status = 0;
    for (size_t i = 0; i < database->scripts.count && status == 0; i++) {
        status = warn_idle(m, engine, &database->scripts.items[i]);
        if (status == 0 && differences) {
            status = warn_script(m, engine, database, &database->scripts.items[i]);
        }
    }
    for (size_t i = 0; i < database->tables.count && status == 0 && differences; i++) {
        status = warn_table(m, engine, database, &database->tables.items[i]);
    }
    return status;
}

int verify_warn(struct measurement *m, bool differences, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->result->engines.count && status == 0; i++) {
        const struct result_engine *engine = &m->result->engines.items[i];
        for (size_t k = 0; k < engine->verify.databases.count && status == 0; k++) {
            status = warn_database(m, engine, &engine->verify.databases.items[k], differences);
        }
    }
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for warnings");
}
