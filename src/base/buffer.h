/* A growing byte buffer, always NUL-terminated behind its length. */
#ifndef PITOT_BASE_BUFFER_H
#define PITOT_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Out of memory sets `failed`; every later call then does nothing, so that a
 * chain of appends is checked once at its end. */
struct buffer {
    char *data; /* never NULL after buffer_init; "" while empty */
    size_t length;
    size_t capacity;
    bool failed;
};

void buffer_init(struct buffer *buffer);
void buffer_release(struct buffer *buffer);
void buffer_clear(struct buffer *buffer);
void buffer_append(struct buffer *buffer, const void *bytes, size_t length);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_putc(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Gives the bytes to the caller (free()), or NULL if it failed; the buffer is
 * empty and usable afterwards. */
char *buffer_take(struct buffer *buffer);

/* How often a buffer of this process has failed. Whoever makes a text out of many small ones
 * compares before and after. Any thread. */
unsigned long buffer_failures(void);

#endif
