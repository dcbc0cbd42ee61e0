#include "statistics/run_figures.h"

#include <math.h>
#include <string.h>

double run_measured(uint64_t value)
{
    return value == RESULT_ABSENT ? (double)NAN : (double)value;
}

double run_window_s(const struct result_run *run)
{
    return run->window_ns == 0 ? (double)NAN : run_measured(run->window_ns) / 1e9;
}

/* The window of a role: from go to the end of the last operation of its connections, one that was
 * still open counting until the deadline: an endless reader must not stretch the writers' window.
 */
double run_role_window_s(const struct result_run *run, const char *role)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (connection->role != NULL && role != NULL && strcmp(connection->role, role) == 0 &&
            connection->window_ns != RESULT_ABSENT && connection->window_ns > longest) {
            longest = connection->window_ns;
        }
    }
    return longest == 0 ? (double)NAN : (double)longest / 1e9;
}

/* Operations of ok executions: a script of one batch counts as many as it holds. */
double script_operations(const struct result_script *script)
{
    return (double)script->ok * (double)script->operations_each;
}

enum kinds { KIND_READ = 1, KIND_WRITE = 2, KIND_ALL = 3 };

/* Operations a second of a run by scripts of these kinds and of this role (NULL: of any), each role
 * over its own window; NAN when it has no such script, since a mix without writes has no write
 * throughput, not one of 0. */
static double run_rate(const struct result_run *run, enum kinds kinds, const char *role)
{
    double rate = 0;
    bool any = false;
    for (size_t i = 0; i < run->scripts.count; i++) {
        const struct result_script *script = &run->scripts.items[i];
        if ((kinds & (script->write ? KIND_WRITE : KIND_READ)) != 0 &&
            (role == NULL || strcmp(script->role, role) == 0)) {
            double operations = script_operations(script);
            rate += operations > 0 ? operations / run_role_window_s(run, script->role) : 0;
            any = true;
        }
    }
    return any ? rate : (double)NAN;
}

static double reads_per_second(const struct result_run *run)
{
    return run_rate(run, KIND_READ, NULL);
}

static double writes_per_second(const struct result_run *run)
{
    return run_rate(run, KIND_WRITE, NULL);
}

double run_operations_per_second(const struct result_run *run, const char *role)
{
    return run_rate(run, KIND_ALL, role);
}

static double operations_per_second(const struct result_run *run)
{
    return run_operations_per_second(run, NULL);
}

static double run_operations(const struct result_run *run)
{
    double operations = 0;
    for (size_t i = 0; i < run->scripts.count; i++) {
        operations += script_operations(&run->scripts.items[i]);
    }
    return operations;
}

/* User and system time of the whole process, the harness's share included, by operation. 0/0 and
 * x/0 give no finite number and so count as absent. */
double run_cpu_per_operation_ns(const struct result_run *run)
{
    return (run_measured(run->cpu_user_ns) + run_measured(run->cpu_system_ns)) /
           run_operations(run);
}

static double peak_memory_bytes(const struct result_run *run)
{
    return run_measured(run->peak_memory_bytes);
}

static double write_bytes(const struct result_run *run)
{
    return run_measured(run->write_bytes);
}

static double largest_wal_bytes(const struct result_run *run)
{
    return run_measured(run->largest_wal_bytes);
}

static double final_bytes(const struct result_run *run)
{
    return run_measured(run->final_bytes);
}

static double close_ns(const struct result_run *run)
{
    return run_measured(run->close_ns);
}

/* Sums over connections; one that could not be measured makes the sum absent. */
static double off_cpu_ns(const struct result_run *run)
{
    double sum = run->connections.count == 0 ? (double)NAN : 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        sum += run_measured(run->connections.items[i].off_cpu_ns);
    }
    return sum;
}

static double slept_ns(const struct result_run *run)
{
    double sum = run->connections.count == 0 ? (double)NAN : 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        sum += run_measured(run->connections.items[i].slept_ns);
    }
    return sum;
}

static double run_queue_ns(const struct result_run *run)
{
    double sum = run->connections.count == 0 ? (double)NAN : 0;
    for (size_t i = 0; i < run->connections.count; i++) {
        sum += run_measured(run->connections.items[i].run_queue_ns);
    }
    return sum;
}

/* The kernel counts a wait when it ends, whole: in a window of a few milliseconds it may have begun
 * before, and a share above 1 then says that the window was too short for it. */
double run_queue_share(const struct result_run *run)
{
    double share = run_queue_ns(run) / (run_window_s(run) * 1e9 * (double)run->connections.count);
    return share > 1 ? (double)NAN : share;
}

static double cpu_others(const struct result_run *run)
{
    return run->cpu_others;
}

static double steal(const struct result_run *run)
{
    return run->steal;
}

/* What was due on the connections of a role (NULL: of all), and never began; NAN in a closed loop.
 */
struct arrivals {
    double offered, unstarted;
    size_t connections;
};

static struct arrivals arrivals_of(const struct result_run *run, const char *role)
{
    struct arrivals arrivals = {0, 0, 0};
    for (size_t i = 0; i < run->connections.count; i++) {
        const struct result_connection *connection = &run->connections.items[i];
        if (role == NULL || (connection->role != NULL && strcmp(connection->role, role) == 0)) {
            arrivals.offered += run_measured(connection->offered);
            arrivals.unstarted += run_measured(connection->unstarted);
            arrivals.connections++;
        }
    }
    return arrivals;
}

static double begun_share(const struct result_run *run)
{
    struct arrivals arrivals = arrivals_of(run, NULL);
    return (arrivals.offered - arrivals.unstarted) / arrivals.offered;
}

double run_left_behind(const struct result_run *run, const char *role)
{
    struct arrivals arrivals = arrivals_of(run, role);
    bool queue = arrivals.unstarted > (double)arrivals.connections; /* false for NAN */
    return queue ? arrivals.unstarted / arrivals.offered : 0;
}

const struct result_script *run_script(const struct result_run *run, const char *role,
                                       const char *name)
{
    for (size_t i = 0; i < run->scripts.count; i++) {
        const struct result_script *script = &run->scripts.items[i];
        if (strcmp(script->role, role) == 0 && strcmp(script->script, name) == 0) {
            return script;
        }
    }
    return NULL;
}

const struct run_figure run_figures[] = {
    {offsetof(struct result_summary, reads_per_second), reads_per_second},
    {offsetof(struct result_summary, writes_per_second), writes_per_second},
    {offsetof(struct result_summary, operations_per_second), operations_per_second},
    {offsetof(struct result_summary, cpu_per_operation_ns), run_cpu_per_operation_ns},
    {offsetof(struct result_summary, peak_memory_bytes), peak_memory_bytes},
    {offsetof(struct result_summary, write_bytes), write_bytes},
    {offsetof(struct result_summary, largest_wal_bytes), largest_wal_bytes},
    {offsetof(struct result_summary, final_bytes), final_bytes},
    {offsetof(struct result_summary, off_cpu_ns), off_cpu_ns},
    {offsetof(struct result_summary, slept_ns), slept_ns},
    {offsetof(struct result_summary, run_queue_ns), run_queue_ns},
    {offsetof(struct result_summary, run_queue_share), run_queue_share},
    {offsetof(struct result_summary, cpu_others), cpu_others},
    {offsetof(struct result_summary, steal), steal},
    {offsetof(struct result_summary, close_ns), close_ns},
    {offsetof(struct result_summary, begun_share), begun_share},
};
const size_t run_figure_count = sizeof run_figures / sizeof *run_figures;
