/* A browser for the packages that Debian's package manager knows: what its three files share. */
#ifndef PACKAGES_H
#define PACKAGES_H

#include <pitot.h>

#include <stdbool.h>
#include <stddef.h>

#define SOURCE_NAME "dpkg"
#define SCHEMA                                                                                     \
    "CREATE TABLE packages(name TEXT, architecture TEXT, version TEXT, size INTEGER,"              \
    " summary TEXT, PRIMARY KEY(name, architecture)) WITHOUT ROWID"

/* ---- status.c: the source ---- */

struct status_file {
    const char *path;
    int pause_us; /* after each package, as if it came from far away */
};

/* A pitot_function; its context is a struct status_file. */
int status_list(struct pitot_pass *pass, void *context);

/* ---- screen.c: the terminal ---- */

enum key { KEY_NONE = 0, KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_ESCAPE };

/* Takes the terminal over, and gives it back. Returns false where standard input is none. */
bool screen_begin(void);
void screen_end(void);

struct screen_size {
    int rows, columns;
};
struct screen_size screen_size(void);

/* The next key of what was typed: a byte, or an enum key; KEY_NONE: no more for now, -1: the
 * terminal is gone. Never waits. */
int screen_key(void);

/* Draws a whole screen: screen_start(), lines from the top, screen_show(). A line is cut to the
 * window; `bold` sets it apart. */
void screen_start(void);
void screen_line(bool bold, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_show(void);

#endif
