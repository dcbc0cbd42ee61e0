#include "statistics/roles.h"

#include "statistics/run_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const char *role, const char *name)
{
    return role != NULL && strcmp(role, name) == 0;
}

/* ---- one role in one run -------------------------------------------------------------------- */

/* NAN: the run has no script of that role. */
static double operations(const struct result_run *run, const char *role)
{
    double sum = 0;
    bool any = false;
    for (size_t i = 0; i < run->scripts.count; i++) {
        if (is_of(run->scripts.items[i].role, role)) {
            sum += script_operations(&run->scripts.items[i]);
            any = true;
        }
    }
    return any ? sum : (double)NAN;
}

/* Over its connections; one that could not be measured makes the sum absent. */
static double sum_of(const struct result_run *run, const char *role, size_t offset)
{
    double sum = 0;
    bool any = false;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (is_of(connection->role, role)) {
            uint64_t own;
            memcpy(&own, (const char *)connection + offset, sizeof own);
            sum += run_measured(own);
            any = true;
        }
    }
    return any ? sum : (double)NAN;
}

static double off_cpu_ns(const struct result_run *run, const char *role)
{
    return sum_of(run, role, offsetof(struct result_connection, off_cpu_ns));
}

static double slept_ns(const struct result_run *run, const char *role)
{
    return sum_of(run, role, offsetof(struct result_connection, slept_ns));
}

static double run_queue_ns(const struct result_run *run, const char *role)
{
    return sum_of(run, role, offsetof(struct result_connection, run_queue_ns));
}

/* x/0 gives no finite number and so counts as absent. */
static double cpu_per_operation_ns(const struct result_run *run, const char *role)
{
    return sum_of(run, role, offsetof(struct result_connection, cpu_ns)) / operations(run, role);
}

/* Which scripts the executions of a connection were of is not known: each counts for what one of
 * the role does on average. */
static double operations_each(const struct result_run *run, const char *role)
{
    double executions = 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        executions += is_of(connection->role, role) ? (double)connection->operations : 0;
    }
    return executions > 0 ? operations(run, role) / executions : 1;
}

/* Operations a second of one connection over its own window: connections that do a number of
 * operations differ in how long they need for it. */
static double served(const struct result_connection *connection, double each)
{
    return (double)connection->operations * each / (run_measured(connection->window_ns) / 1e9);
}

/* Of the connections of a role the one that `pick` (fmin, fmax) prefers; NAN without any. */
static double picked_served(const struct result_run *run, const char *role,
                            double (*pick)(double, double))
{
    double each = operations_each(run, role);
    double found = (double)NAN;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        /* Of a number and NAN both take the number. */
        found = is_of(connection->role, role) ? pick(found, served(connection, each)) : found;
    }
    return found;
}

static double least_served(const struct result_run *run, const char *role)
{
    return picked_served(run, role, fmin);
}

static double most_served(const struct result_run *run, const char *role)
{
    return picked_served(run, role, fmax);
}

static double fairness(const struct result_run *run, const char *role)
{
    return least_served(run, role) / most_served(run, role);
}

/* ---- over the rounds ------------------------------------------------------------------------ */

static struct result_figure over_runs(const struct runs *runs, struct sample *sample,
                                      const char *role,
                                      double (*value)(const struct result_run *, const char *))
{
    for (size_t i = 0; i < runs->count; i++) {
        sample_add(sample, value(runs->items[i], role));
    }
    return sample_take(sample);
}

static void fill_figures(const struct runs *runs, struct sample *sample,
                         struct result_role_summary *summary)
{
    const struct {
        struct result_figure *figure;
        double (*value)(const struct result_run *, const char *);
    } figures[] = {
        {&summary->operations_per_second, run_operations_per_second},
        {&summary->least_served_per_second, least_served},
        {&summary->most_served_per_second, most_served},
        {&summary->fairness, fairness},
        {&summary->cpu_per_operation_ns, cpu_per_operation_ns},
        {&summary->off_cpu_ns, off_cpu_ns},
        {&summary->slept_ns, slept_ns},
        {&summary->run_queue_ns, run_queue_ns},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        *figures[i].figure = over_runs(runs, sample, summary->role, figures[i].value);
    }
}

static struct result_role_summary *find_role(struct result_summary *summary, const char *role)
{
    for (size_t i = 0; i < summary->roles.count; i++) {
        if (is_of(summary->roles.items[i].role, role)) {
            return &summary->roles.items[i];
        }
    }
    return NULL;
}

/* The roles of a run, in their order; those that are known stay. */
static int add_roles(const struct result_run *run, struct result_summary *summary)
{
    for (size_t i = 0; i < run->connections.count; i++) {
        const char *role = run->connections.items[i].role;
        if (role == NULL || find_role(summary, role) != NULL) {
            continue;
        }
        struct result_role_summary *added = result_list_add(&summary->roles);
        if (added == NULL) {
            return ERROR_MEMORY;
        }
        result_role_summary_init(added);
        for (size_t k = i; k < run->connections.count; k++) {
            added->connections += is_of(run->connections.items[k].role, role);
        }
        added->role = strdup(role);
        if (added->role == NULL) {
            return ERROR_MEMORY;
        }
    }
    return 0;
}

static void add_outcomes(const struct result_run *run, struct result_summary *summary)
{
    for (size_t i = 0; i < run->scripts.count; i++) {
        const struct result_script *script = &run->scripts.items[i];
        struct result_role_summary *into = find_role(summary, script->role);
        if (into != NULL) {
            ROUNDS_ADD_OUTCOMES(into, script);
        }
    }
}

int summarize_roles(const struct result_engine *engine, size_t of, const struct runs *runs,
                    struct sample *sample, struct result_summary *summary)
{
    int status = 0;
    for (size_t i = 0; i < engine->runs.count && status == 0; i++) {
        const struct result_run *run = &engine->runs.items[i];
        if (run->case_index == of) {
            status = add_roles(run, summary);
            add_outcomes(run, summary);
        }
    }
    for (size_t i = 0; i < summary->roles.count && status == 0; i++) {
        fill_figures(runs, sample, &summary->roles.items[i]);
    }
    return status;
}

/* ---- from case to case ------------------------------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_variables(const result_pairs *a, const result_pairs *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        same = same_text(a->items[i].name, b->items[i].name) &&
               same_text(a->items[i].value, b->items[i].value);
    }
    return same;
}

/* The cases differ in their number of connections at most. */
static bool same_scenario(const struct result_case *a, const struct result_case *b)
{
    return same_text(a->suite_hash, b->suite_hash) && same_text(a->scale, b->scale) &&
           same_text(a->scenario, b->scenario) && same_text(a->isolation, b->isolation) &&
           same_variables(&a->variables, &b->variables);
}

/* The first case of the scenario of the case `of`; SIZE_MAX: it is the only one. */
static size_t base_of(const struct result *result, size_t of)
{
    size_t first = SIZE_MAX;
    size_t count = 0;
    for (size_t i = 0; i < result->cases.count; i++) {
        if (same_scenario(&result->cases.items[i], &result->cases.items[of])) {
            first = count++ == 0 ? i : first;
        }
    }
    return count > 1 ? first : SIZE_MAX;
}

static void fill_scaling(const struct runs *own, const struct runs *base, struct sample *sample,
                         struct result_role_summary *role)
{
    for (size_t i = 0; i < own->count; i++) {
        for (size_t k = 0; k < base->count; k++) {
            if (own->items[i]->round == base->items[k]->round) {
                sample_add(sample, run_operations_per_second(own->items[i], role->role) /
                                       run_operations_per_second(base->items[k], role->role));
            }
        }
    }
    role->scaling = sample_take(sample);
}

static int scale_engine(const struct result *result, struct result_engine *engine)
{
    size_t room = engine->runs.count + 1;
    struct runs own = {calloc(room, sizeof(*own.items)), 0};
    struct runs base = {calloc(room, sizeof(*base.items)), 0};
    struct sample sample = {calloc(room, sizeof(*sample.values)), 0};
    bool room_there = own.items != NULL && base.items != NULL && sample.values != NULL;
    for (size_t of = 0; of < engine->summaries.count && room_there; of++) {
        struct result_summary *summary = &engine->summaries.items[of];
        size_t first = base_of(result, of);
        own.count = base.count = 0;
        if (first != SIZE_MAX) {
            runs_select(engine, of, "ok", &own);
            runs_select(engine, first, "ok", &base);
        }
        for (size_t i = 0; i < summary->roles.count; i++) {
            fill_scaling(&own, &base, &sample, &summary->roles.items[i]);
        }
    }
    free(own.items);
    free(base.items);
    free(sample.values);
    return room_there ? 0 : ERROR_MEMORY;
}

int summarize_scaling(struct result *result, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < result->engines.count && status == 0; i++) {
        status = scale_engine(result, &result->engines.items[i]);
    }
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory while summing up");
}
