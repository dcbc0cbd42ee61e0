/* The terminal: raw input without waiting, and screens that are written at once. */
#include "packages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool begun;

static char output[65536];
static size_t used;

static void put(const char *bytes, size_t length)
{
    if (length <= sizeof output - used) {
        memcpy(output + used, bytes, length);
        used += length;
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void flush(void)
{
    size_t sent = 0;
    while (sent < used) {
        ssize_t count = write(STDOUT_FILENO, output + sent, used - sent);
        if (count < 0 && errno != EINTR) {
            break;
        }
        sent += count > 0 ? (size_t)count : 0;
    }
    used = 0;
}

bool screen_begin(void)
{
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0) {
        return false;
    }
    struct termios raw = before;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 0; /* read() returns at once */
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    begun = true;
    put_text("\x1b[?1049h\x1b[?25l"); /* a screen of our own, no cursor */
    flush();
    return true;
}

void screen_end(void)
{
    if (begun) {
        put_text("\x1b[?25h\x1b[?1049l");
        flush();
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        begun = false;
    }
}

struct screen_size screen_size(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 ||
        window.ws_col == 0) {
        return (struct screen_size){24, 80};
    }
    return (struct screen_size){window.ws_row, window.ws_col};
}

/* ---- keys ------------------------------------------------------------------------------- */

static int escape_sequence(const char *bytes, size_t length, size_t *taken)
{
    static const struct {
        const char *bytes;
        enum key key;
    } known[] = {
        {"\x1b[A", KEY_UP},   {"\x1bOA", KEY_UP},       {"\x1b[B", KEY_DOWN},
        {"\x1bOB", KEY_DOWN}, {"\x1b[5~", KEY_PAGE_UP}, {"\x1b[6~", KEY_PAGE_DOWN},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t size = strlen(known[i].bytes);
        if (length >= size && memcmp(bytes, known[i].bytes, size) == 0) {
            *taken = size;
            return known[i].key;
        }
    }
    *taken = length; /* alone, or a key that is not known: with all that came with it */
    return length == 1 ? KEY_ESCAPE : KEY_NONE;
}

int screen_key(void)
{
    static char typed[256];
    static size_t count;
    if (count == 0) {
        ssize_t got = read(STDIN_FILENO, typed, sizeof typed);
        if (got < 0) {
            return errno == EAGAIN || errno == EINTR ? KEY_NONE : -1;
        }
        count = (size_t)got;
    }
    if (count == 0) {
        return KEY_NONE;
    }
    size_t taken = 1;
    int key = (unsigned char)typed[0];
    if (key == '\x1b') {
        key = escape_sequence(typed, count, &taken);
    }
    count -= taken;
    memmove(typed, typed + taken, count);
    return key;
}

/* ---- drawing ------------------------------------------------------------------------------ */

void screen_start(void)
{
    put_text("\x1b[H");
}

/* Bytes of the first `columns` characters; one that is no letter becomes '?'. */
static size_t fit(char *text, int columns)
{
    size_t i = 0;
    for (int shown = 0; text[i] != '\0'; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0u) != 0x80u && shown++ == columns) {
            break;
        }
        if (byte < 0x20 || byte == 0x7f) {
            text[i] = '?';
        }
    }
    return i;
}

void screen_line(bool bold, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(bold ? "\x1b[7m" : "");
    put(text, fit(text, screen_size().columns));
    put_text(bold ? "\x1b[0m\x1b[K\r\n" : "\x1b[K\r\n");
}

void screen_show(void)
{
    if (used >= 2) { /* no line feed behind the last line: it would scroll */
        used -= 2;
    }
    put_text("\x1b[J");
    flush();
}
