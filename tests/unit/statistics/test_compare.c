/* From a result to its comparison: rows, rounds that count, states, gates. */
#include "../result/sample.h"

#include "statistics/compare.h"
#include "statistics/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 5 };

/* A little noise that is the same for no two rounds. */
static double noise(uint64_t round, uint64_t salt)
{
    return 1 + 0.001 * (double)((round * 7 + salt * 3) % 5);
}

/* One script "point" of one connection, 1 s long: `rate` operations of `ns` each. */
static void fill_run(struct result_run *run, size_t of, uint64_t round, double rate, uint64_t ns)
{
    result_run_init(run);
    run->case_index = of;
    run->round = round;
    run->position = 1;
    run->status = sample_text("ok");
    run->window_ns = SAMPLE_S;
    run->cpu_user_ns = SAMPLE_S / 2;
    run->cpu_system_ns = 0;
    run->steal = run->cpu_others = 0;
    struct result_connection *connection = sample_must(result_list_add(&run->connections));
    connection->role = sample_text("client");
    connection->window_ns = SAMPLE_S;
    struct result_script *script = sample_must(result_list_add(&run->scripts));
    script->role = sample_text("client");
    script->script = sample_text("point");
    script->operations_each = 1;
    script->ok = script->attempted = (uint64_t)rate;
    script->latency.histogram = sample_histogram(script->ok - 1, ns, ns);
}

static void add_case(struct result *result, const char *label)
{
    struct result_case *of = sample_must(result_list_add(&result->cases));
    result_case_init(of);
    of->label = sample_text(label);
    of->suite = sample_text("bench");
    of->suite_hash = sample_text("0123456789abcdef");
    of->scale = sample_text("default");
    of->scenario = sample_text(label);
    of->isolation = sample_text("threads");
    of->threads = 1;
    of->operations = 1000;
}

/* `factor` times as fast as 1,000 operations/s, in every case and round. */
static struct result_engine *add_engine(struct result *result, const char *name, double factor)
{
    struct result_engine *engine = sample_must(result_list_add(&result->engines));
    uint64_t salt = result->engines.count;
    result_engine_init(engine);
    engine->name = sample_text(name);
    engine->status = sample_text("ok");
    for (size_t of = 0; of < result->cases.count; of++) {
        for (uint64_t round = 1; round <= ROUNDS; round++) {
            fill_run(sample_must(result_list_add(&engine->runs)), of, round,
                     1000 * factor * noise(round, salt), (uint64_t)(1e6 / factor));
        }
        struct result_summary *summary = sample_must(result_list_add(&engine->summaries));
        result_summary_init(summary);
        summary->status = sample_text("ok");
    }
    return engine;
}

/* A second run of the baseline in every round of a case, `factor` times as fast. */
static void add_again(struct result *result, size_t of, double factor)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct result_run *run = sample_must(result_list_add(&result->engines.items[0].aside));
        fill_run(run, of, round, 1000 * factor, (uint64_t)(1e6 / factor));
        run->aside = sample_text("again");
    }
}

/* base, a twin of it, and one that is `factor` times as fast, in two cases. */
static struct result *three_engines(double factor)
{
    struct result *result = sample_must(result_new());
    result->command = sample_text("compare");
    result->plan.rounds = ROUNDS;
    add_case(result, "point");
    add_case(result, "join");
    add_engine(result, "base", 1);
    add_engine(result, "twin", 1);
    add_engine(result, "other", factor);
    result->comparison.baseline = sample_text("base");
    return result;
}

static void compare(struct result *result)
{
    struct error error = ERROR_INIT;
    for (size_t i = 0; i < result->engines.count; i++) {
        assert_int_equal(summarize_engine(&result->engines.items[i], &error), 0);
    }
    assert_int_equal(compare_fill(result, &error), 0);
}

static const struct result_comparison_table *table_of(const struct result *result,
                                                      const char *metric)
{
    for (size_t i = 0; i < result->comparison.tables.count; i++) {
        if (strcmp(result->comparison.tables.items[i].metric, metric) == 0) {
            return &result->comparison.tables.items[i];
        }
    }
    fprintf(stderr, "no table %s\n", metric);
    abort();
}

static const struct result_comparison_cell *cell(const struct result *result, const char *metric,
                                                 size_t row, size_t engine)
{
    return &table_of(result, metric)->rows.items[row].cells.items[engine];
}

static void assert_word(const char *found, const char *expected)
{
    if (expected == NULL) {
        assert_null(found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, expected);
    }
}

static void assert_cell(const struct result_comparison_cell *found, const char *verdict,
                        const char *note)
{
    assert_word(found->verdict, verdict);
    assert_word(found->note, note);
}

static void test_tables_and_directions(void **state)
{
    (void)state;
    struct result *result = three_engines(0.5);
    compare(result);
    assert_int_equal(result->comparison.tables.count, 3);
    assert_string_equal(table_of(result, "p99")->unit, "ns");
    for (size_t row = 0; row < 2; row++) {
        assert_int_equal(table_of(result, "p99")->rows.items[row].case_index, row);
        assert_cell(cell(result, "throughput", row, 0), NULL, "baseline");
        assert_cell(cell(result, "throughput", row, 1), "no difference shown", NULL);
        assert_cell(cell(result, "throughput", row, 2), "slower", NULL);
        assert_float_equal(cell(result, "throughput", row, 2)->ratio, 0.5, 0.005);
        assert_cell(cell(result, "p99", row, 2), "slower", NULL);
        assert_float_equal(cell(result, "p99", row, 2)->ratio, 2, 0.02);
        assert_cell(cell(result, "cpu", row, 2), "slower", NULL);
        assert_int_equal(cell(result, "cpu", row, 2)->rounds, ROUNDS);
    }
    const struct result_comparison_row *row = &table_of(result, "p99")->rows.items[0];
    assert_word(row->role, "client");
    assert_word(row->script, "point");
    assert_null(table_of(result, "throughput")->rows.items[0].role);
    assert_word(table_of(result, "cpu")->geometric_means.items[2].verdict, "slower");
    assert_int_equal(table_of(result, "cpu")->geometric_means.items[2].rows, 2);
    result_free(result);
}

/* The lead is a distance: the same way round for rates and for latencies. */
static void test_best(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    compare(result);
    static const char *const metrics[] = {"throughput", "p99"};
    for (size_t i = 0; i < 2; i++) {
        const struct result_comparison_row *row = &table_of(result, metrics[i])->rows.items[0];
        assert_word(row->best, "other");
        assert_float_equal(row->best_lead, 1, 0.02);
        assert_true(row->best_lead_low > 0.5 && row->best_lead_low < row->best_lead);
        assert_true(row->best_lead_high > row->best_lead && row->best_lead_high < 1.5);
    }
    result_free(result);
}

/* A against A sets the floor of its table, and is no engine. */
static void test_second_runs_feed_the_floor(void **state)
{
    (void)state;
    struct result *result = three_engines(0.97);
    compare(result);
    assert_cell(cell(result, "throughput", 0, 2), "slower", NULL);
    assert_int_equal(table_of(result, "throughput")->floor_rows, 0);
    assert_float_equal(table_of(result, "throughput")->floor, 0.01, 1e-9);
    add_again(result, 1, 0.9); /* the other row */
    compare(result);
    assert_int_equal(table_of(result, "throughput")->floor_rows, 1);
    assert_float_equal(table_of(result, "throughput")->floor, 1 / 0.9 - 1, 0.01);
    assert_cell(cell(result, "throughput", 0, 2), "no difference shown", NULL);
    assert_int_equal(table_of(result, "throughput")->rows.items[0].cells.count, 3);
    /* Of a round that was measured again they count no more. */
    for (size_t i = 0; i < result->engines.items[0].aside.count; i++) {
        free(result->engines.items[0].aside.items[i].aside);
        result->engines.items[0].aside.items[i].aside = sample_text("disturbed");
    }
    compare(result);
    assert_int_equal(table_of(result, "throughput")->floor_rows, 0);
    assert_int_equal(result->comparison.rounds_repeated, ROUNDS);
    result_free(result);
}

static void set(char **text, const char *word)
{
    free(*text);
    *text = word != NULL ? sample_text(word) : NULL;
}

/* What is wrong with an engine that would be twice as fast. */
static void test_nothing_wrong_is_faster(void **state)
{
    (void)state;
    static const struct {
        const char *what, *note;
    } wrongs[] = {
        {"failed", "failed"},      {"differs", "not comparable: it did not do what was asked"},
        {"lost round", "partial"}, {"never ran", "missing"},
        {"no samples", "partial"}, {"unable", "unable: no second process may open the file"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct result *result = three_engines(2);
        struct result_engine *other = &result->engines.items[2];
        struct result_summary *summary = &other->summaries.items[0];
        if (i == 0 || i == 1) {
            set(&summary->status, wrongs[i].what);
        } else if (i == 2) {
            assert_int_equal(result_run_move(other, 2, "disturbed"), 0);
        } else if (i == 3 || i == 5) {
            while (other->runs.items[0].case_index == 0) {
                assert_int_equal(result_run_move(other, 0, "disturbed"), 0);
            }
            set(&summary->status, i == 5 ? "unable" : NULL);
            set(&summary->error, i == 5 ? "no second process may open the file" : NULL);
        } else {
            histogram_reset(other->runs.items[1].scripts.items[0].latency.histogram);
            other->runs.items[1].scripts.items[0].ok = 0;
            other->runs.items[1].scripts.items[0].attempted = 0;
        }
        compare(result);
        assert_cell(cell(result, "throughput", 0, 2), NULL, wrongs[i].note);
        assert_cell(cell(result, "throughput", 1, 2), "faster", NULL);
        assert_cell(cell(result, "cpu", 0, 2), NULL, wrongs[i].note);
        assert_null(table_of(result, "throughput")->rows.items[0].best);
        assert_word(table_of(result, "throughput")->geometric_means.items[2].note, "partial");
        result_free(result);
    }
}

/* With no row to take a mean of, the mean has the word that its rows share. */
static void test_a_mean_says_what_its_rows_say(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *note;
    } cases[] = {
        {"unable", "unable", "unable"},
        {"failed", "failed", "failed"},
        {"unable", "failed", "missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = three_engines(2);
        struct result_engine *other = &result->engines.items[2];
        while (other->runs.count > 0) {
            assert_int_equal(result_run_move(other, 0, "disturbed"), 0);
        }
        set(&other->summaries.items[0].status, cases[i].first);
        set(&other->summaries.items[1].status, cases[i].second);
        compare(result);
        assert_cell(cell(result, "throughput", 0, 2), NULL, cases[i].first);
        const struct result_comparison_mean *mean =
            &table_of(result, "throughput")->geometric_means.items[2];
        assert_word(mean->verdict, NULL);
        assert_word(mean->note, cases[i].note);
        assert_true(isnan(mean->ratio));
        result_free(result);
    }
}

/* A case in which no engine ran has its rows all the same. */
static void test_a_case_without_runs_is_a_row(void **state)
{
    (void)state;
    struct result *result = three_engines(1);
    add_case(result, "gone");
    for (size_t i = 0; i < 3; i++) {
        struct result_summary *summary =
            sample_must(result_list_add(&result->engines.items[i].summaries));
        result_summary_init(summary);
        summary->status = sample_text("failed");
    }
    compare(result);
    static const char *const metrics[] = {"throughput", "p99", "cpu"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(table_of(result, metrics[i])->rows.count, 3);
        for (size_t engine = 0; engine < 3; engine++) {
            assert_cell(cell(result, metrics[i], 2, engine), NULL, "failed");
        }
    }
    result_free(result);
}

/* A round that a signal ended is left out for all; the others count. */
static void test_a_broken_round_is_left_out(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    result->partial = true;
    /* The last round of the second case: one run cut short, one never begun. */
    struct result_engine *base = &result->engines.items[0];
    set(&base->runs.items[2 * ROUNDS - 1].status, "partial");
    assert_int_equal(result_run_move(&result->engines.items[2], 2 * ROUNDS - 1, "broken off"), 0);
    for (size_t i = 0; i < 3; i++) {
        set(&result->engines.items[i].summaries.items[1].status, "partial");
    }
    compare(result);
    assert_cell(cell(result, "throughput", 1, 2), "faster", NULL);
    assert_int_equal(cell(result, "throughput", 1, 2)->rounds, ROUNDS - 1);
    assert_int_equal(cell(result, "throughput", 0, 2)->rounds, ROUNDS);
    result_free(result);
}

static void test_few_rounds(void **state)
{
    (void)state;
    for (uint64_t rounds = 1; rounds <= 3; rounds++) {
        struct result *result = three_engines(2);
        result->plan.rounds = rounds;
        compare(result);
        const struct result_comparison_cell *found = cell(result, "throughput", 0, 2);
        assert_cell(found, rounds < 3 ? NULL : "faster", rounds < 3 ? "too few rounds" : NULL);
        assert_int_equal(found->rounds, rounds);
        assert_int_equal(isnan(found->ratio_low), rounds < 2);
        result_free(result);
    }
}

static void connections(struct result *result, double rate)
{
    for (size_t i = 0; i < result->engines.count; i++) {
        for (size_t k = 0; k < result->engines.items[i].runs.count; k++) {
            struct result_connection *more =
                sample_must(result_list_add(&result->engines.items[i].runs.items[k].connections));
            more->role = sample_text("client");
            more->window_ns = SAMPLE_S;
        }
    }
    result->cases.items[0].rate = rate;
}

static void test_tails_of_several_connections(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    connections(result, (double)NAN);
    compare(result);
    assert_cell(cell(result, "p99", 0, 2), "closed loop", NULL);
    assert_null(table_of(result, "p99")->rows.items[0].best);
    assert_cell(cell(result, "throughput", 0, 2), "faster", NULL);
    result->cases.items[0].rate = 100;
    compare(result);
    assert_cell(cell(result, "p99", 0, 2), "faster", NULL);
    result_free(result);
}

/* A p99 that lies among executions without a latency is not known, however good the others are. */
static void test_a_p99_that_is_not_known(void **state)
{
    (void)state;
    static const char own[] = "not comparable: more than 1 % of what was due has no latency";
    static const char base[] = "not comparable: of the baseline, more than 1 % of what was due has "
                               "no latency";
    for (int i = 0; i < 5; i++) {
        struct result *result = three_engines(2);
        struct result_run *run = &result->engines.items[i == 4 ? 0 : 2].runs.items[1];
        struct result_script *script = &run->scripts.items[0];
        connections(result, 100);
        run->connections.items[1].role[0] = 'C'; /* of another role */
        if (i == 0 || i == 1) {                  /* beyond 1 %, and just within */
            script->busy = script->ok / 99 + (i == 0 ? 1 : -1);
            script->attempted += script->busy;
        } else {
            run->connections.items[i == 3 ? 1 : 0].offered = script->ok;
            run->connections.items[i == 3 ? 1 : 0].unstarted = script->ok / 50;
        }
        compare(result);
        bool doubt = i == 0 || i == 2;
        assert_cell(cell(result, "p99", 0, 2), doubt || i == 4 ? NULL : "faster",
                    i == 4  ? base
                    : doubt ? own
                            : NULL);
        assert_cell(cell(result, "p99", 0, 0), NULL, i == 4 ? own : "baseline");
        assert_cell(cell(result, "p99", 1, 2), "closed loop", NULL);
        assert_cell(cell(result, "throughput", 0, 2), "faster", NULL);
        assert_int_equal(table_of(result, "p99")->rows.items[0].best != NULL, i == 1 || i == 3);
        result_free(result);
    }
}

/* One execution on each connection may wait behind the one that runs: that is no queue. */
static void test_the_last_arrivals_are_no_queue(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    struct result_connection *connection =
        &result->engines.items[2].runs.items[0].connections.items[0];
    result->cases.items[0].rate = 100;
    connection->offered = 50;
    connection->unstarted = 1;
    compare(result);
    assert_cell(cell(result, "p99", 0, 2), "faster", NULL);
    result_free(result);
}

/* The faster an engine is, the longer its worker waits for the next moment, by looking at the
 * clock. */
static void test_cpu_at_a_rate(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    result->cases.items[0].rate = 100;
    compare(result);
    for (size_t engine = 0; engine < 3; engine++) {
        assert_cell(cell(result, "cpu", 0, engine), NULL,
                    "not comparable: at a rate it holds the worker's own waiting");
    }
    assert_cell(cell(result, "cpu", 1, 2), "faster", NULL);
    result_free(result);
}

/* Two roles: a row each, over their own windows. */
static void test_roles_are_rows(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    for (size_t i = 0; i < result->engines.count; i++) {
        struct result_engine *engine = &result->engines.items[i];
        for (size_t k = 0; k < engine->runs.count; k++) {
            struct result_run *run = &engine->runs.items[k];
            struct result_connection *more = sample_must(result_list_add(&run->connections));
            more->role = sample_text("writer");
            more->window_ns = 2 * SAMPLE_S;
            struct result_script *script = sample_must(result_list_add(&run->scripts));
            script->role = sample_text("writer");
            script->script = sample_text("point"); /* the same script in another role */
            script->operations_each = 10;
            script->ok = script->attempted = 100;
            script->latency.histogram = sample_histogram(99, 1000, 1000);
        }
    }
    compare(result);
    const struct result_comparison_table *table = table_of(result, "throughput");
    assert_int_equal(table->rows.count, 4);
    assert_word(table->rows.items[1].role, "writer");
    assert_null(table->rows.items[1].script);
    assert_float_equal(table->rows.items[1].cells.items[0].median, 500, 1e-9);
    assert_int_equal(table_of(result, "p99")->rows.count, 4);
    assert_int_equal(table_of(result, "cpu")->rows.count, 2);
    assert_cell(cell(result, "cpu", 0, 2), "faster", NULL);
    /* For a time instead: reads through writes is then the engine's own choice. */
    result->cases.items[0].operations = RESULT_ABSENT;
    compare(result);
    assert_cell(cell(result, "cpu", 0, 2), NULL,
                "not comparable: how much of it each role did is up to the engine");
    assert_cell(cell(result, "cpu", 1, 2), "faster", NULL);
    assert_cell(cell(result, "throughput", 0, 2), "faster", NULL);
    result_free(result);
}

static void test_the_threshold_counts(void **state)
{
    (void)state;
    struct result *result = three_engines(0.9);
    compare(result);
    assert_int_equal(result->comparison.slower, RESULT_ABSENT);
    result->comparison.threshold = 0.05;
    compare(result);
    assert_int_equal(result->comparison.slower, 6); /* two rows in three tables */
    result->comparison.threshold = 0.2;
    compare(result);
    assert_int_equal(result->comparison.slower, 0);
    result_free(result);
}

static void test_disturbed_rounds_are_counted(void **state)
{
    (void)state;
    struct result *result = three_engines(1);
    result->engines.items[1].runs.items[3].steal = 0.2;
    result->engines.items[2].runs.items[3].cpu_others = 0.2;        /* the same round */
    result->engines.items[2].runs.items[ROUNDS].cpu_others = 0.051; /* another case */
    result->engines.items[2].runs.items[1].cpu_others = (double)NAN;
    compare(result);
    assert_int_equal(result->comparison.rounds_disturbed, 0); /* nobody asked */
    result->comparison.disturbance_max = 0.05;
    compare(result);
    assert_int_equal(result->comparison.rounds_disturbed, 2);
    result_free(result);
}

static void test_without_a_baseline_nothing_is_compared(void **state)
{
    (void)state;
    struct result *result = three_engines(2);
    set(&result->comparison.baseline, NULL);
    compare(result);
    assert_int_equal(result->comparison.tables.count, 0);
    result_free(result);
}

/* ---- against an older result ----------------------------------------------------- */

static void against(struct result *now, const struct result *before)
{
    struct error error = ERROR_INIT;
    compare(now);
    assert_int_equal(compare_against(now, before, "old.json", &error), 0);
}

static const struct result_against_row *against_row(const struct result *result, const char *metric,
                                                    const char *row, const char *engine)
{
    for (size_t i = 0; i < result->comparison.against.tables.count; i++) {
        const struct result_against_table *table = &result->comparison.against.tables.items[i];
        for (size_t k = 0; k < table->rows.count; k++) {
            const struct result_against_row *found = &table->rows.items[k];
            if (strcmp(table->metric, metric) == 0 && strcmp(found->row, row) == 0 &&
                strcmp(found->engine, engine) == 0) {
                return found;
            }
        }
    }
    fprintf(stderr, "no row %s of %s, %s\n", row, metric, engine);
    abort();
}

static void test_slower_than_then(void **state)
{
    (void)state;
    struct result *before = three_engines(1.2);
    struct result *now = three_engines(1);
    against(now, before);
    assert_word(against_row(now, "throughput", "point", "other")->verdict, "slower");
    assert_float_equal(against_row(now, "throughput", "point", "other")->ratio, 1 / 1.2, 0.01);
    assert_word(against_row(now, "throughput", "point", "twin")->verdict, "no difference shown");
    assert_int_equal(now->comparison.slower, 6);
    result_free(now);
    now = three_engines(1);
    now->comparison.threshold = 0.3;
    against(now, before);
    assert_int_equal(now->comparison.slower, 0);
    assert_float_equal(now->comparison.against.tables.items[0].floor, 0.3, 1e-9);
    result_free(now);
    now = three_engines(1.2);
    against(now, before);
    assert_int_equal(now->comparison.slower, 0);
    assert_word(against_row(now, "throughput", "point", "other")->verdict, "no difference shown");
    result_free(now);
    result_free(before);
}

/* Nothing is left out, and nothing of it is faster. */
static void test_what_cannot_be_compared_is_named(void **state)
{
    (void)state;
    struct result *before = three_engines(0.5);
    struct result *now = three_engines(1);
    set(&now->cases.items[0].suite_hash, "fedcba9876543210");
    set(&before->cases.items[1].label, "renamed");
    set(&before->engines.items[1].name, "gone");
    set(&before->engines.items[2].summaries.items[1].status, "failed");
    against(now, before);
    const struct result_against_row *row = against_row(now, "throughput", "point", "other");
    assert_word(row->verdict, NULL);
    assert_string_equal(row->note, "not comparable: suite_hash: \"0123456789abcdef\", here "
                                   "\"fedcba9876543210\"");
    row = against_row(now, "throughput", "join", "other");
    assert_word(row->note, "not comparable: not in old.json");
    row = against_row(now, "throughput", "renamed", "other");
    assert_word(row->note, "missing: in old.json, but not measured now");
    row = against_row(now, "throughput", "point", "gone");
    assert_word(row->note, "missing: in old.json, but not measured now");
    row = against_row(now, "throughput", "point", "twin");
    assert_word(row->note, "not comparable: not in old.json");
    assert_int_equal(now->comparison.slower, 0);
    result_free(now);
    result_free(before);
}

static void test_failed_on_either_occasion(void **state)
{
    (void)state;
    struct result *before = three_engines(0.5);
    struct result *now = three_engines(1);
    set(&before->engines.items[2].summaries.items[0].status, "failed");
    set(&now->engines.items[2].summaries.items[1].status, "failed");
    against(now, before);
    assert_string_equal(
        against_row(now, "throughput", "point", "other")->note,
        "not comparable: it or base has no figure that counts in old.json, or none now");
    assert_word(against_row(now, "throughput", "join", "other")->note, "failed");
    result_free(now);
    result_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_and_directions),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_second_runs_feed_the_floor),
        cmocka_unit_test(test_nothing_wrong_is_faster),
        cmocka_unit_test(test_a_mean_says_what_its_rows_say),
        cmocka_unit_test(test_a_case_without_runs_is_a_row),
        cmocka_unit_test(test_a_broken_round_is_left_out),
        cmocka_unit_test(test_few_rounds),
        cmocka_unit_test(test_tails_of_several_connections),
        cmocka_unit_test(test_a_p99_that_is_not_known),
        cmocka_unit_test(test_the_last_arrivals_are_no_queue),
        cmocka_unit_test(test_cpu_at_a_rate),
        cmocka_unit_test(test_roles_are_rows),
        cmocka_unit_test(test_the_threshold_counts),
        cmocka_unit_test(test_disturbed_rounds_are_counted),
        cmocka_unit_test(test_without_a_baseline_nothing_is_compared),
        cmocka_unit_test(test_slower_than_then),
        cmocka_unit_test(test_what_cannot_be_compared_is_named),
        cmocka_unit_test(test_failed_on_either_occasion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
