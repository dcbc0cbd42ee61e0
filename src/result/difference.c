#include "result/difference.h"

#include "base/layout.h"

#include <inttypes.h>
#include <string.h>

/* Columns that one value may take, and values of a row that are shown. */
enum { VALUE_COLUMNS = 60, VALUES_SHOWN = 12 };

static void append_row(struct buffer *out, const result_strings *row)
{
    if (row->count == 0) {
        buffer_puts(out, "no row");
    }
    for (size_t i = 0; i < row->count && i < VALUES_SHOWN; i++) {
        buffer_puts(out, i > 0 ? ", " : "");
        layout_cut(out, row->items[i], VALUE_COLUMNS);
    }
    if (row->count > VALUES_SHOWN) {
        buffer_printf(out, " and %zu more columns", row->count - VALUES_SHOWN);
    }
}

static void append_parameters(struct buffer *out, const result_pairs *parameters)
{
    for (size_t i = 0; i < parameters->count; i++) {
        const struct result_pair *pair = &parameters->items[i];
        buffer_puts(out, i == 0 ? " (" : ", ");
        layout_cut(out, pair->name, VALUE_COLUMNS);
        buffer_putc(out, '=');
        layout_cut(out, pair->value != NULL ? pair->value : "NULL", VALUE_COLUMNS);
    }
    buffer_puts(out, parameters->count > 0 ? ")" : "");
}

static void append_outcome(struct buffer *out, const char *outcome, const char *message)
{
    layout_cut(out, outcome != NULL ? outcome : "nothing", VALUE_COLUMNS);
    if (message != NULL) {
        buffer_puts(out, " (");
        layout_cut(out, message, (size_t)4 * VALUE_COLUMNS);
        buffer_putc(out, ')');
    }
}

static void append_count(struct buffer *out, uint64_t count)
{
    if (count == RESULT_ABSENT) {
        buffer_puts(out, "–");
    } else {
        buffer_printf(out, "%" PRIu64, count);
    }
}

static bool outcomes_differ(const struct result_difference *difference)
{
    return difference->outcome != NULL && difference->reference_outcome != NULL &&
           strcmp(difference->outcome, difference->reference_outcome) != 0;
}

void difference_describe(const struct result_difference *difference, const char *reference,
                         struct buffer *out)
{
    struct buffer other;
    buffer_init(&other);
    buffer_puts(&other, "; with ");
    layout_cut(&other, reference != NULL ? reference : "the other engine", VALUE_COLUMNS);
    buffer_printf(out, "operation %" PRIu64, difference->operation);
    append_parameters(out, &difference->parameters);
    if (difference->statement != RESULT_ABSENT && difference->statement > 0) {
        buffer_printf(out, ", statement %" PRIu64, difference->statement + 1);
    }
    if (outcomes_differ(difference)) {
        buffer_puts(out, ": ");
        append_outcome(out, difference->outcome, difference->message);
        buffer_puts(out, other.data);
        buffer_putc(out, ' ');
        append_outcome(out, difference->reference_outcome, difference->reference_message);
    } else if (difference->row != RESULT_ABSENT) {
        buffer_printf(out, ": row %" PRIu64 " is ", difference->row);
        append_row(out, &difference->answer);
        buffer_puts(out, other.data);
        buffer_putc(out, ' ');
        append_row(out, &difference->reference_answer);
    } else if (difference->statement != RESULT_ABSENT) {
        buffer_puts(out, ": rows changed ");
        append_count(out, difference->rows_changed);
        buffer_puts(out, other.data);
        buffer_putc(out, ' ');
        append_count(out, difference->reference_rows_changed);
    }
    if (difference->storage_class_only) {
        buffer_puts(out, " (the values are equal, their storage classes are not)");
    }
    if (difference->note != NULL) {
        buffer_puts(out, ": ");
        layout_cut(out, difference->note, (size_t)4 * VALUE_COLUMNS);
    }
    out->failed = out->failed || other.failed;
    buffer_release(&other);
}
