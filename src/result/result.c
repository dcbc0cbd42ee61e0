#include "result/result.h"

#include "base/buffer.h"
#include "result/shape.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct result *result_new(void)
{
    struct result *result = malloc(sizeof(*result));
    if (result != NULL) {
        shape_init(&shape_result, result);
        result->version = RESULT_VERSION;
    }
    return result;
}

void result_free(struct result *result)
{
    if (result != NULL) {
        shape_release(&shape_result, result);
        free(result);
    }
}

void result_case_init(struct result_case *of)
{
    shape_init(&shape_case, of);
}

void result_template_init(struct result_template *template)
{
    shape_init(&shape_template, template);
}

void result_run_init(struct result_run *run)
{
    shape_init(&shape_run, run);
}

void result_run_release(struct result_run *run)
{
    shape_release(&shape_run, run);
}

void result_run_forget(struct result_run *run)
{
    struct result_run kept = {.case_index = run->case_index,
                              .round = run->round,
                              .position = run->position,
                              .aside = run->aside,
                              .log = run->log};
    uint64_t dirty = run->dirty_bytes;
    run->aside = NULL;
    run->log.items = NULL;
    run->log.count = 0;
    shape_release(&shape_run, run);
    run->case_index = kept.case_index;
    run->round = kept.round;
    run->position = kept.position;
    run->aside = kept.aside;
    run->log = kept.log;
    run->dirty_bytes = dirty;
}

void result_comparison_release(struct result_comparison *comparison)
{
    shape_release(&shape_comparison, comparison);
}

int result_run_move(struct result_engine *engine, size_t index, const char *aside)
{
    char *why = strdup(aside);
    struct result_run *to = why != NULL ? result_list_add(&engine->aside) : NULL;
    if (to == NULL) {
        free(why);
        return ERROR_MEMORY;
    }
    struct result_run *from = &engine->runs.items[index];
    *to = *from;
    to->aside = why;
    engine->runs.count--;
    memmove(from, from + 1, (engine->runs.count - index) * sizeof *from);
    return 0;
}

void result_engine_init(struct result_engine *engine)
{
    shape_init(&shape_engine, engine);
}

void result_difference_init(struct result_difference *difference)
{
    shape_init(&shape_difference, difference);
}

void result_loop_part_init(struct result_loop_part *part)
{
    shape_init(&shape_loop_part, part);
}

void result_event_loop_forget(struct result_event_loop *event_loop)
{
    result_strings log = event_loop->log;
    event_loop->log.items = NULL;
    event_loop->log.count = 0;
    shape_release(&shape_event_loop, event_loop);
    event_loop->log = log;
}

void result_role_summary_init(struct result_role_summary *summary)
{
    shape_init(&shape_role_summary, summary);
}

void result_summary_init(struct result_summary *summary)
{
    shape_init(&shape_summary, summary);
}

void result_numbers_init(struct result_numbers *numbers)
{
    shape_init(&shape_numbers, numbers);
}

void result_numbers_release(struct result_numbers *numbers)
{
    shape_release(&shape_numbers, numbers);
}

void result_numbers_line_init(struct result_numbers_line *line)
{
    shape_init(&shape_numbers_line, line);
}

void result_numbers_line_release(struct result_numbers_line *line)
{
    shape_release(&shape_numbers_line, line);
}

void result_summary_clear(struct result_summary *summary)
{
    struct result_summary kept = {.status = summary->status, .error = summary->error};
    summary->status = summary->error = NULL;
    shape_release(&shape_summary, summary);
    summary->status = kept.status;
    summary->error = kept.error;
}

/* Room is made at powers of two; count alone says how much there is, so no list needs a third
 * member. */
void *result_list_grow(void **items, size_t *count, size_t item_size)
{
    void *grown;
    memcpy(&grown, items, sizeof(grown)); /* the list's items have another pointer type */
    if ((*count & (*count - 1)) == 0) {   /* 0 or a power of two: full */
        size_t room = *count == 0 ? 1 : *count * 2;
        size_t bytes;
        if (__builtin_mul_overflow(room, item_size, &bytes)) {
            return NULL;
        }
        grown = realloc(grown, bytes);
        if (grown == NULL) {
            return NULL;
        }
        memcpy(items, &grown, sizeof(grown));
    }
    char *item = (char *)grown + *count * item_size;
    memset(item, 0, item_size);
    (*count)++;
    return item;
}

__attribute__((format(printf, 1, 0))) static char *text_format(const char *format,
                                                               va_list arguments)
{
    struct buffer text;
    buffer_init(&text);
    buffer_vprintf(&text, format, arguments);
    char *taken = buffer_take(&text);
    buffer_release(&text);
    return taken;
}

char *result_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format(format, arguments);
    va_end(arguments);
    return text;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

int result_warn(struct result *result, const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format(format, arguments);
    va_end(arguments);

    int status = ERROR_MEMORY;
    char *owned = subject == NULL ? NULL : strdup(subject);
    if (text == NULL || (subject != NULL && owned == NULL)) {
        goto out;
    }
    for (size_t i = 0; i < result->warnings.count; i++) {
        if (same(result->warnings.items[i].subject, owned) &&
            same(result->warnings.items[i].text, text)) {
            status = 0;
            goto out;
        }
    }
    struct result_warning *warning = result_list_add(&result->warnings);
    if (warning != NULL) {
        *warning = (struct result_warning){.subject = owned, .text = text};
        return 0;
    }
out:
    free(owned);
    free(text);
    return status;
}
