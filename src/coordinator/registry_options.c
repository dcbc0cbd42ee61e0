/* --engine-option: options of one engine's worker, over those of its manifest. */
#include "base/text.h"
#include "coordinator/registry.h"

#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct error *error)
{
    return error_set(error, ERROR_MEMORY, "out of memory for the options of engines");
}

static int unknown_engine(const struct registry *registry, const char *name, const char *option,
                          const char *value, struct error *error)
{
    size_t count = registry->manifests.count;
    const char **names = calloc(count + 1, sizeof *names);
    if (names == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = registry->manifests.items[i].name;
    }
    const char *nearest = text_nearest(name, names);
    int status =
        nearest == NULL
            ? error_set(error, ERROR_INVALID,
                        "--engine-option %s=%s: there is no engine \"%s\"; `pitot engines` "
                        "lists them",
                        option, value, name)
            : error_set(error, ERROR_INVALID,
                        "--engine-option %s=%s: there is no engine \"%s\"; did you mean "
                        "\"%s\"?",
                        option, value, name, nearest);
    free(names);
    return status;
}

int engine_choice_option(struct engine_choice *choice, const char *key, const char *value,
                         struct error *error)
{
    for (size_t i = 0; i < choice->options.count; i++) {
        const struct result_pair *other = &choice->options.items[i];
        if (strcmp(other->name, key) == 0) {
            return error_set(error, ERROR_INVALID, "option %s.%s is given twice, as %s and as %s",
                             choice->name, key, other->value, value);
        }
    }
    struct result_pair *pair = result_list_add(&choice->options);
    if (pair == NULL || (pair->name = strdup(key)) == NULL ||
        (pair->value = strdup(value)) == NULL) {
        return out_of_memory(error);
    }
    return 0;
}

/* `name` is NAME.KEY cut at its dot. */
static int hand_over(const struct registry *registry, const struct result_pair *given,
                     const char *name, const char *key, engine_choices *choices,
                     struct error *error)
{
    if (registry_find(registry, name) == NULL) {
        return unknown_engine(registry, name, given->name, given->value, error);
    }
    bool any = false;
    for (size_t i = 0; i < choices->count; i++) {
        struct engine_choice *choice = &choices->items[i];
        const struct manifest *manifest = choice->manifest;
        if (strcmp(manifest->name, name) != 0 &&
            (manifest->base == NULL || strcmp(manifest->base, name) != 0)) {
            continue;
        }
        any = true;
        int status = engine_choice_option(choice, key, given->value, error);
        if (status != 0) {
            return status;
        }
    }
    return any ? 0
               : error_set(error, ERROR_INVALID,
                           "--engine-option %s=%s: engine %s takes no part; name it with --engines",
                           given->name, given->value, name);
}

int registry_engine_options(const struct registry *registry, const result_pairs *given,
                            engine_choices *choices, struct error *error)
{
    for (size_t i = 0; i < given->count; i++) {
        const struct result_pair *pair = &given->items[i];
        /* The last one: names of engines may hold dots. */
        const char *dot = strrchr(pair->name, '.');
        if (dot == NULL || dot == pair->name || dot[1] == '\0') {
            return error_set(error, ERROR_INVALID,
                             "--engine-option: \"%s=%s\" must be NAME.KEY=VALUE, such as "
                             "better-sqlite3.integers=bigint",
                             pair->name, pair->value);
        }
        char *name = strndup(pair->name, (size_t)(dot - pair->name));
        if (name == NULL) {
            return out_of_memory(error);
        }
        int status = hand_over(registry, pair, name, dot + 1, choices, error);
        free(name);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}
