/*
 * What a statement does to the number of rows of its table, as far as its words tell: from this
 * and from the rows that an engine says it changed follows how many rows a table must have.
 */
#ifndef PITOT_SCRIPT_EFFECT_H
#define PITOT_SCRIPT_EFFECT_H

#include <stdbool.h>
#include <stddef.h>

enum effect_kind {
    EFFECT_NONE,    /* no row comes or goes: SELECT, UPDATE, … */
    EFFECT_INSERT,  /* each row changed is one more */
    EFFECT_DELETE,  /* each row changed is one less */
    EFFECT_UNKNOWN, /* cannot be told for this table */
    EFFECT_ANY,     /* cannot be told for any table: CREATE, … */
};

struct effect {
    enum effect_kind kind;
    char *table;     /* owned, quotes taken off; NULL for NONE and ANY */
    const char *why; /* UNKNOWN and ANY: in a few words, "INSERT OR REPLACE"; static */
};

/* 0 or ERROR_MEMORY. The statement is one that script_parse() has taken; of anything else the
 * effect is ANY. effect_release() is needed in every case. */
int effect_of_statement(const char *sql, struct effect *out);
void effect_release(struct effect *effect);

/* What a statement is by its verb, for engines that do not tell. */
enum effect_verb {
    EFFECT_VERB_READ,  /* SELECT, VALUES, EXPLAIN */
    EFFECT_VERB_WRITE, /* INSERT, REPLACE, UPDATE, DELETE */
    EFFECT_VERB_OTHER, /* PRAGMA, CREATE, BEGIN, … */
};
enum effect_verb effect_verb(const char *sql);

/* Why a schema makes every count uncertain, whatever the statements say: "a trigger", "ON DELETE
 * CASCADE", … (static), or NULL. */
const char *effect_of_schema(const char *sql, size_t length);

/* Names of tables are the same without regard to ASCII case. */
bool effect_same_table(const char *a, const char *b);

#endif
