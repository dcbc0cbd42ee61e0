/* Rounds of a case as a result holds them: whether they are whole, and what the host did meanwhile.
 * `of` is the index of the case, `round` counts from 1. */
#ifndef PITOT_RESULT_ROUNDS_H
#define PITOT_RESULT_ROUNDS_H

#include "result/result.h"

/* The engine is not run in the case, or no more: it failed, or is unable to, as its summary says.
 */
bool round_engine_gone(const struct result_engine *engine, size_t of);

/* A run of it ended early, there is none at all, or one is missing of an engine that has not
 * failed, in a result that is partial: the measurement ended before it was due. */
bool round_broken_off(const struct result *result, size_t of, uint64_t round);

/* Steal or the CPU of others exceeded `most` (a share of all cores) in a run that counts, or in
 * the baseline's second one. What is not known (a window that is too short) exceeds nothing; NAN is
 * exceeded by nothing. */
bool round_disturbed(const struct result *result, size_t of, uint64_t round, double most);

/* It was measured again since it had been disturbed. */
bool round_repeated(const struct result *result, size_t of, uint64_t round);

#endif
