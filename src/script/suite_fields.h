/* Reading single values of suite.json: each is missing, wrong or right, and a
 * message names its place, such as scenarios[0].roles[1].connections. */
#ifndef PITOT_SCRIPT_SUITE_FIELDS_H
#define PITOT_SCRIPT_SUITE_FIELDS_H

#include "script/suite.h"

enum { FIELD_COUNT_MAX = 1000000, FIELD_PLACE_SIZE = 256 };

struct fields {
    struct suite *suite;
    const char *file; /* as messages name it */
    struct error *error;
};

/* Sets "FILE: message" with ERROR_INVALID or ERROR_MEMORY. */
int field_bad(const struct fields *fields, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int field_no_memory(const struct fields *fields);

/* `where` is an object's place, "" for the whole file. "where.key", or "key" at the top: */
const char *field_place(char out[FIELD_PLACE_SIZE], const char *where, const char *key);

/* It is an object and has only these keys; the nearest one is suggested. */
int field_object(const struct fields *fields, const json_t *object, const char *where,
                 const char *const *known);
/* Borrowed from the object. */
int field_string(const struct fields *fields, const json_t *object, const char *where,
                 const char *key, const char **out);
/* 1 to 64 letters, digits and _, no digit first; in names that are no variables - too. */
bool field_is_name(const char *text, bool variable);
/* Such a name, as a new string. */
int field_name(const struct fields *fields, const json_t *object, const char *where,
               const char *key, char **out);
/* An integer from 1 to FIELD_COUNT_MAX; missing gives `absent`. */
int field_count(const struct fields *fields, const json_t *object, const char *where,
                const char *key, uint32_t absent, uint32_t *out);
/* One of a list of words, by its index; `all` names them in the message. */
int field_word(const struct fields *fields, const json_t *object, const char *where,
               const char *key, const char *const *words, const char *all, int *out);
/* A list with at least one entry. */
int field_array(const struct fields *fields, const json_t *object, const char *where,
                const char *key, json_t **out);

#endif
