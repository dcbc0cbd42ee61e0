/* The null driver: does nothing, so that what is measured with it is pitot itself. */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct engine {
    struct engine_identity identity;
};

struct setting {
    char *name;
    char *value;
};

struct engine_connection {
    atomic_bool interrupted;
    struct setting *settings;
    size_t setting_count;
    const char *text; /* of the last failure */
};

struct engine_statement {
    struct engine_connection *connection;
    uint32_t parameters;
};

static int null_load(const struct engine_config *config, struct engine **out,
                     const struct engine_identity **identity, struct error *error)
{
    if (config->library != NULL) {
        return error_set(error, ERROR_INVALID, "engine %s takes no library, found %s", config->name,
                         config->library);
    }
    if (config->option_count > 0) {
        return error_set(error, ERROR_INVALID, "engine %s has no option '%s': driver null has none",
                         config->name, config->options[0].name);
    }
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while engine %s was opened",
                         config->name);
    }
    engine->identity.version = PITOT_VERSION;
    *out = engine;
    *identity = &engine->identity;
    return 0;
}

static void null_unload(struct engine *engine)
{
    free(engine);
}

static int null_setting_set(struct engine_connection *connection, const char *name,
                            const char *value, struct error *error)
{
    char *copy = strdup(value);
    struct setting *setting = NULL;
    for (size_t i = 0; i < connection->setting_count && copy != NULL; i++) {
        setting = &connection->settings[i];
        if (strcasecmp(setting->name, name) == 0) {
            free(setting->value);
            setting->value = copy;
            return 0;
        }
    }
    char *key = strdup(name);
    struct setting *grown =
        realloc(connection->settings, (connection->setting_count + 1) * sizeof *grown);
    if (grown != NULL) {
        connection->settings = grown;
    }
    if (copy == NULL || key == NULL || grown == NULL) {
        free(copy);
        free(key);
        return error_set(error, ERROR_MEMORY, "out of memory while %s was set", name);
    }
    grown[connection->setting_count++] = (struct setting){.name = key, .value = copy};
    return 0;
}

/* What was set, as it was written. */
static int null_setting_get(struct engine_connection *connection, const char *name, char *out,
                            size_t size, struct error *error)
{
    for (size_t i = 0; i < connection->setting_count; i++) {
        const struct setting *setting = &connection->settings[i];
        if (strcasecmp(setting->name, name) != 0) {
            continue;
        }
        size_t length = strlen(setting->value);
        if (length >= size) {
            return error_set(error, ERROR_ENGINE, "%s is longer than %zu bytes", name, size - 1);
        }
        memcpy(out, setting->value, length + 1);
        return 0;
    }
    return 1;
}

static void null_close(struct engine_connection *connection)
{
    if (connection == NULL) {
        return;
    }
    for (size_t i = 0; i < connection->setting_count; i++) {
        free(connection->settings[i].name);
        free(connection->settings[i].value);
    }
    free(connection->settings);
    free(connection);
}

static int null_open(struct engine *engine, const char *path, uint32_t busy_timeout_ms, bool create,
                     struct engine_connection **out, struct error *error)
{
    (void)engine;
    (void)create;
    struct engine_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory while %s was opened", path);
    }
    atomic_init(&connection->interrupted, false);
    connection->text = "";
    char timeout[16];
    snprintf(timeout, sizeof timeout, "%u", busy_timeout_ms);
    int rc = null_setting_set(connection, "busy_timeout", timeout, error);
    if (rc != 0) {
        null_close(connection);
        return rc;
    }
    *out = connection;
    return 0;
}

static inline enum engine_status outcome(struct engine_connection *connection)
{
    if (__builtin_expect(atomic_load_explicit(&connection->interrupted, memory_order_relaxed), 0)) {
        connection->text = "interrupted";
        return ENGINE_INTERRUPTED;
    }
    return ENGINE_OK;
}

static enum engine_status null_exec(struct engine_connection *connection, const char *sql)
{
    (void)sql;
    return outcome(connection);
}

/* Behind the literal, quoted name or comment that begins at `sql`; `sql` itself when
 * none does there. One without an end goes to the end of the text. */
static const char *skip_opaque(const char *sql)
{
    const char *end;
    if (sql[0] == '-' && sql[1] == '-') {
        end = strchr(sql, '\n');
        return end != NULL ? end + 1 : sql + strlen(sql);
    }
    if (sql[0] == '/' && sql[1] == '*') {
        end = strstr(sql + 2, "*/");
        return end != NULL ? end + 2 : sql + strlen(sql);
    }
    if (sql[0] == '\'' || sql[0] == '"' || sql[0] == '`' || sql[0] == '[') {
        /* A doubled quote inside ends one literal and begins the next: the same here. */
        end = strchr(sql + 1, sql[0] == '[' ? ']' : sql[0]);
        return end != NULL ? end + 1 : sql + strlen(sql);
    }
    return sql;
}

static enum engine_status null_prepare(struct engine_connection *connection, const char *sql,
                                       struct engine_statement **out)
{
    struct engine_statement *statement = calloc(1, sizeof *statement);
    if (statement == NULL) {
        connection->text = "out of memory";
        return ENGINE_FAILED;
    }
    statement->connection = connection;
    while (*sql != '\0') {
        const char *behind = skip_opaque(sql);
        if (behind != sql) {
            sql = behind;
            continue;
        }
        statement->parameters += *sql++ == '?';
    }
    *out = statement;
    return outcome(connection);
}

static void null_finalize(struct engine_statement *statement)
{
    free(statement);
}

static bool null_readonly(const struct engine_statement *statement)
{
    (void)statement;
    return true;
}

static uint32_t null_parameter_count(const struct engine_statement *statement)
{
    return statement->parameters;
}

static enum engine_status null_run(struct engine_statement *statement, const struct value *values,
                                   uint32_t count, bool one, struct engine_effect *effect,
                                   const struct engine_sink *sink)
{
    (void)values;
    (void)one;
    (void)effect;
    (void)sink;
    if (count != statement->parameters) {
        statement->connection->text =
            "as many values as the statement has parameters were expected";
        return ENGINE_FAILED;
    }
    return outcome(statement->connection);
}

static enum engine_status null_begin(struct engine_connection *connection, bool write)
{
    (void)write;
    return outcome(connection);
}

static enum engine_status null_commit(struct engine_connection *connection)
{
    return outcome(connection);
}

static enum engine_status null_rollback(struct engine_connection *connection)
{
    atomic_store_explicit(&connection->interrupted, false, memory_order_relaxed);
    return ENGINE_OK;
}

static const char *null_error_text(struct engine_connection *connection, int *code)
{
    *code = 0;
    return connection->text;
}

static struct engine_waits null_waits(const struct engine_connection *connection)
{
    (void)connection;
    return (struct engine_waits){0};
}

static void null_interrupt(struct engine_connection *connection)
{
    atomic_store_explicit(&connection->interrupted, true, memory_order_relaxed);
}

const struct engine_ops engine_null = {
    .driver = "null",
    .abi_version = ENGINE_ABI_VERSION,
    .capabilities = ENGINE_CAN_THREADS | ENGINE_HAS_NO_DATABASE,
    .load = null_load,
    .unload = null_unload,
    .open = null_open,
    .close = null_close,
    .exec = null_exec,
    .prepare = null_prepare,
    .finalize = null_finalize,
    .readonly = null_readonly,
    .parameter_count = null_parameter_count,
    .run = null_run,
    .begin = null_begin,
    .commit = null_commit,
    .rollback = null_rollback,
    .setting_set = null_setting_set,
    .setting_get = null_setting_get,
    .error_text = null_error_text,
    .waits = null_waits,
    .interrupt = null_interrupt,
};
