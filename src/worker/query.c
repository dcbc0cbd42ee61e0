#include "worker/query.h"

#include <stdlib.h>
#include <string.h>

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

int query_tables(const struct query *query, struct texts *tables)
{
    const struct engine_sink sink = {texts_take, tables};
    /* By its old name, which every version knows. */
    return query_run(query,
                     "SELECT name FROM sqlite_master WHERE type = 'table' "
                     "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                     &sink);
}
