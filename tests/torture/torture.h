/* What the programs that try libpitot out share: numbers of the command line, a folder of their
 * own, and one way to ask the database. */
#ifndef TESTS_TORTURE_TORTURE_H
#define TESTS_TORTURE_TORTURE_H

#include <errno.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Ends the program with status 2 when the text is no number from 0. */
static inline long number_of(const char *program, const char *text)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text || number < 0) {
        fprintf(stderr, "%s: '%s' is no number\n", program, text);
        exit(2);
    }
    return number;
}

/* A new folder below `base`; false: it could not be made, and that was told. */
static inline bool make_folder(const char *program, const char *base, char *folder, size_t size)
{
    snprintf(folder, size, "%s/pitot-torture-XXXXXX", base);
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "%s: '%s': ", program, folder);
        perror("no folder");
        return false;
    }
    return true;
}

static inline int remove_entry(const char *path, const struct stat *status, int kind,
                               struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static inline void remove_folder(const char *folder)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The first number of an SQL statement's first row; -1 when there is none. */
static inline int64_t ask_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t found = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        found = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return found;
}

#endif
