/*
 * Replace: what the source owns is deleted, and the staged rows are inserted.
 *
 * Above a few rows they come out of an image, by one INSERT … SELECT. Triggers and
 * foreign keys are asked row by row, so that the one that is refused is known; so are
 * rows that leave their id to SQLite, in the order in which they were staged.
 */
#include "lib/applying.h"

/* Below this an image costs more than it saves. */
enum { IMAGE_ROWS = 24 };

bool replace_moves_cells(const struct table *table)
{
    return table->slice == TABLE_NONE ? table->transferable : table->transferable_beside;
}

int replace_prepare(struct apply *apply, struct stage *stage, struct pitot_error *error)
{
    const struct table *table = apply->table;
    if (apply->no_image || stage->without_rowid || stage->rows < IMAGE_ROWS || table->triggers ||
        table->foreign_keys) {
        return 0;
    }
    if (apply->image == NULL) {
        int code = image_new(&apply->image, apply->db, table, replace_moves_cells(table), error);
        if (code != 0 || apply->image == NULL) {
            apply->no_image = code == 0;
            return code;
        }
    }
    int filled = image_fill(apply->image, stage, error);
    apply->filled = filled > 0;
    return filled < 0 ? filled : 0;
}

/* The staged row of that number, from 0. False: there are fewer. */
static bool find_row(const struct stage *stage, uint64_t number, struct row *row)
{
    for (size_t p = 0; p < stage->pages.count; p++) {
        if (number < stage->pages.page[p].cells) {
            row_read(stage, page_cell(&stage->pages.page[p], (size_t)number), row);
            return true;
        }
        number -= stage->pages.page[p].cells;
    }
    return false;
}

/* The transaction is gone, and with it where the statement stopped: the first row whose key is
 * another slice's. */
static int find_refused(struct apply *apply, const struct stage *stage, int rc,
                        struct pitot_error *error)
{
    for (size_t p = 0; p < stage->pages.count; p++) {
        for (size_t c = 0; c < stage->pages.page[p].cells; c++) {
            struct row row;
            row_read(stage, page_cell(&stage->pages.page[p], c), &row);
            if (apply_refused(apply, stage, &row, 0, rc, error) == PITOT_ERROR_SLICE) {
                return PITOT_ERROR_SLICE;
            }
        }
    }
    return failure(error, PITOT_ERROR_CONSTRAINT, "%s: a staged row was refused: %s",
                   apply->table->name, sqlite3_errstr(rc));
}

static int move_rows(struct apply *apply, const struct stage *stage, struct pitot_counts *counts,
                     struct pitot_error *error)
{
    sqlite3_stmt *move;
    int code = apply_statement(apply, APPLY_MOVE, &move, error);
    if (code != 0) {
        return code;
    }
    int rc = apply_run(move);
    uint64_t moved = (uint64_t)sqlite3_changes64(apply->db);
    if (rc == SQLITE_OK) {
        counts->inserted = moved;
        return 0;
    }
    if ((rc & 0xFF) != SQLITE_CONSTRAINT) {
        return failure_sqlite(error, apply->db, rc, "%s", apply->table->name);
    }
    if (sqlite3_get_autocommit(apply->db) != 0) {
        return find_refused(apply, stage, rc, error);
    }
    /* OR FAIL keeps the rows before: the next is the one that was refused. */
    struct row row;
    if (find_row(stage, moved, &row)) {
        return apply_refused(apply, stage, &row, (size_t)moved + 1, rc, error);
    }
    return failure_sqlite(error, apply->db, rc, "%s", apply->table->name);
}

static int insert_rows(struct apply *apply, const struct stage *stage, struct pitot_counts *counts,
                       struct pitot_error *error)
{
    sqlite3_stmt *insert;
    int code = apply_statement(apply, APPLY_INSERT, &insert, error);
    if (code != 0) {
        return code;
    }
    size_t number = 0;
    for (size_t p = 0; p < stage->pages.count && code == 0; p++) {
        for (size_t c = 0; c < stage->pages.page[p].cells && code == 0; c++) {
            struct row row;
            row_read(stage, page_cell(&stage->pages.page[p], c), &row);
            row_values(stage, &row, apply->values);
            number++;
            int rc = apply_bind(apply, insert, 1);
            rc = rc == SQLITE_OK ? apply_run(insert) : rc;
            if (rc != SQLITE_OK) {
                code = apply_refused(apply, stage, &row, number, rc, error);
            } else {
                counts->inserted += (uint64_t)sqlite3_changes64(apply->db);
            }
        }
    }
    sqlite3_clear_bindings(insert);
    return code;
}

int apply_replace(struct apply *apply, struct stage *stage, struct pitot_counts *counts,
                  struct pitot_error *error)
{
    struct pitot_counts found = {0};
    int rc = SQLITE_OK;
    if (apply->table->referenced) {
        /* What refers to a row that is deleted refers to the one that comes in its place. */
        rc = sqlite3_exec(apply->db, "PRAGMA defer_foreign_keys = ON", NULL, NULL, NULL);
    }
    sqlite3_stmt *delete;
    int code = apply_statement(apply, APPLY_DELETE_ALL, &delete, error);
    if (code != 0) {
        return code;
    }
    if (rc == SQLITE_OK && apply->table->slice != TABLE_NONE) {
        rc = convert_bind(delete, 1, &apply->slice);
    }
    rc = rc == SQLITE_OK ? apply_run(delete) : rc;
    if (rc != SQLITE_OK) {
        return failure_sqlite(error, apply->db, rc, "%s: deleting", apply->table->name);
    }
    found.deleted = (uint64_t)sqlite3_changes64(apply->db);
    code = apply->filled ? move_rows(apply, stage, &found, error)
                         : insert_rows(apply, stage, &found, error);
    if (code == 0) {
        *counts = found;
    }
    return code;
}
