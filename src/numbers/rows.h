/* The rows that both sides write, and the table that holds them. */
#ifndef PITOT_NUMBERS_ROWS_H
#define PITOT_NUMBERS_ROWS_H

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* An element of a list: a short text and two numbers, by an id in order. */
#define ROWS_TABLE "items"
#define ROWS_DDL "CREATE TABLE " ROWS_TABLE "(id INTEGER PRIMARY KEY, title TEXT, ts INTEGER)"
#define ROWS_INSERT "INSERT INTO " ROWS_TABLE " VALUES (?, ?, ?)"
/* What a screen reads: 50 rows from an id on. */
#define ROWS_READ "SELECT id, title, ts FROM " ROWS_TABLE " WHERE id >= ? ORDER BY id LIMIT 50"
enum { ROWS_COLUMNS = 3, ROWS_TITLE_SIZE = 32 };

struct row {
    int64_t id;
    int64_t ts;
    size_t length;
    char title[ROWS_TITLE_SIZE];
};

struct rows {
    struct row *items;
    size_t count;
};

int rows_make(struct rows *rows, size_t count, struct error *error);
void rows_free(struct rows *rows);

/* Gives `changed` of them, spread evenly, the content of a round; the ids stay. */
void rows_change(struct rows *rows, size_t changed, uint64_t round);

/* Bytes of all values: 8 a number, texts by their length. */
uint64_t rows_bytes(const struct rows *rows);

#endif
