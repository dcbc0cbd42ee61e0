#include "base/buffer.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an empty buffer points to; capacity 0 says that nothing may be written. */
static char nothing[1] = "";

static atomic_ulong failures;

static void fail(struct buffer *buffer)
{
    buffer->failed = true;
    atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

unsigned long buffer_failures(void)
{
    return atomic_load_explicit(&failures, memory_order_relaxed);
}

void buffer_init(struct buffer *buffer)
{
    *buffer = (struct buffer){.data = nothing};
}

void buffer_release(struct buffer *buffer)
{
    if (buffer->capacity > 0) {
        free(buffer->data);
    }
    buffer_init(buffer);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
    if (buffer->capacity > 0) {
        buffer->data[0] = '\0';
    }
}

/* Room for `more` bytes and a NUL. False, and failed set, without memory. */
static bool reserve(struct buffer *buffer, size_t more)
{
    if (buffer->failed) {
        return false;
    }
    if (more >= SIZE_MAX / 2 - buffer->length) {
        fail(buffer);
        return false;
    }
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity) {
        return true;
    }
    size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
    while (capacity < needed) {
        capacity += capacity / 2;
    }
    char *data = realloc(buffer->capacity > 0 ? buffer->data : NULL, capacity);
    if (data == NULL) {
        fail(buffer);
        return false;
    }
    data[buffer->length] = '\0';
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
    if (length == 0 || !reserve(buffer, length)) {
        return;
    }
    memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_puts(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_putc(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        fail(buffer);
    } else if (reserve(buffer, (size_t)length)) {
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

char *buffer_take(struct buffer *buffer)
{
    char *data = NULL;
    if (reserve(buffer, 0)) {
        data = buffer->data;
        buffer->capacity = 0;
    }
    buffer_release(buffer);
    return data;
}
