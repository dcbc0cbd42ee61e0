/* `pitot engines`: what engines there are, which are ready, and how to get the others. */
#include "cli/commands.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "coordinator/process.h"
#include "coordinator/registry.h"

#include <stdlib.h>
#include <string.h>

struct engines_options {
    bool json;
};

static const struct option options[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct engines_options, json),
     .help = "Print JSON instead of the list."},
    OPTION_HELP_ENTRY,
};

static const struct option_table table = {
    .options = options,
    .count = sizeof(options) / sizeof(options[0]),
};

/* What is known of one engine. Strings are owned. */
struct entry {
    const struct manifest *manifest;
    bool ready;
    char *missing; /* why it is not ready */
    char *failure; /* ready, but its worker could not open it */
    struct worker_identity identity;
};

/* ---- finding out -------------------------------------------------------- */

/* Only the engine itself knows its version: its worker is started and asked. */
static int look_at(const struct manifest *manifest, struct entry *entry, struct error *error)
{
    entry->manifest = manifest;
    entry->ready = manifest_ready(manifest, &entry->missing);
    if (!entry->ready) {
        return 0;
    }
    struct engine_choice choice = {.name = manifest->name, .manifest = manifest};
    if (manifest->library != NULL) {
        choice.library = realpath(manifest->library, NULL);
    }
    struct error failure = ERROR_INIT;
    int code = worker_identify(&choice, &entry->identity, &failure);
    free(choice.library);
    if (code != 0) {
        entry->failure = strdup(failure.message);
        if (entry->failure == NULL) {
            return error_set(error, ERROR_MEMORY, "out of memory for the list of engines");
        }
    }
    return 0;
}

static void entry_release(struct entry *entry)
{
    free(entry->missing);
    free(entry->failure);
    worker_identity_release(&entry->identity);
}

static const char *version_of(const struct entry *entry)
{
    return entry->identity.version != NULL ? entry->identity.version : entry->manifest->version;
}

/* ---- as text ------------------------------------------------------------ */

static void append_padded(struct buffer *out, const char *text, size_t width)
{
    text_one_line(out, text);
    size_t used = text_width(text, strlen(text));
    buffer_printf(out, "%*s", used < width ? (int)(width - used) : 0, "");
}

static void append_place(struct buffer *out, const struct entry *entry)
{
    const struct manifest *manifest = entry->manifest;
    const char *library =
        entry->identity.library != NULL ? entry->identity.library : manifest->library;
    if (library != NULL) {
        text_one_line(out, library);
        return;
    }
    for (size_t i = 0; i < manifest->command.count; i++) {
        buffer_puts(out, i > 0 ? " " : "");
        text_one_line(out, manifest->command.items[i]);
    }
    if (manifest->command.count == 0) {
        buffer_puts(out, "part of pitot");
    }
}

static void append_detail(struct buffer *out, const char *label, const char *text)
{
    if (text != NULL) {
        buffer_printf(out, "    %s", label);
        text_one_line(out, text);
        buffer_putc(out, '\n');
    }
}

/* The version above is that of the engine inside. */
static void append_binding(struct buffer *out, const struct worker_identity *identity)
{
    if (identity->binding_version == NULL && identity->runtime == NULL) {
        return;
    }
    struct buffer text;
    buffer_init(&text);
    if (identity->binding_version != NULL) {
        buffer_printf(&text, "package %s%s", identity->binding_version,
                      identity->runtime != NULL ? ", " : "");
    }
    if (identity->runtime != NULL) {
        buffer_printf(&text, "run by %s", identity->runtime);
    }
    append_detail(out, "", text.data);
    buffer_release(&text);
}

static void append_entry(struct buffer *out, const struct entry *entry, size_t name_width,
                         size_t version_width)
{
    const char *version = version_of(entry);
    append_padded(out, entry->manifest->name, name_width + 2);
    append_padded(out, version != NULL ? version : "–", version_width + 2);
    if (entry->failure != NULL) {
        buffer_puts(out, "broken     ");
    } else {
        buffer_puts(out, entry->ready ? "ready      " : "not ready  ");
    }
    append_place(out, entry);
    buffer_putc(out, '\n');
    append_detail(out, "", entry->manifest->summary);
    append_binding(out, &entry->identity);
    append_detail(out, "what is wrong: ", entry->failure);
    append_detail(out, "what is missing: ", entry->missing);
    if (!entry->ready) {
        append_detail(out, "make it ready with: ", entry->manifest->get);
    }
    for (size_t i = 0; i < entry->identity.warnings.count; i++) {
        append_detail(out, "note: ", entry->identity.warnings.items[i]);
    }
}

static void append_list(struct buffer *out, const struct entry *entries, size_t count)
{
    size_t name_width = 0;
    size_t version_width = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = entries[i].manifest->name;
        const char *version = version_of(&entries[i]);
        size_t width = text_width(name, strlen(name));
        name_width = width > name_width ? width : name_width;
        width = version != NULL ? text_width(version, strlen(version)) : 1;
        version_width = width > version_width ? width : version_width;
    }
    for (size_t i = 0; i < count; i++) {
        append_entry(out, &entries[i], name_width, version_width);
    }
}

/* ---- as JSON ------------------------------------------------------------ */

static json_t *text_or_null(const char *text)
{
    return text != NULL ? json_text(text) : json_null();
}

static json_t *strings_to_json(const result_strings *strings)
{
    json_t *array = json_array();
    for (size_t i = 0; i < strings->count; i++) {
        if (json_array_append_new(array, json_text(strings->items[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *entry_to_json(const struct entry *entry)
{
    const struct manifest *manifest = entry->manifest;
    const struct worker_identity *identity = &entry->identity;
    struct {
        const char *key;
        json_t *value;
    } fields[] = {
        {"name", json_text(manifest->name)},
        {"summary", text_or_null(manifest->summary)},
        {"file", text_or_null(manifest->file)},
        {"default", json_boolean(manifest->is_default)},
        {"ready", json_boolean(entry->ready)},
        {"missing", text_or_null(entry->missing)},
        {"get", text_or_null(manifest->get)},
        {"failure", text_or_null(entry->failure)},
        {"driver", text_or_null(manifest->driver)},
        {"command", strings_to_json(&manifest->command)},
        {"expected_version", text_or_null(manifest->version)},
        {"version", text_or_null(identity->version)},
        {"source_id", text_or_null(identity->source_id)},
        {"expected_library", text_or_null(manifest->library)},
        {"library", text_or_null(identity->library)},
        {"sync_call", text_or_null(identity->sync_call)},
        {"binding_version", text_or_null(identity->binding_version)},
        {"runtime", text_or_null(identity->runtime)},
        {"build", text_or_null(identity->build)},
        {"compile_options", strings_to_json(&identity->compile_options)},
        {"warnings", strings_to_json(&identity->warnings)},
    };
    json_t *object = json_object();
    bool failed = object == NULL;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        /* Takes the value also when it fails; a NULL value is a failure. */
        failed = json_object_set_new(object, fields[i].key, fields[i].value) != 0 || failed;
    }
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *problem_to_json(const struct result_warning *problem)
{
    json_t *object = json_object();
    if (json_object_set_new(object, "subject", text_or_null(problem->subject)) != 0 ||
        json_object_set_new(object, "text", text_or_null(problem->text)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static void append_json(struct buffer *out, const struct entry *entries, size_t count,
                        const result_warnings *problems)
{
    json_t *engines = json_array();
    json_t *list = json_array();
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        failed = json_array_append_new(engines, entry_to_json(&entries[i])) != 0 || failed;
    }
    for (size_t i = 0; i < problems->count; i++) {
        failed = json_array_append_new(list, problem_to_json(&problems->items[i])) != 0 || failed;
    }
    json_t *root = json_object();
    failed = json_object_set_new(root, "engines", engines) != 0 || failed;
    failed = json_object_set_new(root, "problems", list) != 0 || failed;
    char *text = failed ? NULL : json_dump_text(root, JSON_INDENT(2));
    if (text != NULL) {
        buffer_puts(out, text);
        buffer_putc(out, '\n');
    } else {
        out->failed = true;
    }
    free(text);
    json_decref(root);
}

/* ---- running ------------------------------------------------------------ */

static void complain_of(const result_warnings *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct result_warning *problem = &problems->items[i];
        char *line = problem->subject != NULL
                         ? result_text("%s: %s", problem->subject, problem->text)
                         : result_text("%s", problem->text);
        output_complain("engines", line != NULL ? line : problem->text);
        free(line);
    }
}

static int show(const struct registry *registry, const struct entry *entries, bool as_json,
                struct error *error)
{
    struct buffer text;
    buffer_init(&text);
    if (as_json) {
        append_json(&text, entries, registry->manifests.count, &registry->problems);
    } else {
        append_list(&text, entries, registry->manifests.count);
    }
    int code = output_buffer(&text, error);
    buffer_release(&text);
    return code;
}

static int list_engines(const struct registry *registry, bool as_json, int *status,
                        struct error *error)
{
    size_t count = registry->manifests.count;
    struct entry *entries = calloc(count + 1, sizeof(*entries));
    if (entries == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for the list of engines");
    }
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        code = look_at(&registry->manifests.items[i], &entries[i], error);
        if (entries[i].failure != NULL) {
            *status = STATUS_ENGINE;
        }
    }
    if (code == 0) {
        complain_of(&registry->problems);
        if (registry->problems.count > 0 && *status == STATUS_DONE) {
            *status = STATUS_USAGE;
        }
        code = show(registry, entries, as_json, error);
    }
    for (size_t i = 0; i < count; i++) {
        entry_release(&entries[i]);
    }
    free(entries);
    return code;
}

static int run(int argc, char *const *argv)
{
    struct engines_options given = {0};
    int status = 0;
    if (command_parse(&command_engines, argc, argv, &given, NULL, NULL, &status) != 0) {
        return status;
    }
    struct error error = ERROR_INIT;
    struct registry registry = {0};
    status = STATUS_DONE;
    int code = registry_load(&registry, &error);
    if (code == 0) {
        code = list_engines(&registry, given.json, &status, &error);
    }
    if (code != 0) {
        output_complain("engines", error.message);
        status = exit_status_of_error(code, 0);
    }
    registry_release(&registry);
    return status;
}

const struct command command_engines = {
    .name = "engines",
    .usage = "engines [OPTION]…",
    .summary = "list the engines, which are ready, and how to get the others",
    .table = &table,
    .about =
        "Lists every engine with its version and the library or command that would be "
        "measured. A ready one is opened and asked for its version. The status is 1 if one "
        "that is there cannot be opened, and 2 if a manifest is wrong. Manifests of your own are "
        "read from the folders in $PITOT_ENGINES (separated by colons) and from "
        "$XDG_CONFIG_HOME/pitot/engines (~/.config by default).",
    .examples = "pitot engines\n"
                "pitot engines --json",
    .run = run,
};
