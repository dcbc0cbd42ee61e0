/*
 * Changed rows that are a large part of a table, by one UPDATE: it walks the table once, in the
 * order of its rowids, and two functions tell it which rows are to change and what they become.
 * No key is sought, no value is bound, and rows that are the same are passed over.
 */
#include "lib/plan.h"

#include <stdio.h>

struct update {
    const struct stage *stage;
    const struct plan_cells *cells; /* in the order of their rowids */
    struct pitot_value *values;     /* of the row that the UPDATE is at */
    size_t met;
    struct row next; /* of the cells, unless all were met */
};

enum { MOST_COLUMNS = 32 }; /* each has a function */

/* The functions belong to a connection, and serve all its tables. */
static _Thread_local struct update *current;
/* Nothing is stored in it: the place of its mark tells a function which column it is for. */
static char column_marks[MOST_COLUMNS];

bool update_can_walk(const struct table *table)
{
    return table->rowid != TABLE_NONE && table->columns > 1 && table->columns <= MOST_COLUMNS &&
           table->slice == TABLE_NONE && table->indexes == 0 && !table->triggers &&
           !table->referenced && !table->foreign_keys;
}

static void read_next(struct update *update)
{
    if (update->met < update->cells->count) {
        row_read(update->stage, update->cells->cell[update->met], &update->next);
    }
}

/* pitot_due(rowid): whether the row is to change. */
static void due(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    (void)count;
    struct update *update = current;
    bool found = update != NULL && update->met < update->cells->count &&
                 sqlite3_value_int64(arguments[0]) == update->next.rowid;
    if (found) {
        row_values(update->stage, &update->next, update->values);
        update->met++;
        read_next(update);
    }
    sqlite3_result_int(context, found);
}

/* pitot_staged_N(): the value for column N of the row that was due last. Without arguments, which
 * would be copied for each call. */
static void staged(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    (void)count;
    (void)arguments;
    if (current == NULL) {
        return;
    }
    const char *mark = sqlite3_user_data(context);
    const struct pitot_value *value = &current->values[mark - column_marks];
    switch (value->type) {
    case PITOT_INTEGER:
        sqlite3_result_int64(context, value->as.integer);
        break;
    case PITOT_REAL:
        sqlite3_result_double(context, value->as.real);
        break;
    case PITOT_TEXT: /* its bytes are the stage's, and stay */
        sqlite3_result_text64(context, value->as.bytes, value->size, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case PITOT_BLOB:
        sqlite3_result_blob64(context, value->as.bytes, value->size, SQLITE_STATIC);
        break;
    default:
        break; /* NULL */
    }
}

static int add_functions(struct apply *apply, struct pitot_error *error)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DIRECTONLY };
    int rc =
        sqlite3_create_function_v2(apply->db, "pitot_due", 1, FLAGS, NULL, due, NULL, NULL, NULL);
    for (size_t i = 0; i < apply->table->columns && rc == SQLITE_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, "pitot_staged_%d", (int)i);
        rc = sqlite3_create_function_v2(apply->db, name, 0, FLAGS, &column_marks[i], staged, NULL,
                                        NULL, NULL);
    }
    return rc == SQLITE_OK
               ? 0
               : failure_sqlite(error, apply->db, rc, "%s: making functions", apply->table->name);
}

int update_rows(struct apply *apply, const struct stage *stage, const struct plan_cells *cells,
                struct pitot_error *error)
{
    sqlite3_stmt *statement;
    int code = apply->statement[APPLY_UPDATE_DUE] == NULL ? add_functions(apply, error) : 0;
    code = code != 0 ? code : apply_statement(apply, APPLY_UPDATE_DUE, &statement, error);
    if (code != 0) {
        return code;
    }
    struct update update = {.stage = stage, .cells = cells, .values = apply->values};
    read_next(&update);
    current = &update;
    int rc = apply_run(statement);
    current = NULL;
    if (rc == SQLITE_OK) {
        return update.met == cells->count ? 0 : 1;
    }
    if (update.met == 0) {
        return failure_sqlite(error, apply->db, rc, "%s", apply->table->name);
    }
    struct row row;
    row_read(stage, cells->cell[update.met - 1], &row);
    return apply_refused(apply, stage, &row, 0, rc, error);
}
