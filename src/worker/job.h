/*
 * A job as the coordinator sent it, checked: every index lies within its list, every number
 * within its range, so that nothing later needs to ask again. The input may be hostile.
 */
#ifndef PITOT_WORKER_JOB_H
#define PITOT_WORKER_JOB_H

#include "core/error.h"
#include "script/script.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_kind { JOB_LOAD, JOB_RUN, JOB_CHECK, JOB_VERIFY };
enum job_integrity { JOB_INTEGRITY_NONE, JOB_INTEGRITY_QUICK, JOB_INTEGRITY_FULL };
enum job_compare { JOB_COMPARE_ORDERED, JOB_COMPARE_SET, JOB_COMPARE_COUNT };

#define JOB_UNLIMITED UINT64_MAX

enum {
    JOB_CONNECTIONS_MAX = 100000,
    JOB_SCRIPTS_MAX = 10000,
    JOB_SETTINGS_MAX = 1000,
    JOB_TABLES_MAX = 100000,
    JOB_WEIGHT_MAX = 1000000, /* the sum of a role's weights stays below 2^34 */
    JOB_TRIES_MAX = 1000000,
    JOB_VERIFY_TRIES = 10,    /* unless the job says another number */
    JOB_VERIFY_MAX = 1000000, /* executions of all scripts: their digests fit one line */
    JOB_IGNORE_MAX = 10000,
    JOB_DETAIL_ROWS_MAX = 1000,
};
#define JOB_OPERATIONS_MAX UINT64_C(1000000000000)
#define JOB_TIME_MAX_NS UINT64_C(1000000000000000)
/* Executions a second; one in a thousand seconds to one a nanosecond. */
#define JOB_RATE_MIN 0.001
#define JOB_RATE_MAX 1e9

struct job_setting {
    char *name;
    char *value;
    bool required;
};

struct job_settings {
    struct job_setting *items;
    size_t count;
};

struct job_share {
    uint32_t script; /* index into job.scripts; no script twice in a role */
    uint32_t weight; /* >= 1 */
};

struct job_role {
    char *name;
    uint32_t connections; /* >= 1 */
    uint64_t operations;  /* executions a connection: the role's own, or the job's */
    struct job_share *shares;
    uint32_t share_count; /* >= 1 */
};

/* The one execution that a verify job is to show. */
struct job_detail {
    bool wanted;
    uint32_t script;    /* index into job.scripts */
    uint32_t operation; /* < job.operations */
    uint32_t rows;      /* shown at most, of a statement */
};

struct job {
    enum job_kind kind;
    char *database; /* bytes of the path; NULL: none was named */
    uint32_t busy_timeout_ms;
    uint32_t seed;
    struct job_settings settings;
    struct script_constant *constants; /* the scale's variables */
    size_t constant_count;

    struct script **scripts; /* run, verify: as listed; load: the load script alone */
    bool *reads;             /* run, verify: by script; true: its statements must not write */
    uint32_t script_count;

    char *schema; /* load */

    char **tables; /* check; none: every table of the schema */
    size_t table_count;
    enum job_integrity integrity;

    enum job_compare *compare; /* verify: one a script */
    char **ignore;             /* verify: "table.column" */
    size_t ignore_count;
    struct job_detail detail; /* verify */

    /* Run, from here on. A verify job has one role of one connection with every script, and
     * `operations` of each script. */
    struct job_role *roles;
    uint32_t role_count;
    uint32_t connection_count; /* over all roles, >= 1 */
    uint32_t first_connection;
    uint32_t connections_total; /* >= first_connection + connection_count */
    uint64_t warmup_ns;         /* one of the two is JOB_UNLIMITED */
    uint64_t warmup_operations; /* executions a connection */
    uint64_t duration_ns;       /* one of the two is JOB_UNLIMITED, the other >= 1 */
    uint64_t operations;        /* executions a connection of roles without a number of their own */
    uint64_t grace_ns;
    uint64_t latency_limit_ns;
    uint32_t max_tries; /* >= 1 */
    double rate;        /* executions a second of all connections_total, 0: a closed loop */
};

/* Between two executions that are due on one connection; only with a rate. */
static inline double job_gap_ns(const struct job *job)
{
    return (double)job->connections_total * 1e9 / job->rate;
}

/* Reads a `job` line. ERROR_PROTOCOL names the key and what is wrong with it; ERROR_INVALID: a
 * protocol version or a kind of job that this worker does not know. The job is the caller's:
 * job_free(). */
int job_from_json(const json_t *line, struct job **out, struct error *error);
void job_free(struct job *job);

/* Parts of job_from_json, in files of their own. */
int job_read_run(const json_t *line, struct job *job, struct error *error);
int job_read_verify(const json_t *line, struct job *job, struct error *error);
/* A number within [min, max] under `key`. */
int job_read_number(const json_t *object, const char *key, const char *where, uint64_t min,
                    uint64_t max, uint64_t *out, struct error *error);
/* The list `scripts`, at least one. */
int job_read_scripts(const json_t *line, struct job *job, struct error *error);
/* A list of at most `max` texts under `key`; *items and *count are the job's from then on, also
 * when this fails. */
int job_read_texts(const json_t *line, const char *key, size_t max, char ***items, size_t *count,
                   struct error *error);
/* The place of a text under `key` among `count` names. */
int job_read_choice(const json_t *object, const char *key, const char *where,
                    const char *const *names, size_t count, int *out, struct error *error);
/* A compiled script appended to job->scripts, which has room for it. */
int job_read_script(const json_t *tree, struct job *job, bool load, struct error *error);

#endif
