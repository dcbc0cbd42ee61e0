#include "coordinator/worker_log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const char *text;
    size_t length;
};

static bool begins(struct line line, const char *with)
{
    size_t length = strlen(with);
    return line.length >= length && memcmp(line.text, with, length) == 0;
}

/* "12: name", as Node and Rust number the frames of a stack. */
static bool is_numbered(struct line line)
{
    size_t digits = 0;
    while (digits < line.length && isdigit((unsigned char)line.text[digits])) {
        digits++;
    }
    return digits > 0 && digits <= 3 && digits + 1 < line.length && line.text[digits] == ':' &&
           line.text[digits + 1] == ' ';
}

/* No letter, digit or byte beyond ASCII: "#", "^^^", "----". */
static bool is_rule(struct line line)
{
    for (size_t i = 0; i < line.length; i++) {
        unsigned char byte = (unsigned char)line.text[i];
        if (isalnum(byte) || byte >= 0x80) {
            return false;
        }
    }
    return true;
}

static bool is_frame(struct line line)
{
    /* What Node shows of an error behind its stack has the last two. */
    static const char *const beginnings[] = {"at ",
                                             "stack backtrace:",
                                             "note: ",
                                             "Node.js v",
                                             "#FailureMessage Object",
                                             "----- Native stack trace",
                                             "----- JavaScript stack trace",
                                             "code: '",
                                             "url: '"};
    while (line.length > 0 && (line.text[0] == ' ' || line.text[0] == '\t')) {
        line.text++;
        line.length--;
    }
    bool found = is_rule(line) || is_numbered(line);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings && !found; i++) {
        found = begins(line, beginnings[i]);
    }
    return found;
}

/* The last lines, the last of them first. */
static size_t find_last(const char *text, size_t length, bool frames, struct line *lines)
{
    size_t count = 0;
    while (length > 0 && count < WORKER_LOG_LINES) {
        size_t start = length;
        while (start > 0 && text[start - 1] != '\n') {
            start--;
        }
        struct line line = {text + start, length - start};
        if (line.length > 0 && (frames || !is_frame(line))) {
            lines[count++] = line;
        }
        length = start > 0 ? start - 1 : 0;
    }
    return count;
}

void worker_log_keep(const char *text, size_t length, result_strings *log)
{
    struct line lines[WORKER_LOG_LINES];
    size_t count = find_last(text, length, false, lines);
    if (count == 0) {
        count = find_last(text, length, true, lines);
    }
    while (count-- > 0) {
        char **item = result_list_add(log);
        if (item == NULL) {
            return;
        }
        *item = strndup(lines[count].text, lines[count].length < WORKER_LOG_LINE_BYTES
                                               ? lines[count].length
                                               : WORKER_LOG_LINE_BYTES);
        if (*item == NULL) {
            log->count--;
            return;
        }
    }
}
