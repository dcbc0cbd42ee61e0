/*
 * What the two ways of applying share: the struct itself, its statements, and how they
 * report.
 */
#ifndef PITOT_LIB_APPLYING_H
#define PITOT_LIB_APPLYING_H

#include "lib/apply.h"
#include "lib/image.h"
#include "lib/rows.h"

enum apply_statement {
    APPLY_DELETE_ALL, /* what the source owns */
    APPLY_MOVE,       /* INSERT … SELECT out of the image */
    APPLY_INSERT,     /* one row */
    APPLY_UPDATE,     /* one row, all but the key */
    APPLY_UPDATE_DUE, /* many rows: see merge_update.c */
    APPLY_DELETE,     /* one row, by key */
    APPLY_PUT,        /* REPLACE of one row */
    APPLY_PUT_GROUP,  /* REPLACE of APPLY_GROUP rows */
    APPLY_READ,       /* all rows that the source owns */
    APPLY_ANY,        /* one of them */
    APPLY_OWNER,      /* the slice of a row, by key */
    APPLY_STATEMENTS
};

struct merge;

struct apply {
    sqlite3 *db;
    const struct table *table;
    struct stage *own; /* without rows: the slice's value */
    struct pitot_value slice;
    sqlite3_stmt *statement[APPLY_STATEMENTS]; /* NULL until first used */
    size_t group;                              /* rows of APPLY_PUT_GROUP */
    struct pitot_value *values;                /* one row */
    struct image *image;                       /* NULL until first used */
    bool no_image;                             /* there can be none */
    bool filled;                               /* the image has the stage's rows */
    bool remember;
    struct merge *merge; /* NULL until first used */
};

/* The statement, prepared when it is first needed, in *OUT. After an error *OUT is NULL. */
int apply_statement(struct apply *apply, enum apply_statement which, sqlite3_stmt **out,
                    struct pitot_error *error);

/* Runs a statement that gives no rows. 0, or SQLite's extended result code. */
int apply_run(sqlite3_stmt *statement);

/* Binds the values of a row to parameters from FIRST on. SQLite's result code. */
int apply_bind(struct apply *apply, sqlite3_stmt *statement, int first);

/* The error of a statement for this row: SLICE when another slice has its key, or else what SQLite
 * says. NUMBER counts from 1. */
int apply_refused(struct apply *apply, const struct stage *stage, const struct row *row,
                  size_t number, int rc, struct pitot_error *error);

/* What apply_prepare and apply_end do for a mode. */
bool replace_moves_cells(const struct table *table); /* an image is a good thing to have */
int replace_prepare(struct apply *apply, struct stage *stage, struct pitot_error *error);
int merge_prepare(struct apply *apply, struct stage *stage, struct pitot_error *error);
void merge_end(struct apply *apply, bool committed);
void merge_free(struct merge *merge); /* NULL is allowed */

#endif
