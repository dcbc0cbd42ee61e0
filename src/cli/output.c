#include "cli/output.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opened the wrong way round on purpose: writing to a standard output that was closed must
 * fail as it would have done. Standard error has nobody to be told. */
static int occupy(int fd, struct error *error)
{
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) {
        return 0;
    }
    int opened = open("/dev/null", fd == STDERR_FILENO ? O_RDWR : O_RDONLY);
    if (opened < 0) {
        return error_errno(error, errno, "/dev/null cannot be opened");
    }
    if (opened != fd) { /* a lower one was free: the caller goes from 0 upwards */
        close(opened);
        return error_set(error, ERROR_UNAVAILABLE, "descriptor %d cannot be occupied", fd);
    }
    return 0;
}

int output_init(struct error *error)
{
    signal(SIGPIPE, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int code = occupy(fd, error);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

int output_check(struct error *error)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
        return error_set(error, ERROR_UNAVAILABLE,
                         "standard output is closed: nothing could be shown");
    }
    return 0;
}

/* Returns 0 or the errno of the first failure. A descriptor that somebody else made
 * non-blocking is waited for. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd writable = {.fd = fd, .events = POLLOUT};
            if (poll(&writable, 1, -1) < 0 && errno != EINTR) {
                return errno;
            }
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int output_write(const char *bytes, size_t length, struct error *error)
{
    int failure = write_all(STDOUT_FILENO, bytes, length);
    if (failure == 0 || failure == EPIPE) {
        return 0;
    }
    return error_errno(error, failure, "standard output cannot be written");
}

int output_buffer(const struct buffer *buffer, struct error *error)
{
    if (buffer->failed) {
        return error_set(error, ERROR_MEMORY, "out of memory for the output");
    }
    return output_write(buffer->data, buffer->length, error);
}

void output_raw(int fd, const char *bytes, size_t length)
{
    (void)write_all(fd, bytes, length);
}

void output_complain(const char *command, const char *message)
{
    struct buffer line;
    buffer_init(&line);
    buffer_printf(&line, "pitot%s%s: ", command != NULL ? " " : "", command != NULL ? command : "");
    text_one_line(&line, message);
    buffer_putc(&line, '\n');
    if (line.failed) { /* no memory for one line: say it raw rather than not at all */
        output_raw(STDERR_FILENO, message, strlen(message));
        output_raw(STDERR_FILENO, "\n", 1);
    } else {
        output_raw(STDERR_FILENO, line.data, line.length);
    }
    buffer_release(&line);
}
