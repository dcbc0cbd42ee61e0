#include "lib/declared.h"

#include <string.h>
#include <strings.h>

static bool contains(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

/* The rules of https://www.sqlite.org/datatype3.html, 3.1, in their order. */
enum affinity declared_affinity(const char *type, bool strict)
{
    if (strict && strcasecmp(type, "ANY") == 0) {
        return AFFINITY_BLOB;
    }
    if (contains(type, "INT")) {
        return AFFINITY_INTEGER;
    }
    if (contains(type, "CHAR") || contains(type, "CLOB") || contains(type, "TEXT")) {
        return AFFINITY_TEXT;
    }
    if (*type == '\0' || contains(type, "BLOB")) {
        return AFFINITY_BLOB;
    }
    if (contains(type, "REAL") || contains(type, "FLOA") || contains(type, "DOUB")) {
        return AFFINITY_REAL;
    }
    return AFFINITY_NUMERIC;
}

enum pitot_type declared_type(const char *type)
{
    static const struct {
        const char *name;
        enum pitot_type type;
    } types[] = {{"INT", PITOT_INTEGER},
                 {"INTEGER", PITOT_INTEGER},
                 {"REAL", PITOT_REAL},
                 {"TEXT", PITOT_TEXT},
                 {"BLOB", PITOT_BLOB}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcasecmp(type, types[i].name) == 0) {
            return types[i].type;
        }
    }
    return PITOT_NULL;
}

enum collation declared_collation(const char *name)
{
    static const char *const names[] = {"BINARY", "NOCASE", "RTRIM"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (name != NULL && strcasecmp(name, names[i]) == 0) {
            return (enum collation)i;
        }
    }
    return COLLATION_OTHER;
}
