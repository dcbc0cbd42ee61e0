#include "cli/terminal.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* More is no window; a wrong value must not make us reserve memory for it. */
enum { COLUMNS_MAX = 10000 };

size_t terminal_window(int fd)
{
    struct winsize window;
    if (ioctl(fd, TIOCGWINSZ, &window) != 0) {
        return 0;
    }
    return window.ws_col;
}

size_t terminal_columns(int fd, size_t otherwise)
{
    size_t columns = terminal_window(fd);
    if (columns > 0) {
        return columns;
    }
    const char *text = getenv("COLUMNS");
    uint64_t value = 0;
    if (text != NULL && units_count("COLUMNS", text, 1, COLUMNS_MAX, &value, NULL) == 0) {
        return (size_t)value;
    }
    return otherwise;
}

bool terminal_understands(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

bool terminal_colour(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    return terminal_understands(fd) && (no_color == NULL || no_color[0] == '\0');
}
