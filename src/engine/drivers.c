/* The drivers, and what each must fulfil before anything is timed with it. */
#include "engine/engine.h"

#include "base/text.h"

#include <string.h>

static const struct engine_ops *const drivers[] = {&engine_sqlite, &engine_turso, &engine_null};

enum { DRIVER_COUNT = sizeof drivers / sizeof drivers[0] };

#define ENGINE_FUNCTIONS(X)                                                                        \
    X(load)                                                                                        \
    X(unload)                                                                                      \
    X(open)                                                                                        \
    X(close)                                                                                       \
    X(exec)                                                                                        \
    X(prepare)                                                                                     \
    X(finalize)                                                                                    \
    X(readonly)                                                                                    \
    X(parameter_count)                                                                             \
    X(run)                                                                                         \
    X(begin)                                                                                       \
    X(commit)                                                                                      \
    X(rollback)                                                                                    \
    X(setting_set)                                                                                 \
    X(setting_get)                                                                                 \
    X(error_text)                                                                                  \
    X(waits)                                                                                       \
    X(interrupt)

int engine_validate(const struct engine_ops *ops, struct error *error)
{
    const uint32_t known = ENGINE_CAN_THREADS | ENGINE_CAN_LOAD | ENGINE_CAN_CHECK |
                           ENGINE_COUNTS_WAITING | ENGINE_HAS_NO_DATABASE;
    if (ops->driver == NULL || ops->driver[0] == '\0') {
        return error_set(error, ERROR_INVALID, "a driver has no name");
    }
    if (ops->abi_version != ENGINE_ABI_VERSION) {
        return error_set(error, ERROR_INVALID, "driver %s has ABI version %u, %u was expected",
                         ops->driver, ops->abi_version, ENGINE_ABI_VERSION);
    }
#define X(name)                                                                                    \
    if (ops->name == NULL) {                                                                       \
        return error_set(error, ERROR_INVALID, "driver %s has no function %s", ops->driver,        \
                         #name);                                                                   \
    }
    ENGINE_FUNCTIONS(X)
#undef X
    if ((ops->capabilities & ~known) != 0) {
        return error_set(error, ERROR_INVALID, "driver %s has unknown capabilities (%#x)",
                         ops->driver, ops->capabilities & ~known);
    }
    if ((ops->capabilities & ENGINE_HAS_NO_DATABASE) != 0 &&
        (ops->capabilities & (ENGINE_CAN_LOAD | ENGINE_CAN_CHECK)) != 0) {
        return error_set(error, ERROR_INVALID,
                         "driver %s has no database, and says that it can load or check one",
                         ops->driver);
    }
    return 0;
}

const struct engine_ops *engine_find(const char *driver, struct error *error)
{
    const char *names[DRIVER_COUNT + 1] = {NULL};
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        if (strcmp(drivers[i]->driver, driver) == 0) {
            return engine_validate(drivers[i], error) == 0 ? drivers[i] : NULL;
        }
        names[i] = drivers[i]->driver;
    }
    const char *nearest = text_nearest(driver, names);
    if (nearest != NULL) {
        error_set(error, ERROR_INVALID, "there is no driver '%s'; did you mean '%s'?", driver,
                  nearest);
    } else {
        error_set(error, ERROR_INVALID, "there is no driver '%s'; there are sqlite, turso and null",
                  driver);
    }
    return NULL;
}
