/* What a worker's hello says of its engine. */
#include "base/json.h"
#include "coordinator/process.h"

#include <stdlib.h>
#include <string.h>

void worker_identity_release(struct worker_identity *identity)
{
    char *texts[] = {identity->driver,          identity->version, identity->source_id,
                     identity->sync_call,       identity->library, identity->build,
                     identity->binding_version, identity->runtime};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(texts[i]);
    }
    result_strings *lists[] = {&identity->compile_options, &identity->warnings};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) {
            free(lists[i]->items[k]);
        }
        free(lists[i]->items);
    }
    memset(identity, 0, sizeof *identity);
}

static int copy_strings(const json_t *hello, const char *key, result_strings *out,
                        struct error *error)
{
    json_t *array = json_object_get(hello, key);
    size_t index;
    json_t *item;
    json_array_foreach(array, index, item)
    {
        if (!json_is_string(item)) {
            return error_set(error, ERROR_PROTOCOL, "hello: %s holds something else than strings",
                             key);
        }
        char **slot = result_list_add(out);
        if (slot == NULL || (*slot = strdup(json_string_value(item))) == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    return 0;
}

static int copy_text(const json_t *hello, const char *key, char **out, struct error *error)
{
    const char *text;
    int status = json_get_string_or_null(hello, key, "hello", &text, error);
    if (status == 0 && text != NULL && (*out = strdup(text)) == NULL) {
        status = error_set(error, ERROR_MEMORY, "out of memory");
    }
    return status;
}

static bool has_capability(const json_t *hello, const char *name)
{
    const json_t *array = json_object_get(hello, "capabilities");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *found = json_string_value(json_array_get(array, i));
        if (found != NULL && strcmp(found, name) == 0) {
            return true;
        }
    }
    return false;
}

int worker_identity_read(const json_t *hello, struct worker_identity *identity, struct error *error)
{
    uint64_t protocol;
    int status = json_get_u64(hello, "protocol", "hello", &protocol, error);
    if (status == 0 && protocol != 1) {
        status = error_set(error, ERROR_PROTOCOL,
                           "the worker speaks protocol version %llu, this pitot version 1",
                           (unsigned long long)protocol);
    }
    const struct {
        const char *key;
        char **out;
    } texts[] = {
        {"driver", &identity->driver},
        {"version", &identity->version},
        {"source_id", &identity->source_id},
        {"sync_call", &identity->sync_call},
        {"library", &identity->library},
        {"build", &identity->build},
        {"binding_version", &identity->binding_version},
        {"runtime", &identity->runtime},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == 0; i++) {
        status = copy_text(hello, texts[i].key, texts[i].out, error);
    }
    if (status == 0) {
        status = copy_strings(hello, "compile_options", &identity->compile_options, error);
    }
    if (status == 0) {
        status = copy_strings(hello, "warnings", &identity->warnings, error);
    }
    identity->can_check = has_capability(hello, "check");
    identity->can_verify = has_capability(hello, "verify");
    identity->can_event_loop = has_capability(hello, "event_loop");
    identity->can_rate = has_capability(hello, "rate");
    return status;
}
