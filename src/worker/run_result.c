/* Adds up what the connections counted. */
#include "worker/run.h"

#include "base/json.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Operations that never began are counted one by one so far, over all connections, and on each
 * of many; drawing one takes some 20 ns. */
enum { BACKLOG_COUNTED = 10000000, BACKLOG_EACH = 10000 };

static int no_memory(struct failure *failure)
{
    return failure_set(failure, "result", ERROR_MEMORY, "out of memory for the result");
}

static json_t *absent_or(uint64_t value)
{
    return value == USAGE_ABSENT ? json_null() : json_wire_u64(value);
}

/* ---- ready ----------------------------------------------------------------- */

/* Rows that a statement of a script changed on all connections. */
static uint64_t acknowledged(const struct run *run, uint32_t script, uint32_t statement)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < run->count; c++) {
        const struct loop *loop = &run->connections[c].loop;
        for (uint32_t i = 0; i < loop->entry_count; i++) {
            if (loop->entries[i].index == script) {
                sum += loop->tallies[i].acknowledged[statement];
            }
        }
    }
    return sum;
}

static json_t *ready_acknowledged(const struct run *run)
{
    const struct job *job = run->shared.job;
    json_t *list = json_array();
    for (uint32_t i = 0; i < job->script_count; i++) {
        for (uint32_t k = 0; list != NULL && k < job->scripts[i]->statement_count; k++) {
            uint64_t rows = acknowledged(run, i, k);
            if (rows == 0) {
                continue;
            }
            json_t *entry = json_pack("{s:I, s:I, s:o}", "script", (json_int_t)i, "statement",
                                      (json_int_t)k, "rows_changed", json_wire_u64(rows));
            if (json_array_append_new(list, entry) != 0) {
                json_decref(list);
                list = NULL;
            }
        }
    }
    return list;
}

static json_t *ready_connections(const struct run *run)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < run->count; i++) {
        const struct connection *connection = &run->connections[i];
        json_t *entry =
            json_pack("{s:I, s:I, s:o}", "connection", (json_int_t)connection->number, "role",
                      (json_int_t)connection->role, "settings",
                      settings_to_json(&run->shared.job->settings, connection->settings));
        if (json_array_append_new(list, entry) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *run_ready(struct run *run, struct failure *failure)
{
    uint64_t operations = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        operations += run->connections[i].warmup_operations;
    }
    json_t *ready =
        json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", "ready", "warmup_operations",
                  json_wire_u64(operations), "warmup_ns", json_wire_u64(run->warmup_ns),
                  "acknowledged", ready_acknowledged(run), "connections", ready_connections(run));
    if (ready == NULL) {
        no_memory(failure);
    }
    return ready;
}

/* ---- result ---------------------------------------------------------------- */

/* One entry of the result's scripts: a share of a role, over its connections. */
struct sum {
    uint32_t role;
    uint32_t share;
    uint32_t script;
    struct tally *tally; /* in memory of mmap(), as a tally expects */
};

struct sums {
    struct sum *items;
    uint32_t count;
    struct tally *tallies;
    size_t bytes;
};

static int sums_make(struct sums *sums, const struct job *job, struct failure *failure)
{
    for (uint32_t r = 0; r < job->role_count; r++) {
        sums->count += job->roles[r].share_count;
    }
    sums->items = calloc(sums->count, sizeof(*sums->items));
    if (sums->items == NULL) {
        return no_memory(failure);
    }
    sums->bytes = sums->count * sizeof(*sums->tallies);
    void *memory =
        mmap(NULL, sums->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return no_memory(failure);
    }
    sums->tallies = memory;
    uint32_t next = 0;
    for (uint32_t r = 0; r < job->role_count; r++) {
        for (uint32_t s = 0; s < job->roles[r].share_count; s++) {
            struct sum *sum = &sums->items[next];
            *sum = (struct sum){.role = r,
                                .share = s,
                                .script = job->roles[r].shares[s].script,
                                .tally = &sums->tallies[next]};
            next++;
            if (tally_init(sum->tally, job->scripts[sum->script]->statement_count,
                           &failure->error) != 0) {
                return failure_phase(failure, "result");
            }
            if (job->rate > 0) {
                tally_pace(sum->tally);
            }
        }
    }
    return 0;
}

static void sums_release(struct sums *sums)
{
    for (uint32_t i = 0; i < sums->count && sums->items != NULL; i++) {
        if (sums->items[i].tally != NULL) {
            tally_release(sums->items[i].tally);
        }
    }
    if (sums->tallies != NULL) {
        munmap(sums->tallies, sums->bytes);
    }
    free(sums->items);
}

static int sums_add(struct sums *sums, const struct run *run, struct failure *failure)
{
    const struct job *job = run->shared.job;
    for (uint32_t i = 0; i < sums->count; i++) {
        struct sum *sum = &sums->items[i];
        for (uint32_t c = 0; c < run->count; c++) {
            const struct loop *loop = &run->connections[c].loop;
            /* A connection that `stop` met before it was open has counted nothing. */
            if (run->connections[c].role == sum->role && loop->tallies != NULL) {
                tally_merge(sum->tally, &loop->tallies[sum->share]);
            }
        }
        if (tally_check(sum->tally, job->scripts[sum->script]->name, &failure->error) != 0) {
            return failure_phase(failure, "internal");
        }
    }
    return 0;
}

static json_t *scripts_json(const struct sums *sums)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < sums->count; i++) {
        const struct sum *sum = &sums->items[i];
        json_t *entry = json_pack("{s:I, s:I}", "role", (json_int_t)sum->role, "script",
                                  (json_int_t)sum->script);
        if (entry == NULL || tally_to_json(sum->tally, entry) != 0 ||
            json_array_append(list, entry) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(entry);
    }
    return list;
}

/* The end of what a connection did in its window: of its last operation, or, if that was still open
 * at the end, the moment until which it was to go on. It was busy until then, and its rate must not
 * be that of the short time before; but an endless one must not stretch its role's window either.
 */
static uint64_t connection_end_ns(const struct run *run, const struct loop *loop)
{
    uint64_t end = loop->settled_ns > run->shared.at_ns ? loop->settled_ns : run->shared.at_ns;
    uint64_t due = run->shared.deadline_ns;
    if (run->stopped_ns != 0 && run->stopped_ns < due) {
        due = run->stopped_ns;
    }
    if (loop->ended_ns > end) {
        uint64_t busy_until = loop->ended_ns < due ? loop->ended_ns : due;
        end = busy_until > end ? busy_until : end;
    }
    return end;
}

/* What an open loop asked of a connection, and what of it never began. Nonzero: no memory. */
static int add_backlog(const struct run *run, struct loop *loop, json_t *entry)
{
    if (run->shared.job->rate == 0) {
        return 0;
    }
    uint64_t count_max = BACKLOG_COUNTED / run->count;
    uint64_t unstarted =
        loop_backlog(loop, count_max > BACKLOG_EACH ? count_max : (uint64_t)BACKLOG_EACH);
    uint64_t begun = atomic_load_explicit(&loop->done, memory_order_relaxed);
    int status = json_object_set_new(entry, "offered", json_wire_u64(begun + unstarted));
    return status | json_object_set_new(entry, "unstarted", json_wire_u64(unstarted));
}

/* Neither running nor waiting for a core: asleep, for a lock, a disk or a page. Not known where an
 * operation was still open, for the thread's figures go beyond its window, and in an open loop,
 * which also sleeps until an operation is due. */
static json_t *off_cpu_json(const struct run *run, const struct connection *connection)
{
    const struct loop *loop = &connection->loop;
    uint64_t window_ns = connection_end_ns(run, loop) - run->shared.at_ns;
    if (connection->run_queue_ns == USAGE_ABSENT || loop->ended_ns > loop->settled_ns ||
        run->shared.job->rate != 0) {
        return json_null();
    }
    uint64_t on_ns = connection->cpu_ns + connection->run_queue_ns;
    return json_wire_u64(window_ns > on_ns ? window_ns - on_ns : 0);
}

static json_t *connections_json(const struct run *run)
{
    bool counted = (run->worker->capabilities & ENGINE_COUNTS_WAITING) != 0;
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < run->count; i++) {
        struct connection *connection = &run->connections[i];
        struct loop *loop = &connection->loop;
        bool waits = counted && !connection->waits.incomplete;
        uint64_t operations = 0;
        for (uint32_t k = 0; loop->tallies != NULL && k < loop->entry_count; k++) {
            operations += loop->tallies[k].outcomes[OUTCOME_OK];
        }
        json_t *entry = json_pack(
            "{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "connection",
            (json_int_t)connection->number, "role", (json_int_t)connection->role, "operations",
            json_wire_u64(operations), "ended_ns", json_wire_u64(connection_end_ns(run, loop)),
            "cpu_ns", json_wire_u64(connection->cpu_ns), "run_queue_ns",
            absent_or(connection->run_queue_ns), "off_cpu_ns", off_cpu_json(run, connection),
            "slept_ns", waits ? json_wire_u64(connection->waits.slept_ns) : json_null(), "waits",
            waits ? json_wire_u64(connection->waits.count) : json_null(), "late_ns",
            loop->first_ns != 0 ? json_wire_u64(loop->first_ns - run->shared.at_ns) : json_null());
        if (add_backlog(run, loop, entry) != 0 || json_array_append(list, entry) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(entry);
    }
    return list;
}

/* One interval: the counts of every entry of the result's scripts. */
static json_t *second_json(const struct run *run, const struct sums *sums, uint32_t index,
                           uint64_t width_ns)
{
    json_t *operations = json_array();
    json_t *slow = json_array();
    int status = 0;
    for (uint32_t i = 0; i < sums->count; i++) {
        const struct sum *sum = &sums->items[i];
        uint64_t all = 0;
        uint64_t over = 0;
        for (uint32_t c = 0; c < run->count; c++) {
            const struct seconds *seconds = &run->connections[c].loop.seconds;
            if (run->connections[c].role == sum->role && index <= seconds->index) {
                all += seconds_operations(seconds, index, sum->share);
                over += seconds_slow(seconds, index, sum->share);
            }
        }
        status |= json_array_append_new(operations, json_wire_u64(all));
        status |= json_array_append_new(slow, json_wire_u64(over));
    }
    json_t *entry =
        json_pack("{s:o, s:o, s:o}", "at_ns", json_wire_u64((index + UINT64_C(1)) * width_ns),
                  "operations", operations, "slow", slow);
    if (status != 0) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

static json_t *seconds_json(struct run *run, const struct sums *sums)
{
    json_t *list = json_array();
    if (!run->measured) {
        return list;
    }
    uint64_t width_ns = 0;
    uint32_t last = 0;
    for (uint32_t c = 0; c < run->count; c++) {
        const struct seconds *seconds = &run->connections[c].loop.seconds;
        width_ns = seconds->width_ns > width_ns ? seconds->width_ns : width_ns;
    }
    for (uint32_t c = 0; c < run->count; c++) {
        struct seconds *seconds = &run->connections[c].loop.seconds;
        seconds_widen(seconds, width_ns);
        last = seconds->index > last ? seconds->index : last;
    }
    for (uint32_t index = 0; list != NULL && index <= last; index++) {
        if (json_array_append_new(list, second_json(run, sums, index, width_ns)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static uint64_t ended_ns(const struct run *run)
{
    uint64_t ended = run->shared.at_ns;
    for (uint32_t i = 0; i < run->count; i++) {
        uint64_t one = run->connections[i].loop.ended_ns;
        ended = one > ended ? one : ended;
    }
    return ended;
}

static int add_usage(const struct run *run, json_t *result)
{
    struct usage usage = usage_between(&run->usage_start, &run->shared.usage_end);
    const struct {
        const char *key;
        uint64_t value;
    } figures[] = {{"cpu_user_ns", usage.cpu_user_ns},
                   {"cpu_system_ns", usage.cpu_system_ns},
                   {"minor_faults", usage.minor_faults},
                   {"major_faults", usage.major_faults},
                   {"voluntary_switches", usage.voluntary_switches},
                   {"involuntary_switches", usage.involuntary_switches},
                   {"read_bytes", usage.read_bytes},
                   {"write_bytes", usage.write_bytes},
                   {"close_ns", run->close_ns},
                   {"peak_memory_bytes", run->peak_memory_bytes}};
    int status = 0;
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        status |= json_object_set_new(result, figures[i].key, absent_or(figures[i].value));
    }
    return status;
}

json_t *run_result(struct run *run, struct failure *failure)
{
    struct sums sums = {0};
    json_t *result = NULL;
    if (sums_make(&sums, run->shared.job, failure) == 0 && sums_add(&sums, run, failure) == 0) {
        result = json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "kind", "result", "job",
                           "run", "partial", (int)run->partial, "started_ns",
                           json_wire_u64(run->shared.at_ns), "ended_ns",
                           json_wire_u64(ended_ns(run)), "connections", connections_json(run),
                           "scripts", scripts_json(&sums), "seconds", seconds_json(run, &sums));
        if (result == NULL || add_usage(run, result) != 0) {
            json_decref(result);
            result = NULL;
            no_memory(failure);
        }
    }
    sums_release(&sums);
    return result;
}
