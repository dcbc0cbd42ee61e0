/*
 * A hand-made result that several tests share: numbers that are easy to follow, and in it every
 * kind of thing that a result can hold. Not a plausible benchmark.
 */
#ifndef PITOT_TESTS_SAMPLE_H
#define PITOT_TESTS_SAMPLE_H

#include "result/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_MS UINT64_C(1000000)
#define SAMPLE_S UINT64_C(1000000000)

/* Out of memory ends a test. */
static inline void *sample_must(void *pointer)
{
    if (pointer == NULL) {
        abort();
    }
    return pointer;
}

static inline char *sample_text(const char *text)
{
    return sample_must(strdup(text));
}

#define SAMPLE_ADD_TEXT(list, text)                                                                \
    do {                                                                                           \
        char **added_ = sample_must(result_list_add(list));                                        \
        *added_ = sample_text(text);                                                               \
    } while (0)

static inline void sample_pair(result_pairs *pairs, const char *name, const char *value)
{
    struct result_pair *pair = sample_must(result_list_add(pairs));
    *pair = (struct result_pair){.name = sample_text(name), .value = sample_text(value)};
}

/* `count` samples of `low_ns`, and one of `high_ns`. */
static inline struct histogram *sample_histogram(uint64_t count, uint64_t low_ns, uint64_t high_ns)
{
    struct histogram *histogram = sample_must(malloc(sizeof(*histogram)));
    histogram_reset(histogram);
    for (uint64_t i = 0; i < count; i++) {
        histogram_add(histogram, low_ns);
    }
    histogram_add(histogram, high_ns);
    return histogram;
}

/* `count` + 1 ok executions and two busy ones. */
static inline struct result_script *sample_script(struct result_run *run, const char *name,
                                                  bool write, uint64_t count, uint64_t low_ns,
                                                  uint64_t high_ns)
{
    struct result_script *script = sample_must(result_list_add(&run->scripts));
    script->role = sample_text("app");
    script->script = sample_text(name);
    script->write = write;
    script->operations_each = 1;
    script->ok = count + 1;
    script->busy = 2;
    script->attempted = count + 3;
    script->rows_read = write ? 0 : 2 * (count + 1);
    script->rows_changed = write ? count + 1 : 0;
    script->time_ns = count * low_ns + high_ns;
    script->slow = high_ns > 10 * SAMPLE_MS ? 1 : 0;
    script->latency.histogram = sample_histogram(count, low_ns, high_ns);
    *(uint64_t *)sample_must(result_list_add(&script->acknowledged)) = script->rows_changed + 7;
    return script;
}

static inline void sample_setting(struct result_connection *connection, const char *name,
                                  const char *asked, const char *got, bool required)
{
    struct result_setting *setting = sample_must(result_list_add(&connection->settings));
    *setting = (struct result_setting){
        .name = sample_text(name),
        .asked = sample_text(asked),
        .got = got == NULL ? NULL : sample_text(got),
        .required = required,
        .agrees = got != NULL && strcmp(asked, got) == 0,
    };
}

static inline void sample_count(struct result_check *check, const char *table, uint64_t expected,
                                uint64_t found, const char *unchecked)
{
    struct result_table_count *count = sample_must(result_list_add(&check->counts));
    *count = (struct result_table_count){
        .table = sample_text(table),
        .expected = expected,
        .found = found,
        .unchecked = unchecked == NULL ? NULL : sample_text(unchecked),
    };
}

/* A check that found nothing wrong. */
static inline void sample_check(struct result_run *run)
{
    run->check.kind = sample_text("full");
    run->check.elapsed_ns = 250 * SAMPLE_MS;
    sample_count(&run->check, "users", 100000, 100000, NULL);
    sample_count(&run->check, "audit", RESULT_ABSENT, 12, "INSERT OR IGNORE");
    SAMPLE_ADD_TEXT(&run->check.integrity, "ok");
}

/* A run of 5 s by two connections; `round` makes the rounds differ a little. */
static inline struct result_run *sample_run(struct result_engine *engine, uint64_t round)
{
    struct result_run *run = sample_must(result_list_add(&engine->runs));
    result_run_init(run);
    run->round = round;
    run->position = 1;
    run->status = sample_text("ok");
    run->window_ns = 5 * SAMPLE_S;
    run->cpu_user_ns = 2 * SAMPLE_S + round * SAMPLE_MS;
    run->cpu_system_ns = 1 * SAMPLE_S;
    run->write_bytes = 1000000 * round;
    run->close_ns = 12 * SAMPLE_MS;
    run->peak_memory_bytes = 80000000;
    run->largest_wal_bytes = 4152992;
    run->final_bytes = 82000000;
    run->cpu_others = 0.01;
    run->steal = 0;
    run->resident = 1;
    run->warmup_ns = 3 * SAMPLE_S;
    for (uint64_t i = 0; i < 2; i++) {
        struct result_connection *connection = sample_must(result_list_add(&run->connections));
        connection->connection = i;
        connection->role = sample_text("app");
        connection->operations = 1500;
        connection->cpu_ns = SAMPLE_S;
        connection->run_queue_ns = 7 * SAMPLE_MS;
        connection->off_cpu_ns = 250 * SAMPLE_MS * round;
        connection->slept_ns = 100 * SAMPLE_MS * round;
        connection->waits = 12;
        connection->window_ns = run->window_ns;
        connection->late_ns = 21000;
        connection->offered = connection->unstarted = RESULT_ABSENT;
        sample_setting(connection, "journal_mode", "wal", "wal", true);
        sample_setting(connection, "cache_size", "-65536", "-65536", true);
    }
    sample_script(run, "user_by_id", false, 2000 + 10 * round, 5000, 80000);
    sample_script(run, "insert_order", true, 1000 + round, 1000000, 25 * SAMPLE_MS);
    struct result_second *second = sample_must(result_list_add(&run->seconds));
    second->at_s = 1.0;
    second->database_bytes = 82000000;
    second->wal_bytes = RESULT_ABSENT;
    for (uint64_t i = 0; i < 2; i++) {
        *(uint64_t *)sample_must(result_list_add(&second->operations)) = 400 + i;
        *(uint64_t *)sample_must(result_list_add(&second->slow)) = i;
    }
    sample_check(run);
    return run;
}

static inline struct result_figure sample_figure(double median, double spread)
{
    return (struct result_figure){median, median - spread / 2, median + spread / 2};
}

/* Figures as a reader wants to see them, by hand: `scale` tells engines apart. */
static inline void sample_summary_script(struct result_summary *summary, const char *name,
                                         bool write, double scale)
{
    struct result_script_summary *script = sample_must(result_list_add(&summary->scripts));
    script->role = sample_text("app");
    script->script = sample_text(name);
    script->write = write;
    script->ok = write ? 3009 : 6063;
    script->busy = 6;
    script->attempted = script->ok + script->busy;
    script->operations_per_second = sample_figure((write ? 200.6 : 404.2) / scale, 4);
    script->mean_ns = sample_figure(scale * (write ? 1.02e6 : 5.2e3), 10);
    script->min_ns = sample_figure(scale * 4e3, 0);
    script->max_ns = sample_figure(scale * 25e6, 0);
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        script->points_ns[i] = sample_figure(scale * (write ? 1e6 : 5e3) * (double)(i + 1), 100);
        script->point_thin[i] = i >= RESULT_POINT_p99_9;
    }
    script->time_share = sample_figure(write ? 0.876 : 0.123, 0.01);
    script->rows_read_each = sample_figure(write ? 0 : 19.87, 0);
    script->rows_changed_each = sample_figure(write ? 1 : 0, 0);
    script->slow = sample_figure(1, 0);
    script->latency.histogram = sample_histogram(script->ok - 1, 5000, 80000);
}

/* `connections` of a role that was served unevenly; `scale` as below. */
static inline struct result_role_summary *sample_summary_role(struct result_summary *summary,
                                                              const char *name,
                                                              uint64_t connections, double scale)
{
    struct result_role_summary *role = sample_must(result_list_add(&summary->roles));
    result_role_summary_init(role);
    role->role = sample_text(name);
    role->connections = connections;
    role->operations_per_second = sample_figure(7000 * scale, 0.02);
    role->scaling = sample_figure(1.75 * scale, 0.02);
    role->least_served_per_second = sample_figure(3000 * scale, 0.02);
    role->most_served_per_second = sample_figure(4000 * scale, 0.02);
    role->fairness = sample_figure(0.75, 0.02);
    role->cpu_per_operation_ns = sample_figure(12000, 0.02);
    role->off_cpu_ns = sample_figure(2e9, 0.02);
    role->slept_ns = sample_figure(1.5e9, 0.02);
    role->run_queue_ns = sample_figure(3e6, 0.02);
    role->ok = 21000;
    role->busy = 12;
    role->conflict = 1;
    role->failed = 2;
    role->open = 3;
    role->attempted = 21018;
    role->retries = 40;
    return role;
}

static inline void sample_summary(struct result_engine *engine, double scale)
{
    struct result_summary *summary = sample_must(result_list_add(&engine->summaries));
    result_summary_init(summary);
    summary->status = sample_text("ok");
    summary->rounds_ok = engine->runs.count;
    summary->reads_per_second = sample_figure(6543 / scale, 65.43);
    summary->writes_per_second = sample_figure(1234.5 / scale, 12);
    summary->operations_per_second = sample_figure(7777.5 / scale, 100);
    summary->cpu_per_operation_ns = sample_figure(45200 * scale, 100);
    summary->peak_memory_bytes = sample_figure(80e6 * scale, 0);
    summary->write_bytes = sample_figure(2e6 * scale, 2e6);
    summary->largest_wal_bytes = sample_figure(4152992, 0);
    summary->final_bytes = sample_figure(82e6, 0);
    summary->off_cpu_ns = sample_figure(1e9, 1e9);
    summary->slept_ns = sample_figure(4e8, 4e8);
    summary->run_queue_ns = sample_figure(14e6, 0);
    summary->run_queue_share = sample_figure(0.0014 * scale, 0);
    summary->cpu_others = sample_figure(0.01, 0);
    summary->steal = sample_figure(0, 0);
    summary->close_ns = sample_figure(12e6, 0);
    summary->attempted = 9084;
    summary->ok = 9072;
    summary->busy = 12;
    sample_summary_script(summary, "user_by_id", false, scale);
    sample_summary_script(summary, "insert_order", true, scale);
    sample_summary_role(summary, "app", 2, scale);
}

static inline struct result_engine *sample_engine(struct result *result, const char *name,
                                                  uint64_t rounds, double scale)
{
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    engine->name = sample_text(name);
    engine->driver = sample_text("sqlite");
    engine->version = sample_text("3.54.1");
    engine->source_id = sample_text("2026-10-01 0123456789abcdef");
    engine->sync_call = sample_text("fsync");
    engine->status = sample_text("ok");
    SAMPLE_ADD_TEXT(&engine->compile_options, "THREADSAFE=2");
    SAMPLE_ADD_TEXT(&engine->compile_options, "ENABLE_FTS5");
    for (uint64_t round = 1; round <= rounds; round++) {
        sample_run(engine, round);
    }
    sample_summary(engine, scale);
    return engine;
}

static inline void sample_times(struct result_times *times, double low_ns, double high_ns)
{
    times->mean_ns = sample_figure(low_ns * 1.02, 10);
    times->min_ns = sample_figure(low_ns, 0);
    times->max_ns = sample_figure(high_ns, 0);
    for (size_t i = 0; i < RESULT_POINT_COUNT; i++) {
        times->points_ns[i] = sample_figure(low_ns * (double)(i + 1), low_ns / 10);
    }
    times->histogram.histogram = sample_histogram(100, (uint64_t)low_ns, (uint64_t)high_ns);
}

static inline void sample_summary_open_loop(struct result_summary *summary, uint64_t rounds,
                                            uint64_t unstarted)
{
    summary->offered = rounds * 2 * 1600;
    summary->unstarted = rounds * 2 * unstarted;
    summary->begun_share = sample_figure(1 - (double)unstarted / 1600, 0);
    for (size_t i = 0; i < summary->scripts.count; i++) {
        sample_times(&summary->scripts.items[i].service, 3000, 60000);
        sample_times(&summary->scripts.items[i].lag, 2000, 20000);
    }
}

/* Makes an open loop of the case: its engines were asked for 1,600 executions on each connection in
 * each round, and began all but `unstarted` of them. */
static inline void sample_open_loop(struct result *result, double rate, uint64_t unstarted)
{
    result->cases.items[0].rate = rate;
    for (size_t i = 0; i < result->engines.count; i++) {
        struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            struct result_run *run = &engine->runs.items[k];
            for (size_t c = 0; c < run->connections.count; c++) {
                run->connections.items[c].offered = 1600;
                run->connections.items[c].unstarted = unstarted;
            }
            for (size_t s = 0; s < run->scripts.count; s++) {
                struct result_script *script = &run->scripts.items[s];
                script->service.histogram = sample_histogram(script->ok - 1, 3000, 60000);
                script->lag.histogram = sample_histogram(script->ok - 1, 2000, 20000);
            }
        }
        sample_summary_open_loop(&engine->summaries.items[0], engine->runs.count, unstarted);
    }
}

/* An engine that never ran. */
static inline struct result_engine *sample_failed_engine(struct result *result, const char *name)
{
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    result_engine_init(engine);
    engine->name = sample_text(name);
    engine->status = sample_text("failed");
    engine->error = sample_text("the worker ended by signal 6 (Aborted)");
    struct result_summary *summary = sample_must(result_list_add(&engine->summaries));
    result_summary_init(summary);
    summary->status = sample_text("failed");
    summary->error = sample_text("the worker ended by signal 6 (Aborted)");
    struct result_run *run = sample_must(result_list_add(&engine->runs));
    result_run_init(run);
    run->round = 1;
    run->position = 2;
    run->status = sample_text("failed");
    run->error = sample_text("the worker ended by signal 6 (Aborted)");
    for (int i = 1; i <= 7; i++) {
        char line[64];
        snprintf(line, sizeof(line), "line %d of the worker", i);
        SAMPLE_ADD_TEXT(&run->log, line);
    }
    return engine;
}

/* By duration, on the first template. */
static inline struct result_case *sample_case(struct result *result, const char *label)
{
    struct result_case *of = sample_must(result_list_add(&result->cases));
    result_case_init(of);
    of->label = sample_text(label);
    of->suite = sample_text("prod");
    of->suite_hash = sample_text("0123456789abcdef");
    of->scale = sample_text("small");
    of->scenario = sample_text("mixed");
    of->isolation = sample_text("threads");
    sample_pair(&of->variables, "users", "100000");
    of->threads = 2;
    of->duration_ns = 5 * SAMPLE_S;
    of->warmup_ns = 3 * SAMPLE_S;
    of->template = 0;
    return of;
}

/* Everything but engines. */
static inline struct result *sample_result(uint64_t rounds)
{
    struct result *result = sample_must(result_new());
    result->pitot_version = sample_text("0.1.0");
    result->build = sample_text("release");
    result->command = sample_text("prod");
    SAMPLE_ADD_TEXT(&result->command_line, "pitot");
    SAMPLE_ADD_TEXT(&result->command_line, "prod");
    result->started = sample_text("2026-11-30T13:10:05Z");
    result->elapsed_s = 31.5;

    struct result_host *host = &result->host;
    host->cpu_model = sample_text("Example CPU 9000");
    host->cores = 2;
    host->cores_online = 4;
    host->virtual_machine = sample_text("kvm");
    host->kernel = sample_text("Linux 6.1.0-18-amd64 x86_64");
    host->operating_system = sample_text("Debian GNU/Linux 12 (bookworm)");
    host->memory_total_bytes = UINT64_C(8000000000);
    host->memory_available_bytes = UINT64_C(6120000000);
    host->load_average = 0.52;
    host->clock_source = sample_text("tsc");
    host->clock_cost_ns = 23.4;
    host->clock_resolution_ns = 1;
    host->data_folder = sample_text("/var/tmp/pitot");
    host->file_system = sample_text("ext4");
    host->device = sample_text("/dev/vda1");

    struct result_plan *plan = &result->plan;
    plan->cache_size = -65536;
    plan->busy_timeout_ms = 15000;
    plan->grace_ns = 5 * SAMPLE_S;
    plan->latency_limit_ns = 10 * SAMPLE_MS;
    plan->max_tries = 10;
    plan->rounds = rounds;
    plan->seed = 1;
    sample_pair(&plan->settings, "journal_mode", "wal");
    sample_pair(&plan->settings, "cache_size", "-65536");

    sample_case(result, "prod");
    struct result_template *template = sample_must(result_list_add(&result->templates));
    template->path = sample_text("/var/tmp/pitot/template-prod-small-0123.db");
    template->identity = sample_text("0123456789abcdef");
    template->bytes = 82000000;
    template->build_seconds = 2.125;
    template->engine = sample_text("sqlite");
    template->engine_version = sample_text("3.54.1");
    return result;
}

/* Answers of one script and one table; `reference` NULL: they are what others are compared with. */
static inline struct result_verify_database *sample_verify(struct result_engine *engine,
                                                           const char *reference)
{
    struct result_verify_database *database =
        sample_must(result_list_add(&engine->verify.databases));
    bool differs = reference != NULL;
    engine->verify.status = sample_text(differs ? "differs" : "equal");
    database->suite = sample_text("prod");
    database->scale = sample_text("small");
    SAMPLE_ADD_TEXT(&database->scenarios, "mixed");
    sample_pair(&database->variables, "users", "100000");
    database->reference = differs ? sample_text(reference) : NULL;
    database->operations = 1000;
    database->status = sample_text(differs ? "differs" : "reference");
    struct result_verify_script *script = sample_must(result_list_add(&database->scripts));
    script->script = sample_text("user_by_id");
    script->compare = sample_text("ordered");
    script->ok = 999;
    script->failed = 1;
    script->rows_read = 998;
    SAMPLE_ADD_TEXT(&script->errors, "database disk image is malformed");
    script->status = sample_text(differs ? "differs" : "alone");
    struct result_verify_table *table = sample_must(result_list_add(&database->tables));
    table->table = sample_text("orders");
    table->rows = 400110;
    table->reference_rows = differs ? 400110 : RESULT_ABSENT;
    table->status = sample_text(differs ? "equal" : "alone");
    if (differs) {
        struct result_difference *difference = sample_must(result_list_add(&script->differences));
        result_difference_init(difference);
        script->differing = 12;
        difference->operation = 17;
        sample_pair(&difference->parameters, "user", "4711");
        difference->statement = 0;
        difference->row = 2;
        SAMPLE_ADD_TEXT(&difference->answer, "4711");
        SAMPLE_ADD_TEXT(&difference->answer, "'a'");
        difference->outcome = sample_text("ok");
        difference->reference_outcome = sample_text("ok");
        difference->rows_changed = difference->reference_rows_changed = 0;
    }
    return database;
}

/* `samples` of `low_ns` and one of `high_ns`, with its points. */
static inline void sample_tail(struct result_tail *tail, uint64_t samples, uint64_t low_ns,
                               uint64_t high_ns)
{
    tail->p50_ns = (double)low_ns;
    tail->p99_ns = (double)low_ns;
    tail->max_ns = (double)high_ns;
    tail->p99_thin = samples < 999;
    tail->latency.histogram = sample_histogram(samples, low_ns, high_ns);
}

static inline void sample_loop_part(struct result_loop_part *part, uint64_t in_flight,
                                    uint64_t low_ns)
{
    result_loop_part_init(part);
    part->in_flight = in_flight;
    part->elapsed_ns = 2 * SAMPLE_S;
    part->ok = 3001;
    part->failed = 1;
    part->attempted = 3002;
    part->executions_per_second = 1500.5;
    sample_tail(&part->tail, 3000, low_ns, 40 * SAMPLE_MS);
    SAMPLE_ADD_TEXT(&part->errors, "disk I/O error");
}

/* Measured with two depths; `reason` not NULL: not through its worker. */
static inline void sample_event_loop(struct result_engine *engine, const char *reason)
{
    struct result_event_loop *loop = &engine->event_loop;
    loop->status = sample_text(reason == NULL ? "ok" : "unable");
    if (reason != NULL) {
        loop->error = sample_text(reason);
        return;
    }
    sample_loop_part(&loop->closed, 1, 300000);
    loop->interval_ns = 1332889;
    sample_loop_part(&loop->paced, 1, 310000);
    sample_tail(&loop->bare_lateness, 1999, 2000, SAMPLE_MS);
    sample_tail(&loop->lateness, 900, 3000, 41 * SAMPLE_MS);
    for (uint64_t depth = 1; depth <= 4; depth += 3) {
        sample_loop_part(sample_must(result_list_add(&loop->in_flight)), depth, 300000 * depth);
    }
}

/* One row that is as it was, one that is not there any more. */
static inline void sample_against(struct result_against *against)
{
    against->file = sample_text("old.json");
    against->started = sample_text("2026-01-31T12:00:00Z");
    struct result_against_table *table = sample_must(result_list_add(&against->tables));
    table->suite = sample_text("prod");
    table->metric = sample_text("throughput");
    table->floor = 0.05;
    for (size_t i = 0; i < 2; i++) {
        struct result_against_row *row = sample_must(result_list_add(&table->rows));
        *row = (struct result_against_row){
            .row = sample_text(i == 0 ? "prod" : "select-point"),
            .engine = sample_text("turso"),
            .ratio = i == 0 ? 0.99 : (double)NAN,
            .ratio_low = i == 0 ? 0.97 : (double)NAN,
            .ratio_high = i == 0 ? 1.01 : (double)NAN,
            .verdict = i == 0 ? sample_text("no difference shown") : NULL,
            .note = i == 0 ? NULL : sample_text("missing: in old.json, but not measured now"),
            .smallest_difference = i == 0 ? 0.05 : (double)NAN,
        };
    }
}

/* sqlite as the baseline, turso slower. */
static inline void sample_comparison(struct result *result)
{
    struct result_comparison *comparison = &result->comparison;
    comparison->baseline = sample_text("sqlite");
    comparison->runs = 10;
    comparison->confidence = 0.95;
    comparison->disturbance_max = 0.05;
    comparison->rounds_repeated = 1;
    comparison->rounds_disturbed = 2;
    comparison->threshold = 0.05;
    comparison->slower = 1;
    struct result_comparison_table *table = sample_must(result_list_add(&comparison->tables));
    table->suite = sample_text("prod");
    table->metric = sample_text("throughput");
    table->unit = sample_text("1/s");
    table->floor = 0.01;
    table->floor_rows = 1;
    struct result_comparison_row *row = sample_must(result_list_add(&table->rows));
    row->best = sample_text("sqlite");
    row->best_lead = 0.25;
    row->best_lead_low = 0.2;
    row->best_lead_high = 0.3;
    for (size_t i = 0; i < 2; i++) {
        bool baseline = i == 0;
        struct result_comparison_cell *cell = sample_must(result_list_add(&row->cells));
        *cell = (struct result_comparison_cell){
            .engine = sample_text(baseline ? "sqlite" : "turso"),
            .median = baseline ? 7777.5 : 6222,
            .spread = 0.02,
            .ratio = baseline ? 1 : 0.8,
            .ratio_low = baseline ? (double)NAN : 0.78,
            .ratio_high = baseline ? (double)NAN : 0.82,
            .verdict = baseline ? NULL : sample_text("slower"),
            .smallest_difference = baseline ? (double)NAN : 0.03,
            .more_rounds = RESULT_ABSENT,
            .rounds = 10,
            .note = baseline ? sample_text("baseline") : NULL,
        };
    }
    struct result_comparison_mean *mean = sample_must(result_list_add(&table->geometric_means));
    *mean = (struct result_comparison_mean){.engine = sample_text("turso"),
                                            .rows = 1,
                                            .ratio = 0.8,
                                            .ratio_low = 0.78,
                                            .ratio_high = 0.82,
                                            .verdict = sample_text("slower")};
    sample_against(&comparison->against);
}

/* What `pitot numbers` found with one library that worked, and one that did not. */
static inline void sample_numbers(struct result *result)
{
    struct result_numbers *numbers = sample_must(result_list_add(&result->numbers));
    result_numbers_init(numbers);
    numbers->name = sample_text("sqlite");
    numbers->status = sample_text("ok");
    numbers->version = sample_text("3.54.1");
    numbers->library = sample_text("/lib/libsqlite3.so.0");
    SAMPLE_ADD_TEXT(&numbers->compile_options, "THREADSAFE=2");
    numbers->rows = 10000;
    numbers->length_ns = 3 * SAMPLE_S;
    numbers->own_bytes = 300000;
    numbers->staged_bytes = 360000;
    numbers->kept_bytes = 160000;
    numbers->kept_rows = 10000;
    numbers->busy_p50 = 1.25;
    numbers->busy_p99 = 1.5;
    for (size_t i = 0; i < 2; i++) {
        bool rate = i == 1;
        struct result_numbers_line *line = sample_must(result_list_add(&numbers->lines));
        result_numbers_line_init(line);
        line->group = sample_text(rate ? "pass" : "read");
        line->name = sample_text(rate ? "rows" : "writer busy");
        line->unit = sample_text(rate ? "1/s" : "ns");
        line->rows = rate ? 10000 : RESULT_ABSENT;
        line->pitot.latency.histogram = sample_histogram(1999, 20000, 90000);
        line->plain.latency.histogram = sample_histogram(499, 40000, 5 * SAMPLE_MS);
        line->pitot.count = 2000;
        line->plain.count = 500;
        line->pitot.median = rate ? 2e6 : 20000;
        line->pitot.p99 = rate ? 1.5e6 : 30000;
        line->pitot.slowest = rate ? 1e6 : 90000;
        line->plain.median = rate ? 1e6 : 40000;
        line->plain.p99 = rate ? 8e5 : 60000;
        line->plain.p99_thin = true;
        line->plain.slowest = rate ? 5e5 : 5e6;
        line->ratio = 0.5;
        line->rounds = 3;
        if (!rate) {
            line->pitot.due = 2000;
            line->pitot.missed = line->pitot.busy = 0;
            line->pitot.passes = 700;
            line->plain.due = 520;
            line->plain.missed = 13;
            line->plain.busy = 7;
            line->note = sample_text("a note");
        }
        struct result_curve_point *point = sample_must(result_list_add(&line->pitot.curve));
        *point = (struct result_curve_point){.percentile = 100, .value_ns = 90000};
    }
    numbers = sample_must(result_list_add(&result->numbers));
    result_numbers_init(numbers);
    numbers->name = sample_text("system");
    numbers->status = sample_text("failed");
    numbers->error = sample_text("it has fallen over");
    SAMPLE_ADD_TEXT(&numbers->log, "the last line");
}

/* Two engines of three rounds, a failed one, warnings, a known fault, settings that differ. */
static inline struct result *sample_full_result(void)
{
    struct result *result = sample_result(3);
    sample_verify(sample_engine(result, "sqlite", 3, 1), NULL);
    struct result_engine *turso = sample_engine(result, "turso", 3, 1.25);
    sample_verify(turso, "sqlite");
    free(turso->version);
    turso->version = sample_text("0.8.3");
    free(turso->sync_call);
    turso->sync_call = NULL;
    turso->binding_version = sample_text("0.7.2");
    turso->runtime = sample_text("node 24.1.0");
    struct result_pair *option = sample_must(result_list_add(&turso->options));
    option->name = sample_text("integers");
    option->value = sample_text("bigint");
    struct result_pair *build = sample_must(result_list_add(&turso->library_build));
    build->name = sample_text("lock");
    build->value = sample_text("0123456789abcdef");
    SAMPLE_ADD_TEXT(&turso->known_faults, "the first commit is acknowledged before any sync");
    SAMPLE_ADD_TEXT(&turso->compile_options, "ENABLE_SETLK_TIMEOUT");
    turso->summaries.items[0].slept_ns =
        (struct result_figure){(double)NAN, (double)NAN, (double)NAN};
    turso->runs.items[1].connections.items[0].slept_ns = RESULT_ABSENT;
    sample_setting(&turso->runs.items[0].connections.items[0], "mmap_size", "0", NULL, false);
    struct result_library *library = sample_must(result_list_add(&turso->libraries));
    library->asked = sample_text("turso");
    library->real = sample_text("/usr/lib/libturso.so");
    sample_event_loop(&result->engines.items[0], "its worker has no event loop");
    sample_event_loop(turso, NULL);
    sample_failed_engine(result, "turso-next");
    if (result_warn(result, NULL, "more connections than cores: %d on %d", 4, 2) != 0 ||
        result_warn(result, "turso", "steal was %d %% in round 2", 6) != 0) {
        abort();
    }
    return result;
}

#endif
