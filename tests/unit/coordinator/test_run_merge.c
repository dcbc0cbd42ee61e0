/* Parts of a run as workers say them, put together. */
#include "coordinator/run_merge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 3 };

struct fixture {
    struct result_run parts[PARTS];
    struct result_run run;
    struct error error;
};

static void begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    for (size_t i = 0; i < PARTS; i++) {
        result_run_init(&fixture->parts[i]);
    }
    result_run_init(&fixture->run);
}

static void end(struct fixture *fixture)
{
    for (size_t i = 0; i < PARTS; i++) {
        result_run_release(&fixture->parts[i]);
    }
    result_run_release(&fixture->run);
}

static void add_connection(struct result_run *part, const char *role, uint64_t number,
                           uint64_t operations)
{
    struct result_connection *connection = result_list_add(&part->connections);
    assert_non_null(connection);
    connection->connection = number;
    connection->role = strdup(role);
    connection->operations = operations;
}

/* `ok` executions of `latency_ns` each, and one that failed. */
static struct result_script *add_script(struct result_run *part, const char *role, const char *name,
                                        uint64_t ok, uint64_t latency_ns)
{
    struct result_script *script = result_list_add(&part->scripts);
    assert_non_null(script);
    script->role = strdup(role);
    script->script = strdup(name);
    script->operations_each = 10;
    script->attempted = ok + 1;
    script->ok = ok;
    script->failed = 1;
    script->time_ns = ok * latency_ns;
    script->latency.histogram = malloc(sizeof(struct histogram));
    assert_non_null(script->latency.histogram);
    histogram_reset(script->latency.histogram);
    for (uint64_t i = 0; i < ok; i++) {
        histogram_add(script->latency.histogram, latency_ns);
    }
    uint64_t *acknowledged = result_list_add(&script->acknowledged);
    *acknowledged = ok * 10;
    return script;
}

static void add_error(struct result_script *script, const char *text)
{
    char **slot = result_list_add(&script->errors);
    *slot = strdup(text);
}

static void add_second(struct result_run *part, double at_s, uint64_t operations, uint64_t slow)
{
    struct result_second *second = result_list_add(&part->seconds);
    assert_non_null(second);
    second->at_s = at_s;
    *(uint64_t *)result_list_add(&second->operations) = operations;
    *(uint64_t *)result_list_add(&second->slow) = slow;
}

static void add_seen(struct result_run *run, double at_s, uint64_t bytes)
{
    struct result_second *second = result_list_add(&run->seconds);
    second->at_s = at_s;
    second->database_bytes = bytes;
    second->wal_bytes = bytes / 2;
}

/* A writer and two readers, each in a process of its own. */
static void fill(struct fixture *fixture)
{
    static const char *const roles[PARTS] = {"writer", "reader", "reader"};
    for (uint64_t i = 0; i < PARTS; i++) {
        struct result_run *part = &fixture->parts[i];
        add_connection(part, roles[i], i, 100 * (i + 1));
        add_script(part, roles[i], i == 0 ? "insert" : "select", 100 * (i + 1), 1000 * (i + 1));
        part->status = strdup("ok");
        part->window_ns = 2000000000 + i;
        part->cpu_user_ns = 10 + i;
        part->minor_faults = 5;
        part->peak_memory_bytes = 1000;
        part->close_ns = i == 1 ? 70 : 7;
        part->warmup_ns = 30 - i;
        part->warmup_operations = 4;
        part->read_bytes = i == 2 ? RESULT_ABSENT : 8;
    }
}

static void figures_are_sums_or_the_longest(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fill(&f);
    assert_int_equal(run_merge(f.parts, PARTS, &f.run, &f.error), 0);
    assert_string_equal(f.run.status, "ok");
    assert_int_equal(f.run.window_ns, 2000000002);
    assert_int_equal(f.run.cpu_user_ns, 33);
    assert_int_equal(f.run.minor_faults, 15);
    assert_int_equal(f.run.peak_memory_bytes, 3000);
    assert_int_equal(f.run.close_ns, 70);
    assert_int_equal(f.run.warmup_ns, 30);
    assert_int_equal(f.run.warmup_operations, 12);
    /* What one of them could not measure is not known of all. */
    assert_true(f.run.read_bytes == RESULT_ABSENT);
    assert_true(f.run.write_bytes == RESULT_ABSENT);
    end(&f);
}

static void scripts_of_a_role_are_one(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fill(&f);
    assert_int_equal(run_merge(f.parts, PARTS, &f.run, &f.error), 0);
    assert_int_equal(f.run.connections.count, 3);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(f.run.connections.items[i].connection, i);
    }
    assert_string_equal(f.run.connections.items[0].role, "writer");
    assert_int_equal(f.run.connections.items[2].operations, 300);
    assert_int_equal(f.run.scripts.count, 2);
    const struct result_script *writer = &f.run.scripts.items[0];
    const struct result_script *reader = &f.run.scripts.items[1];
    assert_string_equal(writer->script, "insert");
    assert_string_equal(reader->script, "select");
    assert_int_equal(writer->ok, 100);
    assert_int_equal(reader->ok, 500);
    assert_int_equal(reader->failed, 2);
    assert_int_equal(reader->attempted, 502);
    assert_int_equal(reader->operations_each, 10);
    assert_int_equal(reader->time_ns, 200 * 2000 + 300 * 3000);
    assert_int_equal(reader->acknowledged.items[0], 5000);
    assert_int_equal(reader->latency.histogram->count, 500);
    assert_int_equal(reader->latency.histogram->min, 2000);
    assert_int_equal(reader->latency.histogram->max, 3000);
    end(&f);
}

static void the_same_message_is_one(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fill(&f);
    add_error(&f.parts[1].scripts.items[0], "no such table: t (3 times)");
    add_error(&f.parts[1].scripts.items[0], "disk (full) (1 times)");
    add_error(&f.parts[2].scripts.items[0], "disk (full) (4 times)");
    add_error(&f.parts[2].scripts.items[0], "disk (2 times)");
    assert_int_equal(run_merge(f.parts, PARTS, &f.run, &f.error), 0);
    const result_strings *errors = &f.run.scripts.items[1].errors;
    assert_int_equal(errors->count, 3);
    assert_string_equal(errors->items[0], "no such table: t (3 times)");
    assert_string_equal(errors->items[1], "disk (full) (5 times)");
    assert_string_equal(errors->items[2], "disk (2 times)");
    end(&f);
}

static void seconds_are_added_where_they_end(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fill(&f);
    add_second(&f.parts[0], 1, 60, 0);
    add_second(&f.parts[0], 1.3, 40, 2); /* it was done early */
    add_second(&f.parts[1], 1, 90, 1);
    add_second(&f.parts[1], 2, 100, 0);
    add_second(&f.parts[1], 2.5, 10, 0);
    add_second(&f.parts[2], 1, 150, 0);
    add_second(&f.parts[2], 2, 150, 5);
    add_seen(&f.run, 1.04, 1000);
    add_seen(&f.run, 2.9, 3000);
    assert_int_equal(run_merge(f.parts, PARTS, &f.run, &f.error), 0);
    static const struct {
        double at_s;
        uint64_t writes, reads, slow_writes, slow_reads, bytes;
    } expected[] = {
        {1, 60, 240, 0, 1, 1000},
        {2, 40, 250, 2, 5, RESULT_ABSENT}, /* nothing was seen within half a second */
        {2.5, 0, 10, 0, 0, 3000},
    };
    assert_int_equal(f.run.seconds.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct result_second *second = &f.run.seconds.items[i];
        assert_true(fabs(second->at_s - expected[i].at_s) < 1e-12);
        assert_int_equal(second->operations.count, 2);
        assert_int_equal(second->operations.items[0], expected[i].writes);
        assert_int_equal(second->operations.items[1], expected[i].reads);
        assert_int_equal(second->slow.items[0], expected[i].slow_writes);
        assert_int_equal(second->slow.items[1], expected[i].slow_reads);
        assert_true(second->database_bytes == expected[i].bytes);
    }
    assert_int_equal(f.run.seconds.items[2].wal_bytes, 1500);
    end(&f);
}

static void one_that_is_partial_makes_all_so(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fill(&f);
    free(f.parts[1].status);
    f.parts[1].status = strdup("partial");
    assert_int_equal(run_merge(f.parts, PARTS, &f.run, &f.error), 0);
    assert_string_equal(f.run.status, "partial");
    end(&f);
}

static void without_results_there_are_connections(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (uint64_t i = 0; i < 2; i++) {
        add_connection(&f.parts[i], "writer", i, 0);
        f.parts[i].warmup_ns = 5;
    }
    add_seen(&f.run, 1, 1000);
    assert_int_equal(run_merge(f.parts, PARTS, &f.run, &f.error), 0);
    assert_int_equal(f.run.connections.count, 2);
    assert_int_equal(f.run.scripts.count, 0);
    assert_null(f.run.status);
    assert_true(f.run.window_ns == RESULT_ABSENT);
    assert_true(f.run.warmup_ns == RESULT_ABSENT); /* one was never ready */
    assert_int_equal(f.run.seconds.count, 1);
    end(&f);
}

static void one_part_stays_as_it_is(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fill(&f);
    add_second(&f.parts[0], 1, 100, 3);
    assert_int_equal(run_merge(f.parts, 1, &f.run, &f.error), 0);
    assert_int_equal(f.run.cpu_user_ns, 10);
    assert_int_equal(f.run.read_bytes, 8);
    assert_int_equal(f.run.scripts.count, 1);
    assert_int_equal(f.run.scripts.items[0].latency.histogram->count, 100);
    assert_int_equal(f.run.seconds.items[0].operations.items[0], 100);
    assert_int_equal(f.run.seconds.items[0].slow.items[0], 3);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_sums_or_the_longest),
        cmocka_unit_test(scripts_of_a_role_are_one),
        cmocka_unit_test(the_same_message_is_one),
        cmocka_unit_test(seconds_are_added_where_they_end),
        cmocka_unit_test(one_that_is_partial_makes_all_so),
        cmocka_unit_test(without_results_there_are_connections),
        cmocka_unit_test(one_part_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
