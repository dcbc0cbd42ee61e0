#include "worker/failure.h"

#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void failure_init(struct failure *failure)
{
    error_clear(&failure->error);
    failure->phase = "internal";
    failure->script = FAILURE_NOWHERE;
    failure->statement = FAILURE_NOWHERE;
    failure->has_code = false;
    failure->code = 0;
    failure->place = (struct script_place){0, 0};
}

int failure_set(struct failure *failure, const char *phase, enum error_code code,
                const char *format, ...)
{
    if (failure_is_set(failure)) {
        return code;
    }
    va_list arguments;
    va_start(arguments, format);
    error_setv(&failure->error, code, format, arguments);
    va_end(arguments);
    failure->phase = phase;
    return code;
}

int failure_phase(struct failure *failure, const char *phase)
{
    failure->phase = phase;
    return failure->error.code;
}

static const char *status_text(enum engine_status status)
{
    switch (status) {
    case ENGINE_OK:
        return "no error";
    case ENGINE_BUSY:
        return "the database is busy";
    case ENGINE_CONFLICT:
        return "another transaction is in conflict";
    case ENGINE_FAILED:
        return "the engine failed without a message";
    case ENGINE_INTERRUPTED:
        return "interrupted";
    }
    return "unknown status of the engine";
}

int failure_engine(struct failure *failure, const char *phase, const struct engine_ops *ops,
                   struct engine_connection *connection, enum engine_status status, uint32_t script,
                   uint32_t statement)
{
    enum error_code code = status == ENGINE_BUSY          ? ERROR_BUSY
                           : status == ENGINE_INTERRUPTED ? ERROR_INTERRUPTED
                                                          : ERROR_ENGINE;
    if (failure_is_set(failure)) {
        return code;
    }
    int engine_code = 0;
    const char *text = ops->error_text(connection, &engine_code);
    failure_set(failure, phase, code, "%s",
                text != NULL && text[0] != '\0' ? text : status_text(status));
    failure->has_code = true;
    failure->code = engine_code;
    failure->script = script;
    failure->statement = statement;
    return code;
}

int failure_evaluation(struct failure *failure, const char *phase, uint32_t script,
                       const struct evaluation *evaluation)
{
    failure->phase = phase;
    failure->script = script;
    if (failure->error.code != ERROR_INVALID) {
        return failure->error.code;
    }
    failure->place = evaluation->failed_at;
    /* The worker knows no file; the coordinator puts the right one before the message. */
    char place[32];
    snprintf(place, sizeof(place), ":%u:%u: ", failure->place.line, failure->place.column);
    char *message = failure->error.message;
    char *end = strstr(message, place);
    if (end != NULL) {
        end += strlen(place);
        memmove(message, end, strlen(end) + 1);
    }
    return failure->error.code;
}

static json_t *index_or_null(uint32_t index)
{
    return index == FAILURE_NOWHERE ? json_null() : json_integer(index);
}

json_t *failure_to_json(const struct failure *failure)
{
    json_t *place = failure->place.line == 0 ? json_null()
                                             : json_pack("[I, I]", (json_int_t)failure->place.line,
                                                         (json_int_t)failure->place.column);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "kind", "error", "phase",
                     failure->phase, "message", json_text(failure->error.message), "code",
                     failure->has_code ? json_integer(failure->code) : json_null(), "script",
                     index_or_null(failure->script), "statement", index_or_null(failure->statement),
                     "place", place);
}
