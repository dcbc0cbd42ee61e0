#include "report/csv_rows.h"

#include "base/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field by RFC 4180: quoted when it holds a separator, a quote, a line end, or blanks at its
 * ends. Bytes that are not UTF-8 are escaped as in the JSON. */
static void put_text(struct buffer *out, const char *text)
{
    struct buffer escaped;
    buffer_init(&escaped);
    if (text != NULL) {
        text_escape(&escaped, text, strlen(text));
    }
    size_t length = escaped.length;
    if (length > 0 && (strpbrk(escaped.data, ",\"\r\n") != NULL || escaped.data[0] == ' ' ||
                       escaped.data[length - 1] == ' ')) {
        buffer_putc(out, '"');
        for (size_t i = 0; i < length; i++) {
            if (escaped.data[i] == '"') {
                buffer_putc(out, '"');
            }
            buffer_putc(out, escaped.data[i]);
        }
        buffer_putc(out, '"');
    } else {
        buffer_append(out, escaped.data, length);
    }
    out->failed = out->failed || escaped.failed;
    buffer_release(&escaped);
}

/* The shortest of 15 to 17 digits that reads back as the same double; nothing when absent. */
static void put_number(struct buffer *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    /* printf writes the decimal point of the locale; files have one form. */
    const char *point = localeconv()->decimal_point;
    char *found = strstr(text, point);
    if (found != NULL && strcmp(point, ".") != 0) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    buffer_puts(out, text);
}

static void start(const struct csv_subject *subject, const char *metric, const char *unit)
{
    const struct result_engine *engine = subject->engine;
    const char *const fields[] = {engine != NULL ? engine->name : NULL,
                                  engine != NULL ? engine->version : NULL,
                                  subject->label,
                                  subject->role,
                                  subject->script,
                                  metric,
                                  unit};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        put_text(subject->out, fields[i]);
        buffer_putc(subject->out, ',');
    }
}

void csv_figure(const struct csv_subject *subject, const char *metric, const char *unit,
                const struct result_figure *figure)
{
    start(subject, metric, unit);
    put_number(subject->out, figure->median);
    buffer_putc(subject->out, ',');
    put_number(subject->out, figure->min);
    buffer_putc(subject->out, ',');
    put_number(subject->out, figure->max);
    buffer_puts(subject->out, ",\r\n");
}

void csv_one(const struct csv_subject *subject, const char *metric, const char *unit, double value)
{
    csv_note(subject, metric, unit, value, NULL);
}

void csv_count(const struct csv_subject *subject, const char *metric, const char *unit,
               uint64_t number)
{
    start(subject, metric, unit);
    if (number != RESULT_ABSENT) {
        buffer_printf(subject->out, "%" PRIu64, number);
    }
    buffer_puts(subject->out, ",,,\r\n");
}

void csv_total(const struct csv_subject *subject, const char *metric, uint64_t total)
{
    csv_count(subject, metric, "count", total);
}

void csv_note(const struct csv_subject *subject, const char *metric, const char *unit, double value,
              const char *note)
{
    start(subject, metric, unit);
    put_number(subject->out, value);
    buffer_puts(subject->out, ",,,");
    put_text(subject->out, note);
    buffer_puts(subject->out, "\r\n");
}
