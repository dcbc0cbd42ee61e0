/*
 * What commands that start engines have in common: the result that is begun, checks before the
 * first engine starts, progress, and where the result goes.
 */
#ifndef PITOT_CLI_SESSION_H
#define PITOT_CLI_SESSION_H

#include "cli/commands.h"
#include "cli/prod_options.h"
#include "cli/progress.h"

struct session {
    /* Called once figures and comparison are there, before they are shown; NULL: nothing is to be
     * done then. */
    int (*finish)(struct session *session, struct error *error);
    const struct command *command;
    struct prod_options *given; /* the command's values */
    struct registry registry;
    engine_choices engines;
    struct plan plan;
    struct result *result;
    struct progress_view view;
};

/* What a command does between its words and its result. A command's own struct begins with its
 * session, so that a step finds the rest behind it. */
struct session_steps {
    /* Everything that can be found wrong before the first engine starts. 0, or an error with the
     * exit status for it in *status. */
    int (*prepare)(struct session *session, struct error *error, int *status);
    int (*work)(struct session *session, const struct progress *progress, struct error *error);
    /* Whether a result of work that was broken off holds anything: one that does not is not
     * delivered, as it would take the place of a good one. `nothing` says so: "nothing was
     * measured". */
    bool (*some)(const struct result *result);
    const char *nothing;
};

/* The whole command: begins the result, parses the words into `values`, which begin with `given`,
 * takes the steps, shows what there is to show. Returns the exit status; what the session owns is
 * released, and `values`. */
int session_command(struct session *session, const struct command *command,
                    const struct session_steps *steps, void *values, int argc, char *const *argv);

/* For the steps of a command that measures: measure() by the session's plan, and whether any engine
 * was run in a round. */
int session_measure(struct session *session, const struct progress *progress, struct error *error);
bool session_anything_measured(const struct result *result);

/* For prepare(). The checks, in this order; each returns 0 or an error with the exit status for it
 * in *status: options together, and whether the result can be written at all; */
int session_check(struct session *session, struct error *error, int *status);
/* a suite: the folder, or the built-in one when that is NULL; its warnings go to the result; */
int session_suite(struct session *session, const char *folder, const char *builtin,
                  struct suite **out, struct error *error, int *status);
/* what engines there are; */
int session_registry(struct session *session, struct error *error, int *status);
/* which of them take part; signals are caught from then on. */
int session_engines(struct session *session, struct error *error, int *status);

/* Index of the engine that others are compared with unless it is named: the one that is called
 * sqlite, else the first that stores anything, else the first. There is one at least. */
size_t session_baseline(const struct session *session);

/* Writes the file of --json as the result is, with its figures; nothing without such a file. For
 * use while the work goes on. */
int session_save(struct session *session, struct error *error);

#endif
