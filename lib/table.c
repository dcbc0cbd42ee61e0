#include "lib/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/declared.h"

/* Prepares one of this file's questions; the parameters are texts. */
static int ask(sqlite3 *db, sqlite3_stmt **statement, const char *sql, const char *first,
               struct pitot_error *error)
{
    int rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_text(*statement, 1, first, -1, SQLITE_STATIC);
    }
    if (rc != SQLITE_OK) {
        failure_sqlite(error, db, rc, "the schema of %s", first);
        sqlite3_finalize(*statement);
        *statement = NULL;
        return sqlite_error_code(rc, 0);
    }
    return 0;
}

/* 1: a row; 0: no more; negative: error, set. */
static int next(sqlite3 *db, sqlite3_stmt *statement, const char *name, struct pitot_error *error)
{
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        return 1;
    }
    return rc == SQLITE_DONE ? 0 : failure_sqlite(error, db, rc, "the schema of %s", name);
}

static char *column_copy(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return strdup(text != NULL ? text : "");
}

static int out_of_memory(struct pitot_error *error, const char *name)
{
    return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for its description", name);
}

static size_t find_column(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++) {
        if (strcasecmp(table->column[i].name, name) == 0) {
            return i;
        }
    }
    return TABLE_NONE;
}

/* What kind of thing NAME is; its own spelling and CREATE statement. */
static int read_kind(struct table *table, sqlite3 *db, const char *name, struct pitot_error *error)
{
    if (sqlite3_strnicmp(name, "sqlite_", 7) == 0) {
        return failure(error, PITOT_ERROR_SCHEMA,
                       "%s is SQLite's own; a source can own an ordinary table only", name);
    }
    sqlite3_stmt *statement;
    int code = ask(db, &statement,
                   "SELECT l.type, l.wr, l.strict, s.name, s.sql FROM pragma_table_list(?1) AS l"
                   " LEFT JOIN main.sqlite_schema AS s"
                   " ON s.name = l.name COLLATE NOCASE AND s.type IN ('table', 'view')"
                   " WHERE l.schema = 'main'",
                   name, error);
    if (code != 0) {
        return code;
    }
    code = next(db, statement, name, error);
    if (code == 0) {
        code = failure(error, PITOT_ERROR_SCHEMA, "%s: there is no such table", name);
    } else if (code > 0) {
        const char *type = (const char *)sqlite3_column_text(statement, 0);
        if (type == NULL || strcmp(type, "table") != 0 ||
            sqlite3_column_type(statement, 4) != SQLITE_TEXT) {
            code = failure(error, PITOT_ERROR_SCHEMA,
                           "%s is a %s; a source can own an ordinary table only", name,
                           type == NULL                   ? "thing without a type"
                           : strcmp(type, "virtual") == 0 ? "virtual table"
                           : strcmp(type, "shadow") == 0  ? "virtual table's own table"
                                                          : type);
        } else {
            table->without_rowid = sqlite3_column_int(statement, 1) != 0;
            table->strict = sqlite3_column_int(statement, 2) != 0;
            table->name = column_copy(statement, 3);
            table->sql = column_copy(statement, 4);
            code = table->name == NULL || table->sql == NULL ? out_of_memory(error, name) : 0;
        }
    }
    sqlite3_finalize(statement);
    return code;
}

/* *GENERATED: there are columns that no value is staged for. *KEYS: columns that are marked as
 * part of the primary key. */
static int read_columns(struct table *table, sqlite3 *db, bool *generated, size_t *keys,
                        struct pitot_error *error)
{
    sqlite3_stmt *statement;
    int code = ask(db, &statement,
                   "SELECT name, type, \"notnull\", pk, hidden, count(*) OVER ()"
                   " FROM pragma_table_xinfo(?1, 'main') ORDER BY cid",
                   table->name, error);
    if (code != 0) {
        return code;
    }
    while ((code = next(db, statement, table->name, error)) > 0) {
        if (table->column == NULL) {
            table->column = calloc((size_t)sqlite3_column_int(statement, 5), sizeof *table->column);
            if (table->column == NULL) {
                code = out_of_memory(error, table->name);
                break;
            }
        }
        if (sqlite3_column_int(statement, 4) != 0) {
            *generated = true;
            continue;
        }
        struct table_column *column = &table->column[table->columns++];
        column->name = column_copy(statement, 0);
        column->type = column_copy(statement, 1);
        if (column->name == NULL || column->type == NULL) {
            code = out_of_memory(error, table->name);
            break;
        }
        column->affinity = declared_affinity(column->type, table->strict);
        column->strict = table->strict ? declared_type(column->type) : PITOT_NULL;
        column->not_null = sqlite3_column_int(statement, 2) != 0;
        *keys += sqlite3_column_int(statement, 3) > 0;
        const char *collation = NULL;
        int rc = sqlite3_table_column_metadata(db, "main", table->name, column->name, NULL,
                                               &collation, NULL, NULL, NULL);
        if (rc != SQLITE_OK) {
            code = failure_sqlite(error, db, rc, "the schema of %s", table->name);
            break;
        }
        column->collation = declared_collation(collation);
    }
    sqlite3_finalize(statement);
    return code;
}

/* The columns of an index; those behind its own that lead to the row only if ALL. */
static int read_key(struct table *table, sqlite3 *db, const char *name, bool all,
                    struct table_key **out, size_t *count, size_t *declared,
                    struct pitot_error *error)
{
    sqlite3_stmt *statement;
    int code = ask(db, &statement,
                   "SELECT cid, name, \"desc\", coll, key, count(*) OVER ()"
                   " FROM pragma_index_xinfo(?1, 'main') ORDER BY seqno",
                   name, error);
    if (code != 0) {
        return code;
    }
    *declared = 0;
    while ((code = next(db, statement, table->name, error)) > 0) {
        if (*out == NULL) {
            *out = calloc((size_t)sqlite3_column_int(statement, 5), sizeof **out);
            if (*out == NULL) {
                code = out_of_memory(error, table->name);
                break;
            }
        }
        bool own = sqlite3_column_int(statement, 4) != 0;
        if (!own && !all) {
            continue;
        }
        struct table_key *key = &(*out)[(*count)++];
        *declared += own;
        int number = sqlite3_column_int(statement, 0);
        const char *column = (const char *)sqlite3_column_text(statement, 1);
        key->column = number == -1                   ? TABLE_ROWID
                      : number < 0 || column == NULL ? TABLE_EXPRESSION
                                                     : find_column(table, column);
        if (key->column == TABLE_NONE) {
            key->column = TABLE_EXPRESSION; /* a generated column */
        }
        if (key->column == table->rowid) {
            key->column = TABLE_ROWID;
        }
        key->descending = sqlite3_column_int(statement, 2) != 0;
        key->collation = declared_collation((const char *)sqlite3_column_text(statement, 3));
    }
    sqlite3_finalize(statement);
    return code;
}

/* What the passes ask of all indexes together. */
struct index_facts {
    bool primary;       /* the primary key has an index */
    bool unique_beside; /* there is a unique index besides */
    bool plain;         /* all have plain columns in SQLite's own collations, and all rows */
    bool slice_leads;
};

static int read_index(struct table *table, sqlite3 *db, sqlite3_stmt *list,
                      const char *slice_column, struct index_facts *facts,
                      struct pitot_error *error)
{
    bool primary = strcmp((const char *)sqlite3_column_text(list, 2), "pk") == 0;
    bool partial = sqlite3_column_int(list, 3) != 0;
    bool unique = sqlite3_column_int(list, 1) != 0;
    struct table_index *index = &table->index[table->indexes++];
    index->name = column_copy(list, 0);
    index->sql = sqlite3_column_type(list, 4) == SQLITE_TEXT ? column_copy(list, 4) : NULL;
    if (index->name == NULL ||
        (index->sql == NULL && sqlite3_column_type(list, 4) == SQLITE_TEXT)) {
        return out_of_memory(error, table->name);
    }
    size_t declared;
    int code = read_key(table, db, index->name, true, &index->key, &index->keys, &declared, error);
    if (code != 0) {
        return code;
    }
    index->unique = unique;
    index->primary = primary;
    index->unique_keys = unique ? declared : index->keys;
    facts->unique_beside = facts->unique_beside || (unique && !primary);
    for (size_t i = 0; i < index->keys; i++) {
        if (index->key[i].column == TABLE_EXPRESSION ||
            index->key[i].collation == COLLATION_OTHER) {
            facts->plain = false;
        }
    }
    facts->plain = facts->plain && !partial;
    if (slice_column != NULL && !partial && index->keys > 0 &&
        index->key[0].column == find_column(table, slice_column)) {
        facts->slice_leads = true;
    }
    if (primary) {
        facts->primary = true;
        code = read_key(table, db, index->name, false, &table->key, &table->keys, &declared, error);
    }
    return code;
}

static void free_index(struct table_index *index)
{
    free(index->name);
    free(index->sql);
    free(index->key);
}

static int read_indexes(struct table *table, sqlite3 *db, const char *slice_column,
                        struct index_facts *facts, struct pitot_error *error)
{
    sqlite3_stmt *statement;
    int code = ask(db, &statement,
                   "SELECT l.name, l.\"unique\", l.origin, l.partial, s.sql, count(*) OVER ()"
                   " FROM pragma_index_list(?1, 'main') AS l"
                   " LEFT JOIN main.sqlite_schema AS s ON s.type = 'index' AND s.name = l.name"
                   " ORDER BY l.seq",
                   table->name, error);
    if (code != 0) {
        return code;
    }
    while ((code = next(db, statement, table->name, error)) > 0) {
        if (table->index == NULL) {
            table->index = calloc((size_t)sqlite3_column_int(statement, 5), sizeof *table->index);
            if (table->index == NULL) {
                code = out_of_memory(error, table->name);
                break;
            }
        }
        code = read_index(table, db, statement, slice_column, facts, error);
        if (code != 0) {
            break;
        }
        /* The primary key of a WITHOUT ROWID table is the table. */
        if (table->without_rowid && facts->primary && table->keys > 0 &&
            strcmp((const char *)sqlite3_column_text(statement, 2), "pk") == 0) {
            free_index(&table->index[--table->indexes]);
            memset(&table->index[table->indexes], 0, sizeof *table->index);
        }
    }
    sqlite3_finalize(statement);
    return code;
}

/* The first column of a question's first row as a flag. */
static int read_flag(sqlite3 *db, const char *sql, const char *name, bool *flag, char **text,
                     struct pitot_error *error)
{
    sqlite3_stmt *statement;
    int code = ask(db, &statement, sql, name, error);
    if (code != 0) {
        return code;
    }
    code = next(db, statement, name, error);
    *flag = code > 0;
    if (code > 0) {
        code = 0;
        if (text != NULL) {
            *text = column_copy(statement, 0);
            code = *text == NULL ? out_of_memory(error, name) : 0;
        }
    }
    sqlite3_finalize(statement);
    return code;
}

/* Triggers, foreign keys either way, and the database's encoding. */
static int read_relations(struct table *table, sqlite3 *db, struct pitot_error *error)
{
    bool found;
    int code =
        read_flag(db, "SELECT 1 FROM pragma_encoding AS e WHERE e.encoding <> 'UTF-8' AND ?1 <> ''",
                  table->name, &found, NULL, error);
    if (code == 0 && found) {
        code = failure(error, PITOT_ERROR_SCHEMA,
                       "%s: the database's encoding is UTF-16; it must be UTF-8", table->name);
    }
    if (code == 0) {
        code = read_flag(db,
                         "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger'"
                         " AND tbl_name = ?1 COLLATE NOCASE",
                         table->name, &table->triggers, NULL, error);
    }
    bool enforced = false;
    if (code == 0) {
        code = read_flag(db,
                         "SELECT 1 FROM pragma_foreign_keys AS f WHERE f.foreign_keys AND ?1 <> ''",
                         table->name, &enforced, NULL, error);
    }
    if (code != 0 || !enforced) {
        return code;
    }
    code = read_flag(db, "SELECT 1 FROM pragma_foreign_key_list(?1, 'main')", table->name,
                     &table->foreign_keys, NULL, error);
    if (code == 0) {
        code = read_flag(db,
                         "SELECT s.name FROM main.sqlite_schema AS s,"
                         " pragma_foreign_key_list(s.name, 'main') AS f"
                         " WHERE s.type = 'table' AND f.\"table\" = ?1 COLLATE NOCASE",
                         table->name, &table->referenced, NULL, error);
    }
    return code;
}

/* A replace deletes rows that are there again a moment later: an action would reach other tables
 * for nothing, and RESTRICT refuses at once. */
static int refuse_actions(struct table *table, sqlite3 *db, struct pitot_error *error)
{
    bool found;
    char *child = NULL;
    int code = read_flag(db,
                         "SELECT s.name || ' references it with ON DELETE ' || f.on_delete"
                         " FROM main.sqlite_schema AS s,"
                         " pragma_foreign_key_list(s.name, 'main') AS f"
                         " WHERE s.type = 'table' AND f.\"table\" = ?1 COLLATE NOCASE"
                         " AND f.on_delete <> 'NO ACTION'",
                         table->name, &found, &child, error);
    if (code == 0 && found) {
        code = failure(error, PITOT_ERROR_SCHEMA,
                       "%s cannot be replaced: %s, and a replace deletes every row; use merge",
                       table->name, child);
    }
    free(child);
    return code;
}

int table_check_relations(const struct table *table, sqlite3 *db, struct pitot_error *error)
{
    struct table now = {.name = table->name};
    int code = read_relations(&now, db, error);
    bool same = now.triggers == table->triggers && now.foreign_keys == table->foreign_keys &&
                now.referenced == table->referenced;
    return code != 0 || same
               ? code
               : failure(error, PITOT_ERROR_SCHEMA,
                         "somebody else has made or dropped a trigger or a foreign key of table "
                         "'%s'; close the store and open it again",
                         table->name);
}

/* Which columns a record begins with. */
static int make_order(struct table *table, struct pitot_error *error)
{
    table->order = calloc(table->columns + 1, sizeof *table->order);
    bool *taken = calloc(table->columns + 1, sizeof *taken);
    if (table->order == NULL || taken == NULL) {
        free(taken);
        return out_of_memory(error, table->name);
    }
    size_t count = 0;
    for (size_t i = 0; table->without_rowid && i < table->keys; i++) {
        if (table->key[i].column < table->columns) {
            table->order[count++] = table->key[i].column;
            taken[table->key[i].column] = true;
        }
    }
    for (size_t i = 0; i < table->columns; i++) {
        if (!taken[i]) {
            table->order[count++] = i;
        }
    }
    free(taken);
    return 0;
}

/* A rowid table without an index for its primary key has it as its rowid. */
static int find_rowid(struct table *table, sqlite3 *db, size_t marked, struct pitot_error *error)
{
    bool indexed;
    table->rowid = TABLE_NONE;
    int code = read_flag(db, "SELECT 1 FROM pragma_index_list(?1, 'main') WHERE origin = 'pk'",
                         table->name, &indexed, NULL, error);
    if (code != 0 || table->without_rowid || indexed || marked != 1) {
        return code;
    }
    char *name = NULL;
    bool found;
    code = read_flag(db, "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE pk", table->name,
                     &found, &name, error);
    if (code == 0) {
        table->rowid = find_column(table, name);
        table->column[table->rowid].not_null = false;
        table->key = calloc(1, sizeof *table->key);
        if (table->key == NULL) {
            code = out_of_memory(error, table->name);
        } else {
            table->keys = 1;
            table->key->column = table->rowid;
        }
    }
    free(name);
    return code;
}

static int refuse_key(const struct table *table, struct pitot_error *error)
{
    if (table->keys == 0) {
        return failure(error, PITOT_ERROR_SCHEMA,
                       "%s has no primary key; merge compares by it (or use replace)", table->name);
    }
    for (size_t i = 0; i < table->keys; i++) {
        if (table->key[i].column >= table->columns) {
            return failure(error, PITOT_ERROR_SCHEMA,
                           "%s: a generated column is part of the primary key; merge compares by "
                           "staged values",
                           table->name);
        }
        if (table->key[i].collation == COLLATION_OTHER) {
            return failure(error, PITOT_ERROR_SCHEMA,
                           "%s: column %s of the primary key has a collation of its own; merge "
                           "compares by BINARY, NOCASE or RTRIM",
                           table->name, table->column[table->key[i].column].name);
        }
    }
    return 0;
}

static int find_slice(struct table *table, const char *slice_column,
                      const struct index_facts *facts, struct pitot_error *error)
{
    table->slice = TABLE_NONE;
    if (slice_column == NULL) {
        return 0;
    }
    table->slice = find_column(table, slice_column);
    if (table->slice == TABLE_NONE) {
        return failure(error, PITOT_ERROR_SCHEMA, "%s has no column %s that could make a slice",
                       table->name, slice_column);
    }
    bool leads = facts->slice_leads || (table->keys > 0 && table->key[0].column == table->slice);
    if (!leads) {
        return failure(error, PITOT_ERROR_SCHEMA,
                       "%s: column %s makes the slices but leads no index, so that every pass "
                       "would read the whole table; CREATE INDEX … ON %s(%s)",
                       table->name, slice_column, table->name, slice_column);
    }
    return 0;
}

static int describe(struct table *table, sqlite3 *db, const char *slice_column,
                    struct pitot_error *error)
{
    struct index_facts facts = {.plain = true};
    bool generated = false;
    size_t marked = 0;
    int code = read_columns(table, db, &generated, &marked, error);
    if (code == 0 && table->columns == 0) {
        code = failure(error, PITOT_ERROR_SCHEMA, "%s has no column that a value could be for",
                       table->name);
    }
    code = code != 0 ? code : find_rowid(table, db, marked, error);
    code = code != 0 ? code : read_indexes(table, db, slice_column, &facts, error);
    code = code != 0 ? code : find_slice(table, slice_column, &facts, error);
    code = code != 0 ? code : read_relations(table, db, error);
    if (code == 0 && table->mode == PITOT_REPLACE && table->referenced) {
        code = refuse_actions(table, db, error);
    }
    if (code == 0 && table->mode == PITOT_MERGE) {
        code = refuse_key(table, error);
    }
    code = code != 0 ? code : make_order(table, error);
    if (code != 0) {
        return code;
    }
    bool plain_key = true;
    for (size_t i = 0; i < table->keys; i++) {
        plain_key = plain_key && table->key[i].column < table->columns &&
                    table->key[i].collation != COLLATION_OTHER;
    }
    /* "check" anywhere in the statement may be a constraint; a name costs speed only. Moved cells
     * are not seen by those who count rows that are referred to. */
    table->transferable = facts.plain && plain_key && !generated && !table->triggers &&
                          !table->foreign_keys && !table->referenced &&
                          strcasestr(table->sql, "check") == NULL;
    table->transferable_beside =
        table->transferable && table->rowid != TABLE_NONE && !facts.unique_beside;
    table->unique_beside = facts.unique_beside;
    table->row_limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    return 0;
}

int table_read(struct table **out, sqlite3 *db, const char *name, const char *slice_column,
               enum pitot_mode mode, struct pitot_error *error)
{
    struct table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return out_of_memory(error, name);
    }
    table->mode = mode;
    int code = read_kind(table, db, name, error);
    code = code != 0 ? code : describe(table, db, slice_column, error);
    if (code != 0) {
        table_free(table);
        return code;
    }
    *out = table;
    return 0;
}

void table_free(struct table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->columns; i++) {
        free(table->column[i].name);
        free(table->column[i].type);
    }
    for (size_t i = 0; i < table->indexes; i++) {
        free_index(&table->index[i]);
    }
    free(table->name);
    free(table->sql);
    free(table->column);
    free(table->key);
    free(table->order);
    free(table->index);
    free(table);
}

const char *table_name(const struct table *table)
{
    return table->name;
}

size_t table_columns(const struct table *table)
{
    return table->columns;
}

bool table_key_has_forms(const struct table *table, size_t column)
{
    for (size_t i = 0; i < table->keys; i++) {
        if (table->key[i].column == column && table->key[i].collation != COLLATION_BINARY) {
            return true;
        }
    }
    /* Elsewhere a whole number is an integer, or a real, but not this here and that there. */
    return table->column[column].affinity == AFFINITY_BLOB;
}
