#include "coordinator/library_build.h"

#include "base/file.h"
#include "base/json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the file at most: lists of compile options are a few thousand. */
#define BUILD_FILE_MAX (1u << 20)

/* Beside another library lies somebody else's file. */
static bool named_by_manifest(const struct engine_choice *choice)
{
    char real[PATH_MAX];
    return choice->library != NULL && choice->manifest->library != NULL &&
           realpath(choice->manifest->library, real) != NULL && strcmp(real, choice->library) == 0;
}

/* True for a text or a list of texts, which is then in `text`. */
static bool take_text(const json_t *value, struct buffer *text)
{
    if (json_is_string(value)) {
        buffer_puts(text, json_string_value(value));
        return true;
    }
    size_t i;
    const json_t *item;
    json_array_foreach(value, i, item)
    {
        if (!json_is_string(item)) {
            return false;
        }
        buffer_printf(text, "%s%s", i == 0 ? "" : " ", json_string_value(item));
    }
    return json_is_array(value);
}

static int add_fact(const char *key, struct buffer *text, result_pairs *out, struct error *error)
{
    struct result_pair *pair = result_list_add(out);
    if (pair == NULL || (pair->name = strdup(key)) == NULL ||
        (pair->value = buffer_take(text)) == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for what is known of a library");
    }
    return 0;
}

static int read_facts(const char *path, result_pairs *out, struct error *error)
{
    struct buffer bytes, text;
    buffer_init(&bytes);
    buffer_init(&text);
    json_t *object = NULL, *value;
    int status = file_read(path, BUILD_FILE_MAX, &bytes, error);
    if (status == 0) {
        status = json_parse(bytes.data, bytes.length, path, &object, error);
    }
    if (status == 0 && !json_is_object(object)) {
        status = error_set(error, ERROR_INVALID, "%s must hold a JSON object", path);
    }
    const char *key;
    json_object_foreach(object, key, value)
    {
        buffer_clear(&text);
        if (status == 0 && take_text(value, &text)) {
            status = add_fact(key, &text, out, error);
        }
    }
    json_decref(object);
    buffer_release(&text);
    buffer_release(&bytes);
    return status;
}

int library_build_read(const struct engine_choice *choice, result_pairs *out, struct error *error)
{
    if (!named_by_manifest(choice)) {
        return 0;
    }
    const char *slash = strrchr(choice->library, '/');
    char *path = result_text("%.*s/build.json", (int)(slash - choice->library), choice->library);
    int status = path == NULL              ? error_set(error, ERROR_MEMORY,
                                                       "out of memory for what is known of a library")
                 : access(path, F_OK) != 0 ? 0
                                           : read_facts(path, out, error);
    free(path);
    return status;
}
