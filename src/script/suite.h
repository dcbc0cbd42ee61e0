/*
 * A suite: a workload folder with schema.sql, load.sql, one script a query and
 * suite.json (docs/script-language.md, "suite.json"). The built-in suites (prod,
 * bench, concurrent) are such folders, embedded in the binary at build; a user's
 * folder is read the same way and obeys the same rules.
 */
#ifndef PITOT_SCRIPT_SUITE_H
#define PITOT_SCRIPT_SUITE_H

#include "script/script.h"

enum suite_kind { SUITE_READ, SUITE_WRITE };
enum suite_compare { SUITE_ORDERED, SUITE_SET, SUITE_COUNT };

struct suite_scale {
    char *name;
    uint64_t bytes; /* "bytes": about what the loaded database takes; 0: not said */
    struct script_constant *variables;
    size_t variable_count;
};

struct suite_script {
    char *name; /* file NAME.sql */
    enum suite_kind kind;
    enum suite_compare compare;
    uint32_t operations; /* operations an execution counts for; 1 by default */
    uint32_t weight;     /* in roles that do not list their scripts; 1 by default */
    char **ignore;       /* "table.column" left out of digests */
    size_t ignore_count;
    struct script *script;
};

struct suite_share {
    uint32_t script; /* index into suite.scripts */
    uint32_t weight; /* >= 1 */
};

struct suite_role {
    char *name;
    uint32_t connections; /* 0: "N", as many as --threads says */
    struct suite_share *shares;
    size_t share_count;
};

struct suite_scenario {
    char *name;
    struct script_constant *variables; /* override the scale's */
    size_t variable_count;
    struct suite_role *roles;
    size_t role_count;
};

struct suite {
    char *name;
    char *summary;
    char *folder; /* NULL: built in */
    char *schema;
    size_t schema_length;
    struct script *load;
    struct suite_scale *scales;
    size_t scale_count;
    struct suite_script *scripts;
    size_t script_count;
    struct suite_scenario *scenarios;
    size_t scenario_count;
    /* SHA-like identity: 64-bit FNV-1a of schema.sql and load.sql bytes with their
     * lengths: what the template depends on besides scale and seed. */
    uint64_t load_hash;
    /* The same over every file of the suite: what the measurement depends on. */
    uint64_t hash;
};

/* Opens a built-in suite by name, or a folder. ERROR_INVALID names the file, the
 * place, what was found and what would be right; unknown keys of suite.json are
 * errors, nearest known key suggested. The suite is the caller's: suite_free(). */
int suite_open_builtin(const char *name, struct suite **out, struct error *error);
int suite_open_folder(const char *path, struct suite **out, struct error *error);
void suite_free(struct suite *suite);

/* Names of the built-in suites, NULL-terminated. */
const char *const *suite_builtin_names(void);

/* By name; NULL when there is none. */
const struct suite_scale *suite_find_scale(const struct suite *suite, const char *name);
const struct suite_scenario *suite_find_scenario(const struct suite *suite, const char *name);

/* The scale's variables with the scenario's put over them, as a new array
 * (free() it alone: names belong to the suite). NULL when out of memory. */
struct script_constant *suite_variables(const struct suite *suite, const struct suite_scale *scale,
                                        const struct suite_scenario *scenario, size_t *count);
/* Two scenarios have the same variables; false also when out of memory. */
bool suite_same_variables(const struct suite *suite, const struct suite_scale *scale,
                          const struct suite_scenario *a, const struct suite_scenario *b);

#endif
