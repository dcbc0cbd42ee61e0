/* What is taken from an earlier result: how long cases are, and rounds that need not be run. */
#include "coordinator/measurement.h"

#include "result/alike.h"
#include "result/rounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lengths ------------------------------------------------------------------------------- */

/* The rate, and what it is a share of. */
static int take_rate(struct plan_case *plan_case, struct result_case *out,
                     const struct result_case *then)
{
    plan_case->rate = out->rate = then->rate;
    for (size_t i = 0; i < then->closed_loops.count; i++) {
        const struct result_closed_loop *from = &then->closed_loops.items[i];
        struct result_closed_loop *loop = result_list_add(&out->closed_loops);
        if (loop == NULL || (loop->engine = strdup(from->engine)) == NULL) {
            return ERROR_MEMORY;
        }
        loop->operations_per_second = from->operations_per_second;
    }
    return 0;
}

static int take_length(struct measured_case *measured, struct result_case *out,
                       const struct result_case *then)
{
    struct plan_case *plan_case = &measured->plan_case;
    if (plan_case->least_ns > 0 && then->operations != RESULT_ABSENT) {
        plan_case->least_ns = 0;
        plan_case->operations = then->operations;
        if (plan_case->warmup_tenth) {
            plan_case->warmup_operations = then->warmup_operations;
        }
        out->operations = plan_case->operations;
        out->warmup_operations = plan_case->warmup_operations;
    }
    bool same_share = plan_case->rate_share > 0 && plan_case->rate_share == then->rate_share;
    return same_share && isfinite(then->rate) ? take_rate(plan_case, out, then) : 0;
}

static int take_lengths(struct measurement *m, const struct result *lengths, struct error *error)
{
    int status = 0;
    for (size_t i = 0; i < m->plan->case_count && status == 0; i++) {
        struct result_case *out = &m->result->cases.items[i];
        const struct result_case *then = alike_find_case(lengths, out->label);
        if (then != NULL && strcmp(then->suite_hash, out->suite_hash) == 0) {
            status = take_length(&m->cases[i], out, then);
        }
    }
    return status == 0 ? 0 : error_set(error, status, "out of memory for the rates of then");
}

/* ---- is it the same plan? ------------------------------------------------------------------ */

static void differ(struct buffer *out, const char *name, const char *before, const char *here)
{
    if (before != here && (before == NULL || here == NULL || strcmp(before, here) != 0)) {
        buffer_printf(out, "%s%s: %s, here %s", out->length > 0 ? "; " : "", name,
                      before != NULL ? before : "none", here != NULL ? here : "none");
    }
}

static void differ_counts(struct buffer *out, const char *name, size_t before, size_t here)
{
    if (before != here) {
        buffer_printf(out, "%s%zu %s, here %zu", out->length > 0 ? "; " : "", before, name, here);
    }
}

/* Whose copies the runs got. */
static const char *template_of(const struct result *result, size_t of)
{
    uint64_t template = result->cases.items[of].template;
    return template != RESULT_ABSENT ? result->templates.items[template].identity : NULL;
}

static void append_named(struct buffer *out, const char *what, const char *name,
                         struct buffer *differences)
{
    if (differences->length > 0) {
        buffer_printf(out, "%s%s %s: %s", out->length > 0 ? "; " : "", what, name,
                      differences->data);
    }
    out->failed = out->failed || differences->failed;
    buffer_clear(differences);
}

static void compare_cases(const struct result *before, const struct result *here,
                          struct buffer *out)
{
    struct buffer differences;
    buffer_init(&differences);
    differ_counts(out, "cases", before->cases.count, here->cases.count);
    for (size_t i = 0; i < before->cases.count && i < here->cases.count; i++) {
        const struct result_case *one = &here->cases.items[i];
        differ(&differences, "label", before->cases.items[i].label, one->label);
        if (differences.length == 0) {
            alike_case(&before->cases.items[i], one, &differences);
        }
        if (differences.length == 0) {
            differ(&differences, "template", template_of(before, i), template_of(here, i));
        }
        append_named(out, "case", one->label, &differences);
    }
    buffer_release(&differences);
}

static void compare_engines(const struct result *before, const struct result *here,
                            struct buffer *out)
{
    struct buffer differences;
    buffer_init(&differences);
    differ_counts(out, "engines", before->engines.count, here->engines.count);
    for (size_t i = 0; i < before->engines.count && i < here->engines.count; i++) {
        alike_engine(&before->engines.items[i], &here->engines.items[i], &differences);
        append_named(out, "engine", here->engines.items[i].name, &differences);
    }
    buffer_release(&differences);
}

/* A case of `here` that is the same in `before`. Appends what the first differs in if none is. */
static bool any_alike(const struct result *before, const struct result *here, struct buffer *out)
{
    struct buffer differences;
    bool any = false;
    buffer_init(&differences);
    for (size_t i = 0; i < here->cases.count && !any; i++) {
        const struct result_case *one = &here->cases.items[i];
        const struct result_case *then = alike_find_case(before, one->label);
        buffer_clear(&differences);
        if (then != NULL) {
            alike_case(then, one, &differences);
            any = differences.length == 0;
        } else {
            buffer_puts(&differences, "not there");
        }
        if (!any && i == 0) {
            append_named(out, "no case is the same, such as", one->label, &differences);
        }
    }
    if (any) {
        buffer_clear(out);
    }
    buffer_release(&differences);
    return any;
}

static int refuse(const char *option, const char *file, const char *what,
                  struct buffer *differences, struct error *error)
{
    int status = 0;
    if (differences->failed) {
        status = error_set(error, ERROR_MEMORY, "out of memory");
    } else if (differences->length > 0) {
        status = error_set(error, ERROR_INVALID, "%s: %s cannot be %s: %s", option, file, what,
                           differences->data);
    }
    buffer_release(differences);
    return status;
}

int measurement_look_back(struct measurement *m, struct error *error)
{
    const struct plan_comparison *comparison = &m->plan->comparison;
    const struct result *before =
        comparison->resumed != NULL ? comparison->resumed : comparison->against;
    struct buffer out;
    if (before == NULL) {
        return 0;
    }
    int status = take_lengths(m, before, error);
    if (status != 0 || comparison->against == NULL) {
        return status;
    }
    buffer_init(&out);
    if (any_alike(comparison->against, m->result, &out)) {
        alike_host(&comparison->against->host, &m->result->host, &out);
        alike_plan(&comparison->against->plan, &m->result->plan, &out);
    }
    return refuse("--against", comparison->against_from, "compared with", &out, error);
}

/* NULL: it is not there. */
static const struct result_engine *find_engine(const struct result *result, const char *name)
{
    for (size_t i = 0; name != NULL && i < result->engines.count; i++) {
        if (strcmp(result->engines.items[i].name, name) == 0) {
            return &result->engines.items[i];
        }
    }
    return NULL;
}

int measurement_same_baseline(struct measurement *m, struct error *error)
{
    const struct plan_comparison *comparison = &m->plan->comparison;
    const char *name = m->result->comparison.baseline;
    const struct result_engine *now = find_engine(m->result, name);
    const struct result_engine *then =
        comparison->against != NULL ? find_engine(comparison->against, name) : NULL;
    struct buffer differences;
    struct buffer out;
    if (now == NULL || then == NULL || now->error != NULL) {
        return 0;
    }
    buffer_init(&differences);
    buffer_init(&out);
    alike_version(then, now, &differences);
    append_named(&out, "the baseline was another one,", name, &differences);
    buffer_release(&differences);
    return refuse("--against", comparison->against_from, "compared with", &out, error);
}

static int same_plan(const struct measurement *m, struct error *error)
{
    const struct result *before = m->plan->comparison.resumed;
    const struct result *here = m->result;
    struct buffer out;
    buffer_init(&out);
    differ(&out, "command", before->command, here->command);
    differ(&out, "version of pitot", before->pitot_version, here->pitot_version);
    differ(&out, "build", before->build, here->build);
    alike_host(&before->host, &here->host, &out);
    alike_plan(&before->plan, &here->plan, &out);
    if (before->plan.rounds > here->plan.rounds) {
        buffer_printf(&out, "%s%" PRIu64 " rounds, here only %" PRIu64, out.length > 0 ? "; " : "",
                      before->plan.rounds, here->plan.rounds);
    }
    differ(&out, "baseline", before->comparison.baseline, here->comparison.baseline);
    compare_cases(before, here, &out);
    compare_engines(before, here, &out);
    return refuse("--resume", m->plan->comparison.resumed_from, "gone on from", &out, error);
}

/* ---- its rounds ---------------------------------------------------------------------------- */

/* Takes the runs that `keep` allows out of `from`, which keeps the others. */
static int take_runs(struct result_run *from, size_t count, bool aside, const bool *whole,
                     uint64_t rounds, struct result_engine *into)
{
    for (size_t i = 0; i < count; i++) {
        bool again = aside && strcmp(from[i].aside, "again") == 0;
        bool of_whole = from[i].round >= 1 && from[i].round <= rounds &&
                        whole[from[i].case_index * rounds + from[i].round - 1];
        if (!of_whole && (!aside || again)) {
            continue;
        }
        struct result_run *run =
            aside ? result_list_add(&into->aside) : result_list_add(&into->runs);
        if (run == NULL) {
            return ERROR_MEMORY;
        }
        *run = from[i];
        result_run_init(&from[i]);
    }
    return 0;
}

/* An engine that failed in a case then does not run in it now. */
static void take_failures(struct measurement *m, const struct result_engine *before, size_t index)
{
    for (size_t of = 0; of < m->plan->case_count; of++) {
        bool ran = false;
        for (size_t i = 0; i < before->runs.count; i++) {
            ran = ran || before->runs.items[i].case_index == of;
        }
        if (ran && round_engine_gone(before, of) && m->cases[of].alive[index]) {
            const char *why = before->summaries.items[of].error;
            measurement_fail_case(m, &m->cases[of], index, why != NULL ? why : "it failed before");
        }
    }
}

static void tell_taken(struct measurement *m, const bool *whole, size_t count)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        taken += whole[i] ? 1 : 0;
    }
    char *text = result_text("going on from %s: %zu of %zu rounds are there",
                             m->plan->comparison.resumed_from, taken, count);
    if (text != NULL) {
        m->progress->note(m->progress->context, text);
    }
    free(text);
}

int measurement_resume(struct measurement *m, struct error *error)
{
    struct result *before = m->plan->comparison.resumed;
    size_t cases = m->plan->case_count;
    uint64_t rounds = m->plan->rounds;
    if (before == NULL) {
        return 0;
    }
    int status = same_plan(m, error);
    bool *whole = status == 0 ? calloc(cases * rounds, sizeof *whole) : NULL;
    if (status == 0 && whole == NULL) {
        status = error_set(error, ERROR_MEMORY, "out of memory");
    }
    for (size_t i = 0; status == 0 && i < cases * rounds; i++) {
        whole[i] = !round_broken_off(before, i / rounds, i % rounds + 1);
    }
    for (size_t i = 0; status == 0 && i < before->engines.count; i++) {
        struct result_engine *engine = &before->engines.items[i];
        struct result_engine *into = &m->result->engines.items[i];
        take_failures(m, engine, i);
        if (take_runs(engine->runs.items, engine->runs.count, false, whole, rounds, into) != 0 ||
            take_runs(engine->aside.items, engine->aside.count, true, whole, rounds, into) != 0) {
            status = error_set(error, ERROR_MEMORY, "out of memory for the runs");
        }
    }
    if (status == 0) {
        tell_taken(m, whole, cases * (size_t)rounds);
    }
    free(whole);
    return status;
}
