#include "report/html.h"

#include "base/text.h"
#include "result/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The page, or nothing where there was no Node at build. The assembler takes the file as it is:
 * gcc 12 has no #embed, and an array of 300,000 numbers takes the compiler seconds. */
#ifdef PITOT_PAGE
__asm__(".section .rodata\n"
        "    .global report_page_begin\n"
        "    .hidden report_page_begin\n"
        "report_page_begin:\n"
        "    .incbin \"" PITOT_PAGE "\"\n"
        "    .global report_page_end\n"
        "    .hidden report_page_end\n"
        "report_page_end:\n"
        "    .byte 0\n"
        "    .previous\n");
extern const char report_page_begin[], report_page_end[];

static size_t page_length(void)
{
    return (size_t)(report_page_end - report_page_begin);
}
#else
static const char report_page_begin[1] = "";

static size_t page_length(void)
{
    return 0;
}
#endif

/* build.mjs sees to it that it stands in the page exactly once. */
static const char place[] = "@DATA@";

bool report_html_ready(void)
{
    return page_length() > 0;
}

/* JSON as it may stand inside a script element: `<` could end it or open a comment. Outside of
 * strings JSON has none of these characters, and inside of them \u00XX is the same character. */
static void append_escaped(struct buffer *out, const char *json)
{
    for (const char *from = json; *from != '\0';) {
        size_t plain = strcspn(from, "<>&");
        buffer_append(out, from, plain);
        from += plain;
        if (*from != '\0') {
            buffer_printf(out, "\\u%04x", (unsigned)*from++);
        }
    }
}

static json_t *source_to_json(const struct report_source *source)
{
    struct buffer label;
    buffer_init(&label);
    text_escape(&label, source->label, strlen(source->label));
    json_t *result = result_to_json(source->result);
    json_t *object = label.failed || result == NULL
                         ? NULL
                         : json_pack("{s:s, s:O}", "label", label.data, "result", result);
    json_decref(result);
    buffer_release(&label);
    return object;
}

static int append_data(const struct report_source *sources, size_t count, struct buffer *out)
{
    json_t *list = json_array();
    int status = list != NULL ? 0 : ERROR_MEMORY;
    for (size_t i = 0; i < count && status == 0; i++) {
        json_t *object = source_to_json(&sources[i]);
        status = object != NULL && json_array_append_new(list, object) == 0 ? 0 : ERROR_MEMORY;
    }
    /* Also U+2028 and U+2029, which ended lines of scripts in older browsers. */
    char *text = status == 0 ? json_dumps(list, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(list);
    if (text == NULL) {
        return ERROR_MEMORY;
    }
    append_escaped(out, text);
    free(text);
    return 0;
}

int report_html(const struct report_source *sources, size_t count, struct buffer *out,
                struct error *error)
{
    if (!report_html_ready()) {
        return error_set(error, ERROR_UNAVAILABLE, "%s", REPORT_HTML_MISSING);
    }
    size_t length = page_length();
    const char *at = memmem(report_page_begin, length, place, sizeof place - 1);
    if (at == NULL) {
        return error_set(error, ERROR_UNAVAILABLE,
                         "the report page of this build has no place for data");
    }
    buffer_append(out, report_page_begin, (size_t)(at - report_page_begin));
    int status = append_data(sources, count, out);
    at += sizeof place - 1;
    buffer_append(out, at, (size_t)(report_page_begin + length - at));
    return status == 0 && !out->failed
               ? 0
               : error_set(error, ERROR_MEMORY, "out of memory for the page");
}
