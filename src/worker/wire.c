#include "worker/wire.h"

#include "base/json.h"
#include "core/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void wire_init(struct wire *wire, int in, int out)
{
    *wire = (struct wire){.in = in, .out = out};
    buffer_init(&wire->pending);
}

void wire_release(struct wire *wire)
{
    buffer_release(&wire->pending);
}

/* Length of the first line, line feed included; 0: there is no whole line yet. */
static size_t line_length(struct wire *wire)
{
    const char *from = wire->pending.data + wire->scanned;
    const char *end = memchr(from, '\n', wire->pending.length - wire->scanned);
    if (end == NULL) {
        wire->scanned = wire->pending.length;
        return 0;
    }
    return (size_t)(end - wire->pending.data) + 1;
}

static int parse_line(const char *bytes, size_t length, json_t **out, struct error *error)
{
    json_t *line = NULL;
    int status = json_parse(bytes, length, "line of the coordinator", &line, error);
    if (status != 0) {
        return status;
    }
    if (!json_is_object(line) || !json_is_string(json_object_get(line, "kind"))) {
        json_decref(line);
        return error_set(error, ERROR_PROTOCOL,
                         "line of the coordinator: expected an object with a text \"kind\"");
    }
    *out = line;
    return 0;
}

static int take_line(struct wire *wire, size_t length, json_t **out, struct error *error)
{
    int status = parse_line(wire->pending.data, length, out, error);
    size_t rest = wire->pending.length - length;
    if (rest == 0) {
        /* A job can be long: its memory must not count as the engine's. */
        buffer_release(&wire->pending);
        buffer_init(&wire->pending);
    } else {
        memmove(wire->pending.data, wire->pending.data + length, rest + 1);
        wire->pending.length = rest;
    }
    wire->scanned = 0;
    return status;
}

static int read_some(struct wire *wire, struct error *error)
{
    char bytes[65536];
    ssize_t n = read(wire->in, bytes, sizeof(bytes));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return 0;
    }
    if (n <= 0) {
        /* An input that cannot be read any more is one whose other end is of no use. */
        wire->ended = true;
        return 0;
    }
    buffer_append(&wire->pending, bytes, (size_t)n);
    if (wire->pending.failed) {
        return error_set(error, ERROR_MEMORY, "out of memory for a line of the coordinator");
    }
    return 0;
}

static struct timespec time_left(uint64_t until_ns)
{
    uint64_t now = clock_now_ns();
    uint64_t left = until_ns > now ? until_ns - now : 0;
    return (struct timespec){.tv_sec = (time_t)(left / NS_PER_S),
                             .tv_nsec = (long)(left % NS_PER_S)};
}

int wire_wait(struct wire *wire, int wake_fd, uint64_t until_ns, enum wire_event *event,
              json_t **line, struct error *error)
{
    *line = NULL;
    for (;;) {
        size_t length = line_length(wire);
        if ((length != 0 ? length : wire->pending.length) > WIRE_LINE_MAX) {
            return error_set(error, ERROR_PROTOCOL, "line of the coordinator: longer than 64 MiB");
        }
        if (length != 0) {
            *event = WIRE_LINE;
            return take_line(wire, length, line, error);
        }
        if (wire->ended) {
            *event = WIRE_END;
            return 0;
        }
        struct timespec left = time_left(until_ns);
        struct pollfd fds[2] = {{.fd = wire->in, .events = POLLIN},
                                {.fd = wake_fd, .events = POLLIN}};
        int n = ppoll(fds, 2, until_ns == UINT64_MAX ? NULL : &left, NULL);
        if (n < 0 && errno != EINTR) {
            return error_errno(error, errno, "cannot wait for the coordinator");
        }
        if (n > 0 && fds[0].revents != 0) {
            int status = read_some(wire, error);
            if (status != 0) {
                return status;
            }
            continue;
        }
        if (n > 0 && fds[1].revents != 0) {
            uint64_t count;
            ssize_t ignored = read(wake_fd, &count, sizeof(count));
            (void)ignored;
            *event = WIRE_WAKE;
            return 0;
        }
        if (n == 0) {
            *event = WIRE_TIME;
            return 0;
        }
    }
}

int wire_send(struct wire *wire, json_t *line, struct error *error)
{
    if (line == NULL) {
        return error_set(error, ERROR_MEMORY, "out of memory for a line to the coordinator");
    }
    int status = json_write_line(wire->out, line, error);
    json_decref(line);
    return status;
}
