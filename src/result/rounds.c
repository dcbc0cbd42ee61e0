#include "result/rounds.h"

#include <string.h>

static bool is(const char *text, const char *expected)
{
    return text != NULL && strcmp(text, expected) == 0;
}

static bool of_round(const struct result_run *run, size_t of, uint64_t round)
{
    return run->case_index == of && run->round == round;
}

bool round_engine_gone(const struct result_engine *engine, size_t of)
{
    const char *status =
        of < engine->summaries.count ? engine->summaries.items[of].status : engine->status;
    return is(status, "failed") || is(status, "unable");
}

bool round_broken_off(const struct result *result, size_t of, uint64_t round)
{
    bool any = false;
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        bool gone = round_engine_gone(engine, of);
        bool there = false;
        for (size_t k = 0; k < engine->runs.count; k++) {
            const struct result_run *run = &engine->runs.items[k];
            if (of_round(run, of, round) && !gone && !is(run->status, "ok")) {
                return true;
            }
            there = there || of_round(run, of, round);
        }
        if (!there && result->partial && !gone) {
            return true;
        }
        any = any || there;
    }
    return !any;
}

static bool beyond(const struct result_run *run, double most)
{
    return run->steal > most || run->cpu_others > most;
}

bool round_disturbed(const struct result *result, size_t of, uint64_t round, double most)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            const struct result_run *run = &engine->runs.items[k];
            if (of_round(run, of, round) && beyond(run, most)) {
                return true;
            }
        }
        for (size_t k = 0; k < engine->aside.count; k++) {
            const struct result_run *run = &engine->aside.items[k];
            if (of_round(run, of, round) && is(run->aside, "again") && beyond(run, most)) {
                return true;
            }
        }
    }
    return false;
}

bool round_repeated(const struct result *result, size_t of, uint64_t round)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        const struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->aside.count; k++) {
            const struct result_run *run = &engine->aside.items[k];
            if (of_round(run, of, round) && is(run->aside, "disturbed")) {
                return true;
            }
        }
    }
    return false;
}
