/* Compile options that differ between engines that know theirs. */
#include "report/parts.h"

#include <string.h>

static const char *known(const char *text)
{
    return text == NULL ? "–" : text;
}

static bool holds(const result_strings *strings, const char *text)
{
    for (size_t i = 0; i < strings->count; i++) {
        if (strcmp(known(strings->items[i]), text) == 0) {
            return true;
        }
    }
    return false;
}

static bool in_all(const struct result *result, const char *option)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const result_strings *options = &result->engines.items[i].compile_options;
        if (options->count > 0 && !holds(options, option)) {
            return false;
        }
    }
    return true;
}

/* Options that are known to move figures come first. */
static bool is_weighty(const char *option)
{
    static const char *const names[] = {"THREADSAFE", "MEMSTATUS", "LOOKASIDE",
                                        "FDATASYNC",  "SETLK",     "SYNCHRONOUS"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strstr(option, names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

enum { OPTIONS_SHOWN = 10 };

/* Appends the engine's options that not all have; returns how many there are. */
static size_t append_options(struct buffer *text, const struct result *result, size_t engine)
{
    const result_strings *options = &result->engines.items[engine].compile_options;
    size_t found = 0;
    for (int weighty = 1; weighty >= 0; weighty--) {
        for (size_t i = 0; i < options->count; i++) {
            const char *option = known(options->items[i]);
            if (is_weighty(option) != (weighty == 1) || in_all(result, option)) {
                continue;
            }
            if (found < OPTIONS_SHOWN) {
                buffer_printf(text, "%s%s", found == 0 ? "" : ", ", option);
            }
            found++;
        }
    }
    if (found > OPTIONS_SHOWN) {
        buffer_printf(text, " and %zu more", found - OPTIONS_SHOWN);
    }
    return found;
}

void head_print_options(const struct page *page, const struct result *result)
{
    bool first = true;
    for (size_t i = 0; i < result->engines.count; i++) {
        struct buffer text;
        buffer_init(&text);
        if (append_options(&text, result, i) > 0) {
            page_text(page, TONE_PLAIN, first ? "Options   " : "          ", "only %s: %s",
                      known(result->engines.items[i].name), text.data);
            first = false;
        }
        buffer_release(&text);
    }
}
