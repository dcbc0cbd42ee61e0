/*
 * In what two results differ: whether one may go on where the other ended, or be compared with it.
 * Each function appends what differs, named as in the file, the earlier one first, with "; "
 * between them; nothing when all that counts is the same:
 *     seed: 1, here 2; settings[1].value: "normal", here "full"
 */
#ifndef PITOT_RESULT_ALIKE_H
#define PITOT_RESULT_ALIKE_H

#include "base/buffer.h"
#include "result/result.h"

/* The machine: processor, cores, virtual machine, file system. */
void alike_host(const struct result_host *before, const struct result_host *here,
                struct buffer *differences);
/* What is asked for in all cases; not the number of rounds. */
void alike_plan(const struct result_plan *before, const struct result_plan *here,
                struct buffer *differences);
/* What is measured in a case, on what data, for how long; not its label. */
void alike_case(const struct result_case *before, const struct result_case *here,
                struct buffer *differences);
/* Name, libraries, versions and options. */
void alike_engine(const struct result_engine *before, const struct result_engine *here,
                  struct buffer *differences);
/* The same but for its name and the folders that its libraries lie in: what it is. */
void alike_version(const struct result_engine *before, const struct result_engine *here,
                   struct buffer *differences);

/* The case of that label; NULL: there is none. */
const struct result_case *alike_find_case(const struct result *result, const char *label);

#endif
