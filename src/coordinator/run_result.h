/* What a worker's lines say, checked and put into the result. */
#ifndef PITOT_COORDINATOR_RUN_RESULT_H
#define PITOT_COORDINATOR_RUN_RESULT_H

#include "coordinator/measure.h"

#include <jansson.h>

/* `ready`: connections with their settings read back, warm-up. */
int run_read_ready(const struct plan_case *plan_case, const json_t *ready, struct result_run *run,
                   struct error *error);

/* `result` of a run: asserts the accounting identities again; a result that breaks one is
 * ERROR_PROTOCOL and leaves no figures behind that could be mistaken for measured ones. */
int run_read_result(const struct plan_case *plan_case, const json_t *result, struct result_run *run,
                    struct error *error);

/* An `error` line as text, script and statement mapped to file, line and column. True in
 * *in_script: the script is at fault, not the engine. */
void run_read_error(const struct plan_case *plan_case, const json_t *line, bool loading,
                    bool *in_script, struct error *error);

/* Settings out of a list of {"name","asked","got","required"}. */
int run_read_settings(const json_t *array, result_settings *out, struct error *error);

#endif
