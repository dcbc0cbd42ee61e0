/* The rounds of a measurement, and again those that the host disturbed. */
#include "coordinator/measurement.h"

#include "coordinator/interrupt.h"
#include "coordinator/order.h"
#include "result/rounds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the time left ------------------------------------------------------------------------- */

/* The baseline's second run is due in the rounds of a case. */
static bool runs_again(const struct measurement *m, const struct measured_case *measured)
{
    size_t baseline = m->plan->comparison.baseline;
    return measured->again && m->alive[baseline] && measured->alive[baseline];
}

static uint64_t runs_of_round(const struct measurement *m, const struct measured_case *measured)
{
    return measurement_count_running(m, measured) + (runs_again(m, measured) ? 1 : 0);
}

/* How long a run of a case takes: as before, or as its plan says. */
static uint64_t run_ns(const struct measured_case *measured)
{
    return measured->spent_runs > 0 ? measured->spent_ns / measured->spent_runs
                                    : measured->expected_ns;
}

/* What is still to come behind a run of `measured` that leaves `behind` runs of its round. */
static uint64_t left_ns(const struct measurement *m, const struct measured_case *measured,
                        uint64_t behind)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->plan->case_count; i++) {
        const struct measured_case *other = &m->cases[i];
        uint64_t runs =
            runs_of_round(m, other) * other->rounds_left + (i == measured->index ? behind : 0);
        if (runs > 0 && run_ns(other) == PROGRESS_UNKNOWN) {
            return PROGRESS_UNKNOWN;
        }
        sum += runs * run_ns(other);
    }
    return sum;
}

/* ---- a round of a case --------------------------------------------------------------------- */

static size_t contenders(const struct measurement *m)
{
    return m->plan->engines->count + (m->plan->comparison.again ? 1 : 0);
}

/* All engines of a case in a round (from 0). The last contender is the baseline's second run. */
static int run_case(struct measurement *m, struct measured_case *measured, uint32_t round,
                    size_t *order, struct error *error)
{
    size_t engines = m->plan->engines->count;
    uint64_t behind = runs_of_round(m, measured);
    struct run_place place = {.round = (uint64_t)round + 1};
    int status = 0;
    measured->rounds_left--;
    order_of_round(m->plan->seed, contenders(m), round, measured->index, order);
    for (size_t i = 0; i < contenders(m) && status == 0; i++) {
        place.again = order[i] == engines;
        size_t engine = place.again ? m->plan->comparison.baseline : order[i];
        if (!m->alive[engine] || !measured->alive[engine] || (place.again && !measured->again)) {
            continue;
        }
        place.position++;
        behind -= behind > 0 ? 1 : 0; /* it was counted while an engine was alive that has failed */
        place.after_ns = left_ns(m, measured, behind);
        status = measurement_run(m, measured, engine, &place, error);
        if (status == 0 && interrupt_requested()) {
            status = error_set(error, ERROR_INTERRUPTED, "ended by a signal");
        }
    }
    return status;
}

/* ---- after a round ------------------------------------------------------------------------- */

/* Status words that a reader of an unfinished result needs: set for the time of `round_done`. */
static void borrow_status(char **status, bool give)
{
    static char unfinished[] = "partial";
    if (give && *status == NULL) {
        *status = unfinished;
    } else if (!give && *status == unfinished) {
        *status = NULL;
    }
}

static void borrow_statuses(struct result *result, bool give)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        struct result_engine *engine = &result->engines.items[i];
        borrow_status(&engine->status, give);
        for (size_t of = 0; of < engine->summaries.count; of++) {
            borrow_status(&engine->summaries.items[of].status, give);
        }
    }
}

/* Hands out the result as far as it is. */
static int tell_round(struct measurement *m, struct error *error)
{
    struct result *result = m->result;
    const struct plan_comparison *comparison = &m->plan->comparison;
    if (comparison->round_done == NULL) {
        return 0;
    }
    size_t warnings = result->warnings.count;
    int status = result_warn(result, NULL,
                             "written while the command went on: what else is to be said of the "
                             "runs follows at its end");
    if (status == 0) {
        result->partial = true;
        borrow_statuses(result, true);
        comparison->round_done(comparison->context);
        borrow_statuses(result, false);
    }
    while (result->warnings.count > warnings) {
        free(result->warnings.items[--result->warnings.count].text);
    }
    return status == 0 ? 0 : error_set(error, ERROR_MEMORY, "out of memory for the warnings");
}

/* ---- again --------------------------------------------------------------------------------- */

static bool of_round(const struct result_run *run, const struct measured_case *measured,
                     uint64_t round)
{
    return run->case_index == measured->index && run->round == round;
}

/* Of an engine's two runs in a round, the earlier one (or the later) is put aside. */
static int put_aside(struct result_engine *engine, const struct measured_case *measured,
                     uint64_t round, bool earlier, const char *why)
{
    size_t first = SIZE_MAX;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < engine->runs.count; i++) {
        if (of_round(&engine->runs.items[i], measured, round)) {
            first = first == SIZE_MAX ? i : first;
            last = i;
        }
    }
    return first == last ? 0 : result_run_move(engine, earlier ? first : last, why);
}

/* The same of the baseline's second runs, which are aside already. */
static int put_again_aside(struct result_engine *engine, const struct measured_case *measured,
                           uint64_t round, bool earlier, const char *why)
{
    struct result_run *first = NULL;
    struct result_run *last = NULL;
    for (size_t i = 0; i < engine->aside.count; i++) {
        struct result_run *run = &engine->aside.items[i];
        if (of_round(run, measured, round) && strcmp(run->aside, "again") == 0) {
            first = first == NULL ? run : first;
            last = run;
        }
    }
    struct result_run *chosen = earlier ? first : last;
    char *word = first != last ? strdup(why) : NULL;
    if (first != last && word == NULL) {
        return ERROR_MEMORY;
    }
    if (word != NULL) {
        free(chosen->aside);
        chosen->aside = word;
    }
    return 0;
}

/* Measures a round (from 0) of a case again, whole, and puts aside what it replaces; a repeat that
 * is broken off replaces nothing. */
static int repeat(struct measurement *m, struct measured_case *measured, uint32_t round,
                  size_t *order, struct error *error)
{
    uint64_t number = (uint64_t)round + 1;
    int status = run_case(m, measured, round, order, error);
    const char *why = status == 0 ? "disturbed" : "broken off";
    int moved = 0;
    for (size_t i = 0; i < m->result->engines.count && moved == 0; i++) {
        struct result_engine *engine = &m->result->engines.items[i];
        moved = put_again_aside(engine, measured, number, status == 0, why);
        moved = moved == 0 ? put_aside(engine, measured, number, status == 0, why) : moved;
    }
    return moved == 0 || status != 0 ? status
                                     : error_set(error, ERROR_MEMORY, "out of memory for the runs");
}

static bool to_be_repeated(const struct measurement *m, const struct measured_case *measured,
                           uint32_t round)
{
    double most = m->plan->comparison.disturbance_max;
    return most > 0 && runs_of_round(m, measured) > 0 &&
           round_disturbed(m->result, measured->index, (uint64_t)round + 1, most) &&
           !round_repeated(m->result, measured->index, (uint64_t)round + 1);
}

/* Counts them, case by case. */
static uint64_t plan_repeats(struct measurement *m)
{
    uint64_t count = 0;
    for (size_t i = 0; i < m->plan->case_count; i++) {
        for (uint32_t round = 0; round < m->plan->rounds; round++) {
            m->cases[i].rounds_left += to_be_repeated(m, &m->cases[i], round) ? 1 : 0;
        }
        count += m->cases[i].rounds_left;
    }
    return count;
}

static void note_repeats(struct measurement *m, uint64_t count)
{
    char *text = count > 0
                     ? result_text("%" PRIu64 " round%s disturbed by the host (steal or the CPU "
                                   "of others over %g %%): measured again",
                                   count, count == 1 ? " was" : "s were",
                                   m->plan->comparison.disturbance_max * 100)
                     : NULL;
    if (text != NULL) {
        m->progress->note(m->progress->context, text);
    }
    free(text);
}

static int repeats(struct measurement *m, size_t *order, struct error *error)
{
    int status = 0;
    note_repeats(m, plan_repeats(m));
    for (uint32_t round = 0; round < m->plan->rounds && status == 0; round++) {
        bool any = false;
        for (size_t i = 0; i < m->plan->case_count && status == 0; i++) {
            if (to_be_repeated(m, &m->cases[i], round)) {
                status = repeat(m, &m->cases[i], round, order, error);
                any = true;
            }
        }
        if (status == 0 && any) {
            status = tell_round(m, error);
        }
    }
    return status;
}

/* ---- all rounds ---------------------------------------------------------------------------- */

/* It came with the result that is resumed. */
static bool is_there(const struct measurement *m, const struct measured_case *measured,
                     uint32_t round)
{
    for (size_t i = 0; i < m->result->engines.count; i++) {
        const struct result_engine *engine = &m->result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            if (of_round(&engine->runs.items[k], measured, (uint64_t)round + 1)) {
                return true;
            }
        }
    }
    return false;
}

static int run_round(struct measurement *m, uint32_t round, size_t *order, struct error *error)
{
    int status = 0;
    bool any = false;
    for (size_t i = 0; i < m->plan->case_count && status == 0; i++) {
        if (!is_there(m, &m->cases[i], round)) {
            status = run_case(m, &m->cases[i], round, order, error);
            any = true;
        }
    }
    return status == 0 && any ? tell_round(m, error) : status;
}

int measurement_rounds(struct measurement *m, struct error *error)
{
    size_t *order = calloc(contenders(m), sizeof *order);
    int status = order != NULL ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < m->plan->case_count; i++) {
        m->cases[i].rounds_left = 0;
        for (uint32_t round = 0; round < m->plan->rounds; round++) {
            m->cases[i].rounds_left += is_there(m, &m->cases[i], round) ? 0 : 1;
        }
    }
    for (uint32_t round = 0; round < m->plan->rounds && status == 0; round++) {
        status = run_round(m, round, order, error);
        if (status == 0 && measurement_count_alive(m) == 0) {
            break; /* what each engine died of is in the result */
        }
    }
    status = status == 0 ? repeats(m, order, error) : status;
    free(order);
    return status;
}
