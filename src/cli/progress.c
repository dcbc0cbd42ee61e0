#include "cli/progress.h"

#include "base/layout.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "core/clock.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Carriage return, and "erase to the end of the line". */
static const char wipe[] = "\r\x1b[K";

static uint64_t monotonic_ns(void)
{
    return clock_now_ns();
}

static void describe_share(const struct progress_state *state, struct buffer *out)
{
    char text[UNITS_TEXT_SIZE];
    if (state->total != PROGRESS_UNKNOWN && state->total > 0) {
        double share = (double)state->done / (double)state->total;
        buffer_printf(out, " %.0f %%", floor(100.0 * fmin(share, 1.0)));
    } else if (state->done > 0 && state->done != PROGRESS_UNKNOWN) {
        units_print_count(text, (double)state->done);
        buffer_printf(out, " %s", text);
    }
}

/* Whole seconds up to two minutes, then minutes and seconds. */
static void describe_seconds(uint64_t ns, struct buffer *out)
{
    uint64_t seconds = ns / NS_PER_S + (ns % NS_PER_S != 0 ? 1 : 0);
    if (seconds < 120) {
        buffer_printf(out, "%" PRIu64 " s", seconds);
    } else {
        buffer_printf(out, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
    }
}

void progress_describe(const struct progress_state *state, struct buffer *out)
{
    char text[UNITS_TEXT_SIZE];
    buffer_puts(out, state->step != NULL ? state->step : "");
    if (state->phase != NULL) {
        buffer_printf(out, "%s%s", out->length > 0 ? ", " : "", state->phase);
    }
    describe_share(state, out);
    if (isfinite(state->per_second)) {
        units_print_count(text, state->per_second);
        buffer_printf(out, ", %s/s", text);
    }
    uint64_t left_ns = state->left_ns != PROGRESS_UNKNOWN ? state->left_ns : state->remaining_ns;
    if (left_ns != PROGRESS_UNKNOWN) {
        buffer_puts(out, ", ");
        describe_seconds(left_ns, out);
        buffer_puts(out, " left");
    } else if (state->elapsed_ns >= NS_PER_S && state->elapsed_ns != PROGRESS_UNKNOWN) {
        buffer_puts(out, ", for ");
        describe_seconds(state->elapsed_ns, out);
    }
}

/* Columns to draw in, 0: plain lines. The last column stays free, since some terminals wrap as soon
 * as it is written. */
static size_t live_columns(const struct progress_view *view)
{
    size_t columns = view->live ? view->window(view->fd) : 0;
    return columns > 1 ? columns - 1 : columns;
}

static void send(struct progress_view *view, const struct buffer *line)
{
    if (!line->failed) {
        output_raw(view->fd, line->data, line->length);
    }
}

static void draw_update(void *context, const struct progress_state *state)
{
    struct progress_view *view = context;
    if (view->quiet) {
        return;
    }
    size_t columns = live_columns(view);
    uint64_t now_ns = view->now_ns();
    if (columns == 0) {
        if (view->last_ns != 0 && now_ns - view->last_ns < view->every_ns) {
            return;
        }
        view->last_ns = now_ns;
    }
    struct buffer text;
    struct buffer line;
    buffer_init(&text);
    buffer_init(&line);
    progress_describe(state, &text);
    if (columns == 0) {
        if (view->drawn) { /* the window lost its width: leave the line that was rewritten */
            buffer_putc(&line, '\n');
        }
        layout_cut(&line, text.data, SIZE_MAX);
        buffer_putc(&line, '\n');
    } else {
        buffer_puts(&line, wipe);
        layout_cut(&line, text.data, columns);
    }
    line.failed = line.failed || text.failed;
    send(view, &line);
    view->drawn = columns > 0;
    buffer_release(&line);
    buffer_release(&text);
}

/* A line that stays. */
static void draw_line(struct progress_view *view, const char *text, bool whole)
{
    if (view->quiet) {
        return;
    }
    size_t columns = live_columns(view);
    struct buffer line;
    buffer_init(&line);
    if (view->drawn) {
        buffer_puts(&line, wipe);
    }
    if (columns > 0 && whole) {
        layout_wrap(&line, text, 0, columns);
    } else {
        layout_cut(&line, text, columns > 0 ? columns : SIZE_MAX);
    }
    buffer_putc(&line, '\n');
    send(view, &line);
    view->drawn = false;
    buffer_release(&line);
}

static void draw_done(void *context, const char *summary)
{
    draw_line(context, summary, false);
}

/* Something that the user must be able to read: wrapped, never cut. */
static void draw_note(void *context, const char *text)
{
    draw_line(context, text, true);
}

void progress_view_init(struct progress_view *view, int fd, bool quiet, uint64_t every_ns)
{
    *view = (struct progress_view){
        .fd = fd,
        .quiet = quiet,
        .live = terminal_understands(fd),
        .every_ns = every_ns,
        .now_ns = monotonic_ns,
        .window = terminal_window,
    };
}

struct progress progress_view_callbacks(struct progress_view *view)
{
    return (struct progress){
        .context = view, .update = draw_update, .done = draw_done, .note = draw_note};
}

void progress_view_finish(struct progress_view *view)
{
    if (view->drawn) {
        output_raw(view->fd, wipe, strlen(wipe));
        view->drawn = false;
    }
}
