/* The result as a file: strict JSON, independent of the locale. */
#ifndef PITOT_RESULT_JSON_H
#define PITOT_RESULT_JSON_H

#include "result/result.h"

#include <jansson.h>

/* A new reference; NULL when out of memory. No NaN, no infinity: absent is null.
 * Bytes that are not UTF-8 are escaped as \xNN (base/text.h). */
json_t *result_to_json(const struct result *result);

/* Reads a result; ERROR_INVALID says what is wrong and where ("engines[0].runs:
 * …"). Unknown keys are ignored (a newer minor writer), missing ones are errors,
 * another version is refused by number. */
int result_from_json(const json_t *json, struct result **out, struct error *error);

/* The numbers with one library alone, as pitot-numbers sends them. To JSON: a new reference, NULL
 * when out of memory. From JSON: `out` is in its empty state, and owns what was read also after an
 * error, which is as of result_from_json(). */
json_t *result_numbers_to_json(const struct result_numbers *numbers);
int result_numbers_from_json(const json_t *json, struct result_numbers *out, struct error *error);

/* Writes "PATH.tmp…", fsyncs, renames: the file is whole or absent, and one that
 * was there stays until then. */
int result_write(const struct result *result, const char *path, struct error *error);

/* Reads a file of at most RESULT_FILE_MAX bytes; nesting is limited. */
#define RESULT_FILE_MAX (256u << 20)
int result_read(const char *path, struct result **out, struct error *error);

#endif
