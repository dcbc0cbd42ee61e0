#include "worker/loop.h"

#include "core/clock.h"
#include "measure/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Weights up to this sum are looked up in a table, one entry a draw. */
enum { PICKS_MAX = 1024 };

/* ---- made before the loop ---------------------------------------------- */

static int no_memory(struct failure *failure)
{
    return failure_set(failure, "open", ERROR_MEMORY, "out of memory for a connection");
}

static int make_picks(struct loop *loop, const struct job_role *role, struct failure *failure)
{
    loop->weight_up_to = calloc(role->share_count, sizeof(*loop->weight_up_to));
    if (loop->weight_up_to == NULL) {
        return no_memory(failure);
    }
    for (uint32_t i = 0; i < role->share_count; i++) {
        loop->total_weight += role->shares[i].weight;
        loop->weight_up_to[i] = loop->total_weight;
    }
    if (loop->total_weight > PICKS_MAX) {
        return 0;
    }
    loop->picks = calloc(loop->total_weight, sizeof(*loop->picks));
    if (loop->picks == NULL) {
        return no_memory(failure);
    }
    uint32_t entry = 0;
    for (uint64_t draw = 0; draw < loop->total_weight; draw++) {
        entry += draw >= loop->weight_up_to[entry];
        loop->picks[draw] = (uint16_t)entry;
    }
    return 0;
}

static int make_tallies(struct loop *loop, struct failure *failure)
{
    loop->tallies_bytes = loop->entry_count * sizeof(*loop->tallies);
    void *memory =
        mmap(NULL, loop->tallies_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        error_errno(&failure->error, errno, "no memory for the counters of a connection");
        return failure_phase(failure, "open");
    }
    loop->tallies = memory;
    return 0;
}

static int make_entry(struct loop *loop, struct loop_entry *entry, const struct job *job,
                      struct failure *failure)
{
    if (tally_init(entry->tally, entry->script->statement_count, &failure->error) != 0) {
        return failure_phase(failure, "open");
    }
    if (job->rate > 0) {
        tally_pace(entry->tally);
    }
    if (evaluation_init(&entry->evaluation, entry->script, job->constants, job->constant_count,
                        &failure->error) != 0) {
        failure->script = entry->index;
        return failure_phase(failure, "prepare");
    }
    struct evaluation *evaluation = &entry->evaluation;
    entry->op_slot = evaluation_builtin(evaluation, "op");
    evaluation_assign(evaluation, evaluation_builtin(evaluation, "connection"), loop->connection);
    evaluation_assign(evaluation, evaluation_builtin(evaluation, "connections"),
                      job->connections_total);
    return 0;
}

static uint64_t longest_ns(const struct job *job)
{
    return job->duration_ns == JOB_UNLIMITED ? UINT64_MAX : job->duration_ns + job->grace_ns;
}

int loop_init(struct loop *loop, const struct job *job, uint32_t role_index, uint32_t connection,
              const atomic_bool *stop, const atomic_bool *cut, struct failure *failure)
{
    const struct job_role *role = &job->roles[role_index];
    loop->operation.cut = cut;
    loop->operation.max_tries = job->max_tries;
    loop->stop = stop;
    loop->connection = connection;
    loop->seed = job->seed;
    loop->latency_limit_ns = job->latency_limit_ns;
    loop->gap_ns = job->rate > 0 ? job_gap_ns(job) : 0;
    loop->pace.sharing_cores = job->connections_total > host_cores();
    loop->entries = calloc(role->share_count, sizeof(*loop->entries));
    if (loop->entries == NULL) {
        return no_memory(failure);
    }
    loop->entry_count = role->share_count;
    int status = make_picks(loop, role, failure);
    if (status == 0) {
        status = make_tallies(loop, failure);
    }
    if (status == 0 &&
        seconds_init(&loop->seconds, loop->entry_count, longest_ns(job), &failure->error) != 0) {
        status = failure_phase(failure, "open");
    }
    for (uint32_t i = 0; status == 0 && i < loop->entry_count; i++) {
        struct loop_entry *entry = &loop->entries[i];
        entry->index = role->shares[i].script;
        entry->script = job->scripts[entry->index];
        entry->read = job->reads != NULL && job->reads[entry->index];
        entry->tally = &loop->tallies[i];
        status = make_entry(loop, entry, job, failure);
    }
    return status;
}

void loop_release(struct loop *loop)
{
    for (uint32_t i = 0; i < loop->entry_count; i++) {
        struct loop_entry *entry = &loop->entries[i];
        if (entry->evaluation.script != NULL) {
            evaluation_release(&entry->evaluation);
        }
        if (entry->tally != NULL) {
            tally_release(entry->tally);
        }
        free(entry->statements);
    }
    seconds_release(&loop->seconds);
    if (loop->tallies != NULL) {
        munmap(loop->tallies, loop->tallies_bytes);
    }
    free(loop->entries);
    free(loop->weight_up_to);
    free(loop->picks);
}

static int prepare_entry(struct loop *loop, struct loop_entry *entry, struct failure *failure)
{
    const struct engine_ops *ops = loop->operation.ops;
    const struct script *script = entry->script;
    entry->statements = calloc((size_t)script->statement_count + 1, sizeof(*entry->statements));
    if (entry->statements == NULL) {
        return no_memory(failure);
    }
    for (uint32_t i = 0; i < script->statement_count; i++) {
        const struct script_statement *statement = &script->statements[i];
        enum engine_status status =
            ops->prepare(loop->operation.connection, statement->sql, &entry->statements[i]);
        if (status != ENGINE_OK) {
            entry->statements[i] = NULL;
            return failure_engine(failure, "prepare", ops, loop->operation.connection, status,
                                  entry->index, i);
        }
        uint32_t count = ops->parameter_count(entry->statements[i]);
        if (count != statement->parameter_count) {
            failure_set(failure, "prepare", ERROR_ENGINE,
                        "the engine counts %u parameters in this statement, the script has %u",
                        count, statement->parameter_count);
            failure->script = entry->index;
            failure->statement = i;
            return ERROR_ENGINE;
        }
        if (entry->read && !ops->readonly(entry->statements[i])) {
            failure_set(failure, "prepare", ERROR_INVALID,
                        "this statement writes, but suite.json calls %s a read: write \"kind\": "
                        "\"write\"",
                        script->name);
            failure->script = entry->index;
            failure->statement = i;
            return ERROR_INVALID;
        }
    }
    return 0;
}

int loop_prepare(struct loop *loop, const struct engine_ops *ops,
                 struct engine_connection *connection, struct failure *failure)
{
    loop->operation.ops = ops;
    loop->operation.connection = connection;
    for (uint32_t i = 0; i < loop->entry_count; i++) {
        int status = prepare_entry(loop, &loop->entries[i], failure);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

void loop_finalize(struct loop *loop)
{
    for (uint32_t i = 0; i < loop->entry_count; i++) {
        struct loop_entry *entry = &loop->entries[i];
        for (uint32_t k = 0; entry->statements != NULL && k < entry->script->statement_count; k++) {
            if (entry->statements[k] != NULL) {
                loop->operation.ops->finalize(entry->statements[k]);
                entry->statements[k] = NULL;
            }
        }
    }
}

void loop_restart(struct loop *loop, bool warmup)
{
    random_init(&loop->mix, loop->seed, warmup ? RANDOM_WARMUP_MIX : RANDOM_MIX, loop->connection,
                0);
    for (uint32_t i = 0; i < loop->entry_count; i++) {
        struct loop_entry *entry = &loop->entries[i];
        random_init(&entry->random, loop->seed,
                    warmup ? RANDOM_WARMUP_PARAMETERS : RANDOM_PARAMETERS, loop->connection,
                    entry->index);
        tally_restart(entry->tally);
    }
    seconds_restart(&loop->seconds, 0);
    loop->first_ns = 0;
    loop->ended_ns = 0;
    loop->settled_ns = 0;
    loop->horizon_ns = 0;
    atomic_store_explicit(&loop->done, 0, memory_order_relaxed);
}

/* ---- the loop ------------------------------------------------------------ */

static inline uint32_t pick(struct loop *loop)
{
    if (loop->entry_count == 1) {
        return 0;
    }
    uint64_t draw = random_below(&loop->mix, loop->total_weight);
    if (loop->picks != NULL) {
        return loop->picks[draw];
    }
    uint32_t entry = 0;
    while (draw >= loop->weight_up_to[entry]) {
        entry++;
    }
    return entry;
}

static inline void account(struct loop *loop, uint32_t index, enum outcome outcome,
                           const struct engine_effect *effect, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t time_ns = end_ns - start_ns;
    tally_add(loop->entries[index].tally, outcome, effect, time_ns, loop->latency_limit_ns);
    if (outcome == OUTCOME_OK) {
        seconds_add(&loop->seconds, index, time_ns > loop->latency_limit_ns, end_ns);
    }
}

static inline void account_paced(struct loop *loop, uint32_t index, enum outcome outcome,
                                 const struct engine_effect *effect, uint64_t start_ns,
                                 uint64_t end_ns)
{
    uint64_t due_ns = loop->pace.due_ns;
    tally_add_paced(loop->entries[index].tally, outcome, effect, end_ns - start_ns,
                    start_ns - due_ns, loop->latency_limit_ns);
    if (outcome == OUTCOME_OK) {
        seconds_add(&loop->seconds, index, end_ns - due_ns > loop->latency_limit_ns, end_ns);
    }
    pace_next(&loop->pace);
}

/* The connection served until then, though it may have waited for work: its window ends there. */
static void end_paced(struct loop *loop, uint64_t until_ns)
{
    bool settled = loop->settled_ns == loop->ended_ns;
    loop->ended_ns = loop->ended_ns > until_ns ? loop->ended_ns : until_ns;
    loop->settled_ns = settled ? loop->ended_ns : loop->settled_ns;
    loop->horizon_ns = until_ns;
}

/* Compiled twice, so that the closed loop holds no trace of the open one. */
static inline __attribute__((always_inline)) int
run_span(struct loop *loop, const struct loop_span *span, bool paced, struct failure *failure)
{
    const uint64_t deadline_ns = span->deadline_ns;
    uint64_t until_ns = 0;
    for (uint64_t done = 0; done < span->operations;) {
        uint32_t index = pick(loop);
        struct loop_entry *entry = &loop->entries[index];
        evaluation_assign(&entry->evaluation, entry->op_slot, (int64_t)loop->op);
        if (__builtin_expect(evaluation_draw(&entry->evaluation, &entry->script->body,
                                             &entry->random, &failure->error) != 0,
                             0)) {
            return failure_evaluation(failure, span->phase, entry->index, &entry->evaluation);
        }
        if (paced) {
            pace_wait(&loop->pace, deadline_ns, loop->stop);
        }
        if (__builtin_expect(atomic_load_explicit(loop->stop, memory_order_relaxed), 0)) {
            uint64_t now_ns = clock_now_ns();
            until_ns = now_ns < deadline_ns ? now_ns : deadline_ns;
            break;
        }
        struct engine_effect effect;
        uint64_t start_ns = clock_now_ns();
        if (__builtin_expect(start_ns >= deadline_ns, 0)) {
            until_ns = deadline_ns;
            break;
        }
        enum outcome outcome = operation_run(&loop->operation, &entry->evaluation,
                                             entry->statements, entry->tally, &effect);
        uint64_t end_ns = clock_now_ns();
        if (paced) {
            account_paced(loop, index, outcome, &effect, start_ns, end_ns);
        } else {
            account(loop, index, outcome, &effect, start_ns, end_ns);
        }
        if (__builtin_expect(done == 0, 0)) {
            loop->first_ns = start_ns;
        }
        loop->ended_ns = end_ns;
        if (outcome != OUTCOME_OPEN) {
            loop->settled_ns = end_ns;
        }
        loop->op++;
        done++;
        atomic_store_explicit(&loop->done, done, memory_order_relaxed);
    }
    if (paced) {
        end_paced(loop, until_ns != 0 ? until_ns : loop->ended_ns);
    }
    return 0;
}

int loop_run(struct loop *loop, const struct loop_span *span, struct failure *failure)
{
    seconds_restart(&loop->seconds, span->start_ns);
    loop->ended_ns = span->start_ns;
    loop->settled_ns = span->start_ns;
    if (!span->paced) {
        return run_span(loop, span, false, failure);
    }
    pace_start(&loop->pace, loop->seed, loop->connection, loop->gap_ns, span->start_ns);
    return run_span(loop, span, true, failure);
}

uint64_t loop_backlog(struct loop *loop, uint64_t count_max)
{
    return loop->horizon_ns == 0 ? 0 : pace_backlog(&loop->pace, loop->horizon_ns, count_max);
}
