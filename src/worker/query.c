#include "worker/query.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int query_run(const struct query *query, const char *sql, const struct engine_sink *sink)
{
    struct engine_statement *statement = NULL;
    struct engine_effect effect = {0, 0};
    enum engine_status status = query->ops->prepare(query->connection, sql, &statement);
    if (status == ENGINE_OK) {
        status = query->ops->run(statement, NULL, 0, false, &effect, sink);
    } else {
        statement = NULL;
    }
    int rc = 0;
    if (status != ENGINE_OK) {
        rc = failure_engine(query->failure, query->phase, query->ops, query->connection, status,
                            FAILURE_NOWHERE, FAILURE_NOWHERE);
        error_prefix(&query->failure->error, "%s", sql);
    }
    if (statement != NULL) {
        query->ops->finalize(statement);
    }
    return rc;
}

int query_run_if_known(const struct query *query, const char *sql, const struct engine_sink *sink)
{
    struct failure failure;
    struct query probe = *query;
    failure_init(&failure);
    if (!failure_is_set(query->failure)) {
        probe.failure = &failure;
    }
    int status = query_run(&probe, sql, sink);
    if (status == ERROR_ENGINE) {
        return 0;
    }
    if (status != 0 && probe.failure == &failure) {
        *query->failure = failure;
    }
    return status;
}

void query_quote(struct buffer *sql, const char *name)
{
    buffer_putc(sql, '"');
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') {
            buffer_putc(sql, '"');
        }
        buffer_putc(sql, *c);
    }
    buffer_putc(sql, '"');
}

/* ---- texts ------------------------------------------------------------------- */

void texts_free(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->items[i]);
    }
    free(texts->items);
    *texts = (struct texts){0};
}

int texts_add(struct texts *texts, const char *bytes, size_t length)
{
    char **items = realloc(texts->items, (texts->count + 1) * sizeof(*items));
    if (items == NULL) {
        return ERROR_MEMORY;
    }
    texts->items = items;
    items[texts->count] = strndup(bytes, length);
    return items[texts->count++] == NULL ? ERROR_MEMORY : 0;
}

static int take_column(struct texts *texts, const struct value *columns, uint32_t count,
                       uint32_t index)
{
    if (count <= index || columns[index].type != VALUE_TEXT || texts->count >= texts->max) {
        return 0;
    }
    return texts_add(texts, columns[index].bytes, columns[index].length);
}

int texts_take(void *context, const struct value *columns, uint32_t count)
{
    return take_column(context, columns, count, 0);
}

int texts_take_second(void *context, const struct value *columns, uint32_t count)
{
    return take_column(context, columns, count, 1);
}

/* ---- tables ------------------------------------------------------------------ */

/* The schema goes by its old name, which every version knows. Left out is what SQLite, and Turso in
 * its MVCC mode, keep for themselves. */
#define TABLES                                                                                     \
    "SELECT name FROM sqlite_master WHERE type = 'table' "                                         \
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "                                                  \
    "AND name NOT LIKE '\\_\\_turso\\_internal\\_%' ESCAPE '\\' ORDER BY name"
#define VIRTUAL_TABLES                                                                             \
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'"

struct table_list {
    struct texts *tables;
    struct texts shadows;  /* by the engine's own word */
    struct texts virtuals; /* where it has none */
    bool listed;           /* the engine has PRAGMA table_list */
    bool no_memory;
};

static bool text_is(const struct value *value, const char *text)
{
    return value->type == VALUE_TEXT && value->length == strlen(text) &&
           memcmp(value->bytes, text, value->length) == 0;
}

/* A row of PRAGMA table_list: schema, name, type, … */
static int take_listed(void *context, const struct value *columns, uint32_t count)
{
    struct table_list *list = context;
    list->listed = true;
    if (count < 3 || !text_is(&columns[0], "main") || !text_is(&columns[2], "shadow") ||
        columns[1].type != VALUE_TEXT) {
        return 0;
    }
    int status = texts_add(&list->shadows, columns[1].bytes, columns[1].length);
    list->no_memory = status != 0;
    return status;
}

/* Whether the rest of a name behind that of a virtual table is one that fts3, fts4, fts5 or rtree
 * gives to its tables. */
static bool is_shadow_suffix(const char *suffix)
{
    static const char *const suffixes[] = {
        "_content", "_segments", "_segdir", "_docsize", "_stat", /* fts3, fts4 */
        "_data",    "_idx",      "_config",                      /* fts5, besides */
        "_node",    "_rowid",    "_parent",                      /* rtree */
    };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcasecmp(suffix, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_shadow(const struct table_list *list, const char *name)
{
    for (size_t i = 0; i < list->shadows.count; i++) {
        if (strcasecmp(name, list->shadows.items[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < list->virtuals.count; i++) {
        size_t length = strlen(list->virtuals.items[i]);
        if (strncasecmp(name, list->virtuals.items[i], length) == 0 &&
            is_shadow_suffix(name + length)) {
            return true;
        }
    }
    return false;
}

static void drop_shadows(struct table_list *list)
{
    struct texts *tables = list->tables;
    size_t kept = 0;
    for (size_t i = 0; i < tables->count; i++) {
        if (is_shadow(list, tables->items[i])) {
            free(tables->items[i]);
        } else {
            tables->items[kept++] = tables->items[i];
        }
    }
    tables->count = kept;
}

int query_tables(const struct query *query, struct texts *tables)
{
    struct table_list list = {.tables = tables, .virtuals = {.max = SIZE_MAX}};
    const struct engine_sink take_list = {take_listed, &list};
    const struct engine_sink take_virtual = {texts_take, &list.virtuals};
    const struct engine_sink take_name = {texts_take, tables};
    int status = query_run_if_known(query, "PRAGMA table_list", &take_list);
    if (list.no_memory) {
        status = failure_set(query->failure, query->phase, ERROR_MEMORY,
                             "out of memory for the names of tables");
    }
    if (status == 0 && !list.listed) {
        status = query_run(query, VIRTUAL_TABLES, &take_virtual);
    }
    if (status == 0) {
        status = query_run(query, TABLES, &take_name);
    }
    if (status == 0) {
        drop_shadows(&list);
    }
    texts_free(&list.shadows);
    texts_free(&list.virtuals);
    return status;
}
