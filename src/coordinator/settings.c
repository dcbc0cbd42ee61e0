#include "coordinator/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const file_level[] = {"auto_vacuum", "encoding", "page_size", NULL};
static const char *const required[] = {"journal_mode", "synchronous", "cache_size", "busy_timeout",
                                       NULL};

/* A template is made with this page size unless --pragma page_size says otherwise; SQLite's own
 * default since 3.12, and the only one that every engine has. */
#define DEFAULT_PAGE_SIZE "4096"

static bool among(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcasecmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

bool setting_is_file_level(const char *name)
{
    return among(name, file_level);
}

bool setting_is_required(const char *name)
{
    return among(name, required) || among(name, file_level);
}

/* ---- do asked and got agree? ------------------------------------------------ */

/* Numbers that a PRAGMA answers for words that it takes. */
static const struct {
    const char *name; /* NULL: any PRAGMA */
    const char *word;
    const char *number;
} synonyms[] = {
    {"synchronous", "off", "0"},
    {"synchronous", "normal", "1"},
    {"synchronous", "full", "2"},
    {"synchronous", "extra", "3"},
    {"auto_vacuum", "none", "0"},
    {"auto_vacuum", "full", "1"},
    {"auto_vacuum", "incremental", "2"},
    {"temp_store", "default", "0"},
    {"temp_store", "file", "1"},
    {"temp_store", "memory", "2"},
    {NULL, "on", "1"},
    {NULL, "yes", "1"},
    {NULL, "true", "1"},
    {NULL, "off", "0"},
    {NULL, "no", "0"},
    {NULL, "false", "0"},
};

static const char *canonical(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if ((synonyms[i].name == NULL || strcasecmp(synonyms[i].name, name) == 0) &&
            strcasecmp(synonyms[i].word, value) == 0) {
            return synonyms[i].number;
        }
    }
    return value;
}

static bool whole_number(const char *text, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 0);
    return end != text && *end == '\0' && errno == 0;
}

bool setting_agrees(const char *name, const char *asked, const char *got)
{
    if (got == NULL) {
        return false;
    }
    const char *a = canonical(name, asked);
    const char *b = canonical(name, got);
    long long x;
    long long y;
    if (whole_number(a, &x) && whole_number(b, &y)) {
        return x == y;
    }
    size_t length = strlen(a);
    if (length >= 2 && (a[0] == '\'' || a[0] == '"') && a[length - 1] == a[0]) {
        return strlen(b) == length - 2 && strncasecmp(a + 1, b, length - 2) == 0;
    }
    return strcasecmp(a, b) == 0;
}

/* ---- what a plan asks for ------------------------------------------------------ */

static int put(result_pairs *pairs, const char *name, const char *value, struct error *error)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcasecmp(pairs->items[i].name, name) == 0) {
            char *copy = strdup(value);
            if (copy == NULL) {
                return error_set(error, ERROR_MEMORY, "out of memory");
            }
            free(pairs->items[i].value);
            pairs->items[i].value = copy;
            return 0;
        }
    }
    struct result_pair *pair = result_list_add(pairs);
    if (pair == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    pair->name = strdup(name);
    pair->value = strdup(value);
    if (pair->name == NULL || pair->value == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    return 0;
}

static int put_pragmas(const struct plan *plan, bool of_file, result_pairs *out,
                       struct error *error)
{
    int status = 0;
    for (size_t i = 0; plan->pragmas != NULL && i < plan->pragmas->count && status == 0; i++) {
        const struct result_pair *pragma = &plan->pragmas->items[i];
        if (setting_is_file_level(pragma->name) == of_file) {
            status = put(out, pragma->name, pragma->value, error);
        }
    }
    return status;
}

int settings_of_plan(const struct plan *plan, const struct manifest *manifest, result_pairs *out,
                     struct error *error)
{
    char cache[32];
    char timeout[32];
    snprintf(cache, sizeof cache, "%lld", (long long)plan->cache_size);
    snprintf(timeout, sizeof timeout, "%u", plan->busy_timeout_ms);
    int status = put(out, "page_size", DEFAULT_PAGE_SIZE, error);
    if (status == 0) {
        status = put_pragmas(plan, true, out, error);
    }
    if (status == 0) {
        status = put(out, "busy_timeout", timeout, error);
    }
    if (status == 0) {
        status = put(out, "journal_mode", "wal", error);
    }
    if (status == 0) {
        status = put(out, "synchronous", "normal", error);
    }
    if (status == 0) {
        status = put(out, "cache_size", cache, error);
    }
    if (status == 0) {
        status = put_pragmas(plan, false, out, error);
    }
    for (size_t i = 0; manifest != NULL && i < manifest->required.count && status == 0; i++) {
        status =
            put(out, manifest->required.items[i].name, manifest->required.items[i].value, error);
    }
    return status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int settings_of_file(const struct plan *plan, result_strings *out, struct error *error)
{
    result_pairs pairs = {NULL, 0};
    int status = put(&pairs, "page_size", DEFAULT_PAGE_SIZE, error);
    if (status == 0) {
        status = put_pragmas(plan, true, &pairs, error);
    }
    for (size_t i = 0; i < pairs.count && status == 0; i++) {
        char **item = result_list_add(out);
        if (item == NULL ||
            (*item = result_text("%s=%s", pairs.items[i].name, pairs.items[i].value)) == NULL) {
            status = error_set(error, ERROR_MEMORY, "out of memory");
        }
    }
    if (status == 0 && out->count > 0) {
        qsort(out->items, out->count, sizeof *out->items, by_text);
    }
    settings_release(&pairs);
    return status;
}

void settings_release(result_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->items[i].name);
        free(pairs->items[i].value);
    }
    free(pairs->items);
    pairs->items = NULL;
    pairs->count = 0;
}
