/* What the parts of verify() share with each other and with measure(); internal to the
 * coordinator. */
#ifndef PITOT_COORDINATOR_VERIFICATION_H
#define PITOT_COORDINATOR_VERIFICATION_H

#include "coordinator/job.h"
#include "coordinator/measurement.h"
#include "coordinator/process.h"

/* Operations of each script in the check before a measurement. */
#define VERIFY_OPERATIONS 1000

/* A database of a suite and the scripts that run on it: those of a scenario, and of others with the
 * same variables that share a script with it. Points into the suite. */
struct verify_database {
    struct suite suite;           /* with these scripts alone; its arrays are not to be freed */
    struct suite_script *scripts; /* owned */
    result_strings scenarios;     /* names, owned */
    struct plan_case plan_case;   /* over `suite`; its scenario is for the variables only */
    struct plan_case whole;       /* over the whole suite, with a scenario that writes if there is
                                     one */
    /* Cases of a measurement that the database is for: an engine that cannot answer fails in these.
     * Empty: in all. */
    RESULT_LIST(size_t) cases;
    struct case_template *template; /* not owned; NULL: no engine stores anything */
};
typedef RESULT_LIST(struct verify_database *) verify_databases;

/* Gives the database for the scenario of a case in *out: one of `all`, to which it is appended if
 * need be. */
int verify_databases_add(const struct plan_case *plan_case, verify_databases *all,
                         struct verify_database **out, struct error *error);
void verify_databases_release(verify_databases *databases);

/* One question to one engine on a copy of its own. */
struct verify_question {
    const struct plan_case *plan_case;
    const struct case_template *template; /* of the copy; NULL: none */
    const char *step;                     /* for progress */
    const char *kind;                     /* of the line that answers it */
    json_t *(*job)(const struct verify_question *question, const char *database,
                   const result_pairs *settings);
    /* Before the worker ends; NULL: none. */
    void (*look)(void *context, const char *database, const result_pairs *settings);
    void *look_context;
    uint32_t operations;
    const struct job_detail *detail;
    /* Whether the worker takes this kind of job, and the failure if not; NULL: every one does. */
    bool (*able)(const struct worker_identity *identity);
    const char *unable_reason;
    bool settled;         /* it is timed: what others left to be written is waited for */
    bool script_at_fault; /* out */
    bool unable;          /* out */
};

/* Gives a new reference in *line. What the engine did wrong is in `failure` (and the last lines of
 * its worker in `log`); an error means that nothing more can be asked of anyone. */
int verify_ask(struct measurement *m, size_t engine, struct verify_question *question,
               json_t **line, result_strings *log, struct error *failure, struct error *error);

/* Settings and journal of every engine that is alive, in its result. */
int verify_settings(struct measurement *m, const struct verify_database *database,
                    struct error *error);
/* Answers of every engine that is alive, compared with those of one of them. Engines that fail are
 * marked. */
int verify_answers(struct measurement *m, const struct verify_database *database,
                   uint32_t operations, struct error *error);
/* Sets verify.status of all engines. 0 or ERROR_MEMORY. */
int verify_judge(struct measurement *m, struct error *error);
/* Why the last judgement of an engine was not a good one, in a line; a new string. */
char *verify_reason(const struct result_engine *engine);
/* Warns of scripts that never touched a row, and of `differences` and failed executions where the
 * report does not list them. 0 or ERROR_MEMORY. */
int verify_warn(struct measurement *m, bool differences, struct error *error);

#endif
