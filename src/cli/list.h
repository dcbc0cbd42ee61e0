/* Values of options that are lists: "a,b,c". */
#ifndef PITOT_CLI_LIST_H
#define PITOT_CLI_LIST_H

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* Finds each name of `text` among `known` (ends with NULL) and gives their indexes in the order of
 * `text`: *count of them in `out`, which holds as many as there are in `known`. NULL stands for
 * all, in their order. ERROR_INVALID, with the option's `label` in front: a name that is empty, is
 * given twice, or is none of those that there are. `what` is what they are called: "workload". */
int list_of_names(const char *label, const char *what, const char *text, const char *const *known,
                  size_t *out, size_t *count, struct error *error);

/* The numbers of `text` in its order, in a new array (free()). ERROR_INVALID, with the option's
 * `label` in front: a place that is empty, a number that is none, is outside of `min` to `max`, or
 * is given twice. `what` is what they are called: "number of connections". */
int list_of_counts(const char *label, const char *what, const char *text, uint64_t min,
                   uint64_t max, uint64_t **out, size_t *count, struct error *error);

#endif
