/* Lines in, events, lines out. */
#include "worker/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    int in[2], out[2];
    struct wire wire;
    struct error error;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.error = ERROR_INIT};
    assert_int_equal(pipe(fixture->in), 0);
    assert_int_equal(pipe(fixture->out), 0);
    wire_init(&fixture->wire, fixture->in[0], fixture->out[1]);
}

static void end(struct fixture *fixture)
{
    wire_release(&fixture->wire);
    for (int i = 0; i < 2; i++) {
        close(fixture->in[i]);
        close(fixture->out[i]);
    }
}

static void say(struct fixture *fixture, const char *text)
{
    assert_int_equal(write(fixture->in[1], text, strlen(text)), strlen(text));
}

static enum wire_event wait_for(struct fixture *fixture, int wake_fd, uint64_t until_ns,
                                char kind[16])
{
    enum wire_event event = WIRE_END;
    json_t *line = NULL;
    assert_int_equal(wire_wait(&fixture->wire, wake_fd, until_ns, &event, &line, &fixture->error),
                     0);
    if (event == WIRE_LINE) {
        snprintf(kind, 16, "%s", json_string_value(json_object_get(line, "kind")));
        json_decref(line);
    } else {
        assert_null(line);
    }
    return event;
}

static void lines_in_order_then_the_end(void **state)
{
    (void)state;
    struct fixture fixture;
    char kind[16] = "";
    begin(&fixture);
    say(&fixture, "{\"kind\":\"a\"}\n{\"kind\":\"b\"}\n{\"kind\":");
    assert_int_equal(wait_for(&fixture, -1, UINT64_MAX, kind), WIRE_LINE);
    assert_string_equal(kind, "a");
    assert_int_equal(wait_for(&fixture, -1, UINT64_MAX, kind), WIRE_LINE);
    assert_string_equal(kind, "b");
    assert_int_equal(wait_for(&fixture, -1, 0, kind), WIRE_TIME);
    say(&fixture, "\"c\"}\n{\"half\"");
    assert_int_equal(wait_for(&fixture, -1, UINT64_MAX, kind), WIRE_LINE);
    assert_string_equal(kind, "c");
    close(fixture.in[1]);
    assert_int_equal(wait_for(&fixture, -1, UINT64_MAX, kind), WIRE_END);
    assert_int_equal(wait_for(&fixture, -1, UINT64_MAX, kind), WIRE_END);
    end(&fixture);
}

static void woken(void **state)
{
    (void)state;
    struct fixture fixture;
    char kind[16] = "";
    begin(&fixture);
    int fd = eventfd(0, EFD_NONBLOCK);
    eventfd_write(fd, 1);
    eventfd_write(fd, 1);
    assert_int_equal(wait_for(&fixture, fd, UINT64_MAX, kind), WIRE_WAKE);
    assert_int_equal(wait_for(&fixture, fd, 0, kind), WIRE_TIME);
    close(fd);
    end(&fixture);
}

static void no_lines(void **state)
{
    (void)state;
    static const char *const texts[] = {"\n",
                                        "x\n",
                                        "[]\n",
                                        "{}\n",
                                        "{\"kind\":null}\n",
                                        "{\"kind\":\"a\"} {}\n",
                                        "{\"kind\":\"a\",\"kind\":\"b\"}\n",
                                        "\xff\n",
                                        "{\"kind\":\"a\",\"x\":NaN}\n",
                                        "{\"kind\":\"a\\u0000b\"}\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct fixture fixture;
        enum wire_event event;
        json_t *line = NULL;
        begin(&fixture);
        say(&fixture, texts[i]);
        assert_int_equal(wire_wait(&fixture.wire, -1, UINT64_MAX, &event, &line, &fixture.error),
                         ERROR_PROTOCOL);
        assert_null(line);
        end(&fixture);
    }
}

static void sent_lines(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture);
    assert_int_equal(wire_send(&fixture.wire, json_pack("{s:s}", "kind", "x"), &fixture.error), 0);
    char text[64] = "";
    assert_true(read(fixture.out[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "{\"kind\":\"x\"}\n");
    assert_int_equal(wire_send(&fixture.wire, NULL, &fixture.error), ERROR_MEMORY);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_in_order_then_the_end),
        cmocka_unit_test(woken),
        cmocka_unit_test(no_lines),
        cmocka_unit_test(sent_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
