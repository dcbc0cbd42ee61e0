/*
 * What engines there are: one manifest each (engines/NAME.json, embedded at build)
 * plus those that the user dropped into $PITOT_ENGINES (a list of folders, ':')
 * or $XDG_CONFIG_HOME/pitot/engines (~/.config by default). docs/engines.md describes the keys.
 * Of a manifest that takes versions there is one more for each version whose library is built.
 * A user's manifest of a built-in name is an error, two of one name as well; an
 * unreadable one is reported with its path and only matters when it is named.
 */
#ifndef PITOT_COORDINATOR_REGISTRY_H
#define PITOT_COORDINATOR_REGISTRY_H

#include "core/error.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

struct manifest_fault {
    char *versions; /* "0.7.2" or "3.7.0..3.51.2 except 3.44.6 3.50.7" */
    char *text;
};

struct manifest {
    char *name; /* "turso", "turso@0.7.1" */
    char *base; /* of one made for another version: the name before '@'; NULL: read as it is */
    char *summary;
    char *file;             /* where it was read, "built in" otherwise */
    char *driver;           /* of pitot-worker; NULL for one with a command */
    char *library;          /* path; ${cache}, ${version}, … expanded; NULL: none needed */
    char *version;          /* that `get` would bring, NULL: not said */
    char *get;              /* the one command that makes it ready, NULL: always ready */
    result_strings command; /* argv of a worker of its own; empty: pitot-worker */
    result_strings needs;   /* files that must be there too; expanded as library */
    bool takes_path;        /* sqlite=PATH */
    bool takes_version;     /* turso@VERSION; its library lies in ${cache}/NAME@${version}/ */
    bool is_default;        /* part of a run without --engines */
    bool no_database;       /* null: exempt from answers, counts, template */
    bool no_shm;            /* keeps no -shm file beside a WAL database */
    result_pairs options;
    result_pairs required; /* its own values of required settings */
    result_strings notes;  /* what a reader of its numbers must know, whatever its version */
    char *second_opinion;  /* the engine that looks at its files, too, after a run; NULL: none */
    RESULT_LIST(struct manifest_fault) faults;
    char *text; /* the file's, of which further versions are made; NULL: it takes none */
};

/* One engine of a run. */
struct engine_choice {
    char *name; /* unique in the run: "sqlite", "sqlite=/usr/lib/…", a second one "sqlite#2" */
    const struct manifest *manifest;
    char *library;        /* real path, or NULL */
    result_pairs options; /* of --engine-option, over the manifest's */
};

struct registry {
    RESULT_LIST(struct manifest) manifests; /* by name */
    result_warnings problems;               /* unreadable or duplicate manifests */
};

int registry_load(struct registry *registry, struct error *error);
void registry_release(struct registry *registry);
const struct manifest *registry_find(const struct registry *registry, const char *name);

/* Ready: its library or command exists, and what it needs. Otherwise `why` says what is missing. */
bool manifest_ready(const struct manifest *manifest, char **why);

typedef RESULT_LIST(struct engine_choice) engine_choices;
/* Parses --engines: names separated by commas, NAME=PATH where the manifest takes a path,
 * NAME@VERSION where it takes a version.
 * A comma inside a path is written "\,", a backslash "\\"; NULL means the default
 * engines that are ready (if `sqlite` is not ready, the system's libsqlite3.so.0 as
 * sqlite=PATH, with a warning). ERROR_INVALID: unknown name (nearest suggested), a path
 * that is missing or no file. ERROR_UNAVAILABLE: named but not ready, with the command. */
int registry_choose(const struct registry *registry, const char *list, engine_choices *out,
                    result_warnings *warnings, struct error *error);
/* Hands each NAME.KEY=VALUE (pair: NAME.KEY, VALUE) to all chosen engines of that manifest, and of
 * those made of it for other versions: the text up to the last dot is NAME. ERROR_INVALID: no dot,
 * no such engine (the nearest is named), an engine that takes no part, or one option given twice.
 */
int registry_engine_options(const struct registry *registry, const result_pairs *given,
                            engine_choices *choices, struct error *error);
/* Adds one option for the worker of an engine. INVALID: it has one of that name. */
int engine_choice_option(struct engine_choice *choice, const char *key, const char *value,
                         struct error *error);
/* The engine that builds templates: `sqlite`, else the system's library. */
int registry_template_engine(const struct registry *registry, struct engine_choice *out,
                             struct error *error);
void engine_choices_release(engine_choices *choices);
/* For the one of registry_template_engine(). */
void engine_choice_release(struct engine_choice *choice);

/* True when `version` falls under a fault's versions. */
bool manifest_fault_applies(const struct manifest_fault *fault, const char *version);

/* The folder where built engine libraries lie:
 * $XDG_CACHE_HOME/pitot/engines or ~/.cache/pitot/engines. New string. */
char *registry_cache_folder(void);

#endif
