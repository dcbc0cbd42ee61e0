/*
 * The settings of a plan: which are asked of every connection, which belong to the file
 * and so to the template, and whether what was read back is what was asked.
 */
#ifndef PITOT_COORDINATOR_SETTINGS_H
#define PITOT_COORDINATOR_SETTINGS_H

#include "coordinator/measure.h"
#include "core/error.h"
#include "result/result.h"

/* page_size, auto_vacuum, encoding: fixed when the file is made. */
bool setting_is_file_level(const char *name);
/* journal_mode, synchronous, cache_size, page_size, busy_timeout and the file-level ones: asked
 * and got must agree on every timed connection. */
bool setting_is_required(const char *name);

/* The settings of a plan in the order in which they are applied: file-level ones, busy_timeout
 * (others may wait for a lock), journal_mode, synchronous, cache_size, then --pragma; a manifest's
 * own required values replace these. */
int settings_of_plan(const struct plan *plan, const struct manifest *manifest, result_pairs *out,
                     struct error *error);
/* Only the file-level ones, as "name=value" sorted by name. */
int settings_of_file(const struct plan *plan, result_strings *out, struct error *error);

/* True when an engine that answered `got` has taken `asked`: numbers by value, words without
 * case, and the numbers by which PRAGMAs answer words (synchronous=normal reads 1). */
bool setting_agrees(const char *name, const char *asked, const char *got);

void settings_release(result_pairs *pairs);

#endif
