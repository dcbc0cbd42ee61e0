#include "lib/applying.h"

#include <stdlib.h>

#include "lib/compare.h"
#include "lib/order.h"

/* The longest INSERT of several rows: more gains little. */
enum { GROUP_ROWS = 32 };

static void append_columns(sqlite3_str *sql, const struct table *table, const char *prefix)
{
    for (size_t i = 0; i < table->columns; i++) {
        sqlite3_str_appendf(sql, "%s%s\"%w\"", i > 0 ? "," : "", prefix, table->column[i].name);
    }
}

/* "?1,?2,…": parameters from FIRST on for a row. */
static void append_parameters(sqlite3_str *sql, const struct table *table, size_t first)
{
    for (size_t i = 0; i < table->columns; i++) {
        sqlite3_str_appendf(sql, "%s?%d", i > 0 ? "," : "", (int)(first + i));
    }
}

/* Finds the row with the key of the row bound from 1 on. */
static void append_key(sqlite3_str *sql, const struct table *table)
{
    sqlite3_str_appendall(sql, " WHERE ");
    for (size_t i = 0; i < table->keys; i++) {
        size_t column = table->key[i].column;
        sqlite3_str_appendf(sql, "%s\"%w\" = ?%d", i > 0 ? " AND " : "", table->column[column].name,
                            (int)column + 1);
    }
}

static void append_owned(sqlite3_str *sql, const struct table *table)
{
    if (table->slice != TABLE_NONE) {
        sqlite3_str_appendf(sql, " WHERE \"%w\" = ?1", table->column[table->slice].name);
    }
}

static bool is_key(const struct table *table, size_t column)
{
    for (size_t i = 0; i < table->keys; i++) {
        if (table->key[i].column == column) {
            return true;
        }
    }
    return false;
}

static void append_insert(sqlite3_str *sql, const struct table *table, const char *verb)
{
    sqlite3_str_appendf(sql, "%s INTO main.\"%w\"(", verb, table->name);
    append_columns(sql, table, "");
    sqlite3_str_appendall(sql, ")");
}

static void append_move(sqlite3_str *sql, const struct apply *apply)
{
    const struct table *table = apply->table;
    bool whole = table->slice == TABLE_NONE;
    if (whole ? table->transferable : table->transferable_beside) {
        /* Either way no page has to be kept for undoing the statement. OR ROLLBACK moves cells also
         * beside others, and is never turned into single inserts; OR FAIL tells how far it came. */
        sqlite3_str_appendf(sql, "INSERT OR %s INTO main.\"%w\" SELECT * FROM %s.\"%w\"",
                            table->transferable_beside ? "ROLLBACK" : "FAIL", table->name,
                            image_name(apply->image), table->name);
        return;
    }
    append_insert(sql, table, "INSERT OR FAIL");
    sqlite3_str_appendall(sql, " SELECT ");
    append_columns(sql, table, "");
    sqlite3_str_appendf(sql, " FROM %s.\"%w\"", image_name(apply->image), table->name);
}

/* A column of the key may change in ways that its collation does not see. */
static void append_update(sqlite3_str *sql, const struct table *table)
{
    sqlite3_str_appendf(sql, "UPDATE main.\"%w\" SET ", table->name);
    bool first = true;
    for (size_t i = 0; i < table->columns; i++) {
        bool fixed = i == table->rowid || (is_key(table, i) && !table_key_has_forms(table, i));
        if (!fixed) {
            sqlite3_str_appendf(sql, "%s\"%w\" = ?%d", first ? "" : ",", table->column[i].name,
                                (int)i + 1);
            first = false;
        }
    }
    if (first) { /* all columns are key: there is nothing that could differ */
        sqlite3_str_appendf(sql, "\"%w\" = ?1", table->column[0].name);
    }
    append_key(sql, table);
}

/* The functions are those of merge_update.c. */
static void append_update_due(sqlite3_str *sql, const struct table *table)
{
    const char *before = "";
    sqlite3_str_appendf(sql, "UPDATE OR ROLLBACK main.\"%w\" SET ", table->name);
    for (size_t i = 0; i < table->columns; i++) {
        if (i != table->rowid) {
            sqlite3_str_appendf(sql, "%s\"%w\" = pitot_staged_%d()", before, table->column[i].name,
                                (int)i);
            before = ",";
        }
    }
    sqlite3_str_appendf(sql, " WHERE pitot_due(\"%w\")", table->column[table->rowid].name);
}

static char *sql_of(struct apply *apply, enum apply_statement which)
{
    const struct table *table = apply->table;
    sqlite3_str *sql = sqlite3_str_new(apply->db);
    switch (which) {
    case APPLY_DELETE_ALL:
        sqlite3_str_appendf(sql, "DELETE FROM main.\"%w\"", table->name);
        append_owned(sql, table);
        break;
    case APPLY_MOVE:
        append_move(sql, apply);
        break;
    case APPLY_INSERT:
        append_insert(sql, table, table->triggers ? "INSERT" : "INSERT OR ABORT");
        sqlite3_str_appendall(sql, " VALUES (");
        append_parameters(sql, table, 1);
        sqlite3_str_appendall(sql, ")");
        break;
    case APPLY_UPDATE:
        append_update(sql, table);
        break;
    case APPLY_UPDATE_DUE:
        append_update_due(sql, table);
        break;
    case APPLY_DELETE:
        sqlite3_str_appendf(sql, "DELETE FROM main.\"%w\"", table->name);
        append_key(sql, table);
        break;
    case APPLY_PUT:
    case APPLY_PUT_GROUP:
        append_insert(sql, table, "REPLACE");
        for (size_t i = 0; i < (which == APPLY_PUT ? 1 : apply->group); i++) {
            sqlite3_str_appendall(sql, i == 0 ? " VALUES (" : ",(");
            append_parameters(sql, table, 1 + i * table->columns);
            sqlite3_str_appendall(sql, ")");
        }
        break;
    case APPLY_READ:
        sqlite3_str_appendall(sql, "SELECT ");
        append_columns(sql, table, "");
        sqlite3_str_appendf(sql, " FROM main.\"%w\"", table->name);
        append_owned(sql, table);
        if (table->rowid != TABLE_NONE) {
            sqlite3_str_appendf(sql, " ORDER BY \"%w\"", table->column[table->rowid].name);
        }
        break;
    case APPLY_ANY:
        sqlite3_str_appendf(sql, "SELECT 1 FROM main.\"%w\"", table->name);
        append_owned(sql, table);
        sqlite3_str_appendall(sql, " LIMIT 1");
        break;
    default:
        sqlite3_str_appendf(sql, "SELECT \"%w\" FROM main.\"%w\"", table->column[table->slice].name,
                            table->name);
        append_key(sql, table);
        break;
    }
    return sqlite3_str_finish(sql);
}

int apply_statement(struct apply *apply, enum apply_statement which, sqlite3_stmt **out,
                    struct pitot_error *error)
{
    int code = 0;
    if (apply->statement[which] == NULL) {
        char *sql = sql_of(apply, which);
        int rc = sql == NULL ? SQLITE_NOMEM
                             : sqlite3_prepare_v3(apply->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                  &apply->statement[which], NULL);
        sqlite3_free(sql);
        if (rc != SQLITE_OK) {
            code = failure_sqlite(error, apply->db, rc, "%s", apply->table->name);
        }
    }
    *out = apply->statement[which];
    return code;
}

int apply_run(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    int extended = sqlite3_reset(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : extended;
}

int apply_bind(struct apply *apply, sqlite3_stmt *statement, int first)
{
    int last = sqlite3_bind_parameter_count(statement);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < apply->table->columns && rc == SQLITE_OK && first + (int)i <= last;
         i++) {
        rc = convert_bind(statement, first + (int)i, &apply->values[i]);
    }
    return rc;
}

/* The slice that has the row's key, if it is another one. 1: SLICE was set. */
static int find_owner(struct apply *apply, const char *row, struct pitot_error *error)
{
    sqlite3_stmt *owner;
    if (apply_statement(apply, APPLY_OWNER, &owner, NULL) != 0) {
        return 0;
    }
    int rc = apply_bind(apply, owner, 1);
    struct pitot_value slice;
    int found = 0;
    if (rc == SQLITE_OK && sqlite3_step(owner) == SQLITE_ROW && convert_column(owner, 0, &slice) &&
        compare_values(&slice, &apply->slice,
                       apply->table->column[apply->table->slice].collation) != 0) {
        const char *text = (const char *)sqlite3_column_text(owner, 0);
        failure(error, PITOT_ERROR_SLICE,
                "%s: the row with %s belongs to another slice (%s = %.60s)", apply->table->name,
                row, apply->table->column[apply->table->slice].name, text != NULL ? text : "NULL");
        found = 1;
    }
    sqlite3_reset(owner);
    sqlite3_clear_bindings(owner);
    return found;
}

/* A key that is only one index among others was not looked at before: 1, and DUPLICATE set, if it
 * was staged twice. */
static bool find_twice(const struct table *table, const struct stage *stage,
                       struct pitot_error *error)
{
    for (size_t i = 0; i < table->keys; i++) {
        if (table->key[i].column >= table->columns || table->key[i].collation == COLLATION_OTHER) {
            return false;
        }
    }
    if (table->rowid != TABLE_NONE || table->without_rowid) {
        return false;
    }
    struct order order;
    struct pitot_error found = {.code = 0};
    bool twice = order_rows(&order, stage, table->key, table->keys, table->keys, NULL, &found) ==
                 PITOT_ERROR_DUPLICATE;
    order_release(&order);
    if (twice && error != NULL) {
        *error = found;
    }
    return twice;
}

int apply_refused(struct apply *apply, const struct stage *stage, const struct row *row,
                  size_t number, int rc, struct pitot_error *error)
{
    char text[300];
    row_describe(stage, row, number, text, sizeof text);
    int code = failure_sqlite(error, apply->db, rc, "%s: %s%s", apply->table->name,
                              apply->table->keys == 0 ? "" : "the row with ", text);
    if ((rc & 0xFF) != SQLITE_CONSTRAINT || apply->table->keys == 0) {
        return code;
    }
    if (apply->table->slice != TABLE_NONE) {
        row_values(stage, row, apply->values);
        if (find_owner(apply, text, error)) {
            return PITOT_ERROR_SLICE;
        }
    }
    return find_twice(apply->table, stage, error) ? PITOT_ERROR_DUPLICATE : code;
}

int apply_new(struct apply **out, sqlite3 *db, const struct table *table,
              const struct pitot_value *slice, bool remember, struct pitot_error *error)
{
    struct apply *apply = calloc(1, sizeof *apply);
    if (apply == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory", table->name);
    }
    apply->db = db;
    apply->table = table;
    /* Triggers may leave other rows behind than were staged. */
    apply->remember = remember && !table->triggers;
    apply->values = calloc(table->columns, sizeof *apply->values);
    size_t most = (size_t)sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, -1) / table->columns;
    apply->group = most < GROUP_ROWS ? most : GROUP_ROWS;
    int code = apply->values == NULL
                   ? failure(error, PITOT_ERROR_MEMORY, "%s: out of memory", table->name)
                   : stage_new(&apply->own, table, slice, error);
    if (code != 0) {
        apply_free(apply);
        return code;
    }
    if (table->slice != TABLE_NONE) {
        rows_slice(apply->own, &apply->slice);
    }
    *out = apply;
    return 0;
}

void apply_free(struct apply *apply)
{
    if (apply == NULL) {
        return;
    }
    for (size_t i = 0; i < APPLY_STATEMENTS; i++) {
        sqlite3_finalize(apply->statement[i]);
    }
    image_free(apply->image);
    merge_free(apply->merge);
    stage_free(apply->own);
    free(apply->values);
    free(apply);
}

int apply_prepare(struct apply *apply, struct stage *stage, struct pitot_error *error)
{
    int code = order_stage(stage, error);
    if (code != 0) {
        return code;
    }
    return apply->table->mode == PITOT_REPLACE ? replace_prepare(apply, stage, error)
                                               : merge_prepare(apply, stage, error);
}

int apply_check(sqlite3 *db, struct pitot_error *error)
{
    int current = 0;
    int highest = 0;
    int rc = sqlite3_db_status(db, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0);
    if (rc == SQLITE_OK && current != 0) {
        return failure(error, PITOT_ERROR_CONSTRAINT,
                       "the pass leaves rows that refer to rows which are gone (FOREIGN KEY)");
    }
    return 0;
}

void apply_end(struct apply *apply, bool committed)
{
    if (apply->filled) {
        image_empty(apply->image);
        apply->filled = false;
    }
    merge_end(apply, committed);
}

bool apply_overlaps(const struct apply *one, const struct apply *other)
{
    const struct table *a = one->table;
    const struct table *b = other->table;
    if (sqlite3_stricmp(a->name, b->name) != 0) {
        return false;
    }
    if (a->slice == TABLE_NONE || b->slice == TABLE_NONE || a->slice != b->slice) {
        return true;
    }
    return compare_values(&one->slice, &other->slice, a->column[a->slice].collation) == 0;
}
