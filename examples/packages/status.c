/*
 * The source: reads the status file of dpkg, which is blocks of "Key: value" lines with an empty
 * line behind each, and stages the packages that are installed.
 */
#include "packages.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum field { NAME, ARCHITECTURE, VERSION, SIZE, SUMMARY, STATE, FIELDS };

static const char *const keys[FIELDS] = {
    [NAME] = "Package",        [ARCHITECTURE] = "Architecture", [VERSION] = "Version",
    [SIZE] = "Installed-Size", [SUMMARY] = "Description",       [STATE] = "Status",
};

struct block {
    char *value[FIELDS]; /* NULL: not in it */
};

static void clear(struct block *block)
{
    for (int i = 0; i < FIELDS; i++) {
        free(block->value[i]);
        block->value[i] = NULL;
    }
}

/* Lines that begin with a blank go on with the value before: of a summary they are the long text.
 */
static void take_line(struct block *block, const char *line)
{
    const char *colon = strchr(line, ':');
    if (line[0] == ' ' || line[0] == '\t' || colon == NULL) {
        return;
    }
    for (int i = 0; i < FIELDS; i++) {
        size_t length = strlen(keys[i]);
        if ((size_t)(colon - line) == length && memcmp(line, keys[i], length) == 0 &&
            block->value[i] == NULL) {
            block->value[i] = strdup(colon + 1 + strspn(colon + 1, " "));
        }
    }
}

static struct pitot_value text(const char *value)
{
    return value != NULL ? pitot_text(value, strlen(value)) : pitot_null();
}

static int add_package(struct pitot_pass *pass, const struct block *block)
{
    const char *size = block->value[SIZE];
    if (block->value[NAME] == NULL || block->value[STATE] == NULL ||
        strstr(block->value[STATE], " installed") == NULL) {
        return 0;
    }
    const struct pitot_value row[] = {
        text(block->value[NAME]),
        text(block->value[ARCHITECTURE] != NULL ? block->value[ARCHITECTURE] : ""),
        text(block->value[VERSION]),
        size != NULL ? pitot_integer(strtoll(size, NULL, 10) * 1024) : pitot_null(),
        text(block->value[SUMMARY]),
    };
    return pitot_pass_add(pass, 0, row, sizeof row / sizeof *row);
}

/* Sleeps, but not beyond the moment at which the pass is to end. */
static void pause_pass(struct pitot_pass *pass, int microseconds)
{
    struct pollfd fd = {.fd = pitot_pass_descriptor(pass), .events = POLLIN};
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
    if (microseconds > 0) {
        ppoll(&fd, 1, &time, NULL);
    }
}

int status_list(struct pitot_pass *pass, void *context)
{
    const struct status_file *from = context;
    FILE *file = fopen(from->path, "re");
    if (file == NULL) {
        char why[PITOT_MESSAGE_SIZE];
        snprintf(why, sizeof why, "%s: %s", from->path, strerror(errno));
        return pitot_pass_fail(pass, errno, why);
    }
    struct block block = {{NULL}};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    while (result == 0 && !pitot_pass_cancelled(pass)) {
        length = getline(&line, &room, file);
        if (length > 0 && line[length - 1] == '\n') {
            line[--length] = '\0';
        }
        if (length > 0) {
            take_line(&block, line);
            continue;
        }
        result = add_package(pass, &block); /* an empty line, or the end */
        clear(&block);
        pause_pass(pass, from->pause_us);
        if (length < 0) {
            break;
        }
    }
    if (result == 0 && ferror(file)) {
        result = pitot_pass_fail(pass, EIO, "the status file cannot be read");
    }
    clear(&block);
    free(line);
    fclose(file);
    return result;
}
