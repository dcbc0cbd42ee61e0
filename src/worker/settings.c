#include "worker/settings.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

enum { SETTING_TEXT_SIZE = 1024 };

struct setting_state *settings_new(const struct job_settings *settings)
{
    return calloc(settings->count + 1, sizeof(struct setting_state));
}

void settings_free(const struct job_settings *settings, struct setting_state *states)
{
    if (states == NULL) {
        return;
    }
    for (size_t i = 0; i < settings->count; i++) {
        free(states[i].got);
        free(states[i].problem);
    }
    free(states);
}

/* Takes a refusal: the error of a required setting, a note beside another one. */
static int refused(const struct job_setting *setting, struct setting_state *state,
                   const struct error *found, struct error *error)
{
    if (setting->required) {
        return error_set(error, found->code, "setting %s = %s: %s", setting->name, setting->value,
                         found->message);
    }
    if (state->problem == NULL && (state->problem = strdup(found->message)) == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the settings");
    }
    return 0;
}

int settings_apply(const struct engine_ops *ops, struct engine_connection *connection,
                   const struct job_settings *settings, struct setting_state *states,
                   struct error *error)
{
    for (size_t i = 0; i < settings->count; i++) {
        const struct job_setting *setting = &settings->items[i];
        struct error found = ERROR_INIT;
        if (ops->setting_set(connection, setting->name, setting->value, &found) != 0) {
            int status = refused(setting, &states[i], &found, error);
            if (status != 0) {
                return status;
            }
        }
    }
    return 0;
}

int settings_read(const struct engine_ops *ops, struct engine_connection *connection,
                  const struct job_settings *settings, struct setting_state *states,
                  struct error *error)
{
    for (size_t i = 0; i < settings->count; i++) {
        const struct job_setting *setting = &settings->items[i];
        struct error found = ERROR_INIT;
        char text[SETTING_TEXT_SIZE] = "";
        int got = ops->setting_get(connection, setting->name, text, sizeof(text), &found);
        int status = 0;
        if (got < 0) {
            status = refused(setting, &states[i], &found, error);
        } else if (got == 0 && (states[i].got = strdup(text)) == NULL) {
            status = error_set(error, ERROR_MEMORY, "out of memory for the settings");
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_text(text);
}

json_t *settings_to_json(const struct job_settings *settings, const struct setting_state *states)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < settings->count; i++) {
        const struct job_setting *setting = &settings->items[i];
        json_t *entry =
            json_pack("{s:o, s:o, s:o, s:b, s:o}", "name", json_text(setting->name), "asked",
                      json_text(setting->value), "got", text_or_null(states[i].got), "required",
                      (int)setting->required, "problem", text_or_null(states[i].problem));
        if (json_array_append_new(list, entry) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}
