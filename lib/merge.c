/*
 * Merge: staged rows are compared by primary key with what is there, and only what
 * differs is written.
 *
 * What is there is known from the last pass (mirror.c), or read from the table
 * (merge_table.c). Rows that are gone are deleted first, so that their values of unique
 * columns are free; then changed rows are written, then new ones.
 */
#include <stdlib.h>

#include "lib/plan.h"

struct merge {
    struct plan plan;
    bool planned; /* the plan is whole if what is remembered is right */
    bool known;   /* the mirror holds what the table will hold after the pass */
    struct mirror mirror;
};

/* So much is different that moving all rows anew is less work than writing those one by one; every
 * page is written in any case. Long rows take their time however they come. */
static bool moving_is_less(const struct stage *stage, const struct plan *plan)
{
    enum { LONG_ROW = 512, MANY_COLUMNS = 8 };
    size_t written = plan->changed.count + plan->added.count + plan->gone;
    /* Sixths of the rows, as measured by bench/passes.c. */
    bool costly = stage->table->indexes > 0 || stage->table->columns > MANY_COLUMNS;
    size_t share = costly ? 2 : 4;
    bool anew = plan->added.count == stage->rows && plan->gone == 0;
    return anew ||
           (6 * written >= share * stage->rows && stage_memory(stage) < LONG_ROW * stage->rows);
}

/* A statement of several rows keeps each page as it was, for the case that it fails. Whether ROWS
 * or more that it changes share one, so that this is less than what it saves. */
static bool share_pages(const struct stage *stage, const struct plan_cells *cells, size_t rows)
{
    enum { PAGE = 4096 };
    size_t bytes = stage->big_bytes;
    for (size_t i = 0; i < stage->pages.count; i++) {
        bytes += PAGES_SIZE - stage->pages.page[i].top;
    }
    return cells->count * PAGE >= rows * bytes;
}

/* So much has changed that to walk over all rows is less work than to seek these. */
static bool update_is_less(const struct stage *stage, const struct plan *plan)
{
    /* As measured by bench/passes.c; the first is what is passed over for one that is sought. */
    enum { ROWS_PASSED_OVER = 3, ROWS_OF_A_PAGE = 16 };
    return update_can_walk(stage->table) && ROWS_PASSED_OVER * plan->changed.count >= stage->rows &&
           share_pages(stage, &plan->changed, ROWS_OF_A_PAGE);
}

/* Whether the source owns no row now. What is found is a guess: no lock is held. */
static bool owns_none(struct apply *apply)
{
    sqlite3_stmt *any;
    if (apply_statement(apply, APPLY_ANY, &any, NULL) != 0) {
        return false;
    }
    int rc = apply->table->slice != TABLE_NONE ? convert_bind(any, 1, &apply->slice) : SQLITE_OK;
    rc = rc == SQLITE_OK ? sqlite3_step(any) : rc;
    sqlite3_reset(any);
    sqlite3_clear_bindings(any);
    return rc == SQLITE_DONE;
}

int merge_prepare(struct apply *apply, struct stage *stage, struct pitot_error *error)
{
    if (apply->merge == NULL) {
        apply->merge = calloc(1, sizeof *apply->merge);
        if (apply->merge == NULL) {
            return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory", apply->table->name);
        }
    }
    struct merge *merge = apply->merge;
    plan_clear(&merge->plan, apply->table->keys);
    merge->planned = false;
    int code = 0;
    if (!apply->remember) {
        /* The table is read. */
    } else if (merge->known) {
        code = mirror_compare(&merge->mirror, stage, &merge->plan, error);
        merge->planned = code > 0;
        code = code > 0 ? 0 : code;
    } else {
        code = mirror_build(&merge->mirror, stage, error);
    }
    merge->known = apply->remember && code == 0;
    if (code == 0 && replace_moves_cells(apply->table) &&
        (merge->planned ? moving_is_less(stage, &merge->plan) : owns_none(apply))) {
        code = replace_prepare(apply, stage, error);
    }
    return code;
}

static int run_row(struct apply *apply, const struct stage *stage, sqlite3_stmt *statement,
                   const uint8_t *cell, struct pitot_error *error)
{
    struct row row;
    row_read(stage, cell, &row);
    row_values(stage, &row, apply->values);
    int rc = apply_bind(apply, statement, 1);
    rc = rc == SQLITE_OK ? apply_run(statement) : rc;
    return rc == SQLITE_OK ? 0 : apply_refused(apply, stage, &row, 0, rc, error);
}

static int run_rows(struct apply *apply, const struct stage *stage, enum apply_statement which,
                    const struct plan_cells *cells, size_t first, struct pitot_error *error)
{
    if (cells->count == first) {
        return 0;
    }
    sqlite3_stmt *statement;
    int code = apply_statement(apply, which, &statement, error);
    for (size_t i = first; i < cells->count && code == 0; i++) {
        code = run_row(apply, stage, statement, cells->cell[i], error);
    }
    if (statement != NULL) {
        sqlite3_clear_bindings(statement);
    }
    return code;
}

/* Several rows a statement; what is left over, and a group that was refused, one by one. */
static int put_groups(struct apply *apply, const struct stage *stage,
                      const struct plan_cells *cells, struct pitot_error *error)
{
    enum { ROWS_OF_A_PAGE = 3 }; /* as measured by bench/passes.c */
    size_t done = 0;
    if (cells->count >= apply->group && apply->group > 1 &&
        share_pages(stage, cells, ROWS_OF_A_PAGE)) {
        sqlite3_stmt *put;
        int code = apply_statement(apply, APPLY_PUT_GROUP, &put, error);
        if (code != 0) {
            return code;
        }
        int rc = SQLITE_OK;
        while (rc == SQLITE_OK && cells->count - done >= apply->group) {
            for (size_t i = 0; i < apply->group && rc == SQLITE_OK; i++) {
                struct row row;
                row_read(stage, cells->cell[done + i], &row);
                row_values(stage, &row, apply->values);
                rc = apply_bind(apply, put, 1 + (int)(i * apply->table->columns));
            }
            rc = rc == SQLITE_OK ? apply_run(put) : rc;
            done += rc == SQLITE_OK ? apply->group : 0;
        }
        sqlite3_clear_bindings(put);
        if (rc != SQLITE_OK && (rc & 0xFF) != SQLITE_CONSTRAINT) {
            return failure_sqlite(error, apply->db, rc, "%s", apply->table->name);
        }
    }
    return run_rows(apply, stage, APPLY_PUT, cells, done, error);
}

static int delete_gone(struct apply *apply, const struct plan *plan, uint64_t *deleted,
                       struct pitot_error *error)
{
    const struct table *table = apply->table;
    if (plan->gone == 0) {
        return 0;
    }
    sqlite3_stmt *delete;
    int code = apply_statement(apply, APPLY_DELETE, &delete, error);
    if (code != 0) {
        return code;
    }
    int rc = SQLITE_OK;
    for (size_t i = 0; i < plan->gone && rc == SQLITE_OK; i++) {
        for (size_t k = 0; k < table->keys && rc == SQLITE_OK; k++) {
            int parameter = (int)table->key[k].column + 1;
            rc = plan->gone_rowid != NULL
                     ? sqlite3_bind_int64(delete, parameter, plan->gone_rowid[i])
                     : convert_bind(delete, parameter, &plan->gone_value[i * table->keys + k]);
        }
        rc = rc == SQLITE_OK ? apply_run(delete) : rc;
        *deleted += rc == SQLITE_OK ? (uint64_t)sqlite3_changes64(apply->db) : 0;
    }
    sqlite3_clear_bindings(delete);
    return rc == SQLITE_OK ? 0 : failure_sqlite(error, apply->db, rc, "%s: deleting", table->name);
}

/* Where there are indexes, an UPDATE leaves the row where it is and the key's index alone.
 *
 * Rows that take over values of unique columns from each other must all be gone before the first
 * comes back. Where that would be seen, by triggers or by rows that refer to them, they are updated
 * in place, one after the other. */
static int write_changed(struct apply *apply, const struct stage *stage, const struct plan *plan,
                         struct pitot_error *error)
{
    const struct table *table = apply->table;
    if (table->triggers || table->referenced || (table->indexes > 0 && !table->unique_beside)) {
        return run_rows(apply, stage, APPLY_UPDATE, &plan->changed, 0, error);
    }
    if (!table->unique_beside) {
        int left =
            update_is_less(stage, plan) ? update_rows(apply, stage, &plan->changed, error) : 1;
        return left <= 0 ? left : put_groups(apply, stage, &plan->changed, error);
    }
    int code = run_rows(apply, stage, APPLY_DELETE, &plan->changed, 0, error);
    return code != 0 ? code : run_rows(apply, stage, APPLY_INSERT, &plan->changed, 0, error);
}

int apply_merge(struct apply *apply, struct stage *stage, bool trusted, struct pitot_counts *counts,
                struct pitot_error *error)
{
    struct merge *merge = apply->merge;
    struct plan *plan = &merge->plan;
    struct pitot_counts found = {0};
    int code = trusted && merge->planned ? 0 : table_compare(apply, stage, plan, error);
    if (code == 0 && apply->filled && moving_is_less(stage, plan)) {
        struct pitot_counts moved;
        code = apply_replace(apply, stage, &moved, error);
        found.deleted = plan->gone;
    } else if (code == 0) {
        code = delete_gone(apply, plan, &found.deleted, error);
        code = code != 0 ? code : write_changed(apply, stage, plan, error);
        code = code != 0 ? code : run_rows(apply, stage, APPLY_INSERT, &plan->added, 0, error);
    }
    if (code == 0) {
        found.inserted = plan->added.count;
        found.updated = plan->changed.count;
        found.unchanged = plan->unchanged;
        *counts = found;
    }
    return code;
}

void merge_end(struct apply *apply, bool committed)
{
    if (apply->merge == NULL) {
        return;
    }
    plan_clear(&apply->merge->plan, apply->table->keys);
    apply->merge->planned = false;
    if (!committed) {
        apply_forget(apply);
    }
}

void merge_free(struct merge *merge)
{
    if (merge != NULL) {
        mirror_clear(&merge->mirror);
        free(merge);
    }
}

void apply_forget(struct apply *apply)
{
    if (apply->merge != NULL) {
        mirror_clear(&apply->merge->mirror);
        apply->merge->known = false;
    }
}

size_t apply_memory(const struct apply *apply)
{
    return (size_t)apply_rows_kept(apply) * (sizeof(uint64_t) + sizeof(struct hash));
}

uint64_t apply_rows_kept(const struct apply *apply)
{
    return apply->merge != NULL && apply->merge->known ? apply->merge->mirror.rows : 0;
}
