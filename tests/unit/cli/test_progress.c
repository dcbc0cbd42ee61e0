/* Progress: what a line says, and what is written on a terminal and elsewhere. */
#include "cli/progress.h"

#include "base/text.h"
#include "core/clock.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t fake_now_ns;
static size_t fake_columns;

static uint64_t fake_now(void)
{
    return fake_now_ns;
}

static size_t fake_window(int fd)
{
    (void)fd;
    return fake_columns;
}

/* A view whose output is read back from a pipe. */
struct screen {
    struct progress_view view;
    struct progress progress;
    int reading;
    char text[8192];
};

static void screen_open(struct screen *screen, bool live, bool quiet)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    screen->reading = ends[0];
    progress_view_init(&screen->view, ends[1], quiet, 5 * NS_PER_S);
    assert_false(screen->view.live); /* a pipe is no terminal */
    screen->view.live = live;
    screen->view.now_ns = fake_now;
    screen->view.window = fake_window;
    screen->progress = progress_view_callbacks(&screen->view);
    fake_now_ns = 1000 * NS_PER_S;
}

/* What was written since the last call. */
static const char *screen_read(struct screen *screen)
{
    ssize_t length = read(screen->reading, screen->text, sizeof(screen->text) - 1);
    screen->text[length > 0 ? length : 0] = '\0';
    return screen->text;
}

static void screen_close(struct screen *screen)
{
    close(screen->view.fd);
    close(screen->reading);
}

static const struct progress_state running = {
    .step = "sqlite: round 2 of 3",
    .phase = "run",
    .done = 45,
    .total = 100,
    .per_second = 6543.2,
    .elapsed_ns = 2 * NS_PER_S,
    .remaining_ns = 7 * NS_PER_S + 1,
    .left_ns = PROGRESS_UNKNOWN,
};
static const char running_text[] = "sqlite: round 2 of 3, run 45 %, 6,543/s, 8 s left";

static void test_describe(void **state)
{
    (void)state;
    const struct {
        struct progress_state state;
        const char *expected;
    } cases[] = {
        {running, running_text},
        /* What all steps still take says more than what this one does. */
        {{.step = "a",
          .phase = "run",
          .done = 1,
          .total = 2,
          .per_second = NAN,
          .remaining_ns = 3 * NS_PER_S,
          .left_ns = 200 * NS_PER_S},
         "a, run 50 %, 3 min 20 s left"},
        {{.step = "a",
          .phase = "load",
          .done = 5,
          .total = PROGRESS_UNKNOWN,
          .per_second = NAN,
          .remaining_ns = PROGRESS_UNKNOWN,
          .left_ns = PROGRESS_UNKNOWN},
         "a, load 5"},
        {{.step = "a",
          .phase = NULL,
          .done = 0,
          .total = PROGRESS_UNKNOWN,
          .per_second = NAN,
          .elapsed_ns = 150 * NS_PER_S,
          .remaining_ns = PROGRESS_UNKNOWN,
          .left_ns = PROGRESS_UNKNOWN},
         "a, for 2 min 30 s"},
        /* More than was announced is not more than all; 99.9 % is not all. */
        {{.step = "a",
          .phase = "b",
          .done = 11,
          .total = 10,
          .per_second = INFINITY,
          .remaining_ns = 0,
          .left_ns = PROGRESS_UNKNOWN},
         "a, b 100 %, 0 s left"},
        {{.step = "a",
          .phase = "b",
          .done = 999,
          .total = 1000,
          .per_second = NAN,
          .remaining_ns = PROGRESS_UNKNOWN,
          .left_ns = PROGRESS_UNKNOWN},
         "a, b 99 %"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer out;
        buffer_init(&out);
        progress_describe(&cases[i].state, &out);
        assert_string_equal(out.data, cases[i].expected);
        buffer_release(&out);
    }
}

static void test_terminal_rewrites_one_line(void **state)
{
    (void)state;
    struct screen screen;
    screen_open(&screen, true, false);
    fake_columns = 80;
    char expected[256];
    snprintf(expected, sizeof(expected), "\r\x1b[K%s", running_text);
    screen.progress.update(screen.progress.context, &running);
    assert_string_equal(screen_read(&screen), expected);
    screen.progress.update(screen.progress.context, &running);
    assert_string_equal(screen_read(&screen), expected);
    screen.progress.done(screen.progress.context, "over");
    assert_string_equal(screen_read(&screen), "\r\x1b[Kover\n");
    screen.progress.done(screen.progress.context, "over");
    assert_string_equal(screen_read(&screen), "over\n");
    screen.progress.update(screen.progress.context, &running);
    screen_read(&screen);
    progress_view_finish(&screen.view);
    assert_string_equal(screen_read(&screen), "\r\x1b[K");
    progress_view_finish(&screen.view);
    assert_string_equal(screen_read(&screen), "");
    screen_close(&screen);
}

/* One column stays free, wide characters are never halved, and a resize is seen. */
static void test_terminal_cuts_to_the_window(void **state)
{
    (void)state;
    struct screen screen;
    screen_open(&screen, true, false);
    struct progress_state wide = running;
    wide.step = "日本語の長いエンジンの名前、もっと長い名前、とても長い名前、終わらない名前";
    for (fake_columns = 2; fake_columns <= 200; fake_columns++) {
        screen.progress.update(screen.progress.context, &wide);
        const char *text = screen_read(&screen);
        assert_memory_equal(text, "\r\x1b[K", 4);
        size_t width = text_width(text + 4, strlen(text + 4));
        assert_in_range(width, 1, fake_columns - 1);
        assert_null(strchr(text, '\n'));
        assert_null(strchr(text, '?'));
    }
    fake_columns = 20;
    screen.progress.update(screen.progress.context, &wide);
    assert_string_equal(screen_read(&screen) + 4, "日本語の長いエンジ…");
    screen.progress.done(screen.progress.context, "日本語の長いエンジンの名前");
    assert_string_equal(screen_read(&screen) + 4, "日本語の長いエンジ…\n");
    screen.progress.note(screen.progress.context, "engine turso failed in round 2");
    assert_string_equal(screen_read(&screen), "engine turso failed\nin round 2\n");
    screen_close(&screen);
}

static void test_plain_lines_at_most_one_in_five_seconds(void **state)
{
    (void)state;
    struct screen screen;
    screen_open(&screen, false, false);
    fake_columns = 80;
    size_t lines = 0;
    for (int second = 0; second < 20; second++) {
        screen.progress.update(screen.progress.context, &running);
        fake_now_ns += NS_PER_S;
        const char *text = screen_read(&screen);
        if (text[0] != '\0') {
            char expected[256];
            snprintf(expected, sizeof(expected), "%s\n", running_text);
            assert_string_equal(text, expected);
            assert_int_equal(second % 5, 0);
            lines++;
        }
    }
    assert_int_equal(lines, 4);
    screen.progress.done(screen.progress.context, "a\x1b[2Jb");
    assert_string_equal(screen_read(&screen), "a?[2Jb\n");
    screen.progress.note(screen.progress.context, "waiting for another pitot");
    assert_string_equal(screen_read(&screen), "waiting for another pitot\n");
    progress_view_finish(&screen.view);
    assert_string_equal(screen_read(&screen), "");
    screen_close(&screen);
}

static void test_a_window_without_columns_gets_plain_lines(void **state)
{
    (void)state;
    struct screen screen;
    screen_open(&screen, true, false);
    fake_columns = 0;
    screen.progress.update(screen.progress.context, &running);
    const char *text = screen_read(&screen);
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strchr(text, '\n'));
    screen_close(&screen);
}

static void test_quiet(void **state)
{
    (void)state;
    struct screen screen;
    for (int live = 0; live <= 1; live++) {
        screen_open(&screen, live == 1, true);
        fake_columns = 80;
        screen.progress.update(screen.progress.context, &running);
        screen.progress.done(screen.progress.context, "over");
        screen.progress.note(screen.progress.context, "a note");
        progress_view_finish(&screen.view);
        assert_string_equal(screen_read(&screen), "");
        screen_close(&screen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_terminal_rewrites_one_line),
        cmocka_unit_test(test_terminal_cuts_to_the_window),
        cmocka_unit_test(test_plain_lines_at_most_one_in_five_seconds),
        cmocka_unit_test(test_a_window_without_columns_gets_plain_lines),
        cmocka_unit_test(test_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
