/* Draws, picks, limits and accounts of the hot loop, with an engine that does nothing. */
#include "fake_engine.h"
#include "fake_scripts.h"

#include "core/clock.h"
#include "worker/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static atomic_bool stop, cut;

struct fixture {
    struct job job;
    struct script *scripts[2];
    struct job_role role;
    struct job_share shares[2];
    struct failure failure;
    struct loop *loop;
};

/* A role with `count` scripts of one text. `rate`: of all 10 connections, 0: a closed loop. */
static void begin_at(double rate, struct fixture *fixture, uint32_t connection, const char *script,
                     uint32_t count, uint32_t second_weight)
{
    memset(fixture, 0, sizeof(*fixture));
    fake_reset();
    fake.parameters = 1;
    atomic_store(&stop, false);
    atomic_store(&cut, false);
    for (uint32_t i = 0; i < count; i++) {
        fixture->scripts[i] = fake_script(script);
        assert_non_null(fixture->scripts[i]);
        fixture->shares[i] = (struct job_share){.script = i, .weight = i == 0 ? 1 : second_weight};
    }
    fixture->role =
        (struct job_role){.connections = 1, .shares = fixture->shares, .share_count = count};
    fixture->job = (struct job){.kind = JOB_RUN,
                                .seed = 42,
                                .scripts = fixture->scripts,
                                .script_count = count,
                                .roles = &fixture->role,
                                .role_count = 1,
                                .connection_count = 1,
                                .connections_total = 10,
                                .duration_ns = JOB_UNLIMITED,
                                .operations = 1,
                                .max_tries = 3,
                                .rate = rate,
                                .latency_limit_ns = UINT64_MAX / 2};
    failure_init(&fixture->failure);
    fixture->loop = calloc(1, sizeof(*fixture->loop));
    assert_non_null(fixture->loop);
    assert_int_equal(
        loop_init(fixture->loop, &fixture->job, 0, connection, &stop, &cut, &fixture->failure), 0);
    assert_int_equal(loop_prepare(fixture->loop, &fake_ops, &fake_connection, &fixture->failure),
                     0);
}

static void begin(struct fixture *fixture, uint32_t connection, const char *script, uint32_t count,
                  uint32_t second_weight)
{
    begin_at(0, fixture, connection, script, count, second_weight);
}

static void end(struct fixture *fixture)
{
    loop_finalize(fixture->loop);
    loop_release(fixture->loop);
    free(fixture->loop);
    script_free(fixture->scripts[0]);
    script_free(fixture->scripts[1]);
}

static void run(struct fixture *fixture, bool warmup, uint64_t operations)
{
    struct loop_span span = {.phase = "run",
                             .start_ns = clock_now_ns(),
                             .deadline_ns = UINT64_MAX,
                             .operations = operations};
    fake.ran = 0;
    loop_restart(fixture->loop, warmup);
    assert_int_equal(loop_run(fixture->loop, &span, &fixture->failure), 0);
}

enum { DRAWS = 500 };

static bool same(const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, DRAWS * sizeof(*a)) == 0;
}

static bool shares_a_value(const int64_t *a, const int64_t *b)
{
    int both = 0;
    for (int i = 0; i < DRAWS; i++) {
        for (int k = 0; k < DRAWS; k++) {
            both += a[i] == b[k];
        }
    }
    return both > 2; /* of a billion values, by chance */
}

static void draws_of_warmup_and_of_connections_differ(void **state)
{
    (void)state;
    int64_t measured[2][DRAWS], warm[DRAWS], again[DRAWS];
    struct fixture fixture;
    for (uint32_t connection = 0; connection < 2; connection++) {
        begin(&fixture, connection, FAKE_DRAWING, 1, 0);
        run(&fixture, true, DRAWS);
        memcpy(warm, fake.values, sizeof(warm));
        run(&fixture, false, DRAWS);
        memcpy(measured[connection], fake.values, sizeof(warm));
        assert_false(shares_a_value(warm, measured[connection]));
        end(&fixture);
    }
    assert_false(shares_a_value(measured[0], measured[1]));
    /* The length of the warm-up does not show. */
    begin(&fixture, 1, FAKE_DRAWING, 1, 0);
    run(&fixture, true, 3);
    run(&fixture, false, DRAWS);
    memcpy(again, fake.values, sizeof(again));
    assert_true(same(again, measured[1]));
    fixture.loop->seed = 43;
    run(&fixture, false, DRAWS);
    assert_false(shares_a_value(fake.values, measured[1]));
    end(&fixture);
}

static void scripts_of_a_connection_draw_apart(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_DRAWING, 2, 1);
    struct random first = {0}, second = {0};
    loop_restart(fixture.loop, false);
    first = fixture.loop->entries[0].random;
    second = fixture.loop->entries[1].random;
    assert_memory_not_equal(&first, &second, sizeof(first));
    end(&fixture);
}

static void operation_numbers_run_on(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_COUNTING, 1, 0);
    run(&fixture, true, 10);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(fake.values[i], i);
    }
    fake.runs[3] = ENGINE_CONFLICT;
    run(&fixture, false, 10);
    const int64_t expected[] = {10, 11, 12, 13, 13, 14}; /* a retry keeps its number */
    assert_memory_equal(fake.values, expected, sizeof(expected));
    assert_int_equal(fake.ran, 11);
    assert_int_equal(fixture.loop->tallies[0].retries, 1);
    assert_int_equal(fixture.loop->tallies[0].outcomes[OUTCOME_OK], 10);
    end(&fixture);
}

/* By table and by search of the sums alike: the weights' shares, and the same picks. */
static void weights(void **state)
{
    (void)state;
    const uint32_t second_weights[] = {3, 1023, 1024, 999999};
    for (size_t i = 0; i < 4; i++) {
        struct fixture fixture;
        begin(&fixture, 0, FAKE_COUNTING, 2, second_weights[i]);
        assert_int_equal(fixture.loop->picks != NULL, second_weights[i] <= 1023);
        run(&fixture, false, 40000);
        double expected = 40000.0 / (second_weights[i] + 1.0);
        double got = (double)fixture.loop->tallies[0].attempted;
        assert_true(got >= expected - 4 * 100 && got <= expected + 4 * 100);
        assert_int_equal(fixture.loop->tallies[0].attempted + fixture.loop->tallies[1].attempted,
                         40000);
        if (fixture.loop->picks != NULL) {
            free(fixture.loop->picks);
            fixture.loop->picks = NULL;
            uint64_t before = fixture.loop->tallies[0].attempted;
            run(&fixture, false, 40000);
            assert_int_equal(fixture.loop->tallies[0].attempted, before);
        }
        end(&fixture);
    }
}

static void limits(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_COUNTING, 1, 0);
    uint64_t now = clock_now_ns();
    struct loop_span past = {
        .phase = "run", .start_ns = now, .deadline_ns = now, .operations = UINT64_MAX};
    loop_restart(fixture.loop, false);
    assert_int_equal(loop_run(fixture.loop, &past, &fixture.failure), 0);
    assert_int_equal(fake.ran, 0);
    assert_int_equal(fixture.loop->ended_ns, now);
    assert_int_equal(fixture.loop->op, 0);

    struct loop_span endless = {
        .phase = "run", .start_ns = now, .deadline_ns = UINT64_MAX, .operations = UINT64_MAX};
    fake.flag = &stop;
    fake.flag_at = 4;
    loop_restart(fixture.loop, false);
    assert_int_equal(loop_run(fixture.loop, &endless, &fixture.failure), 0);
    assert_int_equal(fake.ran, 5);
    assert_int_equal(fixture.loop->tallies[0].outcomes[OUTCOME_OK], 5);
    assert_int_equal(atomic_load(&fixture.loop->done), 5);
    end(&fixture);
}

/* An engine that always fails is no endless loop: attempts are what `operations` counts. */
static void failures_count_as_operations(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_COUNTING, 1, 0);
    for (int i = 0; i < 64; i++) {
        fake.runs[i] = i % 2 == 0 ? ENGINE_FAILED : ENGINE_BUSY;
    }
    run(&fixture, false, 64);
    const struct tally *tally = &fixture.loop->tallies[0];
    assert_int_equal(tally->attempted, 64);
    assert_int_equal(tally->outcomes[OUTCOME_FAILED], 32);
    assert_int_equal(tally->outcomes[OUTCOME_BUSY], 32);
    assert_int_equal(tally->latency.count, 0);
    assert_int_equal(tally->rows_read, 0);
    assert_true(tally->time_ns > 0);
    struct error error = ERROR_INIT;
    assert_int_equal(tally_check(tally, "counting", &error), 0);
    uint64_t in_seconds = 0;
    for (uint32_t i = 0; i <= fixture.loop->seconds.index; i++) {
        in_seconds += seconds_operations(&fixture.loop->seconds, i, 0);
    }
    assert_int_equal(in_seconds, 0);
    end(&fixture);
}

static void slow_ones(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_COUNTING, 1, 0);
    fixture.loop->latency_limit_ns = 0; /* everything takes longer */
    run(&fixture, false, 10);
    const struct tally *tally = &fixture.loop->tallies[0];
    assert_true(tally->slow > 0);
    uint64_t slow = 0;
    for (uint32_t i = 0; i <= fixture.loop->seconds.index; i++) {
        slow += seconds_slow(&fixture.loop->seconds, i, 0);
    }
    assert_int_equal(slow, tally->slow);
    end(&fixture);
}

/* ---- an open loop ---- */

static void parts_of_a_latency(void **state)
{
    (void)state;
    struct fixture fixture;
    begin_at(1e5, &fixture, 2, FAKE_COUNTING, 1, 0);
    fixture.loop->latency_limit_ns = 0; /* everything takes longer */
    fake.runs[7] = ENGINE_FAILED;
    struct loop_span span = {.phase = "run",
                             .start_ns = clock_now_ns(),
                             .deadline_ns = UINT64_MAX,
                             .operations = 20,
                             .paced = true};
    loop_restart(fixture.loop, false);
    assert_int_equal(loop_run(fixture.loop, &span, &fixture.failure), 0);
    struct tally *tally = &fixture.loop->tallies[0];
    assert_int_equal(tally->attempted, 20);
    assert_int_equal(tally->outcomes[OUTCOME_OK], 19);
    assert_int_equal(tally->slow, 19);
    assert_int_equal(tally->latency.count, 19);
    struct error error = ERROR_INIT;
    assert_int_equal(tally_check(tally, "counting", &error), 0);
    /* The twenty-first arrival lies behind the last operation, or is a backlog. */
    struct pace expected = {0};
    pace_start(&expected, 42, 2, 1e5, span.start_ns);
    for (int i = 0; i < 20; i++) {
        pace_next(&expected);
    }
    assert_int_equal(fixture.loop->pace.due_ns, expected.due_ns);
    assert_int_equal(fixture.loop->horizon_ns, fixture.loop->ended_ns);

    tally->lag.sum++;
    assert_int_equal(tally_check(tally, "counting", &error), ERROR_PROTOCOL);
    assert_non_null(strstr(error.message, "internal: script counting: latencies of"));
    tally->lag.sum--;
    tally->service.count--;
    error_clear(&error);
    assert_int_equal(tally_check(tally, "counting", &error), ERROR_PROTOCOL);
    assert_non_null(strstr(error.message, "18 service times and 19 lags"));

    loop_restart(fixture.loop, false);
    assert_int_equal(tally->lag.count, 0);
    assert_int_equal(tally->service.sum, 0);
    assert_int_equal(loop_backlog(fixture.loop, 1000), 0);
    end(&fixture);
}

/* A stop that comes behind the deadline: nothing that was due after it is missing. */
static void a_late_stop_counts_no_more(void **state)
{
    (void)state;
    struct fixture fixture;
    begin_at(1e3, &fixture, 0, FAKE_COUNTING, 1, 0);
    uint64_t now = clock_now_ns();
    struct loop_span span = {.phase = "run",
                             .start_ns = now - 10 * NS_PER_MS,
                             .deadline_ns = now - 5 * NS_PER_MS,
                             .operations = UINT64_MAX,
                             .paced = true};
    loop_restart(fixture.loop, false);
    atomic_store(&stop, true);
    assert_int_equal(loop_run(fixture.loop, &span, &fixture.failure), 0);
    assert_int_equal(fake.ran, 0);
    assert_int_equal(fixture.loop->horizon_ns, span.deadline_ns);
    assert_int_equal(fixture.loop->ended_ns, span.deadline_ns);
    end(&fixture);
}

/* A connection that has nothing to do serves until the deadline all the same. */
static void an_idle_connection_stays_until_the_deadline(void **state)
{
    (void)state;
    struct fixture fixture;
    begin_at(0.001, &fixture, 0, FAKE_COUNTING, 1, 0);
    uint64_t now = clock_now_ns();
    struct loop_span span = {.phase = "run",
                             .start_ns = now,
                             .deadline_ns = now + NS_PER_MS,
                             .operations = UINT64_MAX,
                             .paced = true};
    loop_restart(fixture.loop, false);
    assert_int_equal(loop_run(fixture.loop, &span, &fixture.failure), 0);
    assert_int_equal(fake.ran, 0);
    assert_int_equal(fixture.loop->ended_ns, span.deadline_ns);
    assert_int_equal(fixture.loop->settled_ns, span.deadline_ns);
    assert_int_equal(loop_backlog(fixture.loop, 1000), 0);
    end(&fixture);
}

static void what_never_began_is_counted(void **state)
{
    (void)state;
    struct fixture fixture;
    begin_at(1e7, &fixture, 0, FAKE_COUNTING, 1, 0);
    uint64_t now = clock_now_ns();
    struct loop_span span = {.phase = "run",
                             .start_ns = now - NS_PER_MS,
                             .deadline_ns = now,
                             .operations = UINT64_MAX,
                             .paced = true};
    loop_restart(fixture.loop, false);
    assert_int_equal(loop_run(fixture.loop, &span, &fixture.failure), 0);
    assert_int_equal(fake.ran, 0);
    struct pace expected = {0};
    pace_start(&expected, 42, 0, 1000, span.start_ns);
    uint64_t count = pace_backlog(&expected, now, 100000);
    assert_true(count > 800 && count < 1200);
    assert_int_equal(loop_backlog(fixture.loop, 100000), count);
    end(&fixture);
}

static void restart_keeps_what_was_written(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_COUNTING, 1, 0);
    fake.effect.rows_changed = 2;
    run(&fixture, true, 10);
    loop_restart(fixture.loop, false);
    const struct tally *tally = &fixture.loop->tallies[0];
    assert_int_equal(tally->acknowledged[0], 20);
    assert_int_equal(tally->attempted, 0);
    assert_int_equal(tally->latency.count, 0);
    uint64_t samples = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        samples += tally->latency.buckets[i];
    }
    assert_int_equal(samples, 0);
    end(&fixture);
}

static void parameters_must_agree(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 0, FAKE_COUNTING, 1, 0);
    loop_finalize(fixture.loop);
    free(fixture.loop->entries[0].statements);
    fixture.loop->entries[0].statements = NULL;
    fake.parameters = 2;
    assert_int_not_equal(loop_prepare(fixture.loop, &fake_ops, &fake_connection, &fixture.failure),
                         0);
    assert_string_equal(fixture.failure.phase, "prepare");
    assert_int_equal(fixture.failure.script, 0);
    assert_int_equal(fixture.failure.statement, 0);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_of_warmup_and_of_connections_differ),
        cmocka_unit_test(scripts_of_a_connection_draw_apart),
        cmocka_unit_test(operation_numbers_run_on),
        cmocka_unit_test(weights),
        cmocka_unit_test(limits),
        cmocka_unit_test(failures_count_as_operations),
        cmocka_unit_test(slow_ones),
        cmocka_unit_test(parts_of_a_latency),
        cmocka_unit_test(a_late_stop_counts_no_more),
        cmocka_unit_test(an_idle_connection_stays_until_the_deadline),
        cmocka_unit_test(what_never_began_is_counted),
        cmocka_unit_test(restart_keeps_what_was_written),
        cmocka_unit_test(parameters_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
