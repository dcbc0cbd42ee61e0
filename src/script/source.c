#include "script/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at `at`, 0 when there is none: no overlong
 * forms, no surrogates, nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    if (at[0] < 0x80) {
        return 1;
    }
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || left < length) {
        return 0;
    }
    unsigned char low = at[0] == 0xE0 ? 0xA0 : at[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = at[0] == 0xED ? 0x9F : at[0] == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static int source_check(struct source *source, struct error *error)
{
    const unsigned char *bytes = (const unsigned char *)source->bytes;
    for (size_t at = 0; at < source->length;) {
        if (bytes[at] == 0) {
            /* ASCII in UTF-16 without its mark has a NUL beside every letter. */
            const char *advice = at <= 1 ? " (UTF-16? save as UTF-8)" : "";
            return source_fail(source, source_place(source, at), error,
                               "a NUL byte: a script is UTF-8 text%s", advice);
        }
        size_t length = utf8_length(bytes + at, source->length - at);
        if (length == 0) {
            return source_fail(source, source_place(source, at), error,
                               "byte 0x%02x is not UTF-8: save as UTF-8", bytes[at]);
        }
        at += length;
    }
    return 0;
}

int source_init(struct source *source, const char *file, const char *bytes, size_t length,
                struct error *error)
{
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    *source = (struct source){
        .file = file, .bytes = bytes, .length = length, .known_place = {.line = 1, .column = 1}};
    if (length >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0)) {
        return source_fail(source, source->known_place, error,
                           "this file is UTF-16: save as UTF-8");
    }
    return source_check(source, error);
}

struct script_place source_place(struct source *source, size_t offset)
{
    if (offset < source->known) {
        source->known = 0;
        source->known_place = (struct script_place){.line = 1, .column = 1};
    }
    for (; source->known < offset && source->known < source->length; source->known++) {
        unsigned char byte = (unsigned char)source->bytes[source->known];
        if (byte == '\n') {
            source->known_place.line++;
            source->known_place.column = 0;
        }
        /* Bytes inside a character do not count. */
        if (source->known + 1 < source->length &&
            ((unsigned char)source->bytes[source->known + 1] & 0xC0) == 0x80) {
            continue;
        }
        source->known_place.column++;
    }
    return source->known_place;
}

int source_fail(const struct source *source, struct script_place place, struct error *error,
                const char *format, ...)
{
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return error_set(error, ERROR_INVALID, "%s:%u:%u: %s", source->file, place.line, place.column,
                     message);
}
