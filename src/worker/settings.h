/* Settings (PRAGMAs) of a connection: applied in the job's order, then all read back. */
#ifndef PITOT_WORKER_SETTINGS_H
#define PITOT_WORKER_SETTINGS_H

#include "engine/engine.h"
#include "worker/job.h"

#include <jansson.h>

/* What became of one setting; strings are owned. */
struct setting_state {
    char *got;     /* as read back; NULL: the engine returns nothing for it */
    char *problem; /* what the engine said when it was set or read; NULL: nothing */
};

/* One state for each setting, all empty; NULL: out of memory. */
struct setting_state *settings_new(const struct job_settings *settings);
void settings_free(const struct job_settings *settings, struct setting_state *states);

/* A setting that is required and that the engine refuses is an error; another one's refusal is
 * kept in its state, and what is read back tells the effect. Call it from the thread that
 * owns the connection. */
int settings_apply(const struct engine_ops *ops, struct engine_connection *connection,
                   const struct job_settings *settings, struct setting_state *states,
                   struct error *error);
int settings_read(const struct engine_ops *ops, struct engine_connection *connection,
                  const struct job_settings *settings, struct setting_state *states,
                  struct error *error);

/* [{"name", "asked", "got", "required", "problem"}]; NULL: out of memory. */
json_t *settings_to_json(const struct job_settings *settings, const struct setting_state *states);

#endif
